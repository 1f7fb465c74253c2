/*
 * report.c
 *		NOTICEs, summaries and limits for skipped records, and values set to NULL.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "tcop/pquery.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"

#include "scan/report.h"
#include "table/text.h"

#define CSV_QUOTED_VALUE_BYTES	200

#define TOO_LONG_HINT \
	"Longer records need a larger value of the option \"max_record_size\"."

/* of a scan that ended early, the first records tell enough */
#define CSV_FIRST_RECORDS	1000

/* causes that are likely if nearly every record is bad */
#define CAUSE_STRUCTURE \
	"compare the options \"delimiter\", \"quote\", \"escape\" and \"record_boundary\" with the file"
#define CAUSE_ENCODING	"compare the option \"encoding\" with the file"
#define CAUSE_VALUES \
	"compare the columns, their order, types and limits, and the options \"header_rows\", \"decimal_separator\", \"date_format\" and \"timestamp_format\", with the file"

static const struct
{
	const char *name;			/* as the error table shows it */
	int			sqlstate;
	const char *cause;
}			errors[CSV_NUM_ERRORS] = {
	[CSV_ERROR_NONE] = {""},
	[CSV_ERROR_RECORD_TOO_LONG] =
	{"record_too_long", ERRCODE_BAD_COPY_FILE_FORMAT, CAUSE_STRUCTURE},
	[CSV_ERROR_TEXT_AFTER_QUOTE] =
	{"text_after_quote", ERRCODE_BAD_COPY_FILE_FORMAT, CAUSE_STRUCTURE},
	[CSV_ERROR_UNTERMINATED_QUOTE] =
	{"unterminated_quote", ERRCODE_BAD_COPY_FILE_FORMAT, CAUSE_STRUCTURE},
	[CSV_ERROR_COLUMN_COUNT] =
	{"column_count", ERRCODE_BAD_COPY_FILE_FORMAT,
	"compare the options \"delimiter\", \"format\" and \"record_boundary\", and how many columns there are, with the file"},
	[CSV_ERROR_NUL_BYTE] =
	{"nul_byte", ERRCODE_CHARACTER_NOT_IN_REPERTOIRE, CAUSE_ENCODING},
	[CSV_ERROR_INVALID_UTF8] =
	{"invalid_utf8", ERRCODE_CHARACTER_NOT_IN_REPERTOIRE, CAUSE_ENCODING},
	[CSV_ERROR_TOO_MANY_CHARS] =
	{"too_many_chars", ERRCODE_STRING_DATA_RIGHT_TRUNCATION, CAUSE_VALUES},
	[CSV_ERROR_TOO_MANY_BYTES] =
	{"too_many_bytes", ERRCODE_STRING_DATA_RIGHT_TRUNCATION, CAUSE_VALUES},
	[CSV_ERROR_BAD_VALUE] =
	{"bad_value", ERRCODE_INVALID_TEXT_REPRESENTATION, CAUSE_VALUES},
	[CSV_ERROR_SET_NULL] =
	{"set_null", ERRCODE_BAD_COPY_FILE_FORMAT, CAUSE_VALUES},
	[CSV_ERROR_REFUSED] =
	{"refused", ERRCODE_INTEGRITY_CONSTRAINT_VIOLATION,
	"compare the constraints of the load's target with the file"}
};

const char *
csv_error_name(CsvErrorCode code)
{
	return errors[code].name;
}

int
csv_error_sqlstate(CsvErrorCode code, int own)
{
	return code == CSV_ERROR_BAD_VALUE && own != 0 ? own : errors[code].sqlstate;
}

/*
 * An input function's message quotes the value that it refused, however long.  Cut the
 * quotation, and escape characters that cannot be seen.  The quoted value goes from
 * the message's first quote to its last.
 */
static char *
cut_quoted_value(const char *message, bool keep_lines)
{
	const char *open = strchr(message, '"');
	const char *close = strrchr(message, '"');
	int			kept;

	if (open == NULL || close - open - 1 <= CSV_QUOTED_VALUE_BYTES)
		return csv_visible_text(message, strlen(message), keep_lines);
	open++;
	kept = pg_mbcliplen(open, (int) (close - open), CSV_QUOTED_VALUE_BYTES);
	return psprintf("%s...%s", csv_visible_text(message, (open - message) + kept, keep_lines),
					csv_visible_text(close, strlen(close), keep_lines));
}

char *
csv_error_message(const CsvTable *table, CsvErrorCode code, int64 where,
				  uint32 expected, const char *column_name,
				  const CsvValueError *error)
{
	switch (code)
	{
		case CSV_ERROR_RECORD_TOO_LONG:
			return psprintf("record is longer than %lld bytes",
							(long long) table->reader.max_record_bytes);
		case CSV_ERROR_TEXT_AFTER_QUOTE:
			return psprintf("text after closing quote in field %lld",
							(long long) where + 1);
		case CSV_ERROR_UNTERMINATED_QUOTE:
			return pstrdup("unterminated quoted field");
		case CSV_ERROR_COLUMN_COUNT:
			return psprintf("expected %u columns, found %lld", expected,
							(long long) where);
		case CSV_ERROR_NUL_BYTE:
			return psprintf("column \"%s\" holds a zero byte", column_name);
		case CSV_ERROR_INVALID_UTF8:
			return psprintf("column \"%s\" holds %s", column_name,
							error->message);
		case CSV_ERROR_TOO_MANY_CHARS:
			return psprintf("column \"%s\" has %lld characters, limit %lld",
							column_name, (long long) error->count,
							(long long) error->limit);
		case CSV_ERROR_TOO_MANY_BYTES:
			return psprintf("column \"%s\" has %lld bytes, limit %lld",
							column_name, (long long) error->count,
							(long long) error->limit);
		case CSV_ERROR_BAD_VALUE:
			return psprintf("column \"%s\": %s", column_name,
							cut_quoted_value(error->message, false));
		default:
			return pstrdup("");
	}
}

/* may the nth skipped record or value have a NOTICE of its own? */
static bool
is_told(const CsvTable *table, int64 n)
{
	return table->verbosity == CSV_VERBOSITY_VERBOSE ||
		(table->verbosity == CSV_VERBOSITY_DEFAULT && n <= table->notice_limit);
}

bool
csv_report_needs_message(const CsvReport *report)
{
	const CsvTable *table = report->table;

	return table->stop || table->reject_count >= 0 ||
		is_told(table, csv_report_ncases(&report->counts) + 1);
}

/* the record's position, and the input function's detail */
static char *
skipped_detail(const CsvSkipped *skipped)
{
	return psprintf("Line %lld, byte offset %lld.%s%s",
					(long long) skipped->line,
					(long long) skipped->byte_offset,
					skipped->detail != NULL ? " " : "",
					skipped->detail != NULL ?
					cut_quoted_value(skipped->detail, true) : "");
}

void
csv_report_add_counts(CsvReportCounts *counts, const CsvReportCounts *more)
{
	counts->nskipped += more->nskipped;
	for (int code = 0; code < CSV_NUM_ERRORS; code++)
		counts->by_code[code] += more->by_code[code];
}

bool
csv_report_exceeds(const CsvTable *table, int64 nskipped, int64 nrecords)
{
	return table->reject_percent >= 0 && nrecords > 0 &&
		(double) nskipped * 100 > table->reject_percent * (double) nrecords;
}

void
csv_report_skipped(CsvReport *report, const CsvSkipped *skipped)
{
	const CsvTable *table = report->table;
	bool		set_null = skipped->code == CSV_ERROR_SET_NULL;
	const char *message = skipped->error == NULL ? skipped->message :
		psprintf("%s (%s)", skipped->error, skipped->message);

	if (table->stop && skipped->code != CSV_ERROR_REFUSED)
		ereport(ERROR,
				(errcode(csv_error_sqlstate(skipped->code, skipped->sqlerrcode)),
				 errmsg("record %lld of \"%s\": %s",
						(long long) skipped->record, skipped->file,
						skipped->message),
				 errdetail_internal("%s", skipped_detail(skipped)),
				 skipped->code == CSV_ERROR_RECORD_TOO_LONG ? errhint(TOO_LONG_HINT) : 0));

	report->counts.nskipped += !set_null;
	report->counts.by_code[skipped->code]++;
	if (!set_null && table->reject_count >= 0 &&
		report->counts.nskipped > table->reject_count)
		ereport(ERROR,
				(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
				 errmsg_plural("skipped more than %lld record of \"%s\"",
							   "skipped more than %lld records of \"%s\"",
							   (unsigned long) table->reject_count,
							   (long long) table->reject_count, skipped->file),
				 errdetail("Record %lld: %s. %s",
						   (long long) skipped->record, message,
						   skipped_detail(skipped))));

	if (is_told(table, csv_report_ncases(&report->counts)))
		ereport(NOTICE,
				(errmsg("%s record %lld of \"%s\": %s",
						set_null ? "set to NULL in" : "skipped",
						(long long) skipped->record, skipped->file,
						message),
				 errdetail_internal("%s", skipped_detail(skipped))));
}

/* skipped records first, then values set to NULL */
static char *
summary(const CsvReportCounts *counts, const char *file)
{
	int64		nnulls = counts->by_code[CSV_ERROR_SET_NULL];
	int64		nskipped = counts->nskipped;
	const char *values = ngettext("value", "values", (unsigned long) nnulls);

	if (nskipped == 0)
		return psprintf("set %lld %s of \"%s\" to NULL", (long long) nnulls, values, file);
	return psprintf("skipped %lld %s of \"%s\"%s", (long long) nskipped,
					ngettext("record", "records", (unsigned long) nskipped), file,
					nnulls == 0 ? "" :
					psprintf(", set %lld %s to NULL", (long long) nnulls, values));
}

static const char *
name_of_source(const CsvTable *table)
{
	return table->filename != NULL ? table->filename : table->program;
}

/* has at least every other record bytes that are invalid in the encoding? */
static bool
is_other_encoding(const CsvReportCounts *counts, int64 nrecords)
{
	return nrecords > 0 && counts->by_code[CSV_ERROR_INVALID_UTF8] * 2 >= nrecords;
}

static bool
nearly_all_are_bad(const CsvReportCounts *counts, int64 nrecords)
{
	return nrecords > 0 && counts->nskipped * 10 >= nrecords * 9;
}

/* the NOTICE or LOG; nrecords: of a scan that tells what is usual, otherwise 0 */
static void
sum_up(int elevel, const CsvReportCounts *counts, const CsvTable *table,
	   int64 nrecords)
{
	CsvReportCounts left = *counts;
	CsvErrorCode most_frequent = CSV_ERROR_NONE;
	StringInfoData detail;
	char	   *source =
		DatumGetCString(DirectFunctionCall1(regclassout,
											ObjectIdGetDatum(table->relid)));
	/* csv_gpu_errors() does not have rows that a load's target refuses */
	char	   *hint = counts->by_code[CSV_ERROR_REFUSED] > 0 ?
		"See the table of rejects." :
		psprintf("See csv_gpu_errors(%s).", quote_literal_cstr(source));

	initStringInfo(&detail);
	/* the most frequent first */
	for (;;)
	{
		int			most = CSV_ERROR_NONE;

		for (int code = 1; code < CSV_NUM_ERRORS; code++)
			if (left.by_code[code] > left.by_code[most])
				most = code;
		if (left.by_code[most] == 0)
			break;
		if (detail.len == 0)
			most_frequent = (CsvErrorCode) most;
		appendStringInfo(&detail, "%s%s %lld", detail.len > 0 ? ", " : "",
						 csv_error_name((CsvErrorCode) most),
						 (long long) left.by_code[most]);
		left.by_code[most] = 0;
	}
	if (counts->by_code[CSV_ERROR_RECORD_TOO_LONG] > 0)
		hint = psprintf("%s %s", hint, TOO_LONG_HINT);
	if (nearly_all_are_bad(counts, nrecords))
		hint = psprintf("%s %s record was good: %s.", hint,
						counts->nskipped == nrecords ? "No" : "Hardly any",
						errors[most_frequent].cause);
	else if (is_other_encoding(counts, nrecords))
		hint = psprintf("%s Many records have invalid bytes: %s.", hint,
						CAUSE_ENCODING);
	ereport(elevel,
			(errmsg_internal("%s", summary(counts, name_of_source(table))),
			 errdetail("%s.", detail.data),
			 errhint("%s", hint)));
}

/*
 * Is the query for a cursor of SQL?  postgres_fdw reads through such cursors.  A
 * cursor of SPI has a name that cannot be typed.
 */
static bool
is_for_cursor(void)
{
	return ActivePortal != NULL && ActivePortal->name[0] != '\0' &&
		ActivePortal->name[0] != '<';
}

void
csv_report_begin(CsvReport *report, const CsvTable *table)
{
	memset(report, 0, sizeof(*report));
	report->table = table;
	report->logs = !IsParallelWorker() &&
		(MyBackendType == B_BG_WORKER || is_for_cursor() ||
		 strncmp(application_name, "postgres_fdw", 12) == 0);
}

void
csv_report_log(const CsvReport *report)
{
	if (report->logs && csv_report_ncases(&report->counts) > 0 &&
		report->table->verbosity != CSV_VERBOSITY_SILENT)
		sum_up(LOG_SERVER_ONLY, &report->counts, report->table, 0);
}

void
csv_report_end(CsvReport *report, int64 nrecords, bool complete)
{
	const CsvTable *table = report->table;

	if (complete &&
		csv_report_exceeds(table, report->counts.nskipped, nrecords))
		ereport(ERROR,
				(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
				 errmsg("skipped %lld of %lld records of \"%s\", more than %g%%",
						(long long) report->counts.nskipped, (long long) nrecords,
						name_of_source(table), table->reject_percent)));

	/* also if each case has been told, since a hint may help */
	nrecords = complete || nrecords >= CSV_FIRST_RECORDS ? nrecords : 0;
	if ((!is_told(table, csv_report_ncases(&report->counts)) ||
		 nearly_all_are_bad(&report->counts, nrecords) ||
		 is_other_encoding(&report->counts, nrecords)) &&
		!report->summed_up && table->verbosity == CSV_VERBOSITY_DEFAULT)
	{
		report->summed_up = true;
		sum_up(NOTICE, &report->counts, table, nrecords);
	}
}
