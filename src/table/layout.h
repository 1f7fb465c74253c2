/*
 * layout.h
 *		The wanted columns of a table, and their places in a file.
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
	CsvColumn	spec;			/* in the current file */
	uint8_t		kind;			/* the CsvKind to ask an engine for */
	bool		hidden;			/* as in CsvPushdown */
} CsvFileColumn;

typedef struct CsvFileLayout
{
	const CsvTable *table;
	int			ncolumns;
	CsvFileColumn *columns;		/* in the order of the layout */
	CsvColumn  *specs;
	int			nvirtuals;		/* wanted columns that are not in the file */
	bool		wants_surplus;	/* one of these is for surplus fields */
	StringInfoData null_values; /* as in CsvLayout; data NULL: none */
	CsvLayout	layout;			/* of the current file */
} CsvFileLayout;

/*
 * Creates a layout of the wanted columns (a set of attribute numbers).  Hidden columns
 * are only computed with.  few_rows: almost all values are only computed with.
 * Allocated in the current memory context; the table must outlive it.
 */
extern CsvFileLayout *csv_file_layout_create(const CsvTable *table,
											 const Bitmapset *wanted,
											 const Bitmapset *hidden,
											 bool few_rows);

/*
 * Lays the columns out for the file that a reader has opened; its header may say which
 * fields they are.  ERROR if the header does not fit the table.
 */
extern void csv_file_layout_read(CsvFileLayout *layout, CsvReader *reader,
								 const char *filename);

/*
 * After that, for a file with a header, but not with header 'match': is there the name of a
 * column?  ERROR if records have another number of fields, or if the name of a column that
 * is found by its number is in another field.
 */
extern bool csv_file_layout_names(const CsvFileLayout *layout, CsvReader *reader,
								  const char *filename);

/*
 * After csv_file_layout_read() for all columns of a table by_name: appends the
 * header's names that no column has found to the list of names, unless they are
 * there, in whatever case.
 */
extern List *csv_file_layout_more(const CsvFileLayout *layout,
								  CsvReader *reader,
								  List *names);

/* lays out columns whose fields and kinds are known: they are in the specs */
extern void csv_file_layout_set(CsvFileLayout *layout, uint32_t nfields);

#endif							/* CSV_LAYOUT_H */
