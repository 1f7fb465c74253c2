/*
 * device.c
 *		The GPUs that the program uses, through the CUDA engine: each has a session.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "../../cuda/csv_cuda.h"
#include "device.h"
#include "reader/clock.h"
#include "reader/thread.h"

/*
 * A session's answer waits for the search this many naps at most.  Without a driver
 * the search ends sooner, and mostly with a driver, too.
 */
#define LOOK_NAPS			20
#define LOOK_AGAIN_SECONDS	60

/* if another device is awake, a failed start is not repeated sooner */
#define WAKE_AGAIN_SECONDS	60

/* a list of the devices is valid for this long */
#define LIST_SECONDS		1

/* a device that has the data is preferred up to this many more users */
#define MORE_WORK			2

const double csv_device_patience = 30;

/*
 * A device reads this many rows of Q1's columns in half a millisecond.  Asking several
 * devices takes as long, for their threads.
 */
const uint64_t csv_least_device_rows = UINT64_C(8) << 20;

const uint32_t csv_most_device_files = 1024;

/* the memory of calls, and as much again */
const uint64_t csv_least_head_limit = UINT64_C(2) << 30;

struct CsvDevice
{
	CsvSession *session;
	int			number;
	char		name[CSV_DEVICE_NAME_BYTES];
	CsvCounts	counts;
	int			nusers;			/* guarded by the mutex */
	double		woken_at;		/* csv_now_seconds(); for one thread */
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* the results of the thread that looks for devices; guarded by the mutex */
static bool is_looking = false;
static bool has_looked = false;
static double looked_at = 0;	/* csv_now_seconds() */
static CsvCudaDevice seen[CSV_MOST_DEVICES];
static int	nseen = 0;
static pthread_cond_t for_look;	/* for csv_nap(); signalled at the end of the search */

/* the devices in use, set by the search; the mutex guards them, less their contents */
static CsvDevice devices[CSV_MOST_DEVICES];
static int	ndevices = 0;

static int32_t chosen = CSV_ANY_DEVICE;
static uint64_t memory_limit = 0;

/* ---- the search ---- */

static bool
is_meant(int device, int32_t number)
{
	return number == CSV_ANY_DEVICE || device == number;
}

/* the mutex is held */
static void
add_devices(bool usable)
{
	for (int i = 0; i < nseen; i++)
	{
		CsvDevice  *device = &devices[ndevices];

		if (seen[i].usable != usable || !is_meant(seen[i].ordinal, chosen) ||
			(device->session = csv_cuda_session_create(seen[i].ordinal)) == NULL)
			continue;
		device->number = seen[i].ordinal;
		snprintf(device->name, sizeof(device->name), "%.*s",
				 CSV_DEVICE_NAME_BYTES - 1, seen[i].name);
		ndevices++;
	}
}

static void *
run_look(void *arg)
{
	static CsvCudaDevice found[CSV_MOST_DEVICES];
	int			n;

	(void) arg;
	if (chosen == 0)
		csv_cuda_see_first();
	n = csv_cuda_list_devices(found, CSV_MOST_DEVICES);
	pthread_mutex_lock(&mutex);
	nseen = n < CSV_MOST_DEVICES ? n : CSV_MOST_DEVICES;
	memcpy(seen, found, sizeof(CsvCudaDevice) * (size_t) nseen);

	/* without usable devices take the others: they may say why they are not usable */
	if (ndevices == 0)
		add_devices(true);
	if (ndevices == 0)
		add_devices(false);
	looked_at = csv_now_seconds();
	has_looked = true;
	is_looking = false;
	pthread_cond_broadcast(&for_look);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

/* start the search; the first time, wait for a moment.  The mutex is held. */
static void
look(void)
{
	if (is_looking)
		return;
	if (!has_looked)
		csv_nap_init(&for_look);
	if (!csv_thread_detach(run_look, NULL))
		return;
	is_looking = true;
	for (int i = 0; i < LOOK_NAPS && is_looking && !has_looked; i++)
		csv_nap(&for_look, &mutex);
}

/* start a search if none has found a device; false: the first is under way */
static bool
find_devices(void)
{
	bool		found;

	pthread_mutex_lock(&mutex);
	if (!has_looked || (ndevices == 0 && csv_now_seconds() - looked_at >
						LOOK_AGAIN_SECONDS))
		look();
	found = has_looked;
	pthread_mutex_unlock(&mutex);
	return found;
}

/* the number of devices found so far */
static int
count_devices(void)
{
	int			n;

	pthread_mutex_lock(&mutex);
	n = ndevices;
	pthread_mutex_unlock(&mutex);
	return n;
}

int
csv_device_list(CsvDeviceEntry *entries, int most)
{
	int			n;

	pthread_mutex_lock(&mutex);
	if (!has_looked || csv_now_seconds() - looked_at > LIST_SECONDS)
		look();
	n = is_looking || !has_looked ? -1 : nseen < most ? nseen : most;
	for (int i = 0; i < n; i++)
	{
		CsvDeviceEntry *entry = &entries[i];

		memset(entry, 0, sizeof(*entry));
		entry->number = seen[i].ordinal;
		entry->capability_major = seen[i].capability_major;
		entry->capability_minor = seen[i].capability_minor;
		entry->usable = seen[i].usable;
		entry->memory_total = seen[i].memory_total;
		entry->memory_free = seen[i].memory_free;
		snprintf(entry->name, sizeof(entry->name), "%.*s",
				 CSV_DEVICE_NAME_BYTES - 1, seen[i].name);
		snprintf(entry->reason, sizeof(entry->reason), "%.*s",
				 CSV_DEVICE_NAME_BYTES - 1, seen[i].reason);
	}
	pthread_mutex_unlock(&mutex);
	return n;
}

/* ---- the devices that a number stands for ---- */

static CsvDeviceState
state_of(CsvDevice *device)
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

CsvDeviceState
csv_devices_state(int32_t number, const char **name)
{
	CsvDeviceState state = CSV_DEVICE_NONE;

	*name = "";
	if (!find_devices())
		return CSV_DEVICE_STARTING;
	for (int i = 0; i < count_devices(); i++)
		if (is_meant(devices[i].number, number))
		{
			CsvDeviceState its = state_of(&devices[i]);

			if (**name == '\0')
				*name = devices[i].name;
			state = its > state ? its : state;
		}
	return state;
}

void
csv_devices_wake(int32_t number)
{
	CsvDevice  *awake[CSV_MOST_DEVICES];
	bool		any_awake = csv_devices_awake(number, awake) > 0;
	double		now = csv_now_seconds();

	for (int i = 0; i < count_devices(); i++)
	{
		CsvDevice  *device = &devices[i];

		if (!is_meant(device->number, number) ||
			state_of(device) != CSV_DEVICE_ASLEEP ||
			(any_awake && device->woken_at != 0 &&
			 now - device->woken_at < WAKE_AGAIN_SECONDS))
			continue;
		device->woken_at = now;
		(void) csv_cuda_start(device->session);
	}
}

void
csv_devices_count_starting(int32_t number)
{
	for (int i = 0; i < count_devices(); i++)
		if (is_meant(devices[i].number, number))
		{
			csv_count(&devices[i].counts.fallbacks[CSV_FALLBACK_STARTING], 1);
			return;
		}
}

int
csv_devices_awake(int32_t number, CsvDevice *awake[CSV_MOST_DEVICES])
{
	int			n = 0;

	for (int i = 0; i < count_devices(); i++)
		if (is_meant(devices[i].number, number) &&
			state_of(&devices[i]) == CSV_DEVICE_AWAKE)
			awake[n++] = &devices[i];
	return n;
}

/* how unsuitable is the device?  The lowest number wins. */
static int
reluctance(const CsvDevice *device, const CsvDeviceWish *wish)
{
	bool		has = (wish->has & csv_device_bit(device)) != 0;

	if (has && wish->always)
		return 0;
	return device->nusers - (device == wish->own) + (has ? 0 : MORE_WORK) +
		wish->always;
}

/* the best device in the set `among`; the mutex is held */
static CsvDevice *
find_best(const CsvDeviceWish *wish, uint64_t among)
{
	CsvDevice  *best = NULL;
	CsvDeviceState best_state = CSV_DEVICE_NONE;
	int			least = 0;

	for (int i = 0; i < ndevices; i++)
	{
		CsvDevice  *device = &devices[i];
		CsvDeviceState state = state_of(device);
		int			n;

		if (!is_meant(device->number, wish->number) ||
			(among & csv_device_bit(device)) == 0 || state < best_state ||
			(state != CSV_DEVICE_AWAKE && !wish->may_wait))
			continue;
		n = reluctance(device, wish);
		if (best != NULL && state == best_state &&
			(n > least || (n == least && device != wish->own)))
			continue;
		best = device;
		best_state = state;
		least = n;
	}
	return best;
}

CsvDevice *
csv_device_take(const CsvDeviceWish *wish, char *reason, size_t reason_size)
{
	uint64_t	among = UINT64_MAX;
	CsvDevice  *device;

	snprintf(reason, reason_size, "there is no usable GPU");
	for (;;)
	{
		pthread_mutex_lock(&mutex);
		while (wish->may_wait && ndevices == 0 && is_looking)
			pthread_cond_wait(&for_look, &mutex);
		device = find_best(wish, among);
		if (device != NULL)
			device->nusers++;
		pthread_mutex_unlock(&mutex);
		if (device == NULL || state_of(device) == CSV_DEVICE_AWAKE ||
			csv_cuda_wake(device->session, reason, reason_size))
			return device;
		csv_device_leave(device);
		among &= ~csv_device_bit(device);
	}
}

void
csv_device_leave(CsvDevice *device)
{
	pthread_mutex_lock(&mutex);
	device->nusers--;
	pthread_mutex_unlock(&mutex);
}

/* ---- a device ---- */

int
csv_device_place(const CsvDevice *device)
{
	return (int) (device - devices);
}

CsvCounts *
csv_device_counts(CsvDevice *device)
{
	return &device->counts;
}

/* other threads may be counting */
static CsvCounts
counts_of(const CsvDevice *device)
{
	CsvCounts	counts = {0};
	const uint64_t *from = (const uint64_t *) &device->counts;
	uint64_t   *to = (uint64_t *) &counts;

	for (size_t i = 0; i < sizeof(counts) / sizeof(uint64_t); i++)
		to[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
	return counts;
}

int
csv_device_statistics(CsvStatistics *statistics, int most)
{
	int			n = count_devices();

	n = n < most ? n : most;
	for (int i = 0; i < n; i++)
	{
		CsvDevice  *device = &devices[i];
		CsvStatistics *its = &statistics[i];

		memset(its, 0, sizeof(*its));
		its->device = device->number;
		its->counts = counts_of(device);
		its->memory_held = csv_cuda_memory(device->session,
										   csv_device_memory_limit(),
										   &its->memory_limit);
		memcpy(its->name, device->name, sizeof(its->name));
	}
	return n;
}

bool
csv_device_is_lost(CsvDevice *device)
{
	return csv_cuda_is_lost(device->session);
}

bool
csv_device_any_is_lost(void)
{
	for (int i = 0; i < count_devices(); i++)
		if (csv_device_is_lost(&devices[i]))
			return true;
	return false;
}

void
csv_device_choose(int32_t number)
{
	pthread_mutex_lock(&mutex);
	if (!is_looking && !has_looked)
		chosen = number;
	pthread_mutex_unlock(&mutex);
}

void
csv_device_limit(uint64_t nbytes)
{
	__atomic_store_n(&memory_limit, nbytes, __ATOMIC_RELAXED);
	for (int i = 0; i < count_devices(); i++)
		csv_cuda_trim(devices[i].session, nbytes);
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
