/* sim.h - the declarations that the files of the backend sim share. */
#ifndef PTOI_SIM_H
#define PTOI_SIM_H
#include "backend/backend.h"

/* dma.c: carries out a copy, or a gather or scatter of rows. */
int ptoi_sim_move(const PTOWorkRequest *request);

#endif
