/*
 * call.h
 *		An engine and a call of its parse, for the files that do its steps.
 *
 *	1. input.cu copies the input to the device, begins to copy the next input, and
 *	   finds the structure.
 *	2. windows.cu plans windows.  A window is a stretch of whole records whose index
 *	   fits into the memory for it.  Mostly there is one window; chunks of very short
 *	   fields or records take several.
 *	3. layout.cu tells the kernels of the columns, and chooses strides of text columns.
 *	4. output.cu checks and lists records and fills the arrays, window by window.
 *	5. answer.cu evaluates filters and aggregates, if there is a query and memory for
 *	   it; then only the answer comes back.  Many groups stay on the device, if they
 *	   may (group_table.cuh), until held.cu fetches them.
 *	6. output.cu copies arrays, statuses that are not all OK, and errors into one
 *	   pinned block of the engine; the batch points into it.
 *
 * Records under the repair rule are not read here.  The CPU engine reads a stretch of
 * input that needs the rule (or continues under it), and owns that batch (detour.cu).
 * The records before an irregular record are a batch of their own.
 *
 * Memory on the device, besides input and output: CSV_INDEX_SHARE for index and masks,
 * 1.5 with csv_device_reserve()'s addition; a single record may take more.
 */
#ifndef CSV_CUDA_CALL_H
#define CSV_CUDA_CALL_H

#include "query_steps.h"
#include "group_table.cuh"
#include "parse.cuh"
#include "../src/reader/convert.h"
#include "../src/reader/place.h"

/* ---- the engine ---- */

/* the memory that a batch points into */
typedef struct CsvOutput
{
	CsvArray   *arrays;			/* ncolumns of the largest layout so far */
	uint8_t    *block;			/* pinned: the arrays' contents */
	uint8_t    *bytes;			/* pinned: bytes of the file, if the caller may look at
								 * them */
	CsvAnswer	answer;
} CsvOutput;

/* the CPU engine, for a batch of irregular records */
typedef struct CsvDetour
{
	void	   *engine;			/* NULL: not opened yet */
	bool		configured;
} CsvDetour;

/* the query that batches should answer */
typedef struct CsvCudaQuery
{
	CsvDeviceQuery device;
	bool		may_hold;		/* as in CsvRequest */
	bool	   *hidden;			/* per column of the layout */
} CsvCudaQuery;

typedef struct CsvCuda
{
	CsvSession *session;
	CsvMemory	memory;
	CsvCudaOptions options;
	char		message[CSV_MESSAGE_BYTES];

	/* the file, its dialect and its layout */
	const CsvCudaFile *file;	/* has the bytes of inputs without bytes of their
								 * own */
	const CsvDialect *dialect;
	const CsvLayout *layout;
	CsvStructureTables tables;
	uint32_t	max_per_field;	/* most columns that read one field */
	uint32_t	capacity;		/* of these arrays: ncolumns of the largest layout so
								 * far */
	uint32_t   *strides;
	uint32_t   *text;			/* numbers of the columns of TEXT and CSTRING */
	CsvStrip   *strips;
	uint32_t	ntext;
	uint32_t	nstrips;

	CsvOutput	outputs[CSV_CUDA_OUTPUTS];
	CsvDetour	detours[CSV_CUDA_OUTPUTS];
	void	   *host;			/* memory for host data during a call */
	size_t		host_bytes;
	uint8_t    *staging;		/* pinned: for copies to and from the device */

	CsvCudaQuery *query;		/* or NULL */
	CsvGroupTable table;		/* groups that are held */
	uint8_t    *piece;			/* pinned: some held groups, for the caller */
} CsvCuda;

/* ---- a call of parse ---- */

/* findings about the input */
typedef struct CsvInputFound
{
	uint32_t	nbytes;			/* bytes that are read */
	bool		at_end;
	CsvRanks   *ranks;			/* of its tiles, and in the end the totals */
	uint32_t	nrecords;		/* complete records */
	bool		has_tail;		/* an incomplete record follows */
	uint32_t	tail_start;
	bool		ends_in_comment;	/* the comment has no end yet: skip its rest */
} CsvInputFound;

/* rows on the device */
typedef struct CsvColumnPlace
{
	uint8_t    *values;			/* NULL: the caller does not want them */
	uint8_t    *status;
} CsvColumnPlace;

typedef struct CsvRowPlaces
{
	CsvColumnPlace *columns;
	uint32_t   *offsets;
	uint32_t   *lines;
} CsvRowPlaces;

/* the arrays so far */
typedef struct CsvFilled
{
	CsvRowPlaces places;
	uint32_t	record_limit;	/* records that fit */
	uint32_t   *seen;			/* per column */
	uint32_t	nrows;
	uint32_t	nerrors;
	uint32_t	ndone;			/* records */
	uint32_t	consumed;
	uint32_t	nlines;
	bool		irregular;		/* at record ndone */
} CsvFilled;

/* the query's result for these rows */
typedef struct CsvReply
{
	CsvAsk		ask;
	CsvRowPlaces places;		/* of the rows that come out */
	bool		answered;
	CsvHeldRoom room;			/* the groups that there is room to hold */
	CsvHeldCounts held;
} CsvReply;

typedef struct CsvCall
{
	CsvWork		work;
	CsvCuda    *cuda;
	const CsvInput *input;
	CsvView		view;
	CsvInputFound	found;
	void	   *staged_columns; /* in the staging block: room for a CsvDeviceColumn for
								 * each column, */
	uint32_t   *staged_seen;	/* and for a word for each */
	CsvStripList strips;
	CsvFilled	filled;
	CsvReply	reply;
} CsvCall;

/* in the staging block: counters, of the query and the table too, and then ranks */
#define CSV_STAGED_COUNTS	128
#define CSV_STAGED_RANKS	256

static_assert(sizeof(CsvCounters) <= CSV_STAGED_COUNTS &&
			  sizeof(CsvQueryCounts) <= CSV_STAGED_RANKS - CSV_STAGED_COUNTS &&
			  sizeof(CsvHeldCounts) <= CSV_STAGED_RANKS - CSV_STAGED_COUNTS,
			  "they share the beginning of the staging block");

/* input.cu: find the structure of the input */
extern CsvStatus csv_input_read(CsvCall *call);

/*
 * windows.cu: make room for masks; open a window of at most max_records from a record
 * on; launch its index, record table and list of rows.
 */
extern CsvStatus csv_window_place_masks(CsvCall *call);
extern CsvStatus csv_window_open(CsvCall *call, uint32_t first_record,
								 uint32_t max_records);
extern CsvStatus csv_window_launch(CsvCall *call);

/*
 * layout.cu: make room for small arrays; copy the columns to the device, with the
 * strides and places known so far; measure strides of text, over all windows.
 * one_window: the only window is open, and is launched here.
 */
extern CsvStatus csv_layout_place(CsvCall *call);
extern CsvStatus csv_layout_upload(CsvCall *call);
extern CsvStatus csv_layout_measure(CsvCall *call, bool one_window);

/*
 * output.cu: lay out n rows from base on (NULL: not known yet), without the columns
 * that are hidden; returns their bytes.
 */
extern size_t csv_output_lay_out(const CsvCuda *cuda, CsvRowPlaces *places,
								 uint32_t n, const bool *hidden,
								 uint8_t *base);
extern bool csv_output_wants_positions(const CsvCall *call);
extern CsvStatus csv_output_place(CsvCall *call);
extern CsvStatus csv_output_fill(CsvCall *call, bool launched);
extern CsvStatus csv_output_copy_back(CsvCall *call, CsvBatch *batch);

/*
 * answer.cu: the engine's query.  Find its answer, if there can be one; copy it; and
 * add groups to those that are held, which must happen only once.
 */
extern bool csv_query_set(void *engine, const CsvRequest *request);
extern void csv_query_drop(CsvCuda *cuda);
extern CsvStatus csv_answer_find(CsvCall *call);
extern size_t csv_answer_bytes(const CsvCall *call);
extern CsvStatus csv_answer_fetch(CsvCall *call, uint8_t *block,
								  CsvAnswer *answer);
extern CsvStatus csv_answer_hold(CsvCall *call);

/*
 * file_bytes.cu: copy nbytes of an input from a file on the device to other memory, or
 * to a pinned block, behind a margin.  Wait for the work before you read them.
 */
extern CsvStatus csv_file_copy(const CsvWork *work, const CsvCuda *cuda,
							   const CsvInput *input, uint8_t *to,
							   size_t nbytes, cudaMemcpyKind kind);
extern CsvStatus csv_file_fetch(CsvWork *work, const CsvCuda *cuda,
								const CsvInput *input, size_t nbytes,
								uint8_t **block);

/* held.cu */
extern CsvStatus csv_held_fetch(void *engine, uint32_t first,
								CsvPartialGroups *groups);
extern void csv_held_drop(CsvCuda *cuda);

/* detour.cu: have the CPU engine read the input, or some of it */
extern CsvStatus csv_detour_parse(CsvCuda *cuda, const CsvInput *input,
								  CsvBatch *batch);

/* engine.cu: an engine in a started session; NULL: no memory */
extern CsvCuda *csv_cuda_make(CsvSession *session,
							  const CsvCudaOptions *options,
							  const CsvMemory *memory);

#endif							/* CSV_CUDA_CALL_H */
