/*
 * memory.h
 *		Lets the library allocate from a memory context.
 */
#ifndef CSV_MEMORY_H
#define CSV_MEMORY_H

#include "reader/crew.h"
#include "reader/reader.h"

/* allocates from this context: ERROR if out of memory; for the main thread only */
extern CsvMemory csv_context_memory(MemoryContext context);

/* nthreads threads including this one; they end with the current memory context */
extern CsvCrew *csv_crew_create(int nthreads);

#endif							/* CSV_MEMORY_H */
