/*
 * fetch.h
 *		How values get from a batch's arrays into a slot.
 */
#ifndef CSV_FETCH_H
#define CSV_FETCH_H

#include "batches/batches.h"
#include "reader/numbers.h"
#include "scan/value.h"

/*
 * Ways to fetch a value.  A float is passed by value as an integer with the same bits.
 */
typedef enum CsvFetch
{
	CSV_FETCH_POINTER,			/* the entry itself */
	CSV_FETCH_INT32,
	CSV_FETCH_INT64,
	CSV_FETCH_INT16,
	CSV_FETCH_BYTE,
	CSV_NUM_FETCHES,			/* all above need only an array */
	CSV_FETCH_CSTRING = CSV_NUM_FETCHES,	/* by the input function */
	CSV_FETCH_RUN,				/* as CSTRING, made a run of rows ahead */
	CSV_FETCH_DECIMAL			/* a numeric, from a scaled integer; if hidden,
								 * only if the engine could not decide the row */
} CsvFetch;

/* a wanted column of the file, as in the current batch */
typedef struct CsvScanColumn
{
	CsvValueInput input;
	CsvFetch	fetch;
	int			att;			/* attribute number - 1 */
	bool		hidden;			/* as in CsvPushdown */
	uint8_t    *values;			/* NULL: not needed */
	const uint8_t *status;		/* NULL if all are OK */
	uint32_t	stride;

	/* CSV_FETCH_RUN */
	Datum	   *run_values;
	bool	   *run_isnull;
} CsvScanColumn;

static inline Datum
csv_fetch_value(CsvFetch fetch, const uint8_t *entry)
{
	switch (fetch)
	{
		case CSV_FETCH_BYTE:
			return BoolGetDatum(*entry != 0);
		case CSV_FETCH_INT16:
			return Int16GetDatum(*(const int16 *) entry);
		case CSV_FETCH_INT32:
			return Int32GetDatum(*(const int32 *) entry);
		case CSV_FETCH_INT64:
			return Int64GetDatum(*(const int64 *) entry);
		default:
			return PointerGetDatum(entry);
	}
}

/* CSV_FETCH_DECIMAL: the scaled integer, and its scale */
static inline CsvInt128
csv_fetch_decimal(const CsvScanColumn *column, uint32_t entry, int *scale)
{
	const uint8_t *place = column->values + (size_t) entry * column->stride;
	uint32_t	shown;
	CsvInt128	decimal;

	*scale = column->input.spec.scale;
	if (column->input.spec.kind == CSV_KIND_SCALED)
	{
		decimal = csv_load_scaled(place, &shown);
		*scale = (int) shown;
		return decimal;
	}
	if (column->stride == sizeof(int64_t))
		return *(const int64_t *) place;
	memcpy(&decimal, place, sizeof(decimal));
	return decimal;
}

/* a value that was refused */
typedef struct CsvRefusal
{
	const CsvScanColumn *column;
	CsvValueError error;
	bool		set_null;		/* the value is NULL instead, and the row comes out */
} CsvRefusal;

/* values that the arrays do not hold as datums (inputs.c) */
typedef struct CsvInputs CsvInputs;

/*
 * For these columns, which the caller keeps in the order of the batch's layout.  Uses
 * the current memory context.
 */
extern CsvInputs *csv_inputs_create(CsvScanColumn *columns, int ncolumns);

/*
 * Take a new batch, with the columns as they are in it; NULL: there is none.  Returns
 * false if the arrays hold all values of all entries.
 */
extern bool csv_inputs_take(CsvInputs *inputs, const CsvFileBatch *batch);

/* otherwise: does this entry have such values? */
extern bool csv_inputs_has(const CsvInputs *inputs, uint32_t entry);

/*
 * Returns the first entry in [from, until) that has such values, or until.  Numerics
 * that are scaled integers do not count here.
 */
extern uint32_t csv_inputs_find(const CsvInputs *inputs, uint32_t from,
								uint32_t until);

/* do all entries have such values? */
extern bool csv_inputs_has_all(const CsvInputs *inputs);

/*
 * Fill in an entry's values that the arrays do not hold.  undecided: the engine could
 * not decide the row.  If a value is refused, its record is refused, too: returns
 * false, with *refusal filled in.  Values are in the current memory context, or live
 * until the next call.
 */
extern bool csv_inputs_fill(CsvInputs *inputs, uint32_t entry,
							bool undecided, Datum *values, bool *isnull,
							CsvRefusal *refusal);

/*
 * Make a refused value NULL, and note that, if on_error allows it and the type takes
 * NULL.  Otherwise returns false.
 */
extern bool csv_inputs_set_null(CsvInputs *inputs, CsvScanColumn *column,
								const CsvValueError *error, Datum *value,
								bool *isnull);

/*
 * Returns the refused values (CsvRefusal) that have become NULL since the last call,
 * in the order of the columns.  They live as long as the entry's values.
 */
extern List *csv_inputs_take_nulls(CsvInputs *inputs);

/*
 * The number of fields in the record of an entry, and the content of a field; false if
 * the record does not have it (ragged 'pad').
 */
extern uint32_t csv_inputs_nfields(CsvInputs *inputs, uint32_t entry);
extern bool csv_inputs_field(CsvInputs *inputs, uint32_t field,
							 const uint8_t **content, uint64_t *length);

/* the dialect of that content, which differs for lines that are read leniently */
extern const CsvDialect *csv_inputs_dialect(const CsvInputs *inputs);

/* bytes of the record of an entry */
extern uint64_t csv_inputs_record_length(CsvInputs *inputs, uint32_t entry);

/*
 * Explain an error of a value that the engine found.  If the input function of an
 * earlier field refuses that field's value, explain that error instead, since it comes
 * first.
 */
extern void csv_inputs_explain(CsvInputs *inputs, const CsvError *error,
							   CsvRefusal *refusal);

#endif							/* CSV_FETCH_H */
