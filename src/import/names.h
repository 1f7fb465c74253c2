/*
 * names.h
 *		Names for tables and columns, made from those of files and headers.
 */
#ifndef CSV_NAMES_H
#define CSV_NAMES_H

#include "utils/hsearch.h"

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

/* is that name taken? */
extern bool csv_name_is_taken(HTAB *names, const char *name);

#endif							/* CSV_NAMES_H */
