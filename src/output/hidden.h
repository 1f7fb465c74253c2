/*
 * hidden.h
 *		Names of files and directories that wait for the end of their transaction.
 *
 * A file that a transaction writes has a hidden name until the transaction commits.
 * The name tells the server and the transaction, so that files that a crash leaves behind
 * can be settled: the file of a transaction that has committed gets its name, and all
 * other files are removed.
 *
 *	NAME		any name with the tag csvgpu-<system identifier>-<timeline>-<xid8>-<oid>
 *	.NAME.csvgpu	the hidden name of the file NAME, in the same directory
 *
 * A directory may have a hidden name, too.  It is never renamed: it is removed, with
 * its contents, once its transaction has ended.  It contains:
 *
 *	new/			files and directories that get their names in the directory above
 *	moves			the list of these names, written before they are given
 *	old/			files and directories that are replaced
 *
 * If the transaction is aborted, the contents of new/ go back first, and then the
 * contents of old/.
 *
 * Other users of the operating system may be able to write to the directory above.  So
 * a hidden directory is accessible to the server's user only, and renames and removals
 * use its descriptor, since its name may be replaced by a symbolic link in the meantime.
 * A file that belongs to another user is not ours.
 */
#ifndef CSV_HIDDEN_H
#define CSV_HIDDEN_H

#include "access/transam.h"
#include "nodes/pg_list.h"

#define CSV_HIDDEN_NEW		"new"
#define CSV_HIDDEN_OLD		"old"

/* who writes the file */
typedef struct CsvHiddenOwner
{
	uint64		system;			/* the server's system identifier */
	TimeLineID	timeline;
	FullTransactionId xid;
	Oid			oid;			/* of the relation, or any number of the caller */
} CsvHiddenOwner;

/* the beginning of a tag, for this server */
extern char *csv_hidden_server_tag(void);

/*
 * Returns the tag of the current transaction, which gets a transaction number if it has
 * none.  Makes sure that no later transaction can get the same number, even after a
 * crash: call it before the file is made.  In the current memory context.
 */
extern char *csv_hidden_tag(Oid oid);

/* is it a hidden name, of any server? */
extern bool csv_is_hidden_name(const char *name);

/* the hidden name for a path, in the current memory context */
extern char *csv_hidden_path(const char *path);

/*
 * Reads the tag at the start of `text`; returns its length, or 0 if there is none.
 */
extern size_t csv_hidden_parse(const char *text, CsvHiddenOwner *owner);

/*
 * Gives a file its name, unless there is such a file, and returns 0.  Returns errno on
 * failure.  Raises no ERROR.  The directory must be synchronized afterwards.
 */
extern int	csv_hidden_show(const char *path);

/*
 * Makes a hidden directory, or opens one.  Returns a descriptor, which holds a lock on
 * the directory, or -1 with errno.  csv_hidden_open() fails with EWOULDBLOCK if another
 * process holds the lock, and with ESTALE if the directory is not one of ours.  `at`: as
 * for openat().
 */
extern int	csv_hidden_make(const char *path);
extern int	csv_hidden_open(int at, const char *path);

/*
 * Renames a file or directory, unless there is a file of the new name.  Both names are
 * relative to the hidden directory.  Returns 0 or errno.
 */
extern int	csv_hidden_move(int hidden, const char *from, const char *to);

/*
 * Writes down what is in new/, before it is moved up.  Returns the names; ERROR on
 * failure.  In the current memory context.
 */
extern List *csv_hidden_begin_moves(int hidden, const char *path);

/*
 * What has been moved up goes back to new/, except what others have replaced since, and
 * the contents of old/ move up.  What fails is reported if is_loud; returns false then.
 * Raises no ERROR.  path: of the hidden directory, for reports.
 */
extern bool csv_hidden_undo(int hidden, const char *path, bool is_loud);

/* Removes a hidden directory.  Returns 0 or errno.  Raises no ERROR. */
extern int	csv_hidden_remove(int hidden, const char *path);

/*
 * Settles the files and directories of this server in a directory whose transactions
 * have ended.  What fails stays.
 */
extern void csv_hidden_settle(const char *directory);

/*
 * For reports at the end of a transaction.  An ERROR there would be a PANIC after the
 * commit, and it comes from text that the client's encoding lacks.  So names are shown
 * in ASCII, and reports go to the server's log only if text must be converted.
 */
extern int	csv_level_at_end(void);

/* the name; other bytes than printable ASCII are \xHH.  In the current memory context. */
extern char *csv_ascii_filename(const char *path);

/* a report at the end of a transaction; the message has a %s for the path, and may have a %m */
extern void csv_warn_at_end(const char *message, const char *path);

#endif							/* CSV_HIDDEN_H */
