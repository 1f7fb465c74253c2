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

typedef struct CsvWriter CsvWriter;

/* begin in the current memory context; types: of the query's columns, or NULL for none */
extern CsvWriter *csv_writer_begin(CsvJob *job, const Oid *types);

/* write a row; the current memory context must be short-lived */
extern void csv_writer_add(CsvWriter *writer, const Datum *values,
						   const bool *isnull);

/* write a row that is a record already, with its line break */
extern void csv_writer_add_line(CsvWriter *writer, const char *bytes, size_t n);

/* write all that is left */
extern void csv_writer_end(CsvWriter *writer);

/* write a file without records; the writer has written nothing */
extern void csv_writer_end_empty(CsvWriter *writer);

#endif							/* CSV_WRITER_H */
