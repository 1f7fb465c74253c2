/*
 * query_steps.cu
 *		A query's steps on the device: see query_steps.h.
 */
#include "query_steps.h"

#include <string.h>

bool
csv_device_query_make(CsvDeviceQuery *made, const CsvSession *session,
					  const CsvMemory *memory, const CsvQuery *query,
					  const CsvLayout *layout, bool outputs_last)
{
	CsvPlan    *plan = &made->plan;

	memset((void *) made, 0, sizeof(*made));
	if (!csv_plan_make(plan, memory, query, layout,
					   csv_query_most_slots(session->max_shared_bytes),
					   outputs_last))
		return false;
	for (uint32_t i = 0; i < plan->nkeys; i++)
		made->ntexts += plan->key_lanes[i] == CSV_LANE_TEXT;
	for (uint32_t i = 0; i < plan->naggregates; i++)
		made->ntexts += plan->aggregate[i].lane == CSV_LANE_TEXT;
	for (uint32_t i = 0; i < query->nconstants; i++)
		if (query->constants[i].length > made->longest_text)
			made->longest_text = query->constants[i].length;
	return true;
}

void
csv_ask_describe(CsvRowColumn *described, const CsvColumn *column,
				 uint32_t stride, bool slow)
{
	memset((void *) described, 0, sizeof(*described));
	described->stride = stride;
	described->slow = slow;
	described->kind = column->kind;
	described->precision = column->precision;
	described->scale = column->scale;
}

bool
csv_ask_reserve(const CsvAsk *ask, CsvDeviceMemory which, size_t nbytes)
{
	const CsvSession *session = ask->work->session;
	size_t		others = csv_device_held(session) -
		session->device_memory[which].nbytes;

	return others + nbytes <=
		ask->work->memory_limit / CSV_QUERY_MEMORY_SHARE &&
		csv_work_reserve(ask->work, which, nbytes, 0) == CSV_OK;
}

/* the longest text of columns and constants */
static size_t
longest_text(const CsvAsk *ask)
{
	size_t		longest = ask->query->longest_text;

	return ask->longest_text > longest ? ask->longest_text : longest;
}

bool
csv_ask_place(CsvAsk *ask)
{
	size_t		nbytes;

	ask->view.outputs.folded_bytes = csv_folded_bytes(longest_text(ask));
	nbytes = csv_query_lay_out(&ask->view, &ask->query->plan, ask->ncolumns,
							   ask->nrows, NULL);

	if (!csv_ask_reserve(ask, CSV_DEVICE_QUERY, nbytes))
		return false;
	csv_query_lay_out(&ask->view, &ask->query->plan, ask->ncolumns, ask->nrows,
					  csv_work_memory(ask->work, CSV_DEVICE_QUERY));
	return true;
}

CsvStatus
csv_ask_upload(const CsvAsk *ask)
{
	const CsvPlan *plan = &ask->query->plan;

	TRY(csv_work_send(ask->work, ask->view.plan.block, plan->block,
					  plan->nbytes));
	return csv_work_send(ask->work, (void *) ask->view.columns, ask->columns,
						 ask->ncolumns * sizeof(CsvRowColumn));
}

CsvStatus
csv_ask_count(CsvAsk *ask)
{
	TRY(csv_work_fetch(ask->work, ask->staged, ask->view.counts,
					   sizeof(*ask->staged)));
	TRY(csv_work_wait(ask->work));
	ask->counts = *ask->staged;
	return CSV_OK;
}

CsvStatus
csv_ask_rows(CsvAsk *ask)
{
	const CsvPlan *plan = &ask->query->plan;

	TRY(csv_ask_upload(ask));
	csv_launch_query(&ask->view, ask->work->session->stream);
	TRY(csv_ask_count(ask));
	ask->view.ngroups = !plan->aggregates ? 0 :
		plan->nkeys == 0 ? 1 : ask->counts.ngroups;
	return CSV_OK;
}

bool
csv_groups_may_travel(uint32_t ngroups, uint32_t nrows)
{
	return ngroups <= nrows / CSV_QUERY_GROUPS_SHARE ||
		ngroups <= CSV_QUERY_FEW_GROUPS;
}

/* bytes of room for texts, mostly more than needed */
static size_t
text_room(const CsvAsk *ask)
{
	size_t		nbytes = longest_text(ask) * ask->view.ngroups *
		ask->query->ntexts;

	return nbytes < ask->most_text_bytes ? nbytes : ask->most_text_bytes;
}

CsvStatus
csv_ask_groups(CsvAsk *ask, size_t extra_bytes, bool *good)
{
	CsvWork    *work = ask->work;
	CsvQueryView *view = &ask->view;
	const CsvPlan *plan = &ask->query->plan;
	size_t		texts = text_room(ask);
	size_t		nbytes = csv_query_lay_out_groups(view, plan, texts, NULL);
	uint8_t    *base;

	*good = nbytes + extra_bytes == 0 ||
		csv_ask_reserve(ask, CSV_DEVICE_ANSWER, nbytes + extra_bytes);
	if (!*good)
		return CSV_OK;
	base = csv_work_memory(work, CSV_DEVICE_ANSWER);
	csv_query_lay_out_groups(view, plan, texts, base);
	ask->extra = base + nbytes;
	TRY(csv_work_clear(work, view->words,
					   (size_t) view->ngroups * plan->nwords * 8));
	csv_launch_groups(view, work->session->multiprocessors,
					  work->session->stream);
	if (view->ngroups > 0 && ask->query->ntexts > 0)
		TRY(csv_ask_count(ask));
	*good = ask->counts.text_bytes <= view->text_capacity;
	return CSV_OK;
}

size_t
csv_ask_answer_bytes(const CsvAsk *ask, uint32_t ngroups)
{
	const CsvPlan *plan = &ask->query->plan;

	return (size_t) ask->counts.nselected * 5 + (size_t) ngroups *
		((size_t) plan->nwords * 8 + plan->nkeys * 16 + 4 + 4) +
		(ngroups == 0 ? 0 : ask->counts.text_bytes) + 7 * 64;
}

CsvStatus
csv_ask_fetch(const CsvAsk *ask, uint32_t ngroups, const uint32_t *held,
			  uint8_t *block, CsvAnswer *answer)
{
	const CsvWork *work = ask->work;
	const CsvQueryView *view = &ask->view;
	const CsvQueryCounts *counts = &ask->counts;
	const CsvPlan *plan = &ask->query->plan;
	CsvSelection *selection = &answer->selection;
	CsvPartialGroups *groups = &answer->groups;
	size_t		n = counts->nselected;
	size_t		ng = ngroups;

	memset(answer, 0, sizeof(*answer));
	selection->nrows = counts->nselected;
	selection->any_careful = counts->ncareful > 0;
	selection->ndropped = view->nrows - counts->npasses - counts->ncareful;
	groups->ngroups = ngroups;
	TRY(csv_work_fetch_part(work, &block, view->selected, n, &selection->rows));
	TRY(csv_work_fetch_part(work, &block, view->careful, n,
							&selection->careful));
	if (held != NULL)
		TRY(csv_work_fetch_part(work, &block, held, ng, &groups->held));
	TRY(csv_work_fetch_part(work, &block, view->words, ng * plan->nwords,
							&groups->words));
	TRY(csv_work_fetch_part(work, &block, view->group_keys,
							ng * plan->nkeys * 2, &groups->keys));
	TRY(csv_work_fetch_part(work, &block, view->group_nulls,
							plan->nkeys == 0 ? 0 : ng, &groups->nulls));
	return csv_work_fetch_part(work, &block, view->texts,
							   ng == 0 ? 0 : counts->text_bytes,
							   &groups->texts);
}
