/*
 * dialect.h
 *		The CSV dialect, compiled to a transition table.
 *
 * The table is the single source of truth for what a record is.  Everything
 * that reads CSV in this project (the CPU engine, the CUDA engine, and the
 * one-byte-at-a-time reader of the tests) goes by it.  Fast paths may be taken
 * only where a local check shows that they find what the table would find.
 *
 * Each input byte has a class.  Only CR and LF need a neighbour to be
 * classified (see csv_class_at); every other byte is classified by itself.
 * The end of the input counts as one further byte, of class
 * CSV_CLASS_END_OF_INPUT.  From (state, class) the table gives the next state
 * and what happens at that byte:
 *
 *	CSV_START	 the byte is the first of a record
 *	CSV_FIELD	 a field ends before the byte
 *	CSV_RECORD	 a record ends before the byte (never without CSV_FIELD)
 *	CSV_BAD		 that record has a quoting error
 *
 * COPY's text format is such a dialect, too: it has no quotes, and an escape makes
 * the byte after it data, wherever that stands.  A comment, which is a line that begins
 * with a certain string where a record would begin, is no record in any dialect.
 * One rule is not in the table: the last record of a file of that format is none if it is "\.", the end of COPY's data
 * (csv_is_end_of_data).
 *
 * There are two tables.  CSV_NORMAL reads the input; CSV_ALONE reads one line
 * at a time, strictly, and serves the repair of records with quoting errors.
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

typedef enum CsvQuoting
{
	CSV_QUOTING_RFC4180,		/* a quote opens a field only at its start */
	CSV_QUOTING_POSTGRES,		/* a quote opens and closes wherever it is */
	CSV_QUOTING_TEXT			/* no quotes: COPY's text format */
} CsvQuoting;

typedef enum CsvBoundary
{
	CSV_BOUNDARY_AUTO,			/* LF, less one CR before it */
	CSV_BOUNDARY_LF,
	CSV_BOUNDARY_CRLF,
	CSV_BOUNDARY_CR
} CsvBoundary;

typedef enum CsvClass
{
	CSV_CLASS_OTHER,
	CSV_CLASS_DELIMITER,
	CSV_CLASS_QUOTE,			/* also the escape, where they are the same */
	CSV_CLASS_ESCAPE,
	CSV_CLASS_BREAK,			/* last byte of a line break */
	CSV_CLASS_PRE_BREAK,		/* CR that belongs to the LF after it */
	CSV_CLASS_END_OF_INPUT,
	CSV_CLASS_DELIMITER_ESCAPE, /* one byte that serves as both */
	CSV_CLASS_COMMENT,			/* the first byte of the string that begins a
								 * comment; elsewhere as OTHER */
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
	CSV_NUM_STATES				/* the CUDA engine can have no more */
} CsvState;

/* an entry of the table: a state in the low bits, and what happens */
#define CSV_STATE_MASK	0x07
#define CSV_FIELD		0x08
#define CSV_RECORD		0x10
#define CSV_START		0x20
#define CSV_BAD			0x40

typedef enum CsvMode
{
	CSV_NORMAL,
	CSV_ALONE,
	CSV_NUM_MODES
} CsvMode;

#define CSV_COMMENT_BYTES	8

/* what the user chose; plain data */
typedef struct CsvDialectOptions
{
	uint8_t		delimiter;
	uint8_t		quote;			/* 0: the simple format, no quoting */
	uint8_t		escape;			/* 0: as the quote; of text a backslash */
	uint8_t		quoting;		/* CsvQuoting */
	uint8_t		boundary;		/* CsvBoundary */
	bool		multiline;
	bool		blank_is_record;	/* a blank line is a record of one empty
									 * field: one-field files and headers */
	uint8_t		comment_length; /* 0: there are no comments */
	uint8_t		comment[CSV_COMMENT_BYTES]; /* what they begin with */
	uint32_t	footer_rows;	/* records at the end that are no data: the
								 * reader's business, not the engines' */
} CsvDialectOptions;

typedef struct CsvDialect
{
	CsvDialectOptions opt;		/* escape filled in */

	/*
	 * One CR right before a break (and not before the end of the input)
	 * belongs to the break: true for auto and crlf.
	 */
	bool		trim_cr;
	uint8_t		break_byte;		/* CR for cr, else LF */

	/* by byte; CR and LF through csv_class_at only */
	uint8_t		class_of[256];
	uint8_t		table[CSV_NUM_MODES][CSV_NUM_STATES][CSV_NUM_CLASSES];
} CsvDialect;

/*
 * Compile a dialect.  The options are taken as consistent: delimiter, quote
 * and escape are ASCII, none is CR, LF or NUL, and delimiter and quote differ; a comment
 * begins with none of these.
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

/*
 * Is a record with this content the end of the data, if it is the last of the file?
 */
CSV_INLINE bool
csv_is_end_of_data(const CsvDialect *dialect, const uint8_t *record,
				   uint64_t length)
{
	return dialect->opt.quoting == CSV_QUOTING_TEXT && length == 2 &&
		record[0] == dialect->opt.escape && record[1] == '.';
}

/* does the string that begins comments stand here? */
CSV_INLINE bool
csv_comment_at(const CsvDialectOptions *opt, const uint8_t *bytes, size_t pos,
			   size_t nbytes)
{
	if (opt->comment_length == 0 || opt->comment_length > nbytes - pos)
		return false;
	for (size_t i = 0; i < opt->comment_length; i++)
		if (bytes[pos + i] != opt->comment[i])
			return false;
	return true;
}

/* or as much of it as there is before the end of what was read? */
CSV_INLINE bool
csv_comment_begins_at(const CsvDialectOptions *opt, const uint8_t *bytes,
					  size_t pos, size_t nbytes)
{
	size_t		length = nbytes - pos;

	if (length >= opt->comment_length)
		return csv_comment_at(opt, bytes, pos, nbytes);
	for (size_t i = 0; i < length; i++)
		if (bytes[pos + i] != opt->comment[i])
			return false;
	return true;
}

/*
 * Class of bytes[pos], 0 <= pos <= nbytes; pos == nbytes is the end of input.
 *
 * Of the neighbours, and of the string that begins a comment, only bytes inside [0, nbytes) are looked at: a CR that is
 * the last byte is ordinary data, which is right at the end of the input, and
 * where more input is to come the record is not complete at that CR anyhow.
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
		if (dialect->trim_cr && pos + 1 < nbytes && bytes[pos + 1] == '\n')
			return CSV_CLASS_PRE_BREAK;
		return CSV_CLASS_OTHER;
	}
	class_ = dialect->class_of[byte];
	if (class_ == CSV_CLASS_COMMENT &&
		!csv_comment_at(&dialect->opt, bytes, pos, nbytes))
		return CSV_CLASS_OTHER;
	return class_;
}

/*
 * Where the content of a field ends: its separator stands at sep, and it
 * starts at start.  Only before a break, and not at the end of the input, a
 * CR is dropped.
 */
CSV_INLINE size_t
csv_content_end(const CsvDialect *dialect, const uint8_t *bytes, size_t start,
				size_t sep, size_t nbytes)
{
	if (dialect->trim_cr && sep < nbytes && sep > start &&
		bytes[sep] == '\n' && bytes[sep - 1] == '\r')
		return sep - 1;
	return sep;
}

#ifdef __cplusplus
}
#endif

#endif							/* CSV_DIALECT_H */
