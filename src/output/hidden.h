/*
 * hidden.h
 *		Names of files and directories that wait for the end of their transaction.
 *
 * A file that a transaction writes has a hidden name until the transaction commits.
 * The name tells the server and the transaction, so that what a crash leaves behind can
 * be settled: the file of a transaction that has committed gets its name, and all other
 * files are removed.
 *
 *	NAME		any name with the tag csvgpu-<system identifier>-<timeline>-<xid8>-<oid>
 *	.NAME.csvgpu	the hidden name of the file NAME, in the same directory
 *
 * The life of a hidden file: it is made and locked, written and synchronized.  Its name
 * is shown when the transaction commits, and it is removed in an abort.  After a crash,
 * another session does the same (csv_hidden_settle()).
 *
 * A directory may have a hidden name, too.  It is never renamed.  A hidden directory
 * contains:
 *
 *	new/			files and directories that move up when the transaction commits
 *	old/			files and directories that move up again when it is aborted
 *	rows-...		files that are being written
 *
 * At the end, the directory is removed with its other contents.  If it contains anything
 * else, it is left alone.
 *
 * Other users of the operating system may be able to write to the directory above.  So
 * a hidden directory is accessible to the server's user only, and renames and removals
 * use its descriptor, since its name may be replaced by a symbolic link in the meantime.
 * A file that belongs to another user is not ours.
 */
#ifndef CSV_HIDDEN_H
#define CSV_HIDDEN_H

#include "nodes/execnodes.h"

#include "output/sink.h"

#define CSV_HIDDEN_NEW		"new"
#define CSV_HIDDEN_OLD		"old"

/*
 * Files that are being written.  The server's own files are named by plain numbers: they
 * must not be opened if the directory's name now leads to them.
 */
#define CSV_HIDDEN_ROWS		"rows-"

/*
 * Returns the tag of the current transaction, which gets a transaction number if it has
 * none.  Makes sure that no later transaction can get the same number, even after a
 * crash: call it before the file is made.  oid: of the relation, or any number of the
 * caller.  In the current memory context.
 */
extern char *csv_hidden_tag(Oid oid);

/*
 * The length of a tag with this server's identifier in a path, from `at` on; 0: there is
 * none.  is_own: this server has written the file, as far as it can know; false if a copy
 * may have done so.
 */
extern size_t csv_hidden_tag_at(const char *path, size_t at, bool *is_own);

/* is it a hidden name, of any server? */
extern bool csv_is_hidden_name(const char *name);

/* a hidden file or directory of this transaction, allocated in TopTransactionContext */
typedef struct CsvHidden
{
	int			nest_level;
	char	   *directory;		/* where files appear */
	char	   *path;			/* its hidden name */
	int			fd;				/* of the hidden directory, or -1; a file's lock */
	bool		is_directory;
	CsvPlace	place;			/* of the hidden directory */
	bool		made_parent;	/* remove `directory` if nothing comes of it */

	/* a hidden directory: the set of files (staging.c) */
	char	   *base;			/* the file's name without suffixes; NULL: by keys */
	const char *suffix;
	bool		overwrite;
	int			nfiles;
	mode_t		modes[2];		/* what all replaced files, and directories, permit */
	int			nremoved;		/* replaced files without a new file of their name ... */
	char	   *removed;		/* ... the first */
} CsvHidden;

/* all of this transaction; the newest last */
extern List *csv_hidden_all;

/*
 * Makes and locks a file under the hidden name of this path.  It will replace no other file.
 * The caller writes, closes and synchronizes it before the transaction commits.
 */
extern void csv_hidden_make_file(const char *path, const CsvPlace *place,
								 CsvSink *sink);

/*
 * Makes and locks a hidden directory in hidden->directory, with new/ and old/.  makes_parent:
 * makes that one, too, unless it exists.  The current memory context is the transaction's.
 */
extern void csv_hidden_make_directory(CsvHidden *hidden, bool makes_parent);

/*
 * After a commit or abort of this nest level: ends the files and directories of this level
 * and those below it.  Raises no ERROR.
 */
extern void csv_hidden_leave(int nest_level, bool is_commit);

/*
 * Rename a file or directory, unless there is a file of the new name, and return 0 or
 * errno.  Names are relative to the directory `at`, as for renameat(), which must be
 * synchronized afterwards.
 */
extern int	csv_hidden_move(int at, const char *from, const char *to);

/* an operation on a file, or on a directory, once all below it has had it */
typedef enum CsvErrand
{
	CSV_ERRAND_SIZE,			/* in hidden.c: add up the bytes of files */
	CSV_ERRAND_REMOVE,
	CSV_ERRAND_SYNC,			/* EINTR if there are interrupts to process */
	/* EBUSY for a hidden name of a transaction that has not ended, or with a lock */
	CSV_ERRAND_FIND_IN_USE
} CsvErrand;

/* do it, by a name that is relative to the directory `at`; returns 0 or errno */
extern int	csv_hidden_visit(int at, const char *name, CsvErrand errand);

/*
 * Finds the files and directories of this server in a directory whose transactions have
 * ended.  removes: settles them, too; what fails stays.  set: NULL, or gets a row for
 * each; then failures are reported, and a directory that cannot be read is an ERROR.
 */
extern void csv_hidden_settle(const char *directory, bool removes, ReturnSetInfo *set);

/*
 * For reports at the end of a transaction.  An ERROR there would be a PANIC after the
 * commit, and it comes from text that the client's encoding lacks.  So reports go to the
 * server's log only if text must be converted.  The message has a %s for the path, and
 * may have a %m.
 */
extern int	csv_level_at_end(void);
extern void csv_warn_at_end(const char *message, const char *path);

#endif							/* CSV_HIDDEN_H */
