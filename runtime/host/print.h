/* print.h - numbers as text, inside the library.  The functions for programs are in pto_program.h. */
#ifndef PTO_HOST_PRINT_H
#define PTO_HOST_PRINT_H
#include <pto/pto_program.h>

/* The element of this type at address; room for PTO_NUMBER_TEXT. */
const char *ptoi_element_text(PTOType type, const void *address, char *text);
/* The same as a number; 64-bit integers are rounded. */
double ptoi_element_value(PTOType type, const void *address);
#endif
