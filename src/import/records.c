/*
 * records.c
 *		The records of a sample, as a dialect has them.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "import/records.h"

static void
count_quoted(CsvSheet *sheet, const CsvScan *scan, const CsvDialect *dialect,
			 const CsvSample *sample)
{
	for (uint32 i = 0; i < csv_scan_nkept(scan) && sheet->options.quote != 0; i++)
	{
		CsvSpan		span;

		if (i % CSV_BYTES_TO_INTERRUPT == 0)
			CHECK_FOR_INTERRUPTS();
		span = csv_scan_field(scan, dialect, sample->bytes, sample->nbytes, i);
		sheet->nquoted += span.length >= 2 &&
			sample->bytes[span.offset] == sheet->options.quote;
	}
}

/* count the blank lines at the beginning, however many; the offset behind them */
static uint64
pass_blank_lines(CsvSheet *sheet, const CsvSample *sample)
{
	CsvDialect	dialect;
	CsvScan		scan;
	uint64		start;

	csv_dialect_compile(&dialect, &sheet->options);
	csv_sample_begin(&scan, 0);
	start = csv_sample_next(&scan, &dialect, sample) ? scan.start : 0;
	for (uint64 i = 0; i < start; i++)
	{
		bool		is_comment = csv_comment_at(&dialect.opt, sample->bytes, i, start);

		while (is_comment && sample->bytes[i] != dialect.break_byte)
			i++;
		sheet->nblank += !is_comment && sample->bytes[i] == dialect.break_byte;
	}
	csv_sample_end(&scan);
	return start;
}

/* nothing but blanks, delimiters and quotes? or Excel's line that tells the delimiter */
static bool
is_blank_record(const CsvSheet *sheet, const CsvScan *scan, const CsvSample *sample)
{
	if (scan->start == 0 && scan->end == 5 &&
		pg_strncasecmp((const char *) sample->bytes, "sep=", 4) == 0)
		return true;
	for (uint64 i = scan->start; i < scan->end; i++)
	{
		uint8_t		byte = sample->bytes[i];

		if (!csv_is_blank(byte) && byte != sheet->options.delimiter &&
			(byte != sheet->options.quote || byte == 0))
			return false;
	}
	return true;
}

void
csv_read_records(CsvSheet *sheet, const CsvSample *sample)
{
	CsvDialectOptions options = sheet->options;
	CsvDialect	dialect;
	CsvScan		scan;
	uint32		nrows = 0;

	options.blank_is_record = true;
	csv_dialect_compile(&dialect, &options);
	sheet->records = palloc(sizeof(CsvSampleRecord) * CSV_SAMPLE_RECORDS);
	csv_sample_begin(&scan, pass_blank_lines(sheet, sample));
	while (sheet->nrecords < CSV_SAMPLE_RECORDS &&
		   csv_sample_next(&scan, &dialect, sample))
	{
		CsvSampleRecord *record = &sheet->records[sheet->nrecords++];

		record->start = scan.start;
		record->nfields = scan.nfields;
		record->bad = scan.bad;
		record->blank = is_blank_record(sheet, &scan, sample);
		record->comment = !record->blank && sample->marker != NULL &&
			strncmp((const char *) sample->bytes + scan.start, sample->marker,
					Min(strlen(sample->marker), sample->nbytes - scan.start)) == 0;
		nrows += !record->blank;
		if (!scan.bad)
			count_quoted(sheet, &scan, &dialect, sample);
	}
	csv_sample_end(&scan);

	/* where there is nothing else, those with delimiters are records */
	for (uint32 i = 0; i < sheet->nrecords && nrows == 0; i++)
		sheet->records[i].blank = sheet->records[i].nfields == 1;
}
