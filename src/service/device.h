/*
 * device.h
 *		The GPUs of the machine.
 *
 * A thread looks for them when a session first wants a device, as the driver may take
 * long, or hang.  Any thread may call these functions, except those that are for one
 * thread.
 */
#ifndef CSV_DEVICE_H
#define CSV_DEVICE_H

#include "reader/reader.h"
#include "wire/message.h"

typedef struct CsvDevice CsvDevice;

/*
 * Lists the first `most` devices of the machine, without starting any; returns their
 * number.  -1: the search is under way.  For one thread.
 */
extern int	csv_device_list(CsvDeviceEntry *entries, int most);

/* ---- devices by number: one device, or all (CSV_ANY_DEVICE) ---- */

/*
 * The state of the device that is most awake, and the name of the first device.
 * During the search the state is CSV_DEVICE_STARTING, and the name is empty.  For one
 * thread.
 */
extern CsvDeviceState csv_devices_state(int32_t number, const char **name);

/* start them, in their own threads, in some tenths of a second; for one thread */
extern void csv_devices_wake(int32_t number);

/* count a session that finds no device awake */
extern void csv_devices_count_starting(int32_t number);

/*
 * The device that has the least work, until csv_device_leave().  Devices that are
 * awake come first.  A device that has the data is preferred, unless it has much more
 * work.  With may_wait, if no device is awake, this waits for a device to start.
 * NULL: there is no device; `reason` has a message.
 */
typedef struct CsvDeviceWish
{
	int32_t		number;
	bool		may_wait;
	uint64_t	has;			/* devices that have the data: csv_device_bit() */
	bool		always;			/* prefer these, whatever work they have */
	const CsvDevice *own;		/* the caller's device so far; or NULL */
} CsvDeviceWish;

extern CsvDevice *csv_device_take(const CsvDeviceWish *wish, char *reason,
								  size_t reason_size);
extern void csv_device_leave(CsvDevice *device);

/* the devices that are awake, in the order of their numbers; returns how many */
extern int	csv_devices_awake(int32_t number, CsvDevice *devices[CSV_MOST_DEVICES]);

/*
 * A thread that has read for this many seconds is stuck, most likely in a file system
 * that is gone, and another thread takes its place.  A scan waits no longer than this
 * for bytes, either.
 */
extern const double csv_device_patience;

/* with several devices, each is asked for at least this many rows */
extern const uint64_t csv_least_device_rows;

/* the most files of a device that are known; more only if all of them are in use */
extern const uint32_t csv_most_device_files;

/* below this memory limit, no head of a file stays that is too large for it */
extern const uint64_t csv_least_head_limit;

/* ---- a device ---- */

/* a number below CSV_MOST_DEVICES, different for each device; and the same as a set */
extern int	csv_device_place(const CsvDevice *device);

static inline uint64_t
csv_device_bit(const CsvDevice *device)
{
	return UINT64_C(1) << csv_device_place(device);
}

/* the device's statistics; add to them with csv_count() */
extern CsvCounts *csv_device_counts(CsvDevice *device);

static inline void
csv_count(uint64_t *of, int64_t n)
{
	__atomic_fetch_add(of, (uint64_t) n, __ATOMIC_RELAXED);
}

/* of the devices that were found, `most` at most; returns their number */
extern int	csv_device_statistics(CsvStatistics *statistics, int most);

/* has it failed so that only another process can use it? */
extern bool csv_device_is_lost(CsvDevice *device);
extern bool csv_device_any_is_lost(void);

/*
 * The device, or CSV_ANY_DEVICE, that the server's settings let the program use.  No
 * effect once the search has begun.
 */
extern void csv_device_choose(int32_t number);

/* bytes of each device's memory for all scans; 0: half of the free memory */
extern void csv_device_limit(uint64_t nbytes);

/* for files that call CUDA */
struct CsvSession;
extern struct CsvSession *csv_device_session(CsvDevice *device);
extern uint64_t csv_device_memory_limit(void);

#endif							/* CSV_DEVICE_H */
