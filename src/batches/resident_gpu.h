/*
 * resident_gpu.h
 *		Queries that a GPU answers over resident columns.
 *
 * At its first use in a query, a column is copied to the device.  The copy stays there
 * until the memory is needed otherwise, within csv_gpu_fdw.gpu_memory_limit.  The
 * device determines for all rows of a file at once which rows come out, and the groups
 * of the other rows.  Batches, errors and values still come from the host's memory.
 */
#ifndef CSV_RESIDENT_GPU_H
#define CSV_RESIDENT_GPU_H

#include "batches/producer.h"
#include "query/query.h"

/* the answer of a device about a file's rows */
typedef struct CsvResidentAnswer CsvResidentAnswer;

/*
 * Asks the device about the resident columns of the open file.  Returns NULL if
 * the device cannot answer this query, or is not available now; then the batches
 * must be evaluated one by one.  In a child of the current memory context, which also
 * releases other memory.  Processes interrupts.
 */
extern CsvResidentAnswer *csv_resident_ask(const CsvBatches *batches,
										   const CsvRequest *request);
extern void csv_resident_answer_free(CsvResidentAnswer *answer);

/* adds the groups, of all rows, to an evaluator's groups: CSV_OK or CSV_NO_MEMORY */
extern CsvStatus csv_resident_merge(const CsvResidentAnswer *answer,
									CsvEvaluator *evaluator);

/*
 * The answer for the next nrows rows, without groups, until the next call.  Each
 * row must be asked for once, in order.
 */
extern const CsvAnswer *csv_resident_select(CsvResidentAnswer *answer,
											uint32_t nrows);

#endif							/* CSV_RESIDENT_GPU_H */
