/*
 * table.h
 *		A foreign table and its columns, with all options, as option.c resolves them.
 */
#ifndef CSV_TABLE_H
#define CSV_TABLE_H

#include "access/attnum.h"
#include "nodes/bitmapset.h"
#include "nodes/pg_list.h"

#include "reader/place.h"
#include "reader/reader.h"
#include "settings.h"
#include "table/allowed.h"
#include "table/pattern.h"
#include "wire/identity.h"

typedef enum CsvVerbosity
{
	CSV_VERBOSITY_DEFAULT,
	CSV_VERBOSITY_VERBOSE,
	CSV_VERBOSITY_SILENT
} CsvVerbosity;

/* how files are compressed */
typedef enum CsvCompression
{
	CSV_COMPRESSION_AUTO,		/* the file's suffix decides */
	CSV_COMPRESSION_NONE,
	CSV_COMPRESSION_GZIP,
	CSV_COMPRESSION_ZSTD,
	CSV_COMPRESSION_LZ4,
	CSV_NUM_COMPRESSIONS
} CsvCompression;

/* is a file in UTF-16? */
typedef enum CsvUtf16
{
	CSV_UTF16_NO,				/* the option "encoding" names another encoding */
	CSV_UTF16_BY_MARK,			/* not given: UTF-16 if a byte-order mark says so */
	CSV_UTF16_NOT_BUT_UTF8,		/* only of a mark: it is of UTF-8 */
	CSV_UTF16_ANY,				/* yes: little-endian, unless a mark contradicts */
	CSV_UTF16_LITTLE,
	CSV_UTF16_BIG
} CsvUtf16;

/* a column that is not read from the file's text */
typedef enum CsvVirtual
{
	CSV_VIRTUAL_NONE,
	CSV_VIRTUAL_FILENAME,		/* text or varchar */
	CSV_VIRTUAL_PATH,			/* any type; the key is path_key */
	CSV_VIRTUAL_SHARE,			/* this and the next three: bigint or integer */
	CSV_VIRTUAL_RECORD,
	CSV_VIRTUAL_LINE,
	CSV_VIRTUAL_BYTE_OFFSET,
	CSV_VIRTUAL_SURPLUS			/* text[]; read from the file's text after all */
} CsvVirtual;

/* an attribute of the table; csv_table_check() has checked the types named above */
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
	 * 0-based field of the file, or -1 if the attribute has no field (dropped,
	 * generated or virtual) or is found by header_name.
	 */
	int32		field;
	char	   *header_name;	/* NULL: found by number */
	int32		max_chars;		/* -1: no limit */
	int32		byte_width;		/* -1: none; if not given, from max_chars */
	Oid			type;
	int32		typmod;
	Oid			collation;
	const char *pattern_option; /* the column's own option; NULL: none */
	const CsvPattern *pattern;	/* of dates and timestamps; NULL: the type's own */
	uint8_t		thousands;		/* separator that engines accept in numbers; 0: none */
	bool		null_values_given;
	List	   *null_values;	/* NULL values besides null_string: C strings */
	List	   *options;		/* DefElems, as declared */
} CsvTableColumn;

/* where the scan of a file begins */
typedef struct CsvResumedFile
{
	CsvFilePlace start;			/* offset 0: at the beginning */
	uint64		nbytes;			/* of the file, up to there */
	CsvFileIdentity identity;	/* when the place was found */
} CsvResumedFile;

/*
 * A scan that reads the new records of files that grow, and tells how far it has come.
 * No process shares it.
 */
typedef struct CsvResume
{
	const CsvResumedFile *files;

	/* the open file (by its number, and descriptor) will be read from its place on */
	void		(*begun) (void *arg, int number, int file);

	/*
	 * The open file (by its number, and descriptor) was read up to this place, after its
	 * last batch.  nbytes: of the file; more than the place's offset if the bytes are
	 * converted, and the last record is not complete.
	 */
	void		(*ended) (void *arg, int number, int file,
						  const CsvFilePlace *place, uint64 nbytes);
	void	   *arg;
} CsvResume;

typedef struct CsvTable
{
	Oid			relid;
	char	   *name;			/* the relation's, without its schema */
	List	   *options;		/* DefElems, as declared; the server's first */

	/*
	 * the input; either filename or program is NULL, but in csv_sniff() both
	 * may be it
	 */
	char	   *filename;		/* a path or a pattern; messages call it FILE */
	char	   *program;
	CsvReadFn	read;			/* NULL, or delivers the bytes instead, once */
	void	   *read_arg;
	bool		from_frontend;	/* `read` reads from the client */
	bool		prefers_pattern;	/* set by csv_prefer_pattern() */
	bool		all_files;		/* every file that matches the pattern must exist */
	struct StringInfoData *choices; /* NULL, or gets what a load tells */
	int			share;			/* of a pattern's files, the table has these; -1:
								 * all files */
	int			shares;
	char	  **files;			/* the list, if it was already made; otherwise NULL */
	int			nfiles;
	bool	   *left_out;		/* for each file: it is not read.  NULL: all are
								 * read */
	bool		left_out_varies;	/* may change at a rewind */
	const CsvResume *resume;	/* NULL: files are read from their beginnings */
	CsvCompression compression;
	bool		writable;		/* INSERT and TRUNCATE are allowed */

	/*
	 * For csv_reader_create(), except the interrupt callback.  dialect.blank_is_record
	 * is valid if nfields is known.
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
	 * The encoding of the file, and the encoding of the bytes that its CsvSource
	 * delivers.  The two differ if the source converts (PG_ENCODING_IS_CLIENT_ONLY).
	 * A source delivers UTF-16 as UTF-8, so both fields treat it as UTF-8.
	 */
	CsvUtf16	utf16;
	int			file_encoding;
	int			encoding;
	uint8_t		engine_encoding;	/* CsvEncoding, for CsvLayout */

	char	   *delimiter;
	char	   *comment;		/* begins comments; NULL: no comments */
	char	   *null_string;	/* never NULL */
	char	   *default_string; /* NULL: none */
	char		decimal_separator;
	char	   *thousands_separator;	/* a character; NULL: none */

	/* for columns without their own; NULL or NIL: none */
	const CsvPattern *date_pattern;
	const CsvPattern *timestamp_pattern;
	List	   *null_values;
	struct pg_tz *timezone;		/* of times without an offset; NULL: the session's */
	int			date_order;		/* without a pattern: DateOrder; -1: the session's */

	/* fields of a record; 0 if the header's number applies (nfields_from_header) */
	uint32_t	nfields;
	bool		nfields_from_header;
	bool		pad;			/* ragged 'pad' */

	bool		stop;			/* on_error 'stop' */
	bool		set_null;		/* on_error 'set_null' */
	int64		reject_count;	/* bad records allowed; -1: no limit */
	double		reject_percent; /* bad records allowed, in percent; -1: no limit */
	CsvVerbosity verbosity;
	int			notice_limit;
	int			parallel_workers;	/* -1: not given */
	int			growing_rest;	/* seconds until the last record of a file counts that is
								 * not the newest */
	CsvSettings settings;		/* at this time, with the option "engine" */
	List	   *server_options; /* DefElems, at this time */
	CsvRights	rights;			/* by them */

	int			natts;
	CsvTableColumn *columns;	/* natts entries, indexed by attnum - 1 */
} CsvTable;

/* stat() of a file of the table, as csv_rights_stat() */
static inline int
csv_table_stat(const CsvTable *table, const char *name, struct stat *st)
{
	return csv_rights_stat(&table->rights, name, CSV_ACCESS_READ, st);
}

/* the options of IMPORT FOREIGN SCHEMA */
typedef struct CsvImportOptions
{
	char	   *directory;		/* NULL: the schema's name */
	int64		sample_records; /* read to infer types; -1: all */
	bool		all_text;		/* all columns are text */
	bool		limits;			/* values may not be longer than the longest found */
	char	   *pattern;		/* of one table's files; NULL: each file becomes a
								 * table */
	char	   *table;			/* the table's name; NULL if pattern is NULL */
	char	   *suffixes;		/* of files; NULL: not given */
	char	   *program;		/* whose output is one table; NULL: files are */
	char	   *types;			/* "COLUMN TYPE, ..." of some columns; NULL: of none */
	char	   *virtuals;		/* "COLUMN WORD, ..." of further columns, likewise */
	List	   *given_types;	/* of both: CsvImportedColumns (given.h) */
	List	   *given_virtuals;
	const char *schema;			/* of the table; NULL: the statement's */
	List	   *table_options;	/* for each table, DefElems */
} CsvImportOptions;

#endif							/* CSV_TABLE_H */
