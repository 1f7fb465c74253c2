/*
 * extras.h
 *		Sums of values that the engine's lanes cannot hold.
 *
 * A numeric that is NaN or has too many digits is added to a second sum of the
 * group, which is PostgreSQL's.  If the square of a float is out of range,
 * only that fact is noted.
 */
#ifndef CSV_EXTRAS_H
#define CSV_EXTRAS_H

#include "utils/hsearch.h"

#include "program/program.h"

typedef struct CsvExtras
{
	const CsvProgram *program;
	MemoryContext context;
	HTAB	   *table;			/* NULL: none so far */
} CsvExtras;

typedef struct CsvExtraKey
{
	uint32_t	group;
	uint32_t	aggregate;
} CsvExtraKey;

/* of one aggregate of the query */
typedef struct CsvExtra
{
	CsvExtraKey key;
	int64		count;			/* of values, NaNs among them */
	int64		nnans;
	Datum		sum;			/* numeric: of the others, or of their squares;
								 * of floats nothing */
} CsvExtra;

/* in a child of the current memory context */
extern void csv_extras_init(CsvExtras *extras, const CsvProgram *program);
extern void csv_extras_add(CsvExtras *extras, uint32_t group,
						   uint32_t aggregate, Datum value);

/* NULL: there is nothing */
extern const CsvExtra *csv_extras_find(const CsvExtras *extras,
									   uint32_t group, int aggregate);

/* let go of all, and of the memory */
extern void csv_extras_drop(CsvExtras *extras);

#endif							/* CSV_EXTRAS_H */
