/*
 * option.h
 *		The options of servers, tables and columns: checked when they are set,
 *		and resolved into one plain struct when a table is read.
 *
 *	1. csv_gpu_fdw_validator() sees the options of one object at a time, at
 *	   DDL.  It refuses what is wrong by itself.
 *	2. csv_table_get() puts a table's options, its server's, its columns' and
 *	   the defaults together.
 *	3. csv_table_check() (check.c) refuses what only shows when they stand
 *	   together, such as a column beyond the last field.  To be called when a
 *	   query is planned.
 *	4. csv_table_kind() (kind.c) tells the engines how to convert a column.
 */
#ifndef CSV_OPTION_H
#define CSV_OPTION_H

#include "access/attnum.h"
#include "nodes/bitmapset.h"
#include "nodes/pg_list.h"

#include "reader/reader.h"
#include "settings.h"
#include "table/pattern.h"

typedef enum CsvVerbosity
{
	CSV_VERBOSITY_DEFAULT,
	CSV_VERBOSITY_VERBOSE,
	CSV_VERBOSITY_SILENT
} CsvVerbosity;

/* how files are compressed */
typedef enum CsvCompression
{
	CSV_COMPRESSION_AUTO,		/* a file's suffix says it */
	CSV_COMPRESSION_NONE,
	CSV_COMPRESSION_GZIP,
	CSV_COMPRESSION_ZSTD,
	CSV_COMPRESSION_LZ4
} CsvCompression;

/* is a file in UTF-16? */
typedef enum CsvUtf16
{
	CSV_UTF16_NO,				/* the option "encoding" has another one */
	CSV_UTF16_BY_MARK,			/* it is not given: if a byte-order mark says so */
	CSV_UTF16_ANY,				/* yes: little-endian, unless a mark says else */
	CSV_UTF16_LITTLE,
	CSV_UTF16_BIG
} CsvUtf16;

/* a column that is not read from the file's text */
typedef enum CsvVirtual
{
	CSV_VIRTUAL_NONE,
	CSV_VIRTUAL_FILENAME,		/* text or varchar */
	CSV_VIRTUAL_PATH,			/* any type; the key is path_key */
	CSV_VIRTUAL_RECORD,			/* this and the next two: bigint or integer */
	CSV_VIRTUAL_LINE,
	CSV_VIRTUAL_BYTE_OFFSET,
	CSV_VIRTUAL_SURPLUS			/* text[]; of the text, after all */
} CsvVirtual;

/* an attribute of the table; csv_table_check() has seen to the types above */
typedef struct CsvTableColumn
{
	AttrNumber	attnum;
	char	   *name;			/* empty for a dropped attribute */
	bool		dropped;
	bool		generated;
	uint8_t		virtual_kind;	/* CsvVirtual */
	char	   *path_key;		/* of CSV_VIRTUAL_PATH */
	bool		field_given;	/* by the option "column" */
	bool		force_null;
	bool		force_not_null;

	/*
	 * 0-based field of the file; -1 where the attribute has none (dropped,
	 * generated, virtual) or is found by header_name.
	 */
	int32		field;
	char	   *header_name;	/* NULL: found by number */
	int32		max_chars;		/* -1: none */
	int32		byte_width;		/* -1: none; from max_chars if not given */
	Oid			type;
	int32		typmod;
	Oid			collation;
	const char *pattern_option; /* that the column has itself; NULL: none */
	const CsvPattern *pattern;	/* of dates and timestamps; NULL: the type's own */
	uint8_t		thousands;		/* what engines may find in numbers; 0: nothing */
	bool		null_values_given;
	List	   *null_values;	/* what is NULL beside null_string: C strings */
	List	   *options;		/* as they were declared: DefElems */
} CsvTableColumn;

typedef struct CsvTable
{
	Oid			relid;
	char	   *name;			/* of the relation, without its schema */
	List	   *options;		/* as they were declared: DefElems, its server's
								 * first */

	/* where the bytes come from; one of the first two is NULL */
	char	   *filename;		/* a path or a pattern; FILE of messages */
	char	   *program;
	CsvReadFn	read;			/* not NULL: gives what else a program would, once */
	void	   *read_arg;
	bool		from_frontend;	/* with `read` */
	bool		prefers_pattern;	/* as csv_prefer_pattern() */
	bool		all_files;		/* none of a pattern may be missing */
	char	  **files;			/* where somebody has looked for them already; else
								 * NULL */
	int			nfiles;
	bool	   *left_out;		/* of each of them: it is not read.  NULL: all are */
	bool		left_out_varies;	/* others may be after a rewind */
	CsvCompression compression;

	/*
	 * For csv_reader_create(), but for the interrupt callback.
	 * dialect.blank_is_record is right where nfields is known.
	 */
	CsvReaderOptions reader;

	/* the header's names must equal the columns' */
	bool		header_match;

	/*
	 * Columns are found by the header's names: each has a header_name, and is
	 * NULL in files that lack it.
	 */
	bool		by_name;

	/*
	 * The encoding of the file, and of the bytes that its CsvSource delivers:
	 * they differ where the source converts (PG_ENCODING_IS_CLIENT_ONLY).  UTF-16
	 * is UTF-8 by then, and counts as that in both.
	 */
	CsvUtf16	utf16;
	int			file_encoding;
	int			encoding;
	uint8_t		engine_encoding;	/* CsvEncoding, for CsvLayout */

	char	   *delimiter;
	char	   *comment;		/* what begins comments; NULL: there are none */
	char	   *null_string;	/* never NULL */
	char	   *default_string; /* NULL: none */
	char		decimal_separator;
	char	   *thousands_separator;	/* a character; NULL: none */

	/* for columns that have none of their own; NULL, NIL: none */
	const CsvPattern *date_pattern;
	const CsvPattern *timestamp_pattern;
	List	   *null_values;

	/*
	 * Fields of a record; 0 where the header's field count is to be taken
	 * (nfields_from_header).
	 */
	uint32_t	nfields;
	bool		nfields_from_header;
	bool		pad;			/* ragged 'pad' */

	bool		stop;			/* on_error 'stop' */
	bool		set_null;		/* on_error 'set_null' */
	int64		reject_count;	/* most bad records there may be; -1: no limit */
	double		reject_percent; /* the same, in percent; -1: no limit */
	CsvVerbosity verbosity;
	int			notice_limit;
	CsvSettings settings;		/* as they were; engine as the options have it,
								 * too */
	List	   *server_options; /* DefElems: its server's, as they were */

	int			natts;
	CsvTableColumn *columns;	/* natts of them, by attnum - 1 */
} CsvTable;

/*
 * All options of a foreign table, resolved.  Allocated in the current memory
 * context, in many pieces.  The caller holds a lock on the table.
 */
extern CsvTable *csv_table_get(Oid foreigntableid);

/*
 * The same with its server's options as they were for somebody else: the lock
 * does not keep them from changing.
 */
extern CsvTable *csv_table_get_as(Oid foreigntableid, List *server_options);

/*
 * A table that is in no catalog: with the options that a server and a table
 * would have (lists of DefElem; ERROR where they are wrong), and no columns
 * yet.
 */
extern CsvTable *csv_table_make(List *server_options, List *table_options);

/*
 * The option "encoding" (encoding.c): what its value says, into the table, ERROR
 * where that is no encoding's name; how it has the encoding of the table's files; and its
 * name of UTF-16 of this kind, which is not CSV_UTF16_NO or BY_MARK.
 */
extern void csv_parse_encoding(const char *value, CsvTable *table);
extern const char *csv_encoding_name(const CsvTable *table);
extern const char *csv_utf16_name(CsvUtf16 utf16);

/* give such a table nfields columns of type text, one for each field */
extern void csv_table_set_fields(CsvTable *table, uint32 nfields);

/* what IMPORT FOREIGN SCHEMA is told */
typedef struct CsvImportOptions
{
	char	   *directory;		/* NULL: the schema's name */
	int64		sample_records; /* that types are inferred from; -1: all */
	bool		all_text;		/* no types but text */
	bool		limits;			/* values may not be longer than those found */
	char	   *pattern;		/* of the files of one table; NULL: a table a file */
	char	   *table;			/* its name; NULL if pattern is */
	char	   *suffixes;		/* of files; NULL: not given */
	List	   *table_options;	/* for each table, DefElems */
} CsvImportOptions;

/* sort out a list of DefElem; ERROR where one is not known, or wrong */
extern void csv_import_options(List *options, CsvImportOptions *import);

/*
 * May the value of an option shape the batches of a table?  True also for a name that is
 * not an option's.
 */
extern bool csv_option_has_meaning(const char *name, bool of_column);

/* has it one value in all rows of a file, which the file's name tells? */
extern bool csv_is_of_file(const CsvTableColumn *column);

/* the numbers of all attributes that are not dropped, as a set */
extern Bitmapset *csv_table_attributes(const CsvTable *table);

/*
 * ERROR where the options of the table and of its columns contradict each
 * other, with both named; and where the file's text could not be converted, as COPY
 * has it.  check.c.
 */
extern void csv_table_check(const CsvTable *table);
extern void csv_table_check_encoding(const CsvTable *table);

/* do decimal and thousands separators go for a type? */
extern bool csv_table_is_number(Oid type);

/*
 * How the engines convert a column: fills everything of *out, and returns its
 * kind.  out->field is 0 for a column found by header_name: to be filled in
 * by whoever reads the header.
 */
extern CsvKind csv_table_kind(const CsvTableColumn *column, CsvColumn *out);

#endif							/* CSV_OPTION_H */
