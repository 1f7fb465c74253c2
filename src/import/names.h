/*
 * names.h
 *		Names for tables and columns, made from names of files and of headers.
 */
#ifndef CSV_NAMES_H
#define CSV_NAMES_H

#include "import/findings.h"
#include "utils/hsearch.h"

/* the names that are taken, in the current memory context */
extern HTAB *csv_names_create(void);

/*
 * A name that SQL takes without quotes, of at most 63 bytes.  `raw` is nbytes bytes of
 * the server's encoding, and `fallback` the name if it has neither letter nor digit.
 * In the current memory context.
 */
extern char *csv_plain_name(const char *raw, size_t nbytes, const char *fallback);

/* the same with a number if `names` has the name already; adds it to `names` */
extern char *csv_make_name(HTAB *names, const char *raw, size_t nbytes,
						   const char *fallback);

/*
 * Name the columns by the header, a list of String nodes in the server's encoding, which may
 * have fewer names than there are columns.  With by_name, columns find their fields by it.
 */
extern void csv_name_columns(CsvFindings *findings, const List *header);

#endif							/* CSV_NAMES_H */
