/*
 * host_answer.h
 *		For the unit tests: a plan evaluated on the host, row by row, as a device
 *		does it; and the answer that comes of it.
 */
#ifndef CSV_TEST_HOST_ANSWER_H
#define CSV_TEST_HOST_ANSWER_H

#include "../../src/query/plan.h"

/* to be given back by host_answer_free() */
extern CsvAnswer *host_answer(const CsvPlan *plan, const CsvLayout *layout,
							  const CsvBatch *batch);
extern void host_answer_free(CsvAnswer *answer);

#endif							/* CSV_TEST_HOST_ANSWER_H */
