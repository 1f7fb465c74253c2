/*
 * choose.h
 *		Chooses the engine that reads a table.
 */
#ifndef CSV_CHOOSE_H
#define CSV_CHOOSE_H

#include "table/option.h"

/* how a scan uses a GPU */
typedef enum CsvGpuUse
{
	CSV_GPU_NONE,
	CSV_GPU_AWAITED,			/* the CPU begins; the GPU may take over once it is awake */
	CSV_GPU_READS
} CsvGpuUse;

/*
 * For nbytes bytes (-1: unknown) of a table with ncolumns wanted columns (0: the
 * records are counted).  rows_out is the share of the rows that come out to this
 * process; it is 0 if groups come out, or if several processes share the rows.
 * With 'auto' the caller never waits for a GPU to wake up.  wakes: wake a GPU that
 * may be worth using.
 */
extern CsvGpuUse csv_choose_gpu(const CsvSettings *settings, int64 nbytes,
								int ncolumns, double rows_out, bool wakes);

/* Is the awaited GPU awake now, and worth using for the remaining nbytes bytes? */
extern CsvGpuUse csv_await_gpu(const CsvSettings *settings, int64 nbytes);

/*
 * The threads of the CPU engine, for a file of nbytes bytes (-1: unknown) in chunks of
 * chunk_bytes (0: the engine's choice).
 */
extern int	csv_engine_threads(const CsvSettings *settings, int64 nbytes,
							   uint64 chunk_bytes);

/* ERROR: the engine is 'cuda', and there is no GPU */
extern void csv_engine_no_gpu(const CsvSettings *settings)
	__attribute__((noreturn));

/*
 * Is the engine 'cuda', without a usable GPU?  Then reading a file is an ERROR, but
 * the CPU evaluates resident columns, because that reads no file.
 */
extern bool csv_engine_lacks_gpu(const CsvSettings *settings);

/* the GPU failed: 'auto' does not use it until csv_gpu_service has been replaced */
extern void csv_engine_gpu_failed(void);

/*
 * For EXPLAIN: "cpu (avx2)" or "cuda (NVIDIA H200)", in the current memory context.
 * Creates no CUDA context.
 */
extern const char *csv_engine_name(const CsvSettings *settings, bool is_gpu);

/*
 * For costs: the speed of reading and evaluating, relative to one thread.
 * has_gpu: a GPU reads.
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

#endif							/* CSV_CHOOSE_H */
