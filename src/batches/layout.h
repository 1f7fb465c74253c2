/*
 * layout.h
 *		The wanted columns of a table, and where they are in a file.
 */
#ifndef CSV_LAYOUT_H
#define CSV_LAYOUT_H

#include "lib/stringinfo.h"
#include "nodes/bitmapset.h"

#include "table/option.h"

/* a wanted column that is read from the file */
typedef struct CsvFileColumn
{
	const CsvTableColumn *column;
	CsvColumn	spec;			/* as it is in the file at hand */
	uint8_t		kind;			/* CsvKind that an engine is asked for */
	bool		hidden;			/* as in CsvPushdown */
} CsvFileColumn;

typedef struct CsvFileLayout
{
	const CsvTable *table;
	int			ncolumns;
	CsvFileColumn *columns;		/* in the order of the layout */
	CsvColumn  *specs;
	int			nvirtuals;		/* wanted columns that are not in the file */
	bool		wants_surplus;	/* one of these: fields that no column is */
	StringInfoData null_values; /* as CsvLayout has them */
	CsvLayout	layout;			/* of the file at hand */
} CsvFileLayout;

/*
 * The wanted columns (a set of attribute numbers), of which the hidden ones are
 * only computed with.  few_rows: so are almost all values.  In the current
 * memory context; the table must outlive it.
 */
extern CsvFileLayout *csv_file_layout_create(const CsvTable *table,
											 const Bitmapset *wanted,
											 const Bitmapset *hidden,
											 bool few_rows);

/*
 * Lay the columns out for the file that a reader has opened; its header may say
 * which fields they are.  ERROR where it does not fit.
 */
extern void csv_file_layout_read(CsvFileLayout *layout, CsvReader *reader,
								 const char *filename);

/* the same where fields and kinds of the columns are known: in their specs */
extern void csv_file_layout_set(CsvFileLayout *layout, uint32_t nfields);

#endif							/* CSV_LAYOUT_H */
