/*
 * progress.c
 *		Scans and loads in pg_stat_progress_copy.
 *
 * A backend has one place there.  It belongs to the command that started last, and an
 * ERROR that ends a subtransaction empties it.  So we look at it before each report:
 * if it is as we have left it, it is ours; if it is empty, we take it.
 */
#include "postgres.h"

#include "commands/progress.h"
#include "pgstat.h"
#include "utils/backend_status.h"

#include "scan/progress.h"

/* the owner of the progress that is shown, and its relation */
static const void *shown_owner = NULL;
static Oid	shown_relid = InvalidOid;

static bool
is_shown(const void *owner)
{
	return shown_owner == owner && MyBEEntry != NULL &&
		MyBEEntry->st_progress_command == PROGRESS_COMMAND_COPY &&
		MyBEEntry->st_progress_command_target == shown_relid;
}

void
csv_progress_report(const void *owner, const CsvProgress *progress)
{
	const int	columns[] = {
		PROGRESS_COPY_COMMAND, PROGRESS_COPY_TYPE, PROGRESS_COPY_BYTES_TOTAL,
		PROGRESS_COPY_BYTES_PROCESSED, PROGRESS_COPY_TUPLES_PROCESSED,
		PROGRESS_COPY_TUPLES_EXCLUDED
	};
	const int64 values[] = {
		PROGRESS_COPY_COMMAND_FROM,
		progress->type, progress->bytes_total, progress->bytes_processed,
		progress->tuples_processed, progress->tuples_excluded
	};

	if (!is_shown(owner))
	{
		if (MyBEEntry == NULL ||
			MyBEEntry->st_progress_command != PROGRESS_COMMAND_INVALID)
			return;
		pgstat_progress_start_command(PROGRESS_COMMAND_COPY, progress->relid);
		shown_owner = owner;
		shown_relid = progress->relid;
	}
	pgstat_progress_update_multi_param(lengthof(columns), columns, values);
}

void
csv_progress_release(const void *owner)
{
	if (is_shown(owner))
		pgstat_progress_end_command();
	if (shown_owner == owner)
		shown_owner = NULL;
}
