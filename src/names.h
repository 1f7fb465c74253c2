/*
 * names.h
 *		Names of files and headers: as valid text, and names for tables and
 *		columns made from them.
 */
#ifndef CSV_NAMES_H
#define CSV_NAMES_H

#include "utils/hsearch.h"

/*
 * Bytes in an encoding as text that is valid in the database's: what is not
 * valid, or has no equivalent, as \xHH.  At most max_bytes bytes of it.  In the
 * current memory context.
 */
extern char *csv_valid_text(int encoding, const char *bytes, uint64 nbytes,
							uint64 max_bytes);

/*
 * A file's name as datums and messages have it: a directory may have names that
 * are no valid text.  Itself where it is valid, else in the current memory
 * context.
 */
extern char *csv_shown_filename(char *filename);

/*
 * May an option hold the file's name, so that the file is found by it again?
 * Else false, and a message of this level that it was passed over.
 */
extern bool csv_check_filename(int elevel, char *filename);

/* the names that are taken, in the current memory context */
extern HTAB *csv_names_create(void);

/*
 * A name that SQL takes without quotes, of at most 63 bytes, that is not taken
 * yet; it is from now on.  `raw` is nbytes bytes of the server's encoding, and
 * `fallback` the name if nothing of them can stay.  In the current memory
 * context.
 */
extern char *csv_make_name(HTAB *names, const char *raw, size_t nbytes,
						   const char *fallback);

#endif							/* CSV_NAMES_H */
