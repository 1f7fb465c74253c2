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
 * A float's bits travel as an integer's: that is how it is passed by value.
 */
typedef enum CsvFetch
{
	CSV_FETCH_POINTER,			/* the entry itself */
	CSV_FETCH_INT32,
	CSV_FETCH_INT64,
	CSV_FETCH_INT16,
	CSV_FETCH_BYTE,
	CSV_NUM_FETCHES,			/* those above need no more than an array */
	CSV_FETCH_CSTRING = CSV_NUM_FETCHES,	/* by the input function */
	CSV_FETCH_RUN,				/* the same, made a run of rows ahead */
	CSV_FETCH_DECIMAL			/* a numeric, from a scaled integer; if hidden,
								 * only where the engine could not decide */
} CsvFetch;

/* a wanted column that is read from the file, as it is in the batch at hand */
typedef struct CsvScanColumn
{
	CsvValueInput input;
	CsvFetch	fetch;
	int			att;			/* attribute number - 1 */
	bool		hidden;			/* as in CsvPushdown */
	uint8_t    *values;			/* NULL: nobody looks at it */
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
	bool		set_null;		/* it is NULL instead, in a row that comes out */
} CsvRefusal;

/* values that the arrays do not hold as datums (careful.c) */
typedef struct CsvCareful CsvCareful;

/*
 * For these columns, which the caller keeps in the order of the batch's layout.
 * In the current memory context; `short_lived` has the values until the caller
 * resets it, between rows.
 */
extern CsvCareful *csv_careful_create(CsvScanColumn *columns, int ncolumns,
									  MemoryContext short_lived);

/*
 * A new batch, with the columns as they are in it; NULL: there is none.  False:
 * no entry has values that the arrays do not hold.
 */
extern bool csv_careful_take(CsvCareful *careful, const CsvFileBatch *batch);

/* otherwise: has this one? */
extern bool csv_careful_has(const CsvCareful *careful, uint32_t entry);

/*
 * Of the entries from this one on, before `until`: the first that has any, but for
 * numerics that are scaled integers.
 */
extern uint32_t csv_careful_find(const CsvCareful *careful, uint32_t from,
								 uint32_t until);

/* has each one of them? */
extern bool csv_careful_has_all(const CsvCareful *careful);

/*
 * Fill in an entry's values that the arrays do not hold.  undecided: the engine
 * could not decide on the row.  False, with *refusal filled in, if one of them is
 * refused, and its record with it.
 */
extern bool csv_careful_fill(CsvCareful *careful, uint32_t entry,
							 bool undecided, Datum *values, bool *isnull,
							 CsvRefusal *refusal);

/*
 * May a value that is refused be NULL instead, by on_error?  Then that is noted.
 * NULL itself has been asked about.
 */
extern bool csv_careful_set_null(CsvCareful *careful, CsvScanColumn *column,
								 const CsvValueError *error, Datum *value,
								 bool *isnull);

/*
 * The refused values (CsvRefusal) that are NULL instead since the last call, in the
 * order of the columns.  They live as long as the entry's values.
 */
extern List *csv_careful_take_nulls(CsvCareful *careful);

/*
 * Of the record that an entry was made of: how many fields it has, and the content of
 * one of them.
 */
extern uint32_t csv_careful_nfields(CsvCareful *careful, uint32_t entry);
extern void csv_careful_field(CsvCareful *careful, uint32_t field,
							  const uint8_t **content, uint64_t *length);

/* the dialect of that content: of lines that are read leniently another one */
extern const CsvDialect *csv_careful_dialect(const CsvCareful *careful);

/* bytes of the record that an entry was made of */
extern uint64_t csv_careful_record_length(CsvCareful *careful, uint32_t entry);

/*
 * Of an error of a value that the engine found: what there is to say of it.  An
 * earlier field may hold a value that only its input function refuses: that one
 * comes first then.
 */
extern void csv_careful_explain(CsvCareful *careful, const CsvError *error,
								CsvRefusal *refusal);

#endif							/* CSV_FETCH_H */
