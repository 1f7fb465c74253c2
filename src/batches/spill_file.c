/*
 * spill_file.c
 *		The temporary file for groups: see spill_file.h.
 */
#include "postgres.h"

#include <fcntl.h>
#include <unistd.h>

#include "commands/tablespace.h"
#include "miscadmin.h"
#include "utils/guc.h"
#include "utils/wait_event.h"

#include "batches/spill_file.h"

/* fewer new bytes are not counted yet */
#define COUNTED_BYTES	(64 * 1024)

void
csv_spill_file_open(CsvSpillFile *file, CsvSpill *spill)
{
	PrepareTempTablespaces();
	file->file = OpenTemporaryFile(false);
	file->counted = 0;
	if (!AcquireExternalFD())
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not open temporary file: %m")));
	/* fd.c may have closed its descriptor to make room; this opens it again */
	(void) FileSize(file->file);
	file->fd = fcntl(FileGetRawDesc(file->file), F_DUPFD_CLOEXEC, 0);
	if (file->fd < 0)
	{
		ReleaseExternalFD();
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not open temporary file: %m")));
	}
	file->is_open = true;
	csv_spill_open(spill, file->fd, temp_file_limit < 0 ? PG_UINT64_MAX :
				   (uint64) temp_file_limit * 1024);
}

/*
 * fd.c counts the bytes up to where it has written itself.  So it writes a byte behind
 * the others.
 */
void
csv_spill_file_count(CsvSpillFile *file, CsvSpill *spill)
{
	char		byte = 0;
	uint64		end;

	if (!file->is_open || csv_spill_bytes(spill) < file->counted + COUNTED_BYTES)
		return;
	end = csv_spill_append(spill, 1);
	if (FileWrite(file->file, &byte, 1, (off_t) end, WAIT_EVENT_BUFFILE_WRITE) != 1)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not write to temporary file: %m")));
	file->counted = end + 1;
}

void
csv_spill_file_check(CsvSpill *spill)
{
	int			error = atomic_load(&spill->error);

	if (error == 0)
		return;
	if (error == EFBIG && temp_file_limit >= 0)
		ereport(ERROR,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg("temporary file size exceeds \"temp_file_limit\" (%dkB)",
						temp_file_limit)));
	errno = error;
	ereport(ERROR,
			(errcode_for_file_access(),
			 errmsg("could not write to temporary file or read from it: %m")));
}

void
csv_spill_file_close(CsvSpillFile *file, bool after_error)
{
	if (!file->is_open)
		return;
	file->is_open = false;
	close(file->fd);
	ReleaseExternalFD();
	if (!after_error)
		FileClose(file->file);
}
