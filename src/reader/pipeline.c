/*
 * pipeline.c
 *		Reads and parses a file ahead of the thread that takes its batches.
 *
 * Three kinds of threads work on three parts of the file at the same time:
 *
 *	1. Readers fill pieces of the file into the slots of a ring, block by block,
 *	   as soon as a slot is free.
 *	2. The driver takes filled pieces in order.  It moves the incomplete record at
 *	   the end of the previous piece in front of each piece, and lets the engine
 *	   parse both.  Batches go into a short queue.
 *	3. The consumer (the thread that calls csv_pipeline_next) takes batches out
 *	   of the queue.  Only the consumer may call PostgreSQL.
 *
 * A slot:
 *
 *	 margin | headroom ... rest of the piece before | piece ... | margin
 *													^ bytes
 *
 * A slot is free again when the driver has finished its piece, and the last batch
 * that was read from it is released.  The engine has `noutputs` sets of arrays.  The
 * driver waits while all of them belong to batches in the queue or at the consumer.
 * So slots and outputs bound the memory, and fast threads wait for slow threads.
 *
 * Anything that does not fit this scheme ends the pipeline.  The reader knows where
 * the last batch ended in the file, and continues there.  This includes a read
 * error: when all batches before it were taken, the reader gets the same error again,
 * and reports it.
 *
 * One mutex guards all members; it is held only for short times, never while
 * a thread reads, parses, or allocates.
 */
#include "clock.h"
#include "pipeline.h"
#include "thread.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

/*
 * One slot for the consumer, one for the driver, and two that are filled, so that
 * readers need not wait for a free slot.
 */
#define NSLOTS			4
#define MAX_OUTPUTS		4
#define MAX_READERS		64

/* in the file, pieces end at multiples of the page cache's page size */
#define PAGE_BYTES		4096

/* the engine's inputs stay below 2 GB */
#define MAX_INPUT_BYTES	(((uint64_t) 1 << 31) - 2 * PAGE_BYTES)

typedef struct Slot
{
	uint8_t    *allocation;
	uint64_t	allocated_bytes;
	uint8_t    *bytes;			/* of the piece */
	uint64_t	offset;			/* of the piece in the file */
	uint64_t	dealt;			/* bytes that readers have read or are reading */
	uint64_t	end;			/* its length, less if reading ended early */
	int			nreading;		/* readers that work on it */
	int			nusers;			/* the driver, and batches; 0: free */
	bool		at_end;			/* the file ends in it */
	bool		failed;			/* no memory, a read error, or the pipeline must
								 * not read further */
} Slot;

typedef struct Entry
{
	CsvBatch	batch;
	CsvFilePlace place;			/* where it ends */
	Slot	   *slot;
} Entry;

struct CsvPipeline
{
	CsvPipelineOptions options;
	uint64_t	headroom_bytes;
	int			noutputs;

	pthread_mutex_t mutex;
	pthread_cond_t for_readers; /* a slot may be free, or a block can be read */
	pthread_cond_t for_driver;	/* a piece may be full, or an output free */
	pthread_cond_t for_consumer;	/* a batch, or the end */
	pthread_t	driver;
	pthread_t	readers[MAX_READERS];
	int			nreaders;
	bool		has_driver;
	atomic_bool stop;

	/* pieces; number n is in slot n % NSLOTS */
	Slot		slots[NSLOTS];
	uint64_t	nbegun;
	uint64_t	ntaken;			/* by the driver */
	uint64_t	next_offset;	/* of the next piece */
	uint64_t	next_bytes;
	bool		is_beginning;	/* a reader prepares the next slot */
	bool		is_last;		/* begin no further piece */

	int			nactive;		/* readers that read now, */
	double		active_since;	/* since when, */
	double		read_seconds;	/* and the time of all reading before */

	/* the queue; the consumer's batch is in the entry before `first` */
	Entry		queue[MAX_OUTPUTS];
	int			first;
	int			nready;
	bool		is_held;		/* the consumer has a batch */
	bool		ended;
	CsvPipelineEnd end;
};

static bool
is_stopping(void *arg)
{
	CsvPipeline *pipeline = arg;

	return atomic_load(&pipeline->stop);
}

/* ---- slots ---- */

static bool
is_full(const Slot *slot)
{
	return slot->dealt >= slot->end && slot->nreading == 0;
}

static void
free_slot(CsvPipeline *pipeline, Slot *slot)
{
	const CsvPipelineOptions *options = &pipeline->options;

	if (slot->allocation == NULL)
		return;
	if (options->engine->free_input != NULL)
		options->engine->free_input(options->engine_state, slot->allocation);
	else
		options->memory.free(options->memory.owner, slot->allocation);
	slot->allocation = NULL;
	slot->allocated_bytes = 0;
}

/* room for a piece of nbytes; false if there is no memory */
static bool
make_room(CsvPipeline *pipeline, Slot *slot, uint64_t nbytes)
{
	const CsvPipelineOptions *options = &pipeline->options;
	uint64_t	before = pipeline->headroom_bytes + PAGE_BYTES;
	uint64_t	needed = before + nbytes + CSV_MARGIN;

	if (slot->allocated_bytes < needed)
	{
		free_slot(pipeline, slot);
		slot->allocation = options->engine->alloc_input != NULL ?
			options->engine->alloc_input(options->engine_state, needed) :
			options->memory.alloc(options->memory.owner, needed);
		if (slot->allocation == NULL)
			return false;
		slot->allocated_bytes = needed;
	}
	slot->bytes = slot->allocation + before;
	return true;
}

/* remove a user of the slot; the mutex is held */
static void
let_go(CsvPipeline *pipeline, Slot *slot)
{
	if (--slot->nusers == 0)
		pthread_cond_signal(&pipeline->for_readers);
}

/* ---- readers ---- */

/* prepare the next slot; the mutex is held except during the allocation */
static void
begin_piece(CsvPipeline *pipeline, Slot *slot)
{
	uint64_t	nbytes = pipeline->next_bytes;
	bool		good;

	if (nbytes >= 2 * PAGE_BYTES)
		nbytes -= pipeline->next_offset % PAGE_BYTES;
	if (nbytes > pipeline->options.end - pipeline->next_offset)
		nbytes = pipeline->options.end - pipeline->next_offset;
	pipeline->is_beginning = true;
	slot->nusers = 1;
	pthread_mutex_unlock(&pipeline->mutex);
	good = nbytes > 0 && make_room(pipeline, slot, nbytes);
	pthread_mutex_lock(&pipeline->mutex);
	pipeline->is_beginning = false;

	slot->offset = pipeline->next_offset;
	slot->dealt = 0;
	slot->end = good ? nbytes : 0;
	slot->at_end = false;
	slot->failed = !good;
	pipeline->is_last |= !good;
	pipeline->nbegun++;
	pipeline->next_offset += nbytes;
	pipeline->next_bytes *= 4;
	if (pipeline->next_bytes > pipeline->options.most_piece_bytes)
		pipeline->next_bytes = pipeline->options.most_piece_bytes;
	if (good)
		pthread_cond_broadcast(&pipeline->for_readers);
	else
		pthread_cond_signal(&pipeline->for_driver);
}

/* read the next block of a slot; the mutex is held except during the reading */
static void
read_block(CsvPipeline *pipeline, Slot *slot)
{
	const CsvReadAhead *ahead = &pipeline->options.ahead;
	uint64_t	start = slot->dealt;
	uint64_t	end = start + CSV_READ_BLOCK_BYTES;
	ssize_t		nread = 1;
	bool		failed = false;

	if (end > slot->end)
		end = slot->end;
	slot->dealt = end;
	slot->nreading++;
	if (pipeline->nactive++ == 0)
		pipeline->active_since = csv_now_seconds();
	pthread_mutex_unlock(&pipeline->mutex);
	while (start < end && nread > 0 && !is_stopping(pipeline))
	{
		nread = ahead->read_at(ahead->arg, slot->bytes + start, end - start,
							   slot->offset + start);
		if (nread > 0)
			start += (uint64_t) nread;
		else if (nread < 0 && errno == EINTR)
			nread = 1;
		else
			failed = nread < 0;
	}
	pthread_mutex_lock(&pipeline->mutex);
	if (--pipeline->nactive == 0)
		pipeline->read_seconds += csv_now_seconds() - pipeline->active_since;
	slot->nreading--;
	if (start < end && start < slot->end)
	{
		/* if several blocks end early, the first counts, with its reason */
		slot->end = start;
		/* with options.end, the file must not end here */
		failed |= pipeline->options.end != UINT64_MAX;
		slot->failed = failed;
		slot->at_end = !failed;
		pipeline->is_last = true;
	}
	if (is_full(slot))
		pthread_cond_signal(&pipeline->for_driver);
}

static void *
run_reader(void *arg)
{
	CsvPipeline *pipeline = arg;

	pthread_mutex_lock(&pipeline->mutex);
	while (!is_stopping(pipeline))
	{
		Slot	   *slot = &pipeline->slots[(pipeline->nbegun + NSLOTS - 1) % NSLOTS];
		Slot	   *next = &pipeline->slots[pipeline->nbegun % NSLOTS];

		if (pipeline->nbegun > 0 && slot->dealt < slot->end)
			read_block(pipeline, slot);
		else if (next->nusers == 0 && !pipeline->is_beginning &&
				 !pipeline->is_last)
			begin_piece(pipeline, next);
		else
			pthread_cond_wait(&pipeline->for_readers, &pipeline->mutex);
	}
	pthread_mutex_unlock(&pipeline->mutex);
	return NULL;
}

/* ---- the driver ---- */

/* the bytes that the driver has not parsed yet */
typedef struct Window
{
	Slot	   *slot;			/* NULL before the first piece */
	uint8_t    *bytes;
	uint64_t	nbytes;
	bool		at_end;
} Window;

static void
end_pipeline(CsvPipeline *pipeline, CsvStatus status, uint64_t headroom_bytes)
{
	pthread_mutex_lock(&pipeline->mutex);
	pipeline->end.status = status;
	pipeline->end.headroom_bytes = headroom_bytes;
	pipeline->ended = true;
	pthread_cond_signal(&pipeline->for_consumer);
	pthread_mutex_unlock(&pipeline->mutex);
}

/* wait until an output is free; false if the driver must stop */
static bool
wait_for_output(CsvPipeline *pipeline)
{
	bool		good;

	pthread_mutex_lock(&pipeline->mutex);
	while (!is_stopping(pipeline) &&
		   pipeline->nready + (pipeline->is_held ? 1 : 0) >= pipeline->noutputs)
		pthread_cond_wait(&pipeline->for_driver, &pipeline->mutex);
	good = !is_stopping(pipeline);
	pthread_mutex_unlock(&pipeline->mutex);
	return good;
}

/*
 * Put the rest of the previous piece, which fits into the headroom, in front of the
 * next piece.  Returns false if the driver must stop, or the pipeline has ended.
 */
static bool
take_piece(CsvPipeline *pipeline, Window *window)
{
	Slot	   *slot = &pipeline->slots[pipeline->ntaken % NSLOTS];
	bool		good;

	pthread_mutex_lock(&pipeline->mutex);
	while (!is_stopping(pipeline) &&
		   (pipeline->ntaken == pipeline->nbegun || !is_full(slot)))
		pthread_cond_wait(&pipeline->for_driver, &pipeline->mutex);
	good = !is_stopping(pipeline);
	pthread_mutex_unlock(&pipeline->mutex);
	if (!good)
		return false;
	if (slot->failed)
	{
		end_pipeline(pipeline, CSV_OK, 0);
		return false;
	}

	if (window->nbytes > 0)
		memcpy(slot->bytes - window->nbytes, window->bytes, window->nbytes);
	memset(slot->bytes - window->nbytes - CSV_MARGIN, 0, CSV_MARGIN);
	memset(slot->bytes + slot->end, 0, CSV_MARGIN);
	window->bytes = slot->bytes - window->nbytes;
	window->nbytes += slot->end;
	window->at_end = slot->at_end;

	pthread_mutex_lock(&pipeline->mutex);
	if (window->slot != NULL)
		let_go(pipeline, window->slot);
	pipeline->ntaken++;
	pthread_mutex_unlock(&pipeline->mutex);
	window->slot = slot;
	return true;
}

/* tell the engine about the bytes after the window, if they are there already */
static void
look_ahead(CsvPipeline *pipeline, CsvInput *input)
{
	const Slot *slot = &pipeline->slots[pipeline->ntaken % NSLOTS];

	pthread_mutex_lock(&pipeline->mutex);
	if (pipeline->ntaken < pipeline->nbegun && is_full(slot) &&
		!slot->failed && slot->end > 0)
	{
		input->next = slot->bytes;
		input->next_nbytes = slot->end;
	}
	pthread_mutex_unlock(&pipeline->mutex);
}

/* put a batch into the queue, which has room for it */
static void
hand_over(CsvPipeline *pipeline, const CsvBatch *batch, const CsvFilePlace *place,
		  Slot *slot)
{
	Entry	   *entry;

	pthread_mutex_lock(&pipeline->mutex);
	entry = &pipeline->queue[(pipeline->first + pipeline->nready) % MAX_OUTPUTS];
	entry->batch = *batch;
	entry->place = *place;
	entry->slot = slot;
	slot->nusers++;
	pipeline->nready++;
	pthread_cond_signal(&pipeline->for_consumer);
	pthread_mutex_unlock(&pipeline->mutex);
}

/*
 * The window begins with an incomplete record that is too long to be moved.  Most
 * likely the whole record is shorter than a piece, and more headroom helps.  Otherwise
 * the pipeline cannot read it.
 */
static void
end_at_long_record(CsvPipeline *pipeline, const Window *window)
{
	uint64_t	most = pipeline->options.most_piece_bytes;
	uint64_t	headroom_bytes = 2 * window->nbytes;

	if (window->nbytes > most || headroom_bytes + most > MAX_INPUT_BYTES)
		headroom_bytes = 0;
	end_pipeline(pipeline, CSV_OK, headroom_bytes);
}

static void *
run_driver(void *arg)
{
	CsvPipeline *pipeline = arg;
	const CsvPipelineOptions *options = &pipeline->options;
	CsvFilePlace	place = options->place;
	Window		window = {NULL, NULL, 0, false};
	uint32_t	output = 0;
	bool		need_more = true;

	while (wait_for_output(pipeline))
	{
		CsvInput	input;
		CsvBatch	batch;
		CsvStatus	status;

		if (need_more && !window.at_end &&
			window.nbytes > pipeline->headroom_bytes)
		{
			end_at_long_record(pipeline, &window);
			break;
		}
		if (need_more && !window.at_end && !take_piece(pipeline, &window))
			break;
		if (window.nbytes == 0)
		{
			if (window.at_end)
			{
				end_pipeline(pipeline, CSV_END, 0);
				break;
			}
			need_more = true;
			continue;
		}

		memset(&input, 0, sizeof(input));
		input.bytes = window.bytes;
		input.nbytes = window.nbytes;
		input.alone_until = place.alone_until;
		input.max_record_bytes = options->max_record_bytes;
		input.at_end = window.at_end;
		input.skip_line = place.skip_line;
		input.output = output;
		input.interrupted = is_stopping;
		input.interrupted_arg = pipeline;
		look_ahead(pipeline, &input);
		memset(&batch, 0, sizeof(batch));
		status = options->engine->parse(options->engine_state, &input, &batch);
		if (status == CSV_INTERRUPTED && is_stopping(pipeline))
			break;
		if (status != CSV_OK)
		{
			end_pipeline(pipeline, status, 0);
			break;
		}

		batch.file_offset = place.offset;
		batch.file_records = place.records;
		batch.file_lines = place.lines;
		csv_place_pass_batch(&place, &batch);
		window.bytes += batch.consumed;
		window.nbytes -= batch.consumed;

		/*
		 * A short rest is most likely an incomplete record.  In a long rest, the
		 * engine may have left whole records for another call.
		 */
		need_more = batch.consumed == 0 ||
			window.nbytes <= pipeline->headroom_bytes;
		if (batch.nrecords > 0 || batch.nlines > 0)
		{
			hand_over(pipeline, &batch, &place, window.slot);
			output = (output + 1) % (uint32_t) pipeline->noutputs;
		}
	}
	return NULL;
}

/* ---- the consumer ---- */

CsvStatus
csv_pipeline_next(CsvPipeline *pipeline, bool (*interrupted) (void *arg),
				  void *arg, CsvBatch *batch, CsvFilePlace *place,
				  CsvPipelineEnd *end)
{
	CsvStatus	status = CSV_OK;

	pthread_mutex_lock(&pipeline->mutex);
	if (pipeline->is_held)
	{
		int			held = (pipeline->first + MAX_OUTPUTS - 1) % MAX_OUTPUTS;

		let_go(pipeline, pipeline->queue[held].slot);
		pipeline->is_held = false;
		pthread_cond_signal(&pipeline->for_driver);
	}
	while (pipeline->nready == 0 && !pipeline->ended)
	{
		if (interrupted != NULL && interrupted(arg))
		{
			status = CSV_INTERRUPTED;
			break;
		}
		csv_nap(&pipeline->for_consumer, &pipeline->mutex);
	}
	if (pipeline->nready > 0)
	{
		Entry	   *entry = &pipeline->queue[pipeline->first];

		*batch = entry->batch;
		*place = entry->place;
		pipeline->first = (pipeline->first + 1) % MAX_OUTPUTS;
		pipeline->nready--;
		pipeline->is_held = true;
	}
	else if (status == CSV_OK)
	{
		*end = pipeline->end;
		status = CSV_END;
	}
	pthread_mutex_unlock(&pipeline->mutex);
	return status;
}

double
csv_pipeline_read_seconds(CsvPipeline *pipeline)
{
	double		seconds;

	pthread_mutex_lock(&pipeline->mutex);
	seconds = pipeline->read_seconds;
	if (pipeline->nactive > 0)
		seconds += csv_now_seconds() - pipeline->active_since;
	pthread_mutex_unlock(&pipeline->mutex);
	return seconds;
}

/* ---- start and stop ---- */

static void
start_threads(CsvPipeline *pipeline)
{
	int			wanted = pipeline->options.ahead.nthreads;

	if (wanted < 1)
		wanted = 1;
	if (wanted > MAX_READERS)
		wanted = MAX_READERS;

	while (pipeline->nreaders < wanted &&
		   csv_thread_start(&pipeline->readers[pipeline->nreaders], run_reader,
							pipeline))
		pipeline->nreaders++;
	pipeline->has_driver = csv_thread_start(&pipeline->driver, run_driver,
											pipeline);
}

CsvPipeline *
csv_pipeline_start(const CsvPipelineOptions *options)
{
	const CsvMemory *memory = &options->memory;
	CsvPipeline *pipeline = memory->alloc(memory->owner, sizeof(CsvPipeline));
	uint64_t	headroom_bytes = options->headroom_bytes;

	if (pipeline == NULL)
		return NULL;
	memset(pipeline, 0, sizeof(*pipeline));
	pipeline->options = *options;
	if (headroom_bytes == 0)
		headroom_bytes = options->most_piece_bytes / 16;
	pipeline->headroom_bytes = (headroom_bytes / PAGE_BYTES + 1) * PAGE_BYTES;
	pipeline->noutputs = options->engine->noutputs < MAX_OUTPUTS ?
		(int) options->engine->noutputs : MAX_OUTPUTS;
	pipeline->next_offset = options->place.offset;
	pipeline->next_bytes = options->piece_bytes;
	atomic_init(&pipeline->stop, false);
	pthread_mutex_init(&pipeline->mutex, NULL);
	pthread_cond_init(&pipeline->for_readers, NULL);
	pthread_cond_init(&pipeline->for_driver, NULL);
	csv_nap_init(&pipeline->for_consumer);

	start_threads(pipeline);
	if (pipeline->nreaders == 0 || !pipeline->has_driver)
	{
		csv_pipeline_stop(pipeline);
		return NULL;
	}
	return pipeline;
}

void
csv_pipeline_stop(CsvPipeline *pipeline)
{
	CsvMemory	memory = pipeline->options.memory;

	pthread_mutex_lock(&pipeline->mutex);
	atomic_store(&pipeline->stop, true);
	pthread_cond_broadcast(&pipeline->for_readers);
	pthread_cond_broadcast(&pipeline->for_driver);
	pthread_mutex_unlock(&pipeline->mutex);
	if (pipeline->has_driver)
		csv_thread_join(pipeline->driver);
	for (int i = 0; i < pipeline->nreaders; i++)
		csv_thread_join(pipeline->readers[i]);

	for (int i = 0; i < NSLOTS; i++)
		free_slot(pipeline, &pipeline->slots[i]);
	pthread_cond_destroy(&pipeline->for_readers);
	pthread_cond_destroy(&pipeline->for_driver);
	pthread_cond_destroy(&pipeline->for_consumer);
	pthread_mutex_destroy(&pipeline->mutex);
	memory.free(memory.owner, pipeline);
}
