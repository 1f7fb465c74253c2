/*
 * import.h
 *		IMPORT FOREIGN SCHEMA: a foreign table for each file of a directory.
 */
#ifndef CSV_IMPORT_H
#define CSV_IMPORT_H

#include "foreign/fdwapi.h"

/* for the FdwRoutine */
extern List *csv_import_foreign_schema(ImportForeignSchemaStmt *statement,
									   Oid serverid);

#endif							/* CSV_IMPORT_H */
