/*
 * declaration.h
 *		Everything that shapes the values of a table's columns.
 */
#ifndef CSV_DECLARATION_H
#define CSV_DECLARATION_H

#include "lib/stringinfo.h"

#include "table/option.h"

/*
 * Everything in a table's definition that may affect its values: all options of the
 * table and its columns, even unknown options, and the columns' names and types.  In
 * the current memory context.
 */
extern StringInfoData csv_table_declaration(const CsvTable *table);

/*
 * Sets a hash of the definition and of PostgreSQL's settings, of
 * CSV_DECLARATION_BYTES bytes.  Resident columns can be used only for a table with the same hash.
 */
extern void csv_hash_declaration(uint8 *hash, const CsvTable *table);

#endif							/* CSV_DECLARATION_H */
