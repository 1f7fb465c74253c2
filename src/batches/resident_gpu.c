/*
 * resident_gpu.c
 *		Has a GPU answer queries over resident columns.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "batches/resident_gpu.h"
#include "table/source.h"

#ifdef CSV_WITH_CUDA

#include "../../cuda/csv_cuda.h"

/* an answer about rows from first_row on */
typedef struct Slice
{
	uint32_t	first_row;
	CsvAnswer  *answer;
} Slice;

struct CsvResidentAnswer
{
	bool		aggregates;
	int			nslices;
	int			capacity;
	Slice	   *slices;

	/* the selection of all slices */
	uint32_t	nselected;
	uint32_t   *selected;
	uint8_t    *careful;
	bool		any_careful;
	bool		joined;			/* allocated, and not a slice's */
	uint32_t	ndropped;

	/* where csv_resident_select() is */
	uint32_t	row;
	uint32_t	position;
};

/* how columns are asked */
typedef struct GpuQuestion
{
	CsvResident *resident;
	CsvCudaColumns *columns;
	CsvCudaQuestion question;
	char		reason[256];	/* why the device failed */
} GpuQuestion;

/* what is in any of the batches' statuses, as in a question */
static uint8_t *
look_at_batches(CsvResident *resident, const CsvLayout *layout,
				const uint32_t *places)
{
	const CsvResidentBatch *batch = NULL;
	uint8_t    *seen = palloc0(layout->ncolumns + 1);

	while ((batch = csv_resident_batch(resident, batch)) != NULL)
		for (uint32_t i = 0; i < layout->ncolumns; i++)
		{
			const CsvArray *array = &batch->batch.arrays[places[i]];

			if (!array->all_ok)
				seen[i] |= CSV_CUDA_SEEN_NOT_OK;
			if (array->any_slow)
				seen[i] |= CSV_CUDA_SEEN_SLOW;
		}
	return seen;
}

/* bytes of an entry on the device: texts of batches differ */
static uint32_t
entry_width(CsvResident *resident, uint32_t place)
{
	const CsvResidentBatch *batch = NULL;
	uint32_t	width = 1;

	while ((batch = csv_resident_batch(resident, batch)) != NULL)
		width = Max(width, batch->batch.arrays[place].stride);
	return width;
}

/* the rows of a part that are not there yet; false: no room, or it failed */
static bool
copy_part(GpuQuestion *asking, uint32_t place, bool statuses)
{
	uint32_t	part = statuses ? CSV_CUDA_STATUSES(place) :
		CSV_CUDA_VALUES(place);
	uint32_t	nfilled = csv_cuda_columns_filled(asking->columns, part);
	uint32_t	width = statuses ? 1 : entry_width(asking->resident, place);
	const CsvResidentBatch *batch = NULL;

	while ((batch = csv_resident_batch(asking->resident, batch)) != NULL)
	{
		const CsvArray *array = &batch->batch.arrays[place];

		if (batch->batch.nrows == 0 || batch->first_row < nfilled)
			continue;
		CHECK_FOR_INTERRUPTS();
		if (!csv_cuda_columns_add(asking->columns, part,
								  (uint32_t) batch->first_row, width,
								  !statuses ? array->values :
								  array->all_ok ? NULL : array->status,
								  statuses ? 1 : array->stride,
								  batch->batch.nrows,
								  asking->question.memory_limit,
								  asking->reason, sizeof(asking->reason)))
			return false;
	}
	return true;
}

/* bytes of the parts that are needed */
static uint64_t
count_bytes(const GpuQuestion *asking)
{
	const CsvCudaQuestion *question = &asking->question;
	uint64_t	width = 0;

	for (uint32_t i = 0; i < question->layout->ncolumns; i++)
	{
		if (csv_cuda_question_needs(question, i, false))
			width += entry_width(asking->resident, question->places[i]);
		if (csv_cuda_question_needs(question, i, true))
			width++;
	}
	return width * (uint64_t) csv_resident_nrows(asking->resident);
}

static bool
copy_columns(GpuQuestion *asking)
{
	const CsvCudaQuestion *question = &asking->question;

	/* others are not to make room in vain */
	if (!csv_cuda_columns_may_be(csv_engine_session(), count_bytes(asking),
								 question->memory_limit))
		return false;
	for (uint32_t i = 0; i < question->layout->ncolumns; i++)
		for (int statuses = 0; statuses < 2; statuses++)
			if (csv_cuda_question_needs(question, i, statuses != 0) &&
				!copy_part(asking, question->places[i], statuses != 0))
				return false;
	return true;
}

/*
 * This session's copies, by the number of the set: it is found anew for each scan.
 * What they have on the device goes when something else needs the memory.
 */
#define CSV_MOST_COPIES		32

typedef struct DeviceCopy
{
	uint64		connection;
	uint64		set;
	uint64		last_used;
	CsvCudaColumns *columns;	/* NULL: none */
} DeviceCopy;

/* NULL: no memory */
static CsvCudaColumns *
find_copy(CsvResident *resident)
{
	static DeviceCopy copies[CSV_MOST_COPIES];
	static uint64 nuses = 0;
	uint64		connection;
	uint64		set = csv_resident_number(resident, &connection);
	DeviceCopy *copy = &copies[0];

	for (int i = 0; i < CSV_MOST_COPIES; i++)
	{
		if (copies[i].last_used < copy->last_used)
			copy = &copies[i];
		if (copies[i].columns != NULL && copies[i].set == set &&
			copies[i].connection == connection)
		{
			copies[i].last_used = ++nuses;
			return copies[i].columns;
		}
	}
	if (copy->columns != NULL)
		csv_cuda_columns_free(copy->columns);
	copy->connection = connection;
	copy->set = set;
	copy->last_used = ++nuses;
	copy->columns = csv_cuda_columns_create(csv_engine_session(),
											csv_resident_layout(resident)->ncolumns,
											(uint32_t) csv_resident_nrows(resident));
	return copy->columns;
}

/* ---- asking ---- */

static void
warn_of_failure(const char *reason)
{
	ereport(WARNING,
			(errcode(ERRCODE_WARNING),
			 errmsg("GPU failed while evaluating resident columns: %s", reason),
			 errdetail("The CPU evaluates them, and reads further scans of this session where the choice is automatic.")));
}

static void
add_slice(CsvResidentAnswer *answer, uint32_t first_row, CsvAnswer *part)
{
	answer->slices[answer->nslices].first_row = first_row;
	answer->slices[answer->nslices].answer = part;
	answer->nslices++;
}

/* all slices of an answer; false: there is none */
static bool
ask_slices(GpuQuestion *asking, CsvResidentAnswer *answer, uint32_t nrows)
{
	for (uint32_t row = 0; row < nrows;)
	{
		uint32_t	n = nrows - row;
		CsvAnswer  *part;
		CsvStatus	status;

		/* before there is something that only a slice holds */
		if (answer->nslices == answer->capacity)
		{
			answer->capacity *= 2;
			answer->slices = repalloc(answer->slices, sizeof(Slice) *
									  answer->capacity);
		}
		status = csv_cuda_columns_answer(asking->columns, &asking->question,
										 row, &n, &part, asking->reason,
										 sizeof(asking->reason));
		if (status == CSV_INTERRUPTED)
		{
			CHECK_FOR_INTERRUPTS();
			continue;
		}
		if (status != CSV_OK || part == NULL)
			return false;
		add_slice(answer, row, part);
		row += n;
	}
	return true;
}

/* put the slices' selections together */
static void
join_selections(CsvResidentAnswer *answer)
{
	uint32_t	n = 0;

	for (int i = 0; i < answer->nslices; i++)
	{
		const CsvSelection *selection = &answer->slices[i].answer->selection;

		answer->nselected += selection->nrows;
		answer->any_careful |= selection->any_careful;
		answer->ndropped += selection->ndropped;
		answer->selected = (uint32_t *) selection->rows;
		answer->careful = (uint8_t *) selection->careful;
	}
	if (answer->nslices == 1)
		return;
	answer->selected = palloc_extended(sizeof(uint32_t) *
									   ((size_t) answer->nselected + 1),
									   MCXT_ALLOC_HUGE);
	answer->careful = palloc_extended((size_t) answer->nselected + 1,
									  MCXT_ALLOC_HUGE);
	answer->joined = true;
	for (int i = 0; i < answer->nslices; i++)
	{
		const CsvSelection *selection = &answer->slices[i].answer->selection;

		for (uint32_t k = 0; k < selection->nrows; k++, n++)
		{
			answer->selected[n] = answer->slices[i].first_row +
				selection->rows[k];
			answer->careful[n] = selection->careful[k];
		}
	}
}

CsvResidentAnswer *
csv_resident_ask(CsvResident *resident, const CsvSettings *settings,
				 const CsvRequest *request, const CsvLayout *layout,
				 const uint32_t *places)
{
	CsvCudaColumns *columns = NULL;
	int64		nrows = csv_resident_nrows(resident);
	uint8_t    *seen;
	GpuQuestion asking;
	CsvResidentAnswer *answer;
	bool		uncertain = false;
	bool		good;

	if (nrows == 0 || nrows > PG_INT32_MAX ||
		!csv_engine_wants_gpu(settings, csv_resident_file_size(resident)))
		return NULL;
	seen = look_at_batches(resident, layout, places);
	for (uint32_t i = 0; i < layout->ncolumns && request->all_certain; i++)
		uncertain |= (seen[i] & CSV_CUDA_SEEN_SLOW) != 0;
	if (!uncertain)
		columns = find_copy(resident);
	if (columns == NULL)
	{
		pfree(seen);
		return NULL;
	}

	memset(&asking, 0, sizeof(asking));
	asking.resident = resident;
	asking.columns = columns;
	asking.question.request = request;
	asking.question.layout = layout;
	asking.question.places = places;
	asking.question.seen = seen;
	asking.question.memory_limit = (uint64_t) settings->gpu_memory_limit * 1024 *
		1024;
	asking.question.interrupted = csv_source_interrupted;

	answer = palloc0(sizeof(CsvResidentAnswer));
	answer->aggregates = request->query->aggregates;
	answer->capacity = 4;
	answer->slices = palloc(sizeof(Slice) * answer->capacity);
	good = csv_cuda_question_fits(csv_engine_session(), &asking.question) &&
		copy_columns(&asking);
	PG_TRY();
	{
		good = good && ask_slices(&asking, answer, (uint32_t) nrows);
		if (good)
			join_selections(answer);
		else
			csv_resident_answer_free(answer);
	}
	PG_CATCH();
	{
		csv_resident_answer_free(answer);
		PG_RE_THROW();
	}
	PG_END_TRY();
	pfree(seen);
	if (asking.reason[0] != '\0')
	{
		csv_engine_gpu_failed();
		warn_of_failure(asking.reason);
	}
	return good ? answer : NULL;
}

void
csv_resident_answer_free(CsvResidentAnswer *answer)
{
	for (int i = 0; i < answer->nslices; i++)
		csv_cuda_answer_free(csv_engine_session(), answer->slices[i].answer);
	if (answer->joined)
	{
		pfree(answer->selected);
		pfree(answer->careful);
	}
	pfree(answer->slices);
	pfree(answer);
}

/* ---- what it says ---- */

CsvStatus
csv_resident_merge(const CsvResidentAnswer *answer, CsvEvaluator *evaluator)
{
	CsvStatus	status = CSV_OK;

	for (int i = 0; i < answer->nslices && status == CSV_OK; i++)
		status = csv_evaluator_merge(evaluator,
									 &answer->slices[i].answer->groups);
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

#else							/* no CUDA */

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

#endif
