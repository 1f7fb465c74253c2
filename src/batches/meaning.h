/*
 * meaning.h
 *		Everything that shapes the values of a table's columns, as a hash.
 */
#ifndef CSV_MEANING_H
#define CSV_MEANING_H

#include "lib/stringinfo.h"

#include "table/option.h"

/*
 * Everything in a table's definition that may affect its values: all options of the
 * table and its columns, even unknown options, and the columns' names and types.  In
 * the current memory context.
 */
extern StringInfoData csv_table_meaning(const CsvTable *table);

/*
 * Sets a hash of the definition and of PostgreSQL's settings, of CSV_MEANING_BYTES
 * bytes.  Kept columns can be used only for a table with the same hash.
 */
extern void csv_set_meaning(uint8 *hash, const CsvTable *table);

#endif							/* CSV_MEANING_H */
