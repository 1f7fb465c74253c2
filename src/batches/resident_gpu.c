/*
 * resident_gpu.c
 *		Has a GPU answer queries over resident columns.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "batches/resident_gpu.h"
#include "table/source.h"


CsvResidentAnswer *
csv_resident_ask(CsvResident *resident, const CsvSettings *settings,
				 const CsvRequest *request, const CsvLayout *layout,
				 const uint32_t *places)
{
	return NULL;
}

void
csv_resident_answer_free(CsvResidentAnswer *answer)
{
}

CsvStatus
csv_resident_merge(const CsvResidentAnswer *answer, CsvEvaluator *evaluator)
{
	return CSV_OK;
}

void
csv_resident_select(CsvResidentAnswer *answer, uint32_t nrows,
					CsvSelection *selection)
{
}
