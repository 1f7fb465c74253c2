/*
 * dialect.h
 *		The CSV dialect, compiled to a transition table.
 *
 * The table is the single source of truth for what a record is.  Everything
 * that reads CSV in this project (the CPU engine, the CUDA engine, and the
 * one-byte-at-a-time reader of the tests) goes by it.  Fast paths may be taken
 * only where a local check shows that they find what the table would find.
 *
 * Each input byte has a class.  CR and LF need a neighbour to be classified, and
 * the first byte of a delimiter of several bytes, or of what begins a comment, those
 * that follow (see csv_class_at); every other byte is classified by itself.
 * The end of the input counts as one further byte, of class
 * CSV_CLASS_END_OF_INPUT.  From (state, class) the table gives the next state
 * and what happens at that byte:
 *
 *	CSV_START	 the byte is the first of a record
 *	CSV_FIELD	 a field ends before the byte
 *	CSV_RECORD	 a record ends before the byte (never without CSV_FIELD)
 *	CSV_BAD		 that record has a quoting error
 *
 * A delimiter of several bytes is one at its first byte, where the field before it
 * ends; the states CSV_STATE_IN_DELIMITER count the bytes that are left of it.
 *
 * COPY's text format is such a dialect, too: it has no quotes, and an escape makes
 * the byte after it data, wherever that stands.  A comment, which is a line that begins
 * with a certain string where a record would begin, is no record in any dialect.
 * One rule is not in the table.  A lone Ctrl-Z, which old programs write, and in that
 * format "\.", the end of COPY's data, do not count as records if a file ends there, or
 * only line breaks follow (csv_is_end_of_data).
 *
 * There are two tables.  CSV_NORMAL reads the input; CSV_ALONE reads one line
 * at a time, strictly, and serves the repair of records with quoting errors.
 * Where such records are read leniently, that is no matter of a table (lenient.h).
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

/* what csv_class_at() looks at, from a byte on */
#define CSV_CLASS_BYTES	8

/* the most CRs that belong to a line break: programs on Windows may write CR CR LF */
#define CSV_BREAK_CRS	2

typedef enum CsvQuoting
{
	CSV_QUOTING_RFC4180,		/* a quote opens a field only at its start */
	CSV_QUOTING_POSTGRES,		/* a quote opens and closes wherever it is */
	CSV_QUOTING_TEXT,			/* no quotes: COPY's text format */
	CSV_QUOTING_LENIENT			/* of values in a line that is read so
								 * (lenient.h), never of a file: that is
								 * RFC4180, and lenient */
} CsvQuoting;

typedef enum CsvBoundary
{
	CSV_BOUNDARY_AUTO,			/* LF, and one or two CRs before it */
	CSV_BOUNDARY_LF,
	CSV_BOUNDARY_CRLF,
	CSV_BOUNDARY_CR
} CsvBoundary;

typedef enum CsvClass
{
	CSV_CLASS_OTHER,
	CSV_CLASS_DELIMITER,		/* its first byte; the others are as they are */
	CSV_CLASS_QUOTE,			/* also the escape, where they are the same */
	CSV_CLASS_ESCAPE,
	CSV_CLASS_BREAK,			/* last byte of a line break */
	CSV_CLASS_PRE_BREAK,		/* CR that belongs to the LF after it */
	CSV_CLASS_END_OF_INPUT,
	CSV_CLASS_DELIMITER_ESCAPE, /* one byte that serves as both */
	CSV_CLASS_COMMENT,			/* the first byte of the string that begins a
								 * comment; elsewhere as OTHER */
	CSV_CLASS_BLANK,			/* of a dialect that trims, where it is nothing else */
	CSV_NUM_CLASSES = 16		/* rounded to a power of two */
} CsvClass;

typedef enum CsvState
{
	CSV_STATE_RECORD_START,
	CSV_STATE_FIELD_START,
	CSV_STATE_UNQUOTED,
	CSV_STATE_QUOTED,
	CSV_STATE_QUOTE_SEEN,		/* quote in a quoted field: doubled or closing */
	CSV_STATE_ESCAPE_SEEN,		/* escape, not the quote, in a quoted field; of
								 * text anywhere */
	CSV_STATE_SKIP_LINE,		/* after text_after_quote, to the line's end */
	CSV_STATE_COMMENT,			/* to the line's end, which ends no record */
	CSV_NUM_NARROW_STATES,		/* most dialects have no others */
	CSV_STATE_AFTER_QUOTE = CSV_NUM_NARROW_STATES,	/* blanks after a closing quote */
	CSV_STATE_IN_DELIMITER,		/* one more byte of it, ... */
	CSV_NUM_STATES = CSV_STATE_IN_DELIMITER + CSV_DELIMITER_REST_BYTES /* ... or up to 7 */
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

/* what the user chose; plain data */
typedef struct CsvDialectOptions
{
	uint8_t		delimiter;		/* its first byte */
	uint8_t		delimiter_rest_length;	/* bytes after that */
	uint8_t		delimiter_rest[CSV_DELIMITER_REST_BYTES];
	uint8_t		quote;			/* 0: the simple format, no quoting */
	uint8_t		escape;			/* 0: as the quote; of text a backslash */
	uint8_t		quoting;		/* CsvQuoting */
	uint8_t		boundary;		/* CsvBoundary */
	bool		multiline;
	bool		lenient;		/* RFC4180: a record with a quoting error is read
								 * once more (lenient.h) */
	bool		blank_is_record;	/* a blank line is a record of one empty
									 * field: one-field files and headers */
	bool		trim;			/* blanks around values do not count */
	uint8_t		comment_length; /* 0: there are no comments */
	uint8_t		comment[CSV_COMMENT_BYTES]; /* what they begin with */
	uint32_t	footer_rows;	/* records at the end that are no data: the
								 * reader's business, not the engines' */
} CsvDialectOptions;

typedef struct CsvDialect
{
	CsvDialectOptions opt;		/* escape filled in */

	/*
	 * How many CRs right before a break (and not before the end of the input)
	 * belong to the break, at most: CSV_BREAK_CRS for auto, and 1 for crlf.
	 */
	uint8_t		trim_crs;
	uint8_t		break_byte;		/* csv_break_byte() */

	/* by byte; CR and LF through csv_class_at only */
	uint8_t		class_of[256];
	uint8_t		table[CSV_NUM_MODES][CSV_NUM_STATES][CSV_NUM_CLASSES];
} CsvDialect;

/* the byte at which records may end */
CSV_INLINE uint8_t
csv_break_byte(const CsvDialectOptions *options)
{
	return options->boundary == CSV_BOUNDARY_CR ? '\r' : '\n';
}

/* a delimiter of CSV_DELIMITER_BYTES at most, in the file's encoding */
extern void csv_dialect_set_delimiter(CsvDialectOptions *options, const char *delimiter);

/* the same, with a zero after it */
extern void csv_dialect_delimiter(const CsvDialectOptions *options,
								  char delimiter[CSV_DELIMITER_BYTES + 1]);

/*
 * Compile a dialect.  The options are taken as consistent: quote and escape are ASCII,
 * none of these and of the delimiter's bytes is CR, LF or NUL, and delimiter and quote
 * differ; a longer delimiter has no quote and no escape in it; a comment begins with
 * none of these, nor the delimiter as a comment does; with trim, none of them but a
 * delimiter is a blank, or begins with one.
 */
extern void csv_dialect_compile(CsvDialect *dialect,
								const CsvDialectOptions *options);

/*
 * A field without this byte is its own value: the quote, or of text the escape; 0 where
 * all fields are.
 */
CSV_INLINE uint8_t
csv_special_byte(const CsvDialectOptions *opt)
{
	return opt->quoting == CSV_QUOTING_TEXT ? opt->escape : opt->quote;
}

/* of empty lines behind the end of the data: pg_dump's files have two */
#define CSV_END_OF_DATA_BYTES 16

#define CSV_CTRL_Z	0x1a

/* does what stands here, nbytes without a line break, say that the data ends? */
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
 * Is a record, from start to end, the end of the data, if the file ends at nbytes?
 * The next record would begin at next, which may be behind that.
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
 * Do comments begin with what stands here, or with as much of it as there is before
 * the end of what was read?
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

/* does the string that begins comments stand here? */
CSV_INLINE bool
csv_comment_at(const CsvDialectOptions *opt, const uint8_t *bytes, size_t pos,
			   size_t nbytes)
{
	return opt->comment_length <= nbytes - pos &&
		csv_comment_begins_at(opt, bytes, pos, nbytes);
}

/* the bytes of a delimiter */
CSV_INLINE uint32_t
csv_delimiter_length(const CsvDialectOptions *opt)
{
	return 1 + (uint32_t) opt->delimiter_rest_length;
}

/* does the delimiter's rest stand behind bytes[pos], which is its first byte? */
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

/* does the delimiter stand here? */
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

/*
 * The class of a byte that is the first of a delimiter or a comment, but was found not
 * to begin one.
 */
CSV_INLINE int
csv_class_without_rest(const CsvDialectOptions *opt, uint8_t byte)
{
	return opt->trim && csv_is_blank(byte) ? CSV_CLASS_BLANK : CSV_CLASS_OTHER;
}

/* does the CR at bytes[pos] belong to a break, before which so many CRs do? */
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
 * How many CRs at the end of some bytes may belong to a break whose LF is behind them, in
 * any dialect.
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
 * Of the neighbours, and of delimiters and what begins comments, only bytes inside
 * [0, nbytes) are looked at: CRs that are the last bytes are ordinary data, which is right
 * at the end of the input, and where more input is to come the record is not complete at
 * those CRs anyhow.
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
	class_ = dialect->class_of[byte];
	if (class_ == CSV_CLASS_COMMENT ?
		!csv_comment_at(&dialect->opt, bytes, pos, nbytes) :
		class_ == CSV_CLASS_DELIMITER &&
		!csv_delimiter_rest_at(&dialect->opt, bytes, pos, nbytes))
		return csv_class_without_rest(&dialect->opt, byte);
	return class_;
}

/*
 * Where the content of a field ends: its separator stands at sep, and it
 * starts at start.  Only before a break, and not at the end of the input,
 * CRs are dropped.  Blanks are csv_trim()'s.
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
 * Drop the blanks around the content of a field, of a dialect that trims: of text, one
 * that is escaped stays.
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
