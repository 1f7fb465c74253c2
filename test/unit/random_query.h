/*
 * random_query.h
 *		For the unit tests: batches of random values, and random queries over
 *		them.
 */
#ifndef CSV_TEST_RANDOM_QUERY_H
#define CSV_TEST_RANDOM_QUERY_H

#include "../../src/query/query.h"
#include "naive_query.h"
#include "rounds.h"

/* ---- batches ---- */

#define MAX_COLUMNS	20

/* all floats are float4s, and operations on them float4's */
extern bool single_floats;

/* how a column's values are spread */
typedef enum Spread
{
	SPREAD_SMALL,				/* few small values */
	SPREAD_WIDE,				/* all of the type, and its edges */
	SPREAD_SAME,				/* one value */
	SPREAD_DISTINCT,			/* nearly one a row */
	NUM_SPREADS
} Spread;

typedef struct Fixture
{
	CsvColumn	columns[MAX_COLUMNS];
	CsvLayout	layout;
	CsvArray	arrays[MAX_COLUMNS];
	CsvBatch	batch;
	CsvValue   *values;			/* nrows x ncolumns */
	uint8_t	   *texts;			/* of values: 32 bytes each */
	NaiveTable	table;
	Spread		spreads[MAX_COLUMNS];
	uint32_t	null_in;		/* one value of so many is NULL; 0: none */
	uint32_t	doubtful_in;
} Fixture;

extern void add_column(Fixture *fixture, CsvKind kind, int precision,
					   int scale);

/* a column of each kind, of random spreads */
extern void random_columns(Fixture *fixture);
extern CsvInt128 random_decimal(Spread spread, int precision);
extern Spread random_spread(void);

/* the text of a decimal, of at most 50 bytes; its length */
extern uint32_t decimal_text(CsvInt128 value, int scale, char *text);

/* the same of a column of CSV_KIND_SCALED, with the digits that the value shows */
extern uint32_t scaled_text(const CsvColumn *column, const CsvValue *value, char *text);
extern void make_batch(Fixture *fixture, uint32_t nrows);
extern void free_batch(Fixture *fixture);

/* ---- queries ---- */

#define MAX_CONSTANTS	256

typedef struct Program
{
	CsvQuery	query;
	CsvInstruction instructions[CSV_MAX_REGISTERS];
	CsvConstant constants[MAX_CONSTANTS];
	uint8_t		text[MAX_CONSTANTS * 32];
	uint16_t	filters[8];
	CsvKey		keys[CSV_MAX_KEYS];
	CsvAggregate aggregates[16];
	CsvOrderKey order[8];
	uint16_t	checked[4];
} Program;

extern void start_program(Program *program);

/* aggregates, and a key more: a column */
extern void group_by_column(Program *program, uint8_t lane, uint32_t c);
extern uint16_t add_load(Program *program, uint8_t lane, uint32_t c);
extern uint16_t add_operation(Program *program, CsvOperation operation,
							  uint8_t lane, uint16_t a, uint16_t b);
extern void add_aggregate(Program *program, CsvAggregateKind kind,
						  uint8_t lane, uint16_t argument, uint16_t filter);

/* a register with a value of the lane, of operations up to so deep */
extern uint16_t random_expression(Program *program, const Fixture *fixture,
								  uint8_t lane, bool is_bool, int depth);

/* filters, keys and aggregates over the fixture's columns */
extern void random_program(Program *program, const Fixture *fixture);

#endif							/* CSV_TEST_RANDOM_QUERY_H */
