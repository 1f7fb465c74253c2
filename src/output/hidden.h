/*
 * hidden.h
 *		Names of files and directories that wait for the end of their transaction.
 *
 * A file that a transaction writes has a hidden name until the transaction commits.
 * The name tells the server and the transaction, so that what a crash leaves behind can
 * be settled: the file of a transaction that has committed gets its name, and all else
 * is removed.
 *
 *	NAME		any name with the tag csvgpu-<system identifier>-<timeline>-<xid8>-<oid>
 *	.NAME.csvgpu	the hidden name of the file NAME, in the same directory
 *
 * A directory may have a hidden name, too.  It is never renamed: it is removed, with
 * all that is in it, once its transaction has ended.  Before that, the contents of its
 * directory old/ are put back if the transaction was aborted: what it was about to
 * replace.
 */
#ifndef CSV_HIDDEN_H
#define CSV_HIDDEN_H

#define CSV_HIDDEN_OLD	"old"

#include "access/transam.h"

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
 * Renames a file or directory, unless there is a file of the new name.  Returns 0 or
 * errno.
 */
extern int	csv_hidden_move(const char *from, const char *to);

/*
 * Puts back what a hidden directory has in old/.  What fails is a WARNING; returns
 * false then.
 */
extern bool csv_hidden_put_back(const char *hidden);

/*
 * Settles the files and directories of this server in a directory whose transactions
 * have ended.  What fails is a WARNING.
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
