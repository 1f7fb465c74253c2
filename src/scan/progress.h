/*
 * progress.h
 *		Scans and loads in pg_stat_progress_copy.
 */
#ifndef CSV_PROGRESS_H
#define CSV_PROGRESS_H

#include "postgres_ext.h"

typedef struct CsvProgress
{
	Oid			relid;			/* that it is shown under */
	int64		type;			/* PROGRESS_COPY_TYPE_... */
	int64		bytes_processed;
	int64		bytes_total;	/* 0: not known */
	int64		tuples_processed;
	int64		tuples_excluded;
} CsvProgress;

/*
 * Show how far the owner (any address of its own) has come.  A backend can show one
 * command.  While another command is shown, ours is not; if COPY takes over, it has
 * the place until it ends.
 */
extern void csv_progress_report(const void *owner,
								const CsvProgress *progress);

/* the owner has ended; also called if nothing was shown */
extern void csv_progress_release(const void *owner);

#endif							/* CSV_PROGRESS_H */
