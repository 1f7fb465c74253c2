/*
 * extras.h
 *		Values that the engine's lanes cannot hold.
 *
 * For numerics that are not finite or have too many digits, a group has a second sum,
 * which PostgreSQL's functions compute, or a second extreme.  If such a numeric is a
 * group key, the lane has a number that stands for it.  If the square of a float is
 * out of range, only that fact is noted.
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
	HTAB	   *keys;			/* NULL: none so far */
	uint64_t	seeds[2];		/* of numbers that stand for keys */
} CsvExtras;

typedef struct CsvExtraKey
{
	uint32_t	group;
	uint32_t	aggregate;
} CsvExtraKey;

/* the values of one aggregate in a group */
typedef struct CsvExtra
{
	CsvExtraKey key;
	int64		count;			/* number of all values, including: */
	int64		nnans;
	int64		ninfinities[2]; /* negative, positive */
	Datum		value;			/* numeric: the sum of the other values, or of their
								 * squares, or the extreme of all; float: unused */
} CsvExtra;

/* in a child of the current memory context */
extern void csv_extras_init(CsvExtras *extras, const CsvProgram *program);
extern void csv_extras_add(CsvExtras *extras, uint32_t group,
						   uint32_t aggregate, Datum value);

/* NULL if there are none */
extern const CsvExtra *csv_extras_find(const CsvExtras *extras,
									   uint32_t group, int aggregate);

/*
 * A number that stands for a numeric, in the lane of a key or of distinct values.  It
 * is greater than all decimals, equal for equal numerics, and depends on the seeds.
 */
extern CsvInt128 csv_extras_stand_in(const CsvExtras *extras, Datum value);

/* remember the numeric for such a number in a group's key; and find it again */
extern void csv_extras_keep_key(CsvExtras *extras, CsvInt128 stand_in,
								Datum value);
extern Datum csv_extras_key(const CsvExtras *extras, CsvInt128 stand_in);

/* the greater (or lesser) of two numerics; if equal, the numeric with more digits */
extern Datum csv_numeric_extreme(bool is_max, Datum a, Datum b);

/* scale(); 0 if the numeric is not finite */
extern int	csv_numeric_scale(Datum value);

/* drop all values and keys, and free their memory */
extern void csv_extras_drop(CsvExtras *extras);

#endif							/* CSV_EXTRAS_H */
