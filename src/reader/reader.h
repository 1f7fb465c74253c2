/*
 * reader.h
 *		From bytes of CSV to batches of fixed-width arrays: the seam between
 *		PostgreSQL and the engines.
 *
 * The way of the data:
 *
 *	1. A CsvReader (stream.c) pulls bytes from a callback into its input
 *	   buffer, drops a byte-order mark, finds out the record boundary where it
 *	   is 'auto', and passes over the header records.
 *	2. It hands what it has, which starts at a record, to an engine as a
 *	   CsvInput.  The engine reads as many whole records as there are and fills
 *	   a CsvBatch; the rest stays in the buffer and is handed over again with
 *	   more bytes behind it.  A record longer than the buffer makes it grow, up
 *	   to max_record_bytes.
 *	3. A CsvBatch holds one array per wanted column (CsvColumn), with one entry
 *	   per good record (a row), and the list of the bad records between them.
 *
 * The library is plain C and knows neither PostgreSQL nor CUDA.  It owns no
 * global state.  All its memory comes from a CsvMemory, which may be a
 * PostgreSQL memory context; a callback may leave by longjmp, if the owner of
 * that memory then gives it back as a whole.
 *
 * Arrays.  A column's array has nrows entries of `stride` bytes, and beside
 * it one status byte per row.  Where the status is CSV_VALUE_OK the entry is:
 *
 *	kind				entry
 *	TEXT				varlena with a 4-byte header, then the bytes
 *	CSTRING				the same, with at least one zero byte after the value
 *	BOOL				uint8_t 0 or 1
 *	INT2, INT4, INT8	the integer
 *	FLOAT4, FLOAT8		the IEEE number
 *	NUMERIC				varlena with a 4-byte header, in PostgreSQL's short format
 *	DECIMAL64			int64_t, a numeric of up to 18 digits times 10^scale
 *	DECIMAL128			the same of up to 38 digits in 16 bytes
 *	SCALED				a numeric of up to 36 digits with its own scale: of the
 *						integer that is the numeric times 10^scale the low 64
 *						bits, then the high 58 bits, times 64, plus the scale
 *	DATE				int32_t, days since 2000-01-01
 *	TIMESTAMP(TZ)		int64_t, microseconds since 2000-01-01 (UTC)
 *	UUID				16 bytes
 *
 * "varlena header" is the header of a plain 4-byte varlena on a little-endian
 * machine: total length including the header, shifted left by two.  Big-endian
 * machines are not supported.
 *
 * With any other status the entry has no meaning:
 *
 *	CSV_VALUE_NULL		NULL
 *	CSV_VALUE_DOUBTFUL	the engine could not convert the value with certainty,
 *						or it equals the `default` string, or it has bytes
 *						beyond ASCII in an encoding other than UTF-8: whoever
 *						takes the batch decides, by the field's own bytes.
 *						With CSV_ENCODING_UTF8 these bytes are known to be
 *						valid, free of NULs and within the limits, unless
 *						the layout has bad_is_doubtful, or the row is
 *						read leniently.
 *	CSV_VALUE_LONG		TEXT and CSTRING only: a good value, too wide for this
 *						batch's stride; to be taken from the field's own bytes
 *
 * For those, row_offsets tells where the record starts in batch->bytes, and
 * csv_scan_row() finds its fields.
 *
 * A record with a quoting error is a row, too, if the dialect is lenient, and its first
 * line has the right number of fields by lenient.h.  All of its values are DOUBTFUL, or
 * NULL where the line lacks the field.
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
 * Memory for everything the reader and the CPU engine hold.  alloc returns
 * NULL where there is none (or leaves by longjmp); the memory is aligned to 8
 * bytes at least and not cleared.
 */
typedef struct CsvMemory
{
	void	   *(*alloc) (void *owner, size_t nbytes);
	void		(*free) (void *owner, void *memory);
	void	   *owner;
} CsvMemory;

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

/* ---- what is wanted of a record ---- */

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
	CSV_KIND_UUID,
	CSV_KIND_DECIMAL64,
	CSV_KIND_DECIMAL128,
	CSV_KIND_SCALED,
	CSV_NUM_KINDS
} CsvKind;

/*
 * How a date or timestamp is written, in the order of the text: printable ASCII stands
 * for itself, and these for numbers and names, as in to_timestamp() (patterns.h).
 */
typedef enum CsvPatternStep
{
	CSV_STEP_END,				/* at once: as the type's input function reads it */
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
	CSV_STEP_EPOCH,				/* alone: seconds since 1970 */
	CSV_STEP_EPOCH_MS,
	CSV_STEP_EPOCH_US,
	CSV_NUM_PATTERN_STEPS
} CsvPatternStep;

/* the end included; longer patterns are PostgreSQL's alone */
#define CSV_PATTERN_STEPS	24

/* one wanted column */
typedef struct CsvColumn
{
	uint32_t	field;			/* 0-based field of the file, or CSV_ABSENT_FIELD */
	uint32_t	attnum;			/* orders errors among columns of one field */
	uint8_t		kind;			/* CsvKind */
	bool		force_null;
	bool		force_not_null;
	bool		pad_blanks;		/* TEXT, char(n): pad to type_chars */
	int32_t		max_chars;		/* -1: none; of every kind, as byte_width */
	int32_t		byte_width;		/* most bytes of the value's text; -1: none */

	/*
	 * TEXT: n of varchar(n) and char(n), else -1.  Blanks beyond are cut; any
	 * other excess is too_many_chars, unless max_chars is given: then it is
	 * doubtful.
	 */
	int32_t		type_chars;
	int16_t		precision;		/* NUMERIC: precision, or -1 without typmod;
								 * DECIMAL: 1 to 18 or 38;
								 * TIMESTAMP: digits of the fraction, or -1 */
	int16_t		scale;			/* NUMERIC, DECIMAL: 0 <= scale <= precision */
	uint8_t		thousands;		/* numbers: what may stand between groups of three
								 * digits, ASCII; 0: nothing */
	uint8_t		pattern[CSV_PATTERN_STEPS]; /* DATE, TIMESTAMP(TZ): CsvPatternSteps;
								 * TIMESTAMPTZ: with a zone */
	uint32_t	nulls_from;		/* of the layout's null_values, bytes [from, to) */
	uint32_t	nulls_to;
} CsvColumn;

typedef enum CsvEncoding
{
	CSV_ENCODING_UTF8,			/* checked by the engine */
	CSV_ENCODING_OTHER			/* values beyond ASCII are doubtful */
} CsvEncoding;

/*
 * Most fields of a record: far above any real file, far below where separators
 * of a record add up.
 */
#define CSV_MAX_FIELDS	100000

/*
 * The field of a column that the file lacks: no record has so many, so that it is
 * NULL in all rows, as a field is that a record lacks.
 */
#define CSV_ABSENT_FIELD	INT32_MAX

/* most bytes of one of the null_values below */
#define CSV_MAX_NULL_VALUE_BYTES	255

/* what a record of the file is, and what is wanted of it; plain data */
typedef struct CsvLayout
{
	uint32_t	nfields;		/* fields a record must have */
	bool		pad;			/* ragged 'pad': missing trailing fields are
								 * NULL, surplus ones are dropped */
	uint8_t		encoding;		/* CsvEncoding */
	uint8_t		decimal_separator;	/* '.' or ',' */
	bool		has_default;	/* an unquoted value equal to default_bytes is
								 * doubtful */
	bool		want_positions; /* row_offsets and row_lines even where no row
								 * needs them */
	bool		bad_is_doubtful;	/* a value that would make its record bad is
									 * doubtful instead */
	const uint8_t *null_bytes;	/* an unquoted value equal to these is NULL */
	uint32_t	null_length;
	uint32_t	default_length;
	const uint8_t *default_bytes;
	const uint8_t *null_values; /* what else is NULL in some columns: of each value
								 * a byte with its length, and its bytes */
	uint32_t	null_values_length;
	uint32_t	ncolumns;
	const CsvColumn *columns;	/* in order of (field, attnum) */
} CsvLayout;

/* ---- what comes back ---- */

typedef enum CsvValueStatus
{
	CSV_VALUE_OK,
	CSV_VALUE_NULL,
	CSV_VALUE_DOUBTFUL,
	CSV_VALUE_LONG
} CsvValueStatus;

/* in the order in which they are looked for in a record, and in a field */
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
	CSV_ERROR_SET_NULL,			/* of no record: a value of a row is NULL instead */
	CSV_NUM_ERRORS
} CsvErrorCode;

/*
 * A bad record.  record, line and offset count from the start of the batch.
 * length is that of the skipped text: the record without its boundary, or
 * where it covers several lines and has a quoting or length error, its first
 * line (as much of it as is in the input).
 */
typedef struct CsvError
{
	uint64_t	offset;			/* of the record's first byte */
	uint64_t	length;
	uint32_t	record;			/* records, good and bad, before this one */
	uint32_t	line;			/* line breaks before this one */
	uint32_t	before_row;		/* good records before this one */
	uint8_t		code;			/* CsvErrorCode */
	uint8_t		mode;			/* CsvMode in which the record was read; from
								 * column_count on, where both read the same,
								 * CSV_NORMAL */

	/*
	 * column_count: the fields found.  text_after_quote, unterminated_quote:
	 * the 0-based field.  The field errors: the index in layout->columns.
	 */
	uint32_t	where;
} CsvError;

typedef struct CsvArray
{
	uint8_t    *values;			/* nrows x stride bytes */
	uint8_t    *status;			/* nrows x CsvValueStatus */
	uint32_t	stride;			/* bytes; a multiple of 4 but for BOOL, INT2 */
	bool		all_ok;			/* every status is CSV_VALUE_OK */
	bool		any_slow;		/* some status is DOUBTFUL or LONG */
} CsvArray;

/*
 * In row_offsets: the row is read leniently (lenient.h).  Offsets are below 2 GB.
 */
#define CSV_ROW_LENIENT	UINT32_C(0x80000000)
#define CSV_ROW_OFFSET(entry)	((entry) & ~CSV_ROW_LENIENT)

/*
 * One engine call's result.  Everything it points to belongs to the engine (or
 * the reader).  An engine's batch lives until the next call with the same
 * output, or close; a reader's until the next call that may read or change the
 * engine.
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
	 * Where each row starts: bytes and line breaks from the start of the
	 * batch.  NULL where the layout does not ask and no array is any_slow.
	 * With the offset stands CSV_ROW_LENIENT, where it applies.
	 */
	uint32_t   *row_offsets;
	uint32_t   *row_lines;

	const uint8_t *bytes;		/* the input the batch was read from, which may be
								 * NULL where csv_batch_needs_bytes() says so */
	uint64_t	nbytes;

	/*
	 * Not NULL: the engine has evaluated the query that it was given.  Then
	 * arrays, row_offsets and row_lines have entries only for the rows of the
	 * answer's selection, one after the other, and a column that nobody will
	 * look at has no values (NULL).  nrows and all else do not change.
	 */
	const struct CsvAnswer *answer;
	void	   *note;			/* what a CsvBatchHook has left; NULL: nothing */

	/* the batch's place in the file, filled in by the reader */
	uint64_t	file_offset;	/* bytes before the batch, BOM included */
	uint64_t	file_records;	/* records before the batch, after the header */
	uint64_t	file_lines;		/* line breaks before the batch */

	/* for the reader: how to go on */
	uint64_t	consumed;		/* bytes of the input that are done with */
	uint64_t	alone_until;	/* as in CsvInput, counted from the start of
								 * the same input */
	bool		skip_line;

	/* how long it took, in seconds, for EXPLAIN; zero where it does not apply */
	double		copy_in_seconds;
	double		parse_seconds;
	double		copy_out_seconds;

	/*
	 * Of parse_seconds, the device's own: for the structure; and in all, from
	 * there until the columns are filled and the query is answered, waits for
	 * the host among them.
	 */
	double		structure_seconds;
	double		device_seconds;
} CsvBatch;

/* ---- engines ---- */

/*
 * What an engine is given.  bytes[0] is the first byte of a record (or, with
 * skip_line, of the rest of a line to be passed over).  64 bytes before
 * `bytes` and after its end may be read, with no meaning.
 *
 * The repair rule: lines that begin before alone_until are read alone, with
 * the table CSV_ALONE; from the first line that begins at or after it, normal
 * reading resumes.  0 where there is nothing to repair.
 */
typedef struct CsvInput
{
	const uint8_t *bytes;		/* NULL: the engine has them (CsvOwnBytes), from */
	uint64_t	offset;			/* there on in the file */
	uint64_t	nbytes;			/* below 2 GB */
	uint64_t	alone_until;
	uint64_t	max_record_bytes;
	bool		at_end;			/* the input ends here, */
	bool		has_footer;		/* as a footer follows: what ends a file of text
								 * does not stand here */
	bool		skip_line;
	uint32_t	output;			/* which of the engine's sets of arrays to
								 * fill, below noutputs */

	/*
	 * What is known to come: the last next_nbytes bytes of the input after
	 * this one, or of a later one.  An engine may copy them to its device
	 * already.  They stay as they are until an input has ended with them, or
	 * free_input.  NULL where nothing is known.
	 */
	const uint8_t *next;
	uint64_t	next_nbytes;

	/*
	 * Called now and then while the engine works; true: give up at once and
	 * return CSV_INTERRUPTED.  May be NULL.
	 */
	bool		(*interrupted) (void *arg);
	void	   *interrupted_arg;
} CsvInput;

/*
 * An engine.  parse reads the whole records of the input:
 *
 * - A record of more than max_record_bytes bytes (its boundary not counted) is
 *   record_too_long.  Its first line is skipped; further lines that begin
 *   within max_record_bytes of its start are read alone.
 * - A record with a quoting error that covers several lines: likewise for all
 *   further lines of the record.
 * - A record that is not complete, and not at_end, is left for the next call
 *   unless more than max_record_bytes + CSV_BREAK_CRS bytes of it are there
 *   (CRs of its boundary): then it is too long.  Where its first line (or the
 *   line that is read alone) is not complete, all of the input is consumed and
 *   skip_line set: the next input starts with the rest of that line.  (CRs at
 *   the end, csv_crs_at_end(), are not consumed then: they may belong to a break.)
 * - Otherwise consumed may stop short of a whole record only if at least one
 *   record is consumed.  So the caller can always go on, by more bytes or by
 *   calling again.
 *
 * parse may be called again with the same input after CSV_INTERRUPTED or an
 * error.  The dialect and layout given to configure must outlive their use.
 *
 * An engine with more than one output may be called in a thread of the
 * reader's, with all signals blocked: never in two threads at once, but
 * alloc_input and free_input may be called in any while parse is at work.  The
 * CsvMemory of the engine and the reader must bear that.
 */
typedef struct CsvEngine
{
	const char *name;			/* cpu, cuda */

	/* which instructions or which device; lives as long as the engine */
	const char *(*detail) (void *engine);
	CsvStatus	(*configure) (void *engine, const CsvDialect *dialect,
							  const CsvLayout *layout);
	CsvStatus	(*parse) (void *engine, const CsvInput *input,
						  CsvBatch *batch);

	/* input buffers, for engines that want pinned memory; NULL: CsvMemory's */
	void	   *(*alloc_input) (void *engine, size_t nbytes);
	void		(*free_input) (void *engine, void *memory);
	const char *(*message) (void *engine);	/* of the last failure */
	void		(*close) (void *engine);	/* also after a failure */
	size_t		default_chunk_bytes;
	size_t		first_chunk_bytes;	/* a small one, for a soon first row */
	uint32_t	noutputs;		/* batches that can live at a time; from 2 on
								 * the reader parses ahead of the caller */

	/*
	 * From the next call of parse on, have the engine evaluate a query (see
	 * query.h), in the layout that it was configured with; no longer with NULL,
	 * or after configure.  It keeps no pointer to the request.  False: it does
	 * not, for this query or at all.  Where it does, batches may still come
	 * without an answer.  In any thread, also while parse is at work.  NULL: the
	 * engine never does.
	 */
	bool		(*set_query) (void *engine, const struct CsvRequest *request);

	/*
	 * Groups that the engine has held (CsvAnswer.held) since it was opened: as
	 * many of them as it sees fit, from number `first` on; none, if there are no
	 * more.  They live until the next call.  Not while parse is at work.  NULL:
	 * the engine holds none.
	 */
	CsvStatus	(*held_groups) (void *engine, uint32_t first,
								struct CsvPartialGroups *groups);

	/*
	 * Another engine of the same kind, not configured, for one of several threads
	 * that parse a piece of a file each; closed by whoever has opened it.  NULL
	 * (here: the engine is none for that): there is no memory.
	 */
	void	   *(*another) (void *engine);
	uint32_t	(*nthreads) (void *engine); /* how many there may be */
} CsvEngine;

/* the CPU engine; NULL where memory or the instruction set is not there */
typedef enum CsvIsa
{
	CSV_ISA_BEST,				/* the best of those the processor has */
	CSV_ISA_SWAR,
	CSV_ISA_AVX2,
	CSV_ISA_AVX512
} CsvIsa;

typedef struct CsvCpuOptions
{
	CsvIsa		isa;
	uint32_t	threads;		/* that take pieces of a file; 0: only the
								 * caller's */
	uint32_t	part_bytes;		/* rows are filled in parts of so many bytes of
								 * input or more; 0: what is best */
} CsvCpuOptions;

extern const CsvEngine csv_cpu_engine;
extern void *csv_cpu_open(const CsvMemory *memory,
						  const CsvCpuOptions *options);
extern const char *csv_cpu_isa_name(void);	/* of CSV_ISA_BEST */

/* ---- the reader of one file after the other ---- */

typedef struct CsvReader CsvReader;

/*
 * Read up to nbytes bytes into buffer; 0 at the end.  There is no error
 * return: a failure leaves by longjmp, or ends the input.
 */
typedef size_t (*CsvReadFn) (void *arg, uint8_t *buffer, size_t nbytes);

typedef struct CsvReaderOptions
{
	CsvDialectOptions dialect;
	uint32_t	header_rows;
	uint64_t	max_record_bytes;
	uint64_t	chunk_bytes;	/* 0: the engine's choice */
	uint32_t	stream_threads; /* most that parse a stream; 0: the engine's choice */
	bool		(*interrupted) (void *arg);
	void	   *interrupted_arg;
} CsvReaderOptions;

/*
 * NULL where there is no memory.  The reader does not own the engine, and may
 * be given another one between two batches (csv_reader_set_engine): the next
 * batch is then read by that one from where the last batch ended.
 */
extern CsvReader *csv_reader_create(const CsvMemory *memory,
									const CsvReaderOptions *options);
extern void csv_reader_free(CsvReader *reader);
extern CsvStatus csv_reader_set_engine(CsvReader *reader,
									   const CsvEngine *engine, void *state);

/*
 * Start at the top of a file: drops a BOM, finds out the boundary, passes over
 * the header.  CSV_OK, also where the file has fewer header records than
 * header_rows.  After a failure, CSV_INTERRUPTED among them, the call may be
 * repeated and goes on where it was, unless csv_reader_leave() comes first.
 */
extern CsvStatus csv_reader_open(CsvReader *reader, CsvReadFn read, void *arg);

/*
 * Start where a reader has come to (csv_reader_place, csv_reader_dialect): the
 * callback gives the bytes from there on, and batches are those that would have
 * come next there.  This dialect is the file's, not the options'; a header is not
 * looked for.
 */
extern void csv_reader_open_at(CsvReader *reader, CsvReadFn read, void *arg,
							   const struct CsvFilePlace *place,
							   const CsvDialect *dialect);

/*
 * A file of which any part can be read at any time, by several threads at once;
 * others are streams.
 */
typedef struct CsvReadAhead
{
	/*
	 * As pread(2).  Called in threads of the reader's, where all signals are
	 * blocked.
	 */
	ssize_t		(*read_at) (void *arg, uint8_t *buffer, size_t nbytes,
							uint64_t offset);

	/* have the CsvReadFn go on from this offset; called in the caller's thread */
	void		(*seek) (void *arg, uint64_t offset);
	void	   *arg;
	int			nthreads;		/* that may read at once */

	/*
	 * Not 0: how long the file is.  Then several threads may take pieces of it, if
	 * the engine has some; what comes behind that is not read.
	 */
	uint64_t	file_bytes;
} CsvReadAhead;

/*
 * The file that was opened is such a file: its CsvReadFn began at offset 0, or
 * at that of the place.  If the engine can live with it, the reader then reads
 * and parses ahead of csv_reader_next, in threads of its own.  Where reading
 * fails, the CsvReadFn is called for the same bytes, to fail in the caller's
 * thread.
 */
extern void csv_reader_read_ahead(CsvReader *reader, const CsvReadAhead *ahead);

/*
 * Bytes of the file that the engine has itself, or is about to have.  await() waits
 * until *nbytes from this offset on are there; there are fewer, and *at_end, where the
 * file ends.  CSV_OK; CSV_UNREADABLE with errno; CSV_INTERRUPTED; or the engine's own
 * failure.
 */
typedef struct CsvOwnBytes
{
	CsvStatus	(*await) (void *arg, uint64_t offset, uint64_t *nbytes,
						  bool *at_end);
	void	   *arg;
} CsvOwnBytes;

/*
 * The file that was opened is such a file, from the reader's place on; not one with a
 * footer, whose end is looked at.  Batches have
 * the bytes of records only where somebody may look at them: where there are errors,
 * or doubtful values.  A batch lives until as many more have been asked for as the
 * engine has outputs.
 */
extern void csv_reader_use_own(CsvReader *reader, const CsvOwnBytes *own);

/*
 * Go on from another place of the file that was opened, whose callback reads from there
 * (if the engine has not its bytes), and with a chunk of about nbytes.  No threads
 * read ahead from then on.
 */
extern void csv_reader_go_to(CsvReader *reader, const struct CsvFilePlace *place,
							 uint64_t nbytes);

/* chunks of the engine's choice may grow to so many times their size */
extern void csv_reader_grow_chunks(CsvReader *reader, uint32_t times);

/*
 * Called by each of several threads that parse a file, for its batches: so that
 * more is done with them there.  It may set batch->answer, or note.  thread: below
 * CSV_MAX_THREADS; slot: below CSV_BATCH_SLOTS, no other batch has it until the
 * one that follows this one was taken.  False: nobody is going to look at the
 * batch's arrays, errors or bytes.
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
 * From now on (NULL: no longer), until csv_reader_leave().  Batches may still come
 * for which it was not called.
 */
extern void csv_reader_set_hook(CsvReader *reader, const CsvBatchHook *hook);

/*
 * Is no thread ahead of the caller?  Else none of them goes on from here: ask
 * again after the next batch.  So nothing that the hook has seen is read again
 * with another engine.
 */
extern bool csv_reader_settle(CsvReader *reader);

/*
 * Let go of the file that is open, before it is closed: when this returns, no
 * thread reads it any more.  The batch taken last is gone with it.
 */
extern void csv_reader_leave(CsvReader *reader);

/*
 * The last header record of the file that is open: its bytes, without the
 * boundary, and its fields' separators; false where the file has no such
 * record.  To be called before csv_reader_set_layout.
 */
typedef struct CsvRecord
{
	const uint8_t *bytes;
	uint64_t	length;
	uint32_t	nfields;
	const uint32_t *separators; /* nfields of them, the last is the end; but no more
								 * than CSV_MAX_FIELDS */
	bool		lenient;		/* as in CsvScan */
} CsvRecord;

extern bool csv_reader_header(CsvReader *reader, CsvRecord *header);

/*
 * Where reading goes on (place.h): after csv_reader_open, at the first record
 * behind the header.
 */
extern const struct CsvFilePlace *csv_reader_place(const CsvReader *reader);

/*
 * The bytes from that place on that were read already, of a file that is a stream;
 * no thread may be ahead (csv_reader_settle).
 */
extern const uint8_t *csv_reader_rest(const CsvReader *reader,
									  uint64_t *nbytes);

/*
 * To be called after each csv_reader_open or csv_reader_open_at; the layout must
 * outlive its use.
 */
extern CsvStatus csv_reader_set_layout(CsvReader *reader,
									   const CsvLayout *layout);

/*
 * The next batch: CSV_OK, CSV_END where the file has no more records, or a
 * failure, after which the call may be repeated (with another engine, say): it
 * reads the same bytes.  A batch may have neither rows nor errors.
 */
extern CsvStatus csv_reader_next(CsvReader *reader, CsvBatch *batch);
extern const CsvDialect *csv_reader_dialect(const CsvReader *reader);
extern const char *csv_reader_message(const CsvReader *reader);
extern double csv_reader_read_seconds(const CsvReader *reader);

/* most threads that have parsed a file; 0: none but the caller's */
extern uint32_t csv_reader_nthreads(const CsvReader *reader);

/* ---- single records, for whoever takes a batch (record.c) ---- */

/* a growing list of separators, and what the machine found */
typedef struct CsvScan
{
	uint32_t   *separators;		/* offsets from the start of the record */
	uint32_t	nfields;
	uint32_t	capacity;
	uint32_t	most;			/* how many separators are kept, the first; the memory
								 * for a record is bounded by it; 0: all are kept */
	bool		complete;		/* a boundary or the end of input was met */
	bool		is_record;		/* false: only blank lines, or nothing */
	bool		bad;			/* has a quoting error; last_state tells which */
	bool		lenient;		/* csv_scan_lenient() has read it: values are by
								 * csv_lenient_dialect() */
	uint8_t		last_state;		/* CsvState before the boundary */
	bool		has_break;		/* a line break ends the record */
	uint32_t	nbreaks;		/* those inside it */
	uint64_t	start;			/* first byte of the record */
	uint64_t	end;			/* its end, without the boundary */
	uint64_t	next;			/* first byte after the boundary */

	/* as in CsvInput; whoever makes a scan says it, or NULL */
	bool		(*interrupted) (void *arg);
	void	   *interrupted_arg;
} CsvScan;

/* so many bytes of a file of boundary 'auto' are looked at for its LFs */
#define CSV_BOUNDARY_BYTES	(1024 * 1024)

/* of the first bytes of such a file; zeros at its beginning */
typedef struct CsvBoundaryLook
{
	uint64_t	pos;			/* bytes that were looked at */
	uint8_t		state;			/* CsvState behind them */
	bool		lone_cr;		/* CRs outside quotes, and no LF: they end records */
} CsvBoundaryLook;

/* the record's fields whose separators are kept */
static inline uint32_t
csv_scan_nkept(const CsvScan *scan)
{
	return scan->most != 0 && scan->nfields > scan->most ? scan->most : scan->nfields;
}

/*
 * Look on for a LF outside quotes (or inside, where quotes hold no line breaks), in a
 * file of boundary 'auto', up to `until`; the meaning of bytes may depend on those up to
 * nbytes.  Returns whether there is one, which settles look->lone_cr.
 */
extern bool csv_look_for_lf(CsvBoundaryLook *look, const CsvDialect *dialect,
							const uint8_t *bytes, uint64_t until, uint64_t nbytes);

/*
 * Run the table over the bytes from `start` up to `until`, from that CsvState, and return
 * the state behind them: CSV_STATE_RECORD_START behind a line break that ends a record or
 * a comment.  The meaning of bytes may depend on those up to nbytes, and on the byte
 * before `start`.
 */
extern uint8_t csv_pass_bytes(const CsvDialect *dialect, uint8_t state, const uint8_t *bytes,
							  uint64_t start, uint64_t until, uint64_t nbytes);

/* the line break at or after `start`, whatever the quotes say; nbytes if there is none */
extern uint64_t csv_find_break(const CsvDialect *dialect, const uint8_t *bytes,
							   uint64_t start, uint64_t nbytes);

/*
 * Run the table over bytes from `start` to the end of the first record there,
 * or to nbytes.  nbytes is the end of the input if at_end.  Blank lines before
 * the record are passed over (and counted in nbreaks, less those inside).
 * Returns CSV_OK, CSV_NO_MEMORY or CSV_INTERRUPTED.
 */
extern CsvStatus csv_scan_record(CsvScan *scan, const CsvMemory *memory,
								 const CsvDialect *dialect, CsvMode mode,
								 const uint8_t *bytes, uint64_t start,
								 uint64_t nbytes, bool at_end);

/*
 * The same of the line at `start`, which is not blank and ends before nbytes or there,
 * by lenient.h: it is a record.
 */
extern CsvStatus csv_scan_lenient(CsvScan *scan, const CsvMemory *memory,
								  const CsvDialect *dialect, const uint8_t *bytes,
								  uint64_t start, uint64_t nbytes);

/* the record of a row, by its entry in row_offsets, in bytes that end there */
extern CsvStatus csv_scan_row(CsvScan *scan, const CsvMemory *memory,
							  const CsvDialect *dialect, const uint8_t *bytes,
							  uint32_t entry, uint64_t nbytes);

/*
 * A field, by its place in the record, below csv_scan_nkept(): its content, quotes
 * and escapes still in it.  (offset, length) into the bytes the record was scanned from.
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
 * The value of a field: quotes and escapes removed, into `value`, which does not
 * overlap and has room for the value, as one of `length` bytes has in any case;
 * all of the room may be written.  Returns the value's length; *quoted tells
 * whether any part of it was quoted.
 */
extern uint64_t csv_field_value(const CsvDialect *dialect,
								const uint8_t *field, uint64_t length,
								uint8_t *value, uint64_t room, bool *quoted);

/*
 * Is it valid UTF-8 without zero bytes?  Then *nchars is the number of its
 * characters.
 */
extern bool csv_check_text(const uint8_t *text, uint64_t nbytes,
						   uint64_t *nchars);

/*
 * The same as csv_field_measure(), see field.h.  `value`: NULL, or room for
 * length bytes, where the value goes as well if it is not the field as it is.
 */
struct CsvMeasure;
extern void csv_fast_measure(const CsvDialect *dialect, const uint8_t *field,
							 uint64_t length, uint8_t *value,
							 struct CsvMeasure *measure);

#ifdef __cplusplus
}
#endif

#endif							/* CSV_READER_H */
