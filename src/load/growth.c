/*
 * growth.c
 *		Finds the records that came into a foreign table's files since the last load.
 *
 * A position (positions.h) says how far a file was loaded.  Which of the table's files is
 * it now?  A name says more than an inode with its time of birth, and that more than
 * bytes: small files without times begin alike.  A file has the bytes of a position if
 * all bytes before it are the same.  For the same inode that only grew, both ends do.
 *
 *	1. The name is known, and so is the inode, with the position's bytes: it goes on.  If
 *	   size and times are as they were, the file is not even opened.
 *	2. Another name has a position's inode and bytes: it was renamed, and goes on.
 *	3. A known name has another inode, but the position's bytes: it goes on.
 *	4. A known name has other bytes.  If a file without a position has the position's
 *	   bytes, and the file of the name is shorter or begins with another record, then
 *	   that file goes on, and the name is a new file's.  Otherwise it was rewritten.
 *	5. A new name is a compressed copy of another file; or it has the bytes and the time of
 *	   a position whose name is gone, and goes on; or it may be a copy in the making, and
 *	   waits; or it is new.
 *
 * What is decided by bytes is told.  Nothing is told, and no ERROR raised, before all files
 * are decided: if one was replaced meanwhile, everything begins anew.
 */
#include "postgres.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "access/xact.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "miscadmin.h"
#include "storage/fd.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "load/growth.h"
#include "load/positions.h"
#include "scan/scan.h"
#include "table/decompress.h"
#include "table/listing.h"
#include "table/source.h"
#include "table/text.h"

/* first bytes of a file that are compared in memory: more than most headers have */
#define HEAD_BYTES	512

/* how often files are listed, if they are replaced all the time */
#define MOST_LISTS	100

/* what the user is told of a file */
typedef enum GrowthNews
{
	NEWS_NONE,
	NEWS_REPLACED,				/* it goes on in another inode */
	NEWS_MOVED,					/* it goes on under another name, by its bytes */
	NEWS_COPY,					/* a compressed copy is left out */
	NEWS_WAITS,					/* perhaps a copy in the making */
	NEWS_ALIKE,					/* it is new, but begins as another file did */
	NEWS_RIVAL					/* ERROR: two files have a position's bytes */
} GrowthNews;

typedef struct GrowingFile
{
	char	   *name;
	int			number;			/* in the order of the names */
	CsvFileIdentity identity;	/* when it was listed, or looked at */
	int64		born;
	bool		grows;			/* its last record may not be complete */
	const CsvPosition *named;	/* positions of its name */
	int			nnamed;

	/* while it is looked at */
	int			fd;				/* -1: it is not open */
	uint8	   *head;			/* its first bytes; NULL: not read yet */
	size_t		nhead;			/* HEAD_BYTES at most */
	uint8	   *unpacked;		/* the first bytes that a compressed file holds; NULL: not
								 * read yet */
	size_t		nunpacked;		/* CSV_END_BYTES at most */
	uint64		complete;		/* of it: complete members or frames */

	/* what it is */
	bool		is_decided;
	bool		is_left_out;	/* another name of a file, or a copy, or it waits */
	bool		has_news;		/* it must be read */
	const CsvPosition *position;	/* NULL: not loaded before */
	bool		is_rewritten;	/* since then */
	bool		is_unpacked;	/* what it holds has the position's bytes */
	GrowthNews	news;
	const char *other;			/* the file that the news names */

	CsvPosition now;			/* after the scan */
	bool		was_read;
} GrowingFile;

struct CsvGrowth
{
	CsvTable   *table;
	Oid			schema;
	Oid			target;
	CsvOnRewrite on_rewrite;
	CsvPosition *positions;		/* sorted by name */
	int			npositions;
	GrowingFile **owners;		/* for each position: its file */
	const CsvPosition **by_length;	/* positions with records, the longest first */
	int			nby_length;
	GrowingFile *files;
	int			nfiles;
	bool		is_stale;		/* a file was replaced after it was listed */
	CsvDecompressor *decompressor;	/* NULL: there was no need yet */
	GrowingFile *packed;		/* that it reads */
	uint64		packed_at;		/* up to here, */
	uint64		packed_end;		/* and no further than here */
	CsvResumedFile *resumed;
	CsvResume	resume;
};

/* ---- files ---- */

/* the identity of the open file, as it is now */
static void
refresh_identity(CsvGrowth *growth, GrowingFile *file)
{
	struct stat st;

	if (fstat(file->fd, &st) != 0)
		csv_fail_on_file("could not stat file \"%s\": %m", file->name, "read");
	growth->is_stale |= (uint64) st.st_ino != file->identity.inode;
	file->identity = csv_file_identity(&st);
}

/* false: it is gone */
static bool
open_for_look(CsvGrowth *growth, GrowingFile *file)
{
	file->fd = OpenTransientFile(file->name, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	if (file->fd < 0 && errno == ENOENT)
	{
		growth->is_stale = true;
		return false;
	}
	if (file->fd < 0)
		csv_fail_on_file("could not open file \"%s\" for reading: %m", file->name, "read");
	refresh_identity(growth, file);
	return true;
}

static void
close_after_look(GrowingFile *file)
{
	CloseTransientFile(file->fd);
	file->fd = -1;
}

/* by file, and the name that was loaded first */
static int
compare_inodes(const void *a, const void *b)
{
	const GrowingFile *one = *(GrowingFile *const *) a;
	const GrowingFile *two = *(GrowingFile *const *) b;

	if (one->identity.device != two->identity.device)
		return one->identity.device < two->identity.device ? -1 : 1;
	if (one->identity.inode != two->identity.inode)
		return one->identity.inode < two->identity.inode ? -1 : 1;
	if ((one->position != NULL) != (two->position != NULL))
		return one->position != NULL ? -1 : 1;
	return one->number - two->number;
}

static bool
is_same_file(const GrowingFile *one, const GrowingFile *two)
{
	return one->identity.device == two->identity.device &&
		one->identity.inode == two->identity.inode;
}

/* leaves out further names of a file */
static void
leave_out_links(CsvGrowth *growth)
{
	GrowingFile **sorted = palloc(sizeof(GrowingFile *) * Max(growth->nfiles, 1));

	for (int i = 0; i < growth->nfiles; i++)
		sorted[i] = &growth->files[i];
	qsort(sorted, growth->nfiles, sizeof(GrowingFile *), compare_inodes);
	for (int i = 1; i < growth->nfiles; i++)
		if (is_same_file(sorted[i], sorted[i - 1]))
			sorted[i]->is_left_out = sorted[i]->is_decided = true;
	pfree(sorted);
}

/* room for an element of each file, of zeros */
static void *
alloc_for_files(int nfiles, Size each)
{
	return palloc_extended(each * Max(nfiles, 1), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
}

/*
 * Lists the files, with the positions of their names; both are sorted by name.  A file
 * that vanishes meanwhile is left out.
 */
static void
list_files(CsvGrowth *growth)
{
	const CsvPosition *position = growth->positions;
	const CsvPosition *const end = position + growth->npositions;
	char	  **names;
	int			nnames;
	int64		newest = 0;

	growth->is_stale = false;
	growth->nfiles = 0;
	memset(growth->owners, 0, sizeof(GrowingFile *) * growth->npositions);
	csv_source_files(growth->table, &names, &nnames);
	growth->files = alloc_for_files(nnames, sizeof(GrowingFile));
	for (int i = 0; i < nnames; i++)
	{
		GrowingFile *file = &growth->files[growth->nfiles];
		struct stat st;

		CHECK_FOR_INTERRUPTS();
		(void) csv_check_filename(ERROR, names[i]);
		if (stat(names[i], &st) != 0)
		{
			if (errno == ENOENT)
				continue;
			csv_fail_on_file("could not stat file \"%s\": %m", names[i], "read");
		}
		if (!S_ISREG(st.st_mode))
			ereport(ERROR,
					(errcode(ERRCODE_WRONG_OBJECT_TYPE),
					 errmsg("\"%s\" is not a regular file", names[i])));
		file->name = names[i];
		file->fd = -1;
		file->number = growth->nfiles++;
		file->identity = csv_file_identity(&st);
		newest = Max(newest, file->identity.modified);
		while (position < end && strcmp(position->filename, file->name) < 0)
			position++;
		file->named = position;
		while (position < end && strcmp(position->filename, file->name) == 0)
			position++;
		file->nnamed = (int) (position - file->named);
	}
	for (int i = 0; i < growth->nfiles; i++)
		growth->files[i].grows = growth->files[i].identity.modified == newest ||
			!csv_has_rested(growth->files[i].identity.modified, growth->table->growing_rest);
}

/* ---- whose bytes has it? ---- */

static bool
is_packed(const CsvGrowth *growth, const char *name)
{
	return csv_compression_of(name, growth->table->compression) != CSV_COMPRESSION_NONE;
}

/* a CsvReadFn: the bytes of the file that is compared, as they are */
static size_t
read_packed(void *arg, uint8_t *buffer, size_t nbytes)
{
	CsvGrowth  *growth = arg;
	const GrowingFile *file = growth->packed;
	size_t		nread = csv_read_at(file->fd, file->name, buffer,
									Min(nbytes, growth->packed_end - growth->packed_at),
									growth->packed_at);

	growth->packed_at += nread;
	return nread;
}

/* a CsvSeekFn */
static void
seek_packed(void *arg, uint64_t offset)
{
	((CsvGrowth *) arg)->packed_at = offset;
}

/* a CsvReadFn: what the file holds */
static size_t
read_unpacked(void *arg, uint8_t *buffer, size_t nbytes)
{
	return csv_decompressor_read(((CsvGrowth *) arg)->decompressor, buffer, nbytes);
}

/* begins with the open file, which is compressed, up to its last complete member or frame */
static void
begin_unpacking(CsvGrowth *growth, GrowingFile *file)
{
	if (growth->decompressor == NULL)
		growth->decompressor = csv_decompressor_create(read_packed, seek_packed, growth, true);
	growth->packed = file;
	growth->packed_at = 0;
	growth->packed_end = file->identity.size;
	csv_decompressor_begin(growth->decompressor,
						   csv_compression_of(file->name, growth->table->compression),
						   file->name, file->fd, &growth->packed_end, file->complete, 1);
	file->complete = growth->packed_end;
}

/* the first bytes that the open, compressed file holds */
static void
unpack_head(CsvGrowth *growth, GrowingFile *file)
{
	size_t		nread;

	if (file->unpacked != NULL)
		return;
	file->unpacked = palloc(CSV_END_BYTES);
	begin_unpacking(growth, file);
	while ((nread = read_unpacked(growth, file->unpacked + file->nunpacked,
								  CSV_END_BYTES - file->nunpacked)) > 0)
		file->nunpacked += nread;
	csv_decompressor_end(growth->decompressor);
}

/* does the open, compressed file hold these bytes, and perhaps more? */
static bool
unpacked_fits(CsvGrowth *growth, GrowingFile *file, const CsvFingerprint *bytes)
{
	size_t		n = Min(bytes->nbytes, CSV_END_BYTES);
	uint8		hash[PG_SHA256_DIGEST_LENGTH];
	bool		fits;

	unpack_head(growth, file);
	if (n > file->nunpacked)
		return false;
	csv_fingerprint_hash(file->unpacked, n, hash);
	if (memcmp(hash, bytes->first, sizeof(hash)) != 0)
		return false;
	begin_unpacking(growth, file);
	fits = csv_fingerprint_fits_read(read_unpacked, growth, bytes);
	csv_decompressor_end(growth->decompressor);
	return fits;
}

/*
 * Does the open file begin with the position's bytes?  If it is compressed and the position
 * is of a file that is not, what it holds counts as well.
 */
static bool
has_bytes(CsvGrowth *growth, GrowingFile *file, const CsvPosition *position)
{
	const CsvFingerprint *bytes = &position->bytes;

	file->is_unpacked = false;
	if ((int64) bytes->nbytes <= file->identity.size &&
		csv_fingerprint_fits(file->fd, file->name, bytes))
		return true;
	file->is_unpacked = is_packed(growth, file->name) &&
		!is_packed(growth, position->filename) &&
		unpacked_fits(growth, file, bytes);
	return file->is_unpacked;
}

/* there may be ten thousand files, so their first bytes are read once */
static void
read_head(GrowingFile *file)
{
	int			fd;

	if (file->head != NULL)
		return;
	file->head = palloc(HEAD_BYTES);
	fd = OpenTransientFile(file->name, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return;
	file->nhead = (size_t) Max(pread(fd, file->head, HEAD_BYTES, 0), 0);
	CloseTransientFile(fd);
}

/* does another file begin with these bytes, as far as its head goes? */
static bool
may_begin_with(GrowingFile *other, const uint8 *bytes, size_t nbytes)
{
	read_head(other);
	return other->nhead > 0 && memcmp(other->head, bytes, Min(nbytes, other->nhead)) == 0;
}

/*
 * Does another file begin with all bytes of the open file, or with all that it holds if only
 * it is compressed?  *is_all: the other file has no more.
 */
static bool
is_beginning(CsvGrowth *growth, GrowingFile *file, GrowingFile *other, bool *is_all)
{
	bool		unpacks = is_packed(growth, file->name) && !is_packed(growth, other->name);
	uint64		nbytes;
	bool		is_same;

	if (!(unpacks ? may_begin_with(other, file->unpacked, file->nunpacked) :
		  may_begin_with(other, file->head, file->nhead)) ||
		!open_for_look(growth, other))
		return false;
	growth->packed = file;
	growth->packed_at = 0;
	growth->packed_end = file->identity.size;
	if (unpacks)
		begin_unpacking(growth, file);
	is_same = csv_fingerprint_is_prefix(unpacks ? read_unpacked : read_packed, growth,
										other->fd, other->name, &nbytes);
	if (unpacks)
		csv_decompressor_end(growth->decompressor);
	*is_all = unpacks && (int64) nbytes == other->identity.size;
	close_after_look(other);
	return is_same;
}

/*
 * The file of which the open file, which is new, is a compressed copy, or a copy that may be
 * in the making; of two files that are equal, either may be the copy.  NULL: there is none.
 */
static const GrowingFile *
find_original(CsvGrowth *growth, GrowingFile *file, bool *is_packed_copy)
{
	bool		is_packed_file = is_packed(growth, file->name);
	bool		may_be_made = !csv_has_rested(file->identity.changed, CSV_REST_SECONDS);

	*is_packed_copy = false;
	read_head(file);
	if (is_packed_file)
		unpack_head(growth, file);
	for (int i = 0; (is_packed_file || may_be_made) && i < growth->nfiles; i++)
	{
		GrowingFile *other = &growth->files[i];

		if (!is_same_file(other, file) && is_beginning(growth, file, other, is_packed_copy) &&
			(*is_packed_copy || may_be_made))
			return other;
	}
	return NULL;
}

/* the first record of the open file, behind its header; returns its end, 0: it has none */
static size_t
read_first_record(const CsvGrowth *growth, const GrowingFile *file, uint8 *bytes)
{
	ssize_t		nbytes = pread(file->fd, bytes, CSV_END_BYTES, 0);
	char		end = memchr(bytes, '\n', Max(nbytes, 0)) != NULL ? '\n' : '\r';
	uint32		nlines = growth->table->reader.header_rows + 1;

	for (ssize_t i = 0; i < nbytes; i++)
		if (bytes[i] == end && --nlines == 0)
			return i + 1;
	return nbytes == CSV_END_BYTES ? nbytes : 0;
}

/* do two open files begin with the same record, behind the same header? */
static bool
begin_alike(const CsvGrowth *growth, const GrowingFile *one, const GrowingFile *two)
{
	uint8		bytes[CSV_END_BYTES];
	uint8		others[CSV_END_BYTES];
	size_t		n = read_first_record(growth, one, bytes);

	if (two->is_unpacked)
		return n > 0 && n <= two->nunpacked && memcmp(bytes, two->unpacked, n) == 0;
	return n > 0 && pread(two->fd, others, n, 0) == n && memcmp(bytes, others, n) == 0;
}

/* ---- which file is it? ---- */

/* where the file of a position is noted */
static GrowingFile **
owner_of(const CsvGrowth *growth, const CsvPosition *position)
{
	return &growth->owners[position - growth->positions];
}

/*
 * The file has this position, unless another file has it.  Bytes behind half a line that was
 * loaded as a record have changed that record, except a line break.  A file that is not open
 * is unchanged, or known to be rewritten.
 */
static void
take_position(CsvGrowth *growth, GrowingFile *file, const CsvPosition *position, GrowthNews news)
{
	GrowingFile **owner = owner_of(growth, position);

	file->is_decided = true;
	file->position = position;
	file->news = news;
	if (*owner != NULL)
	{
		file->news = NEWS_RIVAL;
		file->other = (*owner)->name;
		return;
	}
	*owner = file;
	file->other = position->filename;
	file->has_news = file->fd >= 0 || file->is_rewritten;
	file->is_rewritten |= position->lacks_break && file->fd >= 0 && !file->is_unpacked &&
		file->identity.size > (int64) position->bytes.nbytes &&
		!csv_position_got_break(position, file->fd);
}

static bool
is_same_inode(const GrowingFile *file, const CsvPosition *position)
{
	return file->identity.inode == position->identity.inode &&
		file->born == position->born;
}

/* is the file as it was when it was loaded, with nothing behind the position? */
static bool
is_unchanged(const GrowingFile *file, const CsvPosition *position)
{
	return file->identity.inode == position->identity.inode &&
		file->identity.size == position->identity.size &&
		file->identity.changed == position->identity.changed &&
		(file->grows || file->identity.size == (int64) position->bytes.nbytes);
}

/* steps 1 and 2: a position among these with the file's inode */
static void
find_by_inode(CsvGrowth *growth, GrowingFile *file, const CsvPosition *positions, int npositions)
{
	file->born = csv_time_of_birth(file->name);
	for (int i = 0; i < npositions && !file->is_decided; i++)
	{
		const CsvPosition *position = &positions[i];

		if (!is_same_inode(file, position) || *owner_of(growth, position) != NULL ||
			(position->place.records == 0 && positions != file->named) ||
			file->identity.size < (int64) position->bytes.nbytes ||
			!open_for_look(growth, file))
			continue;
		if (file->identity.size >= position->identity.size ?
			csv_fingerprint_fits_ends(file->fd, file->name, &position->bytes) :
			csv_fingerprint_fits(file->fd, file->name, &position->bytes))
			take_position(growth, file, position, NEWS_NONE);
		close_after_look(file);
	}
}

/* step 1 */
static void
find_known(CsvGrowth *growth, GrowingFile *file)
{
	for (int i = 0; i < file->nnamed; i++)
		if (is_unchanged(file, &file->named[i]))
		{
			file->born = file->named[i].born;
			take_position(growth, file, &file->named[i], NEWS_NONE);
			return;
		}
	find_by_inode(growth, file, file->named, file->nnamed);
}

/*
 * Step 3.  If the position is the file's that has its inode, too many bytes for chance
 * leave it open which is the copy.
 */
static void
find_replaced(CsvGrowth *growth, GrowingFile *file)
{
	const CsvPosition *best = NULL;

	for (int i = 0; i < file->nnamed; i++)
		if ((best == NULL || best->bytes.nbytes < file->named[i].bytes.nbytes) &&
			has_bytes(growth, file, &file->named[i]))
			best = &file->named[i];
	if (best == NULL)
		return;
	if (*owner_of(growth, best) == NULL || best->bytes.nbytes > CSV_END_BYTES)
		take_position(growth, file, best, NEWS_REPLACED);
	else
	{
		file->news = NEWS_ALIKE;
		file->other = (*owner_of(growth, best))->name;
	}
}

/* step 4 */
static void
find_moved(CsvGrowth *growth, GrowingFile *file)
{
	const CsvPosition *rewritten = NULL;

	for (int i = 0; i < file->nnamed; i++)
	{
		const CsvPosition *position = &file->named[i];
		bool		is_shorter = file->identity.size < (int64) position->bytes.nbytes;

		if (*owner_of(growth, position) != NULL)
			continue;
		for (int j = 0; j < growth->nfiles && position->place.records > 0; j++)
		{
			GrowingFile *other = &growth->files[j];

			if (other == file || other->is_decided || !open_for_look(growth, other))
				continue;
			if (has_bytes(growth, other, position) &&
				(is_shorter || !begin_alike(growth, file, other)))
				take_position(growth, other, position, NEWS_MOVED);
			close_after_look(other);
		}
		if (*owner_of(growth, position) == NULL &&
			(rewritten == NULL || is_same_inode(file, position)))
			rewritten = position;
	}
	file->is_rewritten = rewritten != NULL;
	if (rewritten != NULL)
		take_position(growth, file, rewritten, NEWS_NONE);
	file->is_decided = true;
	file->has_news = true;
}

/*
 * Step 5: the longest position whose bytes the open file has; and its time, unless any_time.
 * NULL: there is none.
 */
static const CsvPosition *
find_by_bytes(CsvGrowth *growth, GrowingFile *file, bool any_time)
{
	uint8		first[PG_SHA256_DIGEST_LENGTH];
	uint64		nfirst = 0;
	bool		is_plain = !is_packed(growth, file->name);

	for (int i = 0; i < growth->nby_length; i++)
	{
		const CsvPosition *position = growth->by_length[i];
		const GrowingFile *owner = *owner_of(growth, position);
		uint64		nbytes = Min(position->bytes.nbytes, CSV_END_BYTES);

		if (!any_time && ((owner != NULL && owner->news != NEWS_MOVED) ||
						  position->identity.modified / USECS_PER_SEC / 1000 !=
						  file->identity.modified / USECS_PER_SEC / 1000))
			continue;
		if (is_plain)
		{
			if ((int64) position->bytes.nbytes > file->identity.size)
				continue;
			if (nbytes != nfirst &&
				!csv_fingerprint_first(file->fd, file->name, nbytes, first))
				continue;
			nfirst = nbytes;
			if (memcmp(first, position->bytes.first, sizeof(first)) != 0)
				continue;
		}
		if (has_bytes(growth, file, position))
			return position;
	}
	return NULL;
}

/*
 * Step 5.  A file that is copied and truncated has all its bytes until its copy is complete.
 * So another look is needed only if this file grew meanwhile: if it was a copy in the
 * making, which is complete now.  If it grows further, the first look was right.
 */
static void
find_new(CsvGrowth *growth, GrowingFile *file)
{
	const GrowingFile *other = NULL;
	const CsvPosition *position = NULL;
	GrowingFile *owner;
	bool		is_copy = false;
	int64		size = -1;
	uint8		bytes[CSV_END_BYTES];

	for (int look = 0; look < 2 && size != file->identity.size && other == NULL &&
		 position == NULL; look++)
	{
		size = file->identity.size;
		file->unpacked = NULL;
		file->nunpacked = 0;
		other = find_original(growth, file, &is_copy);
		position = is_copy ? NULL : find_by_bytes(growth, file, false);
		refresh_identity(growth, file);
	}
	file->is_decided = true;
	if (position != NULL)
	{
		take_position(growth, file, position, NEWS_MOVED);
		return;
	}
	if (is_copy)
		file->news = NEWS_COPY;
	else if (other != NULL && (file->unpacked != NULL ? file->nunpacked > 0 :
							   read_first_record(growth, file, bytes) > 0))
		file->news = NEWS_WAITS;
	file->is_left_out = other != NULL;
	file->has_news = other == NULL;
	if (other != NULL)
		file->other = other->name;
	else if ((position = find_by_bytes(growth, file, true)) != NULL)
	{
		file->news = NEWS_ALIKE;
		file->other = position->filename;

		/* the position's file may have been truncated, after it had been copied to this file */
		owner = *owner_of(growth, position);
		if (owner != NULL && !owner->is_rewritten && open_for_look(growth, owner))
		{
			growth->is_stale |= !has_bytes(growth, owner, position);
			close_after_look(owner);
		}
	}
	file->is_unpacked = false;
}

/* a step for the files that are not decided: those of known names, or all */
static void
decide(CsvGrowth *growth, void (*step) (CsvGrowth *, GrowingFile *), bool only_known)
{
	for (int i = 0; i < growth->nfiles; i++)
	{
		GrowingFile *file = &growth->files[i];

		CHECK_FOR_INTERRUPTS();
		if (file->is_decided || (only_known && file->nnamed == 0) ||
			!open_for_look(growth, file))
			continue;
		step(growth, file);
		close_after_look(file);
	}
}

/* the longest first */
static int
compare_lengths(const void *a, const void *b)
{
	uint64		one = (*(const CsvPosition *const *) a)->bytes.nbytes;
	uint64		two = (*(const CsvPosition *const *) b)->bytes.nbytes;

	return one == two ? 0 : one > two ? -1 : 1;
}

/* decides about all files */
static void
decide_all(CsvGrowth *growth)
{
	list_files(growth);
	for (int i = 0; i < growth->nfiles; i++)
		find_known(growth, &growth->files[i]);
	leave_out_links(growth);
	for (int i = 0; i < growth->nfiles; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!growth->files[i].is_decided)
			find_by_inode(growth, &growth->files[i], growth->positions, growth->npositions);
	}
	decide(growth, find_replaced, true);
	decide(growth, find_moved, true);
	decide(growth, find_new, false);
}

/* ---- what is told ---- */

static void
report_rewritten(CsvGrowth *growth, GrowingFile *file)
{
	const CsvPosition *position = file->position;
	uint8		head[16];
	bool		is_cut = false;

	if (open_for_look(growth, file))
	{
		is_cut = pread(file->fd, head, sizeof(head), 0) == sizeof(head);
		for (int i = 0; i < sizeof(head); i++)
			is_cut &= head[i] == 0;
		close_after_look(file);
	}
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 file->identity.size < (int64) position->bytes.nbytes ?
			 errmsg("file \"%s\" is shorter than when it was loaded", file->name) :
			 position->lacks_break ?
			 errmsg("file \"%s\" continues a line that was loaded as a record",
					file->name) :
			 errmsg("file \"%s\" has changed before the place up to which it was loaded",
					file->name),
			 is_cut ?
			 errdetail("It begins with NUL bytes: it was truncated, but its writer went on at the old place. A writer that opens the file for appending does not.") :
			 errdetail("It was loaded up to byte %llu, behind record %llu.",
					   (unsigned long long) position->bytes.nbytes,
					   (unsigned long long) position->place.records),
			 errhint("csv_gpu_load() with mode => 'new_records' and on_rewrite => 'restart' loads it from its beginning, and with 'skip' from its end.")));
}

/* two files have a position's bytes */
static void
report_rivals(const GrowingFile *file)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("files \"%s\" and \"%s\" both begin with the bytes that were loaded of \"%s\"",
					file->other, file->name, file->position->filename),
			 errhint("Remove the copy, or have the table's pattern leave it out.")));
}

/* tells what is not plain of a file */
static void
tell(const CsvGrowth *growth, const GrowingFile *file)
{
	int			level = growth->table->verbosity == CSV_VERBOSITY_SILENT ? DEBUG1 : NOTICE;

	switch (file->news)
	{
		case NEWS_NONE:
		case NEWS_RIVAL:
			break;
		case NEWS_REPLACED:
			ereport(level,
					(errmsg("file \"%s\" was replaced, but has the bytes that were loaded; what comes behind them is loaded",
							file->name),
					 errhint("csv_gpu_forget_positions() lets the next load begin at its beginning.")));
			break;
		case NEWS_MOVED:
			ereport(level,
					(errmsg("file \"%s\" has the bytes that were loaded of \"%s\"; what comes behind them is loaded",
							file->name, file->other),
					 errhint("csv_gpu_forget_positions() lets the next load begin at its beginning.")));
			break;
		case NEWS_COPY:
			ereport(level,
					(errmsg("file \"%s\" is a compressed copy of \"%s\", and is not loaded",
							file->name, file->other),
					 errhint("A foreign table of this file alone can load it.")));
			break;
		case NEWS_WAITS:
			ereport(level,
					(errmsg("file \"%s\" begins as \"%s\" does and has just changed; it is not loaded yet",
							file->name, file->other),
					 errhint("It may be a copy in the making. A load takes it if it has not changed for a minute.")));
			break;
		case NEWS_ALIKE:
			ereport(level,
					(errmsg("file \"%s\" begins with the bytes that were loaded of \"%s\", but is loaded as a new file",
							file->name, file->other),
					 errhint("If it is a copy, roll back, and have the table's pattern leave it out.")));
			break;
	}
}

/* ---- the scan ---- */

/* ERROR if the open file is not as it was loaded, since it was looked at */
static void
check_before(const GrowingFile *file, int fd)
{
	if (file->position != NULL && !file->is_rewritten && !file->is_unpacked &&
		!csv_fingerprint_fits_ends(fd, file->name, &file->position->bytes))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("file \"%s\" was replaced while it was read", file->name)));
}

/* CsvResume.begun */
static void
check_begin(void *arg, int number, int fd)
{
	check_before(&((CsvGrowth *) arg)->files[number], fd);
}

/*
 * Does the file, which was read to this end, end within a line?  The last byte of compressed
 * bytes, or of UTF-16, does not show that.  A last CR does not end a line where others end
 * in LF.
 */
static bool
ends_in_line(const CsvGrowth *growth, const GrowingFile *file, int fd, uint64 nbytes)
{
	char		tail[BLCKSZ];
	size_t		n = Min(nbytes, sizeof(tail));

	if (file->grows || n == 0 ||
		csv_compression_of(file->name, growth->table->compression) != CSV_COMPRESSION_NONE ||
		pread(fd, tail, n, (off_t) (nbytes - n)) != (ssize_t) n)
		return false;
	return tail[n - 1] == '\r' ?
		growth->table->reader.dialect.boundary != CSV_BOUNDARY_CR && memchr(tail, '\n', n) != NULL :
		tail[n - 1] != '\n' && tail[n - 1] != '\0';
}

/* CsvResume.ended */
static void
note_end(void *arg, int number, int fd, const CsvFilePlace *place, uint64 nbytes)
{
	CsvGrowth  *growth = arg;
	GrowingFile *file = &growth->files[number];
	const CsvFingerprint *before = file->position != NULL && !file->is_rewritten &&
		!file->is_unpacked ? &file->position->bytes : NULL;
	struct stat st;

	check_before(file, fd);
	if (!csv_fingerprint_make(fd, file->name, nbytes, before, &file->now.bytes))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("file \"%s\" became shorter while it was read", file->name)));
	file->now.place = *place;
	file->now.lacks_break = ends_in_line(growth, file, fd, nbytes);
	file->was_read = true;
	/* a copy may have the time of these bytes */
	if (fstat(fd, &st) == 0 && st.st_size == (off_t) nbytes)
		file->identity.modified = csv_file_identity(&st).modified;
	if (file->now.lacks_break && place->records > growth->resumed[number].start.records &&
		growth->table->verbosity != CSV_VERBOSITY_SILENT)
		ereport(NOTICE,
				(errmsg("took record %llu of \"%s\", which has no line break",
						(unsigned long long) place->records, file->name),
				 errhint("If the file is still written, set the option \"growing_rest\" to more than %d seconds.",
						 growth->table->growing_rest)));
}

/* files under a new name come first: before the new file of the old name */
static int
compare_turns(const void *a, const void *b)
{
	const GrowingFile *one = a;
	const GrowingFile *two = b;
	bool		one_moved = one->position != NULL &&
		strcmp(one->position->filename, one->name) != 0;
	bool		two_moved = two->position != NULL &&
		strcmp(two->position->filename, two->name) != 0;

	if (one_moved != two_moved)
		return one_moved ? -1 : 1;
	return one->number - two->number;
}

/* the next scan of the table reads the files that have news */
static void
set_files(CsvGrowth *growth)
{
	CsvTable   *table = growth->table;

	qsort(growth->files, growth->nfiles, sizeof(GrowingFile), compare_turns);
	table->files = alloc_for_files(growth->nfiles, sizeof(char *));
	table->nfiles = growth->nfiles;
	table->left_out = alloc_for_files(growth->nfiles, sizeof(bool));
	growth->resumed = alloc_for_files(growth->nfiles, sizeof(CsvResumedFile));
	for (int i = 0; i < growth->nfiles; i++)
	{
		const GrowingFile *file = &growth->files[i];
		CsvResumedFile *resumed = &growth->resumed[i];

		table->files[i] = file->name;
		table->left_out[i] = file->is_left_out || !file->has_news;
		resumed->identity = file->identity;
		if (file->position == NULL || file->is_rewritten)
			continue;
		resumed->start = file->position->place;
		resumed->start.skip_line |= file->position->lacks_break;
		resumed->nbytes = file->is_unpacked ? 0 : file->position->bytes.nbytes;
	}
	growth->resume = (CsvResume) {growth->resumed, check_begin, note_end, growth};
	table->resume = &growth->resume;
}

/* reads the rewritten files to their ends, for nothing but their ends */
static void
pass_rewritten(CsvGrowth *growth)
{
	CsvTable	table = *growth->table;
	CsvTableScan *scan;
	Datum	   *values = palloc0(sizeof(Datum) * Max(table.natts, 1));
	bool	   *isnull = palloc0(sizeof(bool) * Max(table.natts, 1));
	bool		any = false;

	table.left_out = alloc_for_files(growth->nfiles, sizeof(bool));
	for (int i = 0; i < growth->nfiles; i++)
	{
		table.left_out[i] = !growth->files[i].is_rewritten;
		any |= growth->files[i].is_rewritten;
		if (growth->files[i].is_rewritten)
			growth->table->left_out[i] = true;
	}
	if (!any)
		return;
	table.verbosity = CSV_VERBOSITY_SILENT;
	table.stop = false;
	table.reject_count = -1;
	table.reject_percent = -1;
	scan = csv_table_scan_begin(&table, NULL, NULL, 0, NULL, NULL);
	while (csv_table_scan_next(scan, values, isnull))
		CHECK_FOR_INTERRUPTS();
	csv_table_scan_end(scan);
}

/* without a look at the files */
static CsvGrowth *
make_growth(CsvTable *table, Oid schema, Oid target, CsvOnRewrite on_rewrite)
{
	CsvGrowth  *growth = palloc0(sizeof(CsvGrowth));
	ListCell   *cell;

	if (table->reader.dialect.footer_rows > 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("new records of foreign table \"%s\" cannot be loaded, because it has the option \"footer_rows\"",
						table->name)));
	/* rows go to partitions, but not to tables that only inherit */
	foreach(cell, get_rel_relkind(target) == RELKIND_PARTITIONED_TABLE ?
			find_all_inheritors(target, NoLock, NULL) : list_make1_oid(target))
	{
		char		persistence = get_rel_persistence(lfirst_oid(cell));

		if (persistence != RELPERSISTENCE_PERMANENT &&
			get_rel_relkind(lfirst_oid(cell)) != RELKIND_PARTITIONED_TABLE)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("new records cannot be loaded into %s table \"%s\"",
							persistence == RELPERSISTENCE_TEMP ? "temporary" : "unlogged",
							get_rel_name(lfirst_oid(cell))),
					 errdetail("The positions up to which files were loaded would outlive its rows."),
					 errhint("Load into a logged table. If a crash emptied the table before ALTER TABLE ... SET LOGGED, call csv_gpu_forget_positions().")));
	}
	growth->table = table;
	growth->schema = schema;
	growth->target = target;
	growth->on_rewrite = on_rewrite;
	growth->positions = csv_positions_read(schema, table->relid, target,
										   &growth->npositions);
	growth->owners = palloc(sizeof(GrowingFile *) * Max(growth->npositions, 1));
	growth->by_length = palloc(sizeof(CsvPosition *) * Max(growth->npositions, 1));
	for (int i = 0; i < growth->npositions; i++)
		if (growth->positions[i].place.records > 0)
			growth->by_length[growth->nby_length++] = &growth->positions[i];
	qsort(growth->by_length, growth->nby_length, sizeof(CsvPosition *), compare_lengths);
	table->reader.dialect.growing = true;
	table->settings.resident = false;
	return growth;
}

CsvGrowth *
csv_growth_begin(CsvTable *table, Oid schema, Oid target, CsvOnRewrite on_rewrite)
{
	CsvGrowth  *growth = make_growth(table, schema, target, on_rewrite);

	growth->is_stale = true;
	for (int i = 0; growth->is_stale && i < MOST_LISTS; i++)
	{
		CHECK_FOR_INTERRUPTS();
		decide_all(growth);
	}
	for (int i = 0; i < growth->nfiles; i++)
	{
		GrowingFile *file = &growth->files[i];

		if (file->news == NEWS_RIVAL)
			report_rivals(file);
		if (file->is_rewritten && on_rewrite == CSV_REWRITE_ERROR)
			report_rewritten(growth, file);
	}
	for (int i = 0; i < growth->nfiles; i++)
		tell(growth, &growth->files[i]);
	set_files(growth);
	if (on_rewrite == CSV_REWRITE_SKIP)
		pass_rewritten(growth);
	return growth;
}

int64
csv_growth_pass(CsvTable *table, Oid schema, Oid target)
{
	CsvGrowth  *growth;
	int64		nfiles = 0;

	(void) csv_positions_forget(schema, table->relid, target, NULL);
	growth = make_growth(table, schema, target, CSV_REWRITE_SKIP);
	list_files(growth);
	leave_out_links(growth);
	for (int i = 0; i < growth->nfiles; i++)
	{
		GrowingFile *file = &growth->files[i];

		file->born = csv_time_of_birth(file->name);
		file->is_rewritten = file->has_news = !file->is_left_out;
		nfiles += file->is_rewritten;
	}
	set_files(growth);
	pass_rewritten(growth);
	csv_growth_finish(growth);
	return nfiles;
}

bool
csv_growth_is_first(const CsvGrowth *growth)
{
	return growth->npositions == 0;
}

bool
csv_growth_is_any(const CsvGrowth *growth)
{
	for (int i = 0; i < growth->nfiles; i++)
		if (!growth->table->left_out[i])
			return true;
	return false;
}

void
csv_growth_finish(CsvGrowth *growth)
{
	for (int i = 0; i < growth->nfiles; i++)
	{
		GrowingFile *file = &growth->files[i];
		const CsvPosition *before = file->position;
		CsvPosition *now = &file->now;

		/* it may have been compressed and removed meanwhile: its time leads to the copy */
		if (!file->was_read && before != NULL && !file->is_rewritten && !file->is_unpacked &&
			strcmp(before->filename, file->name) != 0)
			*now = *before;
		/* a file without records is read from its beginning next time */
		else if (!file->was_read || (before == NULL && now->place.records == 0))
			continue;
		CHECK_FOR_INTERRUPTS();
		now->source = growth->table->relid;
		now->target = growth->target;
		now->filename = file->name;
		now->identity = file->identity;
		if (!csv_has_settled(file->identity.changed))
			now->identity.changed = 0;
		now->born = file->born;
		now->loaded_at = before != NULL && before->place.records == now->place.records &&
			!file->is_rewritten ? before->loaded_at : GetCurrentTransactionStartTimestamp();
		csv_positions_write(growth->schema, before, now);
	}
}
