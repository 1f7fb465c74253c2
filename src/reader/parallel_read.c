/*
 * parallel_read.c
 *		Reads a stretch of a file with several threads at once.
 */
#include "parallel_read.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#define MAX_THREADS	64

/* what the threads of one call share */
typedef struct CsvParallelRead
{
	int			fd;
	uint8_t    *buffer;
	size_t		nbytes;
	off_t		offset;
	atomic_size_t next;			/* start of the next block nobody reads yet */
	atomic_size_t end;			/* first byte that could not be read */
	atomic_int	error;			/* errno of a failure */
	atomic_bool stop;
} CsvParallelRead;

/* nothing from here on can be read */
static void
end_at(CsvParallelRead *shared, size_t position)
{
	size_t		end = atomic_load(&shared->end);

	while (position < end &&
		   !atomic_compare_exchange_weak(&shared->end, &end, position))
		;
}

/* read one block; false where there is nothing more to do */
static bool
read_block(CsvParallelRead *shared)
{
	size_t		start = atomic_fetch_add(&shared->next,
										 CSV_PARALLEL_READ_BLOCK);
	size_t		end = start + CSV_PARALLEL_READ_BLOCK;

	if (start >= atomic_load(&shared->end))
		return false;
	if (atomic_load(&shared->stop))
	{
		end_at(shared, start);
		return false;
	}
	if (end > shared->nbytes)
		end = shared->nbytes;
	while (start < end)
	{
		ssize_t		nread = pread(shared->fd, shared->buffer + start,
								  end - start,
								  shared->offset + (off_t) start);

		if (nread > 0)
			start += (size_t) nread;
		else if (nread == 0 || errno != EINTR)
		{
			if (nread < 0)
				atomic_store(&shared->error, errno);
			end_at(shared, start);
			return false;
		}
	}
	return true;
}

static void *
read_blocks(void *arg)
{
	while (read_block(arg))
		;
	return NULL;
}

ssize_t
csv_parallel_pread(int fd, uint8_t *buffer, size_t nbytes, off_t offset,
				   int nthreads, bool (*interrupted) (void *arg), void *arg)
{
	CsvParallelRead shared = {
		.fd = fd, .buffer = buffer, .nbytes = nbytes, .offset = offset
	};
	pthread_t	threads[MAX_THREADS];
	int			nstarted = 0;
	size_t		nblocks = (nbytes + CSV_PARALLEL_READ_BLOCK - 1) /
		CSV_PARALLEL_READ_BLOCK;
	sigset_t	all;
	sigset_t	before;
	size_t		end;

	atomic_init(&shared.next, 0);
	atomic_init(&shared.end, nbytes);
	atomic_init(&shared.error, 0);
	atomic_init(&shared.stop, false);

	if ((size_t) nthreads > nblocks)
		nthreads = (int) nblocks;
	if (nthreads > MAX_THREADS)
		nthreads = MAX_THREADS;

	/* a new thread starts with the mask of the one that makes it */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (nstarted < nthreads - 1 &&
		   pthread_create(&threads[nstarted], NULL, read_blocks, &shared) == 0)
		nstarted++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);

	/* where no thread could be made, this one does it all */
	while (read_block(&shared))
		if (interrupted != NULL && interrupted(arg))
			atomic_store(&shared.stop, true);
	for (int i = 0; i < nstarted; i++)
		pthread_join(threads[i], NULL);

	end = atomic_load(&shared.end);
	if (end == 0 && atomic_load(&shared.error) != 0)
	{
		errno = atomic_load(&shared.error);
		return -1;
	}
	return (ssize_t) end;
}
