/*
 * answer.cu
 *		The query that batches should answer, and a batch's answer: the steps of
 *		query_steps.h over the arrays of a call, and groups that stay.
 */
#include "call.h"
#include "../src/reader/arrays.h"

#include <string.h>

/* ---- the query, on the host ---- */

void
csv_query_drop(CsvCuda *cuda)
{
	CsvMemory	memory = cuda->memory;

	if (cuda->query == NULL)
		return;
	csv_plan_free(&cuda->query->device.plan, &memory);
	csv_free(&memory, cuda->query);
	cuda->query = NULL;
}

bool
csv_query_set(void *engine, const CsvRequest *request)
{
	CsvCuda    *cuda = (CsvCuda *) engine;
	CsvMemory	memory = cuda->memory;
	uint32_t	ncolumns = cuda->layout->ncolumns;
	CsvCudaQuery *query = NULL;
	size_t		nbytes = sizeof(*query) + ncolumns * sizeof(bool);
	CsvDeviceQuery made;

	csv_query_drop(cuda);
	if (request != NULL &&
		csv_device_query_make(&made, cuda->session, &memory, request->query,
							  cuda->layout, false))
	{
		query = (CsvCudaQuery *) csv_alloc_zeros(&memory, nbytes);
		if (query == NULL)
			csv_plan_free(&made.plan, &memory);
	}
	if (query != NULL)
	{
		query->device = made;
		query->may_hold = request->may_hold && made.plan.aggregates &&
			made.plan.nkeys > 0;
		query->hidden = (bool *) (query + 1);
		memcpy(query->hidden, request->hidden, ncolumns * sizeof(bool));
	}
	cuda->query = query;
	return query != NULL;
}

/* ---- a batch's answer ---- */

/* the arrays, as the query reads them, in the staging block */
static const CsvRowColumn *
describe_columns(const CsvCall *call, size_t *longest_text)
{
	const CsvCuda *cuda = call->cuda;
	const CsvFilled *filled = &call->filled;
	CsvRowColumn *columns = (CsvRowColumn *) call->staged_columns;

	static_assert(sizeof(CsvRowColumn) <= sizeof(CsvDeviceColumn),
				  "they share a part of the staging block");
	for (uint32_t i = 0; i < cuda->layout->ncolumns; i++)
	{
		csv_ask_describe(&columns[i], &cuda->layout->columns[i],
						 cuda->strides[i],
						 (filled->seen[i] & CSV_SEEN_SLOW) != 0);
		columns[i].values = filled->places.columns[i].values;
		if ((filled->seen[i] & CSV_SEEN_NOT_OK) != 0)
			columns[i].status = filled->places.columns[i].status;
	}
	for (uint32_t i = 0; i < cuda->ntext; i++)
		if (cuda->strides[cuda->text[i]] > *longest_text)
			*longest_text = cuda->strides[cuda->text[i]];
	return columns;
}

/* may the batch's groups stay here?  Only many groups begin a table. */
static bool
may_hold_groups(const CsvCall *call)
{
	CsvGroupTable *table = &call->cuda->table;
	const CsvCudaQuery *query = call->cuda->query;
	uint32_t	ngroups = call->reply.ask.view.ngroups;
	uint32_t	hold_from = call->cuda->options.hold_from > 0 ?
		call->cuda->options.hold_from : CSV_TABLE_LEAST_GROUPS;

	return query->may_hold && ngroups > 0 &&
		(table->ngroups > 0 || ngroups >= hold_from) &&
		csv_table_suits(table, &query->device.plan, call->filled.nrows);
}

/*
 * Prepare for holding the batch's groups, as far as there is room.  The other groups
 * come with the answer, if there are not too many.
 */
static CsvStatus
prepare_holding(CsvCall *call)
{
	CsvWork    *work = &call->work;
	CsvReply   *reply = &call->reply;
	CsvGroupTable *table = &call->cuda->table;
	const CsvQueryView *view = &reply->ask.view;
	CsvHeldCounts *counts = (CsvHeldCounts *)
		(call->cuda->staging + CSV_STAGED_COUNTS);
	size_t		limit = work->memory_limit / CSV_QUERY_MEMORY_SHARE;
	cudaStream_t stream = work->session->stream;
	uint32_t	ntravel = view->ngroups;

	if (csv_table_seek(table, view, limit, stream))
	{
		TRY(csv_work_fetch(work, counts, table->counts, sizeof(*counts)));
		TRY(csv_work_wait(work));
		reply->held = *counts;
		if (counts->crowded == 0)
			reply->room = csv_table_make_room(table, counts,
											  reply->ask.counts.text_bytes,
											  limit, stream);
	}
	if (reply->room == CSV_ROOM_ALL)
		ntravel = 0;
	else if (reply->room == CSV_ROOM_FOUND)
		ntravel = reply->held.nnew;
	reply->answered = csv_groups_may_travel(ntravel, call->filled.nrows);
	if (!reply->answered)
		reply->room = CSV_ROOM_NONE;
	return CSV_OK;
}

/* copy the entries of the rows that come out to reply->places */
static void
gather(const CsvCall *call)
{
	const CsvCuda *cuda = call->cuda;
	const CsvQueryView *view = &call->reply.ask.view;
	const CsvRowPlaces *from = &call->filled.places;
	const CsvRowPlaces *to = &call->reply.places;
	cudaStream_t stream = cuda->session->stream;
	uint32_t	n = call->reply.ask.counts.nselected;

	for (uint32_t i = 0; i < cuda->layout->ncolumns; i++)
	{
		if (to->columns[i].values == NULL)
			continue;
		csv_launch_gather(view, n, from->columns[i].values, cuda->strides[i],
						  to->columns[i].values, stream);
		if ((call->filled.seen[i] & CSV_SEEN_NOT_OK) != 0)
			csv_launch_gather(view, n, from->columns[i].status, 1,
							  to->columns[i].status, stream);
	}
	if (!csv_output_wants_positions(call))
		return;
	csv_launch_gather(view, n, (uint8_t *) from->offsets, 4,
					  (uint8_t *) to->offsets, stream);
	csv_launch_gather(view, n, (uint8_t *) from->lines, 4,
					  (uint8_t *) to->lines, stream);
}

/* evaluate the query, if possible; then reply->answered is set */
CsvStatus
csv_answer_find(CsvCall *call)
{
	CsvCuda    *cuda = call->cuda;
	const CsvFilled *filled = &call->filled;
	CsvReply   *reply = &call->reply;
	const CsvCudaQuery *query = cuda->query;
	CsvAsk	   *ask = &reply->ask;
	const bool *hidden;
	bool		may_hold;
	bool		good;

	if (query == NULL || filled->nrows == 0)
		return CSV_OK;
	ask->work = &call->work;
	ask->query = &query->device;
	ask->columns = describe_columns(call, &ask->longest_text);
	ask->ncolumns = cuda->layout->ncolumns;
	ask->nrows = filled->nrows;
	ask->most_text_bytes = call->found.nbytes;
	ask->staged = (CsvQueryCounts *) (cuda->staging + CSV_STAGED_COUNTS);
	if (!csv_ask_place(ask))
		return CSV_OK;
	TRY(csv_ask_rows(ask));

	may_hold = may_hold_groups(call);
	if (ask->counts.crowded != 0 ||
		(!may_hold && !csv_groups_may_travel(ask->view.ngroups, ask->nrows)))
		return CSV_OK;

	/* careful rows are evaluated again, and may then come out */
	hidden = ask->counts.ncareful > 0 ? NULL : query->hidden;
	TRY(csv_ask_groups(ask, csv_output_lay_out(cuda, &reply->places,
											   ask->counts.nselected, hidden,
											   NULL), &good));
	if (!good)
		return CSV_OK;
	csv_output_lay_out(cuda, &reply->places, ask->counts.nselected, hidden,
					   ask->extra);
	gather(call);
	reply->answered = true;
	return may_hold ? prepare_holding(call) : CSV_OK;
}

/* the number of groups that come with the answer */
static uint32_t
groups_out(const CsvReply *reply)
{
	return reply->room == CSV_ROOM_ALL ? 0 : reply->ask.view.ngroups;
}

size_t
csv_answer_bytes(const CsvCall *call)
{
	return csv_ask_answer_bytes(&call->reply.ask, groups_out(&call->reply));
}

CsvStatus
csv_answer_fetch(CsvCall *call, uint8_t *block, CsvAnswer *answer)
{
	const CsvReply *reply = &call->reply;

	TRY(csv_ask_fetch(&reply->ask, groups_out(reply),
					  reply->room == CSV_ROOM_FOUND ?
					  call->cuda->table.places : NULL, block, answer));
	answer->held = reply->room != CSV_ROOM_NONE;
	return CSV_OK;
}

CsvStatus
csv_answer_hold(CsvCall *call)
{
	const CsvReply *reply = &call->reply;

	if (reply->room == CSV_ROOM_NONE)
		return CSV_OK;
	csv_table_add(&call->cuda->table, &reply->ask.view, &reply->held,
				  reply->room == CSV_ROOM_ALL, call->work.session->stream);
	return csv_work_launched(&call->work);
}
