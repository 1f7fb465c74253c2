/*
 * parse.cuh
 *		Types and functions that the phases of a call of parse share.
 *
 * The phases, each with its input and output (all on the device, on one stream):
 *
 *	1. structure.cu		bytes -> masks, one bit a byte:
 *							separators	(delimiters that end a field, record ends)
 *							ends		(of records)
 *							starts		(of records)
 *							breaks		(line breaks, also inside quotes)
 *							bad			(ends of records with a quoting error)
 *						-> ranks of each tile: the number of separators, records and
 *						line breaks before it.
 *	   The host plans windows over the ranks: stretches of whole records whose
 *	   index fits into the memory for it.  Mostly there is one window.
 *	   structure.cu		masks of a window -> separator index, record table.
 *	2. records.cu		record table -> structural errors, list of rows (the good
 *						records), irregular records.
 *	3. lengths.cu		rows -> histogram of lengths in text columns.  The host
 *						chooses strides by it.
 *	4. columns.cu, longs.cu
 *						rows -> arrays and statuses.  If a value is bad, its
 *						record's key says so, and phases 2 and 4 are done again
 *						with the other records.
 *	5. records.cu		rows' positions, error table.
 */
#ifndef CSV_CUDA_PARSE_CUH
#define CSV_CUDA_PARSE_CUH

#include "session.h"

/* masks: one 64-bit word for each 64 bytes of input */
typedef enum CsvMask
{
	CSV_MASK_FIELDS,			/* see structure_entry */
	CSV_MASK_ENDS,
	CSV_MASK_STARTS,
	CSV_MASK_BREAKS,
	CSV_MASK_BAD,
	CSV_NUM_MASKS
} CsvMask;

/* the number of each before a tile; the last element holds the totals */
typedef struct CsvRanks
{
	uint32_t	separators;
	uint32_t	ends;
	uint32_t	starts;
	uint32_t	breaks;
} CsvRanks;

/* the state to which a stretch of bytes leads from each state, a nibble each */
typedef uint32_t CsvNarrowMap;
typedef uint64_t CsvWideMap;

/* the dialect as the structure kernels read it */
typedef struct CsvStructureTables
{
	bool		wide;			/* more than CSV_NUM_NARROW_STATES states */
	uint8_t		class_of[256];	/* CsvClass, or a class below */

	/* next states, a byte each; the second half only if wide */
	uint32_t	transitions[CSV_NUM_CLASSES][CSV_NUM_STATES / 4];
	uint8_t		entries[CSV_NUM_STATES * CSV_NUM_CLASSES];
} CsvStructureTables;

/* a break after a CR, otherwise other */
#define CSV_CLASS_LF_AFTER_CR	CSV_NUM_CLASSES
/* pre-break before a LF, other before all but CRs; csv_class_at() decides the rest */
#define CSV_CLASS_CR_BEFORE_LF	(CSV_NUM_CLASSES + 1)
/* comment or delimiter, if its whole string is there; csv_class_at() decides */
#define CSV_CLASS_MAYBE_LONG	(CSV_NUM_CLASSES + 2)

/* flags of a column (CsvView.seen) */
#define CSV_SEEN_NOT_OK		1
#define CSV_SEEN_SLOW		2

typedef struct CsvCounters
{
	uint32_t	nrows;			/* of the window */
	uint32_t	first_irregular;	/* record of the batch; UINT32_MAX: none */
	uint32_t	any_bad;		/* not 0: a record of the window is bad */
	uint32_t	value_errors;	/* not 0: a value of the window is bad */
	uint32_t	nlongs;			/* long fields asked for */
	uint32_t	npieces;		/* pieces of them asked for */
	uint32_t	last_start;		/* position of the last start of a record */
	uint32_t	ends_in_comment;	/* not 0: the input ends in a comment, without a
									 * break, */
	uint32_t	crs_at_end;		/* and with this number of CRs (csv_crs_at_end()) */
	uint32_t	consumed;
	uint32_t	nlines;			/* line breaks before `consumed` */
	CsvRanks	total;			/* of the whole input */
} CsvCounters;

/*
 * The key of a record: its first error, or CSV_KEY_GOOD; the least key counts.
 * Structural errors come before errors of fields.  Fields come in order, by groups of
 * columns that read the same field.
 *
 *		group (14 bits, 0: structure) | CsvErrorCode (4) | column (14)
 */
#define CSV_KEY_GOOD		UINT32_MAX
#define CSV_KEY_COLUMN_BITS	14
#define CSV_KEY_CODE_BITS	4
#define CSV_MAX_COLUMNS		((1 << CSV_KEY_COLUMN_BITS) - 2)
#define CSV_MAKE_KEY(group, code, column) \
	((uint32_t) (group) << (CSV_KEY_COLUMN_BITS + CSV_KEY_CODE_BITS) | \
	 (uint32_t) (code) << CSV_KEY_COLUMN_BITS | (uint32_t) (column))

typedef struct CsvDeviceColumn
{
	CsvColumn	column;
	uint32_t	group;			/* number of its field among all fields read, from 1 */
	uint32_t	stride;
	uint32_t	plain_below;	/* ASCII text of fewer bytes is within every limit, and
								 * fits */
	uint32_t	pad_bytes;		/* least stored bytes; blanks fill up the rest */
	uint64_t	null_lengths;	/* csv_null_lengths() */
	uint8_t    *values;			/* of the whole batch */
	uint8_t    *status;
} CsvDeviceColumn;

/* a field for warps to measure */
typedef struct CsvLong
{
	uint32_t	row;			/* of the window */
	uint32_t	record;			/* of the window */
	uint32_t	column;			/* UINT32_MAX: void */
	uint32_t	start;
	uint32_t	length;
	uint32_t	first_piece;
} CsvLong;

/*
 * Findings about a piece of a field, for any state it is entered in.  The states are
 * the same as in csv_unquote: outside of quotes, inside, and inside right after an
 * escape that counts.
 */
#define CSV_OUTSIDE			0
#define CSV_INSIDE			1
#define CSV_ESCAPED			2
#define CSV_NUM_QUOTE_STATES	3

/* what quotes do in a stretch of bytes, by the state before it */
typedef struct CsvQuoteMap
{
	uint32_t	leaves;			/* states after it, 2 bits each */
	uint32_t	removed[CSV_NUM_QUOTE_STATES];	/* quotes and escapes */
} CsvQuoteMap;

typedef struct CsvLongPiece
{
	uint32_t	owner;			/* index of its CsvLong; UINT32_MAX: void */
	uint32_t	flags;			/* CSV_PIECE_... */
	uint32_t	nbegins;		/* bytes that begin a character */
	uint32_t	nonblank_end;	/* end of the last byte that is not a blank or the
								 * field's last quote; from the field's start */
	CsvQuoteMap quotes;
} CsvLongPiece;

#define CSV_PIECE_NUL		1
#define CSV_PIECE_INVALID	2
#define CSV_PIECE_HIGH		4	/* beyond ASCII */
#define CSV_PIECE_SPECIAL	8	/* a quote or escape that is not the first or last
								 * byte; with CSV_QUOTING_TEXT, any escape */

/* everything the kernels need; passed by value */
typedef struct CsvView
{
	/* the input, with zero bytes before and after it */
	const uint8_t *bytes;
	uint32_t	nbytes;
	uint32_t	limit;			/* nbytes, plus 1 at the end of the input */
	uint64_t	max_record_bytes;
	uint32_t	ntiles;
	uint64_t   *masks;			/* CSV_NUM_MASKS x ntiles x threads */
	/* maps of states: 4 bytes each, 8 if wide */
	void	   *prefixes;		/* per thread of a tile: composed transitions */
	void	   *tile_states;	/* a tile's transitions, then the state at its start */
	CsvRanks   *ranks;			/* ntiles + 1 */
	CsvCounters *counters;

	/* the window */
	uint32_t	first_tile;
	uint32_t	window_tiles;
	uint32_t	first_record;	/* of the batch */
	uint32_t	nrecords;
	uint32_t	first_separator;	/* rank of separators[0] */
	uint32_t	first_row;		/* of the batch */
	uint32_t   *separators;		/* positions */
	uint32_t   *record_start;	/* positions */
	uint32_t   *record_first;	/* index of its first separator; nrecords + 1 */
	uint32_t   *record_line;	/* line breaks before it */
	uint32_t   *record_key;
	uint32_t   *rows;			/* records of the window; see csv_row_record */
	uint32_t   *select_ranks;	/* good records before each block's records */
	CsvLong    *longs;
	CsvLongPiece   *pieces;
	uint32_t	max_longs;
	uint32_t	max_pieces;

	/* columns */
	CsvDeviceColumn *columns;
	uint32_t   *seen;			/* CSV_SEEN_... per column */
	uint32_t   *row_offsets;
	uint32_t   *row_lines;

	CsvDialect	dialect;
	CsvLayout	layout;			/* its pointers lead to device memory */
	uint32_t	ordinary_below; /* columns.cu reads fields of fewer bytes by the common
								 * rules; 0: all need care */
} CsvView;

/*
 * Columns for a block of columns.cu, which read fields [first_field, first_field +
 * nfields).
 */
typedef struct CsvStrip
{
	uint32_t	first_column;
	uint32_t	ncolumns;
	uint32_t	first_field;
	uint32_t	nfields;
	uint32_t	lanes_log;		/* log2 of nfields, rounded up */
} CsvStrip;

/* on the device */
typedef struct CsvStripList
{
	const CsvStrip *strips;
	uint32_t	n;
} CsvStripList;

#define CSV_LENGTH_BINS		424

/* a list of columns, on the device */
typedef struct CsvColumnList
{
	const uint32_t *columns;
	uint32_t	n;
} CsvColumnList;

/*
 * The phases' host functions only launch kernels; then the caller must check for
 * errors (cudaGetLastError) and wait.
 */
extern void csv_structure_tables(const CsvDialect *dialect,
								 CsvStructureTables *tables);
extern void csv_launch_structure(const CsvView *view,
								 const CsvStructureTables *tables,
								 cudaStream_t stream);
extern void csv_launch_index(const CsvView *view, cudaStream_t stream);
extern void csv_launch_check(const CsvView *view, cudaStream_t stream);
extern void csv_launch_select(const CsvView *view, cudaStream_t stream);
extern void csv_launch_lengths(const CsvView *view, CsvColumnList list,
							   uint32_t *histograms, cudaStream_t stream);

/*
 * strip_bytes: a record's bytes in a strip, on average; max_shared_bytes: the shared
 * memory that a block may have.
 */
extern void csv_launch_columns(const CsvView *view, CsvStripList list,
							   uint32_t strip_bytes, size_t max_shared_bytes,
							   cudaStream_t stream);
extern void csv_launch_longs(const CsvView *view, int multiprocessors,
							 cudaStream_t stream);
extern void csv_launch_positions(const CsvView *view, cudaStream_t stream);
extern void csv_launch_errors(const CsvView *view, CsvError *errors,
							  uint32_t errors_before, cudaStream_t stream);
extern void csv_launch_consumed(const CsvView *view, uint32_t position,
								cudaStream_t stream);

/* the largest length in the bin, in words of 4 bytes */
extern uint32_t csv_length_bin_words(uint32_t bin);

#endif							/* CSV_CUDA_PARSE_CUH */
