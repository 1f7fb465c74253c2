/*
 * dialect.h
 *		The CSV dialect, compiled to a transition table.
 *
 * Only the table defines what a record is.  All code that reads CSV in this
 * project (the CPU engine, the CUDA engine, and the one-byte-at-a-time reader of
 * the tests) follows it.  A fast path may be taken only where a local check shows
 * that it finds the same as the table.
 *
 * Each input byte has a class.  The class of a CR or LF depends also on its
 * neighbours.  The class of the first byte of a delimiter of several bytes, or of the
 * string that begins a comment, depends also on the bytes that follow (see
 * csv_class_at).  The class of any other byte depends on the byte alone.  The end of
 * the input counts as one further byte, of class CSV_CLASS_END_OF_INPUT.  For a
 * (state, class), the table has the next state and what happens at that byte:
 *
 *	CSV_START	 the byte is the first of a record
 *	CSV_FIELD	 a field ends before the byte
 *	CSV_RECORD	 a record ends before the byte (never without CSV_FIELD)
 *	CSV_BAD		 that record has a quoting error
 *
 * For a delimiter of several bytes, only the first byte has the class of a delimiter:
 * the field ends before it.  The states from CSV_STATE_IN_DELIMITER on count the bytes
 * that are left of the delimiter.
 *
 * COPY's text format is a dialect, too: it has no quotes, and an escape anywhere makes
 * the byte after it data.  A comment is a line that begins with a certain string where
 * a record could begin; it is not a record in any dialect.
 *
 * One rule is not in the table.  A lone Ctrl-Z, which old programs write, or, in the
 * text format, "\.", COPY's end of data, is not a record if the file ends behind it, or
 * if only line breaks follow (csv_is_end_of_data).
 *
 * There are two tables.  CSV_NORMAL reads the input.  CSV_ALONE strictly reads one line
 * at a time, to repair records with quoting errors.  Lenient reading of such records
 * uses neither table (lenient.h).
 *
 * This header is C and CUDA C++; it includes neither postgres.h nor CUDA's.
 */
#ifndef CSV_DIALECT_H
#define CSV_DIALECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __CUDACC__
#define CSV_INLINE static __host__ __device__ __forceinline__
#define CSV_ALWAYS_INLINE CSV_INLINE
#else
#define CSV_INLINE static inline
#define CSV_ALWAYS_INLINE static inline __attribute__((always_inline))
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define CSV_DELIMITER_BYTES	8
#define CSV_DELIMITER_REST_BYTES	(CSV_DELIMITER_BYTES - 1)
#define CSV_COMMENT_BYTES	8

/* the class of a byte depends on no more bytes from it on (csv_class_at()) */
#define CSV_CLASS_BYTES	8

/* the most CRs that belong to a line break: programs on Windows may write CR CR LF */
#define CSV_BREAK_CRS	2

typedef enum CsvQuoting
{
	CSV_QUOTING_RFC4180,		/* a quote opens a field only at its start */
	CSV_QUOTING_POSTGRES,		/* a quote opens and closes wherever it is */
	CSV_QUOTING_TEXT,			/* no quotes: COPY's text format */
	CSV_QUOTING_LENIENT			/* only to get values of a line that was read
								 * leniently (lenient.h); the file's dialect is
								 * RFC4180 with `lenient` */
} CsvQuoting;

typedef enum CsvBoundary
{
	CSV_BOUNDARY_AUTO,			/* LF, with up to two CRs before it */
	CSV_BOUNDARY_LF,
	CSV_BOUNDARY_CRLF,
	CSV_BOUNDARY_CR
} CsvBoundary;

typedef enum CsvClass
{
	CSV_CLASS_OTHER,
	CSV_CLASS_DELIMITER,		/* its first byte; its other bytes keep their classes */
	CSV_CLASS_QUOTE,			/* also the escape, if they are the same */
	CSV_CLASS_ESCAPE,
	CSV_CLASS_BREAK,			/* last byte of a line break */
	CSV_CLASS_PRE_BREAK,		/* CR that belongs to the LF after it */
	CSV_CLASS_END_OF_INPUT,
	CSV_CLASS_DELIMITER_ESCAPE, /* a byte that is both */
	CSV_CLASS_COMMENT,			/* the first byte of the string that begins a
								 * comment; as OTHER inside a record */
	CSV_CLASS_BLANK,			/* a blank without another class, if the dialect
								 * trims */
	CSV_NUM_CLASSES = 16		/* rounded to a power of two */
} CsvClass;

typedef enum CsvState
{
	CSV_STATE_RECORD_START,
	CSV_STATE_FIELD_START,
	CSV_STATE_UNQUOTED,
	CSV_STATE_QUOTED,
	CSV_STATE_QUOTE_SEEN,		/* quote in a quoted field: doubled or closing */
	CSV_STATE_ESCAPE_SEEN,		/* an escape that is not the quote, in a quoted
								 * field; in text format anywhere */
	CSV_STATE_SKIP_LINE,		/* after text_after_quote, to the line's end */
	CSV_STATE_COMMENT,			/* to the line's end, which ends no record */
	CSV_NUM_NARROW_STATES,		/* most dialects use only the states before it */
	CSV_STATE_AFTER_QUOTE = CSV_NUM_NARROW_STATES,	/* blanks after a closing quote */
	CSV_STATE_IN_DELIMITER,		/* one byte of it is left; next states: 2 to 7 bytes */
	CSV_NUM_STATES = CSV_STATE_IN_DELIMITER + CSV_DELIMITER_REST_BYTES
} CsvState;

/* an entry of the table: a state in the low bits, and what happens */
#define CSV_STATE_MASK	0x0f
#define CSV_FIELD		0x10
#define CSV_RECORD		0x20
#define CSV_START		0x40
#define CSV_BAD			0x80

typedef enum CsvMode
{
	CSV_NORMAL,
	CSV_ALONE,
	CSV_NUM_MODES
} CsvMode;

/* the user's options; plain data */
typedef struct CsvDialectOptions
{
	uint8_t		delimiter;		/* its first byte */
	uint8_t		delimiter_rest_length;	/* bytes after that */
	uint8_t		delimiter_rest[CSV_DELIMITER_REST_BYTES];
	uint8_t		quote;			/* 0: the simple format, no quoting */
	uint8_t		escape;			/* 0: the quote; in text format a backslash */
	uint8_t		quoting;		/* CsvQuoting */
	uint8_t		boundary;		/* CsvBoundary */
	bool		multiline;
	bool		lenient;		/* RFC4180: a record with a quoting error is read
								 * once more (lenient.h) */
	bool		blank_is_record;	/* a blank line is a record of one empty
									 * field: for headers, and files with one
									 * field */
	bool		trim;			/* drop blanks around values */
	uint8_t		comment_length; /* 0: there are no comments */
	uint8_t		comment[CSV_COMMENT_BYTES]; /* the string that begins comments */
	bool		growing;		/* a record without its line break at the end is
								 * not there yet; the reader handles this, too */
	uint32_t	footer_rows;	/* records at the end that are not data; the
								 * reader handles them, not the engines */
} CsvDialectOptions;

typedef struct CsvDialect
{
	CsvDialectOptions opt;		/* escape filled in */

	/*
	 * The most CRs right before a break (but not before the end of the input) that
	 * belong to the break: CSV_BREAK_CRS for auto, 1 for crlf, otherwise 0.
	 */
	uint8_t		trim_crs;
	uint8_t		break_byte;		/* csv_break_byte() */

	/* classes by byte; for CR and LF use csv_class_at() */
	uint8_t		class_of[256];
	uint8_t		table[CSV_NUM_MODES][CSV_NUM_STATES][CSV_NUM_CLASSES];
} CsvDialect;

/* the byte at which records may end, by a CsvBoundary */
CSV_INLINE uint8_t
csv_break_byte(uint8_t boundary)
{
	return boundary == CSV_BOUNDARY_CR ? '\r' : '\n';
}

/* set a delimiter of at most CSV_DELIMITER_BYTES bytes, in the file's encoding */
extern void csv_dialect_set_delimiter(CsvDialectOptions *options, const char *delimiter);

/* get the delimiter, as a string */
extern void csv_dialect_delimiter(const CsvDialectOptions *options,
								  char delimiter[CSV_DELIMITER_BYTES + 1]);

/*
 * Compile a dialect.  The caller has checked the options: quote and escape are ASCII.
 * None of quote, escape and the delimiter's bytes is CR, LF or NUL.  Delimiter and
 * quote differ, and a delimiter of several bytes contains no quote and no escape.  The
 * string that begins comments does not begin with any of these, and the delimiter does
 * not begin as a comment.  With trim, only a delimiter may be a blank, or begin with a
 * blank.
 */
extern void csv_dialect_compile(CsvDialect *dialect,
								const CsvDialectOptions *options);

/*
 * The quote, or in text format the escape: a field without this byte is equal to its
 * value.  0 if all fields are.
 */
CSV_INLINE uint8_t
csv_special_byte(const CsvDialectOptions *opt)
{
	return opt->quoting == CSV_QUOTING_TEXT ? opt->escape : opt->quote;
}

/* most bytes of empty lines behind the end of data; pg_dump's files have two lines */
#define CSV_END_OF_DATA_BYTES 16

#define CSV_CTRL_Z	0x1a

/* do these nbytes bytes, without a line break, mark the end of data? */
CSV_INLINE bool
csv_says_end_of_data(const CsvDialect *dialect, const uint8_t *bytes, uint64_t nbytes)
{
	if (nbytes == 1)
		return *bytes == CSV_CTRL_Z &&
			dialect->class_of[CSV_CTRL_Z] == CSV_CLASS_OTHER;
	return nbytes == 2 && dialect->opt.quoting == CSV_QUOTING_TEXT &&
		bytes[0] == dialect->opt.escape && bytes[1] == '.';
}

/*
 * Does the record from `start` to `end` mark the end of data, if the file ends at
 * nbytes?  The next record would begin at `next`, which may be behind nbytes.
 */
CSV_INLINE bool
csv_is_end_of_data(const CsvDialect *dialect, const uint8_t *bytes, uint64_t start,
				   uint64_t end, uint64_t next, uint64_t nbytes)
{
	if (nbytes > next + CSV_END_OF_DATA_BYTES ||
		!csv_says_end_of_data(dialect, bytes + start, end - start))
		return false;
	for (; next < nbytes; next++)
		if (bytes[next] != '\n' && bytes[next] != '\r')
			return false;
	return true;
}

/*
 * Is the string that begins comments at bytes[pos], or as much of it as fits before
 * nbytes?
 */
CSV_INLINE bool
csv_comment_begins_at(const CsvDialectOptions *opt, const uint8_t *bytes,
					  size_t pos, size_t nbytes)
{
	for (size_t i = 0; i < opt->comment_length && pos + i < nbytes; i++)
		if (bytes[pos + i] != opt->comment[i])
			return false;
	return opt->comment_length > 0;
}

/* is the string that begins comments at bytes[pos]? */
CSV_INLINE bool
csv_comment_at(const CsvDialectOptions *opt, const uint8_t *bytes, size_t pos,
			   size_t nbytes)
{
	return opt->comment_length <= nbytes - pos &&
		csv_comment_begins_at(opt, bytes, pos, nbytes);
}

/* number of bytes of the delimiter */
CSV_INLINE uint32_t
csv_delimiter_length(const CsvDialectOptions *opt)
{
	return 1 + (uint32_t) opt->delimiter_rest_length;
}

/* is the rest of the delimiter behind bytes[pos], which is its first byte? */
CSV_INLINE bool
csv_delimiter_rest_at(const CsvDialectOptions *opt, const uint8_t *bytes, size_t pos,
					  size_t nbytes)
{
	if (opt->delimiter_rest_length >= nbytes - pos)
		return false;
	for (size_t i = 0; i < opt->delimiter_rest_length; i++)
		if (bytes[pos + 1 + i] != opt->delimiter_rest[i])
			return false;
	return true;
}

/* is the delimiter at bytes[pos]? */
CSV_INLINE bool
csv_delimiter_at(const CsvDialectOptions *opt, const uint8_t *bytes, size_t pos,
				 size_t nbytes)
{
	return pos < nbytes && bytes[pos] == opt->delimiter &&
		csv_delimiter_rest_at(opt, bytes, pos, nbytes);
}

CSV_INLINE bool
csv_is_blank(uint8_t byte)
{
	return byte == ' ' || byte == '\t';
}

/* does the CR at bytes[pos] belong to a break, which may have trim_crs CRs? */
CSV_INLINE bool
csv_cr_in_break(uint32_t trim_crs, const uint8_t *bytes, size_t pos, size_t nbytes)
{
	for (; trim_crs > 0 && pos + 1 < nbytes; trim_crs--)
	{
		if (bytes[++pos] == '\n')
			return true;
		if (bytes[pos] != '\r')
			return false;
	}
	return false;
}

/*
 * The number of CRs at the end of the bytes that, in some dialect, may belong to a
 * break whose LF follows.
 */
CSV_INLINE uint32_t
csv_crs_at_end(const uint8_t *bytes, size_t nbytes)
{
	uint32_t	ncrs = 0;

	while (ncrs < CSV_BREAK_CRS && ncrs < nbytes && bytes[nbytes - 1 - ncrs] == '\r')
		ncrs++;
	return ncrs;
}

/*
 * Class of bytes[pos], 0 <= pos <= nbytes; pos == nbytes is the end of input.
 *
 * Only bytes in [0, nbytes) are read.  So CRs at the end are data.  That is right at
 * the end of the input; if more input follows, the record is not complete at those CRs.
 */
CSV_INLINE int
csv_class_at(const CsvDialect *dialect, const uint8_t *bytes, size_t pos,
			 size_t nbytes)
{
	uint8_t		byte;
	uint8_t		class_;

	if (pos >= nbytes)
		return CSV_CLASS_END_OF_INPUT;
	byte = bytes[pos];
	if (byte == '\n')
	{
		if (dialect->opt.boundary == CSV_BOUNDARY_CR)
			return CSV_CLASS_OTHER;
		if (dialect->opt.boundary == CSV_BOUNDARY_CRLF &&
			(pos == 0 || bytes[pos - 1] != '\r'))
			return CSV_CLASS_OTHER;
		return CSV_CLASS_BREAK;
	}
	if (byte == '\r')
	{
		if (dialect->opt.boundary == CSV_BOUNDARY_CR)
			return CSV_CLASS_BREAK;
		return csv_cr_in_break(dialect->trim_crs, bytes, pos, nbytes) ?
			CSV_CLASS_PRE_BREAK : CSV_CLASS_OTHER;
	}
	/* a byte that could begin a comment or a delimiter, but does not, is only a byte */
	class_ = dialect->class_of[byte];
	if (class_ == CSV_CLASS_COMMENT ?
		!csv_comment_at(&dialect->opt, bytes, pos, nbytes) :
		class_ == CSV_CLASS_DELIMITER &&
		!csv_delimiter_rest_at(&dialect->opt, bytes, pos, nbytes))
		return dialect->opt.trim && csv_is_blank(byte) ? CSV_CLASS_BLANK :
			CSV_CLASS_OTHER;
	return class_;
}

/*
 * The end of the content of a field that starts at `start`, with its separator at
 * `sep`.  CRs are dropped before a break, but not at the end of the input.  Blanks are
 * dropped by csv_trim(), not here.
 */
CSV_INLINE size_t
csv_content_end(const CsvDialect *dialect, const uint8_t *bytes, size_t start,
				size_t sep, size_t nbytes)
{
	if (sep < nbytes && bytes[sep] == '\n')
		for (uint32_t n = dialect->trim_crs;
			 n > 0 && sep > start && bytes[sep - 1] == '\r'; n--)
			sep--;
	return sep;
}

/*
 * Drop the blanks around the content of a field, for a dialect that trims.  In text
 * format, a blank behind an escape is kept.
 */
CSV_INLINE void
csv_trim(const CsvDialectOptions *opt, const uint8_t *bytes, uint64_t *start,
		 uint64_t *end)
{
	uint64_t	from = *start;
	uint64_t	to = *end;

	while (from < to && csv_is_blank(bytes[from]))
		from++;
	while (from < to && csv_is_blank(bytes[to - 1]))
		to--;
	if (opt->quoting == CSV_QUOTING_TEXT && to < *end)
	{
		uint64_t	escapes = to;

		while (escapes > from && bytes[escapes - 1] == opt->escape)
			escapes--;
		to += (to - escapes) % 2;
	}
	*start = from;
	*end = to;
}

#ifdef __cplusplus
}
#endif

#endif							/* CSV_DIALECT_H */
