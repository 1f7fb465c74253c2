/*
 * files.c
 *		Copies files to devices, in threads of each device.
 *
 * Any free thread copies the next block of a file, as far as scans have asked for
 * bytes, and somewhat farther.  Files take turns.  Scans see the blocks from the first
 * one up to the first that is missing.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../../cuda/csv_cuda.h"
#include "files.h"
#include "reader/clock.h"
#include "reader/thread.h"
#include "wire/identity.h"

/* a smaller file is read as fast without a copy */
#define LEAST_FILE_BYTES	(UINT64_C(64) << 10)

/* bytes that are copied beyond those that were asked for: this many times as many */
#define AHEAD_SHARE			8

#define MOST_THREADS		64

#define MOST_FILES			1024	/* of a device, besides those in use */

/* a wait for a device that may have a file, and may be busy */
#define LOCK_NANOSECONDS	(50 * 1000 * 1000)

#define BLOCK_BYTES			CSV_CUDA_COPY_BYTES

typedef struct OnDevice OnDevice;

/*
 * A file on a device, even if its bytes have gone from there.  While it is in use it
 * has a descriptor.
 */
struct CsvDeviceFile
{
	TAILQ_ENTRY(CsvDeviceFile) of_device;
	OnDevice   *on;
	CsvFileIdentity identity;
	CsvCudaFile *bytes;
	bool		is_stale;		/* it has changed, or cannot be read: not for new
								 * scans */

	int			nusers;			/* scans */
	int			descriptor;		/* -1: not in use */
	uint32_t	nthreads;		/* that may copy it at once */
	uint32_t	nactive;		/* that do */
	uint64_t	wanted;			/* copy up to there */

	uint64_t	end;			/* its size; less if the file has become shorter */
	uint64_t	nblocks;
	uint64_t	nbegun;			/* blocks that were begun, from the first one on */
	uint64_t	nready;			/* blocks that are ready, from the first one on */
	uint8_t    *is_ready;		/* per block */
	int			error;			/* errno; ENODEV: the device has failed; 0: none */
};

typedef struct Thread
{
	OnDevice   *on;
	CsvCudaCopier *copier;
	double		reading_since;	/* csv_now_seconds(); 0: not reading */
} Thread;

/* the files of a device; guarded by its mutex, so that no device waits for another */
struct OnDevice
{
	pthread_mutex_t mutex;
	pthread_cond_t for_threads;
	pthread_cond_t for_scans;	/* for csv_nap() */
	CsvDevice  *device;
	TAILQ_HEAD(, CsvDeviceFile) files;
	uint32_t	nfiles;
	uint32_t	nidle;
	uint32_t	nthreads;
	Thread		threads[MOST_THREADS];	/* the first nthreads exist */
};

static OnDevice on_devices[CSV_MOST_DEVICES];
static pthread_once_t are_made = PTHREAD_ONCE_INIT;

static void
make_on_devices(void)
{
	for (int i = 0; i < CSV_MOST_DEVICES; i++)
	{
		OnDevice   *on = &on_devices[i];

		pthread_mutex_init(&on->mutex, NULL);
		pthread_cond_init(&on->for_threads, NULL);
		csv_nap_init(&on->for_scans);
		TAILQ_INIT(&on->files);
	}
}

/* ---- the threads ---- */

static bool
has_work(const CsvDeviceFile *file)
{
	uint64_t	offset = file->nbegun * BLOCK_BYTES;

	return file->nusers > 0 && file->error == 0 && offset < file->end &&
		offset < file->wanted && file->nactive < file->nthreads;
}

/* the next file in turn; NULL: there is nothing to do */
static CsvDeviceFile *
find_work(OnDevice *on)
{
	CsvDeviceFile *file;

	TAILQ_FOREACH(file, &on->files, of_device)
		if (has_work(file))
		{
			TAILQ_REMOVE(&on->files, file, of_device);
			TAILQ_INSERT_TAIL(&on->files, file, of_device);
			return file;
		}
	return NULL;
}

/* the bytes that were read of a block; negative with errno */
static ssize_t
read_block(const CsvDeviceFile *file, uint64_t offset, uint8_t *bytes, size_t nbytes)
{
	size_t		done = 0;

	while (done < nbytes)
	{
		ssize_t		n = pread(file->descriptor, bytes + done, nbytes - done,
							  (off_t) (offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (n == 0)
			break;
		done += (size_t) n;
	}
	return (ssize_t) done;
}

static void end_use(CsvDeviceFile *file);

/* copy a block; the mutex is held, but not while copying */
static void
copy_block(CsvDeviceFile *file, Thread *thread)
{
	OnDevice   *on = thread->on;
	uint64_t	number = file->nbegun++;
	uint64_t	offset = number * BLOCK_BYTES;
	uint64_t	left = (uint64_t) file->identity.size - offset;
	size_t		nbytes = left < BLOCK_BYTES ? (size_t) left : BLOCK_BYTES;
	ssize_t		n;
	int			error = 0;

	file->nactive++;
	thread->reading_since = csv_now_seconds();
	pthread_mutex_unlock(&on->mutex);
	n = read_block(file, offset, csv_cuda_copier_bytes(thread->copier), nbytes);
	if (n < 0)
		error = errno;
	else if (!csv_cuda_copier_copy(thread->copier, file->bytes, offset, (size_t) n))
		error = ENODEV;
	pthread_mutex_lock(&on->mutex);
	thread->reading_since = 0;
	file->nactive--;
	file->is_ready[number] = error == 0;
	if (error != 0)
		file->error = error;
	else if (offset + (uint64_t) n < file->end && n < (ssize_t) nbytes)
		file->end = offset + (uint64_t) n;
	file->is_stale |= error != 0 || n < (ssize_t) nbytes;
	while (file->nready < file->nblocks && file->is_ready[file->nready])
		file->nready++;
	pthread_cond_broadcast(&on->for_scans);
	if (file->nusers == 0 && file->nactive == 0)
		end_use(file);
}

static void *
run_thread(void *arg)
{
	Thread	   *thread = arg;
	OnDevice   *on = thread->on;
	CsvDeviceFile *file;

	pthread_mutex_lock(&on->mutex);
	for (;;)
		if ((file = find_work(on)) != NULL)
			copy_block(file, thread);
		else
		{
			on->nidle++;
			pthread_cond_wait(&on->for_threads, &on->mutex);
			on->nidle--;
		}
	return NULL;
}

static bool
is_stuck(const Thread *thread)
{
	return thread->reading_since != 0 &&
		csv_now_seconds() - thread->reading_since > csv_device_patience;
}

/* false: no more threads are possible */
static bool
start_thread(OnDevice *on)
{
	Thread	   *thread = &on->threads[on->nthreads];

	thread->on = on;
	thread->copier = csv_cuda_copier_create(csv_device_session(on->device));
	if (thread->copier == NULL)
		return false;
	if (!csv_thread_detach(run_thread, thread))
	{
		csv_cuda_copier_free(thread->copier);
		return false;
	}
	on->nthreads++;
	return true;
}

/* as many threads as wanted, but no more than cores; the mutex is held */
static void
start_threads(OnDevice *on, uint32_t wanted)
{
	long		ncores = sysconf(_SC_NPROCESSORS_ONLN);

	if (ncores > 0 && wanted > (uint32_t) ncores)
		wanted = (uint32_t) ncores;
	for (uint32_t i = 0; i < on->nthreads; i++)
		wanted += is_stuck(&on->threads[i]);
	while (on->nthreads < wanted && on->nthreads < MOST_THREADS &&
		   start_thread(on))
		;
}

/* ---- the files ---- */

static void
free_file(CsvDeviceFile *file)
{
	TAILQ_REMOVE(&file->on->files, file, of_device);
	file->on->nfiles--;
	csv_cuda_file_free(file->bytes);
	free(file->is_ready);
	free(file);
}

/* free the file that threads copied longest ago, of those not in use */
static void
free_oldest(OnDevice *on)
{
	CsvDeviceFile *file;

	TAILQ_FOREACH(file, &on->files, of_device)
		if (file->descriptor < 0)
		{
			free_file(file);
			return;
		}
}

static CsvDeviceFile *
make_file(OnDevice *on, const CsvFileIdentity *identity)
{
	CsvDeviceFile *file = calloc(1, sizeof(CsvDeviceFile));

	if (file == NULL)
		return NULL;
	file->identity = *identity;
	file->on = on;
	file->descriptor = -1;
	file->end = (uint64_t) identity->size;
	file->nblocks = ((uint64_t) identity->size + BLOCK_BYTES - 1) / BLOCK_BYTES;
	file->is_ready = calloc(file->nblocks, 1);
	if (file->is_ready != NULL)
		file->bytes = csv_cuda_file_create(csv_device_session(on->device),
										   (uint64_t) identity->size,
										   csv_device_memory_limit());
	if (file->bytes == NULL)
	{
		free(file->is_ready);
		free(file);
		return NULL;
	}
	TAILQ_INSERT_TAIL(&on->files, file, of_device);
	if (++on->nfiles > MOST_FILES)
		free_oldest(on);
	return file;
}

static bool
is_same_place(const CsvFileIdentity *a, const CsvFileIdentity *b)
{
	return a->device == b->device && a->inode == b->inode;
}

/*
 * The file as it is now, with a use of its bytes.  Frees copies of an earlier state of
 * it, and copies that have lost their bytes, except those in use.
 */
static CsvDeviceFile *
find_file(OnDevice *on, const CsvFileIdentity *identity)
{
	CsvDeviceFile *file = TAILQ_FIRST(&on->files);

	while (file != NULL)
	{
		CsvDeviceFile *next = TAILQ_NEXT(file, of_device);

		if (is_same_place(&file->identity, identity))
		{
			file->is_stale |= !csv_same_file(&file->identity, identity);
			if (!file->is_stale && (file->descriptor >= 0 ||
									csv_cuda_file_use(file->bytes,
													  csv_device_memory_limit())))
				return file;
			if (file->descriptor < 0)
				free_file(file);
		}
		file = next;
	}
	return make_file(on, identity);
}

static bool
is_for_device(const struct stat *st)
{
	CsvFileIdentity identity = csv_file_identity(st);

	return S_ISREG(st->st_mode) && identity.size >= (int64_t) LEAST_FILE_BYTES &&
		csv_has_settled(identity.changed) && csv_has_settled(identity.modified);
}

/* blocks that are not ready are copied again */
static void
begin_use(CsvDeviceFile *file, int descriptor, uint32_t wanted_threads)
{
	if (file->descriptor >= 0)
		close(descriptor);
	else
	{
		file->descriptor = descriptor;
		file->nthreads = 0;
		file->wanted = 0;
		file->nbegun = file->nready;
		memset(file->is_ready + file->nready, 0, file->nblocks - file->nready);
	}
	file->nusers++;
	if (file->nthreads < wanted_threads)
		file->nthreads = wanted_threads;
}

/* no scan uses the file any more; it may have changed meanwhile */
static void
end_use(CsvDeviceFile *file)
{
	struct stat st;

	if (fstat(file->descriptor, &st) == 0)
	{
		CsvFileIdentity identity = csv_file_identity(&st);

		file->is_stale |= !csv_same_file(&identity, &file->identity);
	}
	close(file->descriptor);
	file->descriptor = -1;
	csv_cuda_file_leave(file->bytes);
	if (file->is_stale)
		free_file(file);
}

CsvDeviceFile *
csv_device_file_open(CsvDevice *device, int descriptor,
					 uint32_t wanted_threads)
{
	struct stat st;
	CsvFileIdentity identity;
	OnDevice   *on = &on_devices[csv_device_place(device)];
	CsvDeviceFile *file;
	int			copy;

	if (fstat(descriptor, &st) != 0 || !is_for_device(&st) ||
		(copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)) < 0)
		return NULL;
	identity = csv_file_identity(&st);
	pthread_once(&are_made, make_on_devices);
	pthread_mutex_lock(&on->mutex);
	on->device = device;
	start_threads(on, wanted_threads);
	file = on->nthreads == 0 ? NULL : find_file(on, &identity);
	if (file != NULL)
		begin_use(file, copy, wanted_threads);
	pthread_mutex_unlock(&on->mutex);
	if (file == NULL)
		close(copy);
	return file;
}

/* false: the device is busy, perhaps for long */
static bool
lock_soon(OnDevice *on)
{
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_nsec += LOCK_NANOSECONDS;
	end.tv_sec += end.tv_nsec / 1000000000;
	end.tv_nsec %= 1000000000;
	return pthread_mutex_timedlock(&on->mutex, &end) == 0;
}

uint64_t
csv_devices_with_file(int descriptor)
{
	struct stat st;
	CsvFileIdentity identity;
	uint64_t	found = 0;

	if (fstat(descriptor, &st) != 0)
		return 0;
	identity = csv_file_identity(&st);
	pthread_once(&are_made, make_on_devices);
	for (int i = 0; i < CSV_MOST_DEVICES; i++)
	{
		OnDevice   *on = &on_devices[i];
		const CsvDeviceFile *file;

		if (!lock_soon(on))
			continue;
		TAILQ_FOREACH(file, &on->files, of_device)
			if (is_same_place(&file->identity, &identity))
				found |= csv_device_bit(on->device);
		pthread_mutex_unlock(&on->mutex);
	}
	return found;
}

void
csv_device_file_close(CsvDeviceFile *file)
{
	OnDevice   *on = file->on;

	pthread_mutex_lock(&on->mutex);
	if (--file->nusers == 0 && file->nactive == 0)
		end_use(file);
	pthread_mutex_unlock(&on->mutex);
}

void
csv_device_file_use(const CsvDeviceFile *file, void *engine)
{
	csv_cuda_set_file(engine, file == NULL ? NULL : file->bytes);
}

uint64_t
csv_device_file_bytes(CsvDeviceFile *file)
{
	uint64_t	nbytes;

	pthread_mutex_lock(&file->on->mutex);
	nbytes = file->end;
	pthread_mutex_unlock(&file->on->mutex);
	return nbytes;
}

/* copy more bytes than were asked for, so that no scan waits for the next bytes */
static void
want(CsvDeviceFile *file, uint64_t offset, uint64_t nbytes)
{
	uint64_t	left = file->end - offset;
	uint64_t	end = offset + (nbytes < left / (1 + AHEAD_SHARE) ?
								nbytes * (1 + AHEAD_SHARE) : left);

	if (file->wanted < end)
		file->wanted = end;

	/* also if `wanted` is as before: threads stop when no scan uses a file any more */
	if (file->on->nidle > 0 && has_work(file))
		pthread_cond_broadcast(&file->on->for_threads);
}

/* are the bytes up to `end`, or to the file's end, on the device? */
static bool
is_there(const CsvDeviceFile *file, uint64_t end)
{
	return file->nready == file->nblocks || end <= file->nready * BLOCK_BYTES;
}

CsvStatus
csv_device_file_await(CsvDeviceFile *file, uint64_t offset, uint64_t *nbytes,
					  bool *at_end, bool (*interrupted) (void *arg), void *arg)
{
	OnDevice   *on = file->on;
	uint64_t	wanted = *nbytes;
	uint64_t	nready = 0;
	double		since = 0;
	CsvStatus	status = CSV_OK;

	pthread_mutex_lock(&on->mutex);
	for (;;)
	{
		/* meanwhile the file may turn out to be shorter */
		uint64_t	left = offset < file->end ? file->end - offset : 0;

		*at_end = wanted >= left;
		*nbytes = *at_end ? left : wanted;
		if (left > 0)
			want(file, offset, *nbytes);
		if (left == 0 || is_there(file, offset + *nbytes))
			break;
		if (file->error != 0)
		{
			errno = file->error;
			status = errno == ENODEV ? CSV_DEVICE_FAILED : CSV_UNREADABLE;
			break;
		}
		if (interrupted(arg))
		{
			status = CSV_INTERRUPTED;
			break;
		}
		if (since == 0 || file->nready != nready)
			since = csv_now_seconds();
		nready = file->nready;
		if (csv_now_seconds() - since > csv_device_patience)
		{
			errno = ETIMEDOUT;
			status = CSV_DEVICE_FAILED;
			break;
		}
		csv_nap(&on->for_scans, &on->mutex);
	}
	pthread_mutex_unlock(&on->mutex);
	return status;
}
