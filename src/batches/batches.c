/*
 * batches.c
 *		Batches of a table's rows: read by an engine, or kept.
 *
 * For each file, the columns are taken from the kept columns, if they are there
 * (kept.c).  Otherwise an engine reads the file (reading.c), and if its batches may be
 * kept, they are copied on the way.  In both cases a query is then evaluated over the
 * batches (evaluation.c).
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "batches/batches.h"

struct CsvBatches
{
	CsvFileLayout *layout;
	CsvReading *reading;
	CsvKept    *kept;			/* NULL: nothing is kept or taken from kept columns */
	CsvEvaluation *evaluation;	/* NULL: no query */
	CsvBatchHook hook;			/* function NULL: no hook */
	MemoryContext context;		/* holds everything here */
	MemoryContextCallback callback;

	bool		file_is_open;
	bool		was_rewound;
	bool		all_kept;		/* no file was read so far */
	int			file_number;	/* from 1 */
	CsvFileBatch batch;
	CsvPartialGroups held;		/* the first held groups, when everything is read */
};

CsvBatches *
csv_batches_create(const CsvTable *table, const Bitmapset *wanted,
				   const CsvPushdown *pushdown, bool may_keep,
				   bool may_share)
{
	CsvBatches *batches = palloc0(sizeof(CsvBatches));

	batches->context = CurrentMemoryContext;
	batches->layout =
		csv_file_layout_create(table, wanted,
							   pushdown != NULL ? pushdown->hidden : NULL,
							   pushdown != NULL && pushdown->few_rows);
	batches->reading = csv_reading_create(batches->layout);
	/* only the columns of a record are kept, not its surplus fields */
	if (may_keep && !may_share && table->settings.resident &&
		!batches->layout->wants_surplus)
		batches->kept = csv_kept_create(batches->layout);
	/* created after the kept columns, which it uses, so that it is released first */
	if (pushdown != NULL)
		batches->evaluation = csv_evaluation_create(pushdown, batches->layout,
													batches->reading);

	/* if columns may be kept, an engine may never be needed */
	if (batches->kept == NULL && !may_share)
		csv_reading_open_engine(batches->reading);
	batches->all_kept = batches->kept != NULL;
	return batches;
}

bool
csv_batches_are_kept(const CsvTable *table, const Bitmapset *wanted,
					 const Bitmapset *hidden, bool few_rows, int *ncolumns,
					 int64 *nrows)
{
	CsvFileLayout *layout = csv_file_layout_create(table, wanted, hidden,
												   few_rows);

	*ncolumns = layout->ncolumns;
	return csv_kept_exist(layout, nrows);
}

const CsvFileLayout *
csv_batches_layout(const CsvBatches *batches)
{
	return batches->layout;
}

/* ---- other processes ---- */

/* a reset callback */
static void
stop_threads(void *arg)
{
	csv_reading_leave(((CsvBatches *) arg)->reading);
}

void
csv_batches_watch(CsvBatches *batches, const CsvBatchHook *hook)
{
	/* the newest child context is deleted first: before the data that threads use */
	MemoryContext context = AllocSetContextCreate(batches->context, "csv_gpu_fdw hook",
												  ALLOCSET_SMALL_SIZES);

	batches->hook = *hook;
	batches->callback.func = stop_threads;
	batches->callback.arg = batches;
	MemoryContextRegisterResetCallback(context, &batches->callback);
}

const CsvFileBatch *
csv_batches_at(const CsvBatches *batches)
{
	return &batches->batch;
}

CsvSource *
csv_batches_source(const CsvBatches *batches)
{
	return csv_reading_source(batches->reading);
}

void
csv_batches_share(CsvBatches *batches, CsvSharing *sharing,
				  const CsvPieceCallbacks *callbacks)
{
	csv_reading_share(batches->reading, sharing, callbacks);
}

void
csv_batches_stop(CsvBatches *batches)
{
	csv_reading_stop(batches->reading);
}

/* ---- files ---- */

void
csv_batches_on_change(CsvBatches *batches, CsvFileChangedFn changed, void *arg)
{
	csv_reading_on_change(batches->reading, changed, arg);
}

void
csv_batches_choose_files(CsvBatches *batches)
{
	csv_reading_choose_files(batches->reading);
}

static void
leave_file(CsvBatches *batches)
{
	if (batches->evaluation != NULL)
		csv_evaluation_leave_file(batches->evaluation);
	if (batches->kept != NULL)
		csv_kept_leave(batches->kept);
	batches->file_is_open = false;
}

/* are the wanted columns of the open file kept? */
static bool
find_kept(CsvBatches *batches, bool *may_keep)
{
	CsvFileIdentity identity;

	*may_keep = false;
	if (batches->kept == NULL ||
		!csv_reading_identity(batches->reading, &identity) ||
		!csv_kept_find(batches->kept, batches->batch.filename,
					   csv_reading_file(batches->reading), &identity,
					   may_keep))
		return false;
	csv_reading_pass(batches->reading, identity.size);
	return true;
}

/* starts again: groups that the engine held are lost; nothing has come out yet */
static void
restart(CsvBatches *batches)
{
	bool		was_rewound = batches->was_rewound;

	csv_evaluation_rewind(batches->evaluation, true);
	csv_batches_rewind(batches);
	batches->was_rewound = was_rewound;
}

/* opens the next file; false if there are no more */
static bool
open_file(CsvBatches *batches)
{
	CsvFileBatch *batch = &batches->batch;
	bool		may_keep;

	if (!csv_reading_next_file(batches->reading))
		return false;
	batches->file_number = csv_reading_file_number(batches->reading);
	batch->file_number = batches->file_number;
	batch->opening++;
	batch->filename = csv_reading_filename(batches->reading);
	batch->layout = &batches->layout->layout;
	batch->kept = find_kept(batches, &may_keep);
	if (batch->kept)
		batch->dialect =
			csv_resident_dialect(csv_kept_columns(batches->kept));
	else
	{
		batches->all_kept = false;
		if (!csv_reading_begin(batches->reading))
		{
			restart(batches);
			return true;
		}
		batch->dialect = csv_reading_dialect(batches->reading);
		if (may_keep)
			csv_kept_begin(batches->kept, batch->dialect);
	}
	batches->file_is_open = true;
	if (batches->evaluation != NULL)
		csv_evaluation_open_file(batches->evaluation, batches->reading,
								 batches->kept);
	else if (batches->hook.function != NULL)
		csv_reading_set_hook(batches->reading, &batches->hook);
	return true;
}

/* all files are read; false if they must be read again */
static bool
finish(CsvBatches *batches)
{
	if (!csv_reading_first_held(batches->reading, &batches->held))
		return false;
	/* a scan that was rewound once will probably be rewound again */
	csv_reading_finish(batches->reading, batches->was_rewound);
	if (batches->evaluation != NULL)
		csv_evaluation_finish(batches->evaluation);
	return true;
}

/* ---- batches ---- */

static CsvReadResult
next_kept(CsvBatches *batches, const CsvResidentBatch **from)
{
	CsvFileBatch *batch = &batches->batch;

	*from = csv_kept_next(batches->kept, &batch->batch);
	if (*from == NULL)
		return CSV_READ_END;
	batch->row_places = (*from)->row_places;
	batch->error_places = (*from)->error_places;
	return CSV_READ_BATCH;
}

static CsvReadResult
next_read(CsvBatches *batches)
{
	CsvFileBatch *batch = &batches->batch;
	CsvReadResult result = csv_reading_next(batches->reading, &batch->batch);
	CsvFileIdentity now;

	batch->row_places = NULL;
	batch->error_places = NULL;
	if (batches->kept == NULL)
		return result;
	if (result == CSV_READ_BATCH)
		csv_kept_add(batches->kept, &batch->batch);
	else if (result == CSV_READ_END)
	{
		if (csv_reading_identity(batches->reading, &now))
			csv_kept_finish(batches->kept, csv_reading_file(batches->reading),
							&now);
		else
			csv_kept_leave(batches->kept);
	}
	return result;
}

const CsvFileBatch *
csv_batches_next(CsvBatches *batches)
{
	CsvFileBatch *batch = &batches->batch;

	for (;;)
	{
		const CsvResidentBatch *from = NULL;
		CsvReadResult result;

		if (!batches->file_is_open)
		{
			leave_file(batches);
			if (!open_file(batches))
			{
				if (finish(batches))
					return NULL;
				restart(batches);
			}
			continue;
		}
		CHECK_FOR_INTERRUPTS();
		result = batch->kept ? next_kept(batches, &from) : next_read(batches);
		batch->selection = NULL;
		if (result == CSV_READ_BATCH && batches->evaluation != NULL &&
			!csv_evaluation_run(batches->evaluation, batches->reading,
								batches->kept, from, &batch->batch,
								&batch->selection))
			result = CSV_READ_AGAIN;
		if (result == CSV_READ_BATCH)
			return batch;
		if (result == CSV_READ_END)
			batches->file_is_open = false;
		else
			restart(batches);
	}
}

void
csv_batches_rewind(CsvBatches *batches)
{
	leave_file(batches);
	if (batches->evaluation != NULL)
		csv_evaluation_rewind(batches->evaluation, false);
	csv_reading_rewind(batches->reading, batches->kept != NULL);
	batches->file_number = 0;
	batches->was_rewound = true;
}

void
csv_batches_close_engine(CsvBatches *batches)
{
	csv_reading_finish(batches->reading, false);
}

void
csv_batches_end(CsvBatches *batches)
{
	leave_file(batches);
	csv_reading_end(batches->reading);
}

/* ---- groups ---- */

CsvEvaluator *
csv_batches_groups(CsvBatches *batches)
{
	return csv_evaluation_groups(batches->evaluation);
}

void
csv_batches_gather(CsvBatches *batches, bool must_add,
				   const CsvGroupsMaker *maker)
{
	csv_evaluation_gather(batches->evaluation,
						  must_add || csv_reading_holds(batches->reading),
						  maker);
}

bool
csv_batches_held(CsvBatches *batches, uint32_t first, CsvPartialGroups *groups)
{
	*groups = batches->held;
	if (!csv_reading_holds(batches->reading))
		return csv_evaluation_held(batches->evaluation, groups);
	if (first > 0)
		csv_reading_held(batches->reading, first, groups);
	return groups->ngroups > 0;
}

void
csv_batches_drop_held(CsvBatches *batches)
{
	csv_reading_drop_held(batches->reading);
	csv_evaluation_drop_held(batches->evaluation);
}

void
csv_batches_drop_row(CsvBatches *batches)
{
	/* rows that are looked up may not have been evaluated */
	if (batches->evaluation != NULL)
		csv_evaluation_drop(batches->evaluation);
}

/* ---- statistics ---- */

int64
csv_batches_certain_size(const CsvBatches *batches)
{
	bool		is_exact;
	int64		nbytes = csv_reading_size(batches->reading, &is_exact);

	return is_exact ? nbytes : 0;
}

void
csv_batches_statistics(const CsvBatches *batches,
					   CsvBatchesStatistics *statistics)
{
	csv_reading_statistics(batches->reading, &statistics->reading);
	if (batches->evaluation != NULL)
		statistics->evaluation =
			*csv_evaluation_statistics(batches->evaluation);
	else
		memset(&statistics->evaluation, 0, sizeof(statistics->evaluation));
}

const char *
csv_batches_engine(const CsvBatches *batches)
{
	const char *engine = batches->evaluation != NULL ?
		csv_evaluation_engine(batches->evaluation) : NULL;

	return engine != NULL ? engine : csv_reading_engine(batches->reading);
}

bool
csv_batches_all_kept(const CsvBatches *batches)
{
	return batches->all_kept && batches->file_number > 0;
}
