/*
 * look.h
 *		Looks at a file without a table of it.
 */
#ifndef CSV_LOOK_H
#define CSV_LOOK_H

#include "foreign/foreign.h"

/*
 * ERROR unless the user may read files of this name: by the server's prefixes,
 * which csv_sniff() compares with it, or by a role.  server: NULL, or one on
 * which the user has USAGE.  what: the user does, "function f" for example.
 */
extern void csv_check_may_look(const ForeignServer *server,
							   const char *filename,
							   const char *what);

/*
 * The server by whose rights a function looks at a file; InvalidOid: the
 * user's.  given: its name; NULL: it is chosen.  makes_table: there must be
 * one.
 */
extern Oid	csv_look_server(const char *function, const char *filename,
							const char *given, bool makes_table);

#endif							/* CSV_LOOK_H */
