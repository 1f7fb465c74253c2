/*
 * reader.h
 *		From bytes of CSV to batches of fixed-width arrays: the interface between
 *		PostgreSQL and the engines.
 *
 * The way of the data:
 *
 *	1. A CsvReader (stream.c) pulls bytes from a callback into its input
 *	   buffer, drops a byte-order mark, determines the record boundary if it
 *	   is 'auto', and skips the header records.
 *	2. It passes the buffered bytes, which start at a record, to an engine as a
 *	   CsvInput.  The engine reads all whole records in them and fills a
 *	   CsvBatch.  The rest stays in the buffer and is passed again with more
 *	   bytes behind it.  The buffer grows for a record that is longer, up to
 *	   max_record_bytes.
 *	3. A CsvBatch holds one array per wanted column (CsvColumn), with one entry
 *	   per good record (a row), and the list of the bad records between them.
 *
 * The library is plain C and includes nothing of PostgreSQL or CUDA.  It has no
 * global state.  All its memory comes from a CsvMemory, which may be a
 * PostgreSQL memory context.  A callback may leave by longjmp, if the owner of
 * that memory then frees all of it.
 *
 * Arrays.  A column's array has nrows entries of `stride` bytes, and one status
 * byte per row in a second array.  If the status is CSV_VALUE_OK, the entry is:
 *
 *	kind				entry
 *	TEXT				varlena with a 4-byte header, then the bytes
 *	CSTRING				as TEXT, with at least one zero byte after the value
 *	BOOL				uint8_t 0 or 1
 *	INT2, INT4, INT8	the integer
 *	FLOAT4, FLOAT8		the IEEE number
 *	NUMERIC				varlena with a 4-byte header, in PostgreSQL's short format
 *	DECIMAL64			int64_t, a numeric of up to 18 digits times 10^scale
 *	DECIMAL128			16 bytes, a numeric of up to 38 digits times 10^scale
 *	SCALED				a numeric of up to 36 digits with its own scale, as the
 *						integer numeric * 10^scale: its low 64 bits; then its
 *						high 58 bits times 64, plus the scale
 *	DATE				int32_t, days since 2000-01-01
 *	TIMESTAMP(TZ)		int64_t, microseconds since 2000-01-01 (UTC)
 *	UUID				16 bytes
 *
 * The header of a varlena is that of little-endian machines: the length including
 * the header, shifted left by two.  Big-endian machines are not supported.
 *
 * With any other status the entry has no meaning:
 *
 *	CSV_VALUE_NULL		NULL
 *	CSV_VALUE_DOUBTFUL	the engine could not convert the value with certainty,
 *						or it equals the `default` string, or it has bytes
 *						beyond ASCII in an encoding other than UTF-8.  The
 *						consumer of the batch converts the field's bytes.
 *						With CSV_ENCODING_UTF8 these bytes are known to be
 *						valid, free of NULs and within the limits, unless
 *						the layout has bad_is_doubtful, or the row is
 *						read leniently.
 *	CSV_VALUE_LONG		TEXT and CSTRING only: a good value that is too long for
 *						this batch's stride; take it from the field's bytes
 *
 * For DOUBTFUL and LONG, row_offsets tells where the record starts in batch->bytes,
 * and csv_scan_row() finds its fields.
 *
 * If the dialect is lenient, a record with a quoting error is a row, too, if its first
 * line, read as lenient.h says, has the right number of fields.  All of its values are
 * DOUBTFUL, or NULL where the line lacks the field.
 */
#ifndef CSV_READER_H
#define CSV_READER_H

#include "dialect.h"

#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* of query.h */
struct CsvAnswer;
struct CsvRequest;
struct CsvPartialGroups;

/* of place.h */
struct CsvFilePlace;

/* ---- memory and interruption ---- */

/*
 * Memory for everything the reader and the CPU engine hold.  alloc returns NULL
 * if there is no memory (or leaves by longjmp).  The memory is aligned to at
 * least 8 bytes, and not cleared.
 */
typedef struct CsvMemory
{
	void	   *(*alloc) (void *owner, size_t nbytes);
	void		(*free) (void *owner, void *memory);
	void	   *owner;
} CsvMemory;

/* malloc()'s, for any thread (thread.c) */
extern const CsvMemory csv_thread_memory;

typedef enum CsvStatus
{
	CSV_OK,
	CSV_END,					/* no further batch in this file */
	CSV_INTERRUPTED,			/* the interrupt callback said so; call again */
	CSV_NO_MEMORY,
	CSV_DEVICE_FAILED,			/* the GPU; csv_reader_message() says how */
	CSV_UNREADABLE,				/* the file; errno says why (piece.h) */
	CSV_FOOTER_TOO_LONG			/* longer than CSV_FOOTER_BYTES (footer.h) */
} CsvStatus;

/* ---- columns and layouts ---- */

typedef enum CsvKind
{
	CSV_KIND_TEXT,
	CSV_KIND_CSTRING,			/* for an input function, always called */
	CSV_KIND_BOOL,
	CSV_KIND_INT2,
	CSV_KIND_INT4,
	CSV_KIND_INT8,
	CSV_KIND_FLOAT4,
	CSV_KIND_FLOAT8,
	CSV_KIND_NUMERIC,
	CSV_KIND_DATE,
	CSV_KIND_TIMESTAMP,
	CSV_KIND_TIMESTAMPTZ,
	CSV_KIND_TIME,
	CSV_KIND_UUID,
	CSV_KIND_DECIMAL64,
	CSV_KIND_DECIMAL128,
	CSV_KIND_SCALED,
	CSV_NUM_KINDS
} CsvKind;

/*
 * How a date or timestamp is written, step by step.  A byte of printable ASCII stands
 * for itself, and these steps for numbers and names, as in to_timestamp() (patterns.h).
 */
typedef enum CsvPatternStep
{
	CSV_STEP_END,				/* as the first step: no pattern; the value is
								 * written as the type's input function reads it */
	CSV_STEP_YEAR,				/* YYYY */
	CSV_STEP_SHORT_YEAR,		/* YY */
	CSV_STEP_MONTH,				/* MM */
	CSV_STEP_SHORT_MONTH_NAME,	/* Mon */
	CSV_STEP_MONTH_NAME,		/* Month */
	CSV_STEP_DAY,				/* DD */
	CSV_STEP_HOUR,				/* HH24 */
	CSV_STEP_HOUR_OF_12,		/* HH12 */
	CSV_STEP_MINUTE,			/* MI */
	CSV_STEP_SECOND,			/* SS */
	CSV_STEP_FRACTION_1,		/* FF1 to FF6; MS is FF3, and US is FF6 */
	CSV_STEP_FRACTION_6 = CSV_STEP_FRACTION_1 + 5,
	CSV_STEP_AM_PM,				/* AM, PM */
	CSV_STEP_AM_PM_DOTS,		/* A.M., P.M. */
	CSV_STEP_ZONE_HOUR,			/* TZH */
	CSV_STEP_ZONE_MINUTE,		/* TZM */
	CSV_STEP_EPOCH,				/* the only step: seconds since 1970 */
	CSV_STEP_EPOCH_MS,
	CSV_STEP_EPOCH_US,
	CSV_NUM_PATTERN_STEPS
} CsvPatternStep;

/* with the end; only PostgreSQL reads values of longer patterns */
#define CSV_PATTERN_STEPS	24

/* one wanted column */
typedef struct CsvColumn
{
	uint32_t	field;			/* 0-based field of the file, or CSV_ABSENT_FIELD */
	uint32_t	attnum;			/* the order of errors in columns of one field */
	uint8_t		kind;			/* CsvKind */
	bool		force_null;
	bool		force_not_null;
	bool		pad_blanks;		/* TEXT, char(n): pad to type_chars */
	int32_t		max_chars;		/* most characters of the value; -1: no limit */
	int32_t		byte_width;		/* most bytes of its text; both for every kind */

	/*
	 * TEXT: n of varchar(n) and char(n), otherwise -1.  Blanks beyond n are cut.
	 * A value with other characters beyond n is too_many_chars, or, if max_chars
	 * is given, doubtful.
	 */
	int32_t		type_chars;
	int16_t		precision;		/* NUMERIC: precision, or -1 without typmod;
								 * DECIMAL: 1 to 18 or 38;
								 * TIMESTAMP, TIME: digits of the fraction, or
								 * -1 */
	int16_t		scale;			/* NUMERIC, DECIMAL: 0 <= scale <= precision */
	uint8_t		thousands;		/* numbers: the separator (ASCII) that may stand
								 * between groups of three digits; 0: none */
	uint8_t		pattern[CSV_PATTERN_STEPS]; /* DATE, TIMESTAMP(TZ): CsvPatternSteps;
								 * TIMESTAMPTZ: with a zone */
	uint32_t	nulls_from;		/* bytes [from, to) of the layout's null_values */
	uint32_t	nulls_to;
} CsvColumn;

typedef enum CsvEncoding
{
	CSV_ENCODING_UTF8,			/* checked by the engine */
	CSV_ENCODING_OTHER			/* values beyond ASCII are doubtful */
} CsvEncoding;

/*
 * Most fields of a record: far more than any real file has, but few enough that the
 * separators of a record take little memory.
 */
#define CSV_MAX_FIELDS	100000

/*
 * The field of a column that the file lacks.  No record has a field of this number,
 * so the column is NULL in all rows, as a field that a record lacks.
 */
#define CSV_ABSENT_FIELD	INT32_MAX

/* most bytes of one of the null_values below */
#define CSV_MAX_NULL_VALUE_BYTES	255

/* the number of fields, the wanted columns, and the options for both; plain data */
typedef struct CsvLayout
{
	uint32_t	nfields;		/* fields a record must have */
	bool		pad;			/* ragged 'pad': missing trailing fields are
								 * NULL, surplus fields are dropped */
	uint8_t		encoding;		/* CsvEncoding */
	uint8_t		decimal_separator;	/* '.' or ',' */
	bool		has_default;	/* an unquoted value equal to default_bytes is
								 * doubtful */
	bool		want_positions; /* fill row_offsets and row_lines even if no row
								 * needs them */
	bool		bad_is_doubtful;	/* a value that would make its record bad is
									 * doubtful instead */
	const uint8_t *null_bytes;	/* an unquoted value equal to these is NULL */
	uint32_t	null_length;
	uint32_t	default_length;
	const uint8_t *default_bytes;
	const uint8_t *null_values; /* further values that are NULL in some columns:
								 * for each, a byte with its length, and its bytes */
	uint32_t	null_values_length;
	uint32_t	ncolumns;
	const CsvColumn *columns;	/* in order of (field, attnum) */
} CsvLayout;

/* ---- batches ---- */

typedef enum CsvValueStatus
{
	CSV_VALUE_OK,
	CSV_VALUE_NULL,
	CSV_VALUE_DOUBTFUL,
	CSV_VALUE_LONG
} CsvValueStatus;

/* in the order in which a record, and then a field, is checked for them */
typedef enum CsvErrorCode
{
	CSV_ERROR_NONE,
	CSV_ERROR_RECORD_TOO_LONG,
	CSV_ERROR_TEXT_AFTER_QUOTE,
	CSV_ERROR_UNTERMINATED_QUOTE,
	CSV_ERROR_COLUMN_COUNT,
	CSV_ERROR_NUL_BYTE,
	CSV_ERROR_INVALID_UTF8,
	CSV_ERROR_TOO_MANY_CHARS,
	CSV_ERROR_TOO_MANY_BYTES,
	CSV_ERROR_BAD_VALUE,		/* found by input functions, never by engines */
	CSV_ERROR_SET_NULL,			/* not a bad record: a value of a row became NULL */
	CSV_ERROR_REFUSED,			/* nor this: the target of a load refuses the row */
	CSV_NUM_ERRORS
} CsvErrorCode;

/*
 * A bad record.  record, line and offset count from the start of the batch.
 * length is the number of bytes that are skipped: the record without its boundary,
 * or, if it has several lines and a quoting or length error, its first line (as
 * much of it as is in the input).
 */
typedef struct CsvError
{
	uint64_t	offset;			/* of the record's first byte */
	uint64_t	length;
	uint32_t	record;			/* records, good and bad, before this one */
	uint32_t	line;			/* line breaks before this one */
	uint32_t	before_row;		/* good records before this one */
	uint8_t		code;			/* CsvErrorCode */
	uint8_t		mode;			/* CsvMode in which the record was read; for
								 * column_count and the codes after it, which do
								 * not depend on the mode, CSV_NORMAL */

	/*
	 * column_count: the number of fields.  text_after_quote, unterminated_quote:
	 * the 0-based field.  Errors in a field: the index in layout->columns.
	 */
	uint32_t	where;
} CsvError;

typedef struct CsvArray
{
	uint8_t    *values;			/* nrows x stride bytes */
	uint8_t    *status;			/* nrows x CsvValueStatus */
	uint32_t	stride;			/* bytes; a multiple of 4, except for BOOL, INT2 */
	bool		all_ok;			/* every status is CSV_VALUE_OK */
	bool		any_slow;		/* some status is DOUBTFUL or LONG */
} CsvArray;

/*
 * A flag in row_offsets: the row is read leniently (lenient.h).  Offsets are below
 * 2 GB.
 */
#define CSV_ROW_LENIENT	UINT32_C(0x80000000)
#define CSV_ROW_OFFSET(entry)	((entry) & ~CSV_ROW_LENIENT)

/*
 * A record of a kept batch: where it began in the batch's part of the file, and where
 * it is in batch->bytes (not 0).
 */
typedef struct CsvKeptRecord
{
	uint32_t	offset;
	uint32_t	place;
} CsvKeptRecord;

/*
 * The result of one call of an engine.  Everything it points to belongs to the
 * engine or the reader.  The batch of an engine lives until the next call with the
 * same output, or until close; the batch of a reader until the next call that may
 * read or change the engine.
 */
typedef struct CsvBatch
{
	uint32_t	nrows;			/* good records */
	uint32_t	nrecords;		/* good and bad records */
	uint32_t	nerrors;
	uint64_t	nlines;			/* line breaks in the consumed bytes */
	CsvArray   *arrays;			/* one per layout->columns */
	CsvError   *errors;			/* in record order */

	/*
	 * Where each row starts: bytes and line breaks from the start of the batch.
	 * NULL if the layout does not want positions and no array is any_slow.  An
	 * offset may have the flag CSV_ROW_LENIENT.
	 */
	uint32_t   *row_offsets;
	uint32_t   *row_lines;

	const uint8_t *bytes;		/* the input of the batch; may be NULL if
								 * csv_batch_needs_bytes() is false */
	uint64_t	nbytes;

	/*
	 * A batch of resident columns, which cannot be written to.  Its bytes are only the
	 * records that a reader may look into, which this list has in their order:
	 * offsets of rows and errors are not offsets in `bytes`.  csv_scan_row() finds
	 * these records, too.  read_bytes: `consumed`, when it was read.
	 */
	bool		is_resident;
	uint32_t	nkept;
	uint64_t	read_bytes;
	const CsvKeptRecord *records;

	/*
	 * Not NULL: the engine has evaluated the query that it was given.  Then
	 * arrays, row_offsets and row_lines have entries only for the rows of the
	 * answer's selection, one after the other.  A column that is not needed any
	 * more has no values (NULL).  nrows and the other members do not change.
	 */
	const struct CsvAnswer *answer;
	void	   *note;			/* left by a CsvBatchHook, or NULL */

	/* the batch's place in the file, filled in by the reader */
	uint64_t	file_offset;	/* bytes before the batch, BOM included */
	uint64_t	file_records;	/* records before the batch, after the header */
	uint64_t	file_lines;		/* line breaks before the batch */

	/* where the reader continues */
	uint64_t	consumed;		/* bytes of the input that need not be read again */
	uint64_t	alone_until;	/* as in CsvInput, counted from the start of
								 * the same input */
	bool		skip_line;

	/* durations, for EXPLAIN; zero where they do not apply */
	double		read_seconds;	/* of waiting for bytes that the engine has itself */
	double		copy_in_seconds;
	double		parse_seconds;
	double		copy_out_seconds;

	/*
	 * Parts of parse_seconds on the device: for the structure; and from its start until
	 * the columns are filled and the query is answered, including waits for the host.
	 */
	double		structure_seconds;
	double		device_seconds;
} CsvBatch;

/* ---- engines ---- */

/*
 * The input of an engine.  bytes[0] is the first byte of a record (or, with
 * skip_line, of the rest of a line to skip).  The engine may read 64 bytes before
 * `bytes` and after its end; their values have no meaning.
 *
 * The repair rule: each line that begins before alone_until is read alone, with
 * the table CSV_ALONE.  At the first line that begins at or after it, normal
 * reading resumes.  0 if there is nothing to repair.
 */
typedef struct CsvInput
{
	const uint8_t *bytes;		/* NULL: the engine has the bytes (CsvOwnBytes), */
	uint64_t	offset;			/* which begin at this offset of the file */
	uint64_t	nbytes;			/* below 2 GB, if there are bytes */
	uint64_t	alone_until;
	uint64_t	max_record_bytes;
	bool		at_end;			/* no data follows this input */
	bool		has_footer;		/* at_end, but a footer follows: so a mark of the
								 * end of data does not count (dialect.h) */
	bool		skip_line;
	uint32_t	output;			/* which of the engine's sets of arrays to
								 * fill, below noutputs */

	/*
	 * The engine calls it now and then; if it returns true, the engine must return
	 * CSV_INTERRUPTED at once.  May be NULL.
	 */
	bool		(*interrupted) (void *arg);
	void	   *interrupted_arg;
} CsvInput;

/*
 * An engine.  parse reads the whole records of the input:
 *
 * - A record of more than max_record_bytes bytes, without its boundary, is
 *   record_too_long.  Its first line is skipped.  Further lines that begin
 *   within max_record_bytes of its start are read alone.
 * - If a record with a quoting error has several lines, its first line is skipped,
 *   too, and all its further lines are read alone.
 * - A record that is not complete is left for the next call, except at_end, or if
 *   more than max_record_bytes + CSV_BREAK_CRS bytes of it are there (the boundary
 *   may have CRs): then it is too long.  If its first line (or the line that is
 *   read alone) is not complete, all of the input is consumed and skip_line is set:
 *   the next input starts with the rest of that line.  (CRs at the end,
 *   csv_crs_at_end(), are not consumed then: they may belong to a line break.)
 * - Otherwise, whole records may remain that are not consumed only if at least one
 *   record is consumed.  So the caller can always continue, with more bytes or by
 *   another call.
 *
 * parse may be called again with the same input after CSV_INTERRUPTED or an
 * error.  The dialect and layout given to configure must outlive their use.
 *
 * parse never runs in two threads at once.
 */
typedef struct CsvEngine
{
	const char *name;			/* cpu, cuda */

	/* the instruction set or the device; lives as long as the engine */
	const char *(*detail) (void *engine);
	CsvStatus	(*configure) (void *engine, const CsvDialect *dialect,
							  const CsvLayout *layout);
	CsvStatus	(*parse) (void *engine, const CsvInput *input,
						  CsvBatch *batch);
	const char *(*message) (void *engine);	/* of the last failure */
	void		(*close) (void *engine);	/* also after a failure */
	size_t		default_chunk_bytes;
	size_t		first_chunk_bytes;	/* small, so that the first row comes soon */
	uint32_t	noutputs;		/* batches that can live at a time; 0: as 1 */

	/*
	 * Evaluate a query (query.h), from the next call of parse until set_query with
	 * NULL, or configure.  The query is for the layout of the last configure.  The
	 * engine keeps no pointer to the request.  Returns false if the engine cannot
	 * evaluate this query; even if it can, batches may come without an answer.  Not
	 * to be called while parse runs.  NULL: the engine evaluates no queries.
	 */
	bool		(*set_query) (void *engine, const struct CsvRequest *request);

	/*
	 * Groups that the engine has held (CsvAnswer.held) since it was opened, from
	 * number `first` on.  The engine chooses how many it returns; 0: there are no
	 * more.  They live until the next call.  Not to be called while parse runs.
	 * NULL: the engine holds no groups.
	 */
	CsvStatus	(*held_groups) (void *engine, uint32_t first,
								struct CsvPartialGroups *groups);

	/*
	 * Open another engine of the same kind, not configured, for one of several
	 * threads that each parse a piece of a file.  The caller closes it.  Returns NULL
	 * if there is no memory.  The pointer is NULL if the engine cannot do that.
	 */
	void	   *(*another) (void *engine);
	uint32_t	(*nthreads) (void *engine); /* most threads for that */
} CsvEngine;

/* the CPU engine; NULL if there is no memory, or the CPU lacks the instructions */
typedef enum CsvIsa
{
	CSV_ISA_BEST,				/* the best that the processor has */
	CSV_ISA_SWAR,
	CSV_ISA_AVX2,
	CSV_ISA_AVX512
} CsvIsa;

typedef struct CsvCpuOptions
{
	CsvIsa		isa;
	uint32_t	threads;		/* threads that take pieces of a file; 0: only the
								 * caller's */
	uint32_t	part_bytes;		/* rows are filled in parts of at least this many
								 * bytes of input; 0: the engine's choice */
} CsvCpuOptions;

extern const CsvEngine csv_cpu_engine;
extern void *csv_cpu_open(const CsvMemory *memory,
						  const CsvCpuOptions *options);
extern const char *csv_cpu_isa_name(void);	/* of CSV_ISA_BEST */

/* ---- the reader of one file after the other ---- */

typedef struct CsvReader CsvReader;

/*
 * Read up to nbytes bytes into buffer.  Returns 0 at the end.  There is no error
 * code: a failure leaves by longjmp, or ends the input.
 */
typedef size_t (*CsvReadFn) (void *arg, uint8_t *buffer, size_t nbytes);

typedef struct CsvReaderOptions
{
	CsvDialectOptions dialect;
	uint32_t	header_rows;
	uint64_t	max_record_bytes;
	uint64_t	chunk_bytes;	/* 0: the engine's choice */
	uint32_t	stream_threads; /* most threads for a stream; 0: the engine's choice */
	bool		(*interrupted) (void *arg);
	void	   *interrupted_arg;
} CsvReaderOptions;

/*
 * NULL if there is no memory.  The reader does not own the engine.  The caller may
 * change the engine between two batches (csv_reader_set_engine): the new engine
 * continues where the last batch ended.
 */
extern CsvReader *csv_reader_create(const CsvMemory *memory,
									const CsvReaderOptions *options);
extern void csv_reader_free(CsvReader *reader);
extern CsvStatus csv_reader_set_engine(CsvReader *reader,
									   const CsvEngine *engine, void *state);

/*
 * Start at the top of a file: drop a BOM, determine the boundary, skip the header.
 * Returns CSV_OK even if the file has fewer records than header_rows.  After a
 * failure, or CSV_INTERRUPTED, the call may be repeated and continues, except
 * after csv_reader_leave().
 */
extern CsvStatus csv_reader_open(CsvReader *reader, CsvReadFn read, void *arg);

/*
 * The next file to be opened probably has this many bytes.  So memory for a chunk need
 * not grow.  Does the file grow (CsvDialectOptions)?
 */
extern void csv_reader_expect(CsvReader *reader, uint64_t nbytes, bool growing);

/*
 * Are no records there yet, because the file grows and its header is not complete, or
 * its boundary, 'auto', cannot be told yet?  For the file opened last by
 * csv_reader_open().
 */
extern bool csv_reader_waits(const CsvReader *reader);

/* do lone CRs and LFs stand outside quotes in the file's first bytes? */
extern bool csv_reader_mixes_breaks(const CsvReader *reader);

/* with boundary 'auto': does a CR stand before the first LF that ends a line? */
extern bool csv_reader_has_crlf(const CsvReader *reader);

/*
 * Do line breaks of another kind stand outside quotes where they may hide records?  Lone CRs
 * hide them in the header and, with 'auto', in the only field or in surplus fields; LFs
 * hide them anywhere between CRs.  Only the first bytes of the file count.
 */
extern bool csv_reader_has_odd_breaks(const CsvReader *reader);

/*
 * Start where another reader has come to (csv_reader_place, csv_reader_dialect).  The
 * callback returns the bytes from there on, and the batches are those that would
 * have come next there.  `dialect` is used instead of the options' dialect; no header
 * is skipped.
 */
extern void csv_reader_open_at(CsvReader *reader, CsvReadFn read, void *arg,
							   const struct CsvFilePlace *place,
							   const CsvDialect *dialect);

/*
 * A file that can be read at any offset, by several threads at once.  Any other
 * file is a stream.
 */
typedef struct CsvReadAhead
{
	/*
	 * As pread(2).  Called in threads of the reader, where all signals are blocked.
	 * NULL, if the engine has no threads: only the CsvReadFn reads.
	 */
	ssize_t		(*read_at) (void *arg, uint8_t *buffer, size_t nbytes,
							uint64_t offset);

	/* make the CsvReadFn continue at this offset; called in the caller's thread */
	void		(*seek) (void *arg, uint64_t offset);
	void	   *arg;

	/*
	 * Length of the file, or 0.  If it is not 0, several threads may take pieces of
	 * the file, if the engine has threads; bytes beyond it are not read.
	 */
	uint64_t	file_bytes;
} CsvReadAhead;

/*
 * The opened file can be read at any offset.  Its CsvReadFn began at offset 0, or at
 * the offset of the place.  If the engine has threads, these then take pieces of the
 * file, ahead of csv_reader_next.  If reading fails there, the reader calls the
 * CsvReadFn for the same bytes, which then fails in the caller's thread.
 */
extern void csv_reader_read_ahead(CsvReader *reader, const CsvReadAhead *ahead);

/*
 * Bytes of the file that the engine has itself, or will have.  await() waits until
 * *nbytes bytes from this offset on are there.  Where the file ends, it sets *at_end,
 * and *nbytes to fewer bytes.  Returns CSV_OK, CSV_UNREADABLE with errno,
 * CSV_INTERRUPTED, or a failure of the engine.  An engine that finds the file
 * shorter returns CSV_END from parse, and await() is called again.
 */
typedef struct CsvOwnBytes
{
	CsvStatus	(*await) (void *arg, uint64_t offset, uint64_t *nbytes,
						  bool *at_end);
	void	   *arg;
	bool		in_one;			/* an input is all of the rest: the engine parses
								 * as much at a time as it likes */
} CsvOwnBytes;

/*
 * The engine, until it is set again, has the bytes of the opened file, from the
 * reader's place on.  If the file has a footer, csv_reader_read_ahead() must have
 * told its length; the CsvReadFn reads the footer.  Batches have the bytes of
 * records only if these may be needed: for errors and doubtful values.  A batch lives
 * until the caller has asked for n more batches, if the engine has n outputs.
 */
extern void csv_reader_use_own(CsvReader *reader, const CsvOwnBytes *own);

/*
 * When several threads parse a file, each calls the hook for its batches, to do more
 * work in the thread.  The hook may set batch->answer and batch->note.  `thread` is
 * below CSV_MAX_THREADS.  `slot` is below CSV_BATCH_SLOTS; no other batch has the same
 * slot until the batch after this one was taken.  Returns false if the batch's arrays,
 * errors and bytes are not needed any more.
 */
#define CSV_MAX_THREADS	64
#define CSV_BATCH_SLOTS	256

typedef struct CsvBatchHook
{
	bool		(*function) (void *arg, uint32_t thread, uint32_t slot,
							 CsvBatch *batch,
							 bool (*interrupted) (void *interrupted_arg),
							 void *interrupted_arg);
	void	   *arg;
} CsvBatchHook;

/*
 * Set the hook (NULL: remove it).  It stays until csv_reader_leave().  For some batches
 * it may not be called.
 */
extern void csv_reader_set_hook(CsvReader *reader, const CsvBatchHook *hook);

/*
 * Returns true if no thread is ahead of the caller.  Otherwise the threads begin
 * nothing new: ask again after the next batch.  With that, no bytes whose batch the
 * hook has seen are read again with another engine.
 */
extern bool csv_reader_settle(CsvReader *reader);

/*
 * Release the open file, before it is closed: when this returns, no thread reads it
 * any more.  The last batch is no longer valid.
 */
extern void csv_reader_leave(CsvReader *reader);

/*
 * The last header record of the open file: its bytes, without the boundary, and the
 * separators of its fields.  Returns false if the file has no such record.  Call it
 * before csv_reader_set_layout.
 */
typedef struct CsvRecord
{
	const uint8_t *bytes;
	uint64_t	length;
	uint32_t	nfields;
	const uint32_t *separators; /* nfields, but at most CSV_MAX_FIELDS; the last is
								 * the end */
	bool		lenient;		/* as in CsvScan */
} CsvRecord;

extern bool csv_reader_header(CsvReader *reader, CsvRecord *header);

/*
 * The place where the next batch begins (place.h): after csv_reader_open, the first
 * record behind the header.
 */
extern const struct CsvFilePlace *csv_reader_place(const CsvReader *reader);

/*
 * For a caller that takes pieces of the opened file itself (piece.h): reads them
 * with the reader's engine and memory.
 */
extern struct CsvPieceReader *csv_reader_here(CsvReader *reader);

/*
 * The bytes of a stream, from that place on, that were already read.  No thread may be
 * ahead (csv_reader_settle).
 */
extern const uint8_t *csv_reader_rest(const CsvReader *reader,
									  uint64_t *nbytes);

/*
 * Must be called after each csv_reader_open or csv_reader_open_at.  The layout must
 * outlive its use.
 */
extern CsvStatus csv_reader_set_layout(CsvReader *reader,
									   const CsvLayout *layout);

/*
 * The next batch.  Returns CSV_OK, CSV_END if the file has no more records, or a
 * failure.  After a failure the call may be repeated, for example with another engine,
 * and reads the same bytes.  A batch may have neither rows nor errors.
 */
extern CsvStatus csv_reader_next(CsvReader *reader, CsvBatch *batch);
extern const CsvDialect *csv_reader_dialect(const CsvReader *reader);
extern const char *csv_reader_message(const CsvReader *reader);
extern double csv_reader_read_seconds(const CsvReader *reader);

/* the most threads that have parsed a file; 0: only the caller's */
extern uint32_t csv_reader_nthreads(const CsvReader *reader);

/* ---- single records, for consumers of batches (record.c) ---- */

/* one record: a growing list of its separators, and the result of the table */
typedef struct CsvScan
{
	uint32_t   *separators;		/* offsets from the start of the record */
	uint32_t	nfields;
	uint32_t	capacity;
	uint32_t	most;			/* only the first `most` separators are kept, which
								 * bounds the memory; 0: all are kept */
	bool		complete;		/* a boundary or the end of input was found */
	bool		is_record;		/* false: only blank lines, or nothing */
	bool		bad;			/* has a quoting error; last_state tells which */
	bool		lenient;		/* read by csv_scan_lenient(): its values need
								 * csv_lenient_dialect() */
	uint8_t		last_state;		/* CsvState before the boundary */
	bool		has_break;		/* a line break ends the record */
	uint32_t	nbreaks;		/* line breaks inside the record */
	uint64_t	start;			/* first byte of the record */
	uint64_t	end;			/* its end, without the boundary */
	uint64_t	next;			/* first byte after the boundary */

	/* as in CsvInput; set by the caller, may be NULL */
	bool		(*interrupted) (void *arg);
	void	   *interrupted_arg;
} CsvScan;

/* with boundary 'auto', the first bytes of a file that are searched for a LF */
#define CSV_BOUNDARY_BYTES	(1024 * 1024)

/* line breaks of one kind outside quotes, and the records into which they cut the file */
typedef struct CsvLookBreaks
{
	uint64_t	n;
	uint64_t	first;			/* where the first is, and the last */
	uint64_t	last;
	uint64_t	nalike;			/* records with as many fields as the record before */
	uint32_t	nfields;		/* of the record that has begun; 0: it is blank */
	uint32_t	nbefore;		/* of the last record that is not blank; 0: none */
} CsvLookBreaks;

/* a search for line breaks; zeros at the beginning of the file */
typedef struct CsvBoundaryLook
{
	uint64_t	pos;			/* bytes that were searched */
	uint8_t		state;			/* CsvState behind them */
	CsvLookBreaks lfs;
	CsvLookBreaks crs;			/* lone ones */
} CsvBoundaryLook;

/* the number of the record's fields whose separators are kept */
static inline uint32_t
csv_scan_nkept(const CsvScan *scan)
{
	return scan->most != 0 && scan->nfields > scan->most ? scan->most : scan->nfields;
}

/*
 * Continue the search for line breaks outside quotes (LFs also inside, if quoted values
 * have no line breaks) up to `until` or, without `all`, to the first LF.  The dialect's
 * boundary is AUTO.  The meaning of bytes may depend on following bytes, up to nbytes.
 */
extern void csv_look_for_breaks(CsvBoundaryLook *look, const CsvDialect *dialect,
								const uint8_t *bytes, uint64_t until, uint64_t nbytes,
								bool all);

/* do lone CRs end the records, by what was found?  at_end: the file ends there */
extern bool csv_look_finds_crs(const CsvBoundaryLook *look, bool at_end);

/*
 * Run the table over the bytes from `start` up to `until`, beginning with this
 * CsvState, and return the state behind them: CSV_STATE_RECORD_START behind a line
 * break that ends a record or a comment.  The meaning of bytes may depend on following
 * bytes, up to nbytes, and on the byte before `start`.
 */
extern uint8_t csv_pass_bytes(const CsvDialect *dialect, uint8_t state, const uint8_t *bytes,
							  uint64_t start, uint64_t until, uint64_t nbytes);

/* the line break at or after `start`, inside quotes or not; nbytes if there is none */
extern uint64_t csv_find_break(const CsvDialect *dialect, const uint8_t *bytes,
							   uint64_t start, uint64_t nbytes);

/*
 * Run the table over bytes from `start` to the end of the first record there, or to
 * nbytes.  nbytes is the end of the input if at_end.  Blank lines before the record
 * are skipped.  (They are counted in nbreaks only if no record follows.)
 * Returns CSV_OK, CSV_NO_MEMORY or CSV_INTERRUPTED.
 */
extern CsvStatus csv_scan_record(CsvScan *scan, const CsvMemory *memory,
								 const CsvDialect *dialect, CsvMode mode,
								 const uint8_t *bytes, uint64_t start,
								 uint64_t nbytes, bool at_end);

/*
 * Read the line at `start` as a record, as lenient.h says.  It is not blank, and ends
 * at or before nbytes.  Returns as csv_scan_record().
 */
extern CsvStatus csv_scan_lenient(CsvScan *scan, const CsvMemory *memory,
								  const CsvDialect *dialect, const uint8_t *bytes,
								  uint64_t start, uint64_t nbytes);

/*
 * The record of a row, by its entry in row_offsets, or of an error, by its offset.
 * Returns as csv_scan_record(), or CSV_END if a kept batch does not have the record.
 */
extern CsvStatus csv_scan_row(CsvScan *scan, const CsvMemory *memory,
							  const CsvDialect *dialect, const CsvBatch *batch,
							  uint32_t entry);

/*
 * The content of a field, with its quotes and escapes, as offset and length in the
 * bytes that were given to the scan.  `field` must be below csv_scan_nkept().
 */
typedef struct CsvSpan
{
	uint64_t	offset;
	uint64_t	length;
} CsvSpan;

extern CsvSpan csv_scan_field(const CsvScan *scan, const CsvDialect *dialect,
							  const uint8_t *bytes, uint64_t nbytes,
							  uint32_t field);

/*
 * Write the value of a field, without quotes and escapes, to `value`, which must not
 * overlap `field`, and must have room for the value; `length` bytes are always enough.
 * All of the room may be written.  Returns the value's length; *quoted tells whether
 * any part of the field was quoted.
 */
extern uint64_t csv_field_value(const CsvDialect *dialect,
								const uint8_t *field, uint64_t length,
								uint8_t *value, uint64_t room, bool *quoted);

/*
 * Is the text valid UTF-8 without zero bytes?  If so, *nchars is its number of
 * characters.
 */
extern bool csv_check_text(const uint8_t *text, uint64_t nbytes,
						   uint64_t *nchars);

/*
 * The same as csv_field_measure(), see field.h.  is_plain: the field is known to be
 * ASCII without zero bytes.  `value` is NULL or has room for length bytes; the value is
 * written there if it differs from the field.
 */
struct CsvMeasure;
extern void csv_fast_measure(const CsvDialect *dialect, const uint8_t *field,
							 uint64_t length, bool is_plain, uint8_t *value,
							 struct CsvMeasure *measure);

#ifdef __cplusplus
}
#endif

#endif							/* CSV_READER_H */
