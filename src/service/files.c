/*
 * files.c
 *		Copies files to devices, in threads of each device.
 *
 * Any free thread copies the next block of a file, as far as scans have asked for
 * bytes, and somewhat farther.  Files take turns.  Scans see the blocks up to the first
 * that is missing.
 *
 * The memory of a file that does not stay is a window, for one scan.  The window begins
 * at the block that the scan asks for, and its blocks go round in the memory, as do
 * those of csv_cuda.h: the bytes at an offset are at offset % capacity.  A window whose
 * scan has ended is there for another scan, until something else needs its memory.
 *
 * If there is room for a part of a file, its head stays: always the same bytes, so that
 * each scan finds them.  If the bytes used last stayed, a scan would find none of those
 * that it wants next.
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

/*
 * Blocks of a window: 256 MB, so that threads copy the next chunks while the device
 * parses one, but no more than this share of the device's memory limit.  If there is no
 * room, half of it is tried, and so on.  A longer record makes the window grow.
 */
#define WINDOW_BLOCKS		64
#define WINDOW_SHARE		4
#define LEAST_WINDOW_BLOCKS	2

/* a head is as many of these parts of the file as there is room for */
#define HEAD_PARTS			16

/* a scan of at most this part of a file, at its end, has the file not stay */
#define REST_SHARE			8

/* bytes at each end of a copy that are compared before it is extended */
#define SAMPLE_BYTES		((size_t) 64 << 10)

/* bytes that are copied beyond those that were asked for: this many times as many */
#define AHEAD_SHARE			8

#define MOST_THREADS		64

/* threads that copy a file at once, each a block */
#define THREADS_OF_FILE		8

/* a wait for a device that may have a file, and may be busy */
#define LOCK_NANOSECONDS	(50 * 1000 * 1000)

#define BLOCK_BYTES			CSV_CUDA_COPY_BYTES

typedef struct OnDevice OnDevice;

/*
 * A file on a device, or its head, even if its bytes have gone from there; or a window.
 * While it is in use it has a descriptor.
 */
struct CsvDeviceFile
{
	TAILQ_ENTRY(CsvDeviceFile) of_device;
	OnDevice   *on;
	bool		is_window;
	CsvFileIdentity identity;	/* of a file that stays */
	bool		grows;			/* bytes are only appended to it */
	CsvDeviceFile *head;		/* for the scan of a window; NULL: nothing stays */
	CsvCudaFile *bytes;
	bool		is_stale;		/* it has changed, or cannot be read: not for new
								 * scans */

	int			nusers;			/* scans */
	int			descriptor;		/* -1: not in use */
	uint32_t	nactive;		/* threads that copy it */
	uint64_t	wanted;			/* copy up to there */

	uint64_t	size;			/* copy up to there */
	uint64_t	end;			/* its size; less if the file has become shorter */
	uint64_t	capacity;		/* blocks for which there is room */
	uint64_t	first;			/* block where the window begins; otherwise 0 */
	uint64_t	given;			/* the offset that its scan asked for last */
	void	   *engine;			/* of that scan */
	uint64_t	nbegun;			/* blocks before it were begun, */
	uint64_t	nready;			/* and these are ready, from the first one on */
	uint8_t    *is_ready;		/* per block, at index block % capacity */
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
	uint64_t	from = file->first < file->nready ? file->first : file->nready;

	return file->nusers > 0 && file->error == 0 && offset < file->end &&
		offset < file->wanted && file->nactive < THREADS_OF_FILE &&
		file->nbegun < from + file->capacity;
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

ssize_t
csv_read_at(int file, uint64_t offset, uint8_t *bytes, size_t nbytes)
{
	size_t		done = 0;

	while (done < nbytes)
	{
		ssize_t		n = pread(file, bytes + done, nbytes - done,
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
	uint64_t	left = file->size - offset;
	size_t		nbytes = left < BLOCK_BYTES ? (size_t) left : BLOCK_BYTES;
	ssize_t		n;
	int			error = 0;

	file->is_ready[number % file->capacity] = false;
	file->nactive++;
	thread->reading_since = csv_now_seconds();
	pthread_mutex_unlock(&on->mutex);
	n = csv_read_at(file->descriptor, offset,
					csv_cuda_copier_bytes(thread->copier), nbytes);
	if (n < 0)
		error = errno;
	else if (!csv_cuda_copier_copy(thread->copier, file->bytes, offset, (size_t) n))
		error = ENODEV;
	pthread_mutex_lock(&on->mutex);
	thread->reading_since = 0;
	file->nactive--;
	file->is_ready[number % file->capacity] = error == 0;
	if (error != 0)
		file->error = error;
	else if (offset + (uint64_t) n < file->end && n < (ssize_t) nbytes)
		file->end = offset + (uint64_t) n;
	file->is_stale |= error != 0 || n < (ssize_t) nbytes;
	while (file->nready < file->nbegun &&
		   file->is_ready[file->nready % file->capacity])
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

/* as many threads as copy a file, but no more than cores; the mutex is held */
static void
start_threads(OnDevice *on)
{
	long		ncores = sysconf(_SC_NPROCESSORS_ONLN);
	uint32_t	wanted = THREADS_OF_FILE;

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

/* free the file that threads copied longest ago, of those that no scan uses or extends */
static void
free_oldest(OnDevice *on)
{
	CsvDeviceFile *file;

	TAILQ_FOREACH(file, &on->files, of_device)
		if (file->descriptor < 0 && file->nusers == 0)
		{
			free_file(file);
			return;
		}
}

/* give the file new memory, which no thread uses; false: there is no room */
static bool
renew_memory(CsvDeviceFile *file, uint64_t nbytes)
{
	CsvSession *session = csv_device_session(file->on->device);
	uint64_t	nblocks = (nbytes + BLOCK_BYTES - 1) / BLOCK_BYTES;
	uint8_t    *is_ready = malloc(nblocks);
	CsvCudaFile *bytes = NULL;

	if (is_ready != NULL)
		bytes = csv_cuda_file_create(session, nbytes, csv_device_memory_limit());
	if (bytes == NULL)
	{
		free(is_ready);
		return false;
	}
	if (file->bytes != NULL)
	{
		csv_cuda_set_file(file->engine, bytes);
		csv_cuda_file_leave(file->bytes);
		csv_cuda_file_free(file->bytes);
	}
	free(file->is_ready);
	file->bytes = bytes;
	file->is_ready = is_ready;
	file->capacity = nblocks;
	return true;
}

/* with room for nbytes bytes; NULL: there is none */
static CsvDeviceFile *
make_file(OnDevice *on, uint64_t nbytes)
{
	CsvDeviceFile *file = calloc(1, sizeof(CsvDeviceFile));

	if (file == NULL)
		return NULL;
	file->on = on;
	file->descriptor = -1;
	if (!renew_memory(file, nbytes))
	{
		free(file);
		return NULL;
	}
	/* the new file is not in use yet, so it must not be in the list */
	if (on->nfiles >= csv_most_device_files)
		free_oldest(on);
	TAILQ_INSERT_TAIL(&on->files, file, of_device);
	on->nfiles++;
	return file;
}

/* is there still the memory of a file that is not in use?  Then use it. */
static bool
use_memory(CsvDeviceFile *file)
{
	return csv_cuda_file_use(file->bytes, csv_device_memory_limit());
}

static bool
is_same_place(const CsvDeviceFile *file, const CsvFileIdentity *identity)
{
	return !file->is_window && file->identity.device == identity->device &&
		file->identity.inode == identity->inode;
}

/* with room for the first nbytes bytes of the file */
static CsvDeviceFile *
make_copy(OnDevice *on, const CsvFileIdentity *identity, uint64_t nbytes)
{
	CsvDeviceFile *file = make_file(on, nbytes);

	if (file != NULL)
	{
		file->identity = *identity;
		file->size = file->end = nbytes;
	}
	return file;
}

/* a file that has just changed may change again unnoticed */
static bool
has_settled(const CsvFileIdentity *identity)
{
	return csv_has_settled(identity->changed) && csv_has_settled(identity->modified);
}

/* bytes of a copy in whole blocks, from its beginning on */
static uint64_t
whole_bytes(const CsvDeviceFile *copy)
{
	uint64_t	nblocks = copy->end / BLOCK_BYTES;

	return (copy->nready < nblocks ? copy->nready : nblocks) * BLOCK_BYTES;
}

/* the first and last bytes of a file's beginning */
typedef struct Samples
{
	uint64_t	nbytes;			/* of the beginning; 0: there are no samples */
	uint8_t		first[SAMPLE_BYTES];
	uint8_t		last[SAMPLE_BYTES];
} Samples;

/*
 * Read samples of as much as a copy of an earlier state of the file has.  The mutex must
 * not be held: reading may take long.
 */
static void
read_samples(OnDevice *on, const CsvFileIdentity *identity, int descriptor,
			 Samples *samples)
{
	const CsvDeviceFile *copy;
	uint64_t	nbytes = 0;

	pthread_mutex_lock(&on->mutex);
	TAILQ_FOREACH(copy, &on->files, of_device)
		if (is_same_place(copy, identity) && copy->grows && nbytes == 0)
			nbytes = whole_bytes(copy);
	pthread_mutex_unlock(&on->mutex);
	if (nbytes > 0 && nbytes <= (uint64_t) identity->size &&
		pread(descriptor, samples->first, SAMPLE_BYTES, 0) == (ssize_t) SAMPLE_BYTES &&
		pread(descriptor, samples->last, SAMPLE_BYTES,
			  (off_t) (nbytes - SAMPLE_BYTES)) == (ssize_t) SAMPLE_BYTES)
		samples->nbytes = nbytes;
}

/* has the copy these bytes at this offset? */
static bool
has_sample(const CsvDeviceFile *copy, uint64_t offset, const uint8_t *sample)
{
	uint8_t		bytes[SAMPLE_BYTES];

	return csv_cuda_file_read(copy->bytes, offset, bytes, SAMPLE_BYTES) &&
		memcmp(bytes, sample, SAMPLE_BYTES) == 0;
}

/*
 * The copy of a file to which bytes were appended begins with the copy of an earlier
 * state of it, as far as that was copied in whole blocks.  As with kept columns, its
 * first and last bytes show that it is the same file.
 */
static void
extend_copy(CsvDeviceFile *file, const CsvDeviceFile *earlier, const Samples *samples)
{
	uint64_t	nbytes = samples->nbytes;

	if (nbytes == 0 || nbytes > whole_bytes(earlier) || nbytes > file->end ||
		!has_sample(earlier, 0, samples->first) ||
		!has_sample(earlier, nbytes - SAMPLE_BYTES, samples->last) ||
		!csv_cuda_file_extend(file->bytes, earlier->bytes, nbytes))
		return;
	file->nbegun = file->nready = nbytes / BLOCK_BYTES;
	memset(file->is_ready, true, file->nready);
}

/*
 * Has the copy all bytes of the file in this state?  Scans of a file that grows at the
 * same time share a copy of as many bytes, though its times change.
 */
static bool
is_same_state(const CsvDeviceFile *file, const CsvFileIdentity *identity, bool grows)
{
	if (grows && file->grows && file->nusers > 0)
		return file->identity.size == identity->size;
	return csv_same_file(&file->identity, identity) && has_settled(identity) &&
		(grows || !file->grows);
}

/* the file's memory, which was used, is not used any more */
static void
drop_copy(CsvDeviceFile *file)
{
	if (file->descriptor >= 0)
		return;
	csv_cuda_file_leave(file->bytes);
	free_file(file);
}

/*
 * The file as it is now, or its head, with a use of its bytes.  Frees copies of an
 * earlier state of it, and copies that have lost their bytes, except those in use.
 */
static CsvDeviceFile *
find_file(OnDevice *on, const CsvFileIdentity *identity, bool grows,
		  const Samples *samples)
{
	CsvDeviceFile *file = TAILQ_FIRST(&on->files);
	CsvDeviceFile *found = NULL;
	CsvDeviceFile *earlier = NULL;

	while (file != NULL)
	{
		CsvDeviceFile *next = TAILQ_NEXT(file, of_device);

		if (!is_same_place(file, identity))
			;
		else if (file->descriptor < 0 && !use_memory(file))
			free_file(file);
		else
		{
			file->is_stale |= !is_same_state(file, identity, grows);
			if (!file->is_stale && found == NULL)
				found = file;
			else if (grows && file->grows && earlier == NULL)
			{
				earlier = file;
				earlier->nusers++;
			}
			else
				drop_copy(file);
		}
		file = next;
	}
	if (found == NULL)
		found = make_copy(on, identity, (uint64_t) identity->size);
	if (found != NULL && earlier != NULL && found->nready == 0)
		extend_copy(found, earlier, samples);
	if (earlier != NULL)
	{
		earlier->nusers--;
		drop_copy(earlier);
	}

	/* there may have been no room for both */
	if (found == NULL && earlier != NULL)
		found = make_copy(on, identity, (uint64_t) identity->size);
	return found;
}

/*
 * The head of a file for which there is no room; NULL: there is next to none, or the
 * device's memory limit is so low that calls need what a head would take.
 */
static CsvDeviceFile *
make_head(OnDevice *on, const CsvFileIdentity *identity)
{
	uint64_t	nblocks = (uint64_t) identity->size / BLOCK_BYTES;
	uint64_t	limit = csv_device_memory_limit();
	CsvDeviceFile *head = NULL;

	if (limit > 0 && limit < csv_least_head_limit)
		return NULL;
	for (uint64_t n = HEAD_PARTS - 1; head == NULL && n > 0; n--)
		if (nblocks * n / HEAD_PARTS > 0)
			head = make_copy(on, identity, nblocks * n / HEAD_PARTS * BLOCK_BYTES);
	return head;
}

/* a window that no scan uses: the device keeps one at most */
static CsvDeviceFile *
idle_window(OnDevice *on)
{
	CsvDeviceFile *file;

	TAILQ_FOREACH(file, &on->files, of_device)
		if (file->is_window && file->descriptor < 0)
			return file;
	return NULL;
}

/* a window for a scan */
static CsvDeviceFile *
find_window(OnDevice *on)
{
	CsvDeviceFile *file = idle_window(on);
	uint64_t	limit = csv_device_memory_limit() / WINDOW_SHARE / BLOCK_BYTES;
	uint64_t	nblocks = limit == 0 || limit > WINDOW_BLOCKS ? WINDOW_BLOCKS : limit;

	if (file != NULL && !use_memory(file))
	{
		free_file(file);
		file = NULL;
	}
	for (; file == NULL && nblocks >= LEAST_WINDOW_BLOCKS; nblocks /= 2)
		file = make_file(on, nblocks * BLOCK_BYTES);
	if (file != NULL)
		file->is_window = true;
	return file;
}

/*
 * A scan begins to use the file; blocks that are not ready are copied again.  Returns
 * the file; NULL, also for NULL: the scan does not use it.
 */
static CsvDeviceFile *
begin_use(CsvDeviceFile *file, int descriptor)
{
	if (file == NULL)
		return NULL;
	if (file->descriptor < 0)
	{
		file->descriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
		if (file->descriptor < 0)
		{
			csv_cuda_file_leave(file->bytes);
			return NULL;
		}
		file->wanted = 0;
		file->nbegun = file->nready;
	}
	file->nusers++;
	return file;
}

/* no scan uses the file any more; it may have changed meanwhile */
static void
end_use(CsvDeviceFile *file)
{
	struct stat st;

	if (!file->is_window && !file->grows && fstat(file->descriptor, &st) == 0)
	{
		CsvFileIdentity identity = csv_file_identity(&st);

		file->is_stale |= !csv_same_file(&identity, &file->identity);
	}
	close(file->descriptor);
	csv_cuda_file_leave(file->bytes);
	file->is_stale |= file->is_window && idle_window(file->on) != NULL;
	file->descriptor = -1;
	if (file->is_stale)
		free_file(file);
}

/* a scan uses the file no more */
static void
leave(CsvDeviceFile *file)
{
	if (--file->nusers == 0 && file->nactive == 0)
		end_use(file);
}

/* a window over the file, and its head, if the file may stay; NULL: there is no room */
static CsvDeviceFile *
open_window(OnDevice *on, int descriptor, CsvDeviceFile *head,
			const CsvFileIdentity *staying, uint64_t file_bytes)
{
	CsvDeviceFile *file = begin_use(find_window(on), descriptor);

	if (file == NULL)
	{
		if (head != NULL)
			leave(head);
		return NULL;
	}
	file->size = file->end = file_bytes;
	file->first = file->nready = file->nbegun = 0;
	file->given = UINT64_MAX;
	file->error = 0;
	file->is_stale = false;

	/* made last, so that it leaves room for the window */
	if (head == NULL && staying != NULL)
		head = begin_use(make_head(on, staying), descriptor);
	file->head = head;
	return file;
}

CsvDeviceFile *
csv_device_file_open(CsvDevice *device, void *engine, int descriptor,
					 uint64_t from, uint64_t file_bytes, bool grows)
{
	struct stat st;
	CsvFileIdentity identity;
	OnDevice   *on = &on_devices[csv_device_place(device)];
	CsvDeviceFile *file = NULL;
	Samples		samples;
	bool		stays;

	if (file_bytes < LEAST_FILE_BYTES || fstat(descriptor, &st) != 0)
		return NULL;
	identity = csv_file_identity(&st);
	stays = S_ISREG(st.st_mode) && (grows || has_settled(&identity)) &&
		from < file_bytes - file_bytes / REST_SHARE;

	/* the session does not know bytes that were appended since */
	if (grows && file_bytes < (uint64_t) identity.size)
		identity.size = (off_t) file_bytes;
	samples.nbytes = 0;
	pthread_once(&are_made, make_on_devices);
	if (stays && grows)
		read_samples(on, &identity, descriptor, &samples);
	pthread_mutex_lock(&on->mutex);
	on->device = device;
	start_threads(on);
	if (on->nthreads > 0 && stays)
	{
		file = begin_use(find_file(on, &identity, grows, &samples), descriptor);
		if (file != NULL)
			file->grows = grows;
	}
	if (on->nthreads > 0 && (file == NULL || file->size < (uint64_t) identity.size))
		file = open_window(on, descriptor, file, stays ? &identity : NULL, file_bytes);
	if (file != NULL && file->is_window)
		file->engine = engine;
	if (file != NULL)
		csv_cuda_set_file(engine, file->bytes);
	pthread_mutex_unlock(&on->mutex);
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
			if (is_same_place(file, &identity))
				found |= csv_device_bit(on->device);
		pthread_mutex_unlock(&on->mutex);
	}
	return found;
}

void
csv_device_file_close(CsvDeviceFile *file, void *engine)
{
	OnDevice   *on = file->on;

	csv_cuda_set_file(engine, NULL);
	pthread_mutex_lock(&on->mutex);
	if (file->head != NULL)
		leave(file->head);
	file->head = NULL;
	leave(file);
	pthread_mutex_unlock(&on->mutex);
}

bool
csv_device_file_stays(const CsvDeviceFile *file)
{
	return !file->is_window;
}

/*
 * Copy more bytes than were asked for, so that no scan waits for the next bytes.  But
 * a window's scan may go elsewhere next.
 */
static void
want(CsvDeviceFile *file, uint64_t offset, uint64_t nbytes, bool in_order)
{
	uint64_t	share = in_order || !file->is_window ? AHEAD_SHARE : 0;
	uint64_t	left = file->end - offset;
	uint64_t	end = offset + (nbytes < left / (1 + share) ?
								nbytes * (1 + share) : left);

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
	return (end < file->end ? end : file->end) <= file->nready * BLOCK_BYTES;
}

/*
 * Let the window begin at this offset.  *nbytes becomes at most half of the window, so
 * that threads copy meanwhile, except if the scan asks again, for a longer record.
 * False: wait for threads that copy bytes of another place, or an error.
 */
static bool
slide_window(CsvDeviceFile *file, uint64_t offset, uint64_t *nbytes, bool *at_end)
{
	uint64_t	first = offset / BLOCK_BYTES;
	uint64_t	most = file->capacity * BLOCK_BYTES / 2;
	uint64_t	nblocks;

	if (*nbytes > most && offset != file->given)
	{
		*nbytes = most;
		*at_end = false;
	}
	nblocks = (offset + *nbytes - 1) / BLOCK_BYTES + 1 - first;
	if (nblocks > file->capacity || first < file->first || first > file->nbegun)
	{
		file->wanted = 0;
		if (file->nactive > 0)
			return false;
		if (nblocks > file->capacity &&
			!renew_memory(file, 2 * nblocks * BLOCK_BYTES))
		{
			file->error = ENOMEM;
			return false;
		}
		file->nbegun = file->nready = first;
	}
	file->first = first;
	return true;
}

/*
 * The head, if it has these bytes, or many of them; otherwise the file.  A scan that
 * asks again wants a record whose end the head does not have.
 */
static CsvDeviceFile *
find_part(CsvDeviceFile *file, uint64_t offset, uint64_t nbytes)
{
	CsvDeviceFile *head = file->head;
	uint64_t	n = head != NULL && offset < head->end ? head->end - offset : 0;

	return n >= nbytes || (n >= BLOCK_BYTES && offset != file->given) ? head : file;
}

/*
 * Ask for the bytes, as csv_device_file_await(); *part will have them.  False: they
 * cannot be asked for yet, or never.
 */
static bool
ask_for(CsvDeviceFile *file, uint64_t offset, uint64_t *nbytes, bool *at_end,
		bool in_order, CsvDeviceFile **part)
{
	*part = find_part(file, offset, *nbytes);
	if (*part == file->head && *nbytes > (*part)->end - offset)
	{
		*nbytes = (*part)->end - offset;
		*at_end = false;
	}
	if ((*part)->is_window && !slide_window(file, offset, nbytes, at_end))
		return false;
	want(*part, offset, *nbytes, in_order);
	return true;
}

CsvStatus
csv_device_file_await(CsvDeviceFile *file, uint64_t offset, uint64_t *nbytes,
					  bool *at_end, bool in_order,
					  bool (*interrupted) (void *arg), void *arg)
{
	OnDevice   *on = file->on;
	uint64_t	wanted = *nbytes;
	uint64_t	nready = 0;
	CsvDeviceFile *part = file;
	double		since = 0;
	CsvStatus	status = CSV_OK;

	pthread_mutex_lock(&on->mutex);
	for (;;)
	{
		/* meanwhile the file may turn out to be shorter */
		uint64_t	left = offset < file->end ? file->end - offset : 0;

		*at_end = wanted >= left;
		*nbytes = *at_end ? left : wanted;
		if (*nbytes == 0)
			break;
		if (ask_for(file, offset, nbytes, at_end, in_order, &part) &&
			is_there(part, offset + *nbytes))
			break;
		if (part->error != 0)
		{
			errno = part->error;
			status = errno == ENODEV || errno == ENOMEM ? CSV_DEVICE_FAILED :
				CSV_UNREADABLE;
			break;
		}
		if (interrupted(arg))
		{
			status = CSV_INTERRUPTED;
			break;
		}
		if (since == 0 || part->nready != nready)
			since = csv_now_seconds();
		nready = part->nready;
		if (csv_now_seconds() - since > csv_device_patience)
		{
			errno = ETIMEDOUT;
			status = CSV_DEVICE_FAILED;
			break;
		}
		csv_nap(&on->for_scans, &on->mutex);
	}
	if (status == CSV_OK)
	{
		file->given = offset;
		if (file->head != NULL)
			csv_cuda_set_file(file->engine, part->bytes);
	}
	pthread_mutex_unlock(&on->mutex);
	return status;
}
