/*
 * evaluation.c
 *		Evaluates a query over batches.
 *
 * A batch is evaluated by one of these:
 *
 *	1. The engine that reads the file, if it can.  Batches come with its answer
 *	   (CsvAnswer), and have only the rows that come out.  A device may hold the
 *	   groups of many batches until all batches are read.
 *	2. A GPU, over all resident columns of a file at once (resident_gpu.h).
 *	3. Otherwise the evaluator here, batch by batch.
 *
 * The evaluator merges the groups of all three.  Some rows can only be decided by
 * PostgreSQL, because an input function must make a value, or a constant is not known
 * yet.  These rows come out as undecided, and are added to their groups after the
 * others.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "batches/evaluation.h"
#include "batches/reading.h"
#include "batches/resident.h"
#include "batches/resident_gpu.h"
#include "batches/spill_file.h"
#include "query/evaluator.h"
#include "query/operate.h"
#include "query/regroup.h"
#include "query/team.h"
#include "table/memory.h"

/* fewer resident rows are evaluated before threads would have started */
#define CSV_SHARED_ROWS		100000

/*
 * Resident batches that threads evaluate before the scan reaches them.  A
 * window begins small, because a query may want only a few rows, and doubles.
 */
#define CSV_FIRST_WINDOW	8

typedef struct CsvWindow
{
	uint32_t	nbatches;		/* of this window */
	uint32_t	next;			/* index of its next batch */
	uint32_t	next_size;		/* of the next window */
	CsvTeamBatch batches[CSV_BATCH_SLOTS];	/* with their answers */
	CsvRowClasses classes[CSV_BATCH_SLOTS];
	CsvBatch	mapped[CSV_BATCH_SLOTS];
	CsvArray   *arrays;			/* ncolumns of each batch */
} CsvWindow;

struct CsvEvaluation
{
	const CsvPushdown *pushdown;
	CsvBatches *batches;
	MemoryContext context;

	MemoryContext query_context;
	CsvMemory	query_memory;
	const CsvQuery *query;		/* its columns are attribute numbers */
	CsvQuery   *over;			/* the query over the file's layout; or NULL */
	CsvRequest	request;		/* to engines, for `over` */
	bool	   *hidden;			/* for each column of `over`: it is hidden */
	CsvDecidable decidable;
	CsvEvaluator *evaluator;	/* NULL: not made yet */
	CsvPartialGroups held;		/* the first held groups, when everything is read */

	/*
	 * Threads that evaluate, and groups on disk, are freed before the parts of the
	 * query's context that they use.
	 */
	CsvTeam    *team;			/* NULL: none */
	CsvSpill	spill;			/* of a query that groups, if there is an evaluator */
	CsvSpillFile file;
	CsvRegroup *regroup;		/* NULL: none */
	MemoryContextCallback query_callback;
	bool		is_asked;		/* the engine evaluates the open file's batches */
	bool		is_shared;		/* threads evaluate batches of the open file, if any
								 * are wanted */
	bool		keeps_batches;	/* the backend copies batches of the open file */
	CsvWindow  *window;			/* NULL: not made yet */

	/* of the open file, if its columns are resident */
	CsvRowClasses classes;		/* of the batch */
	CsvResidentAnswer *answer;	/* of a GPU, over all its rows; or NULL */

	CsvSelection selection;		/* of the batch's rows */
	uint8_t    *doubtful;		/* for each row: some value is not made yet */
	uint32_t	doubtful_rows;	/* rows that it has room for */
};

static void
clear_window(CsvWindow *window)
{
	window->nbatches = 0;
	window->next = 0;
	window->next_size = CSV_FIRST_WINDOW;
}

void
csv_evaluation_leave_file(CsvEvaluation *evaluation)
{
	if (evaluation->answer != NULL)
		csv_resident_answer_free(evaluation->answer);
	evaluation->answer = NULL;
	if (evaluation->window != NULL)
		clear_window(evaluation->window);
}

CsvEvaluation *
csv_evaluation_create(CsvBatches *batches, const CsvPushdown *pushdown)
{
	CsvEvaluation *evaluation = palloc0(sizeof(CsvEvaluation));

	evaluation->pushdown = pushdown;
	evaluation->batches = batches;
	evaluation->context = CurrentMemoryContext;
	evaluation->query_context = AllocSetContextCreate(CurrentMemoryContext,
													  "csv_gpu_fdw query",
													  ALLOCSET_DEFAULT_SIZES);
	evaluation->query_memory = csv_context_memory(evaluation->query_context);
	evaluation->hidden = palloc(sizeof(bool) * Max(batches->layout->ncolumns, 1));
	return evaluation;
}

/* may the query's groups go to a file? */
static bool
has_spill(const CsvEvaluation *evaluation)
{
	return evaluation->query != NULL && evaluation->query->aggregates &&
		evaluation->evaluator != NULL;
}

void
csv_evaluation_check(CsvEvaluation *evaluation, CsvStatus status)
{
	if (status == CSV_NO_MEMORY && has_spill(evaluation))
		csv_spill_file_check(&evaluation->spill);
	if (status == CSV_NO_MEMORY)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory")));
	if (status == CSV_INTERRUPTED)
		CHECK_FOR_INTERRUPTS();
	if (status != CSV_OK)
		elog(ERROR, "unexpected status of a query: %d", (int) status);
}

/* ---- the query ---- */

/* makes the query; false: no more can be decided than before */
static bool
prepare_query(CsvEvaluation *evaluation, bool has_rows)
{
	const CsvPushdown *pushdown = evaluation->pushdown;
	MemoryContext outer = MemoryContextSwitchTo(evaluation->query_context);
	const CsvQuery *query = pushdown->prepare(pushdown->arg, has_rows,
											  evaluation->evaluator != NULL,
											  &evaluation->decidable);

	MemoryContextSwitchTo(outer);
	if (query == NULL)
		return false;
	evaluation->query = query;
	return true;
}

/* makes the query over the columns of the open file, and the request */
static void
lay_out_query(CsvEvaluation *evaluation)
{
	const CsvFileLayout *file_layout = evaluation->batches->layout;
	const CsvLayout *layout = &file_layout->layout;
	CsvQuery   *before = evaluation->over;
	MemoryContext outer = MemoryContextSwitchTo(evaluation->query_context);

	evaluation->over = csv_query_over(evaluation->query, layout->columns,
									  layout->ncolumns,
									  evaluation->pushdown->file_value,
									  evaluation->pushdown->arg);
	csv_evaluator_set_query(evaluation->evaluator, evaluation->over);
	if (evaluation->team != NULL)
		csv_team_set_query(evaluation->team, evaluation->over);
	if (before != NULL)
		pfree(before);
	MemoryContextSwitchTo(outer);

	for (uint32_t i = 0; i < layout->ncolumns; i++)
		evaluation->hidden[i] = file_layout->columns[i].hidden;
	evaluation->request.query = evaluation->over;
	evaluation->request.hidden = evaluation->hidden;
}

/* ---- groups on disk ---- */

/* a CsvMakeRoomFn for the session's own groups */
static bool
make_room(void *arg, struct CsvGroups *groups)
{
	CsvEvaluation *evaluation = arg;
	CsvSpill   *spill = &evaluation->spill;

	if (!evaluation->file.is_open)
		csv_spill_file_open(&evaluation->file, spill);
	evaluation->pushdown->spills(evaluation->pushdown->arg);
	if (!csv_spill_write(spill, &spill->groups, &spill->values, groups))
		return false;
	csv_spill_file_count(&evaluation->file, spill);
	return true;
}

/* opens the file if a thread waits for it, and counts what threads have written */
static void
tend_file(CsvEvaluation *evaluation)
{
	if (!has_spill(evaluation))
		return;
	if (atomic_load(&evaluation->spill.wanted) && !evaluation->file.is_open)
		csv_spill_file_open(&evaluation->file, &evaluation->spill);
	csv_spill_file_count(&evaluation->file, &evaluation->spill);
}

/* drops threads that evaluate or merge, with their groups */
static void
drop_threads(CsvEvaluation *evaluation)
{
	if (evaluation->regroup != NULL)
		csv_regroup_free(evaluation->regroup);
	evaluation->regroup = NULL;
	if (evaluation->team != NULL)
		csv_team_free(evaluation->team);
	evaluation->team = NULL;
}

/* the reset callback of the query's context */
static void
release_query(void *arg)
{
	CsvEvaluation *evaluation = arg;

	csv_reading_leave(evaluation->batches);
	drop_threads(evaluation);
	if (has_spill(evaluation))
		csv_spill_free(&evaluation->spill);
	csv_spill_file_close(&evaluation->file, true);
}

/* lets groups take as much memory as a hash table of the executor */
static void
limit_groups(CsvEvaluation *evaluation)
{
	csv_spill_init(&evaluation->spill, &csv_thread_memory, get_hash_memory_limit(),
				   evaluation->batches->nthreads);
	csv_evaluator_limit(evaluation->evaluator, &evaluation->spill, make_room,
						evaluation);
}

static void
open_evaluator(CsvEvaluation *evaluation, bool has_rows)
{
	(void) prepare_query(evaluation, has_rows);
	evaluation->query_callback.func = release_query;
	evaluation->query_callback.arg = evaluation;
	MemoryContextRegisterResetCallback(evaluation->query_context,
									   &evaluation->query_callback);
	evaluation->evaluator = csv_evaluator_create(&evaluation->query_memory,
												 evaluation->query);
	if (evaluation->evaluator == NULL)
		csv_evaluation_check(evaluation, CSV_NO_MEMORY);
	if (evaluation->query->aggregates)
		limit_groups(evaluation);
	if (has_rows)
		lay_out_query(evaluation);
	evaluation->pushdown->prepared(evaluation->pushdown->arg, evaluation,
								   evaluation->evaluator);
}

/* ---- threads ---- */

/* May threads evaluate batches by themselves?  Not while a constant is unknown. */
static bool
may_share(const CsvEvaluation *evaluation)
{
	return evaluation->evaluator != NULL &&
		evaluation->batches->nthreads > 1 &&
		evaluation->decidable == CSV_DECIDES_ALL;
}

static CsvTeam *
get_team(CsvEvaluation *evaluation)
{
	if (evaluation->team != NULL)
		return evaluation->team;
	evaluation->team =
		csv_team_create(&csv_thread_memory, evaluation->evaluator,
						evaluation->batches->nthreads);
	if (evaluation->team == NULL)
		csv_evaluation_check(evaluation, CSV_NO_MEMORY);
	return evaluation->team;
}

/* a CsvBatchHook: runs in a thread that PostgreSQL does not know */
static bool
evaluate_in_thread(void *arg, uint32_t thread, uint32_t slot, CsvBatch *batch,
				   bool (*interrupted) (void *interrupted_arg),
				   void *interrupted_arg)
{
	CsvEvaluation *evaluation = arg;
	const CsvBatches *batches = evaluation->batches;

	batch->answer = csv_team_run(evaluation->team, thread, slot,
								 &batches->layout->layout, batch,
								 interrupted, interrupted_arg);
	return evaluation->keeps_batches || batch->nerrors > 0 ||
		batch->answer == NULL || batch->answer->selection.nrows > 0;
}

/* makes the threads that read the open file evaluate, if there are threads */
static void
request_threads(CsvEvaluation *evaluation)
{
	CsvBatchHook hook = {evaluate_in_thread, evaluation};
	const CsvProducer *producer = evaluation->batches->producer;

	if (evaluation->is_shared || !producer->parses || !may_share(evaluation))
		return;
	evaluation->is_shared = true;
	evaluation->keeps_batches = producer->keeps;
	(void) get_team(evaluation);
	csv_reader_set_hook(evaluation->batches->reader, &hook);
}

/* ---- requests to the engine that reads ---- */

/*
 * May groups stay on the device?  If the device fails, everything must be read again.
 * A program or FIFO cannot be read again.
 */
static bool
may_hold(const CsvEvaluation *evaluation)
{
	const CsvBatches *batches = evaluation->batches;

	return batches->nbytes >= 0 || batches->table->settings.engine == CSV_ENGINE_CUDA;
}

/*
 * Makes the engine that reads evaluate the query over the next batches, if it
 * can.  Not while a constant is unknown.
 */
static void
request_answers(CsvEvaluation *evaluation)
{
	CsvBatches *batches = evaluation->batches;
	const CsvProducer *producer = batches->producer;

	if (evaluation->is_asked || !producer->parses || producer->keeps ||
		evaluation->evaluator == NULL ||
		evaluation->decidable != CSV_DECIDES_ALL)
		return;
	evaluation->request.may_hold = may_hold(evaluation);
	evaluation->is_asked = csv_reading_ask(batches, &evaluation->request);
}

void
csv_evaluation_open_file(CsvEvaluation *evaluation)
{
	if (evaluation->evaluator != NULL)
		lay_out_query(evaluation);
	else if (evaluation->pushdown->is_literal)
		open_evaluator(evaluation, true);
	evaluation->is_asked = evaluation->is_shared = false;
	request_answers(evaluation);
	request_threads(evaluation);
}

/* an engine, threads, or a GPU over resident columns have evaluated it */
static void
take_answer(CsvEvaluation *evaluation, const CsvAnswer *answer)
{
	evaluation->selection = answer->selection;
	if (answer->is_whole)
	{
		csv_evaluation_check(evaluation, answer->status);
		evaluation->batches->statistics.beyond += answer->selection.nbeyond;
		return;
	}
	evaluation->batches->statistics.answered++;
	evaluation->batches->statistics.held += answer->held;
	if (evaluation->query->aggregates)
		csv_evaluation_check(evaluation, csv_evaluator_merge(evaluation->evaluator,
										 &answer->groups));
}

/* ---- resident columns ---- */

/* asks a GPU, over all resident columns of a file */
static void
ask_gpu(CsvEvaluation *evaluation)
{
	CsvBatches *batches = evaluation->batches;
	MemoryContext outer;

	if (evaluation->decidable != CSV_DECIDES_ALL)
		return;
	outer = MemoryContextSwitchTo(evaluation->context);
	evaluation->request.may_hold = false;
	evaluation->answer = csv_resident_ask(batches, &evaluation->request);
	MemoryContextSwitchTo(outer);
	if (evaluation->answer == NULL)
		return;
	csv_reading_name_engine(batches, true);
	if (evaluation->query->aggregates)
		csv_evaluation_check(evaluation, csv_resident_merge(evaluation->answer,
										evaluation->evaluator));
}

/*
 * The columns by which the query groups the rows of a file; returns their
 * number, 0 if a key is more than a column.
 */
static int
get_grouping_keys(const CsvEvaluation *evaluation, CsvGroupingKey *keys)
{
	const CsvProgram *program = evaluation->pushdown->program;
	const CsvTable *table = evaluation->batches->table;
	int			n = 0;

	for (uint32_t key = 0; key < program->query.nkeys; key++)
	{
		const CsvInstruction *made =
			csv_find_writer(program->instructions, program->query.ninstructions,
							program->keys[key].value);

		if (made == NULL || made->operation != CSV_OP_COLUMN)
			return 0;
		if (csv_is_of_file(&table->columns[made->operand - 1]))
			continue;
		keys[n].attnum = (int16) made->operand;
		keys[n++].trim = (made->flags & CSV_FLAG_TRIM) != 0;
	}
	return n;
}

/* at the first resident batch of a file: gets the known groups of its rows */
static void
begin_grouping(CsvEvaluation *evaluation)
{
	CsvGroupingKey keys[CSV_MAX_KEYS];
	int			nkeys;

	if (!evaluation->query->aggregates || evaluation->query->nkeys == 0)
		return;
	csv_evaluator_forget(evaluation->evaluator);
	if (evaluation->team != NULL)
		csv_team_forget(evaluation->team);
	nkeys = get_grouping_keys(evaluation, keys);
	if (nkeys > 0)
		csv_resident_find_grouping(evaluation->batches->resident, keys, nkeys);
}

/* the known groups of the rows of a resident batch; NULL: none are known */
static const CsvRowClasses *
row_classes(const CsvResident *resident, const CsvResidentBatch *batch,
			CsvRowClasses *classes)
{
	if (resident->grouping == NULL)
		return NULL;
	classes->classes = resident->grouping->classes + batch->first_row;
	classes->nclasses = &resident->grouping->nclasses;
	return classes;
}

/* ---- batches ---- */

/*
 * Finds the rows of the batch that must come out whatever the engine says, because
 * only an input function can decide a value.  Returns NULL if there are none.  These
 * rows are added to their groups after the others.
 */
static const uint8_t *
find_doubtful(CsvEvaluation *evaluation, const CsvBatch *batch)
{
	int			ncolumns = evaluation->batches->layout->ncolumns;
	bool		any = false;
	bool		all = evaluation->decidable == CSV_DECIDES_NOTHING;

	for (int i = 0; i < ncolumns; i++)
		any |= batch->arrays[i].any_slow;
	if (!any && !all)
		return NULL;
	if (batch->nrows > evaluation->doubtful_rows)
	{
		if (evaluation->doubtful != NULL)
			pfree(evaluation->doubtful);
		evaluation->doubtful = MemoryContextAllocHuge(evaluation->context,
													  batch->nrows);
		evaluation->doubtful_rows = batch->nrows;
	}
	memset(evaluation->doubtful, all, batch->nrows);
	if (!all)
		csv_find_doubtful(batch, (uint32_t) ncolumns, evaluation->doubtful);
	return evaluation->doubtful;
}

static CsvWindow *
get_window(CsvEvaluation *evaluation)
{
	int			ncolumns = evaluation->batches->layout->ncolumns;

	if (evaluation->window == NULL)
	{
		CsvWindow  *window = MemoryContextAlloc(evaluation->context,
												sizeof(CsvWindow));

		window->arrays = MemoryContextAlloc(evaluation->context, sizeof(CsvArray) *
											CSV_BATCH_SLOTS * Max(ncolumns, 1));
		clear_window(window);
		evaluation->window = window;
	}
	return evaluation->window;
}

/* threads evaluate the current batch, and resident batches behind it */
static void
fill_window(CsvEvaluation *evaluation, CsvWindow *window)
{
	CsvTeam    *team = get_team(evaluation);
	CsvBatches *batches = evaluation->batches;
	const CsvResident *resident = batches->resident;
	uint32_t	n = 0;

	for (uint32_t number = resident->next - 1; n < window->next_size; number++)
	{
		const CsvResidentBatch *batch =
			csv_resident_batch(resident, number, &window->mapped[n],
							   window->arrays +
							   (size_t) n * batches->layout->ncolumns);

		if (batch == NULL)
			break;
		/* the scan skips batches without rows */
		if (batch->batch.nrows == 0)
			continue;
		window->batches[n].batch = &window->mapped[n];
		window->batches[n].classes = row_classes(resident, batch,
												 &window->classes[n]);
		n++;
	}
	csv_evaluation_check(evaluation,
						 csv_team_run_all(team, &batches->layout->layout, window->batches, n,
										  csv_process_interrupts, NULL));
	window->nbatches = n;
	window->next = 0;
	window->next_size = Min(2 * window->next_size, CSV_BATCH_SLOTS);
	batches->statistics.threads = Max(batches->statistics.threads,
									  csv_team_nactive(team));
}

static void
evaluate_here(CsvEvaluation *evaluation, const CsvBatch *batch)
{
	CsvBatches *batches = evaluation->batches;

	const CsvResident *resident = batches->resident;

	if (evaluation->query->aggregates)
		csv_evaluator_remember(evaluation->evaluator, !batch->is_resident ? NULL :
							   row_classes(resident, resident->batch,
										   &evaluation->classes));
	csv_evaluation_check(evaluation,
						 csv_evaluator_run(evaluation->evaluator,
										   &batches->layout->layout, batch,
										   find_doubtful(evaluation, batch),
										   csv_process_interrupts, NULL,
										   &evaluation->selection));
	batches->statistics.beyond += evaluation->selection.nbeyond;
}

/* the current resident batch's answer, from a GPU or threads; NULL: none */
static const CsvAnswer *
answer_resident(CsvEvaluation *evaluation, const CsvBatch *batch)
{
	const CsvResident *resident = evaluation->batches->resident;
	CsvWindow  *window;

	if (resident->batch->first_row == 0)
	{
		ask_gpu(evaluation);
		begin_grouping(evaluation);
	}
	if (evaluation->answer != NULL)
		return csv_resident_select(evaluation->answer, batch->nrows);
	if (!may_share(evaluation) ||
		csv_store_nrows(resident->store) < CSV_SHARED_ROWS)
		return NULL;
	window = get_window(evaluation);
	if (window->next == window->nbatches)
		fill_window(evaluation, window);
	return window->batches[window->next++].answer;
}

void
csv_evaluation_run(CsvEvaluation *evaluation)
{
	CsvBatches *batches = evaluation->batches;
	const CsvBatch *batch = &batches->at.batch;
	const CsvAnswer *answer = batch->answer;

	memset(&evaluation->selection, 0, sizeof(evaluation->selection));
	batches->at.selection = &evaluation->selection;
	if (batch->nrows == 0)
		return;
	tend_file(evaluation);
	if (evaluation->evaluator == NULL)
		open_evaluator(evaluation, true);
	/* constants that were not known when the query was made may be known now */
	else if (evaluation->decidable == CSV_DECIDES_LATER &&
			 prepare_query(evaluation, true))
		lay_out_query(evaluation);
	request_answers(evaluation);
	request_threads(evaluation);
	/* processes that share a file evaluate their own batches */
	if (batch->is_resident && batches->share == NULL)
		answer = answer_resident(evaluation, batch);
	if (answer != NULL)
		take_answer(evaluation, answer);
	else
		evaluate_here(evaluation, batch);
	batches->statistics.filtered += evaluation->selection.ndropped;
}

/* ---- the end ---- */

void
csv_evaluation_end(CsvEvaluation *evaluation)
{
	csv_reading_leave(evaluation->batches);
	drop_threads(evaluation);
	csv_spill_file_close(&evaluation->file, false);
}

void
csv_evaluation_rewind(CsvEvaluation *evaluation)
{
	csv_evaluation_leave_file(evaluation);
	csv_evaluation_end(evaluation);
	MemoryContextReset(evaluation->query_context);
	evaluation->evaluator = NULL;
	evaluation->query = NULL;
	evaluation->over = NULL;
}

void
csv_evaluation_renew(CsvEvaluation *evaluation)
{
	csv_evaluation_end(evaluation);
	if (!csv_evaluator_reset(evaluation->evaluator))
		csv_evaluation_check(evaluation, CSV_NO_MEMORY);
	csv_spill_free(&evaluation->spill);
	limit_groups(evaluation);
}

void
csv_evaluation_finish(CsvEvaluation *evaluation)
{
	CsvBatches *batches = evaluation->batches;

	if (batches->holds)
		csv_reading_held(batches, 0, &evaluation->held);
}

/* ---- groups ---- */

CsvEvaluator *
csv_evaluation_groups(CsvEvaluation *evaluation)
{
	if (evaluation->evaluator == NULL)
		open_evaluator(evaluation, false);
	return evaluation->evaluator;
}

bool
csv_evaluation_has_spilled(CsvEvaluation *evaluation)
{
	return csv_spill_has_groups(&evaluation->spill);
}

int64
csv_evaluation_disk_bytes(CsvEvaluation *evaluation)
{
	return (int64) csv_spill_bytes(&evaluation->spill);
}

/* how the groups of threads are combined */
static CsvGather
choose_gather(CsvEvaluation *evaluation, bool must_add)
{
	const CsvQuery *query = evaluation->query;
	CsvSpill   *spill = &evaluation->spill;
	bool		any_distinct = false;

	if (csv_spill_has_groups(spill))
		return CSV_GATHER_SPILL;
	for (uint32_t i = 0; i < query->naggregates; i++)
		any_distinct |= query->aggregate[i].kind == CSV_AGGREGATE_COUNT_DISTINCT;
	must_add |= evaluation->batches->holds;
	/* groups that are added, or merged all at once, take the same memory again */
	if ((must_add || any_distinct) &&
		atomic_load(&spill->nbytes) > spill->limit_bytes / 2)
		return CSV_GATHER_SPILL;
	return must_add ? CSV_GATHER_ADD : CSV_GATHER_CHOOSE;
}

void
csv_evaluation_gather(CsvEvaluation *evaluation, bool must_add,
					  const CsvGroupsMaker *maker)
{
	CsvGather	gather;

	if (evaluation->team == NULL)
		return;
	csv_reading_leave(evaluation->batches);
	gather = choose_gather(evaluation, must_add);
	if (gather == CSV_GATHER_SPILL && !evaluation->file.is_open)
		csv_spill_file_open(&evaluation->file, &evaluation->spill);
	csv_evaluation_check(evaluation,
						 csv_team_finish(evaluation->team, evaluation->evaluator,
										 gather, maker, csv_process_interrupts,
										 NULL));
	tend_file(evaluation);
}

void
csv_evaluation_regroup(CsvEvaluation *evaluation, const CsvGroupsMaker *maker)
{
	drop_threads(evaluation);
	if (!make_room(evaluation, evaluation->evaluator->groups))
		csv_evaluation_check(evaluation, CSV_NO_MEMORY);
	evaluation->regroup = csv_regroup_create(&csv_thread_memory, evaluation->evaluator,
											 evaluation->batches->nthreads, maker);
	if (evaluation->regroup == NULL)
		csv_evaluation_check(evaluation, CSV_NO_MEMORY);
}

bool
csv_evaluation_attached(const CsvEvaluation *evaluation, uint32_t i, uint32_t *group,
						const uint8_t **bytes)
{
	return evaluation->regroup != NULL &&
		csv_regroup_attached(evaluation->regroup, i, group, bytes);
}

bool
csv_evaluation_held(CsvEvaluation *evaluation, uint32_t first,
					CsvPartialGroups *groups)
{
	*groups = evaluation->held;
	if (evaluation->regroup != NULL)
	{
		csv_evaluation_check(evaluation,
							 csv_regroup_next(evaluation->regroup, groups,
											  csv_process_interrupts, NULL));
		csv_spill_file_count(&evaluation->file, &evaluation->spill);
	}
	else if (!evaluation->batches->holds)
	{
		groups->ngroups = 0;
		if (evaluation->team != NULL)
			csv_evaluation_check(evaluation, csv_team_groups(evaluation->team, groups));
	}
	else if (first > 0)
		csv_reading_held(evaluation->batches, first, groups);
	return groups->ngroups > 0;
}

void
csv_evaluation_drop_held(CsvEvaluation *evaluation)
{
	if (evaluation->batches->holds)
		csv_reading_close(evaluation->batches);
	drop_threads(evaluation);
}
