/* pieces.h - how many elements a kernel in index notation works on at a time.  The compiler decides by these numbers
 * what it prints, and what it prints includes them. */
#ifndef PTO_DETAIL_PIECES_H
#define PTO_DETAIL_PIECES_H

#define PTO_PARTS 64 /* partial results of a reduction along vectors */

/* Elements between those that a reduction reads and those that it asks memory for; the most of a row that is asked for
 * as a whole. */
#define PTO_AHEAD 4096

#endif
