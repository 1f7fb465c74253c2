/*
 * format.h
 *		Values as text, as their types' output functions write them.
 */
#ifndef CSV_FORMAT_H
#define CSV_FORMAT_H

#include "fmgr.h"

#include "output/fields.h"

/* a column of the output */
typedef struct CsvFormatted
{
	int			att;			/* attribute number - 1 */
	bool		force_quote;
	Oid			function;		/* the type's output function */
	FmgrInfo	call;
} CsvFormatted;

/* for a type; uses the current memory context */
extern void csv_format_begin(CsvFormatted *column, Oid type);

/*
 * Write a value that is not NULL as a field.  Other types' output functions, and long
 * texts, use the current memory context, which must be short-lived.
 */
extern void csv_format_value(const CsvFormatted *column, Datum value,
							 CsvOutputBytes *output, const CsvOutputFormat *format);

#endif							/* CSV_FORMAT_H */
