/*
 * report.h
 *		Reports skipped records, and values that are NULL by on_error 'set_null':
 *		NOTICEs, the summary, the reject limit, and the ERROR under on_error 'stop'.
 */
#ifndef CSV_REPORT_H
#define CSV_REPORT_H

#include "scan/value.h"
#include "table/source.h"

/* a skipped record, in full; with CSV_ERROR_SET_NULL, a value */
typedef struct CsvSkipped
{
	const char *file;			/* or the program */
	int64		record;			/* from 1, after the header */
	int64		line;			/* from 1 */
	int64		byte_offset;
	int			field;			/* 0-based, of the file; -1: none in particular */
	const char *column_name;	/* NULL: none */
	CsvErrorCode code;
	const char *error;			/* its name; NULL: csv_error_name() */
	int			sqlerrcode;
	const char *message;		/* text behind the file name */
	const char *detail;			/* of the input function; NULL: none */
	const CsvValueError *refused;	/* NULL: no value, or by another process */
	const uint8_t *raw;			/* its bytes, in the file's encoding */
	uint64_t	raw_length;
} CsvSkipped;

/* counts of one scan */
typedef struct CsvReportCounts
{
	int64		nskipped;
	int64		by_code[CSV_NUM_ERRORS];
} CsvReportCounts;

/* skipped records, and values that are NULL instead: each may have a NOTICE */
static inline int64
csv_report_ncases(const CsvReportCounts *counts)
{
	return counts->nskipped + counts->by_code[CSV_ERROR_SET_NULL];
}

typedef struct CsvReport
{
	const CsvTable *table;
	CsvReportCounts counts;
	bool		summed_up;
	bool		logs;			/* see csv_report_begin() */
} CsvReport;

/*
 * Begin with nothing reported.  NOTICEs do not get through postgres_fdw, and a
 * background worker has no client.  If the scan seems to be for one of these, its end
 * writes a line to the server's log.
 */
extern void csv_report_begin(CsvReport *report, const CsvTable *table);

/* add more counts; none of these cases is an ERROR */
extern void csv_report_add_counts(CsvReportCounts *counts,
								  const CsvReportCounts *more);

/* are nskipped of nrecords beyond the reject limit's percentage? */
extern bool csv_report_exceeds(const CsvTable *table, int64 nskipped,
							   int64 nrecords);

/* column_count and so on, as the error table shows it */
extern const char *csv_error_name(CsvErrorCode code);

/* SQLSTATE of an error; own is the input function's, for bad_value */
extern int	csv_error_sqlstate(CsvErrorCode code, int own);

/*
 * The message of an error, in the current memory context.  where: for column_count the
 * number of fields (`expected` is the right number), for text_after_quote the field
 * (0-based).  Only errors of values need the column's name and error.
 */
extern char *csv_error_message(const CsvTable *table, CsvErrorCode code,
							   int64 where, uint32 expected,
							   const char *column_name,
							   const CsvValueError *error);

/* will the next message be seen?  Otherwise it need not be made. */
extern bool csv_report_needs_message(const CsvReport *report);

/* report a skipped record, or value; ERROR under 'stop' or past the limit */
extern void csv_report_skipped(CsvReport *report, const CsvSkipped *skipped);

/* call when no more records come, in the process that the scan is for */
extern void csv_report_log(const CsvReport *report);

/*
 * End the scan after nrecords records in all: send the summary, and check a reject
 * limit that is a percentage (if the scan was complete).
 */
extern void csv_report_end(CsvReport *report, int64 nrecords, bool complete);

/* ---- errors.c: skipped records as rows of csv_gpu_errors() ---- */

/* filename, record, line, byte_offset, ... as the function's columns */
#define CSV_ERROR_COLUMNS	9

/* the row of a skipped record, in the current memory context */
extern void csv_error_row(const CsvTable *table, const CsvSkipped *skipped,
						  Datum *values, bool *nulls);

#endif							/* CSV_REPORT_H */
