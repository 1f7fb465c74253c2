/*
 * device.c
 *		The one GPU that the program uses, through the CUDA engine.
 */
#include <stdio.h>
#include <string.h>

#include "device.h"

#ifdef CSV_WITH_CUDA

#include "../../cuda/csv_cuda.h"

struct CsvDevice
{
	CsvSession *session;
	int			number;
	char		name[CSV_DEVICE_NAME_BYTES];
	CsvCounts	counts;
};

static CsvDevice the_device;	/* its session NULL: it was not looked for */
static uint32_t chosen = 0;

static uint64_t memory_limit = 0;

/* made by the thread that answers sessions, which alone looks for devices */
static CsvSession *
get_session(void)
{
	static CsvSession *session = NULL;

	if (session == NULL)
		session = csv_cuda_session_create();
	return session;
}

bool
csv_device_may_be(void)
{
	return true;
}

CsvDevice *
csv_device_find(uint32_t number)
{
	CsvDevice  *device = &the_device;

	if (device->session == NULL)
	{
		CsvSession *session = number == chosen ? get_session() : NULL;

		if (session == NULL ||
			!csv_cuda_device_name(session, (int) number, device->name,
								  sizeof(device->name)))
			return NULL;
		device->number = (int) number;
		device->session = session;
	}
	return device->number == (int) number ? device : NULL;
}

int
csv_device_list(CsvDeviceEntry *entries, int most)
{
	CsvCudaDevice found[CSV_MOST_DEVICES];
	CsvSession *session = get_session();
	int			n = session == NULL ? 0 :
		csv_cuda_list_devices(session, found, CSV_MOST_DEVICES);

	n = n < CSV_MOST_DEVICES ? n : CSV_MOST_DEVICES;
	n = n < most ? n : most;
	for (int i = 0; i < n; i++)
	{
		CsvDeviceEntry *entry = &entries[i];

		memset(entry, 0, sizeof(*entry));
		entry->number = found[i].ordinal;
		entry->capability_major = found[i].capability_major;
		entry->capability_minor = found[i].capability_minor;
		entry->usable = found[i].usable;
		entry->memory_total = found[i].memory_total;
		entry->memory_free = found[i].memory_free;
		snprintf(entry->name, sizeof(entry->name), "%.*s",
				 CSV_DEVICE_NAME_BYTES - 1, found[i].name);
		snprintf(entry->reason, sizeof(entry->reason), "%.*s",
				 CSV_DEVICE_NAME_BYTES - 1, found[i].reason);
	}
	return n;
}

CsvDeviceState
csv_device_state(CsvDevice *device)
{
	switch (csv_cuda_state(device->session))
	{
		case CSV_CUDA_AWAKE:
			return CSV_DEVICE_AWAKE;
		case CSV_CUDA_STARTING:
			return CSV_DEVICE_STARTING;
		default:
			return CSV_DEVICE_ASLEEP;
	}
}

CsvCounts *
csv_device_counts(CsvDevice *device)
{
	return &device->counts;
}

int
csv_device_statistics(CsvStatistics *statistics, int most)
{
	const CsvDevice *device = &the_device;

	if (device->session == NULL || most < 1)
		return 0;
	memset(statistics, 0, sizeof(*statistics));
	statistics->device = device->number;
	statistics->counts = device->counts;
	statistics->memory_held = csv_cuda_memory(device->session,
											  csv_device_memory_limit(),
											  &statistics->memory_limit);
	memcpy(statistics->name, device->name, sizeof(statistics->name));
	return 1;
}

bool
csv_device_is_lost(CsvDevice *device)
{
	return csv_cuda_is_lost(device->session);
}

bool
csv_device_any_is_lost(void)
{
	return the_device.session != NULL && csv_device_is_lost(&the_device);
}

void
csv_device_wake(CsvDevice *device)
{
	(void) csv_cuda_start(device->session, device->number);
}

const char *
csv_device_name(CsvDevice *device)
{
	return device->name;
}

void
csv_device_choose(uint32_t number)
{
	chosen = number;
}

void
csv_device_limit(uint64_t nbytes)
{
	__atomic_store_n(&memory_limit, nbytes, __ATOMIC_RELAXED);
}

uint64_t
csv_device_memory_limit(void)
{
	return __atomic_load_n(&memory_limit, __ATOMIC_RELAXED);
}

CsvSession *
csv_device_session(CsvDevice *device)
{
	return device->session;
}

int
csv_device_number(const CsvDevice *device)
{
	return device->number;
}

const CsvEngine *
csv_device_open_engine(CsvDevice *device, const CsvMemory *memory,
					   void **engine, char *reason, size_t reason_size)
{
	CsvCudaOptions options;

	memset(&options, 0, sizeof(options));
	options.device = device->number;
	options.memory_limit = csv_device_memory_limit();
	*engine = csv_cuda_open(device->session, &options, memory, reason,
							reason_size);
	return *engine == NULL ? NULL : &csv_cuda_engine;
}

bool
csv_device_find_block(CsvDevice *device, const void *bytes, size_t nbytes,
					  CsvDeviceBlock *block)
{
	CsvCudaBlock found;

	if (!csv_cuda_find_block(device->session, bytes, nbytes, &found))
		return false;
	block->number = found.number;
	block->file = found.descriptor;
	block->bytes = found.bytes;
	block->nbytes = found.nbytes;
	return true;
}

#else							/* there are none */

bool
csv_device_may_be(void)
{
	return false;
}

CsvDevice *
csv_device_find(uint32_t number)
{
	(void) number;
	return NULL;
}

int
csv_device_list(CsvDeviceEntry *entries, int most)
{
	(void) entries;
	(void) most;
	return 0;
}

CsvDeviceState
csv_device_state(CsvDevice *device)
{
	(void) device;
	return CSV_DEVICE_NONE;
}

CsvCounts *
csv_device_counts(CsvDevice *device)
{
	(void) device;
	return NULL;
}

int
csv_device_statistics(CsvStatistics *statistics, int most)
{
	(void) statistics;
	(void) most;
	return 0;
}

bool
csv_device_is_lost(CsvDevice *device)
{
	(void) device;
	return false;
}

bool
csv_device_any_is_lost(void)
{
	return false;
}

void
csv_device_wake(CsvDevice *device)
{
	(void) device;
}

const char *
csv_device_name(CsvDevice *device)
{
	(void) device;
	return "";
}

void
csv_device_choose(uint32_t number)
{
	(void) number;
}

void
csv_device_limit(uint64_t nbytes)
{
	(void) nbytes;
}

const CsvEngine *
csv_device_open_engine(CsvDevice *device, const CsvMemory *memory,
					   void **engine, char *reason, size_t reason_size)
{
	(void) device;
	(void) memory;
	(void) engine;
	(void) reason;
	(void) reason_size;
	return NULL;
}

bool
csv_device_find_block(CsvDevice *device, const void *bytes, size_t nbytes,
					  CsvDeviceBlock *block)
{
	(void) device;
	(void) bytes;
	(void) nbytes;
	(void) block;
	return false;
}

#endif
