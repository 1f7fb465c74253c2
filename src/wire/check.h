/*
 * check.h
 *		Is what has come from elsewhere such that the library can work with it?
 *
 * The engines and the evaluation take their input as it is: they look for no
 * index that is out of range, nor for an operand of another lane.  What these
 * functions call sound can be given to them, whatever its values.
 *
 * They take counts and pointers as they are, and bools as such.
 */
#ifndef CSV_WIRE_CHECK_H
#define CSV_WIRE_CHECK_H

#include "../query/query.h"

extern bool csv_dialect_is_sound(const CsvDialectOptions *options);
extern bool csv_layout_is_sound(const CsvLayout *layout);

/* over a layout that is sound */
extern bool csv_query_is_sound(const CsvQuery *query, const CsvLayout *layout);

#endif							/* CSV_WIRE_CHECK_H */
