/*
 * job.h
 *		What the processes of one csv_gpu_unload() share.
 *
 * The leader makes a job in dynamic shared memory, and each process of its query has a
 * writer (writer.h).  A writer collects the records of a stream and appends them to
 * the stream's current file.  With keys, a stream is a combination of their values,
 * whose files all processes share.  Otherwise each process has one stream.
 */
#ifndef CSV_JOB_H
#define CSV_JOB_H

#include "access/htup_details.h"
#include "port/atomics.h"
#include "storage/lwlock.h"

#include "output/sink.h"

#define CSV_JOB_LOCKS		128

/* in dynamic shared memory */
typedef struct CsvJobShared
{
	int			leader;			/* its pid */
	CsvOutputFormat format;		/* each process sets the pointers */
	CsvCompression compression;
	int64		most_bytes;		/* of a file; 0: any number */
	dev_t		dev;			/* of the hidden directory ... */
	ino_t		ino;
	int			natts;			/* columns of the query */
	int			nkeys;
	uint16		keys[MaxTupleAttributeNumber];	/* of each column; 0: not a key */
	pg_atomic_uint64 nrecords;	/* written */
	pg_atomic_uint64 nbytes;
	LWLock		locks[CSV_JOB_LOCKS];	/* for appending, by the stream's name */
	char		texts[FLEXIBLE_ARRAY_MEMBER];	/* as in CsvJob; each with a zero byte */
} CsvJobShared;

/* one process's view of it */
typedef struct CsvJob
{
	CsvJobShared *shared;
	const char *null;
	const char *directory;		/* hidden (staging.h) */
	const char *header;			/* with its line break; may be empty */
	const char *key_names;		/* NAME=, each with a zero byte */
} CsvJob;

/* what the leader wants */
typedef struct CsvUnloadPlan
{
	const CopyFormatOptions *copy;
	CsvCompression compression;
	int64		most_bytes;
	TupleDesc	tupdesc;		/* of the query */
	List	   *keys;			/* attribute numbers - 1 */
	const char *directory;
	dev_t		dev;			/* of the directory ... */
	ino_t		ino;
} CsvUnloadPlan;

/*
 * Create a job, and return its handle, which csv_job_open() takes in this process and in
 * its workers.  The current resource owner must live until csv_job_end(), except after
 * an ERROR.
 */
extern int64 csv_job_create(const CsvUnloadPlan *plan);
extern void csv_job_end(int64 handle);

/* in the current memory context */
extern CsvJob *csv_job_open(int64 handle);

/*
 * The name that a file has in the hidden directory, in the current memory context.
 * stream: its name, which is KEY=VALUE/KEY=VALUE with keys.  number: in the stream, from 1.
 */
extern char *csv_job_file(const CsvJob *job, const char *stream, int number);

#endif							/* CSV_JOB_H */
