/*
 * memory.c
 *		Lets the library allocate from a memory context.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "table/memory.h"

static void *
context_alloc(void *owner, size_t nbytes)
{
	return MemoryContextAllocExtended((MemoryContext) owner, nbytes,
									  MCXT_ALLOC_HUGE);
}

static void
context_free(void *owner, void *memory)
{
	pfree(memory);
}

CsvMemory
csv_context_memory(MemoryContext context)
{
	CsvMemory	memory = {context_alloc, context_free, context};

	return memory;
}
