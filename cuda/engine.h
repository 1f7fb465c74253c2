/*
 * engine.h
 *		The CUDA engine: what the rest of the project sees of it.
 *
 * Plain C.  Loading the library touches no CUDA; the first call of
 * csv_cuda_open starts a session, one per process, with a context on one
 * device, a stream, device memory that grows as needed up to a limit, and a
 * pool of pinned host memory.  It is kept until csv_cuda_shutdown or the end
 * of the process, since starting one takes a few tenths of a second and
 * pinning memory 0.45 s per GiB.
 *
 * Engines may be used in several threads, each by one at a time; their calls of
 * parse then take turns on the device.  The functions here are for one thread;
 * csv_cuda_shutdown wants to be alone.
 */
#ifndef CSV_CUDA_ENGINE_H
#define CSV_CUDA_ENGINE_H

#include "../src/reader/reader.h"

#ifdef __cplusplus
extern "C" {
#endif

/* how a test makes the device fail */
typedef enum CsvCudaFault
{
	CSV_CUDA_FAULT_NONE,
	CSV_CUDA_FAULT_NO_MEMORY,	/* as if device memory had run out */
	CSV_CUDA_FAULT_TRAP			/* a kernel traps: ends the session for good */
} CsvCudaFault;

typedef struct CsvCudaOptions
{
	int			device;			/* ordinal, as csv_cuda_list_devices counts */
	uint64_t	memory_limit;	/* bytes of device memory that the process may
								 * take beside its context; 0: half of what
								 * was free when the session began */
	uint8_t		fault;			/* CsvCudaFault */
	uint32_t	fault_at_chunk; /* from 1: the call of parse that fails */
	uint32_t	hold_from;		/* for tests: from so many groups of a batch on
								 * they are held, and there is little room for
								 * them at first; 0: the engine's choice */
} CsvCudaOptions;

extern const CsvEngine csv_cuda_engine;

/*
 * Open an engine, for csv_cuda_engine's functions.  Its state comes from
 * `memory`, which must be usable in any thread that the engine is used in,
 * device and pinned memory from the session.  Returns NULL, with a
 * message in `reason`, where there is no usable device, or where an earlier
 * failure has ended this process's context for good.
 *
 * Input buffers may be freed after close, through csv_cuda_engine.free_input
 * with the closed engine, only where `memory` is still there.
 */
extern void *csv_cuda_open(const CsvCudaOptions *options,
						   const CsvMemory *memory,
						   char *reason, size_t reason_size);

/*
 * Start the session in a thread of its own, and load the kernels there, which
 * csv_cuda_open then finds done.  False where it is under way or there already,
 * or cannot be.  An open that comes meanwhile waits for it, and so must the
 * process before it exits (csv_cuda_settle).
 */
extern bool csv_cuda_start(int device);
extern void csv_cuda_settle(void);

typedef enum CsvCudaState
{
	CSV_CUDA_ASLEEP,			/* no session, or one that failed */
	CSV_CUDA_STARTING,
	CSV_CUDA_AWAKE
} CsvCudaState;

extern CsvCudaState csv_cuda_state(void);

/* give back all of the session's memory and its context */
extern void csv_cuda_shutdown(void);

/*
 * Device memory that the session holds, in bytes: for the output arrays, and
 * for all else (the input's copy among it).
 */
extern void csv_cuda_memory_held(uint64_t *output, uint64_t *others);

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
 * In a process that has a session, or has asked for a device's name, CUDA sees
 * only that session's device; the others are then listed as NVML knows them.
 */
extern int	csv_cuda_list_devices(CsvCudaDevice *devices, int max);

/*
 * A device's name, without creating a context; false where it is not there.
 */
extern bool csv_cuda_device_name(int device, char *name, size_t name_size);

#ifdef __cplusplus
}
#endif

#endif							/* CSV_CUDA_ENGINE_H */
