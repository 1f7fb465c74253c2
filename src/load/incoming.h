/*
 * incoming.h
 *		The data of a COPY that come once: the frontend's, or a program's.
 *
 * They are kept, in a temporary file, until it is known whether the engines could take
 * them; where they could not, COPY gets them from the first byte on.
 */
#ifndef CSV_INCOMING_H
#define CSV_INCOMING_H

#include "commands/copy.h"
#include "nodes/parsenodes.h"
#include "parser/parse_node.h"
#include "utils/rel.h"

typedef struct CsvIncoming CsvIncoming;

/*
 * Tell the frontend to send its data, of so many columns, or start the program; and
 * wait for the first CSV_INCOMING_BYTES.  In the current memory context and resource
 * owner, which are to last until all is done.  encoding: of the data.  *copy lives as
 * long.
 */
#define CSV_INCOMING_BYTES	(256 * 1024)

extern CsvIncoming *csv_incoming_begin(const CopyStmt *stmt,
									   const CopyFormatOptions *copy, int encoding,
									   int ncolumns);

/* why COPY should have it, as far as that is known now; takes_short: not for its size */
extern const char *csv_incoming_obstacle(const CsvIncoming *incoming, bool takes_short);

/*
 * A CsvReadFn; arg is the CsvIncoming.  ERROR also where COPY reads what comes in its
 * own way, and where the frontend has given up.
 */
extern size_t csv_incoming_read(void *arg, uint8_t *buffer, size_t nbytes);

/*
 * PostgreSQL's COPY of all of it, into a relation that is pstate's range table, with
 * the WHERE clause as qualifications.
 * Returns the number of rows.
 */
extern uint64 csv_incoming_copy(CsvIncoming *incoming, ParseState *pstate,
								Relation relation, const CopyStmt *stmt,
								List *quals);

/* after either; ERROR where a program has failed */
extern void csv_incoming_end(CsvIncoming *incoming);

#endif							/* CSV_INCOMING_H */
