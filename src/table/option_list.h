/*
 * option_list.h
 *		All options, each described once.
 */
#ifndef CSV_OPTION_LIST_H
#define CSV_OPTION_LIST_H

#include "nodes/parsenodes.h"

#include "table/table.h"

/* a word that may be an option's value */
typedef struct CsvWord
{
	const char *name;			/* NULL: the end of the list */
	int			value;
} CsvWord;

/* of CsvCompression */
extern const CsvWord csv_compression_words[];

/* the options of a table while they are parsed: the table's defaults follow from them */
typedef struct CsvTableOptions
{
	CsvTable	table;
	bool		is_text;		/* the format */
	bool		header;
	int64		header_rows;	/* -1: not given */
	int64		nfields;		/* -1: not given */
} CsvTableOptions;

/* where an option may stand, and what it is about: bits */
#define CSV_OF_TABLE		1
#define CSV_OF_SERVER		2		/* as a default for its tables */
#define CSV_OF_COLUMN		4
#define CSV_OF_IMPORT		8		/* IMPORT FOREIGN SCHEMA; takes a table's, too ... */
#define CSV_OF_ONE_TABLE	16		/* ... except options that differ from table to table */
#define CSV_OF_CSV			32		/* has no meaning in the format "text" */
#define CSV_SAME_BATCHES	64		/* batches of the table are the same with any value */

/* how a value is read */
typedef enum CsvOptionForm
{
	CSV_OPTION_OWN,				/* by a function */
	CSV_OPTION_STRING,			/* char *, perhaps checked by a function */
	CSV_OPTION_BOOL,
	CSV_OPTION_CHARACTER,		/* uint8: ASCII */
	CSV_OPTION_STRINGS,			/* List of C strings: words for NULL */
	CSV_OPTION_PATTERN,			/* CsvPattern */
	CSV_OPTION_WORD,			/* of a list: the word's value */
	CSV_OPTION_COUNT,			/* an integer within bounds */
	CSV_OPTION_SIZE				/* bytes */
} CsvOptionForm;

/*
 * An option.  Its value goes into a member of CsvTableOptions, CsvTableColumn or
 * CsvImportOptions, by the object on which it stands.
 */
typedef struct CsvOption
{
	const char *name;
	int			traits;
	CsvOptionForm form;
	size_t		offset;			/* of the member ... */
	size_t		nbytes;			/* ... and its size */
	size_t		given;			/* offset of a bool, not the first member; 0: none */
	const CsvWord *words;
	int			step;			/* of a count; 0: 1 */
	int64		least;
	int64		most;
	char	   *(*check) (DefElem *def);
	void		(*parse) (void *target, DefElem *def);
} CsvOption;

/*
 * The option of this name on an object of this catalog; ERROR if there is none.  Schemas
 * stand for IMPORT FOREIGN SCHEMA.
 */
extern const CsvOption *csv_option_get(const char *name, Oid catalog);

/* read its value into the struct that belongs to the catalog; ERROR if it is wrong */
extern void csv_option_parse(const CsvOption *option, void *target, DefElem *def);

/* ERROR: the value of an option is wrong; detail and hint may be NULL */
extern void csv_refuse_value(const char *option, const char *value, const char *detail,
							 const char *hint)
	__attribute__((noreturn));

/* the prefixes of the option "allowed" or "allowed_write": String nodes */
extern List *csv_option_prefixes(DefElem *def);

/* the value of one of the words, in any case; ERROR if there is no such word */
extern int	csv_option_word(DefElem *def, const CsvWord *words);

/* bytes, with units as in postgresql.conf; ERROR unless 1 to max */
extern int64 csv_option_size(DefElem *def, int64 max);

/*
 * May the value of an option shape the batches of a table?  True also for a name that is
 * not an option's.
 */
extern bool csv_option_changes_batches(const char *name, bool of_column);

/* the value of the option "record_boundary" */
extern const char *csv_boundary_name(CsvBoundary boundary);

#endif							/* CSV_OPTION_LIST_H */
