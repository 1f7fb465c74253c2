/*
 * resident.cu
 *		Columns that stay on the device, and queries over them: see csv_cuda.h.
 *
 * The host has the same columns, and is asked for whatever an answer does not
 * say: an answer is which rows come out, and groups.  So nothing is lost when
 * the memory here goes: to make room for other columns, that of those which were
 * not asked for longest; all of it, when something else needs memory.  But not
 * that of columns which are being asked.
 */
#include "query.cuh"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CSV_MOST_GROUPINGS	8	/* of one set of columns */

typedef struct Part
{
	uint64_t	number;			/* see csv_device_take() */
	uint8_t    *bytes;			/* NULL: nothing is there */
	uint32_t	width;
	uint32_t	nfilled;		/* rows */
} Part;

/* a key that is a column, and how it is read */
typedef struct KeySource
{
	uint32_t	place;
	uint32_t	lane;
	uint32_t	flags;
	uint32_t	count;
} KeySource;

/*
 * How all rows fall into groups by some of the columns, in the order of their
 * first rows; and the groups' keys, on the host.
 */
typedef struct Grouping
{
	uint32_t	nkeys;
	KeySource	sources[CSV_MAX_KEYS];
	uint32_t	ngroups;
	uint64_t	number;			/* see csv_device_take() */
	uint32_t   *classes;		/* of each row, on the device, UNKNOWN where a
								 * key is undecided; NULL: too many groups */
	void	   *host;			/* what the others point into */
	const uint64_t *keys;		/* as in CsvPartialGroups */
	const uint32_t *nulls;
	const uint8_t *texts;
	size_t		text_bytes;
} Grouping;

struct CsvCudaColumns
{
	CsvCudaColumns *next;		/* in the list */
	uint32_t	nparts;
	uint32_t	nrows;
	Part	   *parts;
	uint32_t	ngroupings;
	Grouping	groupings[CSV_MOST_GROUPINGS];
};

/* all there are, the ones asked last in front; under the session's lock */
static CsvCudaColumns *newest;
static CsvCudaColumns *asked;	/* at the moment */

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

/* may so much stay? */
static bool
may_keep(size_t nbytes, size_t limit)
{
	return nbytes <= limit / CSV_QUERY_MEMORY_SHARE;
}

/* memory that stays; NULL: no room */
static uint8_t *
take_kept(size_t nbytes, size_t limit, uint64_t *number)
{
	uint8_t    *bytes = may_keep(csv_session.kept_bytes + nbytes, limit) ?
		csv_device_take(nbytes, limit, number) : NULL;

	if (bytes != NULL)
		csv_session.kept_bytes += nbytes;
	return bytes;
}

static void
give_back_kept(uint64_t number, size_t nbytes)
{
	csv_device_give_back(number);
	csv_session.kept_bytes -= nbytes;
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
			give_back_kept(part->number, part_bytes(columns, part));
		part->bytes = NULL;
		part->nfilled = 0;
	}
	for (uint32_t i = 0; i < columns->ngroupings; i++)
	{
		Grouping   *grouping = &columns->groupings[i];

		if (grouping->classes != NULL)
			give_back_kept(grouping->number, (size_t) columns->nrows * 4);
		free(grouping->host);
	}
	memset((void *) columns->groupings, 0, sizeof(columns->groupings));
	columns->ngroupings = 0;
}

void
csv_resident_drop(void)
{
	for (CsvCudaColumns *columns = newest; columns != NULL;
		 columns = columns->next)
		if (columns != asked)
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

extern "C" bool
csv_cuda_wake(int device, char *reason, size_t reason_size)
{
	char		message[sizeof(csv_session.reason)] = "";
	bool		good = csv_session_open(device, message);

	if (!good)
		snprintf(reason, reason_size, "%s", message);
	return good;
}

extern "C" bool
csv_cuda_columns_may_be(uint64_t nbytes, uint64_t memory_limit)
{
	return may_keep(nbytes, csv_session_limit(memory_limit));
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
	sigset_t	signals;

	if (!enter(&signals))
		return 0;
	for (uint32_t i = 0; i < columns->nparts; i++)
		if (columns->parts[i].bytes != NULL)
			nbytes += part_bytes(columns, &columns->parts[i]);
	leave(&signals);
	return nbytes;
}

extern "C" uint32_t
csv_cuda_columns_grouping(const CsvCudaColumns *columns, uint32_t number,
						  uint32_t *places)
{
	sigset_t	signals;
	uint32_t	nkeys = 0;

	if (!enter(&signals))
		return 0;
	for (uint32_t i = 0; i < columns->ngroupings && nkeys == 0; i++)
	{
		const Grouping *grouping = &columns->groupings[i];

		if (grouping->classes == NULL || number-- > 0)
			continue;
		nkeys = grouping->nkeys;
		for (uint32_t key = 0; key < nkeys; key++)
			places[key] = grouping->sources[key].place;
	}
	leave(&signals);
	return nkeys;
}

extern "C" uint32_t
csv_cuda_columns_filled(const CsvCudaColumns *columns, uint32_t part)
{
	uint32_t	nfilled;
	sigset_t	signals;

	if (!enter(&signals))
		return 0;
	nfilled = columns->parts[part].nfilled;
	leave(&signals);
	return nfilled;
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
csv_cuda_columns_add(CsvCudaColumns *columns, uint32_t number,
					 uint32_t first_row, uint32_t width, const uint8_t *source,
					 uint32_t source_width, uint32_t nrows,
					 uint64_t memory_limit, char *reason, size_t reason_size)
{
	Part	   *part = &columns->parts[number];
	size_t		limit;
	sigset_t	signals;
	cudaError_t error = cudaSuccess;
	bool		good;

	reason[0] = '\0';
	if (!enter(&signals))
		return false;
	limit = csv_session_limit(memory_limit);
	good = part->nfilled == first_row;
	if (good && part->bytes == NULL)
	{
		part->width = width;
		do
			part->bytes = take_kept(part_bytes(columns, part), limit,
									&part->number);
		while (part->bytes == NULL && drop_oldest(columns));
	}
	good = good && part->bytes != NULL;
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

static bool
make_plan(CsvPlan *plan, const CsvQuery *query, const CsvLayout *layout,
		  bool outputs_last)
{
	return csv_plan_make(plan, &csv_host_memory, query, layout,
						 csv_query_most_slots(csv_session.max_shared_bytes),
						 outputs_last);
}

extern "C" bool
csv_cuda_question_fits(const CsvCudaQuestion *question)
{
	CsvPlan		plan;
	bool		fits = make_plan(&plan, question->request->query,
								 question->layout, false);

	csv_plan_free(&plan, &csv_host_memory);
	return fits;
}

/* the rows that a question is about, and all that it takes */
typedef struct Asking
{
	CsvCudaColumns *columns;
	const CsvCudaQuestion *question;
	CsvPlan		plan;			/* at work */
	CsvRowColumn *row_columns;
	uint32_t	ntexts;			/* of the plan: keys and extremes */
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

/* work on another plan from now on; false: not one for a device */
static bool
take_plan(Asking *asking, const CsvQuery *query, bool outputs_last)
{
	CsvPlan    *plan = &asking->plan;

	csv_plan_free(plan, &csv_host_memory);
	if (!make_plan(plan, query, asking->question->layout, outputs_last))
		return false;
	asking->ntexts = 0;
	for (uint32_t i = 0; i < plan->nkeys; i++)
		asking->ntexts += plan->key_lanes[i] == CSV_LANE_TEXT;
	for (uint32_t i = 0; i < plan->naggregates; i++)
		asking->ntexts += plan->aggregate[i].lane == CSV_LANE_TEXT;
	for (uint32_t i = 0; i < query->nconstants; i++)
		if (query->constants[i].length > asking->longest_text)
			asking->longest_text = query->constants[i].length;
	return true;
}

/* room beside what stays; false: none */
static bool
reserve(Asking *asking, CsvDeviceMemory which, size_t nbytes)
{
	size_t		others = csv_device_held() - csv_session.kept_bytes -
		csv_session.device_memory[which].nbytes;
	char		message[sizeof(csv_session.reason)];

	return others + nbytes <= asking->limit / CSV_QUERY_MEMORY_SHARE &&
		csv_device_reserve(which, nbytes, 0, asking->limit, message);
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

/*
 * Rows that are asked about at a time: a cancel waits for kernels to end, and
 * those that search texts take as long as these are.
 */
static uint32_t
most_rows(const Asking *asking)
{
	const CsvLayout *layout = asking->question->layout;
	uint64_t	width = 0;
	uint64_t	n = CSV_QUERY_MOST_ROWS;

	for (uint32_t i = 0; i < layout->ncolumns; i++)
		if (layout->columns[i].kind == CSV_KIND_TEXT &&
			asking->row_columns[i].values != NULL &&
			asking->row_columns[i].stride > CSV_QUERY_SHORT_TEXT)
			width += asking->row_columns[i].stride;
	if (width > 0 && CSV_QUERY_MOST_TEXT_BYTES / width < n)
		n = CSV_QUERY_MOST_TEXT_BYTES / width;
	return (uint32_t) n;
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

/* a block for an answer of so many bytes beside itself; NULL: no memory */
static CsvAnswer *
take_answer(size_t nbytes, uint8_t **rest)
{
	const size_t header = (sizeof(CsvAnswer) + 63) / 64 * 64;
	uint8_t    *block = (uint8_t *) csv_pinned_take(header + nbytes);

	*rest = block + header;
	if (block != NULL)
		memset(block, 0, header);
	return (CsvAnswer *) block;
}

/* the answer that the plan finds, row by row and then by groups */
static CsvStatus
answer_by_rows(Asking *asking, CsvAnswer **answer)
{
	uint8_t    *rest;
	bool		found;

	TRY(find_answer(asking, &found));
	if (!found)
		return CSV_OK;
	*answer = take_answer(csv_query_answer_bytes(&asking->view,
												 &asking->counts,
												 asking->view.ngroups), &rest);
	if (*answer == NULL)
		return CSV_OK;
	TRY_CUDA(csv_query_fetch(&asking->view, &asking->counts,
							 asking->view.ngroups, NULL, rest, *answer,
							 csv_session.stream), "copy");
	return wait_for_device(asking);
}

/* ---- groupings ---- */

/* the columns that a query's keys are; false if one is not just a column */
static bool
find_sources(const CsvCudaQuestion *question, KeySource *sources)
{
	const CsvQuery *query = question->request->query;

	memset(sources, 0, query->nkeys * sizeof(*sources));
	for (uint32_t key = 0; key < query->nkeys; key++)
	{
		const CsvInstruction *made =
			csv_find_writer(query->instructions, query->ninstructions,
							query->keys[key].value);

		/* of equal floats, the one that comes out may be any of the group's */
		if (made == NULL || made->operation != CSV_OP_COLUMN ||
			query->keys[key].lane == CSV_LANE_FLOAT)
			return false;
		sources[key].place = question->places[made->operand];
		sources[key].lane = query->keys[key].lane;
		sources[key].flags = made->flags;
		sources[key].count = made->count;
	}
	return true;
}

/* the groups' keys, for the host; false: no memory */
static bool
copy_keys(const Asking *asking, const CsvPartialGroups *groups,
		  Grouping *grouping)
{
	size_t		n = groups->ngroups;
	size_t		key_bytes = n * grouping->nkeys * 16;
	uint8_t    *copy = (uint8_t *) malloc(key_bytes + n * 4 +
										  asking->counts.text_bytes);

	if (copy == NULL)
		return false;
	grouping->host = copy;
	grouping->ngroups = groups->ngroups;
	grouping->keys = (uint64_t *) memcpy(copy, groups->keys, key_bytes);
	copy += key_bytes;
	grouping->nulls = (uint32_t *) memcpy(copy, groups->nulls, n * 4);
	copy += n * 4;
	grouping->texts = copy;
	grouping->text_bytes = asking->counts.text_bytes;
	if (grouping->text_bytes > 0)
		memcpy(copy, groups->texts, grouping->text_bytes);
	return true;
}

/*
 * All rows' classes, and the groups' keys.  *known: they are there, or the
 * groups are too many.
 */
static CsvStatus
make_classes(Asking *asking, Grouping *grouping, bool *known)
{
	size_t		nbytes = (size_t) asking->columns->nrows * 4;
	CsvAnswer  *answer = NULL;
	CsvStatus	status = answer_by_rows(asking, &answer);
	uint32_t	ngroups = asking->view.ngroups;

	*known = status == CSV_OK &&
		(asking->counts.crowded != 0 || ngroups == 0 ||
		 ngroups > CSV_QUERY_MOST_CLASSES);
	if (status == CSV_OK && answer != NULL && !*known)
		grouping->classes = (uint32_t *) take_kept(nbytes, asking->limit,
												   &grouping->number);
	if (grouping->classes != NULL)
	{
		csv_launch_classes(&asking->view, grouping->classes,
						   csv_session.stream);
		*known = cudaPeekAtLastError() == cudaSuccess &&
			copy_keys(asking, &answer->groups, grouping);
		if (!*known)
			give_back_kept(grouping->number, nbytes);
	}
	if (answer != NULL)
		csv_cuda_answer_free(answer);
	return status;
}

/*
 * The grouping by the query's keys, made if it is not there; NULL where the keys
 * are not just columns, or the groups too many.
 */
static CsvStatus
find_grouping(Asking *asking, const Grouping **found)
{
	CsvCudaColumns *columns = asking->columns;
	CsvQuery	query = *asking->question->request->query;
	KeySource	sources[CSV_MAX_KEYS];
	Grouping   *grouping;
	Grouping	made;
	CsvStatus	status;
	bool		known;

	*found = NULL;
	if (!find_sources(asking->question, sources))
		return CSV_OK;
	for (uint32_t i = 0; i < columns->ngroupings; i++)
	{
		grouping = &columns->groupings[i];
		if (grouping->nkeys != query.nkeys ||
			memcmp(grouping->sources, sources,
				   query.nkeys * sizeof(*sources)) != 0)
			continue;
		if (grouping->classes != NULL)
			*found = grouping;
		return CSV_OK;
	}

	/* all rows must be there at a time */
	if (columns->ngroupings == CSV_MOST_GROUPINGS || asking->first_row > 0)
		return CSV_OK;
	query.nfilters = 0;
	query.naggregates = 0;
	asking->nrows = columns->nrows;
	if (!take_plan(asking, &query, false) || !choose_rows(asking) ||
		asking->nrows < columns->nrows)
		return CSV_OK;

	/* only keys have a say in it */
	for (uint32_t i = 0; i < asking->question->layout->ncolumns; i++)
		asking->row_columns[i].slow = false;
	memset((void *) &made, 0, sizeof(made));
	made.nkeys = query.nkeys;
	memcpy(made.sources, sources, query.nkeys * sizeof(*sources));
	status = make_classes(asking, &made, &known);
	set_columns(asking);
	if (status != CSV_OK || !known)
		return status;
	grouping = &columns->groupings[columns->ngroupings++];
	*grouping = made;
	if (grouping->classes != NULL)
		*found = grouping;
	return CSV_OK;
}

/* ---- sums of known groups ---- */

/* drop the groups that no row is in; words and rows are those of all groups */
static void
take_groups(const Grouping *grouping, uint32_t nwords, int64_t *words,
			const uint64_t *rows, uint64_t *keys, uint32_t *nulls,
			CsvPartialGroups *groups)
{
	uint32_t	nkeys = grouping->nkeys;
	uint32_t	n = 0;

	for (uint32_t i = 0; i < grouping->ngroups; i++)
	{
		if (rows[i] == 0)
			continue;
		memmove(words + (size_t) n * nwords, words + (size_t) i * nwords,
				nwords * sizeof(*words));
		memcpy(keys + (size_t) n * nkeys * 2,
			   grouping->keys + (size_t) i * nkeys * 2, nkeys * 16);
		nulls[n++] = grouping->nulls[i];
	}
	groups->ngroups = n;
	groups->keys = keys;
	groups->nulls = nulls;
}

/* bring them back: ngroups, and careful rows, whose number is known */
static CsvStatus
fetch_sums(Asking *asking, const Grouping *grouping, CsvAnswer **answer)
{
	const CsvQueryView *view = &asking->view;
	cudaStream_t stream = csv_session.stream;
	size_t		n = asking->counts.nselected;
	size_t		ngroups = view->ngroups;
	size_t		nwords = ngroups * view->plan.nwords;
	size_t		nkeys = grouping == NULL ? 0 : grouping->nkeys;
	size_t		text_bytes = grouping == NULL ? 0 : grouping->text_bytes;
	CsvSelection *selection;
	CsvPartialGroups *groups;
	int64_t    *words;
	uint64_t   *rows;
	uint64_t   *keys;
	uint32_t   *nulls;
	uint32_t   *selected;
	uint8_t    *careful;
	uint64_t	npasses = 0;
	uint8_t    *rest;

	*answer = take_answer((nwords + ngroups + ngroups * nkeys * 2) * 8 +
						  ngroups * 4 + n * 5 + text_bytes, &rest);
	if (*answer == NULL)
		return CSV_OK;
	words = (int64_t *) rest;
	rows = (uint64_t *) (words + nwords);
	keys = rows + ngroups;
	nulls = (uint32_t *) (keys + ngroups * nkeys * 2);
	selected = nulls + ngroups;
	careful = (uint8_t *) (selected + n);
	TRY_CUDA(cudaMemcpyAsync(words, view->words, nwords * 8,
							 cudaMemcpyDeviceToHost, stream), "copy");
	TRY_CUDA(cudaMemcpyAsync(rows, view->group_rows, ngroups * 8,
							 cudaMemcpyDeviceToHost, stream), "copy");
	if (n > 0)
	{
		TRY_CUDA(cudaMemcpyAsync(selected, view->selected, n * 4,
								 cudaMemcpyDeviceToHost, stream), "copy");
		TRY_CUDA(cudaMemcpyAsync(careful, view->careful, n,
								 cudaMemcpyDeviceToHost, stream), "copy");
	}
	TRY(wait_for_device(asking));

	for (size_t i = 0; i < ngroups; i++)
		npasses += rows[i];
	selection = &(*answer)->selection;
	selection->nrows = (uint32_t) n;
	selection->rows = selected;
	selection->careful = careful;
	selection->any_careful = n > 0;
	selection->ndropped = asking->nrows - (uint32_t) npasses - (uint32_t) n;
	groups = &(*answer)->groups;
	groups->ngroups = (uint32_t) ngroups;
	groups->words = words;
	groups->texts = careful + n;
	if (grouping == NULL)
		return CSV_OK;
	take_groups(grouping, view->plan.nwords, words, rows, keys, nulls, groups);
	if (text_bytes > 0)
		memcpy(careful + n, grouping->texts, text_bytes);
	return CSV_OK;
}

/* of aggregates, where groups are known and few; else no answer */
static CsvStatus
answer_by_sums(Asking *asking, CsvAnswer **answer)
{
	CsvQuery	query = *asking->question->request->query;
	CsvQueryView *view = &asking->view;
	const Grouping *grouping = NULL;
	uint32_t	ncolumns = asking->question->layout->ncolumns;
	cudaStream_t stream = csv_session.stream;
	size_t		nbytes;

	if (!query.aggregates)
		return CSV_OK;
	if (query.nkeys > 0)
	{
		uint32_t	nrows = asking->nrows;

		TRY(find_grouping(asking, &grouping));
		asking->nrows = nrows;
		if (grouping == NULL)
			return CSV_OK;
	}
	query.nkeys = 0;
	view->ngroups = grouping == NULL ? 1 : grouping->ngroups;
	view->classes = grouping == NULL ? NULL :
		grouping->classes + asking->first_row;
	if (!take_plan(asking, &query, true) ||
		!csv_sums_fit(&asking->plan, view->ngroups,
					  csv_session.max_shared_bytes))
		return CSV_OK;
	nbytes = csv_sums_lay_out(view, &asking->plan, ncolumns, asking->nrows,
							  NULL);
	if (!reserve(asking, CSV_DEVICE_QUERY, nbytes))
		return CSV_OK;
	csv_sums_lay_out(view, &asking->plan, ncolumns, asking->nrows,
					 csv_session.device_memory[CSV_DEVICE_QUERY].bytes);
	TRY_CUDA(csv_query_upload(view, &asking->plan, asking->row_columns, stream),
			 "copy");
	TRY_CUDA(csv_launch_sums(view, stream), "kernel launch");
	TRY(read_counts(asking));
	if (asking->counts.ncareful > 0)
	{
		csv_launch_careful(view, stream);
		TRY(read_counts(asking));
	}
	return fetch_sums(asking, grouping, answer);
}

/* ---- answers ---- */

static CsvStatus
ask(Asking *asking, CsvAnswer **answer)
{
	if (!set_columns(asking))
		return CSV_OK;
	if (asking->nrows > most_rows(asking))
		asking->nrows = most_rows(asking);
	TRY(answer_by_sums(asking, answer));
	if (*answer != NULL)
		return CSV_OK;
	if (!take_plan(asking, asking->question->request->query, false) ||
		!choose_rows(asking))
		return CSV_OK;
	return answer_by_rows(asking, answer);
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
		asking.limit = csv_session_limit(question->memory_limit);
		move_to_front(columns);

		/* the limit may have been lowered */
		if (!may_keep(csv_session.kept_bytes, asking.limit))
			csv_resident_drop();
		asked = columns;
		status = ask(&asking, answer);
		asked = NULL;

		/* what is still under way reads the host's memory */
		if (status != CSV_OK && !csv_session.dead)
			cudaStreamSynchronize(csv_session.stream);
		leave(&asking.signals);
	}
	csv_plan_free(&asking.plan, &csv_host_memory);
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
