/*
 * foreignscan.h
 *		The wrapper's callbacks for planning, execution, EXPLAIN and ANALYZE.
 */
#ifndef CSV_FOREIGNSCAN_H
#define CSV_FOREIGNSCAN_H

#include "foreign/fdwapi.h"

extern void csv_foreign_scan_callbacks(FdwRoutine *routine);

#endif							/* CSV_FOREIGNSCAN_H */
