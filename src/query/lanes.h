/*
 * lanes.h
 *		The values of a register in a block of rows: from evaluate.c to groups.c.
 *
 * A register holds CSV_BLOCK_ROWS values at most, side by side, so that an
 * instruction is one loop over arrays.  Values have no meaning in rows that do not
 * count (see CsvRows), or if their state is not CSV_LANE_VALUE.  But they can be read,
 * and DECIMALs among them are within the limit.
 *
 * DECIMALs are int64_t if all values of the block fit.  Each block finds that out: the
 * values in the arrays have a limit, and the limit of each result follows from it.
 */
#ifndef CSV_LANES_H
#define CSV_LANES_H

#include "query.h"

/* 8 kB a register: all registers of a query fit into the second-level cache */
#define CSV_BLOCK_ROWS	1024

typedef struct CsvLanes
{
	uint8_t		lane;			/* CsvLane */
	bool		plain;			/* all states are CSV_LANE_VALUE */
	bool		wide;			/* DECIMAL: the limit is beyond int64_t */
	bool		constant;		/* the same value and state in each row */
	CsvUint128	limit;			/* DECIMAL: no value is beyond +-limit */
	const uint8_t *state;		/* unless plain */
	const uint32_t *lengths;	/* TEXT */
	union
	{
		const int64_t *integers;	/* INT; DECIMAL, not wide */
		const CsvInt128 *decimals;	/* DECIMAL, wide */
		const double *reals;
		const uint8_t *const *texts;
		const CsvUint128 *uuids;
	};
} CsvLanes;

/* the rows of a block that count, as places in the block, ascending */
typedef struct CsvRows
{
	const uint16_t *rows;
	uint32_t	nrows;
} CsvRows;

static inline uint8_t
csv_lanes_state(const CsvLanes *lanes, uint32_t row)
{
	return lanes->plain ? CSV_LANE_VALUE : lanes->state[row];
}

static inline CsvInt128
csv_lanes_decimal(const CsvLanes *lanes, uint32_t row)
{
	return lanes->wide ? lanes->decimals[row] : lanes->integers[row];
}

/* one value; a text is not copied */
static inline void
csv_lanes_value(const CsvLanes *lanes, uint32_t row, CsvValue *value)
{
	value->state = csv_lanes_state(lanes, row);
	value->length = 0;
	value->bytes = NULL;
	switch (lanes->lane)
	{
		case CSV_LANE_INT:
			value->value.integer = lanes->integers[row];
			break;
		case CSV_LANE_DECIMAL:
			value->value.decimal = csv_lanes_decimal(lanes, row);
			break;
		case CSV_LANE_FLOAT:
			value->value.real = lanes->reals[row];
			break;
		case CSV_LANE_TEXT:
			value->bytes = lanes->texts[row];
			value->length = lanes->lengths[row];
			break;
		case CSV_LANE_UUID:
			value->value.uuid = lanes->uuids[row];
			break;
	}
}

#endif							/* CSV_LANES_H */
