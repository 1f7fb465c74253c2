/*
 * spill.c
 *		The limit of memory of a query's groups: see spill.h.
 */
#include "spill.h"

#include "../reader/arrays.h"

/*
 * Each part gets about this much at a time, so that reading a part takes few calls.
 * Four times smaller pieces still cost less than a further pass over the groups.
 */
#define PIECE_BYTES		4096
#define SMALL_PIECE_BITS	2
#define LEAST_BITS		4
#define MOST_BITS		11

/* groups that take less are not worth writing */
#define LEAST_WRITTEN	(32 * 1024)

/* the account of memory is this exact */
#define ACCOUNT_BYTES	(16 * 1024)

uint32_t
csv_spill_bits(size_t nbytes)
{
	uint32_t	bits = LEAST_BITS;

	while (bits < MOST_BITS && nbytes >> bits > PIECE_BYTES)
		bits++;
	return bits;
}

uint32_t
csv_spill_divide_bits(uint64_t part_bytes, size_t share_bytes)
{
	uint32_t	most = csv_spill_bits(share_bytes) + SMALL_PIECE_BITS;
	uint32_t	bits = 1;

	/* groups take up to twice the memory of their records */
	while (bits < 2 * most && part_bytes >> bits > share_bytes / 2)
		bits++;
	return bits <= most ? bits : (bits + 1) / 2;
}

void
csv_spill_init(CsvSpill *spill, const CsvMemory *memory, size_t limit_bytes,
			   uint32_t nthreads)
{
	memset(spill, 0, sizeof(*spill));
	spill->memory = *memory;
	spill->limit_bytes = limit_bytes;
	spill->nthreads = nthreads;
	spill->groups.bits = spill->values.bits = csv_spill_bits(limit_bytes / nthreads);
	atomic_init(&spill->nbytes, 0);
	atomic_init(&spill->nevaluators, 0);
	atomic_init(&spill->fd, -1);
	atomic_init(&spill->wanted, false);
	atomic_init(&spill->error, 0);
	pthread_mutex_init(&spill->mutex, NULL);
}

void
csv_spill_free(CsvSpill *spill)
{
	csv_free(&spill->memory, spill->groups.parts);
	csv_free(&spill->memory, spill->values.parts);
	pthread_mutex_destroy(&spill->mutex);
}

void
csv_spill_open(CsvSpill *spill, int fd, uint64_t most_bytes)
{
	spill->most_bytes = most_bytes;
	atomic_store(&spill->fd, fd);
}

uint64_t
csv_spill_bytes(CsvSpill *spill)
{
	uint64_t	nbytes;

	pthread_mutex_lock(&spill->mutex);
	nbytes = spill->end;
	pthread_mutex_unlock(&spill->mutex);
	return nbytes;
}

bool
csv_spill_has_groups(CsvSpill *spill)
{
	return csv_spill_bytes(spill) > 0;
}

uint64_t
csv_spill_append(CsvSpill *spill, size_t nbytes)
{
	uint64_t	offset;

	pthread_mutex_lock(&spill->mutex);
	offset = spill->end;
	/* blocks begin at multiples of 8 */
	spill->end += (nbytes + 7) & ~(size_t) 7;
	pthread_mutex_unlock(&spill->mutex);
	return offset;
}

void
csv_spill_settle(CsvSpill *spill, bool *is_wide, uint32_t n)
{
	pthread_mutex_lock(&spill->mutex);
	if (!spill->is_settled)
		memcpy(spill->is_wide, is_wide, n);
	spill->is_settled = true;
	memcpy(is_wide, spill->is_wide, n);
	pthread_mutex_unlock(&spill->mutex);
}

bool
csv_spill_is_due(CsvSpill *spill, size_t *counted, size_t nbytes)
{
	size_t		before = *counted;
	size_t		all;

	if (nbytes == 0 || nbytes >= before + ACCOUNT_BYTES || nbytes < before)
	{
		if ((before == 0) != (nbytes == 0))
			atomic_fetch_add(&spill->nevaluators, nbytes == 0 ? UINT32_MAX : 1);
		atomic_fetch_add(&spill->nbytes, nbytes - before);
		*counted = nbytes;
	}
	all = atomic_load(&spill->nbytes);
	return all > spill->limit_bytes && nbytes >= LEAST_WRITTEN &&
		nbytes * atomic_load(&spill->nevaluators) >= all;
}
