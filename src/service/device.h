/*
 * device.h
 *		The GPUs of the machine.
 */
#ifndef CSV_DEVICE_H
#define CSV_DEVICE_H

#include "reader/reader.h"
#include "wire/message.h"

typedef struct CsvDevice CsvDevice;

/* was the program built for any? */
extern bool csv_device_may_be(void);

/* of a number, as the user counts; NULL: there is none */
extern CsvDevice *csv_device_find(uint32_t number);

/* those there are, the first `most` of them; without starting any */
extern int	csv_device_list(CsvDeviceEntry *entries, int most);

/* it takes some tenths of a second to start, in a thread of its own */
extern CsvDeviceState csv_device_state(CsvDevice *device);
extern void csv_device_wake(CsvDevice *device);
extern const char *csv_device_name(CsvDevice *device);

/* what there is to say of it: counted with csv_count(), in any thread */
extern CsvCounts *csv_device_counts(CsvDevice *device);

static inline void
csv_count(uint64_t *of, int64_t n)
{
	__atomic_fetch_add(of, (uint64_t) n, __ATOMIC_RELAXED);
}

/* of devices that have been looked for; returns how many there are, up to `most` */
extern int	csv_device_statistics(CsvStatistics *statistics, int most);

/* has it failed so that only another process can use it?  In any thread. */
extern bool csv_device_is_lost(CsvDevice *device);
extern bool csv_device_any_is_lost(void);

/*
 * The program uses this one, as the server has it set: else who comes first would
 * choose for all.  Of no effect once it was looked for.
 */
extern void csv_device_choose(uint32_t number);

/* bytes of each device's memory for all scans; 0: half of what is free */
extern void csv_device_limit(uint64_t nbytes);

/* an engine on it; NULL with a message in `reason`.  Waits where it is starting. */
extern const CsvEngine *csv_device_open_engine(CsvDevice *device,
											   const CsvMemory *memory,
											   void **engine, char *reason,
											   size_t reason_size);

/* for ask.c */
struct CsvSession;
extern struct CsvSession *csv_device_session(CsvDevice *device);
extern int	csv_device_number(const CsvDevice *device);
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
