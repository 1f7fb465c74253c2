/*
 * session.h
 *		A CUDA context on one device, and the memory that goes with it.
 *
 *	- Device memory: a few blocks that only grow, reused by every call of every
 *	  engine (a call uses them from its start to its end, on one stream).
 *	  An engine may also have memory of its own (csv_device_take), and files and
 *	  columns stay on the device as long as nothing else needs their memory (CsvStay).
 *	- Pinned host memory: a pool of blocks.  An input buffer or an engine's
 *	  output is one block, taken out of the pool while it is in use.  Blocks that
 *	  are given back stay pinned up to CSV_PINNED_KEEP_BYTES.  Each block is a file
 *	  in memory, so that another process can map it.
 *	- The session may be started in a thread of its own, while the caller does
 *	  something else.
 *	- Several scans may be under way in several threads.  From csv_session_enter to
 *	  csv_session_leave, a call of parse has the device, its memory and the
 *	  session's stream to itself; the pool has a mutex of its own.
 *	- A sticky error ends the context for good: the session is then dead, gives
 *	  back nothing more to CUDA, and says why.
 */
#ifndef CSV_CUDA_SESSION_H
#define CSV_CUDA_SESSION_H

#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "csv_cuda.h"
#include "policy.h"

#define CSV_MESSAGE_BYTES	256

#define ALIGN(n, to)	(((n) + (to) - 1) / (to) * (to))

/*
 * Place n elements in a block of device memory; *next moves on.  base is NULL while
 * the block is measured.
 */
template <typename Element>
static inline void
csv_place(uint8_t *base, size_t *next, size_t n, Element **place)
{
	*place = base == NULL ? NULL : (Element *) (base + *next);
	*next += ALIGN(n * sizeof(Element), 256);
}

/* the blocks of a launch for n elements */
static inline uint32_t
csv_blocks_of(uint32_t n, uint32_t each)
{
	return (n + each - 1) / each;
}

typedef enum CsvDeviceMemory
{
	CSV_DEVICE_INPUT,			/* bytes, ranks of tiles */
	CSV_DEVICE_INDEX,			/* masks; index and record table of a window */
	CSV_DEVICE_SMALL,			/* columns, counters, histograms */
	CSV_DEVICE_OUTPUT,			/* arrays, statuses, positions */
	CSV_DEVICE_ERRORS,			/* the error table */
	CSV_DEVICE_QUERY,			/* a query's plan, and its findings about rows */
	CSV_DEVICE_ANSWER,			/* groups, columns of rows that come out */
	CSV_DEVICE_NUM
} CsvDeviceMemory;

typedef struct CsvMemoryBlock
{
	uint8_t    *bytes;
	size_t		nbytes;

	/* only in pinned blocks */
	bool		in_use;
	int			descriptor;		/* of the block's memory file */
	uint32_t	number;			/* unique in the process */
} CsvMemoryBlock;

/* device memory besides these blocks */
typedef struct CsvTaken
{
	uint8_t    *bytes;			/* NULL: none */
	size_t		nbytes;
} CsvTaken;

/*
 * A file or columns that stay on the device.  Without users, they lose all of their
 * memory when something else needs it; what was not used for longest goes first.
 */
typedef struct CsvStay
{
	TAILQ_ENTRY(CsvStay) of_session;
	CsvTaken   *taken;			/* ntaken elements */
	uint32_t	ntaken;
	uint32_t	nusers;
	size_t		nbytes;			/* of all these */
} CsvStay;

/* a start in a thread of its own */
typedef struct CsvStart
{
	pthread_mutex_t mutex;		/* held while starting and joining */
	bool		running;		/* until it is joined; atomic, like `done` */
	bool		done;			/* set by the thread */
	pthread_t	thread;
	void		(*then) (CsvSession *session);	/* called there after a start without
												 * failure */
} CsvStart;

TAILQ_HEAD(CsvStayList, CsvStay);

struct CsvSession
{
	pthread_mutex_t device_mutex;	/* see csv_session_enter */
	pthread_mutex_t pool_mutex; /* of pinned memory */
	CsvStart	start;
	bool		open;
	bool		dead;
	char		reason[CSV_MESSAGE_BYTES];	/* why it is dead */
	int			device;
	char		device_name[CSV_CUDA_NAME_SIZE];
	int			multiprocessors;
	size_t		max_shared_bytes;	/* of a block that asks for it */
	size_t		default_limit;

	cudaStream_t stream;
	cudaEvent_t done;
	cudaEvent_t copy_in[2];
	cudaEvent_t copy_out[2];
	cudaEvent_t phases[3];		/* structure begins, columns begin, all ends */
	CsvMemoryBlock device_memory[CSV_DEVICE_NUM];
	uint32_t	used_blocks;	/* bit n: block n, since csv_session_enter() */
	size_t		table_bytes;	/* taken for tables of groups */
	struct CsvStayList stays;	/* used last in front */
	size_t		stay_bytes;		/* taken for these */
	size_t		used_file_bytes;	/* of these, for files in use */

	/* the last results of csv_cuda_memory(); for one thread */
	uint64_t	memory_seen;
	uint64_t	limit_seen;

	CsvMemoryBlock pinned[CSV_PINNED_BLOCKS];
};

/* bytes of device memory that an option allows; 0: the session's default */
static inline size_t
csv_session_whole_limit(const CsvSession *session, uint64_t memory_limit)
{
	return memory_limit > 0 ? memory_limit : session->default_limit;
}

/* bytes of this memory that files may take */
static inline size_t
csv_session_files_limit(const CsvSession *session, uint64_t memory_limit)
{
	size_t		whole = csv_session_whole_limit(session, memory_limit);
	size_t		calls = whole / CSV_CALLS_MEMORY_SHARE;

	if (calls < CSV_CALLS_LEAST_BYTES)
		calls = whole / 2 < CSV_CALLS_LEAST_BYTES ? whole / 2 : CSV_CALLS_LEAST_BYTES;
	return whole - calls;
}

/*
 * Bytes of this memory that calls may take besides the files in use.  If the limit was
 * lowered while larger files were in use, the device holds more than the limit until
 * their scans end, and calls get all of the limit, so that these scans go on.
 */
static inline size_t
csv_session_limit(const CsvSession *session, uint64_t memory_limit)
{
	size_t		most = csv_session_files_limit(session, memory_limit);
	size_t		used = __atomic_load_n(&session->used_file_bytes,
									   __ATOMIC_RELAXED);

	return csv_session_whole_limit(session, memory_limit) -
		(used <= most ? used : 0);
}

/* is there a context that has not failed?  In any thread */
static inline bool
csv_session_lives(const CsvSession *session)
{
	return __atomic_load_n(&session->open, __ATOMIC_ACQUIRE) &&
		!__atomic_load_n(&session->dead, __ATOMIC_ACQUIRE);
}

/* a message, printf-like, into a buffer of CSV_MESSAGE_BYTES */
extern void csv_session_say(char *message, const char *format,...)
	__attribute__((format(printf, 2, 3)));

/* may the session be used, which was started?  False with a message: it has failed */
extern bool csv_session_check(const CsvSession *session, char *message);

/* csv_cuda_start(), with a function to call in the thread after the start */
extern bool csv_session_start(CsvSession *session,
							  void (*then) (CsvSession *session));

/*
 * Get the session's device: until csv_session_leave, CUDA and the device's memory are
 * for the calling thread alone.
 */
extern void csv_session_enter(CsvSession *session);
extern void csv_session_leave(CsvSession *session);

/*
 * Handle a CUDA error: write the message, clear the error if possible, and mark the
 * session dead if it is sticky.
 */
extern void csv_session_failed(CsvSession *session, cudaError_t error,
							   const char *what, char *message);

/* ---- device memory; to be called between enter and leave ---- */

/*
 * Reserve at least nbytes of device memory in a block, and keep the first `keep` bytes
 * of its contents.  If memory is short, blocks that were not reserved since
 * csv_session_enter() are given back, and so is the memory of queries, except for a
 * query's own blocks.  False with a message, if the limit or the device does not have
 * that much.
 */
extern bool csv_device_reserve(CsvSession *session, CsvDeviceMemory which,
							   size_t nbytes, size_t keep, size_t limit,
							   char *message);
extern void csv_device_release(CsvSession *session);

/* bytes that are held for calls and tables of groups */
extern size_t csv_device_held(const CsvSession *session);

/*
 * Give back memory above the limit, which may have been lowered: first the blocks for
 * calls, then what stays without users.
 */
extern void csv_device_trim(CsvSession *session, size_t limit);

/*
 * Device memory besides those blocks: an element of stay->taken; or, if `stay` is NULL,
 * for a table of groups.  False if all memory would be more than the limit, even
 * without what has no users, or the device has no more.
 */
extern bool csv_device_take(CsvSession *session, CsvStay *stay,
							size_t nbytes, size_t limit, CsvTaken *taken);
extern void csv_device_give_back(CsvSession *session, CsvStay *stay,
								 CsvTaken *taken);

/* give back all memory of what stays; or note that it is used now */
extern void csv_stay_drop(CsvSession *session, CsvStay *stay);
extern void csv_stay_touch(CsvSession *session, CsvStay *stay);

/* ---- host memory, in any thread ---- */

/* pinned memory; NULL with errno */
extern void *csv_pinned_take(CsvSession *session, size_t nbytes);
extern size_t csv_pinned_size(CsvSession *session, const void *memory);
extern bool csv_pinned_give_back(CsvSession *session, void *memory);

#endif							/* CSV_CUDA_SESSION_H */
