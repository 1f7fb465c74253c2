/*
 * engine.cu
 *		The CUDA engine: one call of parse from input to batch.
 *
 *	1. The input is copied to the device, and its structure found (structure.cu).
 *	2. Windows are planned, a window being a stretch of whole records whose index
 *	   fits into the memory that is meant for it.  Mostly there is one; chunks of
 *	   very short fields or records take several.
 *	3. Each window's records are checked and listed, the strides of text columns
 *	   chosen, and the arrays filled (fill_window).
 *	4. Where there is a query, and memory for it, its filters and aggregates are
 *	   evaluated (query.cuh); what comes back then is its answer.  Many groups
 *	   stay here, where they may (group_table.cuh).
 *	5. Arrays, statuses that are not all OK, and errors are copied into one
 *	   pinned block that the engine keeps; the batch points into it.
 *
 * What the repair rule touches is not read here.  A stretch of input that needs
 * it (or continues under it) is handed to the CPU engine, which owns that batch.
 * The records before an irregular one are a batch of their own.
 *
 * Memory on the device, beside input and output: CSV_INDEX_SHARE for index and
 * masks, 1.5 with what goes with them; one record alone may take more.
 */
#include "group_table.cuh"
#include "parse.cuh"
#include "query.cuh"
#include "../src/reader/convert.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* in the staging block, while structure is found: counters, and then ranks */
#define CSV_STAGED_RANKS	256

#define ALIGN(n, to)	(((n) + (to) - 1) / (to) * (to))

/* where things are in CSV_DEVICE_SMALL */
typedef struct SmallLayout
{
	size_t		columns;
	size_t		text;			/* numbers of the text columns */
	size_t		strips;
	size_t		strings;		/* null, then default */
	size_t		seen;
	size_t		histograms;
	size_t		nbytes;
	size_t		upload_bytes;	/* columns, text, strips, strings */
} SmallLayout;

/* what a batch points into */
typedef struct CsvOutput
{
	CsvArray   *arrays;			/* ncolumns of the largest layout so far */
	uint8_t    *block;			/* pinned: what they hold */
	void	   *cpu;			/* CPU engine, for what is irregular */
	bool		cpu_configured;
	CsvAnswer	answer;
} CsvOutput;

/* the query that batches are to answer */
typedef struct CsvCudaQuery
{
	uint32_t	nusers;			/* the engine, and a call of parse */
	CsvPlan		plan;
	bool		all_certain;	/* as in CsvRequest, */
	bool		may_hold;		/* likewise */
	uint32_t	ntexts;			/* keys and extremes */
	uint32_t	longest_text;	/* of its constants */
	bool	   *hidden;			/* per column of the layout */
} CsvCudaQuery;

typedef struct CsvCuda
{
	CsvMemory	memory;
	CsvCudaOptions options;
	uint32_t	nparsed;		/* calls of parse, for the fault */

	const CsvDialect *dialect;
	const CsvLayout *layout;
	CsvStructureTables tables;
	uint32_t	max_per_field;	/* columns that read one field */

	CsvOutput	outputs[CSV_CUDA_OUTPUTS];
	uint32_t   *strides;		/* ncolumns of the largest layout so far */
	uint32_t   *text;			/* numbers of the columns of TEXT and CSTRING */
	uint32_t	ntext;
	CsvStrip   *strips;
	uint32_t	nstrips;
	uint32_t	capacity;

	void	   *host;			/* what the host keeps during a call */
	size_t		host_bytes;

	uint8_t    *staging;		/* pinned: what comes and goes on the way */
	pthread_mutex_t query_mutex;
	CsvCudaQuery *query;		/* or NULL */
	CsvGroupTable table;		/* groups that are held */
	uint8_t    *piece;			/* pinned: some of them, for the caller */
	char		message[256];
} CsvCuda;

/* one call of parse */
typedef struct CsvCall
{
	CsvCuda    *cuda;
	const CsvInput *input;
	CsvOutput  *output;
	uint32_t	nbytes;			/* of the input that are read */
	bool		at_end;
	size_t		memory_limit;
	CsvView		view;
	SmallLayout small;
	CsvRanks   *ranks;			/* on the host, where windows are planned */
	uint32_t	nrecords;		/* complete ones in the input */
	uint32_t	nseparators;	/* in the input */
	uint32_t	record_limit;	/* that fit into the output */
	bool		has_tail;		/* an incomplete record follows */
	uint32_t	tail_start;
	uint32_t	row_bytes;		/* of the output per row */

	size_t	   *values_offset;	/* in CSV_DEVICE_OUTPUT; host copies below */
	uint32_t	nrows;
	uint32_t	nerrors;
	uint32_t	ndone;			/* records */
	uint32_t	consumed;
	uint32_t	nlines;
	bool		irregular;		/* at record ndone */
	uint32_t   *seen;			/* per column, host */

	CsvCudaQuery *query;		/* or NULL */
	CsvQueryView view_of_query;
	CsvQueryCounts counts;
	bool		answered;
	CsvTableRoom room;			/* which of the groups are held */
	CsvTableCounts table_counts;
	size_t	   *gathered_offset;	/* as values_offset, in CSV_DEVICE_ANSWER */
	int			next_turn;		/* of the copy ahead that was used */
	bool		next_used;
	sigset_t	signals;
} CsvCall;

static double
now_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double) now.tv_sec + (double) now.tv_nsec * 1e-9;
}

/* ---- errors and waiting ---- */

static CsvStatus
failed(CsvCuda *cuda, cudaError_t error, const char *what)
{
	csv_session_failed(error, what, cuda->message);
	return CSV_DEVICE_FAILED;
}

#define TRY_CUDA(call_, what_) \
	do { \
		cudaError_t try_error_ = (call_); \
		if (try_error_ != cudaSuccess) \
			return failed(cuda, try_error_, what_); \
	} while (0)

/*
 * Wait for all that was launched.  Interrupted or not, the device is done when
 * this returns: no kernel runs for long.
 */
static CsvStatus
wait_for_device(CsvCall *call)
{
	CsvCuda    *cuda = call->cuda;
	const CsvInput *input = call->input;
	cudaError_t error = cudaGetLastError();
	bool		interrupted;

	if (error != cudaSuccess)
		return failed(cuda, error, "kernel launch");
	error = csv_session_wait(&call->signals, input->interrupted,
							 input->interrupted_arg, &interrupted);
	if (error != cudaSuccess)
		return failed(cuda, error, "kernel");
	return interrupted ? CSV_INTERRUPTED : CSV_OK;
}

static CsvStatus
check_interrupt(CsvCall *call)
{
	const CsvInput *input = call->input;
	bool		interrupted;

	if (input->interrupted == NULL)
		return CSV_OK;
	csv_signals_unblock(&call->signals);
	interrupted = input->interrupted(input->interrupted_arg);
	csv_signals_block(&call->signals);
	return interrupted ? CSV_INTERRUPTED : CSV_OK;
}

/* device memory; the limit is this engine's */
static CsvStatus
reserve(CsvCall *call, CsvDeviceMemory which, size_t nbytes, size_t keep)
{
	CsvCuda    *cuda = call->cuda;

	if (!csv_device_reserve(which, nbytes, keep, call->memory_limit,
							cuda->message))
		return CSV_DEVICE_FAILED;
	return CSV_OK;
}

/* a pinned block of at least nbytes, in place of *block; nothing is kept */
static CsvStatus
reserve_pinned(CsvCuda *cuda, uint8_t **block, size_t nbytes)
{
	if (*block != NULL)
	{
		if (csv_pinned_size(*block) >= nbytes)
			return CSV_OK;
		csv_pinned_give_back(*block);
		*block = NULL;
	}
	*block = (uint8_t *) csv_pinned_take(nbytes + nbytes / 8);
	if (*block == NULL)
	{
		csv_session_say(cuda->message, "out of pinned host memory: %zu MB needed",
						nbytes >> 20);
		return CSV_DEVICE_FAILED;
	}
	return CSV_OK;
}

/* ---- queries, on the host ---- */

static void
leave_query(CsvCuda *cuda, CsvCudaQuery *query)
{
	CsvMemory	memory = cuda->memory;
	bool		last;

	if (query == NULL)
		return;
	pthread_mutex_lock(&cuda->query_mutex);
	last = --query->nusers == 0;
	pthread_mutex_unlock(&cuda->query_mutex);
	if (!last)
		return;
	csv_plan_free(&query->plan, &memory);
	memory.free(memory.owner, query);
}

static CsvCudaQuery *
use_query(CsvCuda *cuda)
{
	CsvCudaQuery *query;

	pthread_mutex_lock(&cuda->query_mutex);
	query = cuda->query;
	if (query != NULL)
		query->nusers++;
	pthread_mutex_unlock(&cuda->query_mutex);
	return query;
}

static void
replace_query(CsvCuda *cuda, CsvCudaQuery *query)
{
	CsvCudaQuery *before;

	pthread_mutex_lock(&cuda->query_mutex);
	before = cuda->query;
	cuda->query = query;
	pthread_mutex_unlock(&cuda->query_mutex);
	leave_query(cuda, before);
}

static bool
cuda_set_query(void *engine, const CsvRequest *request)
{
	CsvCuda    *cuda = (CsvCuda *) engine;
	CsvMemory	memory = cuda->memory;
	const CsvLayout *layout = cuda->layout;
	CsvCudaQuery *query = NULL;
	size_t		nbytes = sizeof(*query) + layout->ncolumns * sizeof(bool);
	CsvPlan		plan;

	if (request != NULL &&
		csv_plan_make(&plan, &memory, request->query, layout,
					  csv_query_most_slots(csv_session.max_shared_bytes),
					  false))
	{
		query = (CsvCudaQuery *) memory.alloc(memory.owner, nbytes);
		if (query == NULL)
			csv_plan_free(&plan, &memory);
	}
	if (query != NULL)
	{
		memset((void *) query, 0, nbytes);
		query->nusers = 1;
		query->plan = plan;
		query->all_certain = request->all_certain;
		query->may_hold = request->may_hold && plan.aggregates &&
			plan.nkeys > 0;
		query->hidden = (bool *) (query + 1);
		memcpy(query->hidden, request->hidden, layout->ncolumns * sizeof(bool));
		for (uint32_t i = 0; i < plan.nkeys; i++)
			query->ntexts += plan.key_lanes[i] == CSV_LANE_TEXT;
		for (uint32_t i = 0; i < plan.naggregates; i++)
			query->ntexts += plan.aggregate[i].lane == CSV_LANE_TEXT;
		for (uint32_t i = 0; i < request->query->nconstants; i++)
			if (request->query->constants[i].length > query->longest_text)
				query->longest_text = request->query->constants[i].length;
	}
	replace_query(cuda, query);
	return query != NULL;
}

/* ---- open and close ---- */

/*
 * What is copied ahead may not be what the host's memory holds from now on; nor
 * may that memory go while it is copied.
 */
static void
forget_next(CsvCuda *cuda)
{
	CsvNext    *next = &csv_session.next;
	sigset_t	old;

	csv_signals_block(&old);
	csv_session_lock();
	if (next->owner == cuda)
	{
		if (csv_session_lives())
			cudaEventSynchronize(next->copied[next->turn]);
		next->owner = NULL;
	}
	csv_session_unlock();
	csv_signals_unblock(&old);
}

/* all groups that are held */
static void
drop_groups(CsvCuda *cuda)
{
	sigset_t	old;

	if (!cuda->table.is_shaped)
		return;
	csv_signals_block(&old);
	csv_session_lock();
	csv_table_release(&cuda->table);
	csv_session_unlock();
	csv_signals_unblock(&old);
}

static void
cuda_close(void *engine)
{
	CsvCuda    *cuda = (CsvCuda *) engine;
	CsvMemory	memory = cuda->memory;

	forget_next(cuda);
	drop_groups(cuda);
	for (int i = 0; i < CSV_CUDA_OUTPUTS; i++)
	{
		CsvOutput  *output = &cuda->outputs[i];

		if (output->block != NULL)
			csv_pinned_give_back(output->block);
		if (output->cpu != NULL)
			csv_cpu_engine.close(output->cpu);
		if (output->arrays != NULL)
			memory.free(memory.owner, output->arrays);
	}
	if (cuda->staging != NULL)
		csv_pinned_give_back(cuda->staging);
	if (cuda->piece != NULL)
		csv_pinned_give_back(cuda->piece);
	if (cuda->strides != NULL)
		memory.free(memory.owner, cuda->strides);
	if (cuda->text != NULL)
		memory.free(memory.owner, cuda->text);
	if (cuda->strips != NULL)
		memory.free(memory.owner, cuda->strips);
	if (cuda->host != NULL)
		memory.free(memory.owner, cuda->host);
	replace_query(cuda, NULL);
	pthread_mutex_destroy(&cuda->query_mutex);
	memory.free(memory.owner, cuda);
}

/* in the session that there is */
static CsvCuda *
open_engine(const CsvCudaOptions *options, const CsvMemory *memory,
			char *reason, size_t reason_size)
{
	CsvCuda    *cuda;

	cuda = (CsvCuda *) memory->alloc(memory->owner, sizeof(CsvCuda));
	if (cuda == NULL)
	{
		snprintf(reason, reason_size, "out of memory");
		return NULL;
	}
	memset((void *) cuda, 0, sizeof(*cuda));
	cuda->memory = *memory;
	cuda->options = *options;
	cuda->table.first_capacity = options->hold_from > 0 ? 1 :
		CSV_TABLE_FIRST_GROUPS;
	pthread_mutex_init(&cuda->query_mutex, NULL);
	return cuda;
}

void *
csv_cuda_open(const CsvCudaOptions *options, const CsvMemory *memory,
			  char *reason, size_t reason_size)
{
	char		message[256] = "";

	if (reason_size > 0)
		reason[0] = '\0';
	if (!csv_session_open(options->device, message))
	{
		snprintf(reason, reason_size, "%s", message);
		return NULL;
	}
	return open_engine(options, memory, reason, reason_size);
}

static const char *
cuda_detail(void *engine)
{
	(void) engine;
	return csv_session.device_name;
}

static const char *
cuda_message(void *engine)
{
	return ((CsvCuda *) engine)->message;
}

static void *
cuda_alloc_input(void *engine, size_t nbytes)
{
	CsvCuda    *cuda = (CsvCuda *) engine;
	void	   *memory = csv_pinned_take(nbytes);

	/* what is not pinned is copied more slowly, and works as well */
	if (memory == NULL)
		memory = cuda->memory.alloc(cuda->memory.owner, nbytes);
	return memory;
}

static void
cuda_free_input(void *engine, void *memory)
{
	CsvCuda    *cuda = (CsvCuda *) engine;

	forget_next(cuda);
	if (!csv_pinned_give_back(memory))
		cuda->memory.free(cuda->memory.owner, memory);
}

/* n elements in place of those there are; nothing is kept, nor left on failure */
static bool
renew_array(CsvCuda *cuda, void **array, size_t n, size_t element_bytes)
{
	CsvMemory  *memory = &cuda->memory;

	if (*array != NULL)
		memory->free(memory->owner, *array);
	*array = NULL;
	*array = memory->alloc(memory->owner, n * element_bytes);
	return *array != NULL;
}

static CsvStatus
reserve_arrays(CsvCuda *cuda, uint32_t n)
{
	bool		ok;

	if (n <= cuda->capacity)
		return CSV_OK;
	cuda->capacity = 0;
	ok = renew_array(cuda, (void **) &cuda->strides, n, sizeof(uint32_t)) &&
		renew_array(cuda, (void **) &cuda->text, n, sizeof(uint32_t)) &&
		renew_array(cuda, (void **) &cuda->strips, n, sizeof(CsvStrip));
	for (int i = 0; ok && i < CSV_CUDA_OUTPUTS; i++)
		ok = renew_array(cuda, (void **) &cuda->outputs[i].arrays, n,
						 sizeof(CsvArray));
	if (!ok)
		return CSV_NO_MEMORY;
	cuda->capacity = n;
	return CSV_OK;
}

/*
 * Part the columns into strips.  They come in order of their fields.
 */
static void
plan_strips(CsvCuda *cuda)
{
	const CsvLayout *layout = cuda->layout;
	CsvStrip   *strip = NULL;

	cuda->nstrips = 0;
	for (uint32_t i = 0; i < layout->ncolumns; i++)
	{
		uint32_t	field = layout->columns[i].field;

		if (strip == NULL || strip->ncolumns == CSV_STRIP_COLUMNS ||
			field - strip->first_field >= CSV_STRIP_FIELDS ||
			field - (strip->first_field + strip->nfields) + 1 > CSV_STRIP_GAP)
		{
			strip = &cuda->strips[cuda->nstrips++];
			strip->first_column = i;
			strip->ncolumns = 0;
			strip->first_field = field;
			strip->nfields = 0;
			strip->lanes_log = 0;
		}
		strip->ncolumns++;
		strip->nfields = field - strip->first_field + 1;
		while (1u << strip->lanes_log < strip->nfields)
			strip->lanes_log++;
	}
}

static CsvStatus
cuda_configure(void *engine, const CsvDialect *dialect,
			   const CsvLayout *layout)
{
	CsvCuda    *cuda = (CsvCuda *) engine;
	uint32_t	same = 0;

	replace_query(cuda, NULL);
	cuda->dialect = dialect;
	cuda->layout = layout;
	for (int i = 0; i < CSV_CUDA_OUTPUTS; i++)
		cuda->outputs[i].cpu_configured = false;
	if (layout->ncolumns > CSV_MAX_COLUMNS)
	{
		csv_session_say(cuda->message, "more than %d columns", CSV_MAX_COLUMNS);
		return CSV_DEVICE_FAILED;
	}
	csv_structure_tables(dialect, &cuda->tables);
	TRY(reserve_arrays(cuda, layout->ncolumns));
	cuda->ntext = 0;
	cuda->max_per_field = 1;
	for (uint32_t i = 0; i < layout->ncolumns; i++)
	{
		const CsvColumn *column = &layout->columns[i];

		if (column->kind == CSV_KIND_TEXT || column->kind == CSV_KIND_CSTRING)
			cuda->text[cuda->ntext++] = i;
		same = i > 0 && column->field == column[-1].field ? same + 1 : 1;
		if (same > cuda->max_per_field)
			cuda->max_per_field = same;
	}
	plan_strips(cuda);
	return CSV_OK;
}

/* ---- what is irregular ---- */

/*
 * Have the CPU engine read the input, or enough of it: a stretch of some size,
 * and if that does not hold a whole record, everything.
 */
static CsvStatus
parse_on_cpu(CsvCuda *cuda, const CsvInput *input, CsvBatch *batch)
{
	CsvInput	stretch = *input;
	CsvOutput  *output = &cuda->outputs[input->output];
	uint64_t	nbytes = input->nbytes / CSV_CPU_STRETCH_SHARE;
	double		copy_in_seconds = batch->copy_in_seconds;
	double		parse_seconds = batch->parse_seconds;
	CsvStatus	status;

	if (output->cpu == NULL)
	{
		CsvCpuOptions cpu_options;

		memset(&cpu_options, 0, sizeof(cpu_options));
		output->cpu = csv_cpu_open(&cuda->memory, &cpu_options);
		if (output->cpu == NULL)
			return CSV_NO_MEMORY;
	}
	if (!output->cpu_configured)
	{
		TRY(csv_cpu_engine.configure(output->cpu, cuda->dialect, cuda->layout));
		output->cpu_configured = true;
	}
	if (nbytes < CSV_CPU_STRETCH_BYTES)
		nbytes = CSV_CPU_STRETCH_BYTES;
	if (nbytes < input->nbytes)
	{
		stretch.nbytes = nbytes;
		stretch.at_end = false;
	}
	memset(batch, 0, sizeof(*batch));
	status = csv_cpu_engine.parse(output->cpu, &stretch, batch);
	if (status == CSV_OK && batch->consumed == 0 &&
		stretch.nbytes < input->nbytes)
	{
		memset(batch, 0, sizeof(*batch));
		status = csv_cpu_engine.parse(output->cpu, input, batch);
	}
	if (status != CSV_OK)
		return status;
	batch->nbytes = input->nbytes;
	batch->copy_in_seconds += copy_in_seconds;
	batch->parse_seconds += parse_seconds;
	return CSV_OK;
}

/* ---- 1: input and structure ---- */

/*
 * Have the bytes that are to come copied while this call works; with little
 * device memory, or none to be had, they are copied when they have come.
 */
static CsvStatus
copy_next(CsvCall *call)
{
	CsvCuda    *cuda = call->cuda;
	const CsvInput *input = call->input;
	CsvNext    *next = &csv_session.next;
	cudaStream_t stream = csv_session.next_stream;
	char		message[sizeof(cuda->message)];
	uint8_t    *device;

	if (csv_device_held() + input->next_nbytes >
		call->memory_limit / CSV_NEXT_MEMORY_SHARE ||
		!csv_device_reserve(CSV_DEVICE_NEXT, input->next_nbytes, 0,
							call->memory_limit, message))
		return CSV_OK;
	device = csv_session.device_memory[CSV_DEVICE_NEXT].bytes;
	next->turn = 1 - next->turn;

	/* not before the last ones have been taken from there */
	TRY_CUDA(cudaStreamWaitEvent(stream, csv_session.copy_in[1], 0), "event");
	TRY_CUDA(cudaEventRecord(next->began[next->turn], stream), "event");
	for (size_t done = 0; done < input->next_nbytes; done += CSV_NEXT_COPY_BYTES)
	{
		size_t		nbytes = input->next_nbytes - done;

		if (nbytes > CSV_NEXT_COPY_BYTES)
			nbytes = CSV_NEXT_COPY_BYTES;
		TRY_CUDA(cudaMemcpyAsync(device + done, input->next + done, nbytes,
								 cudaMemcpyHostToDevice, stream), "copy");
	}
	TRY_CUDA(cudaEventRecord(next->copied[next->turn], stream), "event");
	next->owner = cuda;
	next->bytes = input->next;
	next->nbytes = input->next_nbytes;
	return CSV_OK;
}

/*
 * Copy the input to the device: from the host, but for the end of it that is
 * there already.  And start on what is to come.
 */
static CsvStatus
copy_input(CsvCall *call, uint8_t *device)
{
	CsvCuda    *cuda = call->cuda;
	const CsvInput *input = call->input;
	CsvNext    *next = &csv_session.next;
	cudaStream_t stream = csv_session.stream;
	size_t		nbytes = call->nbytes;
	bool		mine = next->owner == cuda;

	TRY_CUDA(cudaEventRecord(csv_session.copy_in[0], stream), "event");
	if (mine && call->nbytes == input->nbytes &&
		next->nbytes <= input->nbytes &&
		next->bytes == input->bytes + (input->nbytes - next->nbytes))
	{
		nbytes -= next->nbytes;
		TRY_CUDA(cudaStreamWaitEvent(stream, next->copied[next->turn], 0),
				 "event");
		TRY_CUDA(cudaMemcpyAsync(device + nbytes,
								 csv_session.device_memory[CSV_DEVICE_NEXT].bytes,
								 next->nbytes, cudaMemcpyDeviceToDevice,
								 stream), "copy");
		call->next_turn = next->turn;
		call->next_used = true;
	}
	if (nbytes > 0)
		TRY_CUDA(cudaMemcpyAsync(device, input->bytes, nbytes,
								 cudaMemcpyHostToDevice, stream), "copy");
	TRY_CUDA(cudaEventRecord(csv_session.copy_in[1], stream), "event");
	if (mine && !call->next_used && input->next == next->bytes &&
		input->next_nbytes == next->nbytes)
		return CSV_OK;			/* still to come */
	next->owner = NULL;
	return input->next == NULL ? CSV_OK : copy_next(call);
}

typedef struct WindowBytes
{
	size_t		separators;
	size_t		records;		/* of each of the record table's four arrays */
	size_t		select;
	uint32_t	nlongs;
	uint32_t	npieces;
	size_t		nbytes;
} WindowBytes;

/* memory of a window of so many tiles, separators and records */
static WindowBytes
window_bytes(const CsvCall *call, uint32_t ntiles, uint32_t nseparators,
			 uint32_t nrecords)
{
	WindowBytes bytes;
	size_t		span = (size_t) ntiles * CSV_TILE_BYTES;
	uint32_t	each = call->cuda->max_per_field > 2 ? 2 :
		call->cuda->max_per_field;

	bytes.separators = ALIGN(((size_t) nseparators + 1) * 4, 256);
	bytes.records = ALIGN(((size_t) nrecords + 2) * 4, 256);
	bytes.select = ALIGN(((size_t) nrecords / CSV_SELECT_RECORDS + 2) * 4, 256);
	bytes.nlongs = (uint32_t) (span / (CSV_LONG_FIELD_BYTES + 1) + 1) * each;
	bytes.npieces = bytes.nlongs +
		(uint32_t) (span / CSV_PIECE_BYTES + 1) * each;
	bytes.nbytes = bytes.separators + 5 * bytes.records + bytes.select +
		ALIGN(bytes.nlongs * sizeof(CsvLong), 256) +
		ALIGN(bytes.npieces * sizeof(CsvPiece), 256);
	return bytes;
}

/* memory for index and masks */
static size_t
index_budget(const CsvCall *call)
{
	size_t		budget = (size_t) (call->nbytes * CSV_INDEX_SHARE);

	return budget < CSV_INDEX_FLOOR ? CSV_INDEX_FLOOR : budget;
}

/* of that, the masks, which come first */
static size_t
masks_bytes(const CsvCall *call)
{
	return (size_t) call->view.ntiles * CSV_TILE_THREADS * CSV_NUM_MASKS * 8;
}

/* where the parts of a window are; its memory is there */
static void
lay_out_window(CsvCall *call, const WindowBytes *bytes)
{
	CsvView    *view = &call->view;
	uint8_t    *next = csv_session.device_memory[CSV_DEVICE_INDEX].bytes;

	view->masks = (uint64_t *) next;
	next += masks_bytes(call);
	view->separators = (uint32_t *) next;
	next += bytes->separators;
	view->record_start = (uint32_t *) next;
	next += bytes->records;
	view->record_first = (uint32_t *) next;
	next += bytes->records;
	view->record_line = (uint32_t *) next;
	next += bytes->records;
	view->record_key = (uint32_t *) next;
	next += bytes->records;
	view->rows = (uint32_t *) next;
	next += bytes->records;
	view->select_ranks = (uint32_t *) next;
	next += bytes->select;
	view->longs = (CsvLong *) next;
	next += ALIGN(bytes->nlongs * sizeof(CsvLong), 256);
	view->pieces = (CsvPiece *) next;
	view->max_longs = bytes->nlongs;
	view->max_pieces = bytes->npieces;
}

/* masks, and before them the composed transitions that lead to them */
static CsvStatus
place_masks(CsvCall *call)
{
	CsvView    *view = &call->view;
	size_t		prefixes_at = masks_bytes(call);
	size_t		nbytes = prefixes_at +
		(size_t) view->ntiles * CSV_TILE_THREADS * 4;
	size_t		budget = index_budget(call);
	uint8_t    *base;

	TRY(reserve(call, CSV_DEVICE_INDEX, nbytes > budget ? nbytes : budget, 0));
	base = csv_session.device_memory[CSV_DEVICE_INDEX].bytes;
	view->masks = (uint64_t *) base;
	/* done with before a window is filled */
	view->prefixes = (uint32_t *) (base + prefixes_at);
	return CSV_OK;
}

/*
 * The input, and what is known of its tiles.
 */
static CsvStatus
place_input(CsvCall *call)
{
	CsvCuda    *cuda = call->cuda;
	CsvView    *view = &call->view;
	cudaStream_t stream = csv_session.stream;
	uint32_t	limit = call->nbytes + (call->at_end ? 1 : 0);
	uint32_t	ntiles = (limit + CSV_TILE_BYTES - 1) / CSV_TILE_BYTES;
	size_t		input_bytes = (size_t) ntiles * CSV_TILE_BYTES + 512;
	size_t		states_at = input_bytes;
	size_t		ranks_at = ALIGN(states_at + ntiles * 4, 256);
	uint8_t    *base;

	TRY(reserve(call, CSV_DEVICE_INPUT,
				ranks_at + (ntiles + 1) * sizeof(CsvRanks), 0));
	base = csv_session.device_memory[CSV_DEVICE_INPUT].bytes;

	view->bytes = base + 256;
	view->nbytes = call->nbytes;
	view->limit = limit;
	view->max_record_bytes = call->input->max_record_bytes;
	view->dialect = *cuda->dialect;
	view->ntiles = ntiles;
	view->tile_states = (uint32_t *) (base + states_at);
	view->ranks = (CsvRanks *) (base + ranks_at);

	TRY_CUDA(cudaMemsetAsync(base, 0, 256, stream), "memset");
	TRY_CUDA(cudaMemsetAsync(base + 256 + call->nbytes, 0,
							 input_bytes - 256 - call->nbytes, stream),
			 "memset");
	return copy_input(call, base + 256);
}

/*
 * Launch what finds the structure, and learn what it has found; the tiles' ranks
 * are for planning windows.
 */
static CsvStatus
find_structure(CsvCall *call)
{
	CsvCuda    *cuda = call->cuda;
	CsvView    *view = &call->view;
	CsvCounters *counters = (CsvCounters *) cuda->staging;
	uint8_t    *ranks = cuda->staging + CSV_STAGED_RANKS;
	size_t		ranks_bytes;
	cudaStream_t stream = csv_session.stream;

	TRY(place_input(call));
	ranks_bytes = ((size_t) view->ntiles + 1) * sizeof(CsvRanks);
	TRY_CUDA(cudaEventRecord(csv_session.phases[0], stream), "event");
	TRY(place_masks(call));
	memset(counters, 0, sizeof(*counters));
	counters->first_irregular = UINT32_MAX;
	TRY_CUDA(cudaMemcpyAsync(view->counters, counters, sizeof(*counters),
							 cudaMemcpyHostToDevice, stream), "copy");
	csv_launch_structure(view, &cuda->tables, stream);
	TRY_CUDA(cudaEventRecord(csv_session.phases[1], stream), "event");
	TRY_CUDA(cudaMemcpyAsync(counters, view->counters, sizeof(*counters),
							 cudaMemcpyDeviceToHost, stream), "copy");
	TRY_CUDA(cudaMemcpyAsync(ranks, view->ranks, ranks_bytes,
							 cudaMemcpyDeviceToHost, stream), "copy");
	TRY(wait_for_device(call));

	/* the staging block is used again */
	memcpy(call->ranks, ranks, ranks_bytes);
	call->nrecords = counters->total.ends;
	call->nseparators = counters->total.separators;
	call->has_tail = counters->total.starts > counters->total.ends;
	call->tail_start = call->has_tail ? counters->last_start : call->nbytes;
	return CSV_OK;
}

/* ---- 2: windows ---- */

/* the tile in which a record starts: the last with no more starts before it */
static uint32_t
tile_of_start(const CsvCall *call, uint32_t record)
{
	uint32_t	low = 0;
	uint32_t	high = call->view.ntiles - 1;

	while (low < high)
	{
		uint32_t	middle = low + (high - low + 1) / 2;

		if (call->ranks[middle].starts <= record)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

/*
 * Open the window that starts with the given record: as many whole tiles as fit
 * the budget, but one record at the least; no more records than max_records.
 */
static CsvStatus
open_window(CsvCall *call, uint32_t first_record, uint32_t max_records)
{
	CsvView    *view = &call->view;
	const CsvRanks *ranks = call->ranks;
	size_t		budget = index_budget(call) - masks_bytes(call);
	uint32_t	first_tile;
	uint32_t	low;
	uint32_t	high = view->ntiles;
	uint32_t	need;
	WindowBytes bytes;

	/* the fewest tiles that hold the end of the first record */
	first_tile = tile_of_start(call, first_record);
	low = first_tile + 1;
	while (low < high)
	{
		uint32_t	middle = low + (high - low) / 2;

		if (ranks[middle].ends > first_record)
			high = middle;
		else
			low = middle + 1;
	}
	need = low;

	/* the most that fit, if more than those */
	high = view->ntiles;
	while (low < high)
	{
		uint32_t	middle = low + (high - low + 1) / 2;

		if (window_bytes(call, middle - first_tile,
						 ranks[middle].separators -
						 ranks[first_tile].separators,
						 ranks[middle].ends - first_record).nbytes <= budget)
			low = middle;
		else
			high = middle - 1;
	}
	if (low < need)
		low = need;

	view->first_tile = first_tile;
	view->window_tiles = low - first_tile;
	view->first_record = first_record;
	view->first_separator = ranks[first_tile].separators;
	view->nrecords = ranks[low].ends - first_record;
	if (view->nrecords > max_records)
		view->nrecords = max_records;
	bytes = window_bytes(call, view->window_tiles,
						 ranks[low].separators - view->first_separator,
						 view->nrecords);
	TRY(reserve(call, CSV_DEVICE_INDEX, masks_bytes(call) + bytes.nbytes,
				masks_bytes(call)));
	lay_out_window(call, &bytes);
	return CSV_OK;
}

/* index, record table, list of rows */
static CsvStatus
launch_records(CsvCall *call)
{
	CsvCuda    *cuda = call->cuda;

	TRY_CUDA(cudaMemsetAsync(&call->view.counters->any_bad, 0,
							 sizeof(uint32_t), csv_session.stream), "memset");
	csv_launch_index(&call->view, csv_session.stream);
	csv_launch_check(&call->view, csv_session.stream);
	csv_launch_select(&call->view, csv_session.stream);
	return CSV_OK;
}

/* ---- columns and strides ---- */

/*
 * What the kernels need of columns and layout, in CSV_DEVICE_SMALL and in the
 * staging block.  The staging block is sized for everything that goes through
 * it.
 */
static CsvStatus
place_small(CsvCall *call)
{
	CsvCuda    *cuda = call->cuda;
	const CsvLayout *layout = cuda->layout;
	SmallLayout *small = &call->small;
	uint32_t	n = layout->ncolumns;
	size_t		max_tiles = (size_t) call->nbytes / CSV_TILE_BYTES + 3;
	size_t		staging;

	small->columns = 256;		/* the counters come first */
	small->text = small->columns + ALIGN(n * sizeof(CsvDeviceColumn), 256);
	small->strips = small->text + ALIGN(cuda->ntext * 4, 256);
	small->strings = small->strips +
		ALIGN(cuda->nstrips * sizeof(CsvStrip), 256);
	small->seen = small->strings +
		ALIGN((size_t) layout->null_length + layout->default_length, 256);
	small->upload_bytes = small->seen;
	small->histograms = small->seen + ALIGN(n * 4, 256);
	small->nbytes = small->histograms +
		(size_t) cuda->ntext * CSV_LENGTH_BINS * 4;
	staging = CSV_STAGED_RANKS + max_tiles * sizeof(CsvRanks);
	if (staging < small->nbytes)
		staging = small->nbytes;
	TRY(reserve_pinned(cuda, &cuda->staging, staging));
	TRY(reserve(call, CSV_DEVICE_SMALL, small->nbytes, 0));
	call->view.counters =
		(CsvCounters *) csv_session.device_memory[CSV_DEVICE_SMALL].bytes;
	return CSV_OK;
}

/*
 * Below how many bytes plain ASCII text is within a column's limits, and fits
 * into its entry; how long it is stored at the least.
 */
static void
set_plain_limits(CsvDeviceColumn *device_column)
{
	const CsvColumn *column = &device_column->column;
	bool		text = column->kind == CSV_KIND_TEXT ||
		column->kind == CSV_KIND_CSTRING;
	const int32_t limits[] = {column->max_chars, column->byte_width,
	text ? column->type_chars : -1};
	int64_t		most = INT32_MAX;

	device_column->pad_bytes = 0;
	if (text)
		most = (int64_t) device_column->stride - 4 -
			(column->kind == CSV_KIND_CSTRING);
	if (column->kind == CSV_KIND_TEXT && column->pad_blanks &&
		column->type_chars > 0)
		device_column->pad_bytes = (uint32_t) column->type_chars;
	if (device_column->pad_bytes > most)
		most = -1;
	for (int i = 0; i < 3; i++)
		if (limits[i] >= 0 && limits[i] < most)
			most = limits[i];
	device_column->plain_below = most < 0 ? 0 : (uint32_t) most + 1;
}

static CsvStatus
upload_columns(CsvCall *call)
{
	CsvCuda    *cuda = call->cuda;
	const CsvLayout *layout = cuda->layout;
	const SmallLayout *small = &call->small;
	CsvView    *view = &call->view;
	uint8_t    *device = csv_session.device_memory[CSV_DEVICE_SMALL].bytes;
	uint8_t    *host = cuda->staging;
	CsvDeviceColumn *columns = (CsvDeviceColumn *) (host + small->columns);
	uint32_t	group = 0;

	for (uint32_t i = 0; i < layout->ncolumns; i++)
	{
		if (i == 0 || layout->columns[i].field != layout->columns[i - 1].field)
			group++;
		columns[i].column = layout->columns[i];
		columns[i].group = group;
		columns[i].stride = cuda->strides[i];
		set_plain_limits(&columns[i]);
		columns[i].values = call->values_offset == NULL ? NULL :
			csv_session.device_memory[CSV_DEVICE_OUTPUT].bytes +
			call->values_offset[2 * i];
		columns[i].status = call->values_offset == NULL ? NULL :
			csv_session.device_memory[CSV_DEVICE_OUTPUT].bytes +
			call->values_offset[2 * i + 1];
	}
	if (cuda->ntext > 0)
		memcpy(host + small->text, cuda->text, cuda->ntext * 4);
	if (cuda->nstrips > 0)
		memcpy(host + small->strips, cuda->strips,
			   cuda->nstrips * sizeof(CsvStrip));
	if (layout->null_length > 0)
		memcpy(host + small->strings, layout->null_bytes, layout->null_length);
	if (layout->default_length > 0)
		memcpy(host + small->strings + layout->null_length,
			   layout->default_bytes, layout->default_length);
	TRY_CUDA(cudaMemcpyAsync(device + small->columns, host + small->columns,
							 small->upload_bytes - small->columns,
							 cudaMemcpyHostToDevice, csv_session.stream),
			 "copy");
	view->columns = (CsvDeviceColumn *) (device + small->columns);
	view->seen = (uint32_t *) (device + small->seen);
	view->layout = *layout;
	view->ordinary_below = layout->has_default ||
		cuda->dialect->opt.quoting != CSV_QUOTING_RFC4180 ? 0 :
		CSV_LONG_FIELD_BYTES + 1;
	view->layout.columns = NULL;
	view->layout.null_bytes = device + small->strings;
	view->layout.default_bytes = device + small->strings + layout->null_length;
	return CSV_OK;
}

/*
 * The stride of a text column: the least bytes in all, where values that do
 * not fit cost their own and a fixed price.
 */
static uint32_t
choose_stride(const uint32_t *histogram)
{
	uint64_t	nrows = 0;
	uint64_t	cost_beyond = 0;
	uint64_t	best_cost = UINT64_MAX;
	uint32_t	best = 8;

	for (uint32_t bin = 0; bin < CSV_LENGTH_BINS; bin++)
		nrows += histogram[bin];
	for (uint32_t bin = CSV_LENGTH_BINS; bin-- > 0;)
	{
		uint64_t	words = csv_length_bin_words(bin);
		uint64_t	stride = 4 + 4 * words;

		if (stride <= CSV_MAX_STRIDE && (histogram[bin] != 0 || bin == 0))
		{
			uint64_t	cost = stride * nrows + cost_beyond;

			if (cost < best_cost)
			{
				best_cost = cost;
				best = (uint32_t) stride;
			}
		}
		cost_beyond += histogram[bin] * (4 * words + CSV_LONG_VALUE_COST);
	}
	return best;
}

/* strides of all columns; those of text from the histograms */
static void
choose_strides(CsvCall *call, const uint32_t *histograms)
{
	CsvCuda    *cuda = call->cuda;
	const CsvLayout *layout = cuda->layout;

	for (uint32_t i = 0; i < layout->ncolumns; i++)
		cuda->strides[i] = csv_value_stride(&layout->columns[i]);
	for (uint32_t i = 0; i < cuda->ntext; i++)
		cuda->strides[cuda->text[i]] =
			choose_stride(histograms + (size_t) i * CSV_LENGTH_BINS);
	call->row_bytes = 8;
	for (uint32_t i = 0; i < layout->ncolumns; i++)
		call->row_bytes += cuda->strides[i] + 1;
}

/*
 * Lengths of all text, over all windows; the only window's records are ready
 * after that.
 */
static CsvStatus
measure_text(CsvCall *call, bool one_window)
{
	CsvCuda    *cuda = call->cuda;
	CsvView    *view = &call->view;
	uint8_t    *device = csv_session.device_memory[CSV_DEVICE_SMALL].bytes;
	CsvColumnList list = {(uint32_t *) (device + call->small.text),
	cuda->ntext};
	size_t		nbytes = (size_t) list.n * CSV_LENGTH_BINS * 4;
	uint32_t   *histograms = (uint32_t *) (device + call->small.histograms);

	if (one_window)
		TRY(launch_records(call));
	if (list.n == 0)
	{
		choose_strides(call, NULL);
		return CSV_OK;
	}
	TRY_CUDA(cudaMemsetAsync(histograms, 0, nbytes, csv_session.stream),
			 "memset");
	if (one_window)
		csv_launch_lengths(view, list, histograms, csv_session.stream);
	else
	{
		uint32_t	next = 0;

		while (next < call->nrecords)
		{
			TRY(open_window(call, next, UINT32_MAX));
			TRY(launch_records(call));
			csv_launch_lengths(view, list, histograms, csv_session.stream);
			next += view->nrecords;
			TRY(check_interrupt(call));
		}
	}
	TRY_CUDA(cudaMemcpyAsync(cuda->staging + call->small.histograms, histograms,
							 nbytes, cudaMemcpyDeviceToHost,
							 csv_session.stream), "copy");
	TRY(wait_for_device(call));
	choose_strides(call, (uint32_t *) (cuda->staging +
									   call->small.histograms));
	return CSV_OK;
}

/* ---- output ---- */

/*
 * Arrays for as many records as the output may have, on the device.
 */
static CsvStatus
place_output(CsvCall *call)
{
	CsvCuda    *cuda = call->cuda;
	CsvView    *view = &call->view;
	uint32_t	n = cuda->layout->ncolumns;
	size_t		budget = (size_t) call->nbytes * CSV_OUTPUT_SHARE +
		CSV_OUTPUT_FLOOR;
	/* what a query has, or is only kept, goes where the output needs it */
	size_t		held = csv_device_held() -
		csv_session.device_memory[CSV_DEVICE_OUTPUT].nbytes -
		csv_session.device_memory[CSV_DEVICE_QUERY].nbytes -
		csv_session.device_memory[CSV_DEVICE_ANSWER].nbytes -
		csv_session.kept_bytes;
	size_t		slack = (size_t) (2 * n + 3) * 256;
	size_t		room = call->memory_limit > held ?
		call->memory_limit - held : 0;
	size_t		limit;
	size_t		offset = 0;
	uint8_t    *base;

	/* leave a 16th of what there is for errors */
	room -= room / 16;
	if (budget > room)
		budget = room;
	limit = budget > slack ? (budget - slack) / call->row_bytes : 0;
	if (limit < 1)
		limit = 1;
	call->record_limit = limit < call->nrecords ? (uint32_t) limit :
		call->nrecords;

	for (uint32_t i = 0; i < n; i++)
	{
		call->values_offset[2 * i] = offset;
		offset += ALIGN((size_t) call->record_limit * cuda->strides[i], 256);
		call->values_offset[2 * i + 1] = offset;
		offset += ALIGN((size_t) call->record_limit, 256);
	}
	TRY(reserve(call, CSV_DEVICE_OUTPUT,
				offset + 2 * ALIGN((size_t) call->record_limit * 4, 256), 0));
	base = csv_session.device_memory[CSV_DEVICE_OUTPUT].bytes;
	view->row_offsets = (uint32_t *) (base + offset);
	view->row_lines = (uint32_t *) (base + offset +
									ALIGN((size_t) call->record_limit * 4,
										  256));
	return CSV_OK;
}

/* ---- 3: a window's arrays ---- */

static void
launch_columns(CsvCall *call)
{
	const CsvCuda *cuda = call->cuda;
	uint8_t    *device = csv_session.device_memory[CSV_DEVICE_SMALL].bytes;
	CsvStripList list = {(CsvStrip *) (device + call->small.strips),
	cuda->nstrips};
	uint32_t	nfields = 0;

	if (list.n == 0)
		return;
	for (uint32_t i = 0; i < list.n; i++)
		if (cuda->strips[i].nfields > nfields)
			nfields = cuda->strips[i].nfields;
	csv_launch_columns(&call->view, list,
					   (uint32_t) ((uint64_t) call->nbytes * nfields /
								   call->nseparators),
					   csv_session.max_shared_bytes, csv_session.stream);
	csv_launch_longs(&call->view, csv_session.multiprocessors,
					 csv_session.stream);
}

/*
 * Fill the rows of the window.  Bad values are known only afterwards; then the
 * rows are listed anew without their records, and filled once more.
 */
static CsvStatus
fill_window(CsvCall *call, bool records_ready)
{
	CsvCuda    *cuda = call->cuda;
	CsvView    *view = &call->view;
	cudaStream_t stream = csv_session.stream;
	uint32_t	n = cuda->layout->ncolumns;
	uint8_t    *small = csv_session.device_memory[CSV_DEVICE_SMALL].bytes;
	CsvCounters *counters = (CsvCounters *) cuda->staging;
	CsvError   *errors;
	uint32_t	nvalid;
	uint32_t	nerrors;

	/* what a later window will want is not known yet */
	bool		want_positions = cuda->layout->want_positions ||
		view->nrecords < call->nrecords;

	view->first_row = call->nrows;
	if (!records_ready)
		TRY(launch_records(call));
	for (int pass = 0;; pass++)
	{
		TRY_CUDA(cudaMemsetAsync(&view->counters->value_errors, 0,
								 3 * sizeof(uint32_t), stream), "memset");
		if (n > 0)
			TRY_CUDA(cudaMemsetAsync(small + call->small.seen, 0, n * 4,
									 stream), "memset");
		launch_columns(call);
		csv_launch_consumed(view, UINT32_MAX, stream);
		TRY_CUDA(cudaMemcpyAsync(counters, view->counters, sizeof(*counters),
								 cudaMemcpyDeviceToHost, stream), "copy");
		if (n > 0)
			TRY_CUDA(cudaMemcpyAsync(cuda->staging + call->small.seen,
									 small + call->small.seen, n * 4,
									 cudaMemcpyDeviceToHost, stream), "copy");
		TRY(wait_for_device(call));
		if (counters->value_errors == 0 || pass > 0)
			break;
		csv_launch_select(view, stream);
	}

	nvalid = view->nrecords;
	if (counters->first_irregular - view->first_record < nvalid)
	{
		nvalid = counters->first_irregular - view->first_record;
		call->irregular = true;
	}
	if (nvalid > 0)
	{
		call->consumed = counters->consumed;
		call->nlines = counters->nlines;
	}
	for (uint32_t i = 0; i < n; i++)
	{
		call->seen[i] |= ((uint32_t *) (cuda->staging + call->small.seen))[i];
		want_positions |= (call->seen[i] & CSV_SEEN_SLOW) != 0;
	}
	if (want_positions)
	{
		csv_launch_positions(view, stream);
		TRY_CUDA(cudaGetLastError(), "kernel launch");
	}

	nerrors = nvalid - counters->nrows;
	if (nerrors > 0)
	{
		TRY(reserve(call, CSV_DEVICE_ERRORS,
					((size_t) call->nerrors + nerrors) * sizeof(CsvError),
					(size_t) call->nerrors * sizeof(CsvError)));
		errors = (CsvError *)
			csv_session.device_memory[CSV_DEVICE_ERRORS].bytes;
		/* the padding as well */
		TRY_CUDA(cudaMemsetAsync(errors + call->nerrors, 0,
								 nerrors * sizeof(CsvError), stream),
				 "memset");
		csv_launch_errors(view, errors, call->nerrors, stream);
		TRY_CUDA(cudaGetLastError(), "kernel launch");
	}
	call->nerrors += nerrors;
	call->nrows += counters->nrows;
	call->ndone += nvalid;
	return CSV_OK;
}

/* ---- 4: the query ---- */

/* room for a query, if there is so much: what parsing needs comes first */
static bool
reserve_for_query(CsvCall *call, CsvDeviceMemory which, size_t nbytes)
{
	char		message[sizeof(call->cuda->message)];
	size_t		others = csv_device_held() - csv_session.kept_bytes -
		csv_session.device_memory[which].nbytes;

	return others + nbytes <= call->memory_limit / CSV_QUERY_MEMORY_SHARE &&
		csv_device_reserve(which, nbytes, 0, call->memory_limit, message);
}

/* the arrays, as the query reads them */
static CsvStatus
upload_query(CsvCall *call)
{
	CsvCuda    *cuda = call->cuda;
	const CsvLayout *layout = cuda->layout;
	const CsvQueryView *view = &call->view_of_query;
	const uint8_t *output = csv_session.device_memory[CSV_DEVICE_OUTPUT].bytes;
	CsvRowColumn *columns = (CsvRowColumn *)
		(cuda->staging + call->small.columns);

	static_assert(sizeof(CsvRowColumn) <= sizeof(CsvDeviceColumn),
				  "they share a part of the staging block");
	for (uint32_t i = 0; i < layout->ncolumns; i++)
	{
		const CsvColumn *column = &layout->columns[i];

		memset((void *) &columns[i], 0, sizeof(columns[i]));
		columns[i].values = output + call->values_offset[2 * i];
		if ((call->seen[i] & CSV_SEEN_NOT_OK) != 0)
			columns[i].status = output + call->values_offset[2 * i + 1];
		columns[i].slow = (call->seen[i] & CSV_SEEN_SLOW) != 0;
		columns[i].stride = cuda->strides[i];
		columns[i].kind = column->kind;
		columns[i].precision = column->precision;
		columns[i].scale = column->scale;
	}
	TRY_CUDA(csv_query_upload(view, &call->query->plan, columns,
							  csv_session.stream), "copy");
	return CSV_OK;
}

static CsvStatus
read_counts(CsvCall *call)
{
	CsvCuda    *cuda = call->cuda;
	CsvQueryCounts *counts = (CsvQueryCounts *) (cuda->staging + 128);

	static_assert(sizeof(CsvCounters) <= 128 && sizeof(CsvQueryCounts) <= 128,
				  "they share the beginning of the staging block");
	TRY_CUDA(cudaMemcpyAsync(counts, call->view_of_query.counts,
							 sizeof(*counts), cudaMemcpyDeviceToHost,
							 csv_session.stream), "copy");
	TRY(wait_for_device(call));
	call->counts = *counts;
	return CSV_OK;
}

/* does somebody look at this column of the rows that come out? */
static bool
comes_out(const CsvCall *call, uint32_t column)
{
	return call->counts.nselected > 0 &&
		(call->counts.ncareful > 0 || !call->query->hidden[column]);
}

/* bytes of texts that there is room for; mostly more than there are */
static size_t
text_room(const CsvCall *call)
{
	size_t		longest = call->query->longest_text;

	for (uint32_t i = 0; i < call->cuda->ntext; i++)
		if (call->cuda->strides[call->cuda->text[i]] > longest)
			longest = call->cuda->strides[call->cuda->text[i]];
	longest *= (size_t) call->view_of_query.ngroups * call->query->ntexts;
	return longest < call->nbytes ? longest : call->nbytes;
}

/* where things are in CSV_DEVICE_ANSWER; returns its bytes */
static size_t
lay_out_answer(CsvCall *call, uint8_t *base)
{
	const CsvCuda *cuda = call->cuda;
	CsvQueryView *view = &call->view_of_query;
	size_t		n = call->counts.nselected;
	size_t		next = csv_query_lay_out_groups(view, &call->query->plan,
												text_room(call), base);

	for (uint32_t i = 0; i < cuda->layout->ncolumns; i++)
	{
		if (!comes_out(call, i))
			continue;
		call->gathered_offset[2 * i] = next;
		next += ALIGN(n * cuda->strides[i], 256);
		call->gathered_offset[2 * i + 1] = next;
		next += ALIGN(n, 256);
	}
	call->gathered_offset[2 * cuda->layout->ncolumns] = next;
	next += ALIGN(n * 4, 256);
	call->gathered_offset[2 * cuda->layout->ncolumns + 1] = next;
	next += ALIGN(n * 4, 256);
	return next;
}

/* entries of the rows that come out */
static void
gather(CsvCall *call)
{
	const CsvCuda *cuda = call->cuda;
	const CsvQueryView *view = &call->view_of_query;
	cudaStream_t stream = csv_session.stream;
	const uint8_t *output = csv_session.device_memory[CSV_DEVICE_OUTPUT].bytes;
	uint8_t    *answer = csv_session.device_memory[CSV_DEVICE_ANSWER].bytes;
	const size_t *to = call->gathered_offset;
	uint32_t	n = cuda->layout->ncolumns;
	uint32_t	nselected = call->counts.nselected;
	bool		want_positions = cuda->layout->want_positions;

	for (uint32_t i = 0; i < n; i++)
	{
		want_positions |= (call->seen[i] & CSV_SEEN_SLOW) != 0;
		if (!comes_out(call, i))
			continue;
		csv_launch_gather(view, nselected, output + call->values_offset[2 * i],
						  cuda->strides[i], answer + to[2 * i], stream);
		if ((call->seen[i] & CSV_SEEN_NOT_OK) != 0)
			csv_launch_gather(view, nselected,
							  output + call->values_offset[2 * i + 1], 1,
							  answer + to[2 * i + 1], stream);
	}
	if (!want_positions)
		return;
	csv_launch_gather(view, nselected, (uint8_t *) call->view.row_offsets, 4,
					  answer + to[2 * n], stream);
	csv_launch_gather(view, nselected, (uint8_t *) call->view.row_lines, 4,
					  answer + to[2 * n + 1], stream);
}

/* are so many groups of a batch worth the way to the host? */
static bool
groups_may_travel(const CsvCall *call, uint32_t ngroups)
{
	return ngroups <= call->nrows / CSV_QUERY_GROUPS_SHARE ||
		ngroups <= CSV_QUERY_FEW_GROUPS;
}

/* may the batch's groups stay here?  There must be many of them to begin it */
static bool
may_hold_groups(const CsvCall *call)
{
	CsvGroupTable *table = &call->cuda->table;
	uint32_t	ngroups = call->view_of_query.ngroups;
	uint32_t	hold_from = call->cuda->options.hold_from > 0 ?
		call->cuda->options.hold_from : CSV_TABLE_LEAST_GROUPS;

	return call->query->may_hold && ngroups > 0 &&
		(table->ngroups > 0 || ngroups >= hold_from) &&
		csv_table_suits(table, &call->query->plan, call->nrows);
}

/*
 * Prepare for the batch's groups to be held, as far as there is room.  Those for
 * which there is none come with the answer, if they are not too many.
 */
static CsvStatus
hold_groups(CsvCall *call)
{
	CsvCuda    *cuda = call->cuda;
	CsvTableCounts *counts = (CsvTableCounts *) (cuda->staging + 128);
	size_t		limit = call->memory_limit / CSV_QUERY_MEMORY_SHARE;
	uint32_t	ntravel = call->view_of_query.ngroups;

	static_assert(sizeof(CsvTableCounts) <= 128, "as in read_counts()");
	if (csv_table_seek(&cuda->table, &call->view_of_query, limit,
					   csv_session.stream))
	{
		TRY_CUDA(cudaMemcpyAsync(counts, cuda->table.counts, sizeof(*counts),
								 cudaMemcpyDeviceToHost, csv_session.stream),
				 "copy");
		TRY(wait_for_device(call));
		call->table_counts = *counts;
		if (counts->crowded == 0)
			call->room = csv_table_make_room(&cuda->table, counts,
											 call->counts.text_bytes, limit,
											 csv_session.stream);
	}
	if (call->room == CSV_ROOM_ALL)
		ntravel = 0;
	else if (call->room == CSV_ROOM_FOUND)
		ntravel = call->table_counts.nnew;
	call->answered = groups_may_travel(call, ntravel);
	if (!call->answered)
		call->room = CSV_ROOM_NONE;
	return CSV_OK;
}

/*
 * Have the query evaluated, if that can be done: then call->answered.
 */
static CsvStatus
answer_query(CsvCall *call)
{
	CsvCuda    *cuda = call->cuda;
	const CsvCudaQuery *query = call->query;
	CsvQueryView *view = &call->view_of_query;
	size_t		nbytes;
	bool		may_hold;

	if (query == NULL || call->nrows == 0)
		return CSV_OK;
	for (uint32_t i = 0; i < cuda->layout->ncolumns && query->all_certain; i++)
		if ((call->seen[i] & CSV_SEEN_SLOW) != 0)
			return CSV_OK;
	nbytes = csv_query_lay_out(view, &query->plan,
							   cuda->layout->ncolumns, call->nrows, NULL);
	if (!reserve_for_query(call, CSV_DEVICE_QUERY, nbytes))
		return CSV_OK;
	csv_query_lay_out(view, &query->plan, cuda->layout->ncolumns, call->nrows,
					  csv_session.device_memory[CSV_DEVICE_QUERY].bytes);
	TRY(upload_query(call));
	csv_launch_query(view, csv_session.stream);
	TRY(read_counts(call));

	view->ngroups = !query->plan.aggregates ? 0 :
		query->plan.nkeys == 0 ? 1 : call->counts.ngroups;
	may_hold = may_hold_groups(call);
	if (call->counts.crowded != 0 ||
		(!may_hold && !groups_may_travel(call, view->ngroups)))
		return CSV_OK;
	if (!reserve_for_query(call, CSV_DEVICE_ANSWER, lay_out_answer(call, NULL)))
		return CSV_OK;
	lay_out_answer(call, csv_session.device_memory[CSV_DEVICE_ANSWER].bytes);
	if (view->ngroups > 0)
		TRY_CUDA(cudaMemsetAsync(view->words, 0, (size_t) view->ngroups *
								 view->plan.nwords * 8, csv_session.stream),
				 "memset");
	csv_launch_groups(view, csv_session.multiprocessors, csv_session.stream);
	gather(call);
	if (query->ntexts > 0)
		TRY(read_counts(call));
	call->answered = call->counts.text_bytes <= view->text_capacity;
	return call->answered && may_hold ? hold_groups(call) : CSV_OK;
}

/* ---- 5: back to the host ---- */

/* n bytes into the output's block */
static CsvStatus
fetch(CsvCall *call, size_t *offset, const void *device, size_t n,
	  const void **place)
{
	CsvCuda    *cuda = call->cuda;

	*place = call->output->block + *offset;
	if (n > 0)
		TRY_CUDA(cudaMemcpyAsync(call->output->block + *offset, device, n,
								 cudaMemcpyDeviceToHost, csv_session.stream),
				 "copy");
	*offset += ALIGN(n, 64);
	return CSV_OK;
}

/* groups that come with the answer */
static uint32_t
groups_out(const CsvCall *call)
{
	return call->room == CSV_ROOM_ALL ? 0 : call->view_of_query.ngroups;
}

static CsvStatus
copy_back(CsvCall *call, CsvBatch *batch)
{
	CsvCuda    *cuda = call->cuda;
	CsvOutput  *output = call->output;
	const CsvLayout *layout = cuda->layout;
	cudaStream_t stream = csv_session.stream;
	bool		answered = call->answered;
	const uint8_t *device = csv_session.device_memory[answered ?
													  CSV_DEVICE_ANSWER :
													  CSV_DEVICE_OUTPUT].bytes;
	const size_t *from = answered ? call->gathered_offset :
		call->values_offset;
	size_t		nentries = answered ? call->counts.nselected : call->nrows;
	size_t		offset = 0;
	size_t		zeros;
	size_t		errors;
	size_t		positions;
	size_t		answer;
	bool		any_slow = false;
	bool		want_positions;

	for (uint32_t i = 0; i < layout->ncolumns; i++)
	{
		CsvArray   *array = &output->arrays[i];

		memset(array, 0, sizeof(*array));
		array->stride = cuda->strides[i];
		array->all_ok = (call->seen[i] & CSV_SEEN_NOT_OK) == 0;
		array->any_slow = (call->seen[i] & CSV_SEEN_SLOW) != 0;
		any_slow |= array->any_slow;
		offset += ALIGN(nentries * array->stride, 64);
		if (!array->all_ok)
			offset += ALIGN(nentries, 64);
	}
	want_positions = layout->want_positions || any_slow;
	zeros = offset;
	offset += ALIGN(nentries, 64);
	errors = offset;
	offset += ALIGN(call->nerrors * sizeof(CsvError), 64);
	positions = offset;
	if (want_positions)
		offset += 2 * ALIGN(nentries * 4, 64);
	answer = offset;
	if (answered)
		offset += csv_query_answer_bytes(&call->view_of_query, &call->counts,
										 groups_out(call));
	TRY(reserve_pinned(cuda, &output->block, offset + 64));

	/* the statuses of all columns that are all OK are the same zeros */
	memset(output->block + zeros, 0, nentries);
	TRY_CUDA(cudaEventRecord(csv_session.copy_out[0], stream), "event");
	offset = 0;
	for (uint32_t i = 0; i < layout->ncolumns; i++)
	{
		CsvArray   *array = &output->arrays[i];

		array->status = output->block + zeros;
		if (answered && !comes_out(call, i))
		{
			array->all_ok = true;
			array->any_slow = false;
			continue;
		}
		TRY(fetch(call, &offset, device + from[2 * i],
				  nentries * array->stride, (const void **) &array->values));
		if (!array->all_ok)
			TRY(fetch(call, &offset, device + from[2 * i + 1], nentries,
					  (const void **) &array->status));
	}
	if (call->nerrors > 0)
		TRY_CUDA(cudaMemcpyAsync(output->block + errors,
								 csv_session.device_memory[CSV_DEVICE_ERRORS].bytes,
								 call->nerrors * sizeof(CsvError),
								 cudaMemcpyDeviceToHost, stream), "copy");
	if (want_positions)
	{
		const uint8_t *row_offsets = (uint8_t *) call->view.row_offsets;
		const uint8_t *row_lines = (uint8_t *) call->view.row_lines;

		if (answered)
		{
			row_offsets = device + from[2 * layout->ncolumns];
			row_lines = device + from[2 * layout->ncolumns + 1];
		}
		TRY(fetch(call, &positions, row_offsets, nentries * 4,
				  (const void **) &batch->row_offsets));
		TRY(fetch(call, &positions, row_lines, nentries * 4,
				  (const void **) &batch->row_lines));
	}
	if (answered)
	{
		TRY_CUDA(csv_query_fetch(&call->view_of_query, &call->counts,
								 groups_out(call), call->room == CSV_ROOM_FOUND ?
								 cuda->table.places : NULL,
								 output->block + answer, &output->answer,
								 stream), "copy");
		output->answer.held = call->room != CSV_ROOM_NONE;
		batch->answer = &output->answer;
	}
	TRY_CUDA(cudaEventRecord(csv_session.copy_out[1], stream), "event");
	TRY(wait_for_device(call));

	batch->arrays = output->arrays;
	batch->errors = (CsvError *) (output->block + errors);
	batch->nerrors = call->nerrors;
	batch->nrows = call->nrows;
	batch->nrecords = call->ndone;
	return CSV_OK;
}

/* ---- all of it ---- */

static double
seconds_between(cudaEvent_t from, cudaEvent_t to)
{
	float		milliseconds = 0;

	if (cudaEventElapsedTime(&milliseconds, from, to) != cudaSuccess)
	{
		cudaGetLastError();
		return 0;
	}
	return milliseconds / 1000.0;
}

/*
 * How a call ends that did not fail: with a batch, or with a stretch that is
 * the CPU engine's, or with less memory than even one record takes.
 */
typedef enum Outcome
{
	OUTCOME_BATCH,
	OUTCOME_IRREGULAR,
	OUTCOME_TOO_SMALL
} Outcome;

static CsvStatus
parse_on_device(CsvCall *call, CsvBatch *batch, Outcome *outcome)
{
	CsvCuda    *cuda = call->cuda;
	uint32_t	reserved;
	bool		one_window;
	bool		tail_too_long;

	*outcome = OUTCOME_BATCH;
	TRY(place_small(call));
	if (cuda->options.fault == CSV_CUDA_FAULT_NO_MEMORY &&
		cuda->nparsed == cuda->options.fault_at_chunk)
	{
		csv_session_say(cuda->message, "out of GPU memory (injected)");
		return CSV_DEVICE_FAILED;
	}
	if (cuda->options.fault == CSV_CUDA_FAULT_TRAP &&
		cuda->nparsed == cuda->options.fault_at_chunk)
		csv_launch_trap(csv_session.stream);
	TRY(find_structure(call));

	tail_too_long = call->has_tail &&
		(uint64_t) (call->nbytes - call->tail_start) >
		call->input->max_record_bytes + 1;
	if (call->nrecords == 0)
	{
		if (tail_too_long)
			*outcome = OUTCOME_IRREGULAR;
		else if (call->nbytes < call->input->nbytes && call->tail_start == 0)
			*outcome = OUTCOME_TOO_SMALL;
	}
	else
	{
		TRY(open_window(call, 0, UINT32_MAX));
		one_window = call->view.nrecords == call->nrecords;
		TRY(upload_columns(call));
		TRY(measure_text(call, one_window));
		reserved = call->nrecords;
		TRY(place_output(call));
		TRY(upload_columns(call));
		if (one_window)
		{
			bool		ready = call->record_limit == reserved;

			/* the output may be full before the window ends */
			if (!ready)
				TRY(open_window(call, 0, call->record_limit));
			TRY(fill_window(call, ready));
		}
		else
			while (call->ndone < call->record_limit && !call->irregular)
			{
				TRY(open_window(call, call->ndone,
								call->record_limit - call->ndone));
				TRY(fill_window(call, false));
				TRY(check_interrupt(call));
			}
		if (call->irregular && call->ndone == 0)
			*outcome = OUTCOME_IRREGULAR;
	}
	if (*outcome != OUTCOME_BATCH)
		return CSV_OK;
	TRY(answer_query(call));
	TRY_CUDA(cudaEventRecord(csv_session.phases[2], csv_session.stream),
			 "event");

	/* all records: blank lines behind them are done with as well */
	if (call->ndone == call->nrecords)
	{
		CsvCounters *counters = (CsvCounters *) cuda->staging;

		csv_launch_consumed(&call->view, call->tail_start, csv_session.stream);
		TRY_CUDA(cudaMemcpyAsync(counters, call->view.counters,
								 sizeof(*counters), cudaMemcpyDeviceToHost,
								 csv_session.stream), "copy");
		TRY(copy_back(call, batch));
		call->consumed = counters->consumed;
		call->nlines = counters->nlines;
	}
	else
		TRY(copy_back(call, batch));

	/* nothing that may be done again comes after this */
	if (call->room != CSV_ROOM_NONE)
	{
		csv_table_add(&cuda->table, &call->view_of_query, &call->table_counts,
					  call->room == CSV_ROOM_ALL, csv_session.stream);
		TRY_CUDA(cudaGetLastError(), "kernel launch");
	}
	return CSV_OK;
}

static CsvStatus
check_session(CsvCuda *cuda)
{
	if (csv_session.dead)
		csv_session_say(cuda->message,
						"the GPU failed earlier in this session: %.180s",
						csv_session.reason);
	else if (!csv_session.open)
		csv_session_say(cuda->message, "the CUDA session has ended");
	else
		return CSV_OK;
	return CSV_DEVICE_FAILED;
}

/* of the limit, what groups that stay leave */
static size_t
available_memory(CsvCall *call)
{
	size_t		taken;

	csv_signals_block(&call->signals);
	csv_session_lock();
	taken = csv_device_taken() - csv_session.kept_bytes;
	csv_session_unlock();
	csv_signals_unblock(&call->signals);
	return call->memory_limit > taken ? call->memory_limit - taken : 0;
}

static CsvStatus
cuda_parse(void *engine, const CsvInput *input, CsvBatch *batch)
{
	CsvCuda    *cuda = (CsvCuda *) engine;
	CsvCall		call;
	CsvStatus	status;
	Outcome		outcome = OUTCOME_BATCH;
	double		began = now_seconds();
	double		seconds;
	size_t		ntiles;
	size_t		host_bytes;
	uint64_t	most;

	memset(batch, 0, sizeof(*batch));
	cuda->nparsed++;
	if (input->alone_until > 0 || input->skip_line)
	{
		forget_next(cuda);
		return parse_on_cpu(cuda, input, batch);
	}
	memset((void *) &call, 0, sizeof(call));
	call.cuda = cuda;
	call.input = input;
	call.output = &cuda->outputs[input->output];
	call.memory_limit = csv_session_limit(cuda->options.memory_limit);

	/* what does not fit is left for the next call */
	most = (uint64_t) (available_memory(&call) / CSV_MEMORY_SHARE);
	if (most > CSV_MAX_INPUT_BYTES)
		most = CSV_MAX_INPUT_BYTES;
	call.nbytes = (uint32_t) (input->nbytes < most ? input->nbytes : most);
	call.at_end = input->at_end && call.nbytes == input->nbytes;

	if (call.nbytes == 0 && input->nbytes == 0)
	{
		batch->arrays = call.output->arrays;
		batch->bytes = input->bytes;
		for (uint32_t i = 0; i < cuda->layout->ncolumns; i++)
			memset(&batch->arrays[i], 0, sizeof(CsvArray));
		return CSV_OK;
	}

	/* what the host keeps during the call, in one piece */
	ntiles = (size_t) call.nbytes / CSV_TILE_BYTES + 3;
	host_bytes = ntiles * sizeof(CsvRanks) +
		cuda->layout->ncolumns * (4 * sizeof(size_t) + 4) +
		2 * sizeof(size_t) + 16;
	if (host_bytes > cuda->host_bytes)
	{
		if (cuda->host != NULL)
			cuda->memory.free(cuda->memory.owner, cuda->host);
		cuda->host_bytes = 0;
		cuda->host = NULL;
		cuda->host = cuda->memory.alloc(cuda->memory.owner, host_bytes);
		if (cuda->host == NULL)
			return CSV_NO_MEMORY;
		cuda->host_bytes = host_bytes;
	}
	call.ranks = (CsvRanks *) cuda->host;
	call.values_offset = (size_t *) (call.ranks + ntiles);
	call.gathered_offset = call.values_offset + 2 * cuda->layout->ncolumns;
	call.seen = (uint32_t *) (call.gathered_offset +
							  2 * cuda->layout->ncolumns + 2);
	memset(call.values_offset, 0,
		   cuda->layout->ncolumns * (4 * sizeof(size_t) + 4) +
		   2 * sizeof(size_t));
	memset(cuda->strides, 0, cuda->layout->ncolumns * sizeof(uint32_t));

	call.query = use_query(cuda);
	csv_signals_block(&call.signals);
	csv_session_lock();
	status = check_session(cuda);
	if (status == CSV_OK)
	{
		began = now_seconds();	/* another scan's call may have come first */
		if (csv_device_held() > call.memory_limit)
			csv_device_release();	/* an engine with a higher limit was here */
		status = parse_on_device(&call, batch, &outcome);
	}
	if (status == CSV_OK)
	{
		batch->copy_in_seconds = seconds_between(csv_session.copy_in[0],
												 csv_session.copy_in[1]);
		if (outcome == OUTCOME_BATCH)
		{
			batch->copy_out_seconds =
				seconds_between(csv_session.copy_out[0],
								csv_session.copy_out[1]);
			batch->structure_seconds =
				seconds_between(csv_session.phases[0], csv_session.phases[1]);
			batch->device_seconds =
				seconds_between(csv_session.phases[0], csv_session.phases[2]);
		}
	}
	seconds = now_seconds() - began - batch->copy_in_seconds -
		batch->copy_out_seconds;
	batch->parse_seconds = seconds > 0 ? seconds : 0;
	if (status == CSV_OK && call.next_used)
		batch->copy_in_seconds +=
			seconds_between(csv_session.next.began[call.next_turn],
							csv_session.next.copied[call.next_turn]);
	csv_session_unlock();
	csv_signals_unblock(&call.signals);
	leave_query(cuda, call.query);
	if (status != CSV_OK)
		return status;
	switch (outcome)
	{
		case OUTCOME_IRREGULAR:
			return parse_on_cpu(cuda, input, batch);
		case OUTCOME_TOO_SMALL:
			csv_session_say(cuda->message,
							"out of GPU memory: a record of more than %u bytes needs more than the limit of %zu MB",
							call.nbytes, call.memory_limit >> 20);
			return CSV_DEVICE_FAILED;
		default:
			break;
	}
	batch->bytes = input->bytes;
	batch->nbytes = input->nbytes;
	batch->consumed = call.consumed;
	batch->nlines = call.nlines;
	return CSV_OK;
}

/* ---- groups that are held ---- */

/* wait for what takes no time worth an interrupt */
static CsvStatus
finish_copies(CsvCuda *cuda)
{
	TRY_CUDA(cudaGetLastError(), "kernel launch");
	TRY_CUDA(cudaStreamSynchronize(csv_session.stream), "kernel");
	return CSV_OK;
}

/* how many of at most n groups have no more texts than a piece may have */
static CsvStatus
measure_piece(CsvCuda *cuda, uint32_t first, uint32_t *n, size_t *text_bytes)
{
	const CsvGroupTable *table = &cuda->table;
	CsvTableCounts *counts = (CsvTableCounts *) cuda->piece;

	*text_bytes = 0;
	for (; table->has_texts; *n = (*n + 1) / 2)
	{
		csv_table_measure_texts(table, first, *n, csv_session.stream);
		TRY_CUDA(cudaMemcpyAsync(counts, table->counts, sizeof(*counts),
								 cudaMemcpyDeviceToHost, csv_session.stream),
				 "copy");
		TRY(finish_copies(cuda));
		*text_bytes = counts->piece_bytes;
		if (*n == 1 || *text_bytes <= CSV_TABLE_PIECE_BYTES)
			break;
	}
	return CSV_OK;
}

static CsvStatus
fetch_piece(CsvCuda *cuda, uint32_t first, CsvPartialGroups *groups)
{
	const CsvGroupTable *table = &cuda->table;
	cudaStream_t stream = csv_session.stream;
	size_t		key_bytes = table->nkeys * 16;
	size_t		word_bytes = table->nwords * 8;
	uint32_t	n = (uint32_t) (CSV_TABLE_PIECE_BYTES /
								(key_bytes + word_bytes + 4)) + 1;
	const uint8_t *keys;
	const uint8_t *words;
	const uint8_t *texts = NULL;
	size_t		text_bytes;
	size_t		words_at;
	size_t		nulls_at;
	size_t		texts_at;

	TRY(check_session(cuda));
	if (first >= table->ngroups)
		return CSV_OK;
	if (n > table->ngroups - first)
		n = table->ngroups - first;
	TRY(reserve_pinned(cuda, &cuda->piece, sizeof(CsvTableCounts)));
	TRY(measure_piece(cuda, first, &n, &text_bytes));
	words_at = n * key_bytes;
	nulls_at = words_at + n * word_bytes;
	texts_at = nulls_at + n * 4;
	TRY(reserve_pinned(cuda, &cuda->piece, texts_at + text_bytes + 8));
	keys = (const uint8_t *) table->keys + first * key_bytes;
	words = (const uint8_t *) table->words + first * word_bytes;
	if (table->has_texts)
	{
		size_t		limit = csv_session_limit(cuda->options.memory_limit);
		uint8_t    *packed;

		/* what calls of parse have is not in use now */
		if (csv_device_held() + nulls_at + text_bytes > limit)
			csv_device_release();
		if (!csv_device_reserve(CSV_DEVICE_ANSWER, nulls_at + text_bytes, 0,
								limit, cuda->message))
			return CSV_DEVICE_FAILED;
		packed = csv_session.device_memory[CSV_DEVICE_ANSWER].bytes;
		csv_table_pack_texts(table, first, n, (uint64_t *) packed,
							 (int64_t *) (packed + words_at),
							 packed + nulls_at, stream);
		keys = packed;
		words = packed + words_at;
		texts = packed + nulls_at;
	}
	TRY_CUDA(cudaMemcpyAsync(cuda->piece, keys, words_at,
							 cudaMemcpyDeviceToHost, stream), "copy");
	TRY_CUDA(cudaMemcpyAsync(cuda->piece + words_at, words, n * word_bytes,
							 cudaMemcpyDeviceToHost, stream), "copy");
	TRY_CUDA(cudaMemcpyAsync(cuda->piece + nulls_at, table->nulls + first,
							 n * 4, cudaMemcpyDeviceToHost, stream), "copy");
	if (text_bytes > 0)
		TRY_CUDA(cudaMemcpyAsync(cuda->piece + texts_at, texts, text_bytes,
								 cudaMemcpyDeviceToHost, stream), "copy");
	TRY(finish_copies(cuda));
	groups->ngroups = n;
	groups->keys = (const uint64_t *) cuda->piece;
	groups->words = (const int64_t *) (cuda->piece + words_at);
	groups->nulls = (const uint32_t *) (cuda->piece + nulls_at);
	groups->texts = cuda->piece + texts_at;
	return CSV_OK;
}

static CsvStatus
cuda_held_groups(void *engine, uint32_t first, CsvPartialGroups *groups)
{
	CsvCuda    *cuda = (CsvCuda *) engine;
	CsvStatus	status;
	sigset_t	old;

	memset(groups, 0, sizeof(*groups));
	csv_signals_block(&old);
	csv_session_lock();
	status = fetch_piece(cuda, first, groups);
	csv_session_unlock();
	csv_signals_unblock(&old);
	return status;
}

extern "C" const CsvEngine csv_cuda_engine = {
	"cuda",
	cuda_detail,
	cuda_configure,
	cuda_parse,
	cuda_alloc_input,
	cuda_free_input,
	cuda_message,
	cuda_close,
	CSV_CHUNK_BYTES,
	CSV_FIRST_CHUNK_BYTES,
	CSV_CUDA_OUTPUTS,
	NULL,
	cuda_set_query,
	cuda_held_groups
};

/* ---- warming up ---- */

/*
 * CUDA loads a kernel when it is launched for the first time, a millisecond
 * each.  So read a few records: a column of every kind, a value for each, a
 * field that takes warps, and a record with an error; and evaluate a query or
 * two over them.
 */
void
csv_cuda_warm(void)
{
	static const char good[] = "x,x,t,1,1,1,1.5,1.5,1.5,2000-01-01,"
		"2000-01-01 00:00:00,2000-01-01 00:00:00,"
		"00000000-0000-0000-0000-000000000000,1.5,1.5\n";
	const size_t good_bytes = sizeof(good) - 1;
	const size_t long_bytes = 2 * CSV_LONG_FIELD_BYTES;
	const size_t nbytes = 2 + good_bytes + long_bytes + good_bytes;
	CsvCudaOptions options;
	CsvDialectOptions dialect_options;
	CsvDialect	dialect;
	CsvLayout	layout;
	CsvColumn	columns[CSV_NUM_KINDS];
	CsvInput	input;
	CsvBatch	batch;
	CsvInstruction instruction;
	CsvKey		key = {CSV_LANE_INT, 0};
	uint16_t	filter = 0;
	CsvQuery	query;
	bool		hidden[CSV_NUM_KINDS];
	CsvRequest	request;
	CsvCuda    *cuda;
	uint8_t    *bytes;
	char		reason[256];

	memset(&options, 0, sizeof(options));
	memset(&dialect_options, 0, sizeof(dialect_options));
	memset(&layout, 0, sizeof(layout));
	memset(columns, 0, sizeof(columns));
	memset(&input, 0, sizeof(input));
	dialect_options.delimiter = ',';
	dialect_options.quote = '"';
	dialect_options.escape = '"';
	dialect_options.boundary = CSV_BOUNDARY_AUTO;
	dialect_options.multiline = true;
	csv_dialect_compile(&dialect, &dialect_options);
	for (int kind = 0; kind < CSV_NUM_KINDS; kind++)
	{
		CsvColumn  *column = &columns[kind];

		column->field = (uint32_t) kind;
		column->attnum = (uint32_t) kind + 1;
		column->kind = (uint8_t) kind;
		column->max_chars = -1;
		column->byte_width = -1;
		column->type_chars = -1;
		column->precision = kind == CSV_KIND_DECIMAL64 ||
			kind == CSV_KIND_DECIMAL128 ? 15 : -1;
		column->scale = column->precision < 0 ? 0 : 2;
	}
	layout.nfields = CSV_NUM_KINDS;
	layout.decimal_separator = '.';
	layout.null_bytes = (const uint8_t *) "";
	layout.default_bytes = (const uint8_t *) "";
	layout.ncolumns = CSV_NUM_KINDS;
	layout.columns = columns;

	/* a group per INT8; and rows where the BOOL is true */
	memset(&instruction, 0, sizeof(instruction));
	memset(&query, 0, sizeof(query));
	memset(hidden, 0, sizeof(hidden));
	instruction.operation = CSV_OP_COLUMN;
	instruction.operand = CSV_KIND_INT8;
	query.nregisters = 1;
	query.ninstructions = 1;
	query.instructions = &instruction;
	query.aggregates = true;
	query.nkeys = 1;
	query.keys = &key;
	request.query = &query;
	request.hidden = hidden;
	request.all_certain = false;

	bytes = (uint8_t *) calloc(1, nbytes + 128);
	if (bytes == NULL)
		return;
	cuda = open_engine(&options, &csv_host_memory, reason, sizeof(reason));
	if (cuda == NULL)
	{
		free(bytes);
		return;
	}
	input.bytes = bytes + 64;
	input.nbytes = nbytes;
	input.at_end = true;
	input.max_record_bytes = nbytes;
	memcpy(bytes + 64, "x\n", 2);
	memcpy(bytes + 66, good, good_bytes);
	memset(bytes + 66 + good_bytes, 'x', long_bytes);
	memcpy(bytes + 66 + good_bytes + long_bytes, good, good_bytes);
	if (cuda_configure(cuda, &dialect, &layout) == CSV_OK &&
		cuda_parse(cuda, &input, &batch) == CSV_OK &&
		cuda_set_query(cuda, &request) &&
		cuda_parse(cuda, &input, &batch) == CSV_OK)
	{
		instruction.operand = CSV_KIND_BOOL;
		query.aggregates = false;
		query.nkeys = 0;
		query.nfilter_instructions = 1;
		query.nfilters = 1;
		query.filters = &filter;
		if (cuda_set_query(cuda, &request))
			cuda_parse(cuda, &input, &batch);
	}
	csv_table_warm();
	cuda_close(cuda);
	free(bytes);
}
