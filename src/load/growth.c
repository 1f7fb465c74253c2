/*
 * growth.c
 *		Finds the records that came into a foreign table's files since the last load.
 *
 * A position (positions.h) says how far a file was loaded.  Which of the table's files is
 * it now?
 *
 *	1. The file of the same name and inode, if it fits both ends of the position's
 *	   fingerprint.  If its size and times are as they were, it is not even opened.
 *	2. Otherwise any file that fits the whole fingerprint: it was renamed, copied or
 *	   restored.
 *	3. If no file does, and the file of the same name is the same file by its inode, or
 *	   by its first bytes, it was rewritten.
 *	4. All other files are new.
 *
 * A position without records fits only by name: reading the file from its beginning gives
 * the same rows.  A new file that may be a copy in the making is left out.
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

typedef struct GrowingFile
{
	char	   *name;
	int			number;			/* in the order of the names */
	CsvFileIdentity identity;	/* when it was listed, or looked at */
	int64		born;
	bool		grows;			/* its last record may not be complete */
	bool		is_left_out;	/* another name of a file, or it may be a
								 * copy in the making */
	bool		has_news;		/* it must be read */
	const CsvPosition *named;	/* positions of its name */
	int			nnamed;
	const CsvPosition *position;	/* NULL: not loaded before */
	bool		is_rewritten;	/* since then */
	uint8	   *head;			/* its first bytes; NULL: not read yet */
	size_t		nhead;			/* HEAD_BYTES at most */
	bool		has_first;		/* it has CSV_END_BYTES: */
	uint8		first[PG_SHA256_DIGEST_LENGTH]; /* their SHA-256 */
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
	GrowingFile **owners;		/* for each position: its file */
	int			npositions;
	GrowingFile *files;
	int			nfiles;
	CsvResumedFile *resumed;
	CsvResume	resume;
	int			fd;				/* of the file that is looked at */
};

/* ---- files ---- */

/* the identity of the file that is looked at, as it is now */
static void
refresh_identity(const CsvGrowth *growth, GrowingFile *file)
{
	struct stat st;

	if (fstat(growth->fd, &st) != 0)
		csv_fail_on_file("could not stat file \"%s\": %m", file->name, "read");
	if ((uint64) st.st_ino != file->identity.inode)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("file \"%s\" was replaced after it was listed", file->name)));
	file->identity = csv_file_identity(&st);
}

static void
open_for_look(CsvGrowth *growth, GrowingFile *file)
{
	growth->fd = OpenTransientFile(file->name, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	if (growth->fd < 0)
		csv_fail_on_file("could not open file \"%s\" for reading: %m", file->name, "read");
	refresh_identity(growth, file);
}

static void
close_after_look(CsvGrowth *growth)
{
	CloseTransientFile(growth->fd);
	growth->fd = -1;
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
		sorted[i]->is_left_out = is_same_file(sorted[i], sorted[i - 1]);
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

/* ---- which file is it? ---- */

static void
report_rewritten(const GrowingFile *file)
{
	const CsvPosition *position = file->position;

	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 file->identity.size < (int64) position->bytes.nbytes ?
			 errmsg("file \"%s\" is shorter than when it was loaded", file->name) :
			 position->lacks_break ?
			 errmsg("file \"%s\" continues a line that was loaded as a record",
					file->name) :
			 errmsg("file \"%s\" has changed before the place up to which it was loaded",
					file->name),
			 errdetail("It was loaded up to byte %llu, behind record %llu.",
					   (unsigned long long) position->bytes.nbytes,
					   (unsigned long long) position->place.records),
			 errhint("csv_gpu_load() with mode => 'new_records' and on_rewrite => 'restart' loads it from its beginning, and with 'skip' from its end.")));
}

/*
 * The file has this position; ERROR if another file has it.  Bytes behind half a line that was
 * loaded as a record have changed that record, except a line break.  A file that is not open
 * is unchanged, or known to be rewritten.
 */
static void
take_position(CsvGrowth *growth, GrowingFile *file, const CsvPosition *position)
{
	GrowingFile **owner = &growth->owners[position - growth->positions];

	if (*owner != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("files \"%s\" and \"%s\" both begin with the bytes that were loaded of \"%s\"",
						(*owner)->name, file->name, position->filename),
				 errhint("Remove the copy, or have the table's pattern leave it out.")));
	*owner = file;
	file->position = position;
	file->is_rewritten = position->lacks_break && growth->fd >= 0 &&
		file->identity.size > (int64) position->bytes.nbytes &&
		!csv_position_got_break(position, growth->fd);
	if (file->is_rewritten && growth->on_rewrite == CSV_REWRITE_ERROR)
		report_rewritten(file);
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

/* step 1 */
static void
find_by_name(CsvGrowth *growth, GrowingFile *file)
{
	const CsvPosition *position = NULL;

	for (int i = 0; i < file->nnamed; i++)
		if (is_unchanged(file, &file->named[i]))
		{
			file->born = file->named[i].born;
			take_position(growth, file, &file->named[i]);
			return;
		}
	if (file->nnamed > 0)
		file->born = csv_time_of_birth(file->name);
	for (int i = 0; i < file->nnamed && position == NULL; i++)
		if (is_same_inode(file, &file->named[i]))
			position = &file->named[i];
	if (position == NULL || file->identity.size < (int64) position->bytes.nbytes)
		return;
	open_for_look(growth, file);
	if (csv_fingerprint_fits_ends(growth->fd, file->name, &position->bytes))
	{
		take_position(growth, file, position);
		file->has_news = true;
	}
	close_after_look(growth);
}

/* step 2: the longest fingerprint that fits the file, which is open */
static const CsvPosition *
find_by_bytes(CsvGrowth *growth, const GrowingFile *file)
{
	const CsvPosition *best = NULL;
	uint8		first[PG_SHA256_DIGEST_LENGTH];
	uint64		nfirst = 0;

	for (int i = 0; i < growth->npositions; i++)
	{
		const CsvPosition *position = &growth->positions[i];
		const CsvFingerprint *bytes = &position->bytes;
		uint64		nbytes = Min(bytes->nbytes, CSV_END_BYTES);

		if (position->place.records == 0 || (int64) bytes->nbytes > file->identity.size ||
			(best != NULL && bytes->nbytes <= best->bytes.nbytes))
			continue;
		if (nbytes != nfirst &&
			!csv_fingerprint_first(growth->fd, file->name, nbytes, first))
			break;
		nfirst = nbytes;
		if (memcmp(first, bytes->first, sizeof(first)) == 0 &&
			csv_fingerprint_fits(growth->fd, file->name, bytes))
			best = position;
	}
	return best;
}

/* does another file begin with these bytes, as far as its head goes? */
static bool
may_begin_with(GrowingFile *other, const uint8 *bytes, size_t nbytes)
{
	if (other->head == NULL)
	{
		int			fd = OpenTransientFile(other->name, O_RDONLY | O_NONBLOCK | O_NOCTTY);

		other->head = palloc(HEAD_BYTES);
		if (fd >= 0)
		{
			other->nhead = (size_t) Max(pread(fd, other->head, HEAD_BYTES, 0), 0);
			CloseTransientFile(fd);
		}
	}
	return other->nhead > 0 && memcmp(other->head, bytes, Min(nbytes, other->nhead)) == 0;
}

/*
 * Is the file, which is open, the beginning of another file?  Then it may be a copy in the
 * making.  Of two files that are equal, either may be the copy.
 */
static bool
may_be_copy(CsvGrowth *growth, GrowingFile *file)
{
	uint8		head[HEAD_BYTES];
	size_t		nhead = Min(file->identity.size, HEAD_BYTES);
	bool		is_same = false;

	if (csv_has_rested(file->identity.modified, CSV_REST_SECONDS) ||
		pread(growth->fd, head, nhead, 0) != (ssize_t) nhead)
		return false;
	for (int i = 0; !is_same && i < growth->nfiles; i++)
	{
		GrowingFile *other = &growth->files[i];
		int			fd;

		/* there may be ten thousand files */
		if (is_same_file(other, file) || !may_begin_with(other, head, nhead))
			continue;
		fd = OpenTransientFile(other->name, O_RDONLY | O_NONBLOCK | O_NOCTTY);
		if (fd < 0)
			continue;
		is_same = csv_fingerprint_is_prefix(growth->fd, file->name, file->identity.size,
											fd, other->name);
		CloseTransientFile(fd);
	}
	return is_same;
}

/*
 * Step 3: the position of the file if it was rewritten since.  The first bytes tell only
 * if there are as many as the position has a hash of.
 */
static const CsvPosition *
find_rewritten(const CsvGrowth *growth, const GrowingFile *file)
{
	for (int i = 0; i < file->nnamed; i++)
	{
		const CsvPosition *position = &file->named[i];

		if (growth->owners[position - growth->positions] == NULL &&
			(is_same_inode(file, position) ||
			 (file->has_first && position->bytes.nbytes >= CSV_END_BYTES &&
			  memcmp(file->first, position->bytes.first, sizeof(file->first)) == 0)))
			return position;
	}
	return NULL;
}

/*
 * Looks at the bytes of a file that has no position by step 1: is it a position's file,
 * or a copy?
 *
 * A file that is copied and truncated has all its bytes until its copy is complete.  So
 * another look is needed only if the file grew meanwhile: if it was a copy in the
 * making, which is complete now.  If it grows further, the first look was right.
 */
static void
look_at(CsvGrowth *growth, GrowingFile *file)
{
	const CsvPosition *position = NULL;
	int64		size = -1;

	file->born = csv_time_of_birth(file->name);
	file->has_news = true;
	open_for_look(growth, file);
	for (int look = 0; look < 2 && size != file->identity.size && position == NULL &&
		 !file->is_left_out; look++)
	{
		size = file->identity.size;
		position = find_by_bytes(growth, file);
		if (position == NULL)
			file->is_left_out = may_be_copy(growth, file);
		refresh_identity(growth, file);
	}
	if (position != NULL)
		take_position(growth, file, position);
	else
		file->has_first = file->identity.size >= CSV_END_BYTES &&
			csv_fingerprint_first(growth->fd, file->name, CSV_END_BYTES, file->first);
	close_after_look(growth);
}

/* decides about files that have no position by step 1 */
static void
find_others(CsvGrowth *growth)
{
	bool	   *is_other = palloc0(Max(growth->nfiles, 1));

	for (int i = 0; i < growth->nfiles; i++)
	{
		GrowingFile *file = &growth->files[i];

		CHECK_FOR_INTERRUPTS();
		is_other[i] = file->position == NULL && !file->is_left_out;
		if (is_other[i])
			look_at(growth, file);
	}
	for (int i = 0; i < growth->nfiles; i++)
	{
		GrowingFile *file = &growth->files[i];
		const CsvPosition *position = is_other[i] && file->position == NULL ?
			find_rewritten(growth, file) : NULL;

		if (position == NULL)
			continue;
		take_position(growth, file, position);
		file->is_left_out = false;
		file->is_rewritten = true;
		if (growth->on_rewrite == CSV_REWRITE_ERROR)
			report_rewritten(file);
	}
	pfree(is_other);
}

/* ---- the scan ---- */

/* ERROR if the open file is not as it was loaded, since it was looked at */
static void
check_before(const GrowingFile *file, int fd)
{
	if (file->position != NULL && !file->is_rewritten &&
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
	const CsvFingerprint *before = file->position != NULL && !file->is_rewritten ?
		&file->position->bytes : NULL;

	check_before(file, fd);
	if (!csv_fingerprint_make(fd, file->name, nbytes, before, &file->now.bytes))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("file \"%s\" became shorter while it was read", file->name)));
	file->now.place = *place;
	file->now.lacks_break = ends_in_line(growth, file, fd, nbytes);
	file->was_read = true;
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
		resumed->nbytes = file->position->bytes.nbytes;
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

CsvGrowth *
csv_growth_begin(CsvTable *table, Oid schema, Oid target, CsvOnRewrite on_rewrite)
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
	growth->fd = -1;
	growth->positions = csv_positions_read(schema, table->relid, target,
										   &growth->npositions);
	growth->owners = palloc0(sizeof(GrowingFile *) * Max(growth->npositions, 1));
	table->reader.dialect.growing = true;
	table->settings.resident = false;
	list_files(growth);
	for (int i = 0; i < growth->nfiles; i++)
		find_by_name(growth, &growth->files[i]);
	leave_out_links(growth);
	find_others(growth);
	set_files(growth);
	if (on_rewrite == CSV_REWRITE_SKIP)
		pass_rewritten(growth);
	return growth;
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

		/* a file without records is read from its beginning next time */
		if (!file->was_read || (before == NULL && now->place.records == 0))
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
