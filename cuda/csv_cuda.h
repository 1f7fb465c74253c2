/*
 * csv_cuda.h
 *		The CUDA engine: what the rest of the project sees of it.
 *
 * Plain C.  Neither loading the library nor creating a session touches CUDA.  The
 * first call that needs the device starts the session: a context on one device, a
 * stream, device memory that grows as needed up to a limit, and a pool of pinned
 * host memory.  It is kept until csv_cuda_shutdown or the end of the process,
 * since starting one takes a few tenths of a second and pinning memory 0.45 s per
 * GiB.
 *
 * Engines may be used in several threads, each by one at a time; their calls of
 * parse then take turns on the device.  Sessions are opened, started and asked for
 * their state in any thread; other functions here are for one, where they do not say
 * otherwise; csv_cuda_shutdown wants to be alone.
 *
 * The layers of this folder, each of which may include those below it only:
 *
 *	host call	call.h: an engine (engine.cu), the steps of its parse (input.cu,
 *				windows.cu, layout.cu, output.cu, answer.cu, detour.cu), groups
 *				that it holds (held.cu), and a first try (warm.cu).
 *				resident.cu: columns that stay; files.cu: files that do.
 *	query		evaluate.h: the steps of a query on the device, for both of them
 *	work		work.h: how a host call launches, copies, waits and fails (TRY)
 *	block		structure.cuh, field.cuh: what a block, a warp or a thread does;
 *				for kernels only
 *	launch		parse.cuh, query.cuh, group_table.cuh: what kernels are given, and
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

/*
 * A session; it must outlive its engines and columns.  NULL: no memory.  Freeing
 * it shuts it down.  Of a process's sessions, those that are started have a device
 * each.  If one is started before devices have been listed, CUDA sees its device only,
 * and there can be no other.
 */
typedef struct CsvSession CsvSession;

extern CsvSession *csv_cuda_session_create(void);
extern void csv_cuda_session_free(CsvSession *session);

typedef struct CsvCudaOptions
{
	int			device;			/* ordinal, as csv_cuda_list_devices counts */
	uint64_t	memory_limit;	/* bytes of device memory that the session may
								 * take beside its context; 0: half of what
								 * was free when the session began */
	uint32_t	hold_from;		/* from so many groups of a batch on they are
								 * held, and there is little room for them at
								 * first; 0: the engine's choice */
} CsvCudaOptions;

extern const CsvEngine csv_cuda_engine;

/*
 * Open an engine, for csv_cuda_engine's functions; starts the session where it
 * is asleep.  Its state comes from `memory`, which must be usable in any thread
 * that the engine is used in, device and pinned memory from the session.  Returns
 * NULL, with a message in `reason`, where there is no usable device, where the
 * session has another one, or where an earlier failure has ended it for good.
 *
 * Input buffers may be freed after close, through csv_cuda_engine.free_input
 * with the closed engine, only where `memory` is still there.
 */
extern void *csv_cuda_open(CsvSession *session,
						   const CsvCudaOptions *options,
						   const CsvMemory *memory,
						   char *reason, size_t reason_size);

/*
 * Start the session in a thread of its own, and load the kernels there, which
 * csv_cuda_open then finds done.  False where it is under way or there already,
 * or cannot be.  An open that comes meanwhile waits for it, and so must the
 * process before it exits (csv_cuda_settle).
 */
extern bool csv_cuda_start(CsvSession *session, int device);
extern void csv_cuda_settle(CsvSession *session);

typedef enum CsvCudaState
{
	CSV_CUDA_ASLEEP,			/* not started, shut down, or failed */
	CSV_CUDA_STARTING,
	CSV_CUDA_AWAKE
} CsvCudaState;

extern CsvCudaState csv_cuda_state(CsvSession *session);

/* has it failed for good in this process?  In any thread. */
extern bool csv_cuda_is_lost(const CsvSession *session);

/* give back all of the session's memory and its context; it is asleep then */
extern void csv_cuda_shutdown(CsvSession *session);

/*
 * Device memory that the session holds, in bytes: for the output arrays, and
 * for all else (the input's copy among it).
 */
extern void csv_cuda_memory_held(const CsvSession *session, uint64_t *output,
								 uint64_t *others);

/* the same in all, with files and columns that stay; *limit: of it.  Without waiting. */
extern uint64_t csv_cuda_memory(CsvSession *session, uint64_t memory_limit,
								uint64_t *limit);

/*
 * Has the session give back what it holds above a limit that was lowered.  Without
 * waiting, in any thread.
 */
extern void csv_cuda_trim(CsvSession *session, uint64_t memory_limit);

/*
 * Host memory that engines read from and write to, as another process can map it:
 * inputs, what batches and their answers point to, and groups that were held.
 * Each block is a memfd, which cannot change its size.
 */
typedef struct CsvCudaBlock
{
	uint32_t	number;			/* of all that were ever made */
	int			descriptor;		/* the session's own: to be duplicated or sent */
	uint8_t    *bytes;
	size_t		nbytes;
} CsvCudaBlock;

/*
 * The block that these bytes are in; false: they are in none.  It lasts as long as
 * they belong to an engine or a reader; a block that is made later has another
 * number.  In any thread.
 */
extern bool csv_cuda_find_block(CsvSession *session, const void *memory,
								size_t nbytes, CsvCudaBlock *found);

/* ---- bytes of files that stay on the device ---- */

/*
 * Room for a file's bytes, which somebody uses who then is to leave it.  Files that
 * nobody uses go without notice when something else needs their memory, those first
 * that were not used for longest.  NULL: there is no room.  In any thread, as all
 * of these.
 */
typedef struct CsvCudaFile CsvCudaFile;

extern CsvCudaFile *csv_cuda_file_create(CsvSession *session, uint64_t nbytes,
										 uint64_t memory_limit);

/* false: its bytes have gone, or are more than files may take under the limit */
extern bool csv_cuda_file_use(CsvCudaFile *file, uint64_t memory_limit);
extern void csv_cuda_file_leave(CsvCudaFile *file);
extern void csv_cuda_file_free(CsvCudaFile *file);

/*
 * What a thread has to fill files: pinned memory of CSV_CUDA_COPY_BYTES bytes, from
 * where so many are copied to an offset of a file.  False: the device has failed.
 */
#define CSV_CUDA_COPY_BYTES		((size_t) 4 << 20)

typedef struct CsvCudaCopier CsvCudaCopier;

extern CsvCudaCopier *csv_cuda_copier_create(CsvSession *session);
extern uint8_t *csv_cuda_copier_bytes(const CsvCudaCopier *copier);
extern bool csv_cuda_copier_copy(CsvCudaCopier *copier,
								 const CsvCudaFile *file, uint64_t offset,
								 size_t nbytes);
extern void csv_cuda_copier_free(CsvCudaCopier *copier);

/* whose bytes the engine's inputs are of that have none themselves; or NULL */
extern void csv_cuda_set_file(void *engine, const CsvCudaFile *file);

/* ---- columns that stay on the device, for queries over them ---- */

/*
 * Columns of nrows rows, filled part by part.  Each column has two parts, its
 * values and its statuses.  How rows fall into groups by some of them is kept
 * as well, once a query has asked for it.  Their memory goes again without
 * notice, when something else needs it; they may be filled anew then.
 *
 * For one thread, beside engines in others.
 */
typedef struct CsvCudaColumns CsvCudaColumns;

#define CSV_CUDA_VALUES(column)		(2 * (column))
#define CSV_CUDA_STATUSES(column)	(2 * (column) + 1)

/* start the session, or find it there; false with a message in `reason` */
extern bool csv_cuda_wake(CsvSession *session, int device, char *reason,
						  size_t reason_size);

/* may columns take so many bytes in all, below a limit of device memory? */
extern bool csv_cuda_columns_may_be(const CsvSession *session,
									uint64_t nbytes, uint64_t memory_limit);

/* NULL: no memory */
extern CsvCudaColumns *csv_cuda_columns_create(CsvSession *session,
											   uint32_t ncolumns,
											   uint32_t nrows);
extern void csv_cuda_columns_free(CsvCudaColumns *columns);

/* device memory that they take, in bytes */
extern uint64_t csv_cuda_columns_bytes(const CsvCudaColumns *columns);

/*
 * What is known of how rows fall into groups, from 0 on: the columns, as many as
 * are returned, which are at most CSV_MAX_KEYS; 0: no more.
 */
extern uint32_t csv_cuda_columns_grouping(const CsvCudaColumns *columns,
										  uint32_t number, uint32_t *places);

/* how many rows of a part are there, from the first on */
extern uint32_t csv_cuda_columns_filled(const CsvCudaColumns *columns,
										uint32_t part);

/*
 * Copy nrows entries (NULL: zeros), source_width bytes each, to follow those that
 * are there.  Each takes `width` bytes there, always the same for a part.  False
 * where there are not first_row rows (any more), no room below the limit of
 * device memory (0: the session's), or with a message in `reason` where the
 * device failed.
 */
extern bool csv_cuda_columns_add(CsvCudaColumns *columns, uint32_t part,
								 uint32_t first_row, uint32_t width,
								 const uint8_t *source,
								 uint32_t source_width, uint32_t nrows,
								 uint64_t memory_limit, char *reason,
								 size_t reason_size);

/* what is asked of the rows */
typedef struct CsvCudaQuestion
{
	const CsvRequest *request;
	const CsvLayout *layout;
	const uint32_t *places;		/* of the layout's columns among those here */
	const uint8_t *seen;		/* per column of the layout: CSV_CUDA_SEEN_... */
	uint64_t	memory_limit;	/* bytes; 0: the session's */
	bool		(*interrupted) (void *arg);
	void	   *interrupted_arg;
} CsvCudaQuestion;

#define CSV_CUDA_SEEN_NOT_OK	1	/* some status is not CSV_VALUE_OK */
#define CSV_CUDA_SEEN_SLOW		2	/* and some value is doubtful or long */

/*
 * Is the part of a column needed: its values if the query reads it, and its
 * statuses if they say something?
 */
extern bool csv_cuda_question_needs(const CsvCudaQuestion *question,
									uint32_t column, bool statuses);

/* may a device answer it at all?  To be asked before parts are copied */
extern bool csv_cuda_question_fits(const CsvSession *session,
								   const CsvCudaQuestion *question);

/*
 * Answer for rows from first_row on, *nrows of them or fewer, as memory has it.
 * The selection's rows count from first_row.  *answer is pinned memory, to be
 * given back; NULL with CSV_OK where the question is not one for a device, a part
 * is not there (any more), or groups are too many.  Else CSV_INTERRUPTED, or
 * CSV_DEVICE_FAILED with a message in `reason`.
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
	char		reason[CSV_CUDA_REASON_SIZE];	/* why not; else empty */
} CsvCudaDevice;

/*
 * The visible devices, without creating a context on any: the first `max` of
 * them into `devices`.  Returns how many there are, 0 where there is no device
 * or no driver.
 *
 * In a process that has started a session, or has asked for a device's name, CUDA
 * sees only that session's device; the others are then listed as NVML knows them.
 * After a failure of this session none is usable.
 */
extern int	csv_cuda_list_devices(CsvSession *session,
								  CsvCudaDevice *devices, int max);

/*
 * A device's name, without creating a context; false where it is not there.
 */
extern bool csv_cuda_device_name(CsvSession *session, int device, char *name,
								 size_t name_size);

#ifdef __cplusplus
}
#endif

#endif							/* CSV_CUDA_H */
