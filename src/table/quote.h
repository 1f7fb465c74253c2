/*
 * quote.h
 *		Who may see values in messages.
 */
#ifndef CSV_QUOTE_H
#define CSV_QUOTE_H

#include "table/option.h"

/*
 * May a message quote a value of the column?  As in the server's own messages: only if
 * the user who gets the message may read the column, of this table or of a table that
 * it is a partition of.  The rights of a view's owner do not count, though the table
 * is read with them.
 */
extern bool csv_may_quote(const CsvTable *table, const CsvTableColumn *column);

#endif							/* CSV_QUOTE_H */
