/*
 * guess.h
 *		What a file's beginning and end tell of it: the dialect, the header, the footer.
 */
#ifndef CSV_GUESS_H
#define CSV_GUESS_H

#include "import/grid.h"

/* ---- dialects (dialects.c) ---- */

/*
 * The sample as the best dialect reads it; given options keep their values.  The
 * grid's marker is NULL, or with what comments may begin.  In the current memory context.
 */
extern CsvGrid *csv_find_dialect(const CsvDialectOptions *options, const char *null_string,
								 const CsvGiven *given, const CsvSample *sample);

/* ---- delimiters of several characters (wide.c) ---- */

#define CSV_WIDE_DELIMITERS	4

typedef char CsvWideDelimiter[CSV_DELIMITER_BYTES + 1];

/*
 * Strings of several characters that may be the sample's delimiter, the likeliest first;
 * returns their number.
 */
extern uint32 csv_find_wide_delimiters(const CsvSample *sample, uint8_t break_byte,
									   uint8_t quote, CsvWideDelimiter *found);

/* ---- the header (header.c) and the footer ---- */

typedef struct CsvHeader
{
	uint32		first;			/* the first record of data */
	bool		found;			/* there is a header, of records [top, last] */
	uint32		top;
	uint32		last;
	CsvGridRecord *names;		/* NULL: there is no header, or it is damaged or too wide */
	uint32		nfields;		/* of it, or of another line right above the data; 0: none */
	bool		in_comment;		/* the names are in a comment */
	bool		assumed;		/* only the form of its names tells that it is a header */
	bool		shifted;		/* it lacks the first column's name, here an empty one */
	bool		joins_words;	/* its last record may be data */
	bool		none_assumed;	/* there is none, although the first record may be names */
} CsvHeader;

/* Belongs to the grid, which is judged once. */
extern const CsvHeader *csv_find_header(CsvGrid *grid);

/*
 * The number of records at the end that are not data (ending.c), less blank lines, and the
 * beginning of the first of them, in *line; `first` is the grid's first record of data.  In
 * the current memory context.
 */
extern uint32 csv_find_footer(const CsvGrid *grid, uint32 first, char **line);

/* a cell's number, with this decimal separator, or of percents; false if it is not one */
extern bool csv_cell_number(const CsvCell *cell, char point, double *number);

/*
 * A record as names: its own cells, whose texts are the grid's, without a comment's mark, which
 * is # or the marker.
 * NULL if the record is NULL or damaged, or has more fields than a table can have columns.  In the
 * current memory context.
 */
extern CsvGridRecord *csv_names_of(const CsvGridRecord *record, const char *marker);

/* the fields that a log's comment "#Fields: ..." or "#fields ..." above it names; 0: none */
extern uint32 csv_told_fields(const CsvGrid *grid);

/* ---- rows above the data (header_rows.c) ---- */

/* what cells below a cell tell of it */
typedef struct CsvBelow
{
	uint8		kind;			/* that all cells have; CSV_CELL_TEXT: no kind but text */
	bool		recurs;			/* a cell is equal to it */
	bool		unlike;			/* the cells have a form in common that it does not have */
	bool		any_year;
	bool		any_quoted;
	uint32		nvalues;
} CsvBelow;

/* by the rows among the records [from, to) */
extern CsvBelow csv_look_below(const CsvGrid *grid, uint32 from, uint32 to, uint32 column,
							   const CsvCell *cell);

/* what a row says of where data begins: more than 0 that it is of it */
#define ROW_OF_DATA		1
#define ROW_UNKNOWN		0
#define ROW_OF_HEADER	(-1)
#define ROW_SURELY_OF_HEADER	(-2)

/* may a row's numbers, above numbers, be names of columns? */
typedef enum CsvNumberNames
{
	NUMBERS_ARE_VALUES,			/* or there are none */
	NUMBERS_MAY_BE_NAMES,
	NUMBERS_ARE_ASSUMED,		/* to be names */
	NUMBERS_ARE_NAMES
} CsvNumberNames;

extern CsvNumberNames csv_number_names(const CsvGridRows *rows, uint32 row);

/* is it a unit, in brackets or not, or the type of a column? */
extern bool csv_is_unit(const char *text, uint32 nbytes);

/* has a row nothing but numbers of the columns, or lines below names? */
extern bool csv_numbers_columns(const CsvGridRows *rows, uint32 row);

/* by the types of the columns */
extern int	csv_judge_row(const CsvGridRows *rows, uint32 row);

/*
 * The row where data begins, if rows from `typed` (> 0) on fit the types: 0, or below a
 * row of names and other rows that look like a header.  *sure: the rows above it do not
 * look like text that the data has, too.  *labels: the last of them has labels of the
 * columns, below their names.  *any_words: some below the names have words that may be data.
 */
extern uint32 csv_find_first_row(const CsvGridRows *rows, uint32 typed, bool *sure,
								 bool *labels, bool *any_words);

/* ---- all of it ---- */

typedef struct CsvGuess
{
	CsvBoundary boundary;		/* as seen; CSV_BOUNDARY_AUTO: none was */
	bool		boundary_found;	/* as seen, and not given: 'auto' finds it, too */
	uint32		nfields;		/* 0: there is no record */
	CsvHeader	header;
	CsvGridRecord *last_row;	/* of header_rows, in which columns find their fields by_name; NULL:
								 * there are none */
	bool		any_data;		/* below the header */
	CsvGrid    *grid;			/* the sample in the dialect; NULL: there is no record */

	/* parts that are left out without an option; first lines are in the sample's encoding */
	uint32		nabove;			/* records above the data, less the header */
	uint32		footer_rows;	/* those below it */
	char	   *first_above;
	char	   *first_below;
	char	   *first_comment;	/* NULL: there are none but the header */
} CsvGuess;

/*
 * Find out options that are not given: sets the dialect and header_rows of the
 * table's reader options, and *guess.  In the current memory context.
 */
extern void csv_guess(CsvTable *table, const CsvGiven *given,
					  const CsvSample *sample, CsvGuess *guess);

#endif							/* CSV_GUESS_H */
