/*
 * walk.h
 *		For tests of what comes from elsewhere: looks at all that a batch offers,
 *		in the ways of those who take one.
 */
#ifndef CSV_TEST_WALK_H
#define CSV_TEST_WALK_H

#include "../../src/query/query.h"

/* `query`: what was asked, or could be; NULL: nothing */
extern void walk_batch(const CsvBatch *batch, const CsvLayout *layout,
					   const CsvDialect *dialect, const CsvQuery *query);
extern void walk_groups(const CsvPartialGroups *groups, const CsvQuery *query);

#endif							/* CSV_TEST_WALK_H */
