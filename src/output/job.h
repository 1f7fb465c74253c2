/*
 * job.h
 *		What the processes of one csv_gpu_unload() share.
 *
 * The leader makes a job in dynamic shared memory, and each process of its query has a
 * writer (writer.h).  A writer collects the records of a stream and appends them to
 * the stream's current file: with keys, all processes share a stream for each
 * combination of their values; otherwise each process has its own.
 */
#ifndef CSV_JOB_H
#define CSV_JOB_H

#include "lib/dshash.h"
#include "port/atomics.h"
#include "storage/spin.h"

#include "output/sink.h"

/* identifies a stream: SHA-256 of the values of its keys */
#define CSV_STREAM_ID_BYTES	32

typedef struct CsvStream
{
	uint8		id[CSV_STREAM_ID_BYTES];
	uint32		number;
	int			nfiles;
	dsa_pointer directory;		/* KEY=VALUE/KEY=VALUE; invalid without keys */
	dsa_pointer file;			/* the current CsvUnloadFile */
} CsvStream;

typedef struct CsvUnloadFile
{
	dsa_pointer next;			/* in the list of the job */
	dsa_pointer directory;		/* as in its stream */
	uint32		stream;			/* its stream's number */
	uint32		name;			/* the number in its name until it gets another */
	int			number;			/* among the files of its stream, from 1 */
	int64		nrecords;
	int64		nbytes;
} CsvUnloadFile;

/* at the start of the segment; the area of dsa_pointers follows */
typedef struct CsvJobShared
{
	uint64		magic;
	int			leader;			/* its pid */
	Oid			role;

	CsvOutputFormat format;		/* each process sets the pointers */
	CsvCompression compression;
	int64		most_bytes;		/* of a file; 0: any number */
	int			natts;			/* columns of the query */
	int			nkeys;
	bool		is_row;			/* rows come as records */
	int			nthreads;		/* that may compress, in each process */
	dsa_pointer keys;			/* of uint16: for each column, which key it is, or 0 */
	dsa_pointer key_names;		/* NAME=, each with a zero byte */
	dsa_pointer null;
	dsa_pointer directory;		/* hidden (staging.h) */
	dsa_pointer header;			/* with its line break */
	size_t		header_length;

	dshash_table_handle streams;
	pg_atomic_uint32 nstreams;	/* numbers that were given */
	pg_atomic_uint32 nfiles;
	pg_atomic_uint64 nrecords;	/* written */
	pg_atomic_uint64 nbytes;
	slock_t		lock;			/* of files */
	dsa_pointer files;			/* a list */
} CsvJobShared;

/* one process's view of it */
typedef struct CsvJob
{
	dsm_segment *segment;
	CsvJobShared *shared;
	dsa_area   *area;
	dshash_table *streams;
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
	const char *suffix;			/* of files by key */
	bool		is_row;
} CsvUnloadPlan;

/* a file that was written, for the leader */
typedef struct CsvWritten
{
	const char *directory;		/* NULL without keys */
	uint32		stream;
	int			number;
	bool		is_alone;		/* in its stream */
	uint32		name;			/* the number in its present name */
	int64		nrecords;
	int64		nbytes;
} CsvWritten;

/*
 * Create a job, which is then this process's current job.  The current memory context
 * and resource owner must live until csv_job_end().
 */
extern CsvJob *csv_job_create(const CsvUnloadPlan *plan);

/* for csv_job_attach() in this process and in its workers */
extern int64 csv_job_handle(const CsvJob *job);

/*
 * Returns the current job if it has this handle.  A worker attaches to the job, if it
 * is a job of its leader.  ERROR otherwise.
 */
extern CsvJob *csv_job_attach(int64 handle);

/* ERROR: the caller of the function was not csv_gpu_unload() */
extern void csv_job_refuse(void) __attribute__((noreturn));

/* the path of a file until it gets its name, in the current memory context */
extern char *csv_job_path(const CsvJob *job, const CsvUnloadFile *file);

/* no file has been written */
extern bool csv_job_is_empty(const CsvJob *job);

/* all files, by stream and number; with keys, by directory and number */
extern CsvWritten *csv_job_files(CsvJob *job, int *nfiles);

/* releases the memory; `before` is the current job from now on, or none if NULL */
extern void csv_job_end(CsvJob *job, CsvJob *before);

/* NULL: none */
extern CsvJob *csv_job_current(void);

/* after an ERROR: `before` is the current job */
extern void csv_job_forget(CsvJob *before);

#endif							/* CSV_JOB_H */
