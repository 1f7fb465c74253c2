/*
 * meaning.h
 *		Everything that shapes the values of a table's columns, as a hash.
 */
#ifndef CSV_MEANING_H
#define CSV_MEANING_H

#include "table/option.h"

/*
 * Sets a hash of CSV_MEANING_BYTES bytes.  Kept columns can be used only for a table
 * with the same hash.
 */
extern void csv_set_meaning(uint8 *hash, const CsvTable *table);

#endif							/* CSV_MEANING_H */
