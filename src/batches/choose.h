/*
 * choose.h
 *		Chooses the engine that reads a table.
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
	bool		may_fall_back;	/* chosen by 'auto': the CPU may replace the GPU */
	bool		wants_gpu;		/* a GPU must read the files from the beginning */
	bool		awaits_gpu;		/* a GPU may take over once it is awake */
	TimestampTz asked;			/* when the GPU's state was last queried */
} CsvOpenEngine;

/*
 * Opens the CPU engine for nbytes bytes (-1: unknown) of a table with ncolumns wanted
 * columns (0: the records are counted), in chunks of chunk_bytes (0: the engine's
 * choice).  The engine's memory comes from *memory, which must outlive the engine and
 * be usable in any thread.  The CPU engine reads headers, and everything that no GPU
 * reads; *open tells which.
 *
 * With 'auto' the caller never waits for a GPU to wake up: the CPU engine begins.
 */
extern void csv_engine_open(CsvOpenEngine *open, const CsvSettings *settings,
							int64 nbytes, uint64 chunk_bytes, int ncolumns,
							const CsvMemory *memory);

/* ERROR: the engine is 'cuda', and there is no GPU */
extern void csv_engine_no_gpu(const CsvSettings *settings)
	__attribute__((noreturn));

/*
 * Opens the CPU engine with one thread, for a process that shares its scan with
 * others. wants_gpu: a GPU must read the scan, as csv_engine_uses_gpu() said.
 */
extern void csv_engine_open_alone(CsvOpenEngine *open,
								  const CsvSettings *settings, bool wants_gpu,
								  const CsvMemory *memory);

/* would csv_engine_open() now choose a GPU, and is that GPU awake? */
extern bool csv_engine_uses_gpu(const CsvSettings *settings, int64 nbytes,
								int ncolumns);

/* Is the awaited GPU awake now, and worth using for the remaining nbytes bytes? */
extern bool csv_engine_may_take_over(CsvOpenEngine *open,
									 const CsvSettings *settings, int64 nbytes);

/*
 * Should a GPU evaluate queries over the resident columns of a file of nbytes bytes?
 * With 'auto' only a GPU that is awake; otherwise wakes a GPU that may be worth using.
 */
extern bool csv_engine_wants_gpu(const CsvSettings *settings, int64 nbytes);

/*
 * Is the engine 'cuda', without a usable GPU?  Then reading a file is an ERROR, but
 * the CPU evaluates resident columns, because that reads no file.
 */
extern bool csv_engine_lacks_gpu(const CsvSettings *settings);

/* the GPU failed: 'auto' does not use it until csv_gpu_service has been replaced */
extern void csv_engine_gpu_failed(void);

/*
 * For EXPLAIN: "cpu (avx2)" or "cuda (NVIDIA H200)", as csv_engine_open() would choose
 * now.  Creates no CUDA context.
 */
extern char *csv_engine_describe(const CsvSettings *settings, int64 nbytes,
								 int ncolumns);

/*
 * For costs: the speed of reading and evaluating, relative to one thread.  has_gpu is
 * the result of csv_engine_uses_gpu().
 */
extern double csv_engine_speed(const CsvSettings *settings, int64 nbytes,
							   bool has_gpu);

/*
 * For costs: may the engine hold group_bytes bytes of groups, so that they need not
 * fit into the backend's memory?  As far as that is known before it is open.
 */
extern bool csv_engine_holds_groups(const CsvSettings *settings,
									int64 nbytes, int ncolumns,
									double group_bytes);

/* describes the GPU that evaluates resident columns */
extern char *csv_engine_gpu_description(const CsvSettings *settings);

/* describes an open engine */
extern char *csv_engine_description(const CsvOpenEngine *open);

#endif							/* CSV_CHOOSE_H */
