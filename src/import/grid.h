/*
 * grid.h
 *		The records of a sample as one dialect reads them: a grid of cells, each with a kind.
 */
#ifndef CSV_GRID_H
#define CSV_GRID_H

#include "import/sample.h"
#include "import/forms.h"

/* records of a sample that a grid has, and comments */
#define CSV_GRID_RECORDS	1000

/*
 * A record with more fields makes no table, even if other quotes or comments would leave
 * fewer.
 */
#define CSV_MOST_FIELDS_TRIED	(100 * MaxHeapAttributeNumber)

typedef struct CsvCell
{
	char	   *text;			/* the value, with a zero byte behind it */
	uint32		nbytes;
	uint8		kind;			/* CsvCellKind */
	bool		quoted;
} CsvCell;

/* signs of a record that another dialect may read it better */
typedef enum CsvSign
{
	CSV_SIGN_PADDED = 1 << 0,	/* blanks stand beside an unquoted value */
	CSV_SIGN_OPENED = 1 << 1,	/* an unquoted value begins with a quote */
	CSV_SIGN_CLOSED = 1 << 2,	/* an unquoted value ends with a quote */
	CSV_SIGN_ESCAPED = 1 << 3,	/* a value has a backslash before a quote */
	CSV_SIGN_STRAY = 1 << 4,	/* an unquoted value has the dialect's quote in it */
	CSV_SIGN_QUOTED = 1 << 5,	/* a value is in quotes */
	CSV_SIGN_NEEDED = 1 << 6,	/* ... and has a delimiter or a line break in it */
	CSV_SIGN_BROKEN = 1 << 7,	/* ... a line break */
	CSV_SIGN_BAD = 1 << 8		/* a quoting error */
} CsvSign;

typedef struct CsvGridRecord
{
	uint64		start;			/* in the sample */
	uint32		nfields;
	uint32		ncells;			/* at most as many as a table can have columns */
	uint32		nfilled;		/* cells that are not empty */
	CsvCell    *cells;
	bool		bad;			/* has a quoting error */
	bool		blank;			/* or is Excel's line "sep=;" */
	bool		comment;		/* begins as comments may */

	uint32		signs;			/* CsvSign */
} CsvGridRecord;

typedef struct CsvGrid
{
	MemoryContext context;		/* holds all of the grid */
	CsvDialectOptions options;
	char		delimiter[CSV_DELIMITER_BYTES + 1];	/* as text */
	const CsvSample *sample;
	const char *marker;			/* with which comments may begin; NULL: none */
	uint32		nblank;			/* blank lines before the first record */
	CsvGridRecord *records;		/* later blank lines among them */
	uint32		nrecords;
	CsvGridRecord *comments;	/* lines that the options leave out, with their cells */
	uint32		ncomments;
	bool		is_single;		/* all records have one field */
	uint32		signs;			/* of all records */

	/* the table in it */
	uint32		nfields;
	uint32		from;			/* the first record of the table ... */
	uint32		to;				/* ... and the record behind its last */
	uint32		nrows;			/* rows among these records ... */
	uint32		nothers;		/* ... and others that count */
	bool		is_table;		/* there is enough of it, of several fields */
	bool		is_told;		/* a log's comment names as many */
	const struct CsvGridRows *rows; /* the first of them */
	double		quality;		/* to be compared with other dialects' */

	struct CsvHeader *header;	/* above the table; NULL: not asked for yet (header.c) */

	/* another delimiter that may be the right one (dialects.c); empty: none is */
	char		rival[CSV_DELIMITER_BYTES + 1];
	bool		rival_is_part;	/* the delimiter has it in it, or the other way round */
} CsvGrid;

/* is it a record of a table with this number of fields? */
static inline bool
csv_is_row(const CsvGridRecord *record, uint32 nfields)
{
	return !record->bad && !record->blank && record->nfields == nfields;
}

/* does it count as a record at all? */
static inline bool
csv_is_counted(const CsvGridRecord *record)
{
	return !record->blank && !record->comment;
}

/* have all cells nothing but these characters? */
extern bool csv_consists_of(const CsvGridRecord *record, const char *characters);

/* The sample as the options have it; in a memory context of its own, below the current. */
extern CsvGrid *csv_grid_read(const CsvDialectOptions *options, const CsvSample *sample,
							  const char *marker);

extern void csv_grid_free(CsvGrid *grid);

/* the first record that is not blank and no comment; nrecords: there is none */
extern uint32 csv_grid_first(const CsvGrid *grid);

/* ---- the table ---- */

/*
 * Find the table's records and number of fields, and how good a table it is.  If some have
 * as many fields as a comment has told, these are the table.
 */
extern void csv_grid_place(CsvGrid *grid, uint32 told);

/* the records among [from, to) with this number of fields, and others that count */
extern uint32 csv_count_rows(const CsvGrid *grid, uint32 nfields, uint32 from, uint32 to,
							 uint32 *nothers);

/* are nearly all records rows, from the table's first record on? */
extern bool csv_grid_is_regular(const CsvGrid *grid);

/* ---- rows ---- */

/* rows among which data may begin */
#define CSV_HEADER_ROWS	100

/* rows of a grid's table, and the types of their columns */
typedef struct CsvGridRows
{
	const CsvGrid *grid;
	uint32		nrows;			/* the first of the table, up to 200 */
	uint32		ncolumns;
	uint32	   *records;		/* by row */
	uint8	   *types;			/* CsvCellKind by column; CSV_CELL_TEXT: none */
	double		typed;			/* columns that have one, each by how sure it is */
	double		clean;			/* the share of the cells that look like values */
	double		usually_filled; /* cells of a row of data */
} CsvGridRows;

/*
 * The records [from, to) of the grid with this number of fields.  A column has the type of
 * most rows from some row on, such that most columns have a type.  In the current memory
 * context.
 */
extern CsvGridRows *csv_rows_make(const CsvGrid *grid, uint32 nfields, uint32 from, uint32 to);

static inline const CsvGridRecord *
csv_row(const CsvGridRows *rows, uint32 row)
{
	return &rows->grid->records[rows->records[row]];
}

static inline const CsvCell *
csv_row_cell(const CsvGridRows *rows, uint32 row, uint32 column)
{
	return &csv_row(rows, row)->cells[column];
}

/* has a row less than half of the usual cells? */
static inline bool
csv_row_is_sparse(const CsvGridRows *rows, uint32 row)
{
	return csv_row(rows, row)->nfilled * 2 < rows->usually_filled;
}

/* may a column of this type have a cell of this kind? */
extern bool csv_kind_fits(uint8 type, uint8 kind);

/* cells of a record that fit the types of their columns, and cells that do not */
typedef struct CsvFit
{
	uint32		nfit;
	uint32		nunfit;
} CsvFit;

/* Empty cells and columns of text do not count, and columns of codes only if `codes`. */
extern CsvFit csv_count_fit(const CsvGridRows *rows, const CsvGridRecord *record, bool codes);

#endif							/* CSV_GRID_H */
