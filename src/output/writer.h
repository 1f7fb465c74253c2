/*
 * writer.h
 *		One process's share of a csv_gpu_unload(): collects records and writes them.
 */
#ifndef CSV_WRITER_H
#define CSV_WRITER_H

#include "output/format.h"
#include "output/job.h"

/* how a process writes rows as records */
typedef struct CsvRowForm
{
	CsvOutputFormat format;
	CsvFormatted *columns;		/* of the files */
	int			ncolumns;
	CsvFormatted *keys;
	int			nkeys;
} CsvRowForm;

/* begin in the current memory context; types: of the query's columns, or NULL for none */
extern void csv_row_form_begin(CsvRowForm *form, const CsvJob *job, const Oid *types);

/* a file, and the records that one process has written to it */
typedef struct CsvWritten
{
	const char *stream;			/* its name */
	int			number;			/* in the stream, from 1 */
	int64		nrecords;
} CsvWritten;

typedef struct CsvWriter CsvWriter;

/* begin in the current memory context; types: of the query's columns, or NULL for none */
extern CsvWriter *csv_writer_begin(const CsvJob *job, const Oid *types);

/* write a row; the current memory context must be short-lived */
extern void csv_writer_add(CsvWriter *writer, const Datum *values,
						   const bool *isnull);

/* write a row that is a record already, with its line break */
extern void csv_writer_add_line(CsvWriter *writer, const char *bytes, size_t n);

/*
 * Write all that is left, and add the files of this process to the list, as bytes.
 * make_one: without keys, there is a file even without records.
 */
extern void csv_writer_end(CsvWriter *writer, bool make_one, CsvOutputBytes *files);

/*
 * Get the next file of a list whose bytes begin at *at; false at `end`.  The name is in
 * the list.
 */
extern bool csv_written_next(const char **at, const char *end, CsvWritten *file);

#endif							/* CSV_WRITER_H */
