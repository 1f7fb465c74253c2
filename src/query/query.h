/*
 * query.h
 *		A query over the rows of a table: filters, groups, aggregates.
 *
 * The PostgreSQL side translates the parts of a query that an engine can
 * decide exactly into a CsvQuery, which is plain data.  It is evaluated row by row
 * over a batch's arrays:
 *
 *	1. The filter's instructions run over all rows.  A row passes, or is
 *	   dropped, or is undecided.
 *	2. The other instructions run over the rows that pass: group keys and the
 *	   arguments of aggregates.
 *	3. Without aggregates, the rows that pass are the answer.  With a limit, rows that
 *	   cannot be among the first rows of the order are left out.  With aggregates, each
 *	   row is added to its group.
 *
 * Undecided rows.  A register is undecided in a row if its value depends on a value
 * that the engine did not make (CSV_VALUE_DOUBTFUL, CSV_VALUE_LONG), or if the
 * operation would overflow: then PostgreSQL raises an ERROR, and only PostgreSQL may.
 * Operands are evaluated in PostgreSQL's order.  An operand that PostgreSQL would not
 * evaluate (the second operand of AND if the first is false, the branch of a CASE that
 * is not taken) makes nothing undecided.  A row is handed back if its filter, a group
 * key, an argument, a key of the order or a checked value is undecided.  Such a row is
 * in no group; the PostgreSQL side evaluates it as the executor would.
 *
 * Instructions have the same meaning on every engine: operate.h defines the
 * operations, and is compiled for host and device.
 *
 * Lanes.  A register holds one value a row, of one of these types:
 *
 *	INT			int64_t			BOOL (0, 1), INT2 to INT8, DATE, TIME,
 *								TIMESTAMP(TZ)
 *	DECIMAL		CsvInt128		a numeric times 10^scale, of a fixed scale
 *	FLOAT		double
 *	TEXT		bytes, length	the value's own bytes
 *	UUID		CsvUint128		a number, the first byte highest
 *
 * and a state: CSV_LANE_VALUE, CSV_LANE_NULL or CSV_LANE_UNDECIDED.  The kind of a
 * column decides its lane.  Integers, dates and times are INT; FLOAT4 and FLOAT8 are
 * FLOAT; TEXT and UUID have lanes of their own.  DECIMAL64, DECIMAL128, and NUMERIC
 * with a typmod are DECIMAL with the column's scale.  NUMERIC without a typmod and
 * SCALED are DECIMAL with CSV_FLAG_SCALED.  With CSV_FLAG_SHOWN, the scale itself is
 * the value, an INT.  All values of other columns are undecided.
 *
 * Exactness.  Sums of integers and decimals are kept in 192 bits, which no
 * number of rows overflows.  Sums of floats are exact, too, and are rounded once, at
 * the end: the result does not depend on the order of the rows, nor on chunks, threads
 * or the engine.
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

/* most digits of a DECIMAL lane: 10^38 < 2^127 */
#define CSV_MAX_DECIMAL_DIGITS	38

/* most digits of a DECIMAL that is squared for CSV_AGGREGATE_SUM_SQUARES */
#define CSV_MAX_SQUARED_DIGITS	18

#define CSV_MAX_REGISTERS		256
#define CSV_MAX_KEYS			32
#define CSV_MAX_AGGREGATES		256

/* largest limit: to keep more rows costs as much as the executor's own sort */
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
 * Operations.  Unless its comment says otherwise, a NULL operand makes the result
 * NULL, and an undecided operand (if it counts) makes it undecided.
 */
typedef enum CsvOperation
{
	/*
	 * operand: index in layout->columns; the result has the lane of the column's kind
	 */
	CSV_OP_COLUMN,
	/* operand: index of the constant; lane: its lane */
	CSV_OP_CONSTANT,

	/*
	 * INT, DECIMAL (equal scales) or FLOAT.  Undecided if PostgreSQL would raise an
	 * ERROR, or beyond 38 digits.
	 */
	CSV_OP_ADD,
	CSV_OP_SUBTRACT,
	CSV_OP_MULTIPLY,			/* DECIMAL: scales add up */
	CSV_OP_DIVIDE,				/* INT only, as the next */
	CSV_OP_MODULO,
	CSV_OP_DATE_PART,			/* b: CsvDatePart of a date that is finite */
	CSV_OP_NEGATE,

	/* between lanes */
	CSV_OP_RESCALE,				/* DECIMAL: times 10^operand */
	CSV_OP_INT_TO_DECIMAL,		/* scale 0 */
	CSV_OP_INT_TO_FLOAT,		/* rounded to float8, or with bits 32 to float4 */
	CSV_OP_DATE_TO_TIMESTAMP,	/* days to microseconds; infinities stay */
	CSV_OP_TIMESTAMP_TO_DATE,	/* infinities stay */
	CSV_OP_TIMESTAMP_TO_TIME,	/* microseconds since midnight */

	/* the result is BOOL; lane: the lane of the operands */
	CSV_OP_EQUAL,
	CSV_OP_NOT_EQUAL,
	CSV_OP_LESS,
	CSV_OP_LESS_EQUAL,
	CSV_OP_GREATER,
	CSV_OP_GREATER_EQUAL,

	/*
	 * Is the value in a list?  operand: index of the first of `count` constants, which
	 * have the same lane, and are sorted, distinct and not NULL.  With
	 * CSV_FLAG_LIST_NULL the result is NULL instead of false.
	 */
	CSV_OP_IN,

	/* TEXT; operand: the constant that is the pattern, its bytes as they stand */
	CSV_OP_STARTS_WITH,
	CSV_OP_ENDS_WITH,
	CSV_OP_CONTAINS,
	CSV_OP_LIKE,				/* except that % is any bytes */

	/* TEXT; undecided unless all characters are ASCII */
	CSV_OP_LOWER,
	CSV_OP_UPPER,

	/* never NULL */
	CSV_OP_IS_NULL,
	CSV_OP_IS_NOT_NULL,
	CSV_OP_IS_TRUE,				/* BOOL */
	CSV_OP_IS_FALSE,

	/* BOOL, three-valued; a is looked at before b */
	CSV_OP_NOT,
	CSV_OP_AND,
	CSV_OP_OR,

	/* b if the BOOL a is true, otherwise c; the other operand does not count */
	CSV_OP_CHOOSE,
	CSV_NUM_OPERATIONS
} CsvOperation;

/* as EXTRACT has them; the first day is 1 */
typedef enum CsvDatePart
{
	CSV_PART_DAY_OF_YEAR,
	CSV_PART_DAY_OF_QUARTER,
	CSV_PART_DAY,
	CSV_PART_DAY_OF_WEEK,		/* Sunday is 0 */
	CSV_PART_ISO_DAY_OF_WEEK,	/* Sunday is 7 */
	CSV_PART_YEAR,				/* there is no year 0 */
	CSV_PART_QUARTER,
	CSV_PART_MONTH,
	CSV_PART_ISO_YEAR,
	CSV_PART_WEEK,
	CSV_PART_EPOCH				/* seconds since 1970 */
} CsvDatePart;

/* for CSV_OP_COLUMN: without the blanks at the end (char(n)) */
#define CSV_FLAG_TRIM			1
#define CSV_FLAG_LIST_NULL		2

/*
 * For CSV_OP_COLUMN of a numeric without a typmod, whose values have their own scales:
 * the values get the scale `count`.  Values that need more digits behind the point are
 * undecided.
 */
#define CSV_FLAG_SCALED			4

/* for such a column: the value's scale(), an INT */
#define CSV_FLAG_SHOWN			8

/* result = operation(a, b, c) */
typedef struct CsvInstruction
{
	uint8_t		operation;		/* CsvOperation */
	uint8_t		lane;			/* CsvLane */
	uint8_t		bits;			/* INT arithmetic: the range, 16, 32 or 64 (0)
								 * bits; FLOAT: 32 for float4, otherwise float8 */
	uint8_t		flags;
	uint16_t	result;			/* registers; each register is written once */
	uint16_t	a;
	uint16_t	b;
	uint16_t	c;
	uint32_t	operand;
	uint32_t	count;
} CsvInstruction;

/* the instruction, of n, that writes a register; NULL if none does */
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
	bool		undecided;		/* its value is not known yet */
	uint32_t	length;			/* TEXT: number of bytes, and */
	uint32_t	offset;			/* their place in query->text */
	union
	{
		int64_t		integer;
		double		real;
		CsvInt128	decimal;
		CsvUint128	uuid;
	}			value;
} CsvConstant;

/* what a group keeps for an aggregate */
typedef enum CsvAggregateKind
{
	CSV_AGGREGATE_COUNT_ROWS,	/* no argument */
	CSV_AGGREGATE_COUNT,		/* of values that are not NULL, as for all kinds
								 * below */
	CSV_AGGREGATE_COUNT_DISTINCT,
	CSV_AGGREGATE_SUM,			/* INT, DECIMAL: wide; FLOAT: exact */

	/*
	 * INT; DECIMAL of up to 18 digits; FLOAT: 0, infinite, or from 2^-480 to 2^511.
	 * With any other value the row is undecided.
	 */
	CSV_AGGREGATE_SUM_SQUARES,
	CSV_AGGREGATE_MIN,			/* of any lane; TEXT by bytes; of equal floats (0, -0)
								 * the last in row order */
	CSV_AGGREGATE_MAX,			/* NaN is the greatest FLOAT; BOOL: bool_and,
								 * bool_or */
	CSV_NUM_AGGREGATE_KINDS
} CsvAggregateKind;

#define CSV_NO_REGISTER	UINT16_MAX

typedef struct CsvAggregate
{
	uint8_t		kind;			/* CsvAggregateKind */
	uint8_t		lane;			/* of the argument */
	uint16_t	argument;		/* register, or CSV_NO_REGISTER */
	uint16_t	filter;			/* BOOL register of FILTER, or CSV_NO_REGISTER; where
								 * it is not true, the argument does not count */
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
 * A query.  Operands come before the instructions that read them.  The filters need
 * only the first nfilter_instructions.
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
	 * Without aggregates: the caller sorts the rows and takes the first `limit` rows.
	 * Rows that are certainly not among them need not come out.  0: all rows come out.
	 * If a value in `checked` is undecided, its row must come out.
	 */
	uint32_t	limit;
	size_t		limit_bytes;	/* most memory for the keys' texts, approximately */
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

/* an aggregate of a group */
typedef struct CsvAggregateValue
{
	int64_t		count;			/* of values that were added, for every kind */
	CsvWideSum	wide;			/* SUM, SUM_SQUARES of INT and DECIMAL */
	double		real;			/* SUM, SUM_SQUARES of FLOAT, rounded; -0 if all values
								 * are -0 */
	bool		overflow;		/* real is infinite though no value was: the sum is
								 * beyond the largest double, where PostgreSQL would
								 * raise an ERROR */
	CsvValue	extreme;		/* MIN, MAX; NULL if no value was added; has no meaning
								 * if no lane holds the values */
} CsvAggregateValue;

/* ---- evaluation of batches on the CPU ---- */

typedef struct CsvEvaluator CsvEvaluator;
typedef struct CsvSpill CsvSpill;

/*
 * NULL: no memory.  The query must outlive the evaluator.  Between two runs, constants
 * may change, and an instruction may become a CSV_OP_CONSTANT or cease to be a
 * CSV_OP_CONSTANT.
 */
extern CsvEvaluator *csv_evaluator_create(const CsvMemory *memory,
										  const CsvQuery *query);
extern void csv_evaluator_free(CsvEvaluator *evaluator);

/* another evaluator of the same query; NULL: no memory */
extern CsvEvaluator *csv_evaluator_create_like(const CsvMemory *memory,
											   const CsvEvaluator *other);

/*
 * Another evaluator, of the same memory, that gets all groups of this one.  NULL: no
 * memory; then the groups stay.
 */
extern CsvEvaluator *csv_evaluator_take_groups(CsvEvaluator *evaluator);
extern const CsvQuery *csv_evaluator_query(const CsvEvaluator *evaluator);

/*
 * Go on with another query, which must outlive its use.  It may differ only in the
 * places of columns and the values of constants.
 */
extern void csv_evaluator_set_query(CsvEvaluator *evaluator,
									const CsvQuery *query);

/* the rows of a batch that come out */
typedef struct CsvSelection
{
	/*
	 * Rows of the batch, ascending: those that pass (not with aggregates), and those
	 * that are undecided or that the caller wanted.
	 */
	uint32_t	nrows;
	const uint32_t *rows;
	const uint8_t *careful;		/* 1 per row: undecided or wanted */
	bool		any_careful;
	uint32_t	ndropped;		/* rows that the filter dropped, */
	uint32_t	nbeyond;		/* and that are beyond the limit */
} CsvSelection;

/*
 * Evaluate rows [0, batch->nrows) of a batch, whose arrays `layout` describes.
 * `wanted`: NULL, or a byte per row.  If the byte is not 0, the row comes out as
 * careful whatever the filter says, and is added to no group.  Returns CSV_OK,
 * CSV_NO_MEMORY (then the groups are useless) or CSV_INTERRUPTED (then the batch must
 * not be evaluated again: part of it is in the groups).  The selection lives until the
 * next call.
 */
extern CsvStatus csv_evaluator_run(CsvEvaluator *evaluator,
								   const CsvLayout *layout,
								   const CsvBatch *batch,
								   const uint8_t *wanted,
								   bool (*interrupted) (void *arg),
								   void *interrupted_arg,
								   CsvSelection *selection);

/*
 * Groups of rows in batches that are kept from query to query.  Rows of the same class
 * have the same keys, so that the next query need not look at the keys again.  Rows
 * with the same keys may be in several classes.
 */
#define CSV_UNKNOWN_CLASS	UINT32_MAX

typedef struct CsvRowClasses
{
	uint32_t   *classes;		/* the class of each row of the batch, or
								 * CSV_UNKNOWN_CLASS */
	uint32_t   *nclasses;		/* number of classes, for all batches of a file, and
								 * all threads and processes */
} CsvRowClasses;

/*
 * For the next run: the classes of its batch, by the same keys; the run adds classes.
 * NULL: no classes.
 */
extern void csv_evaluator_remember(CsvEvaluator *evaluator,
								   const CsvRowClasses *classes);

/* the batches to come are from another file, whose classes are others */
extern void csv_evaluator_forget(CsvEvaluator *evaluator);

/* ---- the answer of an engine for a batch (CsvBatch.answer) ---- */

/*
 * What some rows add to a group: words of 64 bits.  csv_partial_lay_out() places them.
 *
 *	inputs			a word each: the number of its values
 *	SUM, SUM_SQUARES	INT: 2 words, 4 of squares; DECIMAL: 4 words.  Word i is
 *					signed, with a weight of 2^(32 i).
 *					FLOAT: CSV_FLOAT_SUM_WORDS such words, the first with a weight
 *					of 2^-1074, and a word of CSV_SEEN_... bits (float_sum.h)
 *	MIN, MAX		2 words: the value, if there is one; for TEXT, its offset in
 *					`texts` (see csv_partial_text()) and its length
 *	others			only the word of their input
 */
typedef struct CsvPartial
{
	const int64_t *words;
	const uint8_t *texts;
} CsvPartial;

/* if `texts` is NULL, offsets are addresses */
CSV_INLINE const uint8_t *
csv_partial_text(const uint8_t *texts, uint64_t offset)
{
	return (const uint8_t *) ((uintptr_t) texts + offset);
}

/* the groups of some rows, in the order of their first rows */
typedef struct CsvPartialGroups
{
	uint32_t	ngroups;
	const uint64_t *keys;		/* two words each, group by group, as for MIN */
	const uint32_t *nulls;		/* of each group: a bit per key that is NULL */
	const int64_t *words;		/* group by group */
	const uint8_t *texts;

	/*
	 * NULL, or for each group CSV_NOT_HELD: it is here.  Otherwise the engine holds
	 * what these rows added to the group (CsvAnswer.held).
	 */
	const uint32_t *held;
	void	   *made;			/* NULL, or the result of a CsvGroupsMaker */
} CsvPartialGroups;

#define CSV_NOT_HELD	UINT32_MAX

/*
 * Lets a thread convert groups when it has merged them, so that the caller need not.
 * The result is memory that lives as long as the groups, or NULL.
 */
typedef struct CsvGroupsMaker
{
	void	   *(*function) (void *arg, const CsvMemory *memory,
							 const CsvPartialGroups *groups);
	void	   *arg;
} CsvGroupsMaker;

/*
 * An input is a distinct pair of argument and filter, which aggregates share.  Each
 * COUNT_DISTINCT has its own input, in which each value counts once.
 */
typedef struct CsvPartialLayout
{
	uint32_t	ninputs;
	uint32_t	nwords;			/* of a group */
	uint16_t	argument[CSV_MAX_AGGREGATES];	/* of each input: a register */
	uint16_t	filter[CSV_MAX_AGGREGATES]; /* or CSV_NO_REGISTER */
	bool		distinct[CSV_MAX_AGGREGATES];
	uint16_t	input[CSV_MAX_AGGREGATES];	/* of each aggregate */
	uint32_t	first_word[CSV_MAX_AGGREGATES]; /* of each aggregate */
} CsvPartialLayout;

extern void csv_partial_lay_out(const CsvQuery *query,
								CsvPartialLayout *layout);

typedef struct CsvAnswer
{
	CsvSelection selection;
	CsvPartialGroups groups;	/* with aggregates */

	bool		held;			/* the engine has kept some or all groups of this
								 * batch: see CsvEngine.held_groups */

	/* for threads (team.h) */
	bool		is_whole;		/* arrays have entries for all rows nevertheless */
	CsvStatus	status;
} CsvAnswer;

/* do a batch's arrays have entries only for the rows of its answer's selection? */
CSV_INLINE bool
csv_has_selected_rows(const CsvBatch *batch)
{
	return batch->answer != NULL && !batch->answer->is_whole;
}

/* number of rows that have entries in the arrays */
static inline uint32_t
csv_batch_entries(const CsvBatch *batch)
{
	return csv_has_selected_rows(batch) ? batch->answer->selection.nrows :
		batch->nrows;
}

/*
 * May the caller look at the records' bytes?  It does for errors, for doubtful values,
 * and for rows that may still be refused, whose positions the layout asks for.
 */
static inline bool
csv_batch_needs_bytes(const CsvBatch *batch, const CsvLayout *layout)
{
	bool		any_slow = layout->want_positions;

	for (uint32_t i = 0; i < layout->ncolumns; i++)
		any_slow |= batch->arrays[i].any_slow;
	return batch->nerrors > 0 || (any_slow && csv_batch_entries(batch) > 0);
}

/* what an engine is asked to evaluate: see CsvEngine.set_query */
typedef struct CsvRequest
{
	const CsvQuery *query;
	const bool *hidden;			/* per column of the layout: its values in rows that
								 * pass are not read */
	bool		may_hold;		/* groups may stay with the engine; the caller can do
								 * without them if the engine fails */
} CsvRequest;

/* ---- groups, of queries with aggregates ---- */

/*
 * Groups are numbered from 0, in the order of their first rows (without keys there is
 * always group 0).
 */
extern uint32_t csv_evaluator_ngroups(const CsvEvaluator *evaluator);

/* memory that groups take, in bytes */
extern size_t csv_evaluator_group_bytes(const CsvEvaluator *evaluator);

/*
 * Groups take too much memory: writes all groups to the file of `spill`
 * (csv_spill_write()), so that none are left, or leaves them if it cannot do so yet.
 * False: no memory, or writing failed; the run ends with CSV_NO_MEMORY.
 */
struct CsvGroups;
typedef bool (*CsvMakeRoomFn) (void *arg, struct CsvGroups *groups);

/*
 * Share the limit of memory of `spill` (spilled.h), which must outlive the evaluator,
 * with other evaluators of the query.
 */
extern void csv_evaluator_limit(CsvEvaluator *evaluator, CsvSpill *spill,
								CsvMakeRoomFn make_room, void *arg);

/*
 * If groups take too much memory, make room.  A run does so for itself, and so does
 * csv_evaluator_merge(); numbers of groups have no meaning after it.  False: as
 * CsvMakeRoomFn.
 */
extern bool csv_evaluator_make_room(CsvEvaluator *evaluator);

/*
 * Attach a copy of bytes to a group.  Only the caller knows their meaning.  False: no
 * memory.
 */
extern bool csv_evaluator_attach(CsvEvaluator *evaluator, uint32_t group,
								 const void *bytes, size_t nbytes);

#define CSV_NO_GROUP		UINT32_MAX	/* no memory */

/*
 * The group with these query->nkeys keys, which is made if it does not exist, or
 * CSV_NO_GROUP.  Keys are equal as values of their lane: -0 equals 0, NaN equals NaN,
 * and NULL equals NULL.  The group keeps the keys that came first.
 */
extern uint32_t csv_evaluator_find_group(CsvEvaluator *evaluator,
										 const CsvValue *keys);

/*
 * Add one row to a group: query->naggregates values.  NULL: the row does not count for
 * the aggregate (its argument is NULL, or its filter is not true).  UNDECIDED: the row
 * counts, but no lane holds its value (or CSV_AGGREGATE_SUM_SQUARES does not take it);
 * the caller keeps the value.  False: no memory.
 */
extern bool csv_evaluator_add_row(CsvEvaluator *evaluator, uint32_t group,
								  const CsvValue *values);

/* add the partial of several rows; false: no memory */
extern bool csv_evaluator_add_partial(CsvEvaluator *evaluator, uint32_t group,
									  const CsvPartial *partial);

/* the group with these keys, or CSV_NO_GROUP; makes no group */
extern uint32_t csv_evaluator_seek_group(const CsvEvaluator *evaluator,
										 const CsvValue *keys);

/*
 * Add all groups of an answer, or groups that an engine has held, as if their rows had
 * been run.  Returns CSV_OK or CSV_NO_MEMORY.
 */
extern CsvStatus csv_evaluator_merge(CsvEvaluator *evaluator,
									 const CsvPartialGroups *groups);

/*
 * Add all groups of another evaluator of the same query, with the values that
 * COUNT_DISTINCT has counted there.  Returns CSV_OK or CSV_NO_MEMORY.
 */
extern CsvStatus csv_evaluator_absorb(CsvEvaluator *into,
									  const CsvEvaluator *from);

/*
 * Hands out groups from number `first` on, at most `most`; behind the last group, no
 * groups.  The arrays live until the next call, texts of keys as long as the groups,
 * texts of extremes until the next run.  Returns CSV_OK or CSV_NO_MEMORY.
 */
extern CsvStatus csv_evaluator_groups(const CsvEvaluator *evaluator,
									  uint32_t first, uint32_t most,
									  CsvPartialGroups *groups);

/* free all groups, and start again; false: no memory */
extern bool csv_evaluator_reset(CsvEvaluator *evaluator);

/*
 * Keys and aggregates of groups of a query with this layout.  Texts belong to the
 * groups.
 */
extern void csv_partial_key(const CsvQuery *query,
							const CsvPartialGroups *groups, uint32_t group,
							uint32_t key, CsvValue *value);
extern void csv_partial_aggregate(const CsvQuery *query,
								  const CsvPartialLayout *layout,
								  const CsvPartialGroups *groups,
								  uint32_t group, uint32_t aggregate,
								  CsvAggregateValue *value);

/*
 * For FLOAT: the sum of squared deviations from the mean of `count` (not 0) values, by
 * a SUM and a SUM_SQUARES of the same argument and filter, rounded once.  NaN if a
 * value was not finite.
 */
extern double csv_partial_spread(const CsvPartialLayout *layout,
								 const CsvPartialGroups *groups,
								 uint32_t group, uint32_t sum,
								 uint32_t squares, uint64_t count);

#ifdef __cplusplus
}
#endif

#endif							/* CSV_QUERY_H */
