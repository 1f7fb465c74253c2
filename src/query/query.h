/*
 * query.h
 *		What is asked of the rows of a table: filters, groups, aggregates.
 *
 * The PostgreSQL side translates the parts of a query that an engine can
 * decide exactly into a CsvQuery, which is plain data.  Whoever has a batch's
 * arrays then evaluates it row by row:
 *
 *	1. The filter's instructions run over all rows.  A row passes, or is
 *	   dropped, or is undecided.
 *	2. The other instructions run over the rows that pass: group keys and the
 *	   arguments of aggregates.
 *	3. Without aggregates, the rows that pass are the answer, or those of them
 *	   that may be among the first ones in an order.  With aggregates, each row
 *	   is added to its group.
 *
 * Undecided rows.  A register is undecided in a row where its value depends on
 * one that the engine did not make (CSV_VALUE_DOUBTFUL, CSV_VALUE_LONG), or
 * where the operation would overflow: PostgreSQL raises an ERROR there, and
 * only it may.  Evaluation has the order of PostgreSQL's: an operand that it
 * would not have looked at (the second of AND where the first is false, the
 * branch of a CASE not taken) decides nothing and overflows nowhere.  A row
 * with an undecided filter, group key or argument is left out of all groups,
 * and handed back: the PostgreSQL side evaluates it as the executor would.  So
 * is one with an undecided key of the order, or checked value.
 *
 * The same instructions mean the same on every engine: the operations are
 * those of operate.h, which is compiled for host and device.
 *
 * Lanes.  A register holds one value a row, of one of these types:
 *
 *	INT			int64_t			BOOL (0, 1), INT2 to INT8, DATE, TIMESTAMP(TZ)
 *	DECIMAL		CsvInt128		a numeric times 10^scale, of a fixed scale
 *	FLOAT		double
 *	TEXT		bytes, length	the value's own bytes
 *	UUID		CsvUint128		a number, the first byte highest
 *
 * and a state: CSV_LANE_VALUE, CSV_LANE_NULL or CSV_LANE_UNDECIDED.  A column's
 * kind makes its lane: integers, dates and times INT, FLOAT4 and FLOAT8 FLOAT,
 * NUMERIC and SCALED (of a typmod, or see CSV_FLAG_SCALED), DECIMAL64 and 128 DECIMAL
 * with the column's scale (or see CSV_FLAG_SHOWN), TEXT and UUID their own.  All values of other columns
 * are undecided.
 *
 * Exactness.  Sums of integers and decimals are kept in 192 bits, which no
 * number of rows overflows.  Sums of floats are exact, too, and rounded once
 * at the end: so they do not depend on the order of the rows, on chunks,
 * threads or the engine.
 */
#ifndef CSV_QUERY_H
#define CSV_QUERY_H

#include "../reader/reader.h"

#ifdef __cplusplus
extern "C" {
#endif

/* aligned to 8 bytes, as all memory is: see CsvMemory, and palloc() */
typedef __int128 CsvInt128 __attribute__((aligned(8)));
typedef unsigned __int128 CsvUint128 __attribute__((aligned(8)));

/* largest sum of digits of a DECIMAL lane: 10^38 < 2^127 */
#define CSV_MAX_DECIMAL_DIGITS	38

/* and of those that are squared for CSV_AGGREGATE_SUM_SQUARES */
#define CSV_MAX_SQUARED_DIGITS	18

#define CSV_MAX_REGISTERS		256
#define CSV_MAX_KEYS			32
#define CSV_MAX_AGGREGATES		256

/*
 * Largest limit: beyond so many rows, keeping the first ones costs as much as
 * the executor's own sort.
 */
#define CSV_MOST_ORDERED		10000

typedef enum CsvLane
{
	CSV_LANE_INT,
	CSV_LANE_DECIMAL,
	CSV_LANE_FLOAT,
	CSV_LANE_TEXT,
	CSV_LANE_UUID
} CsvLane;

typedef enum CsvLaneState
{
	CSV_LANE_VALUE,
	CSV_LANE_NULL,
	CSV_LANE_UNDECIDED
} CsvLaneState;

/*
 * Operations.  Where not told otherwise, a NULL operand makes NULL, and an
 * undecided one (of those that count) undecided.
 */
typedef enum CsvOperation
{
	/* operand: index in layout->columns; makes the lane of the column's kind */
	CSV_OP_COLUMN,
	/* operand: index of the constant; lane: its type */
	CSV_OP_CONSTANT,

	/*
	 * INT, DECIMAL (equal scales) or FLOAT; undecided where PostgreSQL's would
	 * raise an ERROR, and beyond 38 digits
	 */
	CSV_OP_ADD,
	CSV_OP_SUBTRACT,
	CSV_OP_MULTIPLY,			/* DECIMAL: scales add up */
	CSV_OP_NEGATE,

	/* between lanes */
	CSV_OP_RESCALE,				/* DECIMAL: times 10^operand */
	CSV_OP_INT_TO_DECIMAL,		/* scale 0 */
	CSV_OP_INT_TO_FLOAT,		/* rounded to float8, or with bits 32 to float4 */
	CSV_OP_DATE_TO_TIMESTAMP,	/* days to microseconds; infinities stay */

	/* to BOOL; lane: of the operands */
	CSV_OP_EQUAL,
	CSV_OP_NOT_EQUAL,
	CSV_OP_LESS,
	CSV_OP_LESS_EQUAL,
	CSV_OP_GREATER,
	CSV_OP_GREATER_EQUAL,

	/*
	 * Is a one of a list?  operand: index of the first of `count` constants,
	 * all of the lane's type, sorted, distinct and not NULL.  With
	 * CSV_FLAG_LIST_NULL, NULL instead of false.
	 */
	CSV_OP_IN,

	/* TEXT, pattern operand: constant; the pattern's bytes as they stand */
	CSV_OP_STARTS_WITH,
	CSV_OP_ENDS_WITH,
	CSV_OP_CONTAINS,
	CSV_OP_LIKE,				/* but for %, which is any bytes */

	/* never NULL */
	CSV_OP_IS_NULL,
	CSV_OP_IS_NOT_NULL,
	CSV_OP_IS_TRUE,				/* BOOL */
	CSV_OP_IS_FALSE,

	/* BOOL, three-valued; a counts before b */
	CSV_OP_NOT,
	CSV_OP_AND,
	CSV_OP_OR,

	/*
	 * a is a BOOL: where it is true b, else c.  The one that is not taken does
	 * not count.
	 */
	CSV_OP_CHOOSE,
	CSV_NUM_OPERATIONS
} CsvOperation;

/* of a CSV_OP_COLUMN: without the blanks at the end (char(n)) */
#define CSV_FLAG_TRIM			1
#define CSV_FLAG_LIST_NULL		2

/*
 * Of a CSV_OP_COLUMN of NUMERIC without a typmod, whose values have scales of
 * their own: they come with scale `count`, and those that need more digits behind
 * the point are undecided.
 */
#define CSV_FLAG_SCALED			4

/* of such a column: scale(), an INT */
#define CSV_FLAG_SHOWN			8

/* result = operation(a, b, c) */
typedef struct CsvInstruction
{
	uint8_t		operation;		/* CsvOperation */
	uint8_t		lane;			/* CsvLane, see there */
	uint8_t		bits;			/* INT arithmetic: the range, 16, 32 or 64;
								 * FLOAT: 32 for float4's, else float8's */
	uint8_t		flags;
	uint16_t	result;			/* registers; each is written once */
	uint16_t	a;
	uint16_t	b;
	uint16_t	c;
	uint32_t	operand;
	uint32_t	count;
} CsvInstruction;

/* of n instructions, the one that writes a register; NULL: none */
CSV_INLINE const CsvInstruction *
csv_find_writer(const CsvInstruction *instructions, uint32_t n,
				uint16_t number)
{
	for (uint32_t i = 0; i < n; i++)
		if (instructions[i].result == number)
			return &instructions[i];
	return NULL;
}

typedef struct CsvConstant
{
	uint8_t		lane;			/* CsvLane */
	bool		isnull;
	bool		undecided;		/* not known yet: nor is what depends on it */
	uint32_t	length;			/* TEXT: bytes, */
	uint32_t	offset;			/* and where they are in query->text */
	union
	{
		int64_t		integer;
		double		real;
		CsvInt128	decimal;
		CsvUint128	uuid;
	}			value;
} CsvConstant;

/* what is kept of a group for an aggregate */
typedef enum CsvAggregateKind
{
	CSV_AGGREGATE_COUNT_ROWS,	/* no argument */
	CSV_AGGREGATE_COUNT,		/* of values that are not NULL, as all below */
	CSV_AGGREGATE_COUNT_DISTINCT,
	CSV_AGGREGATE_SUM,			/* INT, DECIMAL: wide; FLOAT: exact */

	/*
	 * INT; DECIMAL of up to 18 digits; FLOAT, 0 or from 2^-480 to 2^511 or
	 * infinite.  With any other value the row is undecided.
	 */
	CSV_AGGREGATE_SUM_SQUARES,
	CSV_AGGREGATE_MIN,			/* of any lane; TEXT by bytes; of equal
								 * floats (0, -0) the last one in row order */
	CSV_AGGREGATE_MAX,			/* NaN is the greatest FLOAT; BOOL: and, or */
	CSV_NUM_AGGREGATE_KINDS
} CsvAggregateKind;

#define CSV_NO_REGISTER	UINT16_MAX

typedef struct CsvAggregate
{
	uint8_t		kind;			/* CsvAggregateKind */
	uint8_t		lane;			/* of the argument */
	uint16_t	argument;		/* register; CSV_NO_REGISTER: none */
	uint16_t	filter;			/* BOOL register of FILTER, or none; where it
								 * is not true, the argument does not count */
} CsvAggregate;

typedef struct CsvKey
{
	uint8_t		lane;
	uint16_t	value;			/* register */
} CsvKey;

typedef struct CsvOrderKey
{
	uint8_t		lane;
	bool		descending;
	bool		nulls_first;
	uint16_t	value;			/* register */
} CsvOrderKey;

/*
 * A query.  Instructions are in an order in which operands are ready; the
 * first nfilter_instructions of them are those that the filters need.
 */
typedef struct CsvQuery
{
	uint32_t	nregisters;
	uint32_t	ninstructions;
	uint32_t	nfilter_instructions;
	uint32_t	nconstants;
	uint32_t	text_length;
	const CsvInstruction *instructions;
	const CsvConstant *constants;
	const uint8_t *text;

	/* BOOL registers, in order; a row passes where all are true */
	uint32_t	nfilters;
	const uint16_t *filters;

	bool		aggregates;		/* the answer is groups, not rows */
	uint32_t	nkeys;			/* 0: all rows are one group */
	const CsvKey *keys;
	uint32_t	naggregates;
	const CsvAggregate *aggregate;

	/*
	 * Without aggregates: the caller sorts the rows, and takes the first `limit`
	 * ones.  What is certainly not among them need not come out.  0: all rows
	 * do.  Values in `checked` are not to be undecided in a row that does not
	 * come out.
	 */
	uint32_t	limit;
	size_t		limit_bytes;	/* most memory for the keys' texts, about */
	uint32_t	norder;			/* at least one, if there is a limit */
	const CsvOrderKey *order;
	uint32_t	nchecked;
	const uint16_t *checked;	/* registers */
} CsvQuery;

/* ---- one value, for the interface below ---- */

typedef struct CsvValue
{
	uint8_t		state;			/* CsvLaneState; never UNDECIDED in a group */
	uint32_t	length;			/* TEXT */
	const uint8_t *bytes;		/* TEXT */
	union
	{
		int64_t		integer;
		double		real;
		CsvInt128	decimal;
		CsvUint128	uuid;
	}			value;
} CsvValue;

/* 192 bits, two's complement */
typedef struct CsvWideSum
{
	CsvUint128	low;
	int64_t		high;
} CsvWideSum;

/* what a group holds for an aggregate */
typedef struct CsvAggregateValue
{
	int64_t		count;			/* of values added, for every kind */
	CsvWideSum	wide;			/* SUM, SUM_SQUARES of INT and DECIMAL */
	double		real;			/* the same of FLOAT, rounded; -0 where all
								 * values are -0 */
	bool		overflow;		/* real is an infinity though no value was one:
								 * the sum is beyond the largest double, where
								 * PostgreSQL would raise an ERROR */
	CsvValue	extreme;		/* MIN, MAX; NULL where no value was added */
} CsvAggregateValue;

/* ---- evaluation of batches on the CPU ---- */

typedef struct CsvEvaluator CsvEvaluator;

/*
 * NULL where there is no memory.  The query must outlive it; its constants may
 * change between two runs, and an instruction become a CSV_OP_CONSTANT or cease
 * to be one.
 */
extern CsvEvaluator *csv_evaluator_create(const CsvMemory *memory,
										  const CsvQuery *query);
extern void csv_evaluator_free(CsvEvaluator *evaluator);

/* another one of the same query, for csv_team_create(); NULL: no memory */
extern CsvEvaluator *csv_evaluator_create_like(const CsvMemory *memory,
											   const CsvEvaluator *other);

/*
 * Another one, of the same memory, that has all groups; none are left.  NULL: no
 * memory, and they stay.
 */
extern CsvEvaluator *csv_evaluator_take_groups(CsvEvaluator *evaluator);
extern const CsvQuery *csv_evaluator_query(const CsvEvaluator *evaluator);

/*
 * Go on with another query, which is the same but for the places of columns and
 * the values of constants.  It must outlive its use.
 */
extern void csv_evaluator_set_query(CsvEvaluator *evaluator,
									const CsvQuery *query);

/* what became of a batch's rows */
typedef struct CsvSelection
{
	/*
	 * Rows of the batch, ascending: those that pass (not with aggregates), and
	 * those that are undecided, or that the caller wanted a look at.
	 */
	uint32_t	nrows;
	const uint32_t *rows;
	const uint8_t *careful;		/* 1 per row: undecided or wanted */
	bool		any_careful;
	uint32_t	ndropped;		/* rows that the filter dropped, */
	uint32_t	nbeyond;		/* and that are beyond the limit */
} CsvSelection;

/*
 * Evaluate rows [0, batch->nrows) of a batch whose arrays are those of
 * `layout`.  `wanted`: NULL, or a byte per row, not 0 for rows that are to be
 * handed back as careful whatever the filter says, and added to no group.
 * CSV_OK, CSV_NO_MEMORY (the groups are of no use any more), or CSV_INTERRUPTED
 * (then the batch may not be evaluated again, for part of it is in the groups).
 * The selection lives until the next call.
 */
extern CsvStatus csv_evaluator_run(CsvEvaluator *evaluator,
								   const CsvLayout *layout,
								   const CsvBatch *batch,
								   const uint8_t *wanted,
								   bool (*interrupted) (void *arg),
								   void *interrupted_arg,
								   CsvSelection *selection);

/*
 * What is remembered of how rows of batches that stay fall into groups, from
 * query to query: rows of one number have the same keys (but not all that have
 * them have one number), which the next query need not look at again.
 */
#define CSV_UNKNOWN_CLASS	UINT32_MAX

typedef struct CsvRowClasses
{
	uint32_t   *classes;		/* of each row of the batch, or UNKNOWN */
	uint32_t   *nclasses;		/* of all batches of a file, and all threads and
								 * processes: numbers are below this */
} CsvRowClasses;

/*
 * For the next run: what is known of its batch, by the same keys; it is added
 * to.  NULL: nothing is to be remembered.
 */
extern void csv_evaluator_remember(CsvEvaluator *evaluator,
								   const CsvRowClasses *classes);

/* the batches to come are another file's, whose numbers mean other groups */
extern void csv_evaluator_forget(CsvEvaluator *evaluator);

/* ---- what an engine has made of a batch itself (CsvBatch.answer) ---- */

/*
 * What some rows have added to a group: words of 64 bits, as csv_partial_lay_out()
 * places them.
 *
 *	inputs			a word each: how many values it had
 *	SUM, SUM_SQUARES	INT: 2 words, 4 of squares; DECIMAL: 4 words; word i is
 *					signed, and its weight 2^(32 i)
 *					FLOAT: CSV_FLOAT_SUM_WORDS of them, the weight of the first
 *					being 2^-1074, and one of what was seen
 *	MIN, MAX		2 words: the value, where there is one; of a TEXT, its offset
 *					in `texts` (see csv_partial_text()) and its length
 *	others			nothing but their input's
 */
typedef struct CsvPartial
{
	const int64_t *words;
	const uint8_t *texts;
} CsvPartial;

/* `texts` may be NULL: then offsets are addresses */
CSV_INLINE const uint8_t *
csv_partial_text(const uint8_t *texts, uint64_t offset)
{
	return (const uint8_t *) ((uintptr_t) texts + offset);
}

/* the groups of some rows, in the order of their first rows */
typedef struct CsvPartialGroups
{
	uint32_t	ngroups;
	const uint64_t *keys;		/* two words each, of one group after the other:
								 * as those of MIN */
	const uint32_t *nulls;		/* of each group: a bit per key */
	const int64_t *words;		/* of one group after the other */
	const uint8_t *texts;

	/*
	 * NULL, or of each group: is it here?  If it is not CSV_NOT_HELD, the
	 * engine holds what these rows have added to it (CsvAnswer.held).
	 */
	const uint32_t *held;
	void	   *made;			/* NULL, or what a CsvGroupsMaker has made of them */
} CsvPartialGroups;

#define CSV_NOT_HELD	UINT32_MAX

/*
 * What a thread makes of groups when they are merged, so that the caller need not:
 * memory that lives as long as they do, or NULL.
 */
typedef struct CsvGroupsMaker
{
	void	   *(*function) (void *arg, const CsvMemory *memory,
							 const CsvPartialGroups *groups);
	void	   *arg;
} CsvGroupsMaker;

/*
 * Distinct pairs of argument and filter are inputs, which aggregates share;
 * COUNT_DISTINCT has one of its own, of which each value counts once.
 */
typedef struct CsvPartialLayout
{
	uint32_t	ninputs;
	uint32_t	nwords;			/* of a group */
	uint16_t	argument[CSV_MAX_AGGREGATES];	/* of each input: registers, */
	uint16_t	filter[CSV_MAX_AGGREGATES]; /* or CSV_NO_REGISTER */
	bool		distinct[CSV_MAX_AGGREGATES];
	uint16_t	input[CSV_MAX_AGGREGATES];	/* of each aggregate */
	uint32_t	first_word[CSV_MAX_AGGREGATES]; /* likewise */
} CsvPartialLayout;

extern void csv_partial_lay_out(const CsvQuery *query,
								CsvPartialLayout *layout);

typedef struct CsvAnswer
{
	CsvSelection selection;
	CsvPartialGroups groups;	/* with aggregates */

	bool		held;			/* the engine has kept groups of this batch, or some
								 * of them: see CsvEngine.held_groups */

	/* of threads (team.h) */
	bool		is_whole;		/* arrays have entries for all rows, after all */
	CsvStatus	status;
	CsvEvaluator *given;		/* NULL, or one whose groups are to be taken */
} CsvAnswer;

/* do a batch's arrays have entries only for the rows of its answer's selection? */
CSV_INLINE bool
csv_has_selected_rows(const CsvBatch *batch)
{
	return batch->answer != NULL && !batch->answer->is_whole;
}

/* of so many rows arrays have entries */
static inline uint32_t
csv_batch_entries(const CsvBatch *batch)
{
	return csv_has_selected_rows(batch) ? batch->answer->selection.nrows :
		batch->nrows;
}

/*
 * May somebody look at the records' bytes?  At those of errors, of doubtful values,
 * and of rows that may yet be refused, whose places are asked for.
 */
static inline bool
csv_batch_needs_bytes(const CsvBatch *batch, const CsvLayout *layout)
{
	bool		any_slow = layout->want_positions;

	for (uint32_t i = 0; i < layout->ncolumns; i++)
		any_slow |= batch->arrays[i].any_slow;
	return batch->nerrors > 0 || (any_slow && csv_batch_entries(batch) > 0);
}

/* what an engine may answer: see CsvEngine.set_query */
typedef struct CsvRequest
{
	const CsvQuery *query;
	const bool *hidden;			/* per column of the layout: of rows that pass,
								 * nobody looks at it */
	bool		all_certain;	/* with a doubtful or long value in a batch, it
								 * is not to be answered */
	bool		may_hold;		/* groups may stay with the engine; the caller
								 * can do without them, if it fails */
} CsvRequest;

/* ---- groups, of queries with aggregates ---- */

/*
 * Groups are numbered from 0 in the order of their first row (without keys
 * there is always group 0).
 */
extern uint32_t csv_evaluator_ngroups(const CsvEvaluator *evaluator);

/* memory that groups take, in bytes */
extern size_t csv_evaluator_group_bytes(const CsvEvaluator *evaluator);

/*
 * Told of a row whose group is not there, and for which there is no room: its
 * keys' hash, its keys, and its values as csv_evaluator_add_row() takes them;
 * or, instead of values, of what several rows of one group have come to.
 * False: it could not be kept; the run ends with CSV_NO_MEMORY.
 */
typedef bool (*CsvSpillFn) (void *arg, uint64_t hash, const CsvValue *keys,
							const CsvValue *values, const CsvPartial *partial);

/*
 * Likewise of a value that COUNT_DISTINCT of a group has not seen among those
 * that are in memory; the hash is that of group and value.
 */
typedef bool (*CsvSpillValueFn) (void *arg, uint64_t hash, uint32_t aggregate,
								 uint32_t group, const CsvValue *value);

/*
 * From limit_bytes of groups on, make no new ones: rows of those that are not
 * there go to `spill`, to be added later, after csv_evaluator_reset(), and are
 * in no selection.  Rows of groups that are there are still added, but for
 * values that COUNT_DISTINCT would have to keep: these go to `spill_value`, to be
 * counted later, after csv_evaluator_forget_values().
 */
extern void csv_evaluator_limit(CsvEvaluator *evaluator, size_t limit_bytes,
								CsvSpillFn spill, CsvSpillValueFn spill_value,
								void *arg);

/*
 * Let go of the values that COUNT_DISTINCT has counted: what is counted from now
 * on has none of them.
 */
extern void csv_evaluator_forget_values(CsvEvaluator *evaluator);

/* count a value that was handed over; false: no memory */
extern bool csv_evaluator_count_value(CsvEvaluator *evaluator,
									  uint32_t aggregate, uint32_t group,
									  const CsvValue *value);

#define CSV_NO_GROUP		UINT32_MAX	/* no memory */
#define CSV_GROUPS_FULL		(UINT32_MAX - 1)	/* not there, and no room */

/*
 * The group with these keys (query->nkeys of them), made if it is not there and
 * there is room; else CSV_NO_GROUP or CSV_GROUPS_FULL.  *hash (or NULL) is the
 * keys'.  Keys are equal as lanes are: -0 and 0 are, NaNs are, NULLs are.  The
 * group keeps the keys that came first.
 */
extern uint32_t csv_evaluator_find_group(CsvEvaluator *evaluator,
										 const CsvValue *keys, uint64_t *hash);

/*
 * Add one row to a group: query->naggregates values.  NULL: the row does not
 * count for the aggregate (so is its argument, or its filter is not true).
 * UNDECIDED: it counts, but there is no value to add, since no lane holds it
 * (or CSV_AGGREGATE_SUM_SQUARES does not take it); the caller keeps it.  False:
 * no memory.
 */
extern bool csv_evaluator_add_row(CsvEvaluator *evaluator, uint32_t group,
								  const CsvValue *values);

/* add what several rows have come to; false: no memory */
extern bool csv_evaluator_add_partial(CsvEvaluator *evaluator, uint32_t group,
									  const CsvPartial *partial);

/* the group with these keys, or CSV_NO_GROUP; none is made */
extern uint32_t csv_evaluator_seek_group(const CsvEvaluator *evaluator,
										 const CsvValue *keys);

/*
 * Add all groups of an answer, or of what an engine has held, as if their rows
 * had been run; CSV_OK or CSV_NO_MEMORY.
 */
extern CsvStatus csv_evaluator_merge(CsvEvaluator *evaluator,
									 const CsvPartialGroups *groups);

/*
 * Add all groups of another evaluator of the same query, and what COUNT_DISTINCT
 * has counted there; likewise.
 */
extern CsvStatus csv_evaluator_absorb(CsvEvaluator *into,
									  const CsvEvaluator *from);

/*
 * A group's keys and aggregates.  Texts of keys live as long as the groups,
 * those of extremes until the next run.
 */
extern void csv_evaluator_key(const CsvEvaluator *evaluator, uint32_t group,
							  uint32_t key, CsvValue *value);
extern void csv_evaluator_aggregate(const CsvEvaluator *evaluator,
									uint32_t group, uint32_t aggregate,
									CsvAggregateValue *value);

/*
 * Of FLOAT: the sum of squared deviations from the mean of `count` (not 0)
 * values, by a SUM and a SUM_SQUARES of the same argument and filter; rounded
 * once.  NaN where a value was not finite.
 */
extern double csv_evaluator_spread(const CsvEvaluator *evaluator,
								   uint32_t group, uint32_t sum,
								   uint32_t squares, uint64_t count);

/* let go of all groups, for a new start; false: no memory */
extern bool csv_evaluator_reset(CsvEvaluator *evaluator);

/*
 * The same of partial groups as they are, of a query that is laid out so.  Texts
 * are the groups' own.
 */
extern void csv_partial_key(const CsvQuery *query,
							const CsvPartialGroups *groups, uint32_t group,
							uint32_t key, CsvValue *value);
extern void csv_partial_aggregate(const CsvQuery *query,
								  const CsvPartialLayout *layout,
								  const CsvPartialGroups *groups,
								  uint32_t group, uint32_t aggregate,
								  CsvAggregateValue *value);
extern double csv_partial_spread(const CsvPartialLayout *layout,
								 const CsvPartialGroups *groups,
								 uint32_t group, uint32_t sum,
								 uint32_t squares, uint64_t count);

#ifdef __cplusplus
}
#endif

#endif							/* CSV_QUERY_H */
