/*
 * device.h
 *		The GPUs of the machine.
 *
 * They are looked for when a session first wants one, in a thread of its own, as the
 * driver takes its time, or hangs.  Devices are for any thread, but where a function
 * says otherwise.
 */
#ifndef CSV_DEVICE_H
#define CSV_DEVICE_H

#include "reader/reader.h"
#include "wire/message.h"

typedef struct CsvDevice CsvDevice;

/* was the program built for any? */
extern bool csv_device_may_be(void);

/*
 * Those there are, the first `most` of them; without starting any.  -1: they are looked
 * for.  For one thread.
 */
extern int	csv_device_list(CsvDeviceEntry *entries, int most);

/* ---- all that a number stands for: a device, or CSV_ANY_DEVICE ---- */

/*
 * The state of the one that is most awake, and the name of the first; while they are
 * looked for, it is starting, and has no name.  For one thread.
 */
extern CsvDeviceState csv_devices_state(int32_t number, const char **name);

/* it takes some tenths of a second to start them, in threads of their own; likewise */
extern void csv_devices_wake(int32_t number);

/* one of them is about to be asked in vain, as none is awake: counted */
extern void csv_devices_count_starting(int32_t number);

/*
 * The one that is to do some work, until csv_device_leave(): of those that are awake
 * the one that has least to do, but rather one that has already what the work is on,
 * if it has not much more.  Where none is awake and may_wait, one that wakes up now.
 * NULL, with a message in `reason`: there is none.
 */
typedef struct CsvDeviceWish
{
	int32_t		number;
	bool		may_wait;
	uint64_t	has;			/* those that have it: csv_device_bit() */
	bool		always;			/* one of these, however much it has to do */
	const CsvDevice *own;		/* that does it already; or NULL */
} CsvDeviceWish;

extern CsvDevice *csv_device_take(const CsvDeviceWish *wish, char *reason,
								  size_t reason_size);
extern void csv_device_leave(CsvDevice *device);

/* those that are awake, in the order of their numbers; as many as are returned */
extern int	csv_devices_awake(int32_t number, CsvDevice *devices[CSV_MOST_DEVICES]);

/* ---- a device ---- */

extern CsvDeviceState csv_device_state(CsvDevice *device);

/* below CSV_MOST_DEVICES, and no other's; and as a set of them */
extern int	csv_device_place(const CsvDevice *device);

static inline uint64_t
csv_device_bit(const CsvDevice *device)
{
	return UINT64_C(1) << csv_device_place(device);
}

/* what there is to say of it: counted with csv_count() */
extern CsvCounts *csv_device_counts(CsvDevice *device);

static inline void
csv_count(uint64_t *of, int64_t n)
{
	__atomic_fetch_add(of, (uint64_t) n, __ATOMIC_RELAXED);
}

/* of devices that have been found; returns how many there are, up to `most` */
extern int	csv_device_statistics(CsvStatistics *statistics, int most);

/* has it failed so that only another process can use it? */
extern bool csv_device_is_lost(CsvDevice *device);
extern bool csv_device_any_is_lost(void);

/*
 * The program uses this one, or any, as the server has it set.  Of no effect once
 * they were looked for.
 */
extern void csv_device_choose(int32_t number);

/* bytes of each device's memory for all scans; 0: half of what is free */
extern void csv_device_limit(uint64_t nbytes);

/* an engine on it; NULL with a message in `reason`.  Waits where it is starting. */
extern const CsvEngine *csv_device_open_engine(CsvDevice *device,
											   const CsvMemory *memory,
											   void **engine, char *reason,
											   size_t reason_size);

/* for those that have CUDA do something */
struct CsvSession;
extern struct CsvSession *csv_device_session(CsvDevice *device);
extern uint64_t csv_device_memory_limit(void);

/* memory that other processes can map */
typedef struct CsvDeviceBlock
{
	uint32_t	number;			/* another one for each block that ever was */
	int			file;
	uint8_t    *bytes;
	size_t		nbytes;
} CsvDeviceBlock;

/* the block of the engines that these bytes are in; false: they are in none */
extern bool csv_device_find_block(CsvDevice *device, const void *bytes,
								  size_t nbytes, CsvDeviceBlock *block);

#endif							/* CSV_DEVICE_H */
