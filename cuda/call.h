/*
 * call.h
 *		An engine and a call of its parse, as the files share them that do its
 *		steps:
 *
 *	1. input.cu: the input is copied to the device, and what is to come behind
 *	   it; its structure is found.
 *	2. windows.cu: windows are planned, a window being a stretch of whole records
 *	   whose index fits into the memory that is meant for it.  Mostly there is
 *	   one; chunks of very short fields or records take several.
 *	3. layout.cu: the kernels are told of the columns, and strides are chosen for
 *	   those of text.
 *	4. output.cu: window by window, records are checked and listed, and the
 *	   arrays filled.
 *	5. answer.cu: where there is a query, and memory for it, its filters and
 *	   aggregates are evaluated; what comes back then is its answer.  Many groups
 *	   stay here, where they may (group_table.cuh), until held.cu fetches them.
 *	6. output.cu: arrays, statuses that are not all OK, and errors are copied into
 *	   one pinned block that the engine keeps; the batch points into it.
 *
 * What the repair rule touches is not read here.  A stretch of input that needs
 * it (or continues under it) is handed to the CPU engine, which owns that batch
 * (detour.cu).  The records before an irregular one are a batch of their own.
 *
 * Memory on the device, beside input and output: CSV_INDEX_SHARE for index and
 * masks, 1.5 with what goes with them; one record alone may take more.
 */
#ifndef CSV_CUDA_CALL_H
#define CSV_CUDA_CALL_H

#include "evaluate.h"
#include "group_table.cuh"
#include "parse.cuh"
#include "../src/reader/convert.h"
#include "../src/reader/place.h"

/* ---- the engine ---- */

/* what a batch points into */
typedef struct CsvOutput
{
	CsvArray   *arrays;			/* ncolumns of the largest layout so far */
	uint8_t    *block;			/* pinned: what they hold */
	uint8_t    *bytes;			/* pinned: of the file, for who looks at them */
	CsvAnswer	answer;
} CsvOutput;

/* the CPU engine, for a batch of what is irregular */
typedef struct CsvDetour
{
	void	   *engine;			/* NULL: not opened yet */
	bool		configured;
} CsvDetour;

/* the query that batches are to answer */
typedef struct CsvCudaQuery
{
	uint32_t	nusers;			/* the engine, and a call of parse */
	CsvDeviceQuery device;
	bool		all_certain;	/* as in CsvRequest, */
	bool		may_hold;		/* likewise */
	bool	   *hidden;			/* per column of the layout */
} CsvCudaQuery;

typedef struct CsvCuda
{
	CsvSession *session;
	CsvMemory	memory;
	CsvCudaOptions options;
	char		message[CSV_MESSAGE_BYTES];

	/* what is to be read, and how */
	const CsvCudaFile *file;	/* whose bytes inputs are of that have none */
	const CsvDialect *dialect;
	const CsvLayout *layout;
	CsvStructureTables tables;
	uint32_t	max_per_field;	/* columns that read one field */
	uint32_t	capacity;		/* ncolumns of the largest layout so far: */
	uint32_t   *strides;
	uint32_t   *text;			/* numbers of the columns of TEXT and CSTRING */
	CsvStrip   *strips;
	uint32_t	ntext;
	uint32_t	nstrips;

	CsvOutput	outputs[CSV_CUDA_OUTPUTS];
	CsvDetour	detours[CSV_CUDA_OUTPUTS];
	void	   *host;			/* what the host keeps during a call */
	size_t		host_bytes;
	uint8_t    *staging;		/* pinned: what comes and goes on the way */

	pthread_mutex_t query_mutex;
	CsvCudaQuery *query;		/* or NULL */
	CsvGroupTable table;		/* groups that are held */
	uint8_t    *piece;			/* pinned: some of them, for the caller */
} CsvCuda;

/* ---- a call of parse ---- */

/* what is known of the input */
typedef struct CsvInputFound
{
	uint32_t	nbytes;			/* that are read */
	bool		at_end;
	CsvRanks   *ranks;			/* of its tiles, and in the end the totals */
	uint32_t	nrecords;		/* complete ones */
	bool		has_tail;		/* an incomplete record follows */
	uint32_t	tail_start;
	bool		ends_in_comment;	/* without its end; it is to be passed over */
	bool		was_ahead;		/* some was copied ahead, between: */
	cudaEvent_t ahead[2];
} CsvInputFound;

/* rows on the device */
typedef struct CsvColumnPlace
{
	uint8_t    *values;			/* NULL: not those that are asked for */
	uint8_t    *status;
} CsvColumnPlace;

typedef struct CsvRowPlaces
{
	CsvColumnPlace *columns;
	uint32_t   *offsets;
	uint32_t   *lines;
} CsvRowPlaces;

/* what is in the arrays so far */
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

/* what the query says of them */
typedef struct CsvReply
{
	CsvCudaQuery *query;		/* or NULL */
	CsvAsk		ask;
	CsvRowPlaces places;		/* of the rows that come out */
	bool		answered;
	CsvHeldRoom room;			/* which of the groups are held */
	CsvHeldCounts held;
} CsvReply;

typedef struct CsvCall
{
	CsvWork		work;
	CsvCuda    *cuda;
	const CsvInput *input;
	CsvView		view;
	CsvInputFound	found;
	void	   *staged_columns; /* in the staging block: room for a
								 * CsvDeviceColumn each, */
	uint32_t   *staged_seen;	/* and a word each */
	CsvStripList strips;
	CsvFilled	filled;
	CsvReply	reply;
} CsvCall;

/* in the staging block: counters, the query's and the table's, and then ranks */
#define CSV_STAGED_COUNTS	128
#define CSV_STAGED_RANKS	256

static_assert(sizeof(CsvCounters) <= CSV_STAGED_COUNTS &&
			  sizeof(CsvQueryCounts) <= CSV_STAGED_RANKS - CSV_STAGED_COUNTS &&
			  sizeof(CsvHeldCounts) <= CSV_STAGED_RANKS - CSV_STAGED_COUNTS,
			  "they share the beginning of the staging block");

/* input.cu: the structure of the input; and nothing is copied ahead any more */
extern CsvStatus csv_input_read(CsvCall *call);
extern void csv_input_forget_next(CsvCuda *cuda);

/*
 * windows.cu: room for masks.  Then a window from a record on, with no more than
 * max_records; and its index, record table and list of rows, launched.
 */
extern CsvStatus csv_window_place_masks(CsvCall *call);
extern CsvStatus csv_window_open(CsvCall *call, uint32_t first_record,
								 uint32_t max_records);
extern CsvStatus csv_window_launch(CsvCall *call);

/*
 * layout.cu: room for what is small; columns to the device, with the strides and
 * places that are known; and strides of text, for which all windows are gone
 * through.  one_window: it is open, and launched then.
 */
extern CsvStatus csv_layout_place(CsvCall *call);
extern CsvStatus csv_layout_upload(CsvCall *call);
extern CsvStatus csv_layout_measure(CsvCall *call, bool one_window);

/*
 * output.cu: where n rows are, from base on (NULL: not known yet), without the
 * columns that are hidden; returns their bytes.
 */
extern size_t csv_output_lay_out(const CsvCuda *cuda, CsvRowPlaces *places,
								 uint32_t n, const bool *hidden,
								 uint8_t *base);
extern bool csv_output_wants_positions(const CsvCall *call);
extern CsvStatus csv_output_place(CsvCall *call);
extern CsvStatus csv_output_fill(CsvCall *call, bool launched);
extern CsvStatus csv_output_copy_back(CsvCall *call, CsvBatch *batch);

/*
 * answer.cu: the engine's query, which is used from csv_query_use to
 * csv_query_leave.  Then its answer, if there can be one; its copy; and the
 * adding of groups that are held, which is never done again.
 */
extern bool csv_query_set(void *engine, const CsvRequest *request);
extern void csv_query_replace(CsvCuda *cuda, CsvCudaQuery *query);
extern CsvCudaQuery *csv_query_use(CsvCuda *cuda);
extern void csv_query_leave(CsvCuda *cuda, CsvCudaQuery *query);
extern CsvStatus csv_answer_find(CsvCall *call);
extern size_t csv_answer_bytes(const CsvCall *call);
extern CsvStatus csv_answer_fetch(CsvCall *call, uint8_t *block,
								  CsvAnswer *answer);
extern CsvStatus csv_answer_hold(CsvCall *call);

/*
 * files.cu: where a file's bytes are on the device; and have nbytes of an input's
 * copied to a pinned block, behind a margin.  They are there when the work is waited
 * for.
 */
extern const uint8_t *csv_file_bytes(const CsvCuda *cuda, uint64_t offset);
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

/* engine.cu: an engine in a session that has started; NULL: no memory */
extern CsvCuda *csv_cuda_make(CsvSession *session,
							  const CsvCudaOptions *options,
							  const CsvMemory *memory);

#endif							/* CSV_CUDA_CALL_H */
