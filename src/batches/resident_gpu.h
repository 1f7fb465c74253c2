/*
 * resident_gpu.h
 *		Queries that a GPU answers over resident columns.
 *
 * The columns that a query reads are copied to the device the first time, and
 * stay there as long as nothing else needs the memory, within
 * csv_gpu_fdw.gpu_memory_limit.  The device then says of all rows of a file at
 * once which of them come out, and what the groups of the others are; batches,
 * errors and values still come from the host's memory.
 */
#ifndef CSV_RESIDENT_GPU_H
#define CSV_RESIDENT_GPU_H

#include "batches/choose.h"
#include "batches/resident.h"
#include "query/query.h"

/* what a device says of a file's rows */
typedef struct CsvResidentAnswer CsvResidentAnswer;

/*
 * Ask it; of the reader's options, those of records count.  NULL where the question is not one for it, or there is no device to be had
 * (now): the batches are evaluated one by one then.  Allocated in the current
 * memory context, holds memory beside it.  Interrupts are honoured.
 */
extern CsvResidentAnswer *csv_resident_ask(CsvResident *resident,
										   const CsvSettings *settings,
										   const CsvReaderOptions *reader,
										   const CsvRequest *request,
										   const CsvLayout *layout);
extern void csv_resident_answer_free(CsvResidentAnswer *answer);

/* add its groups, of all rows, to an evaluator's: CSV_OK or CSV_NO_MEMORY */
extern CsvStatus csv_resident_merge(const CsvResidentAnswer *answer,
									CsvEvaluator *evaluator);

/*
 * What becomes of the next nrows rows, to be asked once, in order.  Rows that the
 * filter dropped are all told with the first ones where there are aggregates.
 */
extern void csv_resident_select(CsvResidentAnswer *answer, uint32_t nrows,
								CsvSelection *selection);

#endif							/* CSV_RESIDENT_GPU_H */
