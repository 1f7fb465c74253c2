/*
 * session.h
 *		A CUDA context on one device, and the memory that goes with it.
 *
 *	- Device memory: a few blocks that only grow, reused by every call of every
 *	  engine (a call uses them from its start to its end, on one stream).
 *	  An engine may have pieces of its own besides (csv_device_take), and columns
 *	  stay on the device (resident.cu) as long as nothing else needs their memory.
 *	- Pinned host memory: a pool of blocks.  An input buffer or an engine's
 *	  output is one block, taken out of the pool while it is in use.  What is
 *	  given back stays pinned up to CSV_PINNED_KEEP_BYTES.  Each block is a file
 *	  in memory, which another process can be given to map.
 *	- CUDA's own threads inherit the signal mask, so that all signals are
 *	  blocked around CUDA calls, except while waiting for the device.
 *	- The session may be started in a thread of its own, while the one that
 *	  wants it does something else.
 *	- Several scans may be under way in several threads.  A call of parse has
 *	  the device, its memory and the session's stream to itself, from
 *	  csv_session_enter to csv_session_leave; the pool has a mutex of its own.
 *	- An error that sticks ends the context for good: the session is then dead,
 *	  gives back nothing more to CUDA, and says why.
 */
#ifndef CSV_CUDA_SESSION_H
#define CSV_CUDA_SESSION_H

#include <cuda_runtime_api.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include "csv_cuda.h"
#include "policy.h"

#define CSV_MESSAGE_BYTES	256

#define ALIGN(n, to)	(((n) + (to) - 1) / (to) * (to))

/*
 * The next nbytes of a block of device memory, whose base is NULL as long as it
 * is measured; *next moves on.
 */
static inline uint8_t *
csv_take_bytes(uint8_t *base, size_t *next, size_t nbytes)
{
	uint8_t    *place = base == NULL ? NULL : base + *next;

	*next += ALIGN(nbytes, 256);
	return place;
}

typedef enum CsvDeviceMemory
{
	CSV_DEVICE_INPUT,			/* bytes, ranks of tiles */
	CSV_DEVICE_NEXT,			/* bytes of an input to come */
	CSV_DEVICE_INDEX,			/* masks; index and record table of a window */
	CSV_DEVICE_SMALL,			/* columns, counters, histograms */
	CSV_DEVICE_OUTPUT,			/* arrays, statuses, positions */
	CSV_DEVICE_ERRORS,			/* the error table */
	CSV_DEVICE_QUERY,			/* a query's plan, and what it says of rows */
	CSV_DEVICE_ANSWER,			/* groups, columns of rows that come out */
	CSV_DEVICE_NUM
} CsvDeviceMemory;

typedef struct CsvMemoryBlock
{
	uint8_t    *bytes;
	size_t		nbytes;

	/* pinned blocks only */
	bool		in_use;
	int			descriptor;		/* of the memory file that it is */
	uint32_t	number;			/* of all that were ever made */
} CsvMemoryBlock;

/* device memory of an engine's own, in a list */
typedef struct CsvTaken
{
	struct CsvTaken *next;
	uint64_t	number;			/* of all that were ever taken */
	uint8_t    *bytes;
	size_t		nbytes;
} CsvTaken;

/*
 * Bytes that are copied to CSV_DEVICE_NEXT while those before them are parsed.
 * They are good for the next call of parse of that engine only; the host's
 * memory may hold something else after that.
 */
typedef struct CsvNext
{
	const void *owner;			/* the engine; NULL: nothing */
	const uint8_t *bytes;		/* the host's */
	size_t		nbytes;
	int			turn;			/* which of the events */
	cudaEvent_t began[2];
	cudaEvent_t copied[2];
} CsvNext;

/*
 * A start in a thread of its own.  The environment is changed before and
 * afterwards, under the mutex, by whoever comes first.
 */
typedef struct CsvStart
{
	pthread_mutex_t mutex;		/* of who starts, and of who joins */
	bool		running;		/* until it is joined; atomic, as: */
	bool		done;			/* set by the thread */
	pthread_t	thread;
	void		(*then) (CsvSession *session);	/* done in it after that */
	int			device;
	int			number;
	bool		missing;
	char		message[CSV_MESSAGE_BYTES];
} CsvStart;

struct CsvSession
{
	pthread_mutex_t device_mutex;	/* see csv_session_enter */
	pthread_mutex_t pool_mutex; /* of pinned memory */
	CsvStart	start;
	bool		open;
	bool		dead;
	char		reason[CSV_MESSAGE_BYTES];	/* why it is dead */
	int			pid;
	int			device;			/* as the user counts */
	int			number;			/* as CUDA counts */
	char		device_name[CSV_CUDA_NAME_SIZE];
	int			multiprocessors;
	size_t		max_shared_bytes;	/* of a block, where it asks for it */
	size_t		default_limit;

	cudaStream_t stream;
	cudaStream_t next_stream;	/* of copies to CSV_DEVICE_NEXT */
	CsvNext		next;
	cudaEvent_t done;
	cudaEvent_t copy_in[2];
	cudaEvent_t copy_out[2];
	cudaEvent_t phases[3];		/* structure begins, columns begin, all ends */
	CsvMemoryBlock device_memory[CSV_DEVICE_NUM];
	CsvTaken   *taken;			/* by csv_device_take() */
	uint64_t	ntaken;			/* how many ever were */

	/* columns that stay, as resident.cu has them */
	size_t		kept_bytes;		/* of what is taken, for them */
	CsvCudaColumns *columns;	/* all there are, the ones asked last in front */
	CsvCudaColumns *asked;		/* at the moment */
	void		(*drop_columns) (CsvSession *session);	/* for their memory */

	/* bytes of files, as files.cu has them: the one used last in front */
	CsvCudaFile *files;
	size_t		file_bytes;		/* that they take, */
	size_t		used_file_bytes;	/* and what of it somebody uses */

	/* as csv_cuda_memory() saw it last; for one thread */
	uint64_t	memory_seen;
	uint64_t	limit_seen;

	CsvMemoryBlock pinned[CSV_PINNED_BLOCKS];
};

/* bytes of device memory that an option allows; 0 leaves it to the session */
static inline size_t
csv_session_whole_limit(const CsvSession *session, uint64_t memory_limit)
{
	return memory_limit > 0 ? memory_limit : session->default_limit;
}

/* bytes of it that files may take */
static inline size_t
csv_session_files_limit(const CsvSession *session, uint64_t memory_limit)
{
	return csv_session_whole_limit(session, memory_limit) /
		CSV_FILES_MEMORY_SHARE;
}

/*
 * Bytes of it that calls may take beside the files in use.  If the limit was
 * lowered below the size of those files, calls still get the share of the limit
 * that files never take, so that running scans go on; the device then holds more
 * than the limit until these scans end.
 */
static inline size_t
csv_session_limit(const CsvSession *session, uint64_t memory_limit)
{
	size_t		most = csv_session_files_limit(session, memory_limit);
	size_t		used = __atomic_load_n(&session->used_file_bytes,
									   __ATOMIC_RELAXED);

	return csv_session_whole_limit(session, memory_limit) -
		(used < most ? used : most);
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

/* block all signals; unblock gives back the mask there was */
extern void csv_signals_block(sigset_t *old);
extern void csv_signals_unblock(const sigset_t *old);

/* start the session, or find it there; false with a message */
extern bool csv_session_open(CsvSession *session, int device, char *message);

/* may it be used?  False with a message, where it has failed or ended */
extern bool csv_session_check(const CsvSession *session, char *message);

/* csv_cuda_start(), with what is done in the thread after that */
extern bool csv_session_start(CsvSession *session, int device,
							  void (*then) (CsvSession *session));

/*
 * Have the session's device to oneself: until csv_session_leave, all of CUDA and
 * the device's memory are the calling thread's, and all signals are blocked.
 */
extern void csv_session_enter(CsvSession *session, sigset_t *signals);
extern void csv_session_leave(CsvSession *session, const sigset_t *signals);

/*
 * See to an error of CUDA: writes the message, clears what can be cleared, and
 * marks the session dead where the error sticks.
 */
extern void csv_session_failed(CsvSession *session, cudaError_t error,
							   const char *what, char *message);

/* ---- device memory; to be called between enter and leave ---- */

/*
 * At least nbytes of device memory; what was in the block is kept only with
 * `keep` bytes.  False with a message, where the limit or the device has not
 * that much.
 */
extern bool csv_device_reserve(CsvSession *session, CsvDeviceMemory which,
							   size_t nbytes, size_t keep, size_t limit,
							   char *message);
extern void csv_device_release(CsvSession *session);
extern size_t csv_device_held(const CsvSession *session);	/* and taken */
extern size_t csv_device_taken(const CsvSession *session);

/*
 * Have files that nobody uses make way for so many bytes beside those that are held
 * (files do not count there), if need be; false: that would be more than the limit.
 */
extern bool csv_device_make_way(CsvSession *session, size_t nbytes,
								size_t limit);

/*
 * Gives back memory above the limit, which may have been lowered: first the blocks
 * for calls, then kept columns, then files that are not in use.
 */
extern void csv_device_trim(CsvSession *session, size_t limit);

/* the file that was not used for longest makes way; false: there is none */
extern bool csv_files_drop_last(CsvSession *session);

/*
 * Device memory beside those blocks, which csv_device_release() does not touch:
 * NULL where all that is held would be more than the limit, or the device has no
 * more.  *number, never 0, is for giving it back; that does nothing where the
 * session has ended meanwhile, and all its memory with it.
 */
extern uint8_t *csv_device_take(CsvSession *session, size_t nbytes,
								size_t limit, uint64_t *number);
extern void csv_device_give_back(CsvSession *session, uint64_t number);

/* have columns that stay give back what they take, but those asked now */
extern void csv_device_drop_kept(CsvSession *session);

/* ---- host memory, in any thread ---- */

/* malloc()'s */
extern const CsvMemory csv_host_memory;

/* pinned; NULL with errno where there is none */
extern void *csv_pinned_take(CsvSession *session, size_t nbytes);
extern size_t csv_pinned_size(CsvSession *session, const void *memory);
extern bool csv_pinned_give_back(CsvSession *session, void *memory);
extern void csv_pinned_free_all(CsvSession *session);

/* ---- the narrowing of the process to one device, for devices.cu ---- */

/*
 * A process's, not a session's: CUDA reads the environment once in a process,
 * at its first call.
 */
extern bool csv_driver_started;	/* CUDA has been called in this process */
extern int	csv_driver_device;	/* the only device it was let see, or -1 */
extern int	csv_driver_narrow(int device);

#endif							/* CSV_CUDA_SESSION_H */
