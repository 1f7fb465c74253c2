/*
 * writer.h
 *		One process's share of a csv_gpu_unload(): collects records and writes them.
 */
#ifndef CSV_WRITER_H
#define CSV_WRITER_H

#include "output/job.h"

typedef struct CsvWriter CsvWriter;

/* begin in the current memory context; types: of the query's columns, or NULL for none */
extern CsvWriter *csv_writer_begin(CsvJob *job, const Oid *types);

/* write a row; the current memory context must be short-lived */
extern void csv_writer_add(CsvWriter *writer, const Datum *values,
						   const bool *isnull);

/* write all that is left */
extern void csv_writer_end(CsvWriter *writer);

/* write a file without records; the writer has written nothing */
extern void csv_writer_end_empty(CsvWriter *writer);

#endif							/* CSV_WRITER_H */
