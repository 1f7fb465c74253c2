/*
 * marks.c
 *		Marks within the members of a gzip file, at which threads can begin.
 *
 * One scan at a time adds marks to a file of marks, in slots of one size: a
 * state, and at the slot's end its mark.  A file of other marks is not written
 * again, but unlinked: other scans may still read it.
 */
#include "postgres.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/file_perm.h"
#include "common/file_utils.h"
#include "common/hashfn.h"
#include "storage/fd.h"

#include "table/marks.h"

#define FOLDER			"base/" PG_TEMP_FILES_DIR
#define PREFIX			PG_TEMP_FILE_PREFIX ".csv_gpu_fdw."
#define SLOT_BYTES		(CSV_STATE_BYTES + sizeof(CsvMark))

/* most bytes of all files of marks, until one becomes larger */
#define MOST_BYTES		(64 * 1024 * 1024)

/* a smaller file has little output */
#define LEAST_BYTES		(256 * 1024)

#define END_BYTES		4096

/* as much as the buffers of a thread (ahead.c) */
int			csv_mark_bytes = 16 * 1024 * 1024;

static off_t
mark_at(uint32_t slot)
{
	return (off_t) ((slot + 1) * SLOT_BYTES - sizeof(CsvMark));
}

/* of states, and of both ends of the file's first nbytes bytes */
static uint64_t
version_of(int fd, int64_t nbytes)
{
	uint8_t		ends[2 * END_BYTES];

	if (pread(fd, ends, END_BYTES, 0) != END_BYTES ||
		pread(fd, ends + END_BYTES, END_BYTES, nbytes - END_BYTES) != END_BYTES)
		return 0;
	return hash_bytes_extended(ends, sizeof(ends), csv_codec_version());
}

/* reads marks of the file fd up to `end`; false: they are of something else */
static bool
read_marks(CsvMarks *marks, int fd, bool grows, uint64_t end)
{
	const CsvMark *now = &marks->now;
	CsvMark		mark;
	int			i;

	marks->nslots = marks->nknown = 0;
	while (marks->nslots < CSV_MOST_MARKS &&
		   pread(marks->file, &mark, sizeof(mark),
				 mark_at(marks->nslots)) == sizeof(mark))
	{
		marks->nslots++;
		if (mark.nbytes == 0 || mark.offset > end)
			continue;
		if (grows ? mark.file.size > now->file.size ||
			mark.version != version_of(fd, mark.file.size) :
			mark.version != now->version ||
			!csv_same_file(&mark.file, &now->file))
			return false;
		i = marks->nknown++;
		for (; i > 0 && marks->known[i - 1].offset > mark.offset; i--)
			marks->known[i] = marks->known[i - 1];
		marks->known[i] = mark;
	}
	return true;
}

/* opens the file of marks, or a new one; false: failed */
static bool
open_marks(CsvMarks *marks, int fd, bool grows, uint64_t end)
{
	for (int tries = 0; tries < 2; tries++)
	{
		marks->file = open(marks->name, O_RDWR | O_CREAT | O_CLOEXEC,
						   pg_file_create_mode);
		if (marks->file < 0)
			return false;
		/* if the file has settled, a later change will show */
		marks->may_add = flock(marks->file, LOCK_EX | LOCK_NB) == 0 &&
			(grows || csv_has_settled(marks->now.file.changed));
		if (read_marks(marks, fd, grows, end))
			return true;
		(void) unlink(marks->name);
		close(marks->file);
	}
	return false;
}

CsvMarks *
csv_marks_open(int fd, bool grows, uint64_t end)
{
	CsvMarks   *marks;
	struct stat st;

	if (csv_codec_version() == 0 || fstat(fd, &st) != 0 ||
		st.st_size < LEAST_BYTES || !AcquireExternalFD())
		return NULL;
	(void) mkdir(FOLDER, pg_dir_create_mode);
	marks = calloc(1, sizeof(CsvMarks));
	if (marks != NULL)
	{
		marks->now.version = version_of(fd, st.st_size);
		marks->now.file = csv_file_identity(&st);
		snprintf(marks->name, sizeof(marks->name),
				 FOLDER "/" PREFIX "%llx.%llx", (long long) st.st_dev,
				 (long long) st.st_ino);
		if (marks->now.version != 0 && open_marks(marks, fd, grows, end))
			return marks;
	}
	free(marks);
	ReleaseExternalFD();
	return NULL;
}

/* unlinks files of marks beyond the limit, in any order, but not this one */
static void
make_room(const char *except)
{
	DIR		   *folder = opendir(FOLDER);
	struct dirent *entry;
	int64_t		nbytes = 0;

	while (folder != NULL && (entry = readdir(folder)) != NULL)
	{
		char		name[MAXPGPATH];
		struct stat st;

		snprintf(name, MAXPGPATH, FOLDER "/%s", entry->d_name);
		if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) == 0 &&
			strcmp(name, except) != 0 && stat(name, &st) == 0 &&
			(nbytes += st.st_blocks * INT64CONST(512)) > MOST_BYTES)
			(void) unlink(name);
	}
	if (folder != NULL)
		closedir(folder);
}

void
csv_marks_close(CsvMarks *marks)
{
	if (marks == NULL)
		return;
	if (marks->is_wrong || (marks->nslots == 0 &&
							flock(marks->file, LOCK_EX | LOCK_NB) == 0))
		(void) unlink(marks->name);
	else if (marks->nslots > marks->nknown)
		make_room(marks->name);
	close(marks->file);
	ReleaseExternalFD();
	free(marks);
}

void
csv_marks_add(CsvMarks *marks, const CsvCodec *codec, uint64_t offset,
			  uint64_t member, uint64_t nbytes)
{
	CsvMark		mark;
	size_t		state_bytes;
	const void *state = csv_codec_state(codec, &state_bytes);
	uint32_t	slot;

	if (marks == NULL || !marks->may_add || state == NULL ||
		(slot = atomic_fetch_add(&marks->nslots, 1)) >= CSV_MOST_MARKS)
		return;
	mark = marks->now;
	mark.offset = offset;
	mark.member = member;
	mark.nbytes = nbytes;
	mark.crc = csv_codec_crc(codec);
	mark.state_bytes = (uint32_t) state_bytes;
	mark.state_at = (off_t) (slot * SLOT_BYTES);
	if (pwrite(marks->file, state, state_bytes, mark.state_at) ==
		(ssize_t) state_bytes)
		(void) !pwrite(marks->file, &mark, sizeof(mark), mark_at(slot));
}
