/*
 * skipping.c
 *		Which records a scan has passed, and what is said of those it skipped.
 */
#include "postgres.h"

#include "scan/skipping.h"

struct CsvSkipping
{
	CsvSkippedFn skipped;
	void	   *arg;
	CsvReport	report;
	int			file_number;	/* furthest record that was passed */
	int64		record;
	int64		npassed;
	int64		nskipped;
	bool		looks_ahead;
};

CsvSkipping *
csv_skipping_create(const CsvTable *table, CsvSkippedFn skipped, void *arg)
{
	CsvSkipping *skipping = palloc0(sizeof(CsvSkipping));

	skipping->skipped = skipped;
	skipping->arg = arg;
	skipping->report.table = table;
	return skipping;
}

bool
csv_skipping_was_passed(const CsvSkipping *skipping, int file_number,
						int64 record)
{
	return file_number < skipping->file_number ||
		(file_number == skipping->file_number && record <= skipping->record);
}

void
csv_skipping_pass(CsvSkipping *skipping, int file_number, int64 record)
{
	if (skipping->looks_ahead ||
		csv_skipping_was_passed(skipping, file_number, record))
		return;
	skipping->npassed = csv_skipping_passed(skipping, file_number, record);
	skipping->file_number = file_number;
	skipping->record = record;
}

void
csv_skipping_look_ahead(CsvSkipping *skipping, bool looks_ahead)
{
	skipping->looks_ahead = looks_ahead;
}

int64
csv_skipping_passed(const CsvSkipping *skipping, int file_number, int64 record)
{
	if (skipping->looks_ahead ||
		csv_skipping_was_passed(skipping, file_number, record))
		return skipping->npassed;
	return skipping->npassed + record -
		(file_number == skipping->file_number ? skipping->record : 0);
}

int64
csv_skipping_skipped(const CsvSkipping *skipping)
{
	return skipping->nskipped;
}

bool
csv_skipping_shows_bytes(const CsvSkipping *skipping)
{
	return skipping->skipped != NULL;
}

bool
csv_skipping_needs_message(const CsvSkipping *skipping)
{
	return skipping->skipped != NULL ||
		csv_report_needs_message(&skipping->report);
}

bool
csv_skipping_add(CsvSkipping *skipping, const CsvSkipped *skipped)
{
	if (skipping->looks_ahead)
		return false;
	skipping->nskipped++;
	if (skipping->skipped != NULL)
		return skipping->skipped(skipping->arg, skipped);
	csv_report_skipped(&skipping->report, skipped);
	return true;
}

void
csv_skipping_end(CsvSkipping *skipping, bool complete)
{
	if (!skipping->looks_ahead)
		csv_report_end(&skipping->report, skipping->npassed, complete);
}
