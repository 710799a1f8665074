/* print.h - numbers as text, inside the library.  What programs call is in pto_program.h. */
#ifndef PTO_HOST_PRINT_H
#define PTO_HOST_PRINT_H
#include <pto/pto_types.h>

/* Each needs room for PTOI_NUMBER_TEXT characters and returns text. */
enum { PTOI_NUMBER_TEXT = 40 };
const char *ptoi_f64_text(double value, char *text);
const char *ptoi_f32_text(float value, char *text);
/* The element of this type at address. */
const char *ptoi_element_text(PTOType type, const void *address, char *text);
/* The same as a number; 64-bit integers are rounded. */
double ptoi_element_value(PTOType type, const void *address);
#endif
