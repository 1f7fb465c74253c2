/*
 * quote.h
 *		Who may see values in messages.
 */
#ifndef CSV_QUOTE_H
#define CSV_QUOTE_H

#include "table/option.h"

/*
 * May a message quote a value of the column?  As in the server's own messages,
 * what counts is whether the user who gets it may read the column himself, of
 * the table or of one that it is a partition of; not the rights of a view's
 * owner, by which it is read.
 */
extern bool csv_may_quote(const CsvTable *table, const CsvTableColumn *column);

#endif							/* CSV_QUOTE_H */
