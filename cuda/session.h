/*
 * session.h
 *		The one CUDA context of a process, and the memory that goes with it.
 *
 *	- Device memory: a few blocks that only grow, reused by every call of every
 *	  engine (a call uses them from its start to its end, on one stream).
 *	  An engine may have pieces of its own besides (csv_device_take), and columns
 *	  stay on the device (resident.cu) as long as nothing else needs their memory.
 *	- Pinned host memory: a pool of blocks.  An input buffer or an engine's
 *	  output is one block, taken out of the pool while it is in use.  What is
 *	  given back stays pinned up to CSV_PINNED_KEEP_BYTES.
 *	- CUDA's own threads inherit the signal mask, so that all signals are
 *	  blocked around CUDA calls, except while waiting for the device.
 *	- The session may be started in a thread of its own, while the one that
 *	  wants it does something else.
 *	- Several scans may be under way in several threads.  A call of parse has
 *	  the device, its memory and the session's stream to itself, from
 *	  csv_session_lock to csv_session_unlock; the pool has a mutex of its own.
 *	- An error that sticks ends the context for good: the session is then dead,
 *	  gives back nothing more to CUDA, and says why.
 */
#ifndef CSV_CUDA_SESSION_H
#define CSV_CUDA_SESSION_H

#include <cuda_runtime_api.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include "csv_cuda.h"
#include "policy.h"

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

typedef struct CsvBlock
{
	uint8_t    *bytes;
	size_t		nbytes;
	bool		in_use;			/* pinned blocks only, */
	bool		mapped;			/* likewise: by map_pinned() */
} CsvBlock;

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

typedef struct CsvSession
{
	bool		open;
	bool		dead;
	char		reason[256];	/* why it is dead */
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
	CsvBlock	device_memory[CSV_DEVICE_NUM];
	CsvTaken   *taken;			/* by csv_device_take() */
	size_t		kept_bytes;		/* of that, for columns that stay */
	CsvBlock	pinned[CSV_PINNED_BLOCKS];
} CsvSession;

extern CsvSession csv_session;

/* go on only where all is well */
#define TRY(status_) \
	do { \
		CsvStatus try_status_ = (status_); \
		if (try_status_ != CSV_OK) \
			return try_status_; \
	} while (0)

/* bytes of device memory that an option allows; 0 leaves it to the session */
static inline size_t
csv_session_limit(uint64_t memory_limit)
{
	return memory_limit > 0 ? memory_limit : csv_session.default_limit;
}

/* is there a session that has not failed?  In any thread */
static inline bool
csv_session_lives(void)
{
	return __atomic_load_n(&csv_session.open, __ATOMIC_ACQUIRE) &&
		!__atomic_load_n(&csv_session.dead, __ATOMIC_ACQUIRE);
}

/* a message, printf-like, into a buffer of 256 bytes */
extern void csv_session_say(char *message, const char *format,...)
	__attribute__((format(printf, 2, 3)));

/* block all signals; unblock gives back the mask there was */
extern void csv_signals_block(sigset_t *old);
extern void csv_signals_unblock(const sigset_t *old);

/* start or reuse the session; false with a message */
extern bool csv_session_open(int device, char *message);

/* load the kernels by having them read a little; engine.cu */
extern void csv_cuda_warm(void);

/*
 * Have the session's device to oneself: until csv_session_unlock, all of CUDA
 * and the device's memory are the calling thread's.  To be called with all
 * signals blocked.
 */
extern void csv_session_lock(void);
extern void csv_session_unlock(void);

/*
 * See to an error of CUDA: writes the message, clears what can be cleared, and
 * marks the session dead where the error sticks.
 */
extern void csv_session_failed(cudaError_t error, const char *what,
							   char *message);

/*
 * At least nbytes of device memory; what was in the block is kept only with
 * `keep` bytes.  False with a message, where the limit or the device has not
 * that much.
 */
extern bool csv_device_reserve(CsvDeviceMemory which, size_t nbytes,
							   size_t keep, size_t limit, char *message);
extern void csv_device_release(void);
extern size_t csv_device_held(void);	/* and by csv_device_take() */
extern size_t csv_device_taken(void);	/* by that only */

/* give back what columns take that stay on the device; resident.cu */
extern void csv_resident_drop(void);

/*
 * Wait for all that was launched on the session's stream.  Signals are let
 * through meanwhile (with the mask that they had), since the interrupt callback,
 * which may be NULL, lives on them; it is called until it returns true.
 */
extern cudaError_t csv_session_wait(const sigset_t *signals,
									bool (*interrupted) (void *arg),
									void *interrupted_arg,
									bool *was_interrupted);

/*
 * Device memory beside those blocks, which csv_device_release() does not touch:
 * NULL where all that is held would be more than the limit, or the device has no
 * more.  *number, never 0, is for giving it back; that does nothing where the
 * session has ended meanwhile, and all its memory with it.
 */
extern uint8_t *csv_device_take(size_t nbytes, size_t limit, uint64_t *number);
extern void csv_device_give_back(uint64_t number);

/* malloc()'s, in any thread */
extern const CsvMemory csv_host_memory;

/* pinned host memory, in any thread; NULL where there is none */
extern void *csv_pinned_take(size_t nbytes);
extern size_t csv_pinned_size(const void *memory);
extern bool csv_pinned_give_back(void *memory);

/* the narrowing of the process to one device, for devices.cu */
extern bool csv_driver_started;	/* CUDA has been called in this process */
extern int	csv_driver_device;	/* the only device it was let see, or -1 */
extern int	csv_driver_narrow(int device);

#endif							/* CSV_CUDA_SESSION_H */
