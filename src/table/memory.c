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

/* with what ends its threads */
typedef struct OwnCrew
{
	CsvCrew		crew;
	MemoryContextCallback callback;
} OwnCrew;

static void
close_crew(void *crew)
{
	csv_crew_close(crew);
}

CsvCrew *
csv_crew_create(int nthreads)
{
	OwnCrew    *own = palloc0(sizeof(OwnCrew));

	csv_crew_init(&own->crew, (uint32_t) nthreads);
	own->callback.func = close_crew;
	own->callback.arg = &own->crew;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, &own->callback);
	return &own->crew;
}
