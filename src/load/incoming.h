/*
 * incoming.h
 *		The data of a COPY from the frontend or a program, which come only once.
 *
 * They are kept in a temporary file until it is known whether the engines could take
 * them.  If they could not, COPY gets the data from the first byte on.
 */
#ifndef CSV_INCOMING_H
#define CSV_INCOMING_H

#include "commands/copy.h"
#include "nodes/parsenodes.h"
#include "parser/parse_node.h"
#include "utils/rel.h"

typedef struct CsvIncoming CsvIncoming;

/*
 * Tell the frontend to send data of ncolumns columns, or start the program; then wait
 * for the first CSV_INCOMING_BYTES.  encoding is the data's.  Uses the current memory
 * context and resource owner.  These and *copy must last until csv_incoming_end().
 */
#define CSV_INCOMING_BYTES	(256 * 1024)

extern CsvIncoming *csv_incoming_begin(const CopyStmt *stmt,
									   const CopyFormatOptions *copy, int encoding,
									   int ncolumns);

/* returns why COPY must take the data, as far as known; takes_short: at any size */
extern const char *csv_incoming_obstacle(const CsvIncoming *incoming, bool takes_short);

/*
 * A CsvReadFn; arg is the CsvIncoming.  Raises an ERROR also for data that COPY reads
 * in its own way, and if the frontend gives up.
 */
extern size_t csv_incoming_read(void *arg, uint8_t *buffer, size_t nbytes);

/*
 * Let PostgreSQL's COPY read all of the data into the relation, which is pstate's
 * range table, with quals as its WHERE clause.  Returns the number of rows.
 */
extern uint64 csv_incoming_copy(CsvIncoming *incoming, ParseState *pstate,
								Relation relation, const CopyStmt *stmt,
								List *quals);

/* call after csv_incoming_read() or csv_incoming_copy(); ERROR if the program has failed */
extern void csv_incoming_end(CsvIncoming *incoming);

#endif							/* CSV_INCOMING_H */
