/*
 * release.h
 *		Are the extension's objects in this database of this library's release?
 */
#ifndef CSV_RELEASE_H
#define CSV_RELEASE_H

#include "funcapi.h"

/*
 * Every SQL function begins with this: ERROR if the database has another declaration of
 * it.  declared: "strict", if it is; types of arguments; "->"; "setof", if it is; types of
 * the result's columns, or of the result.  A setof function gets its tuplestore; for
 * another function that returns rows, returns their type.
 */
extern TupleDesc csv_begin_function(FunctionCallInfo fcinfo, const char *declared);

/* ERROR: an object of the extension is of an older release */
extern void csv_fail_as_older(void) pg_attribute_noreturn();

#endif							/* CSV_RELEASE_H */
