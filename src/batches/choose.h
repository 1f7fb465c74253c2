/*
 * choose.h
 *		Which engine reads a table.
 */
#ifndef CSV_CHOOSE_H
#define CSV_CHOOSE_H

#include "datatype/timestamp.h"

#include "table/option.h"

/* an open engine */
typedef struct CsvOpenEngine
{
	const CsvEngine *engine;
	void	   *state;
	bool		may_fall_back;	/* chosen by 'auto': the CPU may take over */
	bool		wants_gpu;		/* a GPU is to read the files from the beginning */
	bool		awaits_gpu;		/* one may take over when it is awake */
	TimestampTz asked;			/* when it was looked at last */
} CsvOpenEngine;

/*
 * Open the CPU engine for nbytes bytes (-1: unknown) of a table, of which so many
 * columns are wanted (0: the records are counted), in chunks of chunk_bytes (0: the
 * engine's choice).  Its memory comes from *memory, which must outlive it, and be
 * usable in any thread.  It reads headers, and whatever no GPU is for: open tells.
 *
 * Under 'auto' nobody waits for a GPU to wake up: the CPU engine begins.
 */
extern void csv_engine_open(CsvOpenEngine *open, const CsvSettings *settings,
							int64 nbytes, uint64 chunk_bytes, int ncolumns,
							const CsvMemory *memory);

/* ERROR: the choice is 'cuda', and there is none */
extern void csv_engine_no_gpu(const CsvSettings *settings)
	__attribute__((noreturn));

/*
 * The CPU engine with one thread, for a process that shares its scan with others;
 * wants_gpu: a GPU is to read it, as csv_engine_uses_gpu() said.
 */
extern void csv_engine_open_alone(CsvOpenEngine *open,
								  const CsvSettings *settings, bool wants_gpu,
								  const CsvMemory *memory);

/* would csv_engine_open() choose a GPU now that is awake? */
extern bool csv_engine_uses_gpu(const CsvSettings *settings, int64 nbytes,
								int ncolumns);

/*
 * Is the GPU awake by now that the engine awaits, and worth it for the nbytes
 * bytes that are left?
 */
extern bool csv_engine_may_take_over(CsvOpenEngine *open,
									 const CsvSettings *settings, int64 nbytes);

/*
 * Is a GPU to evaluate queries over the resident columns of a file of so many
 * bytes?  Under 'auto' only one that is awake; one that may be worth it wakes up
 * meanwhile.
 */
extern bool csv_engine_wants_gpu(const CsvSettings *settings, int64 nbytes);

/*
 * Is the engine "cuda", without a usable GPU?  Then to read a file is an ERROR, but the
 * CPU evaluates resident columns: for these nothing is read.
 */
extern bool csv_engine_lacks_gpu(const CsvSettings *settings);

/* the GPU failed: 'auto' does without it until another program has it */
extern void csv_engine_gpu_failed(void);

/*
 * For EXPLAIN: "cpu (avx2)" or "cuda (NVIDIA H200)", as csv_engine_open would
 * choose now; creates no CUDA context.
 */
extern char *csv_engine_describe(const CsvSettings *settings, int64 nbytes,
								 int ncolumns);

/*
 * For costs: how many times as fast as one thread it reads and evaluates, with a GPU as
 * csv_engine_uses_gpu() says, or without.
 */
extern double csv_engine_speed(const CsvSettings *settings, int64 nbytes,
							   bool has_gpu);

/*
 * Likewise: may it hold so many bytes of groups itself, so that they need not fit
 * into the backend's memory?  As far as is known before it is open.
 */
extern bool csv_engine_holds_groups(const CsvSettings *settings,
									int64 nbytes, int ncolumns,
									double group_bytes);

/* the same of the GPU that answers over resident columns */
extern char *csv_engine_gpu_description(const CsvSettings *settings);

/* a description of an open engine */
extern char *csv_engine_description(const CsvOpenEngine *open);

#endif							/* CSV_CHOOSE_H */
