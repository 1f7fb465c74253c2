/*
 * memory.h
 *		Lets the library allocate from a memory context.
 */
#ifndef CSV_MEMORY_H
#define CSV_MEMORY_H

#include "reader/reader.h"

/* of this context: ERROR where there is none; not for use in other threads */
extern CsvMemory csv_context_memory(MemoryContext context);

#endif							/* CSV_MEMORY_H */
