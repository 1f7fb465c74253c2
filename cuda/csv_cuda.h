/*
 * csv_cuda.h
 *		The CUDA engine, as the rest of the project sees it.
 *
 * Plain C.  Neither loading the library nor creating a session touches CUDA.  The
 * first call that needs the device starts the session: a context on one device, a
 * stream, device memory that grows as needed up to a limit, and a pool of pinned host
 * memory.  The session lasts until the end of the process, since a start takes a few
 * tenths of a second, and pinning memory 0.45 s per GiB.
 *
 * Several threads may use engines, but only one thread at a time uses the same engine;
 * calls of parse take turns on the device.  Any thread may open a session, start it,
 * or ask for its state.  The other functions here are for one thread, unless they say
 * otherwise.
 *
 * The layers of this folder.  A layer may include only layers below it:
 *
 *	host call	call.h: an engine (engine.cu), the steps of its parse (input.cu,
 *				windows.cu, layout.cu, output.cu, answer.cu, detour.cu), groups
 *				that it holds (held.cu), and loading the kernels (warm.cu).
 *				resident.cu: columns that stay; file_bytes.cu: files.
 *	query		query_steps.h: the steps of a query on the device, for batches and for
 *				columns that stay
 *	work		work.h: how a host call launches, copies, waits and fails (TRY)
 *	block		structure.cuh, field.cuh, scan.cuh: the work of a block, a warp
 *				or a thread; for kernels only
 *	launch		parse.cuh, query.cuh, group_table.cuh: the kernels' arguments, and
 *				csv_launch_...() beside the kernels (structure.cu, records.cu,
 *				lengths.cu, columns.cu, longs.cu; query.cu; group_table.cu)
 *	session		session.h: context, locks (session.cu), memory (memory.cu); and
 *				devices.cu
 */
#ifndef CSV_CUDA_H
#define CSV_CUDA_H

#include "../src/query/query.h"

#ifdef __cplusplus
extern "C" {
#endif

/* a session on a device, by its ordinal; NULL: no memory */
typedef struct CsvSession CsvSession;

extern CsvSession *csv_cuda_session_create(int device);

typedef struct CsvCudaOptions
{
	uint64_t	memory_limit;	/* bytes of device memory that the session may take
								 * besides its context; 0: half of the memory that was
								 * free when it began */
	uint32_t	hold_from;		/* the groups of a batch are held if they are at least
								 * this many, and there is little room for them at
								 * first; 0: the engine's choice */
} CsvCudaOptions;

extern const CsvEngine csv_cuda_engine;

/*
 * Open an engine, for csv_cuda_engine's functions, and start the session if it is
 * asleep.  The engine's state comes from `memory`, which must be usable in every
 * thread that uses the engine; device and pinned memory come from the session.
 * Returns NULL, with a message in `reason`, if there is no such device, if it is not
 * usable, or if an earlier failure has ended the session for good.
 */
extern void *csv_cuda_open(CsvSession *session,
						   const CsvCudaOptions *options,
						   const CsvMemory *memory,
						   char *reason, size_t reason_size);

/*
 * Start the session in a thread of its own, and load the kernels there, so that
 * csv_cuda_open finds both done.  False if the session has started, is starting or
 * cannot start.  An open in the meantime waits for the thread.
 */
extern bool csv_cuda_start(CsvSession *session);

typedef enum CsvCudaState
{
	CSV_CUDA_ASLEEP,			/* not started, or failed */
	CSV_CUDA_STARTING,
	CSV_CUDA_AWAKE
} CsvCudaState;

extern CsvCudaState csv_cuda_state(CsvSession *session);

/* has the session failed for good in this process?  In any thread. */
extern bool csv_cuda_is_lost(const CsvSession *session);

/*
 * Device memory that the session holds, in bytes: for the output arrays, and for
 * everything else (the input's copy, too).
 */
extern void csv_cuda_memory_held(const CsvSession *session, uint64_t *output,
								 uint64_t *others);

/*
 * Bytes of device memory that the session holds, with files and columns that stay;
 * their limit is in *limit.  Without waiting.
 */
extern uint64_t csv_cuda_memory(CsvSession *session, uint64_t memory_limit,
								uint64_t *limit);

/*
 * Give back memory that the session holds above a limit that was lowered.  Without
 * waiting, in any thread.
 */
extern void csv_cuda_trim(CsvSession *session, uint64_t memory_limit);

/*
 * Host memory that engines read and write, which another process can map: inputs, the
 * memory that batches and their answers point to, and groups that were held.  Each
 * block is a memfd, which cannot change its size.
 */
typedef struct CsvCudaBlock
{
	uint32_t	number;			/* unique in this process */
	int			descriptor;		/* the session's own: duplicate or send it */
	uint8_t    *bytes;
	size_t		nbytes;
} CsvCudaBlock;

/*
 * The block that has these bytes; false: no block has them.  A block lasts as long as
 * its bytes belong to an engine or a reader; a later block has another number.  In any
 * thread.
 */
extern bool csv_cuda_find_block(CsvSession *session, const void *memory,
								size_t nbytes, CsvCudaBlock *found);

/*
 * Memory for readers: large pieces are pinned, in such blocks.  It lasts until the
 * session's end.
 */
extern CsvMemory csv_cuda_pinned(CsvSession *session);

/* ---- bytes of files on the device ---- */

/*
 * Room for nbytes of a file: the byte at an offset is at offset % nbytes.  The caller
 * uses it, and must leave it.  A file that is not in use goes without notice when
 * something else needs its memory: of files and columns, what was not used for longest
 * goes first.  NULL: there is no room.  All of these functions may be called in any
 * thread.
 */
typedef struct CsvCudaFile CsvCudaFile;

extern CsvCudaFile *csv_cuda_file_create(CsvSession *session, uint64_t nbytes,
										 uint64_t memory_limit);

/* false: the file's bytes have gone, or are more than the limit allows for files */
extern bool csv_cuda_file_use(CsvCudaFile *file, uint64_t memory_limit);
extern void csv_cuda_file_leave(CsvCudaFile *file);

/*
 * Read nbytes at an offset of a file in use; begin a file with the first nbytes of
 * another.  False: the device has failed.
 */
extern bool csv_cuda_file_read(const CsvCudaFile *file, uint64_t offset, uint8_t *bytes,
							   size_t nbytes);
extern bool csv_cuda_file_extend(CsvCudaFile *file, const CsvCudaFile *with,
								 size_t nbytes);
extern void csv_cuda_file_free(CsvCudaFile *file);

/*
 * Pinned memory of CSV_CUDA_COPY_BYTES bytes, from which a thread fills files:
 * csv_cuda_copier_copy copies its first nbytes to an offset of a file, where that much
 * room must follow.  False: the device has failed.
 */
#define CSV_CUDA_COPY_BYTES		((size_t) 4 << 20)

typedef struct CsvCudaCopier CsvCudaCopier;

extern CsvCudaCopier *csv_cuda_copier_create(CsvSession *session);
extern uint8_t *csv_cuda_copier_bytes(const CsvCudaCopier *copier);
extern bool csv_cuda_copier_copy(CsvCudaCopier *copier,
								 const CsvCudaFile *file, uint64_t offset,
								 size_t nbytes);
extern void csv_cuda_copier_free(CsvCudaCopier *copier);

/* the file that has the bytes of inputs without bytes of their own; or NULL */
extern void csv_cuda_set_file(void *engine, const CsvCudaFile *file);

/* ---- columns that stay on the device, for queries over them ---- */

/*
 * Columns of nrows rows, filled part by part.  Each column has two parts, its values
 * and its statuses.  Once a query has asked how rows fall into groups by some of the
 * columns, this is kept as well.  All of it goes without notice when something else
 * needs the memory; the columns may then be filled again.
 *
 * For one thread, while other threads use engines.
 */
typedef struct CsvCudaColumns CsvCudaColumns;

#define CSV_CUDA_VALUES(column)		(2 * (column))
#define CSV_CUDA_STATUSES(column)	(2 * (column) + 1)

/* start the session if it is asleep; false with a message in `reason` */
extern bool csv_cuda_wake(CsvSession *session, char *reason,
						  size_t reason_size);

/* NULL: no memory */
extern CsvCudaColumns *csv_cuda_columns_create(CsvSession *session,
											   uint32_t ncolumns,
											   uint32_t nrows);
extern void csv_cuda_columns_free(CsvCudaColumns *columns);

/* device memory that the columns take, in bytes */
extern uint64_t csv_cuda_columns_bytes(const CsvCudaColumns *columns);

/* the number of rows of a part that are there, from the first on */
extern uint32_t csv_cuda_columns_filled(const CsvCudaColumns *columns,
										uint32_t part);

/*
 * Append nrows entries (NULL: zeros) of source_width bytes each to the part.  An entry
 * always takes `width` bytes in the same part.  False if the part does not have
 * first_row rows (any more), if there is no room below the limit of device memory (0:
 * the session's), or, with a message in `reason`, if the device failed.
 */
extern bool csv_cuda_columns_add(CsvCudaColumns *columns, uint32_t part,
								 uint32_t first_row, uint32_t width,
								 const uint8_t *source,
								 uint32_t source_width, uint32_t nrows,
								 uint64_t memory_limit, char *reason,
								 size_t reason_size);

/* a question about the rows */
typedef struct CsvCudaQuestion
{
	const CsvRequest *request;
	const CsvLayout *layout;
	const uint32_t *places;		/* for each column of the layout, its number among the
								 * CsvCudaColumns */
	const uint8_t *seen;		/* per column of the layout: CSV_CUDA_SEEN_... */
	uint64_t	memory_limit;	/* bytes; 0: the session's */
	bool		(*interrupted) (void *arg);
	void	   *interrupted_arg;
} CsvCudaQuestion;

#define CSV_CUDA_SEEN_NOT_OK	1	/* some status is not CSV_VALUE_OK */
#define CSV_CUDA_SEEN_SLOW		2	/* and some value is doubtful or long */

/*
 * Does the query need this part of a column: the values if it reads them, the statuses
 * if they say something?
 */
extern bool csv_cuda_question_needs(const CsvCudaQuestion *question,
									uint32_t column, bool statuses);

/*
 * May a device answer the question at all, over columns that take nbytes?  Ask this before
 * copying parts, so that others do not give up memory in vain.
 */
extern bool csv_cuda_question_fits(const CsvSession *session,
								   const CsvCudaQuestion *question,
								   uint64_t nbytes);

/*
 * Answer the question for *nrows rows from first_row on, or for fewer if memory is
 * short.  The selection's rows count from first_row.  *answer is pinned memory, for
 * csv_cuda_answer_free.  It is NULL with CSV_OK if the question is not for a device,
 * if a part is not there (any more), or if there are too many groups.  Otherwise
 * returns CSV_INTERRUPTED, or CSV_DEVICE_FAILED with a message in `reason`.
 */
extern CsvStatus csv_cuda_columns_answer(CsvCudaColumns *columns,
										 const CsvCudaQuestion *question,
										 uint32_t first_row, uint32_t *nrows,
										 CsvAnswer **answer, char *reason,
										 size_t reason_size);
extern void csv_cuda_answer_free(CsvSession *session, CsvAnswer *answer);

/* ---- devices ---- */

#define CSV_CUDA_NAME_SIZE		128
#define CSV_CUDA_REASON_SIZE	128

typedef struct CsvCudaDevice
{
	int			ordinal;
	char		name[CSV_CUDA_NAME_SIZE];
	int			capability_major;
	int			capability_minor;
	uint64_t	memory_total;	/* bytes */
	int64_t		memory_free;	/* bytes; -1: not known */
	bool		usable;
	char		reason[CSV_CUDA_REASON_SIZE];	/* why it is not usable; otherwise
												 * empty */
} CsvCudaDevice;

/*
 * The first `max` of the visible devices, into `devices`, without creating a context.
 * Returns the number of devices, 0 if there is no device or no driver.
 */
extern int	csv_cuda_list_devices(CsvCudaDevice *devices, int max);

/*
 * To be called first in a process that uses no other device than 0: let CUDA see only
 * this device.  Then a context costs 0.3 s, but 1.2 s if four devices are visible.
 * csv_cuda_list_devices still lists the others, by NVML.
 */
extern void csv_cuda_see_first(void);

#ifdef __cplusplus
}
#endif

#endif							/* CSV_CUDA_H */
