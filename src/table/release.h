/*
 * release.h
 *		Are the extension's objects in this database of this library's release, and other
 *		processes of its build?
 */
#ifndef CSV_RELEASE_H
#define CSV_RELEASE_H

#include "funcapi.h"
#include "nodes/pg_list.h"

/*
 * Every SQL function begins with this: ERROR if the database has another declaration of
 * it.  declared: "strict", if it is; types of arguments; "->"; "setof", if it is; types of
 * the result's columns, or of the result.  A setof function gets its tuplestore.
 */
extern void csv_begin_function(FunctionCallInfo fcinfo, const char *declared);

/* ERROR: an object of the extension is of an older release */
extern void csv_fail_as_older(void) __attribute__((noreturn));

/*
 * Has the library's file been replaced since the first call?  for_workers: and do other
 * processes of the server load the new one?
 */
extern bool csv_library_is_replaced(bool for_workers);

/* two integers that begin a plan; ERROR if another build has made the plan */
extern List *csv_build(void);
extern void csv_check_build(const List *plan);

#endif							/* CSV_RELEASE_H */
