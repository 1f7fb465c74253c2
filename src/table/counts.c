/*
 * counts.c
 *		Work that all sessions of the server have done on the host, for csv_gpu_stat.
 *
 * The library need not be preloaded.  So the counts use shared memory that PostgreSQL
 * keeps free in its main segment for such purposes.  The counts start at zero when the
 * server starts, or restarts after a crash.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"

#include "table/counts.h"
#include "wire/message.h"

static CsvHostCounts *host_counts = NULL;
static bool is_attached = false;

/* NULL: no shared memory is left */
static CsvHostCounts *
attach(void)
{
	MemoryContext context = CurrentMemoryContext;

	if (is_attached)
		return host_counts;
	is_attached = true;
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	PG_TRY();
	{
		bool		found;

		/* other builds may have another struct, and so have counts of their own */
		host_counts = ShmemInitStruct(psprintf("csv_gpu_fdw " UINT64_FORMAT, csv_wire_build()),
									  sizeof(CsvHostCounts), &found);
		if (!found)
		{
			memset(host_counts, 0, sizeof(CsvHostCounts));
			SpinLockInit(&host_counts->mutex);
		}
	}
	PG_CATCH();
	{
		/* the ERROR has reset the hold-off count that LWLockRelease() decrements */
		HOLD_INTERRUPTS();
		MemoryContextSwitchTo(context);
		FlushErrorState();
		host_counts = NULL;
	}
	PG_END_TRY();
	LWLockRelease(AddinShmemInitLock);
	return host_counts;
}

void
csv_host_counts_add(int running, int done, const CsvCounts *more, int64 skipped)
{
	CsvHostCounts *host = attach();

	if (host == NULL)
		return;
	SpinLockAcquire(&host->mutex);
	host->counts.scans_running += running;
	host->counts.scans_done += done;
	host->counts.bytes_read += more->bytes_read;
	host->counts.chunks += more->chunks;
	host->counts.rows += more->rows;
	host->records_skipped += skipped;
	SpinLockRelease(&host->mutex);
}

void
csv_host_counts_add_copy(const char *reason)
{
	CsvHostCounts *host = attach();
	const char *quote = strchr(reason, '"');
	char		text[CSV_COPY_REASON_BYTES];
	int			i = 0;

	if (host == NULL)
		return;
	/* users may not see all names, and names may contain quotes themselves */
	memset(text, 0, sizeof(text));
	if (quote == NULL)
		strlcpy(text, reason, sizeof(text));
	else
		snprintf(text, sizeof(text), "%.*s...%s", (int) (quote - reason), reason,
				 strrchr(reason, '"') + 1);
	SpinLockAcquire(&host->mutex);
	while (i < host->nreasons && strcmp(host->reasons[i].text, text) != 0)
		i++;
	if (i < CSV_MOST_COPY_REASONS)
	{
		memcpy(host->reasons[i].text, text, sizeof(text));
		host->reasons[i].count++;
		host->nreasons = Max(host->nreasons, i + 1);
	}
	SpinLockRelease(&host->mutex);
}

void
csv_host_counts_get(CsvHostCounts *counts)
{
	CsvHostCounts *host = attach();

	memset(counts, 0, sizeof(*counts));
	if (host == NULL)
		return;
	SpinLockAcquire(&host->mutex);
	*counts = *host;
	SpinLockRelease(&host->mutex);
}
