/*
 * which_file.c
 *		Which of a foreign table's files was loaded up to which position?
 *
 * A position (positions.h) says how far a file was loaded.  A name says more
 * than an inode with its time of birth, and that more than bytes: small files
 * without times begin alike. A file has the bytes of a position if all bytes
 * before it are the same.  For the same inode that only grew, both ends do.
 *
 *	1. The name is known, and so is the inode, with the position's bytes: the
 *	   file goes on.  If size and times are as they were, it is not even opened.
 *	2. Another name has a position's inode and bytes: the file was renamed, and
 *	   goes on.
 *	3. A known name has another inode, but the position's bytes: the file goes
 *	   on.
 *	4. A known name has other bytes.  If a file without a position has the
 *	   position's bytes, and the file of the name is shorter or begins with
 *	   another record, then that file goes on, and the name's file is new.
 *	   Otherwise it was rewritten.
 *	5. A new name, or a known name whose file is new: the file is a compressed
 *	   copy of another file; or it has the bytes and the time of a position
 *	   whose name is gone, and goes on; or it may be a copy in the making, and
 *	   waits; or it is new.
 *
 * A NOTICE tells each choice by bytes.  Nothing is told, and no ERROR raised,
 * before all files are decided: if one was replaced meanwhile, everything
 * begins anew.
 */
#include "postgres.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "storage/fd.h"

#include "load/which_file.h"
#include "table/decompress.h"
#include "table/listing.h"
#include "table/source.h"
#include "table/text.h"

/* bytes of a file, behind its header, that are kept in memory */
#define HEAD_BYTES	512

/* how often files are listed, if they are replaced all the time */
#define MOST_LISTS	100

#define HOW_TO_RESTART	"csv_gpu_forget_positions() lets the next load begin at its beginning."

/*
 * what the user is told of a file: its name, the other file's and the
 * position's are inserted
 */
typedef struct FileNews
{
	const char *message;
	const char *hint;
} FileNews;

static const FileNews replaced = {
	"file \"%s\" was replaced, but has the bytes that were loaded; the rest is loaded",
	HOW_TO_RESTART
};
static const FileNews moved = {
	"file \"%s\" has the bytes that were loaded of \"%s\"; the rest is loaded",
	HOW_TO_RESTART
};
static const FileNews copy = {
	"file \"%s\" is a compressed copy of \"%s\", and is not loaded",
	"A foreign table of this file alone can load it."
};
static const FileNews waits = {
	"file \"%s\" begins as \"%s\" does and has just changed; it is not loaded yet",
	"It may be a copy in the making. A load takes it if it has not changed for a minute."
};
static const FileNews alike = {
	"file \"%s\" begins with the bytes that were loaded of \"%s\", but is loaded as a new file",
	"If it is a copy, roll back, and have the table's pattern leave it out."
};

/* an ERROR */
static const FileNews rival = {
	"files \"%s\" and \"%s\" both begin with the bytes that were loaded of \"%s\"",
	"Remove the copy, or have the table's pattern leave it out."
};

typedef struct FileSearch
{
	CsvTable   *table;
	CsvPosition *positions;		/* sorted by name */
	int			npositions;
	CsvGrowingFile *files;
	int			nfiles;
	int			nlists;
	bool		is_stale;		/* a file was replaced after it was listed */

	/* the file that is read */
	const CsvGrowingFile *file;
	CsvReadFn	read;
	uint64		at;
	uint64		end;
	CsvDecompressor *decompressor;
} FileSearch;

/* ---- files ---- */

/* the identity of the open file, as it is now */
static void
refresh_identity(FileSearch *search, CsvGrowingFile *file)
{
	struct stat st;

	if (fstat(file->fd, &st) != 0)
		csv_fail_on_file("could not stat file \"%s\": %m", file->name, "read");
	search->is_stale |= (uint64) st.st_ino != file->identity.inode;
	file->identity = csv_file_identity(&st);
}

/* false: it is gone */
static bool
open_file(FileSearch *search, CsvGrowingFile *file)
{
	file->fd = OpenTransientFile(file->name, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	if (file->fd < 0 && errno == ENOENT)
	{
		search->is_stale = true;
		return false;
	}
	if (file->fd < 0)
		csv_fail_on_file("could not open file \"%s\" for reading: %m",
						 file->name, "read");
	csv_check_file(&search->table->rights, file->name, file->fd);
	refresh_identity(search, file);
	return true;
}

static void
close_file(FileSearch *search, CsvGrowingFile *file)
{
	csv_decompressor_end(search->decompressor);
	CloseTransientFile(file->fd);
	file->fd = -1;
}

/* 0: they are names of one file */
static int
compare_inodes(const CsvGrowingFile *one, const CsvGrowingFile *two)
{
	return memcmp(&one->identity, &two->identity,
				  offsetof(CsvFileIdentity, size));
}

/* by file, and the name that was loaded first */
static int
compare_links(const void *a, const void *b)
{
	const CsvGrowingFile *one = *(CsvGrowingFile *const *) a;
	const CsvGrowingFile *two = *(CsvGrowingFile *const *) b;
	int			order = compare_inodes(one, two);

	return order != 0 ? order :
		(one->position != NULL) != (two->position != NULL) ?
		(one->position != NULL ? -1 : 1) :
		one->number - two->number;
}

/* leaves out further names of a file */
static void
leave_out_links(FileSearch *search)
{
	CsvGrowingFile **sorted = palloc(sizeof(CsvGrowingFile *) * Max(search->nfiles, 1));

	for (int i = 0; i < search->nfiles; i++)
		sorted[i] = &search->files[i];
	qsort(sorted, search->nfiles, sizeof(CsvGrowingFile *), compare_links);
	for (int i = 1; i < search->nfiles; i++)
		if (compare_inodes(sorted[i], sorted[i - 1]) == 0)
			sorted[i]->is_left_out = sorted[i]->is_decided = true;
	pfree(sorted);
}

static bool
is_packed(const FileSearch *search, const char *name)
{
	return csv_compression_of(name,
							  search->table->compression) != CSV_COMPRESSION_NONE;
}

/*
 * Lists the files, with the positions of their names; both are sorted by name.
 * A file that vanishes meanwhile is left out.
 */
static void
list_files(FileSearch *search)
{
	CsvPosition *position = search->positions;
	CsvPosition *const end = position + search->npositions;
	char	  **names;
	int			nnames;
	int64		newest = 0;

	search->is_stale = false;
	search->nfiles = 0;
	for (int i = 0; i < search->npositions; i++)
		search->positions[i].file = NULL;
	csv_source_files(search->table, &names, &nnames);
	search->files = palloc_extended(sizeof(CsvGrowingFile) * Max(nnames, 1),
									MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	for (int i = 0; i < nnames; i++)
	{
		CsvGrowingFile *file = &search->files[search->nfiles];
		struct stat st;

		CHECK_FOR_INTERRUPTS();
		(void) csv_check_filename(ERROR, names[i]);
		csv_check_links(&search->table->rights, names[i], CSV_ACCESS_READ);
		if (csv_table_stat(search->table, names[i], &st) != 0)
		{
			if (errno == ENOENT)
				continue;
			csv_fail_on_file("could not stat file \"%s\": %m", names[i],
							 "read");
		}
		if (!S_ISREG(st.st_mode))
			ereport(ERROR,
					(errcode(ERRCODE_WRONG_OBJECT_TYPE),
					 errmsg("\"%s\" is not a regular file", names[i])));
		file->name = names[i];
		file->fd = -1;
		file->number = search->nfiles++;
		file->identity = csv_file_identity(&st);
		file->is_packed = is_packed(search, file->name);
		file->born = csv_time_of_birth(file->name);
		newest = Max(newest, file->identity.modified);
		while (position < end && strcmp(position->filename, file->name) < 0)
			position++;
		file->named = position;
		while (position < end && strcmp(position->filename, file->name) == 0)
			position++;
		file->nnamed = (int) (position - file->named);
	}
	for (int i = 0; i < search->nfiles; i++)
		search->files[i].grows = search->files[i].identity.modified == newest ||
			!csv_has_rested(search->files[i].identity.modified,
							search->table->growing_rest);
}

/* ---- whose bytes has it? ---- */

/* a CsvReadFn: the bytes of the file that is read, as they are */
static size_t
read_plain(void *arg, uint8_t *buffer, size_t nbytes)
{
	FileSearch	   *search = arg;
	size_t		nread = csv_read_at(search->file->fd, search->file->name,
									buffer,
									Min(nbytes,
										search->end - search->at), search->at);

	search->at += nread;
	return nread;
}

/* a CsvSeekFn */
static void
seek_plain(void *arg, uint64_t offset)
{
	((FileSearch *) arg)->at = offset;
}

/* a CsvReadFn: its unpacked bytes */
static size_t
read_unpacked(void *arg, uint8_t *buffer, size_t nbytes)
{
	return csv_decompressor_read(((FileSearch *) arg)->decompressor, buffer,
								 nbytes);
}

/*
 * Lets search->read begin with the open file's bytes, as they are or unpacked,
 * up to the last complete member or frame.
 */
static void
begin_reading(FileSearch *search, CsvGrowingFile *file, bool unpacks)
{
	search->file = file;
	search->read = unpacks ? read_unpacked : read_plain;
	search->at = 0;
	search->end = file->identity.size;
	if (!unpacks)
		return;
	csv_decompressor_begin(search->decompressor,
						   csv_compression_of(file->name,
											  search->table->compression),
						   file->name, file->fd, &search->end, file->complete, 1);
	file->complete = search->end;
}

/* reads its first bytes, nbytes at most; returns how many */
static size_t
read_first(FileSearch *search, CsvGrowingFile *file, bool unpacks,
		   uint8 *bytes, size_t nbytes)
{
	size_t		nread = 0;
	size_t		n;

	begin_reading(search, file, unpacks);
	while ((n = search->read(search, bytes + nread, nbytes - nread)) > 0)
		nread += n;
	return nread;
}

/*
 * where the first nlines lines of a file end, within its first bytes; 0: it has
 * fewer
 */
static size_t
first_lines_end(const uint8 *bytes, size_t nbytes, uint32 nlines)
{
	uint8		end = memchr(bytes, '\n', nbytes) != NULL ? '\n' : '\r';
	size_t		at = 0;

	for (; at < nbytes && nlines > 0; at++)
		nlines -= bytes[at] == end;
	return nlines == 0 || nbytes == CSV_END_BYTES ? at : 0;
}

/*
 * there may be ten thousand files with the same header, so each is read once,
 * for the rest
 */
static void
read_head(FileSearch *search, CsvGrowingFile *file, bool unpacks)
{
	bool		was_open = file->fd >= 0;
	uint8		bytes[CSV_END_BYTES];
	size_t		n;
	size_t		at;

	if (file->heads[unpacks] != NULL || !(was_open || open_file(search, file)))
		return;
	n = read_first(search, file, unpacks, bytes, CSV_END_BYTES);
	at = first_lines_end(bytes, n, search->table->reader.header_rows);
	file->nheads[unpacks] = Min(n - at, HEAD_BYTES);
	file->heads[unpacks] = palloc(HEAD_BYTES);
	memcpy(file->heads[unpacks], bytes + at, file->nheads[unpacks]);
	if (!was_open)
		close_file(search, file);
}

/*
 * Does the open file begin with the position's bytes?  The unpacked bytes count
 * if this file is compressed, and the position's is not.
 */
static bool
has_bytes(FileSearch *search, CsvGrowingFile *file, const CsvPosition *position)
{
	file->is_unpacked = file->is_packed &&
		!is_packed(search, position->filename);
	if (!file->is_unpacked &&
		(file->identity.size < (int64) position->bytes.nbytes ||
		 !csv_fingerprint_fits_ends(file->fd, file->name, &position->bytes)))
		return false;
	begin_reading(search, file, file->is_unpacked);
	return csv_fingerprint_fits(search->read, search, &position->bytes);
}

/* do two open files begin with the same record, behind the same header? */
static bool
begin_alike(FileSearch *search, CsvGrowingFile *one, CsvGrowingFile *two)
{
	uint8		bytes[CSV_END_BYTES];
	uint8		others[CSV_END_BYTES];
	size_t		n = read_first(search, one, false, bytes, CSV_END_BYTES);

	n = first_lines_end(bytes, n, search->table->reader.header_rows + 1);
	return n > 0 && read_first(search, two, two->is_unpacked, others, n) == n &&
		memcmp(bytes, others, n) == 0;
}

/* ---- which file is it? ---- */

/*
 * The file has this position, unless another file has it.  Bytes behind half a
 * line that was loaded as a record have changed that record, except a line
 * break.  A file that is not open is unchanged, or known to be rewritten.
 */
static void
take_position(CsvGrowingFile *file, CsvPosition *position, const FileNews *news)
{
	file->is_decided = true;
	file->position = position;
	file->news = position->file != NULL ? &rival : news;
	file->other = position->file != NULL ? position->file->name :
		position->filename;
	if (position->file != NULL)
		return;
	position->file = file;
	file->has_news = file->fd >= 0;
	file->is_rewritten |= position->lacks_break && file->fd >= 0 &&
		!file->is_unpacked &&
		file->identity.size > (int64) position->bytes.nbytes &&
		!csv_position_got_break(position, file->fd);
}

static bool
is_same_inode(const CsvGrowingFile *file, const CsvPosition *position)
{
	return file->identity.inode == position->identity.inode &&
		file->born == position->born;
}

/* steps 1 and 2: a position among these with the file's inode */
static void
find_by_inode(FileSearch *search, CsvGrowingFile *file, CsvPosition *positions,
			  int npositions)
{
	bool		is_named = positions == file->named;

	for (int i = 0; i < npositions && !file->is_decided; i++)
	{
		CsvPosition *position = &positions[i];

		if (position->file != NULL || !is_same_inode(file, position) ||
			file->identity.size < (int64) position->bytes.nbytes ||
			(position->place.records == 0 && !is_named))
			continue;
		/*
		 * it is as it was when it was loaded, with nothing behind the position
		 */
		if (is_named && file->identity.size == position->identity.size &&
			file->identity.changed == position->identity.changed &&
			(file->grows ||
			 file->identity.size == (int64) position->bytes.nbytes))
			take_position(file, position, NULL);
		else if (open_file(search, file))
		{
			if (file->identity.size >= position->identity.size ?
				csv_fingerprint_fits_ends(file->fd, file->name,
										  &position->bytes) :
				has_bytes(search, file, position))
				take_position(file, position, NULL);
			close_file(search, file);
		}
	}
}

/*
 * Step 3.  If the position is the file's that has its inode, too many bytes for
 * chance leave it open which is the copy.
 */
static void
find_replaced(FileSearch *search, CsvGrowingFile *file)
{
	CsvPosition *const named = file->named;
	CsvPosition *best = NULL;

	for (int i = 0; i < file->nnamed; i++)
		if ((best == NULL || best->bytes.nbytes < named[i].bytes.nbytes) &&
			has_bytes(search, file, &named[i]))
			best = &named[i];
	if (best != NULL &&
		(best->file == NULL || best->bytes.nbytes > CSV_END_BYTES))
		take_position(file, best, &replaced);
}

/* step 4 */
static void
find_moved(FileSearch *search, CsvGrowingFile *file)
{
	CsvPosition *rewritten = NULL;

	for (int i = 0; i < file->nnamed; i++)
	{
		CsvPosition *position = &file->named[i];
		bool		is_shorter = file->identity.size < (int64) position->bytes.nbytes;

		if (position->file != NULL)
			continue;
		for (int j = 0; j < search->nfiles && position->place.records > 0; j++)
		{
			CsvGrowingFile *other = &search->files[j];

			if (other == file || other->is_decided || !open_file(search, other))
				continue;
			if (has_bytes(search, other, position) &&
				(is_shorter || !begin_alike(search, file, other)))
				take_position(other, position, &moved);
			close_file(search, other);
		}
		if (position->file == NULL &&
			(rewritten == NULL || is_same_inode(file, position)))
			rewritten = position;
	}
	file->is_rewritten = rewritten != NULL;
	if (rewritten != NULL)
		take_position(file, rewritten, NULL);
}

/*
 * has the file the time of last change that the position noted?  Some programs
 * cut off digits
 */
static bool
is_same_time(const CsvGrowingFile *file, const CsvPosition *position)
{
	int64		unit = 1;

	while (unit < INT64CONST(1000000000) &&
		   position->identity.modified / unit * unit != file->identity.modified)
		unit *= 10;
	return position->identity.modified / unit * unit == file->identity.modified;
}

/*
 * Step 5: the longest position whose bytes the open file has; and its time,
 * unless any_time. NULL: there is none.
 */
static CsvPosition *
find_by_bytes(FileSearch *search, CsvGrowingFile *file, bool any_time)
{
	CsvPosition *best = NULL;
	bool		is_unpacked = false;
	uint8		first[2][CSV_END_BYTES];
	size_t		nfirst[2];
	uint8		hash[PG_SHA256_DIGEST_LENGTH];
	size_t		nhashed = 0;
	bool		hashed = false;

	for (int unpacks = 0; unpacks < 1 + file->is_packed; unpacks++)
		nfirst[unpacks] = read_first(search, file, unpacks, first[unpacks],
									 CSV_END_BYTES);
	for (int i = 0; i < search->npositions; i++)
	{
		CsvPosition *position = &search->positions[i];
		bool		unpacks = file->is_packed &&
			!is_packed(search, position->filename);
		size_t		n = Min(position->bytes.nbytes, CSV_END_BYTES);

		if (n > nfirst[unpacks] || position->place.records == 0 ||
			(best != NULL && position->bytes.nbytes <= best->bytes.nbytes) ||
			(!any_time &&
			 ((position->file != NULL && position->file->news != &moved) ||
						   !is_same_time(file, position))))
			continue;
		if (n != nhashed || unpacks != hashed)
			csv_fingerprint_hash(first[unpacks], n, hash);
		nhashed = n;
		hashed = unpacks;
		if (memcmp(hash, position->bytes.first, sizeof(hash)) == 0 &&
			has_bytes(search, file, position))
		{
			best = position;
			is_unpacked = file->is_unpacked;
		}
	}
	file->is_unpacked = is_unpacked;
	return best;
}

/*
 * The file of which the open file, which is new, is a compressed copy, or a
 * copy that may be in the making: that begins with all its bytes.  Of two files
 * that are equal, either may be the copy.  NULL: there is none.
 */
static const CsvGrowingFile *
find_original(FileSearch *search, CsvGrowingFile *file, bool *is_copy)
{
	bool		may_be_made = !csv_has_rested(file->identity.changed,
											  CSV_REST_SECONDS);

	*is_copy = false;
	for (int i = 0; i < search->nfiles; i++)
	{
		CsvGrowingFile *other = &search->files[i];
		bool		unpacks = file->is_packed && !other->is_packed;
		uint64		nbytes;
		bool		is_same;

		if (!(may_be_made || unpacks) || compare_inodes(file, other) == 0)
			continue;
		read_head(search, file, unpacks);
		read_head(search, other, false);
		/* it may have grown since its head was read */
		if (other->heads[0] == NULL ||
			memcmp(other->heads[0], file->heads[unpacks],
				   Min(file->nheads[unpacks], other->nheads[0])) != 0 ||
			!open_file(search, other))
			continue;
		begin_reading(search, file, unpacks);
		is_same = csv_fingerprint_is_prefix(search->read, search, other->fd,
											other->name, &nbytes);
		*is_copy = is_same && unpacks && (int64) nbytes == other->identity.size;
		close_file(search, other);
		if (*is_copy || (is_same && may_be_made))
			return other;
	}
	return NULL;
}

/*
 * Step 5.  A file that is copied and truncated has all its bytes until its copy
 * is complete. So another look is needed only if this file grew meanwhile: if
 * it was a copy in the making, which is complete now.  If it grows further, the
 * first look was right.
 */
static void
find_new(FileSearch *search, CsvGrowingFile *file)
{
	int64		size = file->identity.size;
	bool		is_copy;
	const CsvGrowingFile *original = find_original(search, file, &is_copy);
	CsvPosition *position = is_copy ? NULL : find_by_bytes(search, file, false);

	refresh_identity(search, file);
	search->is_stale |= file->identity.size != size && search->nlists < 2;
	file->is_decided = true;
	file->is_left_out = original != NULL && position == NULL;
	file->has_news = !file->is_left_out;
	if (position != NULL)
		take_position(file, position, &moved);
	else if (original != NULL)
	{
		/* a header alone says nothing */
		file->news = is_copy ? &copy :
			file->nheads[file->is_packed && !original->is_packed] > 0 ?
			&waits : NULL;
		file->other = original->name;
	}
	else if ((position = find_by_bytes(search, file, true)) != NULL)
	{
		file->news = &alike;
		file->other = position->file != NULL ? position->file->name :
			position->filename;
		file->is_unpacked = false;

		/*
		 * the position's file may have been truncated, after it had been copied
		 * to this file
		 */
		if (position->file != NULL && !position->file->is_rewritten &&
			open_file(search, position->file))
		{
			search->is_stale |= !has_bytes(search, position->file, position);
			close_file(search, position->file);
		}
	}
}

/*
 * a step for the files that are not decided: all, or only files of known names
 */
static void
decide(FileSearch *search, void (*step) (FileSearch *, CsvGrowingFile *),
	   bool only_known)
{
	for (int i = 0; i < search->nfiles; i++)
	{
		CsvGrowingFile *file = &search->files[i];

		CHECK_FOR_INTERRUPTS();
		if (file->is_decided || (only_known && file->nnamed == 0) ||
			!open_file(search, file))
			continue;
		file->is_unpacked = false;
		step(search, file);
		close_file(search, file);
	}
}

static void
decide_all(FileSearch *search)
{
	for (int i = 0; i < search->nfiles; i++)
		find_by_inode(search, &search->files[i], search->files[i].named,
					  search->files[i].nnamed);
	leave_out_links(search);
	for (int i = 0; i < search->nfiles; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!search->files[i].is_decided)
			find_by_inode(search, &search->files[i], search->positions,
						  search->npositions);
	}
	decide(search, find_replaced, true);
	decide(search, find_moved, true);
	decide(search, find_new, false);
}

/* ---- what is told ---- */

static void
report_rewritten(FileSearch *search, CsvGrowingFile *file)
{
	const CsvPosition *position = file->position;
	uint8		zeros[16] = {0};
	uint8		bytes[16] = {1};

	if (open_file(search, file))
		read_first(search, file, false, bytes, sizeof(bytes));
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 file->identity.size < (int64) position->bytes.nbytes ?
			 errmsg("file \"%s\" is shorter than when it was loaded",
					file->name) :
			 position->lacks_break ?
			 errmsg("file \"%s\" continues a line that was loaded as a record",
					file->name) :
			 errmsg("file \"%s\" has changed before the place up to which it was loaded",
					file->name),
			 memcmp(bytes, zeros, sizeof(zeros)) == 0 ?
			 errdetail("NUL bytes stand at its beginning: the file was truncated, but its writer went on at the old place. A writer that opens the file for appending does not.") :
			 errdetail("It was loaded up to byte %llu, behind record %llu.",
					   (unsigned long long) position->bytes.nbytes,
					   (unsigned long long) position->place.records),
			 position->lacks_break ?
			 errhint("Call csv_gpu_load() with on_rewrite => 'restart', which loads it from its beginning, or 'skip', from its end.") :
			 errhint("If it was rotated, let the option \"filename\" reach the old file, too. Otherwise call csv_gpu_load() with on_rewrite => 'restart', which loads it from its beginning, or 'skip', from its end.")));
}

void
csv_tell_choice(CsvTable *table, const char *message, const char *hint)
{
	ereport(table->verbosity == CSV_VERBOSITY_SILENT ? DEBUG1 : NOTICE,
			(errmsg("%s", message), errhint("%s", hint)));
	if (table->choices != NULL && table->choices->len > 0)
		appendStringInfoChar(table->choices, '\n');
	if (table->choices != NULL)
		appendStringInfoString(table->choices, message);
}

static void
tell(CsvTable *table, const CsvGrowingFile *file)
{
	const char *before = file->position != NULL ? file->position->filename : "";
	const char *message = psprintf(file->news->message, file->name,
								   file->other, before);

	if (file->news == &rival)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("%s", message), errhint("%s", file->news->hint)));
	csv_tell_choice(table, message, file->news->hint);
}

CsvGrowingFile *
csv_which_files(CsvTable *table, CsvPosition *positions, int npositions,
				CsvOnRewrite on_rewrite, int *nfiles)
{
	FileSearch	search = {.table = table, .positions = positions, .npositions = npositions};

	search.decompressor = csv_decompressor_create(read_plain, seek_plain,
												  &search, true);
	do
	{
		list_files(&search);
		if (on_rewrite == CSV_REWRITE_ALL)
			leave_out_links(&search);
		else
			decide_all(&search);
	} while (search.is_stale && ++search.nlists < MOST_LISTS);
	for (int i = 0; i < search.nfiles; i++)
	{
		CsvGrowingFile *file = &search.files[i];

		if (on_rewrite == CSV_REWRITE_ALL)
			file->is_rewritten = file->has_news = !file->is_left_out;
		if (file->news == &rival)
			tell(table, file);
		if (file->is_rewritten && on_rewrite == CSV_REWRITE_ERROR)
			report_rewritten(&search, file);
	}
	for (int i = 0; i < search.nfiles; i++)
		if (search.files[i].news != NULL)
			tell(table, &search.files[i]);
	/* a name that was mistyped would never be noticed */
	if (search.nfiles == 0 && npositions == 0 && table->filename != NULL)
		csv_tell_choice(table,
						psprintf("no file matches \"%s\"", table->filename),
						"A load begins when there is one.");
	*nfiles = search.nfiles;
	return search.files;
}
