/*
 * resident_gpu.c
 *		Has a GPU answer queries over resident columns.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "batches/inlet.h"
#include "batches/resident.h"
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
	MemoryContext context;		/* of everything here */
	CsvInlet   *inlet;			/* owns the memory that slices point to */
	bool		aggregates;
	List	   *slices;

	/* the next row of csv_resident_select(), and the next selected one */
	uint32_t	row;
	int			slice;
	uint32_t	position;

	/* its last result */
	CsvAnswer	part;
	uint32_t	capacity;
	uint32_t   *rows;
	uint8_t    *careful;		/* behind the rows */
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
	const CsvResident *resident = batches->resident;
	CsvAskMessage message;
	int			file;

	if (resident->connection != csv_service_connection())
		return NULL;
	memset(&message, 0, sizeof(message));
	message.kind = CSV_MESSAGE_ASK;
	message.device = settings->device;
	message.must_wait = settings->engine == CSV_ENGINE_CUDA;
	message.set = resident->set;
	file = csv_request_file(&csv_store_dialect(resident->store)->opt,
							&batches->table->reader, &batches->layout->layout,
							request);
	return file < 0 ? NULL : csv_inlet_open(&message, sizeof(message), file);
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

CsvResidentAnswer *
csv_resident_ask(const CsvBatches *batches, const CsvRequest *request)
{
	const CsvResident *resident = batches->resident;
	int64		nrows = (int64) csv_store_nrows(resident->store);
	CsvResidentAnswer *answer;
	MemoryContext context;
	MemoryContext outer;
	CsvStatus	status = CSV_DEVICE_FAILED;

	if (nrows == 0 || nrows > PG_INT32_MAX ||
		csv_choose_gpu(&batches->table->settings, resident->key.file.size, 1, 0,
					   true) != CSV_GPU_READS)
		return NULL;
	context = AllocSetContextCreate(CurrentMemoryContext, "csv_gpu_fdw answer",
									ALLOCSET_SMALL_SIZES);
	outer = MemoryContextSwitchTo(context);
	answer = palloc0(sizeof(CsvResidentAnswer));
	answer->context = context;
	answer->aggregates = request->query->aggregates;
	answer->inlet = open_inlet(batches, request);
	if (answer->inlet != NULL)
	{
		status = receive_slices(answer, request->query, (uint32_t) nrows);
		if (status == CSV_DEVICE_FAILED)
		{
			csv_engine_gpu_failed();
			warn_of_failure(answer->inlet->reason);
		}
	}
	MemoryContextSwitchTo(outer);
	if (status == CSV_END && answer->slices != NIL)
		return answer;
	csv_resident_answer_free(answer);
	return NULL;
}

void
csv_resident_answer_free(CsvResidentAnswer *answer)
{
	MemoryContextDelete(answer->context);
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

const CsvAnswer *
csv_resident_select(CsvResidentAnswer *answer, uint32_t nrows)
{
	CsvSelection *selection = &answer->part.selection;
	uint32_t	end = answer->row + nrows;

	if (nrows > answer->capacity)
	{
		if (answer->rows != NULL)
			pfree(answer->rows);
		answer->capacity = nrows;
		answer->rows = MemoryContextAllocHuge(answer->context, (size_t) nrows *
											  (sizeof(uint32_t) + sizeof(uint8_t)));
		answer->careful = (uint8_t *) (answer->rows + nrows);
	}
	memset(selection, 0, sizeof(*selection));
	answer->part.is_whole = true;
	selection->rows = answer->rows;
	selection->careful = answer->careful;
	for (; answer->slice < list_length(answer->slices); answer->slice++)
	{
		const Slice *slice = list_nth(answer->slices, answer->slice);
		const CsvSelection *from = &slice->answer.selection;
		uint32_t   *k = &answer->position;

		for (; *k < from->nrows && slice->first_row + from->rows[*k] < end; (*k)++)
		{
			answer->rows[selection->nrows] = slice->first_row + from->rows[*k] -
				answer->row;
			answer->careful[selection->nrows++] = from->careful[*k];
		}
		selection->any_careful |= from->any_careful;
		if (*k < from->nrows)
			break;
		*k = 0;
		if (answer->aggregates)
			selection->ndropped += from->ndropped;
	}
	if (!answer->aggregates)
		selection->ndropped = nrows - selection->nrows;
	answer->row = end;
	return &answer->part;
}
