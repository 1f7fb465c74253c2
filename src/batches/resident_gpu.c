/*
 * resident_gpu.c
 *		Has a GPU answer queries over resident columns.
 */
#include "postgres.h"

#include <unistd.h>

#include "miscadmin.h"
#include "utils/memutils.h"

#include "batches/inlet.h"
#include "batches/kept.h"
#include "batches/resident_gpu.h"
#include "client/connection.h"
#include "table/messages.h"

/* an answer about rows, beginning with first_row */
typedef struct Slice
{
	uint32_t	first_row;
	CsvAnswer	answer;
} Slice;

struct CsvResidentAnswer
{
	CsvInlet   *inlet;			/* owns the memory that slices point to */
	bool		aggregates;
	List	   *slices;

	/* the combined selections of all slices */
	uint32_t	nselected;
	uint32_t   *selected;
	uint8_t    *careful;
	bool		any_careful;
	uint32_t	ndropped;

	/* progress of csv_resident_select() */
	uint32_t	row;
	uint32_t	position;
};

static void
warn_of_failure(const char *reason)
{
	csv_warn((errcode(ERRCODE_WARNING),
			  errmsg("GPU failed while evaluating resident columns: %s", reason),
			  errdetail("The CPU evaluates them.")));
}

/* makes csv_gpu_service answer the request; NULL: it does not */
static CsvInlet *
open_inlet(const CsvBatches *batches, const CsvRequest *request)
{
	const CsvSettings *settings = &batches->table->settings;
	const CsvKept *kept = batches->kept;
	CsvAskMessage message;
	CsvInlet   *volatile inlet = NULL;
	int			file;

	if (kept->connection != csv_service_connection())
		return NULL;
	memset(&message, 0, sizeof(message));
	message.kind = CSV_MESSAGE_ASK;
	message.device = settings->device;
	message.must_wait = settings->engine == CSV_ENGINE_CUDA;
	message.set = kept->set;
	file = csv_request_file(&csv_store_dialect(kept->store)->opt,
							&batches->table->reader, &batches->layout->layout,
							request);
	if (file < 0)
		return NULL;
	PG_TRY();
	{
		inlet = csv_inlet_open(&message, sizeof(message), file);
	}
	PG_FINALLY();
	{
		close(file);
	}
	PG_END_TRY();
	return inlet;
}

/* receives all slices; CSV_END, or the reason for a failure */
static CsvStatus
receive_slices(CsvResidentAnswer *answer, const CsvQuery *query, uint32_t nrows)
{
	uint32_t	row = 0;

	for (;;)
	{
		const CsvLayout no_columns = {0};
		Slice	   *slice = palloc0(sizeof(Slice));
		CsvBatch	batch;
		CsvStatus	status = csv_inlet_receive(answer->inlet, CSV_MESSAGE_ANSWER,
											   NULL, &no_columns, query, NULL,
											   &slice->answer, &batch);

		if (status == CSV_END && row != nrows && row != 0)
			return csv_inlet_fail(answer->inlet, "csv_gpu_service did not answer for all rows");
		if (status != CSV_OK)
			return status;
		if (batch.answer == NULL || batch.file_records != row ||
			batch.nrows > nrows - row)
			return csv_inlet_fail(answer->inlet, "csv_gpu_service sent an answer that is not as it should be");
		slice->first_row = row;
		answer->slices = lappend(answer->slices, slice);
		row += batch.nrows;
	}
}

/* combines the slices' selections */
static void
join_selections(CsvResidentAnswer *answer)
{
	uint32_t	n = 0;
	ListCell   *cell;

	foreach(cell, answer->slices)
	{
		const CsvSelection *selection = &((Slice *) lfirst(cell))->answer.selection;

		answer->nselected += selection->nrows;
		answer->any_careful |= selection->any_careful;
		answer->ndropped += selection->ndropped;
	}
	answer->selected = palloc_extended(sizeof(uint32_t) *
									   ((size_t) answer->nselected + 1),
									   MCXT_ALLOC_HUGE);
	answer->careful = palloc_extended((size_t) answer->nselected + 1,
									  MCXT_ALLOC_HUGE);
	foreach(cell, answer->slices)
	{
		const Slice *slice = lfirst(cell);
		const CsvSelection *selection = &slice->answer.selection;

		for (uint32_t k = 0; k < selection->nrows; k++, n++)
		{
			answer->selected[n] = slice->first_row + selection->rows[k];
			answer->careful[n] = selection->careful[k];
		}
	}
}

CsvResidentAnswer *
csv_resident_ask(const CsvBatches *batches, const CsvRequest *request)
{
	const CsvKept *kept = batches->kept;
	int64		nrows = (int64) csv_store_nrows(kept->store);
	CsvResidentAnswer *answer;
	CsvInlet   *inlet;
	CsvStatus	status;

	if (nrows == 0 || nrows > PG_INT32_MAX ||
		csv_choose_gpu(&batches->table->settings, kept->key.file.size, 1, 0,
					   true) != CSV_GPU_READS)
		return NULL;
	inlet = open_inlet(batches, request);
	if (inlet == NULL)
		return NULL;
	answer = palloc0(sizeof(CsvResidentAnswer));
	answer->inlet = inlet;
	answer->aggregates = request->query->aggregates;
	status = receive_slices(answer, request->query, (uint32_t) nrows);
	if (status == CSV_DEVICE_FAILED)
	{
		csv_engine_gpu_failed();
		warn_of_failure(csv_inlet_reason(inlet));
	}
	if (status == CSV_END && answer->slices != NIL)
	{
		join_selections(answer);
		return answer;
	}
	csv_resident_answer_free(answer);
	return NULL;
}

void
csv_resident_answer_free(CsvResidentAnswer *answer)
{
	csv_inlet_close(answer->inlet);
	if (answer->selected != NULL)
	{
		pfree(answer->selected);
		pfree(answer->careful);
	}
	list_free_deep(answer->slices);
	pfree(answer);
}

/* ---- using the answer ---- */

CsvStatus
csv_resident_merge(const CsvResidentAnswer *answer, CsvEvaluator *evaluator)
{
	CsvStatus	status = CSV_OK;
	ListCell   *cell;

	foreach(cell, answer->slices)
		if (status == CSV_OK)
			status = csv_evaluator_merge(evaluator,
										 &((Slice *) lfirst(cell))->answer.groups);
	return status;
}

void
csv_resident_select(CsvResidentAnswer *answer, uint32_t nrows,
					CsvSelection *selection)
{
	uint32_t	first = answer->position;
	uint32_t	end = answer->row + nrows;

	while (answer->position < answer->nselected &&
		   answer->selected[answer->position] < end)
		answer->selected[answer->position++] -= answer->row;
	memset(selection, 0, sizeof(*selection));
	selection->nrows = answer->position - first;
	selection->rows = answer->selected + first;
	selection->careful = answer->careful + first;
	selection->any_careful = answer->any_careful;
	selection->ndropped = !answer->aggregates ? nrows - selection->nrows :
		answer->row == 0 ? answer->ndropped : 0;
	answer->row = end;
}
