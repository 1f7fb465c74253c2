/*
 * reading.h
 *		Batches that an engine makes of a table's files.
 *
 * Source, reader and engine of a scan.  Which engine it is, that a GPU takes over
 * when it has woken up, and that the CPU does where one fails, is nobody else's
 * business.
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
	CSV_READ_END,				/* of the file */
	CSV_READ_AGAIN				/* groups were lost with a device: all files must
								 * be read again, from the first one on */
} CsvReadResult;

/* times and amounts, of all files */
typedef struct CsvReadStatistics
{
	int64		chunks;
	int64		bytes;			/* of the files, up to the end of the batch; anew
								 * after a rewind */
	double		read_seconds;
	double		copy_in_seconds;
	double		parse_seconds;
	double		copy_out_seconds;
	int64		threads;		/* most that have parsed a file at once; 0: none but
								 * the backend's own */
} CsvReadStatistics;

/*
 * In the current memory context; what it holds beside goes with that at the
 * latest.  Table and layout must outlive it.  Opens nothing.
 */
extern CsvReading *csv_reading_create(CsvFileLayout *layout);

/*
 * Read the files together with other processes, each of which gets some pieces
 * of them, with the CPU engine; alone again with NULL.  Not in mid-scan.
 */
typedef struct CsvPieceCallbacks
{
	/* a piece, by its number, is read, and nobody looks at its batches any more */
	void		(*passed) (void *arg, uint64 number);

	/*
	 * The piece at hand cannot be read, for this ERROR, which is due when all
	 * records before are passed.  This process reads no further.
	 */
	void		(*failed) (void *arg, const ErrorData *error);
	void	   *arg;
} CsvPieceCallbacks;

extern void csv_reading_share(CsvReading *reading, CsvSharing *sharing,
							  const CsvPieceCallbacks *callbacks);

/*
 * The reading calls this function when a file changed while it was read, after the
 * file's last batch, or when a file is gone.  Where processes share the files, only one
 * of them makes the call, before it passes the file's last piece.  file_number counts
 * from 1, as csv_reading_file_number() does.
 */
typedef void (*CsvFileChangedFn) (void *arg, int file_number,
								  const char *filename, CsvFileChange change);

extern void csv_reading_on_change(CsvReading *reading,
								  CsvFileChangedFn changed, void *arg);

/* hand out no more pieces; the one at hand is passed */
extern void csv_reading_stop(CsvReading *reading);
extern CsvSource *csv_reading_source(const CsvReading *reading);

/*
 * Open the engine; else the first csv_reading_begin() does.  ERROR where it is
 * 'cuda' and there is no usable GPU.
 */
extern void csv_reading_open_engine(CsvReading *reading);

/*
 * Open the next file, or one of which there is a piece; false when there are no
 * more.  Its number counts from 1, among all files, also those left out.
 */
extern bool csv_reading_next_file(CsvReading *reading);
extern int	csv_reading_file_number(const CsvReading *reading);

/* before the first: other files than before are left out */
extern void csv_reading_choose_files(CsvReading *reading);

/* as csv_source_name(), csv_source_file() and csv_source_identity() */
extern const char *csv_reading_filename(const CsvReading *reading);
extern int	csv_reading_file(const CsvReading *reading);
extern bool csv_reading_identity(const CsvReading *reading,
								 CsvFileIdentity *identity);

/*
 * Either pass over the open file, since somebody has its columns: so many bytes.
 * Or begin to read it, which lays out the columns; false as CSV_READ_AGAIN.
 */
extern void csv_reading_pass(CsvReading *reading, int64 nbytes);
extern bool csv_reading_begin(CsvReading *reading);
extern const CsvDialect *csv_reading_dialect(const CsvReading *reading);

/*
 * The next batch of the file; it lives until the next call.  ERROR where reading
 * fails.
 */
extern CsvReadResult csv_reading_next(CsvReading *reading, CsvBatch *batch);

/*
 * Have the engine evaluate a query over the batches to come, in the layout at
 * hand, if it can.  csv_reading_asks(): is it worth asking now?  After a change
 * of engine or file the answer is yes again.
 */
extern bool csv_reading_asks(const CsvReading *reading);
extern void csv_reading_ask(CsvReading *reading, const CsvRequest *request);

/*
 * Have threads call the hook for batches of the open file, where the engine has
 * some that parse it.
 */
extern void csv_reading_set_hook(CsvReading *reading, const CsvBatchHook *hook);

/* do other processes read a part of it?  Then this one has one thread. */
extern bool csv_reading_is_shared(const CsvReading *reading);

/* of malloc()'s, for what threads have a part in */
extern const CsvMemory csv_thread_memory;

/* stop threads that are ahead */
extern void csv_reading_leave(CsvReading *reading);

/* may groups stay with the engine, seen from how it can fail? */
typedef enum CsvHolding
{
	CSV_HOLDING_NEVER,			/* a program's output, or a FIFO, cannot be read
								 * again where the CPU takes over */
	CSV_HOLDING_ORDERED,		/* cannot be read again, but need not be as long
								 * as order does not count */
	CSV_HOLDING_ALWAYS
} CsvHolding;

extern CsvHolding csv_reading_holding(const CsvReading *reading);

/* does the engine hold groups of batches that are past? */
extern bool csv_reading_holds(const CsvReading *reading);

/*
 * All is read: the first of the groups that it holds.  False where the device has
 * failed meanwhile, as CSV_READ_AGAIN.
 */
extern bool csv_reading_first_held(CsvReading *reading,
								   CsvPartialGroups *groups);

/* those from number `first` on; ERROR where the device fails */
extern void csv_reading_held(CsvReading *reading, uint32_t first,
							 CsvPartialGroups *groups);
extern void csv_reading_drop_held(CsvReading *reading);

/* from the first file on again; `keeps`: no engine may be needed */
extern void csv_reading_rewind(CsvReading *reading, bool keeps);

/*
 * Nothing more will be read, unless there is a rewind; expects_rewind: there
 * will be one, so that the engine is better kept.
 */
extern void csv_reading_finish(CsvReading *reading, bool expects_rewind);

/* close the source: ERROR where a program has failed */
extern void csv_reading_end(CsvReading *reading);

/*
 * About how many bytes the source has, and whether that is certain; -1 where
 * nobody knows.
 */
extern int64 csv_reading_size(const CsvReading *reading, bool *is_exact);
extern void csv_reading_statistics(const CsvReading *reading,
								   CsvReadStatistics *statistics);

/* NULL as long as none was needed */
extern const char *csv_reading_engine(const CsvReading *reading);

#endif							/* CSV_READING_H */
