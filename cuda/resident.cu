/*
 * resident.cu
 *		Columns that stay on the device, and queries over them: see csv_cuda.h.
 *
 * The host has the same columns.  An answer only says which rows come out, and the
 * groups; for everything else the caller asks the host.  So nothing is lost when
 * columns that are not being asked give back their memory.
 */
#include "query_steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CSV_MOST_GROUPINGS	8	/* of one CsvCudaColumns */

/* the values or the statuses of a column */
typedef struct Part
{
	uint32_t	width;
	uint32_t	nfilled;		/* rows, if it has memory */
} Part;

/* a key that is a column, and how the column is read */
typedef struct KeySource
{
	uint32_t	place;
	uint32_t	lane;
	uint32_t	flags;
	uint32_t	count;
} KeySource;

/*
 * How all rows fall into groups by some of the columns, with the groups in the order
 * of their first rows; and the groups' keys, on the host.
 */
typedef struct RowGrouping
{
	uint32_t	nkeys;
	KeySource	sources[CSV_MAX_KEYS];
	uint32_t	ngroups;		/* 0: too many */
	CsvTaken   *classes;		/* of each row, 4 bytes; UNKNOWN if a key is
								 * undecided */
	uint8_t    *keys;			/* one block with keys, NULLs and texts, as in
								 * CsvPartialGroups */
	size_t		text_bytes;
} RowGrouping;

struct CsvCudaColumns
{
	CsvStay		stay;			/* memory of its parts, and of classes */
	CsvSession *session;
	uint32_t	nparts;
	uint32_t	nrows;
	Part	   *parts;
	uint32_t	ngroupings;
	RowGrouping	groupings[CSV_MOST_GROUPINGS];
};

/* ---- memory ---- */

/* may columns have nbytes?  The rest of the limit is for the queries over them. */
static bool
may_have(size_t nbytes, size_t limit)
{
	return nbytes <= limit / CSV_QUERY_MEMORY_SHARE;
}

/* false: no room */
static bool
take(CsvCudaColumns *columns, size_t nbytes, size_t limit, CsvTaken *taken)
{
	CsvStay    *stay = &columns->stay;
	bool		good;

	stay->nusers++;
	good = may_have(stay->nbytes + nbytes, limit) &&
		csv_device_take(columns->session, stay, nbytes, limit, taken);
	stay->nusers--;
	return good;
}

static uint32_t
filled_rows(const CsvCudaColumns *columns, uint32_t part)
{
	return columns->stay.taken[part].bytes == NULL ? 0 :
		columns->parts[part].nfilled;
}

/* ---- columns ---- */

/* get the device; false if there is no live session (any more) */
static bool
enter(CsvSession *session)
{
	csv_session_enter(session);
	if (csv_session_lives(session))
		return true;
	csv_session_leave(session);
	return false;
}

CsvCudaColumns *
csv_cuda_columns_create(CsvSession *session, uint32_t ncolumns,
						uint32_t nrows)
{
	uint32_t	nparts = 2 * ncolumns;
	uint32_t	ntaken = nparts + CSV_MOST_GROUPINGS;
	CsvCudaColumns *columns = (CsvCudaColumns *)
		calloc(1, sizeof(CsvCudaColumns) + ntaken * sizeof(CsvTaken) +
			   nparts * sizeof(Part));

	if (columns == NULL)
		return NULL;
	columns->stay.taken = (CsvTaken *) (columns + 1);
	columns->stay.ntaken = ntaken;
	columns->nparts = nparts;
	columns->nrows = nrows;
	columns->parts = (Part *) (columns->stay.taken + ntaken);
	columns->session = session;
	csv_session_enter(session);
	TAILQ_INSERT_HEAD(&session->stays, &columns->stay, of_session);
	csv_session_leave(session);
	return columns;
}

void
csv_cuda_columns_free(CsvCudaColumns *columns)
{
	csv_session_enter(columns->session);
	TAILQ_REMOVE(&columns->session->stays, &columns->stay, of_session);
	csv_stay_drop(columns->session, &columns->stay);
	csv_session_leave(columns->session);
	for (uint32_t i = 0; i < columns->ngroupings; i++)
		free(columns->groupings[i].keys);
	free(columns);
}

uint64_t
csv_cuda_columns_bytes(const CsvCudaColumns *columns)
{
	uint64_t	nbytes;

	if (!enter(columns->session))
		return 0;
	nbytes = columns->stay.nbytes;
	csv_session_leave(columns->session);
	return nbytes;
}

uint32_t
csv_cuda_columns_filled(const CsvCudaColumns *columns, uint32_t part)
{
	uint32_t	nfilled;

	if (!enter(columns->session))
		return 0;
	nfilled = filled_rows(columns, part);
	csv_session_leave(columns->session);
	return nfilled;
}

static cudaError_t
copy_rows(cudaStream_t stream, const Part *part, uint8_t *to,
		  const uint8_t *source, uint32_t source_width, uint32_t nrows)
{
	size_t		nbytes = (size_t) nrows * part->width;

	to += (size_t) part->nfilled * part->width;
	if (source == NULL)
		return cudaMemsetAsync(to, 0, nbytes, stream);
	if (source_width == part->width)
		return cudaMemcpyAsync(to, source, nbytes, cudaMemcpyHostToDevice,
							   stream);
	return cudaMemcpy2DAsync(to, part->width, source, source_width,
							 source_width, nrows, cudaMemcpyHostToDevice,
							 stream);
}

bool
csv_cuda_columns_add(CsvCudaColumns *columns, uint32_t number,
					 uint32_t first_row, uint32_t width, const uint8_t *source,
					 uint32_t source_width, uint32_t nrows,
					 uint64_t memory_limit, char *reason, size_t reason_size)
{
	CsvSession *session = columns->session;
	Part	   *part = &columns->parts[number];
	CsvTaken   *taken = &columns->stay.taken[number];
	cudaError_t error = cudaSuccess;
	bool		good;

	reason[0] = '\0';
	if (!enter(columns->session))
		return false;
	csv_stay_touch(session, &columns->stay);
	good = filled_rows(columns, number) == first_row;
	if (good && taken->bytes == NULL)
	{
		part->width = width;
		part->nfilled = 0;
		good = take(columns, (size_t) columns->nrows * width,
					csv_session_limit(session, memory_limit), taken);
	}
	if (good && nrows > 0)
	{
		error = copy_rows(session->stream, part, taken->bytes, source,
						  source_width, nrows);
		part->nfilled += nrows;
	}
	if (error != cudaSuccess)
	{
		char		message[CSV_MESSAGE_BYTES];

		good = false;
		part->nfilled = 0;
		csv_session_failed(session, error, "copy", message);
		snprintf(reason, reason_size, "%s", message);
	}
	csv_session_leave(columns->session);
	return good;
}

/* ---- questions ---- */

bool
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

bool
csv_cuda_question_fits(const CsvSession *session,
					   const CsvCudaQuestion *question, uint64_t nbytes)
{
	CsvDeviceQuery query;
	bool		fits;

	if (!may_have(nbytes, csv_session_limit(session, question->memory_limit)))
		return false;
	fits = csv_device_query_make(&query, session, &csv_thread_memory,
								 question->request->query, question->layout,
								 false);
	csv_plan_free(&query.plan, &csv_thread_memory);
	return fits;
}

/* a question about rows, and its state */
typedef struct KeptAsk
{
	CsvWork		work;
	CsvCudaColumns *columns;
	const CsvCudaQuestion *question;
	CsvDeviceQuery query;		/* the query being evaluated */
	CsvRowColumn *row_columns;
	uint32_t	first_row;
	CsvAsk		ask;
} KeptAsk;

/* describe the columns from first_row on; false if rows are missing */
static bool
set_columns(KeptAsk *kept)
{
	const CsvCudaQuestion *question = kept->question;
	const CsvLayout *layout = question->layout;

	for (uint32_t i = 0; i < layout->ncolumns; i++)
	{
		const CsvCudaColumns *columns = kept->columns;
		uint32_t	values = CSV_CUDA_VALUES(question->places[i]);
		uint32_t	statuses = CSV_CUDA_STATUSES(question->places[i]);
		uint32_t	width = columns->parts[values].width;
		CsvRowColumn *column = &kept->row_columns[i];

		csv_ask_describe(column, &layout->columns[i], width,
						 (question->seen[i] & CSV_CUDA_SEEN_SLOW) != 0);
		if (csv_cuda_question_needs(question, i, true))
		{
			if (filled_rows(columns, statuses) < columns->nrows)
				return false;
			column->status = columns->stay.taken[statuses].bytes +
				kept->first_row;
		}
		if (!csv_cuda_question_needs(question, i, false))
			continue;
		if (filled_rows(columns, values) < columns->nrows)
			return false;
		column->values = columns->stay.taken[values].bytes +
			(size_t) kept->first_row * width;
		if (width > kept->ask.longest_text)
			kept->ask.longest_text = width;
	}
	return true;
}

/* evaluate another query from now on; false: it is not for a device */
static bool
take_query(KeptAsk *kept, const CsvQuery *query, bool outputs_last)
{
	csv_plan_free(&kept->query.plan, &csv_thread_memory);
	return csv_device_query_make(&kept->query, kept->work.session,
								 &csv_thread_memory, query,
								 kept->question->layout, outputs_last);
}

/*
 * The most rows for one answer.  A cancel waits for kernels to end, and a kernel that
 * searches texts takes as long as the texts are.
 */
static uint32_t
most_rows(const KeptAsk *kept)
{
	const CsvLayout *layout = kept->question->layout;
	uint64_t	width = 0;
	uint64_t	n = CSV_QUERY_MOST_ROWS;

	for (uint32_t i = 0; i < layout->ncolumns; i++)
		if (layout->columns[i].kind == CSV_KIND_TEXT &&
			kept->row_columns[i].values != NULL &&
			kept->row_columns[i].stride > CSV_QUERY_SHORT_TEXT)
			width += kept->row_columns[i].stride;
	if (width > 0 && CSV_QUERY_MOST_TEXT_BYTES / width < n)
		n = CSV_QUERY_MOST_TEXT_BYTES / width;
	return (uint32_t) n;
}

/* choose as many rows as memory allows; false: too few */
static bool
choose_rows(CsvAsk *ask)
{
	while (!csv_ask_place(ask))
	{
		if (ask->nrows <= CSV_QUERY_LEAST_ROWS)
			return false;
		ask->nrows = (ask->nrows + 1) / 2;
	}
	return true;
}

/* a block for an answer and nbytes beside it; NULL: no memory */
static CsvAnswer *
take_answer(CsvSession *session, size_t nbytes, uint8_t **rest)
{
	const size_t header = (sizeof(CsvAnswer) + 63) / 64 * 64;
	uint8_t    *block = (uint8_t *) csv_pinned_take(session, header + nbytes);

	*rest = block + header;
	if (block != NULL)
		memset(block, 0, header);
	return (CsvAnswer *) block;
}

/* find the answer: first row by row, then by groups */
static CsvStatus
answer_by_rows(CsvAsk *ask, CsvAnswer **answer)
{
	CsvWork    *work = ask->work;
	uint8_t    *rest;
	bool		good;

	TRY(csv_ask_rows(ask));
	if (ask->counts.crowded != 0 ||
		!csv_groups_may_travel(ask->view.ngroups, ask->nrows))
		return CSV_OK;
	TRY(csv_ask_groups(ask, 0, &good));
	if (!good)
		return CSV_OK;
	*answer = take_answer(work->session,
						  csv_ask_answer_bytes(ask, ask->view.ngroups), &rest);
	if (*answer == NULL)
		return CSV_OK;
	TRY(csv_ask_fetch(ask, ask->view.ngroups, NULL, rest, *answer));
	return csv_work_wait(work);
}

/* ---- groupings ---- */

/* the columns that the query's keys are; false if a key is not just a column */
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

		/* equal floats may look different, and any of them may come out */
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

/* copy the groups' keys on the host; false: no memory */
static bool
copy_keys(const CsvPartialGroups *groups, size_t text_bytes,
		  RowGrouping *grouping)
{
	size_t		n = groups->ngroups;
	size_t		key_bytes = n * grouping->nkeys * 16;
	uint8_t    *copy = (uint8_t *) malloc(key_bytes + n * 4 + text_bytes);

	if (copy == NULL)
		return false;
	grouping->keys = copy;
	grouping->ngroups = groups->ngroups;
	grouping->text_bytes = text_bytes;
	memcpy(copy, groups->keys, key_bytes);
	memcpy(copy + key_bytes, groups->nulls, n * 4);
	if (text_bytes > 0)
		memcpy(copy + key_bytes + n * 4, groups->texts, text_bytes);
	return true;
}

/*
 * Make all rows' classes, and the groups' keys.  *known: these were made, or there are
 * too many groups.
 */
static CsvStatus
make_classes(KeptAsk *kept, RowGrouping *grouping, bool *known)
{
	CsvSession *session = kept->work.session;
	CsvAsk	   *ask = &kept->ask;
	CsvAnswer  *answer = NULL;
	CsvStatus	status = answer_by_rows(ask, &answer);
	uint32_t	ngroups = ask->view.ngroups;

	*known = status == CSV_OK &&
		(ask->counts.crowded != 0 || ngroups == 0 ||
		 ngroups > CSV_QUERY_MOST_CLASSES);
	if (status == CSV_OK && answer != NULL && !*known &&
		take(kept->columns, (size_t) kept->columns->nrows * 4,
			 kept->work.memory_limit, grouping->classes))
	{
		csv_launch_classes(&ask->view, (uint32_t *) grouping->classes->bytes,
						   session->stream);
		*known = cudaPeekAtLastError() == cudaSuccess &&
			copy_keys(&answer->groups, ask->counts.text_bytes, grouping);
		if (!*known)
			csv_device_give_back(session, &kept->columns->stay,
								 grouping->classes);
	}
	if (answer != NULL)
		csv_cuda_answer_free(session, answer);
	return status;
}

/*
 * Find or make the grouping by the query's keys.  NULL if the keys are not just
 * columns, or there are too many groups.
 */
static CsvStatus
find_grouping(KeptAsk *kept, const RowGrouping **found)
{
	CsvCudaColumns *columns = kept->columns;
	CsvQuery	query = *kept->question->request->query;
	KeySource	sources[CSV_MAX_KEYS];
	RowGrouping *grouping = columns->groupings;
	RowGrouping *end = grouping + columns->ngroupings;
	RowGrouping made;
	CsvStatus	status;
	bool		known;

	*found = NULL;
	if (!find_sources(kept->question, sources))
		return CSV_OK;
	while (grouping < end &&
		   (grouping->nkeys != query.nkeys ||
			memcmp(grouping->sources, sources,
				   query.nkeys * sizeof(*sources)) != 0))
		grouping++;
	if (grouping < end && grouping->ngroups == 0)
		return CSV_OK;
	if (grouping < end && grouping->classes->bytes != NULL)
	{
		*found = grouping;
		return CSV_OK;
	}

	/* all rows must be evaluated at once */
	if (grouping == columns->groupings + CSV_MOST_GROUPINGS ||
		kept->first_row > 0)
		return CSV_OK;
	query.nfilters = 0;
	query.naggregates = 0;
	kept->ask.nrows = columns->nrows;
	if (!take_query(kept, &query, false) || !choose_rows(&kept->ask) ||
		kept->ask.nrows < columns->nrows)
		return CSV_OK;

	/* only keys matter here */
	for (uint32_t i = 0; i < kept->question->layout->ncolumns; i++)
		kept->row_columns[i].slow = false;
	memset((void *) &made, 0, sizeof(made));
	made.nkeys = query.nkeys;
	memcpy(made.sources, sources, query.nkeys * sizeof(*sources));
	made.classes = &columns->stay.taken[columns->nparts +
										(grouping - columns->groupings)];
	status = make_classes(kept, &made, &known);
	set_columns(kept);
	if (status != CSV_OK || !known)
		return status;
	if (grouping == end)
		columns->ngroupings++;
	free(grouping->keys);
	*grouping = made;
	if (grouping->ngroups > 0)
		*found = grouping;
	return CSV_OK;
}

/* ---- sums of known groups ---- */

/*
 * Drop groups without rows.  `words` and `rows` have all groups, and `keys` has a copy
 * of grouping->keys.
 */
static void
take_groups(const RowGrouping *grouping, uint32_t nwords, int64_t *words,
			const uint64_t *rows, uint8_t *keys, CsvPartialGroups *groups)
{
	size_t		word_bytes = nwords * sizeof(int64_t);
	size_t		key_bytes = grouping->nkeys * 16;
	uint32_t   *nulls = (uint32_t *) (keys + grouping->ngroups * key_bytes);
	size_t		n = 0;

	groups->keys = (const uint64_t *) keys;
	groups->nulls = nulls;
	groups->texts = (const uint8_t *) (nulls + grouping->ngroups);
	for (size_t i = 0; i < grouping->ngroups; i++)
	{
		if (rows[i] == 0)
			continue;
		memmove(words + n * nwords, words + i * nwords, word_bytes);
		memmove(keys + n * key_bytes, keys + i * key_bytes, key_bytes);
		nulls[n++] = nulls[i];
	}
	groups->ngroups = (uint32_t) n;
}

/* fetch ngroups groups, and the careful rows, whose number is known */
static CsvStatus
fetch_sums(CsvAsk *ask, const RowGrouping *grouping, CsvAnswer **answer)
{
	CsvWork    *work = ask->work;
	const CsvQueryView *view = &ask->view;
	size_t		n = ask->counts.nselected;
	size_t		ngroups = view->ngroups;
	size_t		nwords = ngroups * view->plan.nwords;
	size_t		key_bytes = grouping == NULL ? 0 :
		ngroups * (grouping->nkeys * 16 + 4) + grouping->text_bytes;
	CsvSelection *selection;
	CsvPartialGroups *groups;
	int64_t    *words;
	uint64_t   *rows;
	uint64_t	npasses = 0;
	uint8_t    *next;

	*answer = take_answer(work->session, (nwords + ngroups) * 8 + n * 5 +
						  4 * 64 + key_bytes, &next);
	if (*answer == NULL)
		return CSV_OK;
	selection = &(*answer)->selection;
	groups = &(*answer)->groups;
	TRY(csv_work_fetch_part(work, &next, view->words, nwords, &words));
	TRY(csv_work_fetch_part(work, &next, view->group_rows, ngroups, &rows));
	TRY(csv_work_fetch_part(work, &next, view->selected, n, &selection->rows));
	TRY(csv_work_fetch_part(work, &next, view->careful, n, &selection->careful));
	TRY(csv_work_wait(work));

	for (size_t i = 0; i < ngroups; i++)
		npasses += rows[i];
	selection->nrows = (uint32_t) n;
	selection->any_careful = n > 0;
	selection->ndropped = ask->nrows - (uint32_t) npasses - (uint32_t) n;
	groups->ngroups = (uint32_t) ngroups;
	groups->words = words;
	if (grouping != NULL)
	{
		memcpy(next, grouping->keys, key_bytes);
		take_groups(grouping, view->plan.nwords, words, rows, next, groups);
	}
	return CSV_OK;
}

/* answer a query with aggregates; no answer unless its groups are known and few */
static CsvStatus
answer_by_sums(KeptAsk *kept, CsvAnswer **answer)
{
	CsvSession *session = kept->work.session;
	CsvQuery	query = *kept->question->request->query;
	CsvAsk	   *ask = &kept->ask;
	CsvQueryView *view = &ask->view;
	const CsvPlan *plan = &kept->query.plan;
	const RowGrouping *grouping = NULL;
	size_t		nbytes;

	if (!query.aggregates)
		return CSV_OK;
	if (query.nkeys > 0)
	{
		uint32_t	nrows = ask->nrows;

		TRY(find_grouping(kept, &grouping));
		ask->nrows = nrows;
		if (grouping == NULL)
			return CSV_OK;
	}
	query.nkeys = 0;
	view->ngroups = grouping == NULL ? 1 : grouping->ngroups;
	view->classes = grouping == NULL ? NULL :
		(const uint32_t *) grouping->classes->bytes + kept->first_row;
	if (!take_query(kept, &query, true) ||
		!csv_sums_fit(plan, view->ngroups, session->max_shared_bytes))
		return CSV_OK;
	nbytes = csv_sums_lay_out(view, plan, ask->ncolumns, ask->nrows, NULL);
	if (!csv_ask_reserve(ask, CSV_DEVICE_QUERY, nbytes))
		return CSV_OK;
	csv_sums_lay_out(view, plan, ask->ncolumns, ask->nrows,
					 csv_work_memory(ask->work, CSV_DEVICE_QUERY));
	TRY(csv_ask_upload(ask));
	if (csv_narrow_fits(plan, ask->columns, ask->ncolumns, view->ngroups,
						session->max_shared_bytes))
	{
		csv_launch_narrow(view, session->stream);
		TRY(csv_ask_count(ask));
	}
	else
		ask->counts.ncareful = 1;
	if (ask->counts.ncareful > 0)
	{
		csv_launch_sums(view, session->stream);
		TRY(csv_ask_count(ask));
	}
	if (ask->counts.ncareful > 0)
	{
		csv_launch_lists(view, session->stream);
		TRY(csv_ask_count(ask));
	}
	return fetch_sums(ask, grouping, answer);
}

/* ---- answers ---- */

static CsvStatus
find_answer(KeptAsk *kept, CsvAnswer **answer)
{
	CsvAsk	   *ask = &kept->ask;

	if (!set_columns(kept))
		return CSV_OK;
	if (ask->nrows > most_rows(kept))
		ask->nrows = most_rows(kept);
	TRY(answer_by_sums(kept, answer));
	if (*answer != NULL)
		return CSV_OK;
	if (!take_query(kept, kept->question->request->query, false) ||
		!choose_rows(ask))
		return CSV_OK;
	return answer_by_rows(ask, answer);
}

/* answer, alone with the device */
static CsvStatus
enter_and_ask(KeptAsk *kept, CsvAnswer **answer)
{
	CsvWork    *work = &kept->work;
	CsvSession *session = work->session;
	CsvStay    *stay = &kept->columns->stay;
	CsvStatus	status;

	if (!enter(session))
		return CSV_OK;
	csv_stay_touch(session, stay);

	/* the limit may have been lowered */
	if (!may_have(stay->nbytes, work->memory_limit))
		csv_stay_drop(session, stay);
	csv_device_trim(session, work->memory_limit);
	stay->nusers++;
	status = find_answer(kept, answer);
	stay->nusers--;

	/* copies that are under way read the host's memory */
	if (status != CSV_OK && !session->dead)
		cudaStreamSynchronize(session->stream);
	csv_session_leave(session);
	return status;
}

CsvStatus
csv_cuda_columns_answer(CsvCudaColumns *columns,
						const CsvCudaQuestion *question, uint32_t first_row,
						uint32_t *nrows, CsvAnswer **answer, char *reason,
						size_t reason_size)
{
	CsvSession *session = columns->session;
	CsvStatus	status = CSV_OK;
	char		message[CSV_MESSAGE_BYTES] = "";
	KeptAsk		kept;

	*answer = NULL;
	memset((void *) &kept, 0, sizeof(kept));
	kept.work.session = session;
	kept.work.memory_limit = csv_session_limit(session,
											   question->memory_limit);
	kept.work.interrupted = question->interrupted;
	kept.work.interrupted_arg = question->interrupted_arg;
	kept.work.message = message;
	kept.columns = columns;
	kept.question = question;
	kept.row_columns = (CsvRowColumn *)
		malloc((question->layout->ncolumns + 1) * sizeof(CsvRowColumn));
	kept.first_row = first_row;
	kept.ask.work = &kept.work;
	kept.ask.query = &kept.query;
	kept.ask.columns = kept.row_columns;
	kept.ask.ncolumns = question->layout->ncolumns;
	kept.ask.nrows = *nrows;
	kept.ask.most_text_bytes = SIZE_MAX;
	kept.ask.staged = (CsvQueryCounts *)
		csv_pinned_take(session, sizeof(CsvQueryCounts));
	if (kept.row_columns != NULL && kept.ask.staged != NULL)
		status = enter_and_ask(&kept, answer);
	csv_plan_free(&kept.query.plan, &csv_thread_memory);
	free(kept.row_columns);
	csv_pinned_give_back(session, kept.ask.staged);
	if (status != CSV_OK && *answer != NULL)
	{
		csv_cuda_answer_free(session, *answer);
		*answer = NULL;
	}
	snprintf(reason, reason_size, "%s",
			 status == CSV_DEVICE_FAILED ? message : "");
	*nrows = kept.ask.nrows;
	return status;
}

void
csv_cuda_answer_free(CsvSession *session, CsvAnswer *answer)
{
	csv_pinned_give_back(session, answer);
}
