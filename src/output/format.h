/*
 * format.h
 *		Values as text, as their types' output functions write them.
 */
#ifndef CSV_FORMAT_H
#define CSV_FORMAT_H

#include "access/tupdesc.h"
#include "fmgr.h"
#include "nodes/pg_list.h"

#include "output/fields.h"

typedef enum CsvFormatWay
{
	CSV_FORMAT_BY_FUNCTION,		/* by the type's output function */
	CSV_FORMAT_TEXT,
	CSV_FORMAT_NUMERIC,
	CSV_FORMAT_BOOL,
	CSV_FORMAT_INT2,
	CSV_FORMAT_INT4,
	CSV_FORMAT_INT8,
	CSV_FORMAT_OID,
	CSV_FORMAT_FLOAT4,
	CSV_FORMAT_FLOAT8,
	CSV_FORMAT_UUID,
	CSV_FORMAT_DATE,
	CSV_FORMAT_TIMESTAMP,
	CSV_FORMAT_TIMESTAMPTZ
} CsvFormatWay;

/* a column of the output */
typedef struct CsvFormatted
{
	int			att;			/* attribute number - 1 */
	bool		force_quote;
	CsvFormatWay way;
	FmgrInfo	function;		/* the type's output function */
} CsvFormatted;

/* for a type; uses the current memory context */
extern void csv_format_begin(CsvFormatted *column, Oid type);

/* write a value that is not NULL as text in the database's encoding, without quotes */
extern void csv_format_unquoted(CsvFormatted *column, Datum value,
								StringInfo output);

/*
 * Write columns of a row, without the line break; values and nulls: of all attributes.
 * Other types' output functions, and long texts, use the current memory context, which
 * must be short-lived.
 */
extern void csv_format_row(CsvFormatted *columns, int ncolumns, const Datum *values,
						   const bool *isnull, StringInfo output,
						   const CsvOutputFormat *format);

/* write the names of the attributes, without the line break */
extern void csv_format_header(const List *attnums, TupleDesc tupdesc, StringInfo output,
							  const CsvOutputFormat *format);

#endif							/* CSV_FORMAT_H */
