/*
 * rights.h
 *		Who may read and write which files.
 *
 *	1. Without prefixes, rights are checked when options are set.
 *	2. On a server with the option "allowed" ("allowed_write"), all names must
 *	   be below its prefixes, for everyone and at each use.  In return, each
 *	   role with USAGE may set them.  A local file counts by the name of its
 *	   descriptor.
 *
 * The validator does not see the server.  So it takes a note, and
 * csv_settle_rights() decides: in an event trigger at the end of the
 * statement, at the next use of a table, or before the commit.
 */
#ifndef CSV_RIGHTS_H
#define CSV_RIGHTS_H

#include "foreign/foreign.h"
#include "nodes/parsenodes.h"
#include "table/allowed.h"

/* of a server's name and options (DefElems), in the current memory context */
extern CsvRights csv_rights_get(const char *server, List *options);
extern CsvRights csv_rights_of(const ForeignServer *server);

/* is a foreign data wrapper that of csv_gpu_fdw? */
extern bool csv_is_wrapper(Oid wrapper);

/*
 * The servers of csv_gpu_fdw on which the user has USAGE (InvalidOid: all),
 * sorted by name: ForeignServers
 */
extern List *csv_servers(Oid user);

/*
 * ERROR "permission denied ..." if the user has not the rights of a role,
 * which are needed for a deed ("write files").
 */
extern void csv_check_role(Oid role, const char *denied, const char *deed);

/* the role whose members may do so on a server without prefixes */
extern Oid	csv_role_for(const char *name, CsvAccess access);

/*
 * For the validator: a table or a server gets these options.  ERROR if no
 * server can allow the table's file.
 */
extern void csv_note_table(List *options);
extern void csv_note_server(void);

/* decides what was noted; ERROR if it is not allowed */
extern void csv_settle_rights(void);

#endif							/* CSV_RIGHTS_H */
