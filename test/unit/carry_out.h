/*
 * carry_out.h
 *		For tests of what comes as bytes: does on the CPU, with a file made up for
 *		its columns, what a request asks for.
 */
#ifndef CSV_TEST_CARRY_OUT_H
#define CSV_TEST_CARRY_OUT_H

#include "../../src/wire/request.h"

/*
 * All that is asked must be possible, but for want of memory.  A row at a time, it
 * comes to the same; else the program is aborted.
 */
extern void carry_out(const CsvWireRequest *wire);

/* as a decoder should find them: a copy with nothing behind it; free() it */
extern uint8_t *bytes_alone(const uint8_t *bytes, size_t nbytes);

/* decode, and demand that encoding gives the same bytes; NULL: refused */
extern CsvWireRequest *decode_again(const uint8_t *bytes, size_t nbytes);

/* malloc() of no more than some megabytes at a time */
extern const CsvMemory some_memory;

#endif							/* CSV_TEST_CARRY_OUT_H */
