/*
 * counts.h
 *		Work that all sessions of the server have done on the host, for csv_gpu_stat.
 */
#ifndef CSV_TABLE_COUNTS_H
#define CSV_TABLE_COUNTS_H

#include "storage/spin.h"

#include "wire/message.h"

#define CSV_MOST_COPY_REASONS		32
#define CSV_COPY_REASON_BYTES		80

/* a reason why COPY was left to PostgreSQL, and how often */
typedef struct CsvCopyReason
{
	uint64		count;
	char		text[CSV_COPY_REASON_BYTES];
} CsvCopyReason;

typedef struct CsvHostCounts
{
	slock_t		mutex;
	CsvCounts	counts;			/* scans read by the CPU engine */
	uint64		records_skipped;	/* by any engine */
	int			nreasons;
	CsvCopyReason reasons[CSV_MOST_COPY_REASONS];
} CsvHostCounts;

/*
 * Adds to the counts of scans and of skipped records.  Does nothing if the server has
 * no shared memory left.
 */
extern void csv_host_counts_add(int running, int done,
								const CsvCounts *more, int64 skipped);

/* counts a COPY that was left to PostgreSQL; quoted parts of the reason are dropped */
extern void csv_host_counts_add_copy(const char *reason);

/* zeros if the counts could not be allocated */
extern void csv_host_counts_get(CsvHostCounts *counts);

#endif							/* CSV_TABLE_COUNTS_H */
