/*
 * producer.h
 *		The batches of a scan, and the producers that make them.
 *
 * For each file, or part of it, one producer makes the batches: resident
 * columns (resident.h), an engine that reads the file (reading.h), or an engine
 * that reads some pieces of it (sharing.h).  The engine is the CPU's or a GPU's.
 */
#ifndef CSV_PRODUCER_H
#define CSV_PRODUCER_H

#include "batches/choose.h"
#include "table/layout.h"
#include "program/program.h"
#include "query/query.h"
#include "table/source.h"

typedef struct CsvBatches CsvBatches;
struct CsvResident;
struct CsvEvaluation;
struct CsvRemote;
struct CsvShare;

/*
 * The query that the engine must evaluate.
 *
 * prepare(): makes the query, in the current memory context.  It is called when the
 * first rows are there, or at the end if there were no rows, and again after a rewind.
 * Like csv_program_query(), it says how much the engine can decide.  If that is
 * CSV_DECIDES_LATER, it is called again with later rows, and returns NULL until more
 * can be decided.
 * prepared(): gets the evaluator, once that is made.
 * spills(): the evaluator's groups are about to go to a file.  Further data of groups
 * must be attached to them (csv_evaluator_attach()).
 */
typedef struct CsvPushdown
{
	const CsvProgram *program;

	/*
	 * Wanted attributes that are not needed for rows that the engine has decided.
	 * There the attributes come out as NULL.
	 */
	const Bitmapset *hidden;
	bool		few_rows;		/* few rows come out, though many are examined */
	double		rows_out;		/* the share that comes out of the engine, as
								 * expected (choose.h) */
	bool		is_literal;		/* all constants are known: prepare needs no rows */
	const CsvQuery *(*prepare) (void *arg, bool has_rows, bool again,
								CsvDecidable *decidable);
	void		(*prepared) (void *arg, struct CsvEvaluation *evaluation,
							 CsvEvaluator *evaluator);
	void		(*spills) (void *arg);
	CsvFileValueFn file_value;	/* of the open file */
	void	   *arg;
} CsvPushdown;

/* makes the batches of the open file */
typedef struct CsvProducer
{
	/*
	 * The next batch, which lives until the next call.  False: there are no more
	 * here, or all files must be read again (is_lost).
	 */
	bool		(*next) (CsvBatches *batches);

	/* the file will be closed, or read from another place; raises no ERROR */
	void		(*leave) (CsvBatches *batches);

	bool		parses;			/* an engine does, and may evaluate */
	bool		keeps;			/* all rows must come, as they are copied */
} CsvProducer;

/* places in files, of CSV_PLACE_BYTES each, that are a sample (sampling.c) */
typedef struct CsvSampling
{
	const int  *nplaces;		/* in each file of the table */
	int			place;			/* the next in the open file */
	bool		is_part;		/* only the beginning of some file was read */
	bool		is_late;		/* not all was read, as it takes too long */
} CsvSampling;

#define CSV_PLACE_BYTES	8192

/* what the receiver of the batches is told; changed may be NULL */
typedef struct CsvBatchesCallbacks
{
	/*
	 * A file changed while it was read, or is gone.  Called after the file's last
	 * batch.  If processes share the files, only one of them makes the call, before it
	 * passes the file's last piece.  file_number counts from 1.
	 */
	void		(*changed) (void *arg, int file_number, const char *filename,
							CsvFileChange change);

	/* shared files: the piece was read, and its batches are no longer used */
	void		(*passed) (void *arg, uint64 number);

	/*
	 * Shared files: the current piece cannot be read.  This ERROR must be raised when
	 * all records before it are passed.  This process reads no further.
	 */
	void		(*failed) (void *arg, const ErrorData *error);
	void	   *arg;
} CsvBatchesCallbacks;

typedef struct CsvFileBatch
{
	/* arrays are in the order of `layout`; read-only */
	CsvBatch	batch;
	const CsvLayout *layout;	/* of the file */
	const CsvDialect *dialect;
	const char *filename;		/* or the program; lives as long as the scan */
	int			file_number;	/* from 1; counts from 1 again after a rewind */
	uint64		opening;		/* changes with each opened file, as columns may */
	const CsvSelection *selection;	/* rows that come out; NULL: all rows */
} CsvFileBatch;

/* times and amounts, of all files */
typedef struct CsvBatchesStatistics
{
	int64		chunks;
	int64		bytes;			/* read from files so far; 0 again after a rewind */
	double		read_seconds;
	double		copy_in_seconds;
	double		parse_seconds;
	double		copy_out_seconds;
	int64		threads;		/* most for one file; 0: only the backend's own */

	/* of the query */
	int64		filtered;		/* rows dropped by the filter, also undecided rows */
	int64		beyond;			/* rows beyond the limit */
	int64		answered;		/* batches that the engine evaluated itself */
	int64		held;			/* answered batches whose groups the engine holds */
} CsvBatchesStatistics;

/* callers read all members, and may set the callbacks and the statistics */
struct CsvBatches
{
	const CsvTable *table;
	CsvFileLayout *layout;		/* of the open file */
	CsvSource  *source;
	CsvFileBatch at;			/* the current batch */
	CsvBatchesCallbacks callbacks;
	CsvBatchesStatistics statistics;
	const char *engine;			/* for EXPLAIN; NULL until an engine was needed */
	bool		all_resident;	/* all batches so far were */

	MemoryContext context;		/* holds everything here */
	MemoryContextCallback callback;
	MemoryContextCallback hook_callback;
	CsvBatchHook hook;			/* function NULL: no hook */
	bool		was_rewound;
	bool		is_sized;		/* the size is known, when the first file is open: */
	int64		nbytes;			/* about the size of all files when the scan began */
	bool		size_is_exact;
	double		rows_out;		/* as in CsvPushdown; without a query all rows */
	struct CsvEvaluation *evaluation;	/* NULL: no query */

	const CsvProducer *producer;
	bool		grows;			/* the open file does (csv_source_grows()) */
	struct CsvResident *resident;	/* NULL: none are used or made */
	struct CsvShare *share;		/* NULL: no other process shares the files */
	CsvSampling *sampling;		/* NULL: none; set before the first batch */
	uint32		nthreads;		/* that may evaluate, with the backend's own */

	/*
	 * If an engine makes them (reading.h): the CPU's reads headers, and everything that
	 * no GPU reads.
	 */
	CsvReader  *reader;			/* NULL: not open */
	void	   *cpu;			/* state of the CPU engine; NULL: not open */
	CsvGpuUse	gpu;
	struct CsvRemote *remote;	/* a GPU makes the batches; NULL: the CPU does */
	bool		is_alone;		/* the engine has one thread, because others share */
	int64		file_bytes;		/* where the next batch of the open file begins */
	bool		holds;			/* the engine holds groups of earlier batches */
	bool		is_lost;		/* groups were lost with the device, or must not be used:
								 * everything is read again */
};

#endif							/* CSV_PRODUCER_H */
