/*
 * batches.c
 *		Batches of a table's rows: read by an engine, or kept.
 *
 * For each file, the columns are taken from the resident columns, if they are
 * there (resident.c).  Otherwise an engine reads the file (reading.c).  If its
 * batches may be kept, they are copied on the way.  If processes share the
 * files, each has some pieces or kept batches of them (sharing.c).  In all
 * cases a query is then evaluated over the batches (evaluation.c).
 *
 * Memory: reader and engine use malloc() and threads, which must not touch a memory
 * context.  A reset callback releases both when the context is deleted, also after an
 * ERROR or a cancel.  Both are also released when everything is read, because a query
 * may read hundreds of partitions one after the other, and ends all their scans only
 * at its own end.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "batches/batches.h"
#include "batches/evaluation.h"
#include "batches/reading.h"
#include "batches/resident.h"
#include "batches/sharing.h"

/* a reset callback */
static void
release_engine(void *arg)
{
	csv_reading_close(arg);
}

/* opens the engine for all files */
static void
open_engine(CsvBatches *batches)
{
	const CsvSettings *settings = &batches->table->settings;
	int			ncolumns = batches->layout->ncolumns + batches->layout->nvirtuals;
	/* columns of the bytes before may be kept */
	int64		nbytes = batches->nbytes < 0 ? batches->nbytes :
		Max(batches->nbytes - batches->statistics.bytes, 0);

	csv_reading_open(batches,
					 csv_engine_threads(settings, nbytes,
										batches->table->reader.chunk_bytes),
					 csv_choose_gpu(settings, nbytes, ncolumns,
									batches->rows_out, true));
}

void
csv_batches_choose_files(CsvBatches *batches)
{
	batches->is_sized = false;
}

/* a file is open: finds the size of all files */
static void
find_size(CsvBatches *batches)
{
	CsvSourceSize size;

	if (batches->is_sized)
		return;
	size = csv_source_listed_size(batches->source);
	batches->nbytes = size.data_bytes;
	batches->size_is_exact = size.is_exact;
	for (int i = 0; batches->table->resume != NULL && i < batches->table->nfiles; i++)
		if (size.is_exact && !csv_source_is_left_out(batches->source, i))
			batches->nbytes -= (int64) batches->table->resume->files[i].start.offset;
	batches->is_sized = true;
}

/* ---- producers ---- */

static bool
next_resident(CsvBatches *batches)
{
	return csv_resident_next(batches->resident, &batches->at.batch);
}

static void
leave_resident(CsvBatches *batches)
{
	csv_resident_rest(batches->resident);
}

static bool
next_of_nothing(CsvBatches *batches)
{
	return false;
}

static void
leave_nothing(CsvBatches *batches)
{
}

/* tells how far the open file, which grows, was read */
static void
tell_end(CsvBatches *batches)
{
	const CsvResume *resume = batches->table->resume;
	CsvSource  *source = batches->source;
	const CsvFilePlace *place = csv_reader_place(batches->reader);
	CsvReadAhead ahead;

	resume->ended(resume->arg, csv_source_number(source),
				  csv_source_file(source), place,
				  csv_source_read_ahead(source, &ahead) ? place->offset :
				  csv_source_known_bytes(source));
	csv_source_check_same(source);
}

/* the next batch that an engine makes */
static bool
next_read(CsvBatches *batches)
{
	if (csv_reading_next(batches))
		return true;
	if (batches->is_lost)
		return false;
	csv_reading_tell_change(batches, csv_reading_change(batches));
	if (batches->table->resume != NULL)
		tell_end(batches);
	return false;
}

static const CsvProducer one_reader = {
	next_read, csv_reading_leave, true, false
};

/* the same, and it is kept */
static bool
next_and_keep(CsvBatches *batches)
{
	if (next_read(batches))
	{
		/* without room for more, none are kept */
		if (!csv_resident_add(batches->resident, &batches->at.batch))
			batches->producer = &one_reader;
		return true;
	}
	if (!batches->is_lost)
		csv_resident_finish(batches->resident, batches->source,
							csv_reader_place(batches->reader));
	return false;
}

static void
leave_both(CsvBatches *batches)
{
	csv_resident_leave(batches->resident);
	csv_reading_leave(batches);
}

/* no file is open */
static const CsvProducer nothing = {
	next_of_nothing, leave_nothing, false, false
};

static const CsvProducer resident_columns = {
	next_resident, leave_resident, false, false
};
static const CsvProducer keeping_reader = {
	next_and_keep, leave_both, true, true
};
static const CsvProducer some_pieces = {
	csv_sharing_next, csv_reading_leave, true, false
};
static const CsvProducer some_resident = {
	csv_sharing_next_resident, leave_resident, false, false
};
static const CsvProducer sampled_pieces = {
	csv_sampling_next, csv_reading_leave, true, false
};

/* ---- begin ---- */

CsvBatches *
csv_batches_create(const CsvTable *table, const Bitmapset *wanted,
				   const CsvPushdown *pushdown, bool may_keep)
{
	CsvBatches *batches = palloc0(sizeof(CsvBatches));

	batches->table = table;
	batches->context = CurrentMemoryContext;
	batches->producer = &nothing;
	batches->nthreads = (uint32) Max(table->settings.cpu_threads, 1);
	batches->rows_out = pushdown != NULL ? pushdown->rows_out : 1;
	batches->layout =
		csv_file_layout_create(table, wanted,
							   pushdown != NULL ? pushdown->hidden : NULL,
							   pushdown != NULL && pushdown->few_rows);
	batches->at.layout = &batches->layout->layout;
	batches->source = csv_source_create(table);
	batches->callback.func = release_engine;
	batches->callback.arg = batches;
	MemoryContextRegisterResetCallback(batches->context, &batches->callback);
	/* only the columns of a record are kept, not its surplus fields */
	if (may_keep && table->settings.resident && !batches->layout->wants_surplus)
		batches->resident = csv_resident_create(batches->layout);
	/* created after the columns that it uses, so that it is released first */
	if (pushdown != NULL)
		batches->evaluation = csv_evaluation_create(batches, pushdown);
	return batches;
}

/* a reset callback */
static void
stop_threads(void *arg)
{
	csv_reading_leave(arg);
}

void
csv_batches_watch(CsvBatches *batches, const CsvBatchHook *hook)
{
	/* the newest child context is deleted first: before the data that threads use */
	MemoryContext context = AllocSetContextCreate(batches->context, "csv_gpu_fdw hook",
												  ALLOCSET_SMALL_SIZES);

	batches->hook = *hook;
	batches->hook_callback.func = stop_threads;
	batches->hook_callback.arg = batches;
	MemoryContextRegisterResetCallback(context, &batches->hook_callback);
}

/* ---- a file that this process reads alone ---- */

static bool
open_next(CsvBatches *batches)
{
	bool		gone;

	while (csv_source_open_next(batches->source, &gone))
	{
		batches->at.file_number = csv_source_number(batches->source) + 1;
		if (!gone)
			return true;
		csv_reading_tell_change(batches, CSV_FILE_GONE);
	}
	return false;
}

/* begins the open file, or its part from a place on, if it grows */
static void
begin_file(CsvBatches *batches, const CsvFilePlace *from)
{
	CsvResident *resident = batches->resident;
	bool		may_keep = false;

	if (resident != NULL &&
		csv_resident_find(resident, batches->source,
						  batches->grows ? from : NULL, 0, &may_keep))
	{
		batches->producer = &resident_columns;
		batches->statistics.bytes += !batches->grows ?
			resident->key.file.size :
			(int64) (resident->end.offset - from->offset);
		return;
	}
	batches->producer = &one_reader;
	if (batches->is_alone)
		csv_reading_close(batches);
	/* of many scans of a query, only the scan that reads has an engine */
	if (batches->reader == NULL)
		open_engine(batches);
	csv_reading_begin(batches, batches->grows, from);
	/* a scan of resident columns would not tell of the breaks */
	if (may_keep && !csv_reader_has_odd_breaks(batches->reader) &&
		csv_resident_begin(resident, csv_reader_dialect(batches->reader)))
		batches->producer = &keeping_reader;
}

/* ---- all files ---- */

static void
leave_file(CsvBatches *batches)
{
	if (batches->evaluation != NULL)
		csv_evaluation_leave_file(batches->evaluation);
	batches->producer->leave(batches);
	batches->producer = &nothing;
}

/* a file is open, or a part of it begins, which may have other columns */
static void
note_opening(CsvBatches *batches)
{
	CsvFileBatch *at = &batches->at;
	bool		parses = batches->producer->parses;

	at->opening++;
	at->filename = csv_source_name(batches->source);
	at->dialect = parses ? csv_reader_dialect(batches->reader) :
		csv_store_dialect(batches->resident->store);
	batches->all_resident = !parses &&
		(batches->all_resident || at->opening == 1);
	if (batches->evaluation != NULL)
		csv_evaluation_open_file(batches->evaluation);
	else if (batches->hook.function != NULL && parses)
		csv_reader_set_hook(batches->reader, &batches->hook);
}

/* behind the resident columns of a file that grows, goes on if it can */
static bool
go_on(CsvBatches *batches)
{
	CsvFilePlace end;

	if (!batches->grows || batches->producer->parses)
		return false;
	end = batches->resident->end;
	if (end.offset >= csv_source_known_bytes(batches->source))
		return false;
	leave_file(batches);
	begin_file(batches, &end);
	note_opening(batches);
	return true;
}

/* opens the next file; false if there are no more */
static bool
open_file(CsvBatches *batches)
{
	const CsvFilePlace top = {0};

	batches->file_bytes = 0;
	if (batches->share != NULL)
	{
		if (!csv_sharing_open(batches))
			return false;
		find_size(batches);
		batches->producer = csv_sharing_has_resident(batches) ? &some_resident :
			&some_pieces;
		batches->grows = false;
	}
	else
	{
		if (!open_next(batches))
			return false;
		find_size(batches);
		batches->grows = csv_source_grows(batches->source,
										  csv_source_number(batches->source));
		begin_file(batches, &top);
		if (batches->sampling != NULL)
		{
			batches->sampling->place = 0;
			batches->producer = &sampled_pieces;
		}
	}
	note_opening(batches);
	return true;
}

/* groups that the engine held are lost: starts again; nothing has come out yet */
static void
restart(CsvBatches *batches)
{
	bool		was_rewound = batches->was_rewound;

	batches->is_lost = false;
	batches->statistics.filtered = 0;
	batches->statistics.answered = 0;
	batches->statistics.held = 0;
	csv_batches_rewind(batches);
	batches->was_rewound = was_rewound;
}

const CsvFileBatch *
csv_batches_next(CsvBatches *batches)
{
	for (;;)
	{
		if (batches->is_lost)
			restart(batches);
		if (batches->producer == &nothing && !open_file(batches))
		{
			if (batches->evaluation != NULL)
				csv_evaluation_finish(batches->evaluation);
			if (batches->is_lost)
				continue;
			/* a scan that was rewound once will probably be rewound again */
			if (batches->holds || !batches->was_rewound)
				csv_batches_close_engine(batches);
			return NULL;
		}
		CHECK_FOR_INTERRUPTS();
		batches->at.selection = NULL;
		if (batches->producer->next(batches))
		{
			if (batches->evaluation != NULL)
				csv_evaluation_run(batches->evaluation);
			return &batches->at;
		}
		if (!batches->is_lost && !go_on(batches))
			leave_file(batches);
	}
}

void
csv_batches_rewind(CsvBatches *batches)
{
	leave_file(batches);
	if (batches->evaluation != NULL)
		csv_evaluation_rewind(batches->evaluation);
	if (batches->holds)
		csv_reading_close(batches);
	batches->statistics.bytes = 0;
	csv_source_rewind(batches->source);
	batches->at.file_number = 0;
	if (batches->share != NULL)
		csv_sharing_rewind(batches);
	batches->was_rewound = true;
}

void
csv_batches_close_engine(CsvBatches *batches)
{
	if (batches->resident != NULL)
		csv_resident_leave(batches->resident);
	if (batches->holds)
		csv_reading_close_reader(batches);
	else
		csv_reading_close(batches);
}

void
csv_batches_end(CsvBatches *batches)
{
	leave_file(batches);
	if (batches->evaluation != NULL)
		csv_evaluation_end(batches->evaluation);
	csv_source_close(batches->source);
}

int64
csv_batches_certain_size(const CsvBatches *batches)
{
	return batches->is_sized && batches->size_is_exact &&
		!csv_source_found_utf16(batches->source) ?
		batches->nbytes : 0;
}

CsvBatchesStatistics
csv_batches_statistics(const CsvBatches *batches)
{
	CsvBatchesStatistics statistics = batches->statistics;

	csv_reading_add_times(batches, &statistics);
	return statistics;
}
