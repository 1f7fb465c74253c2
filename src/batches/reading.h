/*
 * reading.h
 *		Batches that an engine makes of a table's files.
 *
 * A CsvReading is the source, reader and engine of a scan.  Its callers need not know
 * which engine reads, that a GPU takes over when it is awake, or that the CPU takes
 * over when a GPU fails.
 */
#ifndef CSV_READING_H
#define CSV_READING_H

#include "query/query.h"

#include "batches/layout.h"
#include "batches/resident.h"
#include "batches/sharing.h"

typedef struct CsvReading CsvReading;

typedef enum CsvReadResult
{
	CSV_READ_BATCH,
	CSV_READ_END,				/* end of the file */
	CSV_READ_AGAIN				/* groups were lost with a device: all files must be
								 * read again, from the first */
} CsvReadResult;

/* times and amounts, of all files */
typedef struct CsvReadStatistics
{
	int64		chunks;
	int64		bytes;			/* read from files so far; 0 again after a rewind */
	double		read_seconds;
	double		copy_in_seconds;
	double		parse_seconds;
	double		copy_out_seconds;
	int64		threads;		/* most for one file; 0: only the backend's own */
} CsvReadStatistics;

/*
 * Allocated in the current memory context.  The deletion of the context also releases
 * everything else.  Table and layout must outlive it.  Opens nothing.
 */
extern CsvReading *csv_reading_create(CsvFileLayout *layout);

/*
 * Reads the files together with other processes.  Each process gets some pieces of the
 * files, and reads them with one thread of the CPU engine, or with a GPU.  If sharing
 * is NULL, reads alone again.  Not allowed during a scan.
 */
typedef struct CsvPieceCallbacks
{
	/* the piece with this number was read, and its batches are no longer used */
	void		(*passed) (void *arg, uint64 number);

	/*
	 * The current piece cannot be read: this ERROR must be raised when all records
	 * before it are passed.  This process reads no further.
	 */
	void		(*failed) (void *arg, const ErrorData *error);
	void	   *arg;
} CsvPieceCallbacks;

extern void csv_reading_share(CsvReading *reading, CsvSharing *sharing,
							  const CsvPieceCallbacks *callbacks);

/*
 * The reading calls this function when a file changed while it was read, after the
 * file's last batch, or when a file is gone.  If processes share the files, only one
 * of them makes the call, before it passes the file's last piece.  file_number counts
 * from 1, as csv_reading_file_number() does.
 */
typedef void (*CsvFileChangedFn) (void *arg, int file_number,
								  const char *filename, CsvFileChange change);

extern void csv_reading_on_change(CsvReading *reading,
								  CsvFileChangedFn changed, void *arg);

/* hands out no more pieces; the current piece is passed */
extern void csv_reading_stop(CsvReading *reading);
extern CsvSource *csv_reading_source(const CsvReading *reading);

/*
 * Opens the engine; otherwise the first csv_reading_begin() does.  ERROR if the engine
 * is 'cuda' and there is no usable GPU.
 */
extern void csv_reading_open_engine(CsvReading *reading);

/*
 * Opens the next file or, if files are shared, the file of the next piece.  Returns
 * false if there are no more.  A file's number counts from 1, among all files,
 * including files that are left out.
 */
extern bool csv_reading_next_file(CsvReading *reading);
extern int	csv_reading_file_number(const CsvReading *reading);

/* before the first file: the set of files that are left out has changed */
extern void csv_reading_choose_files(CsvReading *reading);

/* like csv_source_name(), csv_source_file() and csv_source_identity() */
extern const char *csv_reading_filename(const CsvReading *reading);
extern int	csv_reading_file(const CsvReading *reading);
extern bool csv_reading_identity(const CsvReading *reading,
								 CsvFileIdentity *identity);

/*
 * csv_reading_pass(): skips the open file of nbytes bytes, because its columns are
 * kept. csv_reading_begin(): begins to read it, which lays out the columns.  Returns
 * false like CSV_READ_AGAIN.
 */
extern void csv_reading_pass(CsvReading *reading, int64 nbytes);
extern bool csv_reading_begin(CsvReading *reading);
extern const CsvDialect *csv_reading_dialect(const CsvReading *reading);

/*
 * The next batch of the file, which lives until the next call.  ERROR if reading
 * fails.
 */
extern CsvReadResult csv_reading_next(CsvReading *reading, CsvBatch *batch);

/*
 * csv_reading_ask(): the engine must evaluate a query over the next batches, in the
 * current layout, if it can.  csv_reading_asks(): is it worth asking now?  True again
 * after a change of engine or file.
 */
extern bool csv_reading_asks(const CsvReading *reading);
extern void csv_reading_ask(CsvReading *reading, const CsvRequest *request);

/*
 * Makes threads call the hook for batches of the open file, if the engine has threads
 * that parse the file.
 */
extern void csv_reading_set_hook(CsvReading *reading, const CsvBatchHook *hook);

/* do other processes read parts of the file?  Then this process has one thread. */
extern bool csv_reading_is_shared(const CsvReading *reading);

/* uses malloc(), for memory that threads use, too */
extern const CsvMemory csv_thread_memory;

/* stops threads that read ahead */
extern void csv_reading_leave(CsvReading *reading);

/* may groups stay with the engine, given how it can fail? */
typedef enum CsvHolding
{
	CSV_HOLDING_NEVER,			/* the CPU could not reread a program or FIFO */
	CSV_HOLDING_ORDERED,		/* no rereading: only if order does not matter */
	CSV_HOLDING_ALWAYS
} CsvHolding;

extern CsvHolding csv_reading_holding(const CsvReading *reading);

/* does the engine hold groups of earlier batches? */
extern bool csv_reading_holds(const CsvReading *reading);

/*
 * When everything is read: returns the first groups that the engine holds.  Returns
 * false like CSV_READ_AGAIN if the device has failed meanwhile.
 */
extern bool csv_reading_first_held(CsvReading *reading,
								   CsvPartialGroups *groups);

/* the groups from number `first` on; ERROR if the device fails */
extern void csv_reading_held(CsvReading *reading, uint32_t first,
							 CsvPartialGroups *groups);
extern void csv_reading_drop_held(CsvReading *reading);

/* starts again with the first file; `keeps`: an engine may not be needed */
extern void csv_reading_rewind(CsvReading *reading, bool keeps);

/*
 * Nothing more will be read, unless there is a rewind.  expects_rewind: there will be
 * a rewind, so the engine stays open.
 */
extern void csv_reading_finish(CsvReading *reading, bool expects_rewind);

/* closes the source: ERROR if a program has failed */
extern void csv_reading_end(CsvReading *reading);

/* about how many bytes the source has, and whether that is exact; -1 if unknown */
extern int64 csv_reading_size(const CsvReading *reading, bool *is_exact);
extern void csv_reading_statistics(const CsvReading *reading,
								   CsvReadStatistics *statistics);

/* NULL until an engine was needed */
extern const char *csv_reading_engine(const CsvReading *reading);

#endif							/* CSV_READING_H */
