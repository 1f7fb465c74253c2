/*
 * reading.h
 *		Batches that an engine makes of the open file.
 *
 * The CPU begins each file.  A GPU may go on from the place where the CPU is
 * (remote.h), and the CPU goes on from the place where a GPU has failed.
 */
#ifndef CSV_READING_H
#define CSV_READING_H

#include "batches/producer.h"
#include "reader/place.h"

/*
 * Opens the CPU engine with this number of threads, unless it is open, for a scan with
 * this use of a GPU.
 */
extern void csv_reading_open(CsvBatches *batches, int nthreads, CsvGpuUse gpu);

/* closes the engine; or only the reader, if a device holds groups */
extern void csv_reading_close(CsvBatches *batches);
extern void csv_reading_close_reader(CsvBatches *batches);

/* stops threads that read ahead */
extern void csv_reading_leave(CsvBatches *batches);

/*
 * Reads the beginning of the open file, which may grow, and lays out its columns.  Goes
 * on from a place behind that, if it is given (NULL: not).
 */
extern void csv_reading_begin(CsvBatches *batches, bool grows, const CsvFilePlace *from);

/* as CsvProducer.next() */
extern bool csv_reading_next(CsvBatches *batches);

/*
 * Has a GPU that reads the open file evaluate a query over the batches that follow,
 * if there is one.  The request must outlive its use.
 */
extern bool csv_reading_ask(CsvBatches *batches, const CsvRequest *request);

/*
 * When everything is read: groups that the GPU holds, from number `first` on, as
 * CsvEngine.held_groups().  If the GPU fails at number 0, this sets is_lost; later,
 * it raises an ERROR.
 */
extern void csv_reading_held(CsvBatches *batches, uint32_t first,
							 CsvPartialGroups *groups);

/* adds the current batch to the statistics */
extern void csv_reading_count(CsvBatches *batches);

/*
 * csv_reading_fail(): handles a failure of the CPU, or of a file: ERROR, or returns to
 * try again.  csv_reading_leave_gpu(): the GPU has failed, and the CPU reads from now
 * on.  ERROR if it may not; otherwise a WARNING, if `warns`.
 */
extern void csv_reading_fail(CsvBatches *batches, CsvStatus status);
extern void csv_reading_leave_gpu(CsvBatches *batches, bool warns);

/* how the open file, which was read to its end, has changed */
extern CsvFileChange csv_reading_change(const CsvBatches *batches);

/* tells the caller of the batches how the open file has changed */
extern void csv_reading_tell_change(CsvBatches *batches, CsvFileChange change);

/* names the engine for EXPLAIN; the name is allocated in any context */
extern void csv_reading_name_engine(CsvBatches *batches, bool is_gpu);

/* adds the times and threads of open readers */
extern void csv_reading_add_times(const CsvBatches *batches,
								  CsvBatchesStatistics *statistics);

/* CsvProducer.next of a sample (sampling.c) */
extern bool csv_sampling_next(CsvBatches *batches);

#endif							/* CSV_READING_H */
