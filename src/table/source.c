/*
 * source.c
 *		The bytes of a table: files or a program's standard output.
 *
 * The way of the data:
 *
 *	1. The file or pipe is read without blocking.  If no bytes are there yet
 *	   (FIFOs, programs, devices), the backend waits on its latch and on the
 *	   descriptor, so that it can be cancelled.
 *	2. Compressed bytes are decompressed (decompress.c).
 *	3. Its first four bytes show whether it is in UTF-16, or begins with UTF-8's mark.
 *	4. Bytes go to the caller's buffer as they are, unless characters of the
 *	   file's encoding can hide ASCII bytes, or the file is in UTF-16 or has
 *	   UTF-8's mark but the table another encoding.  Then they are converted
 *	   (conversion.c).
 *
 * One descriptor is open at a time.  fd.c counts it as external.  A reset callback of
 * the memory context in which the source lives closes it.
 */
#include "postgres.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "catalog/namespace.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "storage/fd.h"
#include "storage/latch.h"
#include "utils/memutils.h"
#include "utils/wait_event.h"

#include "compat.h"
#include "table/conversion.h"
#include "table/decompress.h"
#include "table/interrupts.h"
#include "table/encoding.h"
#include "table/source.h"
#include "table/option.h"
#include "table/text.h"

/*
 * Most bytes of one read(2).  16 MB take some milliseconds, after which the backend
 * checks for a cancel again.
 */
#define MAX_READ_BYTES	(16 * 1024 * 1024)

/* a file may be renamed again while its new name is looked up */
#define MOST_LISTINGS		5

/* the kernel reads smaller files as well without being told how they are read */
#define LEAST_SEQUENTIAL_BYTES	(128 * 1024)

/* enough for a byte-order mark, and to recognize compression */
#define HEAD_BYTES			10

/* the first bytes of a file that grows, by which it is known */
#define FIRST_BYTES			4096

struct CsvSource
{
	const CsvTable *table;
	char	  **names;			/* of files; or the program's command */
	char	  **shown_names;	/* the names as valid text */
	int			nnames;
	bool		of_pattern;		/* the names match a pattern */
	CsvFileIdentity *listed;	/* of each file; inode 0: unknown.  NULL: a program.
								 * A file that is not of a pattern is known when it
								 * is opened, or its size is wanted */
	bool		appends;		/* sessions append to the only file */
	int64		newest;			/* of a pattern's files, when they were modified */
	int			next;			/* index in names of the file to open next */
	const char *name;			/* the file opened last, as shown */

	int			fd;				/* -1: nothing is open */
	FILE	   *pipe;			/* the program whose output fd is; NULL: a file */
	struct stat opened;			/* of the file when it was opened */
	bool		wait_for_writer;	/* a FIFO, before its first byte was read */
	bool		at_start;		/* its first bytes were not examined yet */
	bool		at_end;			/* read to its end */
	bool		is_regular;		/* a regular file, ... */
	off_t		position;		/* ... read up to here */
	uint64_t	nbytes;			/* ... of this size when the scan began, ... */
	bool		is_cut;			/* ... but ended earlier; any thread may set this */
	bool		is_bounded;		/* nothing behind nbytes is read */
	bool		grows;			/* csv_source_grows(), when it was opened */
	uint8_t    *first;			/* its first bytes, if the table's files grow; */
	size_t		nfirst;			/* their number */

	CsvDecompressor *decompressor;	/* NULL: not needed yet */
	bool		is_compressed;	/* the open file is compressed */

	uint8_t		head[HEAD_BYTES];	/* the file's first bytes, decompressed */
	size_t		nhead;
	size_t		head_at;		/* index of the first byte not delivered yet */
	CsvConversion *conversion;	/* for the open file, after its head; NULL: none */
	CsvConversion *converter;	/* for all files; NULL: not needed yet */
	bool		is_from_utf8;	/* has UTF-8's mark; such files ... */
	int			utf8_to;		/* ... become this; PG_SQL_ASCII: none does */
	CsvUtf16	found_utf16;	/* what the mark of the last such file says */
	MemoryContextCallback callback;
};

/* ---- close ---- */

/*
 * Closes the open file, if any.  Returns a program's wait status, or -1 with errno if
 * that could not be determined.  Returns 0 for files.
 */
static int
close_descriptor(CsvSource *source)
{
	FILE	   *pipe = source->pipe;
	int			fd = source->fd;

	if (fd < 0)
		return 0;
	source->fd = -1;
	source->pipe = NULL;
	ReleaseExternalFD();
	if (pipe != NULL)
		return pclose(pipe);
	close(fd);
	return 0;
}

/* the reset callback */
static void
release_source(void *arg)
{
	(void) close_descriptor((CsvSource *) arg);
}

/* closes the open file, if any; ERROR if a program failed */
static void
close_checked(CsvSource *source)
{
	bool		at_end = source->at_end;
	int			status = close_descriptor(source);

	if (status == -1)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not close pipe to external command: %m")));

	/* A program that was not read to its end is expected to die by SIGPIPE. */
	if (status != 0 && (at_end || !wait_result_is_signal(status, SIGPIPE)))
		ereport(ERROR,
				(errcode(ERRCODE_EXTERNAL_ROUTINE_EXCEPTION),
				 errmsg("program \"%s\" failed", source->name),
				 errdetail_internal("%s", wait_result_to_str(status))));
}

/* ---- which files ---- */

static void
check_reads_files(const CsvTable *table)
{
	if (table->program != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("foreign table \"%s\" reads no files, but a program",
						table->name)));
}

void
csv_source_files(const CsvTable *table, char ***names, int *nfiles)
{
	check_reads_files(table);
	if (!csv_find_files(table, false, names, nfiles))
		*nfiles = 0;
}

void
csv_source_choose_file(CsvTable *table, const char *filename)
{
	check_reads_files(table);
	if (!csv_matches_pattern(table, filename))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FILE),
				 errmsg("\"%s\" is no file of foreign table \"%s\"",
						csv_shown_filename(filename), table->name),
				 errhint("csv_gpu_files() lists the files of a table.")));
	table->filename = pstrdup(filename);
	/* the name may itself contain wildcards */
	table->files = palloc(sizeof(char *));
	table->files[0] = table->filename;
	table->nfiles = 1;
	table->prefers_pattern = false;
}

/* lists the files; ERROR if there are none */
static void
find_some_files(const CsvTable *table, char ***names, int *nnames)
{
	if (!csv_find_files(table, false, names, nnames))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FILE),
				 errmsg("no file matches \"%s\"", table->filename),
				 csv_hint_missing(table->filename, OidIsValid(table->relid))));
}

bool
csv_source_list(CsvTable *table, bool quiet)
{
	char	  **names;
	int			nnames;

	check_reads_files(table);
	if (!quiet)
		find_some_files(table, &names, &nnames);
	else if (!csv_find_files(table, true, &names, &nnames))
		return false;
	table->files = names;
	table->nfiles = nnames;
	table->left_out = palloc_extended(sizeof(bool) * nnames,
									  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	return true;
}

/* ERROR if a file is not a regular file */
static void
check_regular(const struct stat *st, const char *name)
{
	if (!S_ISREG(st->st_mode))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a regular file", name)));
}

/* is it an error if a listed file is missing? */
static bool
needs_all(const CsvTable *table)
{
	return table->stop || table->all_files;
}

/* the only file was examined; of other than regular files nothing is known */
static void
list_only_file(CsvSource *source, const struct stat *st)
{
	if (S_ISREG(st->st_mode))
		source->listed[0] = csv_file_identity(st);
}

/*
 * Lists the files, with the identities of a pattern's files.  If no file may be missing,
 * and a file of a pattern vanishes meanwhile, lists them again.  A user who names a FIFO
 * or a device wants to wait for it; a user who names a pattern does not.  If a file cannot
 * be examined, opening it will fail and say why.
 */
static void
list_files(CsvSource *source)
{
	const CsvTable *table = source->table;
	bool		all_there = false;

	for (int tries = 0; !all_there && tries < MOST_LISTINGS; tries++)
	{
		find_some_files(table, &source->names, &source->nnames);
		/* a name that is not a pattern is the only name */
		source->of_pattern = table->resume != NULL || source->nnames != 1 ||
			strcmp(source->names[0], table->filename) != 0;
		source->listed = palloc_extended(sizeof(CsvFileIdentity) * source->nnames,
										 MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
		all_there = true;
		for (int i = 0; source->of_pattern && i < source->nnames; i++)
		{
			struct stat st;

			CHECK_FOR_INTERRUPTS();
			if (table->resume != NULL)
			{
				source->listed[i] = table->resume->files[i].identity;
				source->newest = Max(source->newest, source->listed[i].modified);
				continue;
			}
			if (csv_table_stat(table, source->names[i], &st) != 0)
			{
				all_there = table->files != NULL || !needs_all(table);
				continue;
			}
			check_regular(&st, csv_shown_filename(source->names[i]));
			source->listed[i] = csv_file_identity(&st);
			source->newest = Max(source->newest, source->listed[i].modified);
		}
	}
}

/*
 * Finds out the size that a file has without rows of transactions that have not
 * committed.  Until the first row is written, there is no file.
 */
static void
list_written_file(CsvSource *source)
{
	uint64		lock = csv_file_lock_number(source->names[0]);
	struct stat st;

	csv_file_lock(lock, ShareLock);
	if (csv_table_stat(source->table, source->names[0], &st) == 0)
		list_only_file(source, &st);
	else if (errno == ENOENT)
		source->nnames = 0;
	csv_file_unlock(lock, ShareLock);
}

CsvSource *
csv_source_create(const CsvTable *table)
{
	CsvSource  *source = palloc0(sizeof(CsvSource));

	source->table = table;
	source->fd = -1;

	if (table->program != NULL)
	{
		source->names = palloc(sizeof(char *));
		source->names[0] = table->program;
		source->nnames = 1;
	}
	else
		list_files(source);
	source->appends = table->writable && !source->of_pattern;
	if (source->appends)
		list_written_file(source);
	source->shown_names = palloc_extended(sizeof(char *) * source->nnames,
										  MCXT_ALLOC_HUGE);
	for (int i = 0; i < source->nnames; i++)
		source->shown_names[i] = csv_shown_filename(source->names[i]);
	source->name = source->nnames > 0 ? source->shown_names[0] :
		csv_shown_filename(table->filename);

	source->utf8_to = table->encoding == PG_SQL_ASCII ? GetDatabaseEncoding() : table->encoding;
	if (source->utf8_to == PG_UTF8)
		source->utf8_to = PG_SQL_ASCII;

	source->callback.func = release_source;
	source->callback.arg = source;
	MemoryContextRegisterResetCallback(CurrentMemoryContext,
									   &source->callback);
	return source;
}

CsvSourceSize
csv_source_listed_size(CsvSource *source)
{
	CsvSourceSize size = {.is_exact = true};
	struct stat st;

	if (source->table->program != NULL)
		return csv_unknown_size;
	if (!source->of_pattern && source->listed[0].inode == 0 &&
		csv_table_stat(source->table, source->names[0], &st) == 0)
		list_only_file(source, &st);
	for (int i = 0; i < source->nnames; i++)
	{
		if (csv_is_left_out(source->table, i))
			continue;
		if (source->listed[i].inode == 0)
			return csv_unknown_size;
		csv_add_file_size(source->table, source->names[i], source->listed[i].size, &size);
	}
	return size;
}

bool
csv_source_identity(const CsvSource *source, CsvFileIdentity *identity)
{
	struct stat st;

	/* bytes that were appended since the scan began are not read */
	if (source->fd < 0 || source->pipe != NULL || fstat(source->fd, &st) != 0 ||
		(source->conversion != NULL && source->is_from_utf8))
		return false;
	if (source->grows && (uint64_t) st.st_size > source->nbytes)
		st.st_size = (off_t) source->nbytes;
	return (uint64_t) st.st_size == source->nbytes &&
		csv_identify(source->table, &st, identity);
}

bool
csv_source_is_regular(const CsvSource *source)
{
	return source->is_regular;
}

int
csv_source_file(const CsvSource *source)
{
	return source->fd;
}

void
csv_source_names(const CsvSource *source, char ***names, int *nfiles)
{
	*names = source->names;
	*nfiles = source->nnames;
}

/* ---- byte-order marks ---- */

/* is a file, which need not be open, in UTF-16, or converted for its mark of UTF-8? */
static bool
is_converted(const CsvSource *source, const char *name)
{
	const CsvUtf16 utf16 = source->table->utf16;
	const bool	by_mark = utf16 == CSV_UTF16_BY_MARK ||
		(utf16 == CSV_UTF16_NO && source->utf8_to != PG_SQL_ASCII);
	const CsvUtf16 kind = by_mark ?
		csv_file_marked_utf16(&source->table->rights, name) : utf16;

	return kind == CSV_UTF16_NOT_BUT_UTF8 ? source->utf8_to != PG_SQL_ASCII :
		kind >= CSV_UTF16_ANY && utf16 != CSV_UTF16_NO;
}

/* the conversion for the open file, whose head was read; NULL: none */
static CsvConversion *
begin_conversion(CsvSource *source)
{
	const CsvTable *table = source->table;
	CsvUtf16	kind = table->utf16;
	CsvUtf16	marked = csv_marked_utf16(source->head, source->nhead);
	int			from = table->file_encoding;
	int			to = table->encoding;

	csv_check_mark(table, source->name, source->head, source->nhead);
	if (marked == CSV_UTF16_NOT_BUT_UTF8 || kind == CSV_UTF16_BY_MARK ||
		(kind == CSV_UTF16_ANY && marked != CSV_UTF16_NO))
		kind = marked;
	else if (kind == CSV_UTF16_ANY)
		kind = CSV_UTF16_LITTLE;
	source->is_from_utf8 = kind == CSV_UTF16_NOT_BUT_UTF8;
	if (source->is_from_utf8 && source->utf8_to == PG_SQL_ASCII)
		return NULL;
	if (source->is_from_utf8)
	{
		from = PG_UTF8;
		to = source->utf8_to;
		source->head_at = 3;
	}
	else if (kind != CSV_UTF16_NO)
		from = CSV_FROM_UTF16;
	if (kind != CSV_UTF16_NO)
		source->found_utf16 = kind;
	else if (from == to)
		return NULL;
	if (source->converter == NULL)
		source->converter =
			csv_conversion_create(GetMemoryChunkContext(source));
	csv_conversion_begin(source->converter, from, to, source->name,
						 kind == CSV_UTF16_BIG, source->grows);
	return source->converter;
}

CsvUtf16
csv_source_found_utf16(const CsvSource *source)
{
	return source->found_utf16;
}

/* ---- which files there are, and what they are ---- */

bool
csv_source_look_at(const CsvSource *source, int number,
				   CsvFileIdentity *identity, bool *seekable)
{
	const char *name = source->names[number];
	struct stat st;

	*seekable = false;
	if (source->table->program != NULL ||
		csv_table_stat(source->table, name, &st) != 0 ||
		!S_ISREG(st.st_mode))
		return false;
	*identity = csv_file_identity(&st);
	if (source->appends && source->listed[number].inode == identity->inode)
		*identity = source->listed[number];
	*seekable = csv_file_compression(source->table, name) == CSV_COMPRESSION_NONE &&
		source->table->encoding == source->table->file_encoding &&
		!is_converted(source, name);
	return true;
}

bool
csv_source_is_open(const CsvSource *source, const CsvFileIdentity *identity)
{
	return source->fd >= 0 && source->pipe == NULL &&
		S_ISREG(source->opened.st_mode) &&
		(uint64_t) source->opened.st_dev == identity->device &&
		(uint64_t) source->opened.st_ino == identity->inode;
}

bool
csv_source_is_left_out(const CsvSource *source, int number)
{
	return csv_is_left_out(source->table, number);
}

const char *
csv_source_name(const CsvSource *source)
{
	return source->name;
}

bool
csv_source_grows(const CsvSource *source, int number)
{
	const CsvFileIdentity *listed = &source->listed[number];

	return source->table->reader.dialect.growing && source->table->program == NULL &&
		(!source->of_pattern || listed->modified == source->newest ||
		 !csv_has_rested(listed->modified, source->table->growing_rest));
}

/* notes the first bytes of the open file, if files grow */
static void
note_first(CsvSource *source)
{
	source->nfirst = 0;
	if (!source->table->reader.dialect.growing || !source->is_regular)
		return;
	if (source->first == NULL)
		source->first = MemoryContextAlloc(GetMemoryChunkContext(source), FIRST_BYTES);
	source->nfirst = csv_read_at(source->fd, source->name, source->first,
								 Min(source->nbytes, FIRST_BYTES), 0);
}

void
csv_source_check_same(const CsvSource *source)
{
	uint8_t		now[FIRST_BYTES];

	/* of a file that only became shorter, a prefix was read */
	if (source->fd >= 0 && source->nfirst > 0 &&
		memcmp(now, source->first, csv_read_at(source->fd, source->name, now,
											   source->nfirst, 0)) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("file \"%s\" was replaced while it was read", source->name)));
}

/* ---- open ---- */

/* continues reading at an offset */
static void
seek(void *arg, uint64_t offset)
{
	CsvSource  *source = arg;

	source->position = (off_t) offset;
	source->nhead = source->head_at = 0;
	source->at_end = false;
}

int
csv_source_number(const CsvSource *source)
{
	return source->next - 1;
}

void
csv_source_rewind(CsvSource *source)
{
	csv_source_close(source);
	source->next = 0;
	if (source->nnames > 0)
		source->name = source->shown_names[0];
}

void
csv_source_close(CsvSource *source)
{
	if (source->decompressor != NULL)
		csv_decompressor_end(source->decompressor);
	close_checked(source);
}

/* lets fd.c count a descriptor; fd.c may close one of its own to make room */
static void
acquire_descriptor(const char *name)
{
	if (!AcquireExternalFD())
		csv_fail_on_file("could not open file \"%s\" for reading: %m", name, "read");
}

/* ERROR with errno; path: the name by which the file is opened */
static void __attribute__((noreturn))
fail_to_open(const CsvSource *source, const char *path)
{
	int			error = errno;

	ereport(ERROR,
			(errcode_for_file_access(),
			 errmsg("could not open file \"%s\" for reading: %m",
					source->name),
			 csv_hint_access(error, path, "read", OidIsValid(source->table->relid))));
}

void
csv_source_missing(const CsvSource *source)
{
	errno = ENOENT;
	fail_to_open(source, source->names[source->next - 1]);
}

/*
 * Without O_NONBLOCK, opening a FIFO would wait for its writer, and could not be
 * cancelled.  For regular files the flag has no effect.  Returns false with errno.
 */
static bool
open_path(CsvSource *source, const char *path)
{
	acquire_descriptor(source->name);
	source->fd = csv_rights_open(&source->table->rights, path,
								 O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (source->fd < 0)
	{
		int			error = errno;

		ReleaseExternalFD();
		csv_check_links(&source->table->rights, path, CSV_ACCESS_READ);
		errno = error;
		return false;
	}
	/* after an error from here on, the reset callback closes the file */
	if (fstat(source->fd, &source->opened) != 0)
		csv_fail_on_file("could not stat file \"%s\": %m", source->name, "read");
	return true;
}

/* was the open file in the list, under another name? */
static bool
is_listed(const CsvSource *source)
{
	for (int i = 0; i < source->nnames; i++)
		if (csv_source_is_open(source, &source->listed[i]))
			return true;
	return false;
}

/*
 * Opens a file, by its new name if it was renamed after it was listed.  Returns false
 * with errno; errno is ESTALE if another file of the list now has its name.  A scan
 * that does not need all files accepts a new file of that name instead.
 */
static bool
open_listed(CsvSource *source, int number, const CsvFileIdentity *as)
{
	const char *path = source->names[number];
	bool		is_sought = as != NULL || needs_all(source->table);
	bool		is_open = open_path(source, path);
	int			error = errno;

	if (as == NULL)
		as = &source->listed[number];
	if (!source->of_pattern || as->inode == 0)
		return is_open;
	for (int tries = 0; is_sought && (is_open || error == ENOENT) &&
		 !csv_source_is_open(source, as) && tries < MOST_LISTINGS; tries++)
	{
		path = csv_find_renamed(source->table, as);
		if (path == NULL)
			break;
		(void) close_descriptor(source);
		is_open = open_path(source, path);
		error = errno;
	}
	if (is_open && !csv_source_is_open(source, as))
	{
		if (needs_all(source->table))
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("file \"%s\" was replaced after it was listed",
							source->name)));
		if (is_listed(source))
		{
			(void) close_descriptor(source);
			is_open = false;
			error = ESTALE;
		}
	}
	errno = error;
	return is_open;
}

/* false: the file is gone */
static bool
open_file(CsvSource *source, int number, const CsvFileIdentity *as)
{
	const char *path = source->names[number];
	const struct stat *opened = &source->opened;

	if (!open_listed(source, number, as))
	{
		int			error = errno;
		struct stat st;

		/* a broken symbolic link is not a missing file */
		if (source->of_pattern && !needs_all(source->table) &&
			(error == ESTALE || (error == ENOENT && lstat(path, &st) != 0 &&
								 errno == ENOENT)))
			return false;
		errno = error;
		fail_to_open(source, path);
	}

	if (S_ISDIR(opened->st_mode))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is a directory", source->name),
				 errhint("A pattern such as \"directory/*.csv\" reads the files of a directory.")));
	if (source->of_pattern)
		check_regular(opened, source->name);
	source->wait_for_writer = S_ISFIFO(opened->st_mode);
	source->is_regular = S_ISREG(opened->st_mode);
	source->grows = source->is_regular && csv_source_grows(source, number);
	source->position = 0;
	if (!source->of_pattern && source->listed[0].inode == 0)
		list_only_file(source, opened);
	if (as == NULL)
		as = &source->listed[number];
	source->nbytes = (uint64_t) (csv_source_is_open(source, as) ? as->size : opened->st_size);
	source->is_cut = false;
	note_first(source);

#if defined(USE_POSIX_FADVISE) && defined(POSIX_FADV_SEQUENTIAL)
	/* a few pages are read at once in any case */
	if (source->is_regular && source->nbytes > LEAST_SEQUENTIAL_BYTES)
		(void) posix_fadvise(source->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
#endif
	return true;
}

static void
open_program(CsvSource *source, const char *command)
{
	int			error;

	/*
	 * The program must die by SIGPIPE when the scan ends early.  The server ignores
	 * this signal, and a child process inherits that.
	 */
	acquire_descriptor(command);
	fflush(NULL);
	pqsignal(SIGPIPE, PG_SIG_DFL);
	errno = 0;
	source->pipe = popen(command, "r");
	error = errno;
	pqsignal(SIGPIPE, PG_SIG_IGN);
	if (source->pipe == NULL)
	{
		ReleaseExternalFD();
		errno = error != 0 ? error : ENOMEM;
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not execute command \"%s\": %m", command)));
	}

	/* the buffer of stdio is never used */
	source->fd = fileno(source->pipe);
	if (fcntl(source->fd, F_SETFD, FD_CLOEXEC) != 0 ||
		fcntl(source->fd, F_SETFL, O_NONBLOCK) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read from command \"%s\": %m", command)));
}

/* ---- read ---- */

/* waits until a read can return bytes, or the end */
static void
wait_readable(CsvSource *source)
{
	if (csv_wait_readable(source->fd))
		source->wait_for_writer = false;
}

/*
 * Reads bytes of a regular file, up to its size when the scan began; compressed files,
 * and files of /proc, whose size is 0, are read to their end.  Also used by
 * csv_reader_read_ahead(): several threads call this at once, so it must not call
 * PostgreSQL.
 */
static ssize_t
read_at(void *arg, uint8_t *buffer, size_t nbytes, uint64_t offset)
{
	CsvSource  *source = arg;
	ssize_t		nread;

	if (source->is_bounded)
	{
		if (offset >= source->nbytes)
			return 0;
		nbytes = Min(nbytes, source->nbytes - offset);
	}
	nread = pread(source->fd, buffer, nbytes, (off_t) offset);
	if (nread == 0)
		csv_source_note_end(source, offset);
	return nread;
}

void
csv_source_note_end(CsvSource *source, uint64_t offset)
{
	if (offset < source->nbytes)
		__atomic_store_n(&source->is_cut, true, __ATOMIC_RELAXED);
}

CsvFileChange
csv_source_change(const CsvSource *source)
{
	struct stat st;

	if (source->fd < 0 || !source->is_regular || fstat(source->fd, &st) != 0)
		return CSV_FILE_SAME;
	/* threads that decompress do not report where they reached the end */
	if (__atomic_load_n(&source->is_cut, __ATOMIC_RELAXED) ||
		(source->is_compressed && (uint64_t) st.st_size < source->nbytes))
		return CSV_FILE_SHORTER;
	return (uint64_t) st.st_size > source->nbytes && !source->appends &&
		!source->table->reader.dialect.growing ? CSV_FILE_LONGER : CSV_FILE_SAME;
}

uint64
csv_source_known_bytes(const CsvSource *source)
{
	return source->nbytes;
}

uint64
csv_source_expected_bytes(const CsvSource *source)
{
	return source->is_regular && !source->is_compressed ? source->nbytes : 0;
}

bool
csv_source_read_ahead(CsvSource *source, CsvReadAhead *ahead)
{
	if (!source->is_regular || source->is_compressed ||
		source->conversion != NULL)
		return false;
	ahead->read_at = read_at;
	ahead->seek = seek;
	ahead->arg = source;
	ahead->file_bytes = source->nbytes;
	return true;
}

/* reads from the descriptor; at the end returns 0 at each call */
static size_t
read_descriptor(void *arg, uint8_t *buffer, size_t nbytes)
{
	CsvSource  *source = arg;
	ssize_t		nread;

	if (source->at_end)
		return 0;
	if (source->table->read != NULL)
	{
		nbytes = source->table->read(source->table->read_arg, buffer, nbytes);
		source->at_end = nbytes == 0;
		return nbytes;
	}
	if (source->fd < 0)
		elog(ERROR, "no file is open");

	for (;;)
	{
		csv_check_interrupts();

		/*
		 * A FIFO that no writer has opened yet reads like a file at its end, but is
		 * not ready to be read.
		 */
		if (source->wait_for_writer)
		{
			wait_readable(source);
			continue;
		}

		pgstat_report_wait_start(WAIT_EVENT_COPY_FILE_READ);
		if (source->is_regular)
		{
			nread = read_at(source, buffer, Min(nbytes, MAX_READ_BYTES),
							(uint64_t) source->position);
			if (nread > 0)
				source->position += nread;
		}
		else
			nread = read(source->fd, buffer, Min(nbytes, MAX_READ_BYTES));
		pgstat_report_wait_end();
		if (nread > 0)
			return nread;
		if (nread == 0)
			break;
		if (errno == EAGAIN || errno == EWOULDBLOCK)
			wait_readable(source);
		else if (errno != EINTR)
			ereport(ERROR,
					(errcode_for_file_access(),
					 source->pipe != NULL ?
					 errmsg("could not read from command \"%s\": %m", source->name) :
					 errmsg("could not read from file \"%s\": %m", source->name)));
	}

	/* the rows of a program that failed may be incomplete: raise the ERROR now */
	source->at_end = true;
	if (source->pipe != NULL)
		close_checked(source);
	return 0;
}

/* like read_descriptor(), but decompressed */
static size_t
read_decompressed(CsvSource *source, uint8_t *buffer, size_t nbytes)
{
	return source->is_compressed ?
		csv_decompressor_read(source->decompressor, buffer, nbytes) :
		read_descriptor(source, buffer, nbytes);
}

/*
 * Reads and examines the first bytes.  If they go to the caller as they are in the
 * file, the next read begins with them.
 */
static void
begin_reading(CsvSource *source)
{
	size_t		nread = 1;

	while (source->nhead < HEAD_BYTES && nread > 0)
	{
		nread = read_decompressed(source, source->head + source->nhead,
								  HEAD_BYTES - source->nhead);
		source->nhead += nread;
	}
	if (!source->is_compressed &&
		source->table->compression == CSV_COMPRESSION_AUTO)
		csv_check_not_compressed(source->table, source->name, source->head, source->nhead);
	source->conversion = begin_conversion(source);
	source->at_start = false;
	if (source->is_regular && !source->is_compressed &&
		source->conversion == NULL)
		seek(source, 0);
}

/* a CsvReadFn, like read_decompressed(), but begins with the head */
static size_t
read_bytes(void *arg, uint8_t *buffer, size_t nbytes)
{
	CsvSource  *source = arg;

	if (source->head_at == source->nhead)
		return read_decompressed(source, buffer, nbytes);
	nbytes = Min(nbytes, source->nhead - source->head_at);
	memcpy(buffer, source->head + source->head_at, nbytes);
	source->head_at += nbytes;
	return nbytes;
}

size_t
csv_source_read(void *arg, uint8_t *buffer, size_t nbytes)
{
	CsvSource  *source = arg;

	if (nbytes == 0)
		return 0;
	if (source->at_start)
		begin_reading(source);
	if (source->conversion != NULL)
		return csv_conversion_read(source->conversion, read_bytes, source,
								   buffer, nbytes);
	return read_bytes(source, buffer, nbytes);
}

/* ---- the next file ---- */

/*
 * Begins to decompress the open file, if it is compressed.  A file that grows ends with
 * its last complete member or frame.
 */
static void
begin_decompression(CsvSource *source)
{
	CsvCompression compression = csv_file_compression(source->table, source->name);
	const CsvResume *resume = source->table->resume;

	/* TRUNCATE leaves an empty file */
	source->is_compressed = compression != CSV_COMPRESSION_NONE &&
		!(source->appends && source->nbytes == 0);
	source->is_bounded = source->is_regular &&
		(source->grows || source->appends ||
		 (source->nbytes > 0 && !source->is_compressed));
	if (!source->is_compressed)
		return;
	if (source->decompressor == NULL)
	{
		MemoryContext outer =
			MemoryContextSwitchTo(GetMemoryChunkContext(source));

		source->decompressor = csv_decompressor_create(read_descriptor, seek,
													   source,
													   OidIsValid(source->table->relid));
		MemoryContextSwitchTo(outer);
	}
	csv_decompressor_begin(source->decompressor, compression, source->name,
						   source->is_regular ? source->fd : -1,
						   source->grows || source->appends ? &source->nbytes : NULL,
						   resume != NULL ? resume->files[source->next - 1].nbytes : 0,
						   csv_stream_threads(source->table->settings.cpu_threads));
}

bool
csv_source_open(CsvSource *source, int number, const CsvFileIdentity *as)
{
	csv_source_close(source);
	source->next = number + 1;
	source->name = source->shown_names[number];
	source->at_start = true;
	source->at_end = false;
	source->wait_for_writer = false;
	source->is_regular = false;
	source->grows = false;
	source->nhead = source->head_at = 0;
	source->conversion = NULL;
	if (source->table->program == NULL)
	{
		if (!open_file(source, number, as))
			return false;
	}
	else if (source->table->read == NULL)
		open_program(source, source->names[number]);
	begin_decompression(source);
	return true;
}

bool
csv_source_open_next(CsvSource *source, bool *gone)
{
	bool		is_open = false;

	csv_source_close(source);
	while (!is_open)
	{
		while (source->next < source->nnames &&
			   csv_is_left_out(source->table, source->next))
			source->next++;
		if (source->next >= source->nnames)
			return false;
		is_open = csv_source_open(source, source->next, NULL);
		if (gone != NULL)
		{
			*gone = !is_open;
			return true;
		}
	}
	return true;
}
