/*
 * skipping.c
 *		Tracks the records that a scan has passed, and reports skipped records.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "utils/memutils.h"

#include "scan/skipping.h"

struct CsvSkipping
{
	CsvSkippedFn skipped;
	void	   *arg;
	CsvReport	report;
	CsvReporter *reporter;		/* NULL: the scan is not shared */
	CsvScanPoint point;			/* furthest record that was passed and reported */
	int64		npassed;		/* up to there */
	Bitmapset  *changed;		/* files whose change was reported */

	/*
	 * Records that were passed of each file, if a rewind may leave out other files
	 * than before, so that a later file may have been passed before an earlier file.
	 * NULL: point tells.
	 */
	int64	   *of_file;

	/* this process's, if others share the scan */
	int64		nown;
	int64		nskipped;
	int64		nset_null;		/* values */
	bool		looks_ahead;
};

CsvSkipping *
csv_skipping_create(const CsvTable *table, CsvSkippedFn skipped, void *arg)
{
	CsvSkipping *skipping = palloc0(sizeof(CsvSkipping));

	skipping->skipped = skipped;
	skipping->arg = arg;
	csv_report_begin(&skipping->report, table);
	if (table->left_out_varies)
		skipping->of_file = palloc_extended(sizeof(int64) * table->nfiles,
											MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	return skipping;
}

bool
csv_skipping_was_passed(const CsvSkipping *skipping, int file_number,
						int64 record)
{
	if (skipping->of_file != NULL)
		return record <= skipping->of_file[file_number - 1];
	return csv_is_passed(skipping->reporter != NULL ?
						 csv_reporter_point(skipping->reporter) :
						 &skipping->point, file_number, record);
}

/* how many records of a batch, up to this record, were not passed before? */
static int64
count_new(const CsvSkipping *skipping, int file_number, int64 before,
		  int64 record)
{
	const CsvScanPoint *point = skipping->reporter != NULL ?
		csv_reporter_point(skipping->reporter) : &skipping->point;

	if (skipping->of_file != NULL && file_number > 0)
		return Max(record - Max(skipping->of_file[file_number - 1], before), 0);
	if (csv_is_passed(point, file_number, record))
		return 0;
	return record - (file_number == point->file_number ?
					 Max(point->record, before) : before);
}

void
csv_skipping_pass(CsvSkipping *skipping, int file_number, int64 before,
				  int64 record)
{
	int64		nnew = count_new(skipping, file_number, before, record);

	if (skipping->looks_ahead)
		return;
	if (skipping->reporter != NULL)
	{
		csv_reporter_pass(skipping->reporter, file_number, record, nnew);
		skipping->nown += nnew;
	}
	else if (nnew > 0)
	{
		skipping->npassed += nnew;
		if (skipping->of_file != NULL)
			skipping->of_file[file_number - 1] = record;
		skipping->point.file_number = file_number;
		skipping->point.record = record;
	}
}

void
csv_skipping_look_ahead(CsvSkipping *skipping, bool looks_ahead)
{
	skipping->looks_ahead = looks_ahead;
}

int64
csv_skipping_passed(const CsvSkipping *skipping, int file_number, int64 before,
					int64 record)
{
	return (skipping->reporter != NULL ? skipping->nown : skipping->npassed) +
		(skipping->looks_ahead ? 0 :
		 count_new(skipping, file_number, before, record));
}

int64
csv_skipping_skipped(const CsvSkipping *skipping)
{
	return skipping->nskipped;
}

int64
csv_skipping_set_null(const CsvSkipping *skipping)
{
	return skipping->nset_null;
}

bool
csv_skipping_is_new(const CsvSkipping *skipping, int file_number, int64 record)
{
	return !skipping->looks_ahead &&
		!csv_skipping_was_passed(skipping, file_number, record);
}

bool
csv_skipping_shows_bytes(const CsvSkipping *skipping)
{
	return skipping->skipped != NULL;
}

bool
csv_skipping_needs_message(const CsvSkipping *skipping)
{
	if (skipping->reporter != NULL)
		return csv_reporter_needs_message(skipping->reporter);
	return skipping->skipped != NULL ||
		csv_report_needs_message(&skipping->report);
}

bool
csv_skipping_add(CsvSkipping *skipping, const CsvSkipped *skipped)
{
	if (skipping->looks_ahead)
		return false;
	if (skipped->code == CSV_ERROR_SET_NULL)
		skipping->nset_null++;
	else
		skipping->nskipped++;
	if (skipping->reporter != NULL)
		return csv_reporter_add(skipping->reporter, skipped);
	if (skipping->skipped != NULL)
		return skipping->skipped(skipping->arg, skipped);
	csv_report_skipped(&skipping->report, skipped);
	return true;
}

void
csv_skipping_changed(CsvSkipping *skipping, int file_number,
					 const char *filename, CsvFileChange change)
{
	MemoryContext outer;

	if (skipping->looks_ahead || bms_is_member(file_number, skipping->changed))
		return;
	outer = MemoryContextSwitchTo(GetMemoryChunkContext(skipping));
	skipping->changed = bms_add_member(skipping->changed, file_number);
	MemoryContextSwitchTo(outer);
	if (skipping->reporter != NULL)
		csv_reporter_changed(skipping->reporter, filename, change);
	else
		csv_report_changed(skipping->report.table, filename, change);
}

void
csv_skipping_end(CsvSkipping *skipping, bool complete)
{
	if (skipping->looks_ahead)
		return;
	if (skipping->reporter == NULL)
		csv_report_end(&skipping->report, skipping->npassed, complete);
	else if (!IsParallelWorker())
		csv_skipping_say(skipping);
	if (!complete)
		csv_report_log(&skipping->report);
}

/* ---- scans that other processes share ---- */

void
csv_skipping_begin_shared(const CsvSkipping *skipping, CsvSharedReport *shared)
{
	csv_shared_report_begin(shared, &skipping->report, &skipping->point,
							skipping->npassed);
}

void
csv_skipping_share(CsvSkipping *skipping, CsvSharedReport *shared,
				   dsa_area *dsa)
{
	skipping->reporter = csv_reporter_create(shared, dsa,
											 skipping->report.table);
}

void
csv_skipping_fail(CsvSkipping *skipping, const ErrorData *error)
{
	csv_reporter_fail(skipping->reporter, error);
}

void
csv_skipping_hand_in(CsvSkipping *skipping, uint64 piece)
{
	csv_reporter_hand_in(skipping->reporter, piece);
}

void
csv_skipping_end_pieces(CsvSkipping *skipping, uint64 npieces)
{
	csv_reporter_end(skipping->reporter, npieces);
}

void
csv_skipping_say(CsvSkipping *skipping)
{
	/*
	 * if there were too many, the process that read the last piece has raised the
	 * ERROR
	 */
	if (csv_reporter_say(skipping->reporter, &skipping->report,
						 &skipping->point, &skipping->npassed))
		csv_report_end(&skipping->report, skipping->npassed, true);
}

void
csv_skipping_unshare(CsvSkipping *skipping)
{
	csv_skipping_say(skipping);
	pfree(skipping->reporter);
	skipping->reporter = NULL;
}
