/*
 * grid.h
 *		The cells of a table's first rows, and the types that its columns have.
 */
#ifndef CSV_GRID_H
#define CSV_GRID_H

#include "import/records.h"

/* rows among which data may begin */
#define CSV_GRID_HEADER_ROWS	100

/* the cells of a table's first rows */
typedef struct CsvGrid
{
	uint32		nrows;
	uint32		ncolumns;
	uint32	   *records;		/* by row */
	uint32	   *filled;			/* cells that are not empty, by row */
	uint8	   *kinds;			/* CsvCellKind, row by row */
	uint16	   *numbers;		/* those of up to four digits, else 0; likewise */
	double		clean;			/* share of the cells that look like values */
	uint8	   *types;			/* by column; CSV_CELL_TEXT: none */
	double		typed;			/* how many columns have one, and how sure that is */
	double		usually_filled; /* cells of a row of data */
} CsvGrid;

/*
 * The rows with so many fields of records [from, to) of a sheet; in the current memory
 * context.
 */
extern CsvGrid *csv_grid_make(const CsvSheet *sheet, const CsvSample *sample,
							  uint32 nfields, uint32 from, uint32 to);
extern void csv_grid_free(CsvGrid *grid);

/* find the row from which on columns have most of their types, and these */
extern void csv_grid_type(CsvGrid *grid);

/* CsvCellKind of a cell */
static inline uint8
csv_grid_kind(const CsvGrid *grid, uint32 row, uint32 column)
{
	return grid->kinds[row * (Size) grid->ncolumns + column];
}

/* is a row nearly blank? */
static inline bool
csv_grid_is_sparse(const CsvGrid *grid, uint32 row)
{
	return grid->filled[row] * 2 < grid->usually_filled;
}

/* may a column of this type have a cell of this kind? */
extern bool csv_grid_fits(uint8 type, uint8 kind);

#endif							/* CSV_GRID_H */
