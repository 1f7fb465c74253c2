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
 * is shown when the transaction commits, and it is removed in an abort (csv_hidden_end()).
 * After a crash, another session does the same (csv_hidden_settle()).
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

/*
 * Is there, in a directory or below it, a hidden name of a transaction that has not ended,
 * or that holds a lock?  Also true if the directory cannot be read.
 */
extern bool csv_hidden_runs_below(int at, const char *directory);

/* the hidden name for a path, in the current memory context */
extern char *csv_hidden_path(const char *path);

/*
 * Makes a hidden directory.  Returns a descriptor, which holds a lock on the directory,
 * or -1 with errno.
 */
extern int	csv_hidden_make(const char *path);

/*
 * Locks a hidden file that has just been opened for writing, so that a server with a copy
 * of this server's data directory does not settle it.  Returns a descriptor, which keeps
 * the lock after the file is closed, or a negative number: then there is no lock.
 * csv_hidden_unlock(): also of a directory.
 */
extern int	csv_hidden_lock(int fd);
extern void csv_hidden_unlock(int fd);

/*
 * Rename a file or directory, unless there is a file of the new name, and return 0 or
 * errno.  Names are relative to the directory `at`, as for renameat(), which must be
 * synchronized afterwards.
 */
extern int	csv_hidden_move(int at, const char *from, const char *to);

/*
 * Removes a file, or a directory with its contents, by a name that is relative to the
 * hidden directory.  Returns 0 or errno.
 */
extern int	csv_hidden_remove(int hidden, const char *name);

/*
 * The end of the transaction.  A file gets its name, or is removed.  In a directory, the
 * contents of new/ or old/ move up, and then it is removed; if something cannot move up,
 * it stays.  Failures are reported if is_loud.  Raises no ERROR.
 *
 * fd: a descriptor of the file or directory; for a file, it may be negative.  path: its
 * hidden name.  at: a descriptor of the directory that has it, or AT_FDCWD.
 */
extern void csv_hidden_end(int at, int fd, const char *path, bool is_commit, bool is_loud);

/*
 * Settles the files and directories of this server in a directory whose transactions
 * have ended.  What fails stays.
 */
extern void csv_hidden_settle(const char *directory);

/*
 * For reports at the end of a transaction.  An ERROR there would be a PANIC after the
 * commit, and it comes from text that the client's encoding lacks.  So reports go to the
 * server's log only if text must be converted.  The message has a %s for the path, and
 * may have a %m.
 */
extern int	csv_level_at_end(void);
extern void csv_warn_at_end(const char *message, const char *path);

#endif							/* CSV_HIDDEN_H */
