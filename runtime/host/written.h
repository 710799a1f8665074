/* written.h - the files that a run writes. */
#ifndef PTO_HOST_WRITTEN_H
#define PTO_HOST_WRITTEN_H
#include "session.h"

/* HOST_USAGE: two results would go to one file, and one would be lost.  Arrays may share an archive by one path. */
int ptoi_written_check(struct session *s);
#endif
