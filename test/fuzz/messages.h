/*
 * messages.h
 *		For the fuzzers of what is sent to csv_gpu_service.
 */
#ifndef CSV_FUZZ_MESSAGES_H
#define CSV_FUZZ_MESSAGES_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../src/wire/message.h"

/* where it ends tells what was not as it should be */
static inline void
expect_(bool truth, const char *what, const char *file, int line)
{
	if (truth)
		return;
	fprintf(stderr, "%s:%d: not so: %s\n", file, line, what);
	abort();
}

#define expect(truth) expect_(truth, #truth, __FILE__, __LINE__)

/* a descriptor goes with the message, if there is room */
static inline void
bring(CsvDescriptors *descriptors, int file)
{
	expect(file >= 0);
	if (descriptors->n == CSV_WIRE_DESCRIPTORS)
		close(file);
	else
		descriptors->files[descriptors->n++] = file;
}

#endif							/* CSV_FUZZ_MESSAGES_H */
