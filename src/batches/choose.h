/*
 * choose.h
 *		Which engine reads a table, and the GUCs that have a say in it.
 */
#ifndef CSV_CHOOSE_H
#define CSV_CHOOSE_H

#include "table/option.h"

/* GUCs */
extern int	csv_device_guc;		/* csv_gpu_fdw.device */
extern int	csv_gpu_memory_limit_guc;	/* MB; 0: half of what is free */
extern int	csv_cpu_threads_guc;	/* csv_gpu_fdw.cpu_threads */
extern int	csv_gpu_fault_guc;	/* for tests: the chunk at which the GPU fails
								 * (negative: for lack of memory), */
extern int	csv_gpu_groups_guc; /* and from how many groups of a chunk on they
								 * stay on it; 0: the engine's choice */

/* an open engine */
typedef struct CsvOpenEngine
{
	const CsvEngine *engine;
	void	   *state;
	bool		may_fall_back;	/* chosen by 'auto': the CPU may take over */
	bool		awaits_gpu;		/* a GPU may take over when it is awake */
} CsvOpenEngine;

/*
 * Open the engine for nbytes bytes (-1: unknown) of a table, of which so many
 * columns are wanted (0: the records are counted).  Its memory comes from
 * *memory, which must outlive it, and be usable in any thread.  ERROR if
 * the choice is 'cuda' and there is no usable GPU.
 *
 * Under 'auto' nobody waits for a GPU to wake up: the CPU engine begins.
 */
extern void csv_engine_open(CsvOpenEngine *open, CsvEngineChoice choice,
							int64 nbytes, int ncolumns,
							const CsvMemory *memory);

/*
 * Is the GPU awake by now that the engine awaits, and worth it for the nbytes
 * bytes that are left?  Then open it in *gpu, for the CPU engine to make way.
 */
extern bool csv_engine_take_over(CsvOpenEngine *open, int64 nbytes,
								 const CsvMemory *memory, CsvOpenEngine *gpu);

/*
 * Is a GPU to evaluate queries over the resident columns of a file of so many
 * bytes?  Under 'auto' only one that is awake; one that may be worth it wakes up
 * meanwhile.
 */
extern bool csv_engine_wants_gpu(CsvEngineChoice choice, int64 nbytes);

/* the GPU failed: 'auto' does without it for the rest of the session */
extern void csv_engine_gpu_failed(void);

/* the CPU engine, where a GPU failed in mid-scan: for the rest of the session */
extern void csv_engine_fall_back(CsvOpenEngine *open, const CsvMemory *memory);

/*
 * For EXPLAIN: "cpu (avx2)" or "cuda (NVIDIA H200)", as csv_engine_open would
 * choose now; creates no CUDA context.
 */
extern char *csv_engine_describe(CsvEngineChoice choice, int64 nbytes,
								 int ncolumns);

/*
 * For costs: how many times as fast as one thread of the CPU's it reads, as
 * csv_engine_open would choose now.  Touches no CUDA.
 */
extern double csv_engine_speed(CsvEngineChoice choice, int64 nbytes,
							   int ncolumns);

/*
 * Likewise: may it hold so many bytes of groups itself, so that they need not fit
 * into the backend's memory?  As far as is known before it is open.
 */
extern bool csv_engine_holds_groups(CsvEngineChoice choice, int64 nbytes,
									int ncolumns, double group_bytes);

/* a description of an open engine */
extern char *csv_engine_description(const CsvOpenEngine *open);

#endif							/* CSV_CHOOSE_H */
