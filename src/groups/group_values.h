/*
 * group_values.h
 *		Makes result columns of groups.
 */
#ifndef CSV_GROUP_VALUES_H
#define CSV_GROUP_VALUES_H

#include "nodes/execnodes.h"
#include "utils/hsearch.h"

#include "program/program.h"
#include "query/operate.h"

/* ---- extras.c: values that the engine's lanes cannot hold ---- */

/*
 * For numerics that are not finite or have too many digits, a group has a second sum,
 * which PostgreSQL's functions compute, or a second extreme.  If such a numeric is a
 * group key, the lane has a number that stands for it.  If the square of a float is
 * out of range, only that fact is noted.
 */

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

/* does a key's value stand for a numeric? */
static inline bool
csv_stands_in(const CsvKey *key, const CsvValue *value)
{
	return key->lane == CSV_LANE_DECIMAL && value->state == CSV_LANE_VALUE &&
		!csv_decimal_fits(value->value.decimal);
}

/* attach all values and keys to the evaluator's groups; false: no memory */
extern bool csv_extras_attach(const CsvExtras *extras, CsvEvaluator *evaluator);

/* add bytes that were attached to a group, which may have several */
extern void csv_extras_take(CsvExtras *extras, uint32_t group, const uint8_t *bytes);

static inline bool
csv_extras_exist(const CsvExtras *extras)
{
	return extras->table != NULL || extras->keys != NULL;
}

/* drop all values and keys, and free their memory */
extern void csv_extras_drop(CsvExtras *extras);

/* ---- results.c ---- */

/* how a result column is made of a group */
typedef enum CsvResultKind
{
	CSV_RESULT_KEY,				/* a group key */
	CSV_RESULT_COUNT,
	CSV_RESULT_SUM,
	CSV_RESULT_AVERAGE,
	CSV_RESULT_EXTREME,			/* min, max, bool_and, bool_or */
	CSV_RESULT_VARIANCE			/* and stddev */
} CsvResultKind;

/*
 * A result column, in a plan an integer list: the kind; the register of its argument
 * or key (-1: none); the numbers of up to two aggregates of the query, or of the key;
 * and the number of an aggregate that has the scale of the result (-1: the register
 * has it, or an extreme has its own).
 */
typedef struct CsvResult
{
	CsvResultKind kind;
	int			argument;
	int			first;
	int			second;
	int			shown;

	CsvRegister reg;			/* of the argument or key */
	Oid			type;			/* of the result */
	Aggref	   *aggref;			/* NULL for a key */
	bool		is_used;		/* does the plan use it? */
	bool		has_column;		/* made for many groups at a time: see below */
	Oid			serialize;		/* the aggregate's functions */
	FmgrInfo	deserialize;
	FmgrInfo	finish;
	char		room[CSV_SHORT_NUMERIC_BYTES];	/* for a numeric */
} CsvResult;

/* a group, in a piece of groups */
typedef struct CsvGroupPlace
{
	const CsvPartialGroups *piece;
	uint32_t	group;
	uint32_t	number;			/* in the evaluator, for its */
	const CsvExtras *extras;	/* NULL: none */
} CsvGroupPlace;

typedef struct CsvResults
{
	const CsvProgram *program;
	int			n;
	CsvResult  *results;
	bool		any_text;		/* a result is made of texts */
	bool		all_columns;	/* all results that are used have a column */
	AggState   *caller;			/* of final functions, which an Agg node must call */

	/* of the groups; the caller sets them */
	const CsvQuery *query;
	const CsvPartialLayout *layout;
} CsvResults;

/*
 * The results of a plan.  `results` has an integer list for each CsvResult; its
 * expression is in plan->fdw_scan_tlist.  In the current memory context; aggregates
 * make their states in the memory of econtext.
 */
extern CsvResults *csv_results_create(const CsvProgram *program,
									  const ForeignScan *plan, List *results,
									  ExprContext *econtext);

/* a result of a group, in the current memory context or in the results' room */
extern Datum csv_result(CsvResults *results, const CsvGroupPlace *place, int i,
						bool *isnull);

/* ---- group_columns.c: many groups at a time ---- */

/* rows of groups, with a value for each column */
typedef struct CsvGroupRows
{
	uint32_t	n;
	Datum	   *values;
	bool	   *isnull;
	char		(*rooms)[CSV_SHORT_NUMERIC_BYTES];	/* for numerics */
} CsvGroupRows;

/* room for n rows, in one piece of memory; NULL: no memory */
extern CsvGroupRows *csv_group_rows_create(const CsvResults *results,
										   const CsvMemory *memory, uint32_t n);

/*
 * Make rows of groups [first, first + n) in `rows`, which has room for them.  Values
 * that are too large for it are in the current memory context; in a thread, they make
 * it return false.  Results without a column are NULL.
 */
extern bool csv_group_rows_fill(const CsvResults *results,
								const CsvPartialGroups *groups, uint32_t first,
								uint32_t n, CsvGroupRows *rows, bool in_thread);

/*
 * A CsvGroupsMaker for CsvResults: makes CsvGroupRows of all groups.  NULL: no
 * memory, or some values are too large.
 */
extern void *csv_make_group_rows(void *results, const CsvMemory *memory,
								 const CsvPartialGroups *groups);

#endif							/* CSV_GROUP_VALUES_H */
