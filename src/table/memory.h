/*
 * memory.h
 *		Lets the library allocate from a memory context.
 */
#ifndef CSV_MEMORY_H
#define CSV_MEMORY_H

#include "reader/reader.h"

/* allocates from this context: ERROR if out of memory; for the main thread only */
extern CsvMemory csv_context_memory(MemoryContext context);

#endif							/* CSV_MEMORY_H */
