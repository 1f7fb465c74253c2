/*
 * resident.cu
 *		Columns that stay on the device, and queries over them: see engine.h.
 *
 * The host has the same columns, and is asked for whatever an answer does not
 * say: an answer is which rows come out, and groups.  So nothing is lost when
 * the memory here goes, which it does as soon as something else needs it: first
 * that of columns that were not asked for longest.
 */
#include "query.cuh"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Part
{
	uint8_t    *bytes;			/* NULL: nothing is there */
	uint32_t	width;
	uint32_t	nfilled;		/* rows */
} Part;

struct CsvCudaColumns
{
	CsvCudaColumns *next;		/* in the list */
	uint32_t	nparts;
	uint32_t	nrows;
	Part	   *parts;
};

/* all there are, the ones asked last in front; under the session's lock */
static CsvCudaColumns *newest;

/* ---- the list ---- */

static void
unlink_columns(CsvCudaColumns *columns)
{
	CsvCudaColumns **place = &newest;

	while (*place != columns)
		place = &(*place)->next;
	*place = columns->next;
}

static void
move_to_front(CsvCudaColumns *columns)
{
	unlink_columns(columns);
	columns->next = newest;
	newest = columns;
}

static size_t
part_bytes(const CsvCudaColumns *columns, const Part *part)
{
	return (size_t) columns->nrows * part->width;
}

static void
drop_parts(CsvCudaColumns *columns)
{
	for (uint32_t i = 0; i < columns->nparts; i++)
	{
		Part	   *part = &columns->parts[i];

		if (part->bytes != NULL)
			csv_kept_give_back(part->bytes, part_bytes(columns, part));
		part->bytes = NULL;
		part->nfilled = 0;
	}
}

void
csv_resident_drop(void)
{
	for (CsvCudaColumns *columns = newest; columns != NULL;
		 columns = columns->next)
		drop_parts(columns);
}

/* those that were not asked for longest, but not these; false: no others */
static bool
drop_oldest(const CsvCudaColumns *except)
{
	CsvCudaColumns *oldest = NULL;
	size_t		before = csv_session.kept_bytes;

	for (CsvCudaColumns *columns = newest; columns != NULL;
		 columns = columns->next)
		for (uint32_t i = 0; i < columns->nparts && columns != except; i++)
			if (columns->parts[i].bytes != NULL)
				oldest = columns;
	if (oldest != NULL)
		drop_parts(oldest);
	return csv_session.kept_bytes < before;
}

/* ---- columns ---- */

/* to be alone with the device; false where there is none (any more) */
static bool
enter(sigset_t *signals)
{
	csv_signals_block(signals);
	csv_session_lock();
	if (csv_session_lives())
		return true;
	csv_session_unlock();
	csv_signals_unblock(signals);
	return false;
}

static void
leave(const sigset_t *signals)
{
	csv_session_unlock();
	csv_signals_unblock(signals);
}

/* at the end of what began with enter() */
static void
fail(cudaError_t error, const char *what, char *reason, size_t reason_size)
{
	char		message[sizeof(csv_session.reason)];

	csv_session_failed(error, what, message);
	snprintf(reason, reason_size, "%s", message);
}

static size_t
limit_of(uint64_t memory_limit)
{
	return memory_limit > 0 ? memory_limit : csv_session.default_limit;
}

extern "C" bool
csv_cuda_wake(int device, char *reason, size_t reason_size)
{
	char		message[sizeof(csv_session.reason)] = "";
	bool		good = csv_session_open(device, message);

	if (!good)
		snprintf(reason, reason_size, "%s", message);
	return good;
}

extern "C" CsvCudaColumns *
csv_cuda_columns_create(uint32_t ncolumns, uint32_t nrows)
{
	CsvCudaColumns *columns = (CsvCudaColumns *)
		calloc(1, sizeof(CsvCudaColumns) + 2 * ncolumns * sizeof(Part));
	sigset_t	signals;

	if (columns == NULL)
		return NULL;
	columns->nparts = 2 * ncolumns;
	columns->nrows = nrows;
	columns->parts = (Part *) (columns + 1);
	csv_signals_block(&signals);
	csv_session_lock();
	columns->next = newest;
	newest = columns;
	leave(&signals);
	return columns;
}

extern "C" void
csv_cuda_columns_free(CsvCudaColumns *columns)
{
	sigset_t	signals;

	csv_signals_block(&signals);
	csv_session_lock();
	unlink_columns(columns);
	drop_parts(columns);
	leave(&signals);
	free(columns);
}

extern "C" uint64_t
csv_cuda_columns_bytes(const CsvCudaColumns *columns)
{
	uint64_t	nbytes = 0;

	for (uint32_t i = 0; i < columns->nparts; i++)
		if (columns->parts[i].bytes != NULL)
			nbytes += part_bytes(columns, &columns->parts[i]);
	return nbytes;
}

extern "C" uint32_t
csv_cuda_columns_filled(const CsvCudaColumns *columns, uint32_t part)
{
	return columns->parts[part].nfilled;
}

static cudaError_t
copy_rows(const Part *part, const uint8_t *source, uint32_t source_width,
		  uint32_t nrows)
{
	uint8_t    *to = part->bytes + (size_t) part->nfilled * part->width;
	size_t		nbytes = (size_t) nrows * part->width;
	cudaStream_t stream = csv_session.stream;

	if (source == NULL)
		return cudaMemsetAsync(to, 0, nbytes, stream);
	if (source_width == part->width)
		return cudaMemcpyAsync(to, source, nbytes, cudaMemcpyHostToDevice,
							   stream);
	return cudaMemcpy2DAsync(to, part->width, source, source_width,
							 source_width, nrows, cudaMemcpyHostToDevice,
							 stream);
}

extern "C" bool
csv_cuda_columns_add(CsvCudaColumns *columns, uint32_t number, uint32_t width,
					 const uint8_t *source, uint32_t source_width,
					 uint32_t nrows, uint64_t memory_limit, char *reason,
					 size_t reason_size)
{
	Part	   *part = &columns->parts[number];
	size_t		limit;
	sigset_t	signals;
	cudaError_t error = cudaSuccess;
	bool		good;

	reason[0] = '\0';
	if (!enter(&signals))
		return false;
	limit = limit_of(memory_limit) / CSV_QUERY_MEMORY_SHARE;
	if (part->bytes == NULL)
	{
		part->width = width;
		do
			part->bytes = csv_kept_take(part_bytes(columns, part), limit);
		while (part->bytes == NULL && drop_oldest(columns));
	}
	good = part->bytes != NULL;
	if (good && nrows > 0)
	{
		error = copy_rows(part, source, source_width, nrows);
		part->nfilled += nrows;
	}
	if (error != cudaSuccess)
	{
		good = false;
		part->nfilled = 0;
		fail(error, "copy", reason, reason_size);
	}
	leave(&signals);
	return good;
}

/* ---- questions ---- */

static void *
host_alloc(void *owner, size_t nbytes)
{
	(void) owner;
	return malloc(nbytes);
}

static void
host_free(void *owner, void *memory)
{
	(void) owner;
	free(memory);
}

static const CsvMemory host_memory = {host_alloc, host_free, NULL};

extern "C" bool
csv_cuda_question_needs(const CsvCudaQuestion *question, uint32_t column,
						bool statuses)
{
	const CsvQuery *query = question->request->query;
	bool		is_read = false;

	if (statuses && question->seen[column] == 0)
		return false;
	for (uint32_t i = 0; i < query->ninstructions && !is_read; i++)
		is_read = query->instructions[i].operation == CSV_OP_COLUMN &&
			query->instructions[i].operand == column;
	return is_read ||
		(statuses && (question->seen[column] & CSV_CUDA_SEEN_SLOW) != 0);
}

extern "C" bool
csv_cuda_question_fits(const CsvCudaQuestion *question)
{
	CsvPlan		plan;
	bool		fits = csv_plan_make(&plan, &host_memory,
									 question->request->query,
									 question->layout,
									 csv_query_most_slots(csv_session.max_shared_bytes));

	csv_plan_free(&plan, &host_memory);
	return fits;
}

/* the rows that a question is about, and all that it takes */
typedef struct Asking
{
	CsvCudaColumns *columns;
	const CsvCudaQuestion *question;
	CsvPlan		plan;
	CsvRowColumn *row_columns;
	uint32_t	ntexts;			/* keys and extremes */
	size_t		longest_text;	/* of columns and constants */
	uint32_t	first_row;
	uint32_t	nrows;
	size_t		limit;
	CsvQueryView view;
	CsvQueryCounts counts;
	CsvQueryCounts *pinned_counts;
	sigset_t	signals;
	char	   *reason;
	size_t		reason_size;
} Asking;

#define TRY(status_) \
	do { \
		CsvStatus try_status_ = (status_); \
		if (try_status_ != CSV_OK) \
			return try_status_; \
	} while (0)

#define TRY_CUDA(call_, what_) \
	do { \
		cudaError_t try_error_ = (call_); \
		if (try_error_ != cudaSuccess) \
		{ \
			fail(try_error_, what_, asking->reason, asking->reason_size); \
			return CSV_DEVICE_FAILED; \
		} \
	} while (0)

/* the columns from first_row on; false if one is not all there */
static bool
set_columns(Asking *asking)
{
	const CsvCudaQuestion *question = asking->question;
	const CsvLayout *layout = question->layout;

	for (uint32_t i = 0; i < layout->ncolumns; i++)
	{
		const Part *values =
			&asking->columns->parts[CSV_CUDA_VALUES(question->places[i])];
		const Part *statuses =
			&asking->columns->parts[CSV_CUDA_STATUSES(question->places[i])];
		CsvRowColumn *column = &asking->row_columns[i];

		memset((void *) column, 0, sizeof(*column));
		column->slow = (question->seen[i] & CSV_CUDA_SEEN_SLOW) != 0;
		column->kind = layout->columns[i].kind;
		column->precision = layout->columns[i].precision;
		column->scale = layout->columns[i].scale;
		column->stride = values->width;
		if (csv_cuda_question_needs(question, i, true))
		{
			if (statuses->nfilled < asking->columns->nrows)
				return false;
			column->status = statuses->bytes + asking->first_row;
		}
		if (!csv_cuda_question_needs(question, i, false))
			continue;
		if (values->nfilled < asking->columns->nrows)
			return false;
		column->values = values->bytes +
			(size_t) asking->first_row * values->width;
		if (values->width > asking->longest_text)
			asking->longest_text = values->width;
	}
	return true;
}

static bool
make_plan(Asking *asking)
{
	const CsvCudaQuestion *question = asking->question;
	const CsvQuery *query = question->request->query;
	CsvPlan    *plan = &asking->plan;

	if (!csv_plan_make(plan, &host_memory, query, question->layout,
					   csv_query_most_slots(csv_session.max_shared_bytes)))
		return false;
	for (uint32_t i = 0; i < plan->nkeys; i++)
		asking->ntexts += plan->key_lanes[i] == CSV_LANE_TEXT;
	for (uint32_t i = 0; i < plan->naggregates; i++)
		asking->ntexts += plan->aggregate[i].lane == CSV_LANE_TEXT;
	for (uint32_t i = 0; i < query->nconstants; i++)
		if (query->constants[i].length > asking->longest_text)
			asking->longest_text = query->constants[i].length;
	return true;
}

/* room beside what stays, which must not go for this; false: none */
static bool
reserve(Asking *asking, CsvDeviceMemory which, size_t nbytes)
{
	size_t		kept = csv_session.kept_bytes;
	size_t		others = csv_device_held() + kept -
		csv_session.device_memory[which].nbytes;
	char		message[sizeof(csv_session.reason)];

	return nbytes <= asking->limit && others <= asking->limit - nbytes &&
		csv_device_reserve(which, nbytes, 0, asking->limit, message) &&
		csv_session.kept_bytes == kept;
}

static CsvStatus
wait_for_device(Asking *asking)
{
	const CsvCudaQuestion *question = asking->question;
	cudaError_t error = cudaGetLastError();
	bool		interrupted;

	TRY_CUDA(error, "kernel launch");
	error = csv_session_wait(&asking->signals, question->interrupted,
							 question->interrupted_arg, &interrupted);
	TRY_CUDA(error, "kernel");
	return interrupted ? CSV_INTERRUPTED : CSV_OK;
}

static CsvStatus
read_counts(Asking *asking)
{
	TRY_CUDA(cudaMemcpyAsync(asking->pinned_counts, asking->view.counts,
							 sizeof(CsvQueryCounts), cudaMemcpyDeviceToHost,
							 csv_session.stream), "copy");
	TRY(wait_for_device(asking));
	asking->counts = *asking->pinned_counts;
	return CSV_OK;
}

/* how many rows there is memory for at a time; false: too few */
static bool
choose_rows(Asking *asking)
{
	uint32_t	ncolumns = asking->question->layout->ncolumns;
	size_t		nbytes;

	for (;;)
	{
		nbytes = csv_query_lay_out(&asking->view, &asking->plan, ncolumns,
								   asking->nrows, NULL);
		if (reserve(asking, CSV_DEVICE_QUERY, nbytes))
			break;
		if (asking->nrows <= CSV_QUERY_LEAST_ROWS)
			return false;
		asking->nrows = (asking->nrows + 1) / 2;
	}
	csv_query_lay_out(&asking->view, &asking->plan, ncolumns, asking->nrows,
					  csv_session.device_memory[CSV_DEVICE_QUERY].bytes);
	return true;
}

static CsvStatus
find_answer(Asking *asking, bool *found)
{
	CsvQueryView *view = &asking->view;
	CsvQueryCounts *counts = &asking->counts;
	cudaStream_t stream = csv_session.stream;
	size_t		nbytes;

	*found = false;
	TRY_CUDA(csv_query_upload(view, &asking->plan, asking->row_columns, stream),
			 "copy");
	csv_launch_query(view, stream);
	TRY(read_counts(asking));
	view->ngroups = !asking->plan.aggregates ? 0 :
		asking->plan.nkeys == 0 ? 1 : counts->ngroups;
	if (counts->crowded != 0 ||
		(view->ngroups > asking->nrows / CSV_QUERY_GROUPS_SHARE &&
		 view->ngroups > CSV_QUERY_FEW_GROUPS))
		return CSV_OK;
	if (view->ngroups > 0)
	{
		size_t		text_room = asking->longest_text * asking->ntexts *
			view->ngroups;

		nbytes = csv_query_lay_out_groups(view, &asking->plan, text_room, NULL);
		if (!reserve(asking, CSV_DEVICE_ANSWER, nbytes))
			return CSV_OK;
		csv_query_lay_out_groups(view, &asking->plan, text_room,
								 csv_session.device_memory[CSV_DEVICE_ANSWER].bytes);
		TRY_CUDA(cudaMemsetAsync(view->words, 0, (size_t) view->ngroups *
								 asking->plan.nwords * 8, stream), "memset");
		csv_launch_groups(view, csv_session.multiprocessors, stream);
		if (asking->ntexts > 0)
			TRY(read_counts(asking));
	}
	*found = counts->text_bytes <= view->text_capacity;
	return CSV_OK;
}

static CsvStatus
ask(Asking *asking, CsvAnswer **answer)
{
	const size_t header = (sizeof(CsvAnswer) + 63) / 64 * 64;
	uint8_t    *block;
	bool		found;

	if (!make_plan(asking) || !set_columns(asking) || !choose_rows(asking))
		return CSV_OK;
	TRY(find_answer(asking, &found));
	if (!found)
		return CSV_OK;
	block = (uint8_t *)
		csv_pinned_take(header + csv_query_answer_bytes(&asking->view,
														&asking->counts));
	if (block == NULL)
		return CSV_OK;
	*answer = (CsvAnswer *) block;
	TRY_CUDA(csv_query_fetch(&asking->view, &asking->counts, block + header,
							 *answer, csv_session.stream), "copy");
	return wait_for_device(asking);
}

extern "C" CsvStatus
csv_cuda_columns_answer(CsvCudaColumns *columns,
						const CsvCudaQuestion *question, uint32_t first_row,
						uint32_t *nrows, CsvAnswer **answer, char *reason,
						size_t reason_size)
{
	Asking		asking;
	CsvStatus	status = CSV_OK;

	*answer = NULL;
	reason[0] = '\0';
	memset((void *) &asking, 0, sizeof(asking));
	asking.columns = columns;
	asking.question = question;
	asking.first_row = first_row;
	asking.nrows = *nrows;
	asking.reason = reason;
	asking.reason_size = reason_size;
	asking.row_columns = (CsvRowColumn *)
		malloc((question->layout->ncolumns + 1) * sizeof(CsvRowColumn));
	asking.pinned_counts = (CsvQueryCounts *)
		csv_pinned_take(sizeof(CsvQueryCounts));
	if (asking.row_columns != NULL && asking.pinned_counts != NULL &&
		enter(&asking.signals))
	{
		asking.limit = limit_of(question->memory_limit);
		move_to_front(columns);
		status = ask(&asking, answer);

		/* what is still under way reads the host's memory */
		if (status != CSV_OK && !csv_session.dead)
			cudaStreamSynchronize(csv_session.stream);
		leave(&asking.signals);
	}
	csv_plan_free(&asking.plan, &host_memory);
	free(asking.row_columns);
	if (asking.pinned_counts != NULL)
		csv_pinned_give_back(asking.pinned_counts);
	if (status != CSV_OK && *answer != NULL)
	{
		csv_cuda_answer_free(*answer);
		*answer = NULL;
	}
	*nrows = asking.nrows;
	return status;
}

extern "C" void
csv_cuda_answer_free(CsvAnswer *answer)
{
	csv_pinned_give_back(answer);
}
