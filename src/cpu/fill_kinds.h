/*
 * fill_kinds.h
 *		The functions of CsvFillFunctions.vectors, by what fill_avx2.c and
 *		fill_avx512.c define before they include it.
 */
#ifndef CSV_FILL_KINDS_H
#define CSV_FILL_KINDS_H

static uint32_t
fill_int2(CsvFill *fill, uint32_t from, uint32_t to, const uint8_t *limit,
		  uint32_t *left)
{
	(void) limit;
	return fill_integers(fill, from, to, CSV_KIND_INT2, left);
}

static uint32_t
fill_int4(CsvFill *fill, uint32_t from, uint32_t to, const uint8_t *limit,
		  uint32_t *left)
{
	(void) limit;
	return fill_integers(fill, from, to, CSV_KIND_INT4, left);
}

static uint32_t
fill_int8(CsvFill *fill, uint32_t from, uint32_t to, const uint8_t *limit,
		  uint32_t *left)
{
	(void) limit;
	return fill_integers(fill, from, to, CSV_KIND_INT8, left);
}

static uint32_t
fill_numerics(CsvFill *fill, uint32_t from, uint32_t to, const uint8_t *limit,
			  uint32_t *left)
{
	(void) limit;
	return csv_has_fast_numeric(fill) ?
		fill_fast_numerics(fill, from, to, CSV_KIND_NUMERIC, left) :
		leave_rest(from, to, left);
}

static uint32_t
fill_decimals(CsvFill *fill, uint32_t from, uint32_t to, const uint8_t *limit,
			  uint32_t *left)
{
	(void) limit;
	return fill->column->scale <= 4 ?
		fill_fast_numerics(fill, from, to, CSV_KIND_DECIMAL64, left) :
		leave_rest(from, to, left);
}

#define CSV_VECTOR_KINDS { \
	[CSV_KIND_TEXT] = fill_text, \
	[CSV_KIND_INT2] = fill_int2, \
	[CSV_KIND_INT4] = fill_int4, \
	[CSV_KIND_INT8] = fill_int8, \
	[CSV_KIND_NUMERIC] = fill_numerics, \
	[CSV_KIND_DECIMAL64] = fill_decimals, \
	[CSV_KIND_DATE] = fill_dates \
}

#endif							/* CSV_FILL_KINDS_H */
