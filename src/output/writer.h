/*
 * writer.h
 *		How the processes of one csv_gpu_unload() write its rows.
 */
#ifndef CSV_WRITER_H
#define CSV_WRITER_H

#include "commands/copy.h"

#include "output/sink.h"

/* what the leader wants */
typedef struct CsvUnloadPlan
{
	const CopyFormatOptions *copy;
	CsvCompression compression;
	int64		most_bytes;		/* of a file; 0: any number */
	bool		bom;			/* files begin with UTF-8's byte-order mark */
	bool		crlf;			/* lines end with a carriage return, too */
	TupleDesc	tupdesc;		/* of the rows */
	List	   *attnums;		/* that are written, with keys; NIL: all */
	List	   *keys;			/* attribute numbers */
	const char *directory;		/* hidden (staging.h); "": no files are written */
	CsvPlace	place;			/* of the directory */
} CsvUnloadPlan;

/*
 * Create a job.  is_shared: in shared memory, where this process and its workers open it by
 * its handle; the current resource owner must live until csv_job_end(), except after an
 * ERROR.
 */
typedef struct CsvJob CsvJob;
extern CsvJob *csv_job_create(const CsvUnloadPlan *plan, bool is_shared);
extern int64 csv_job_handle(const CsvJob *job);
extern CsvJob *csv_job_open(int64 handle);
extern void csv_job_end(CsvJob *job);

typedef struct CsvWriter CsvWriter;

/* begin in the current memory context */
extern CsvWriter *csv_writer_begin(CsvJob *job);

/* append how a file begins */
extern void csv_writer_header(const CsvWriter *writer, StringInfo output);

/* append a row's record, with its line break; the current memory context as below */
extern void csv_writer_format(const CsvWriter *writer, const Datum *values,
							  const bool *isnull, StringInfo output);

/* show COPY TO and its progress in pg_stat_progress_copy */
extern void csv_show_copy_to(Oid relid, int type);
extern void csv_show_written(int64 nbytes, int64 nrecords);

/* write a row; the current memory context must be short-lived */
extern void csv_writer_add(CsvWriter *writer, const Datum *values,
						   const bool *isnull);

/* write a row that is a record already, with its line break */
extern void csv_writer_add_line(CsvWriter *writer, const char *bytes, int n);

/* a file, and the records that one process has written to it */
typedef struct CsvWritten
{
	const char *stream;			/* its name, which is KEY=VALUE/KEY=VALUE with keys */
	int			number;			/* in the stream, from 1 */
	int64		nrecords;
} CsvWritten;

/*
 * Write all that is left, and return the files of this process: CsvWritten, of the memory
 * context of csv_writer_begin().  make_one: without keys, there is a file even without
 * records.
 */
extern List *csv_writer_end(CsvWriter *writer, bool make_one);

/* the name that a file has in the hidden directory, in the current memory context */
extern char *csv_written_name(const char *stream, int number);

#endif							/* CSV_WRITER_H */
