/*
 * reading.c
 *		Batches that an engine makes of a table's files.
 *
 *	1. The source delivers the bytes of one file after the other.
 *	2. The reader, with the engine chosen for the table, makes batches of them.
 *	3. Where a GPU fails under 'auto', the CPU engine reads the same bytes again
 *	   and goes on.  What the device held of earlier batches (groups) is lost
 *	   then: whoever takes the batches has to begin anew.
 *
 * Memory: reader and engine hold memory of malloc()'s, and threads, which must not
 * touch a memory context.  A reset callback gives them back when the context
 * goes, also after an ERROR or a cancel.  They also go when all is read: a query
 * may read hundreds of partitions one after the other, and ends none of their
 * scans before the last.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "batches/choose.h"
#include "batches/reading.h"
#include "table/source.h"

struct CsvReading
{
	const CsvTable *table;
	CsvFileLayout *layout;
	MemoryContext context;
	MemoryContextCallback callback;

	CsvSource  *source;
	int64		nbytes;			/* of the source, when the scan began, about */
	bool		size_is_exact;
	int64		passed_bytes;	/* of them, in batches */
	int64		file_bytes;		/* likewise, of the open file */

	CsvReader  *reader;			/* NULL: none */
	CsvOpenEngine engine;		/* likewise */
	char	   *description;	/* also of one that is closed */
	bool		asked;			/* it has been, in this layout */
	bool		holds;
	CsvReadStatistics statistics;
};

/* ---- memory that threads may have a part in ---- */

static void *
thread_alloc(void *owner, size_t nbytes)
{
	return malloc(nbytes);
}

static void
thread_free(void *owner, void *memory)
{
	free(memory);
}

const CsvMemory csv_thread_memory = {thread_alloc, thread_free, NULL};

/* ---- the engine ---- */

/* in the reading's context: it outlives the engine */
static void
describe_engine(CsvReading *reading)
{
	MemoryContext outer = MemoryContextSwitchTo(reading->context);

	if (reading->description != NULL)
		pfree(reading->description);
	reading->description = csv_engine_description(&reading->engine);
	MemoryContextSwitchTo(outer);
}

void
csv_reading_open_engine(CsvReading *reading)
{
	CsvReaderOptions options = reading->table->reader;

	options.interrupted = csv_source_interrupted;
	options.interrupted_arg = NULL;
	reading->reader = csv_reader_create(&csv_thread_memory, &options);
	if (reading->reader == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory")));
	csv_engine_open(&reading->engine, &reading->table->settings,
					reading->nbytes, options.chunk_bytes,
					reading->layout->ncolumns + reading->layout->nvirtuals,
					&csv_thread_memory);
	csv_reader_set_engine(reading->reader, reading->engine.engine,
						  reading->engine.state);
	describe_engine(reading);
}

static void
close_reader(CsvReading *reading)
{
	if (reading->reader != NULL)
	{
		csv_reading_statistics(reading, &reading->statistics);
		csv_reader_free(reading->reader);
	}
	reading->reader = NULL;
}

static void
close_engine(CsvReading *reading)
{
	close_reader(reading);
	if (reading->engine.engine != NULL)
		reading->engine.engine->close(reading->engine.state);
	reading->engine.engine = NULL;
	reading->asked = false;
	reading->holds = false;
}

/* the reset callback */
static void
release_reading(void *arg)
{
	close_engine(arg);
}

/* a GPU that has woken up by now takes over from the CPU */
static void
take_over(CsvReading *reading)
{
	CsvOpenEngine cpu = reading->engine;
	CsvOpenEngine gpu;

	if (!csv_engine_may_take_over(&reading->engine,
								  reading->nbytes - reading->passed_bytes) ||
		!csv_reader_settle(reading->reader) ||
		!csv_engine_take_over(&reading->engine, &reading->table->settings,
							  &csv_thread_memory, &gpu))
		return;

	/* no ERROR may come before one of the two is closed */
	if (csv_reader_set_engine(reading->reader, gpu.engine,
							  gpu.state) == CSV_OK)
	{
		reading->engine = gpu;
		cpu.engine->close(cpu.state);
		reading->asked = false;
		describe_engine(reading);
	}
	else
	{
		csv_reader_set_engine(reading->reader, cpu.engine, cpu.state);
		gpu.engine->close(gpu.state);
	}
}

static bool handle_failure(CsvReading *reading, CsvStatus status);

/* where a GPU failed */
static void
fall_back(CsvReading *reading)
{
	CsvOpenEngine cpu = reading->engine;
	CsvStatus	status;

	/* no ERROR may come between opening it and keeping it */
	csv_engine_fall_back(&cpu, &reading->table->settings, &csv_thread_memory);
	status = csv_reader_set_engine(reading->reader, cpu.engine, cpu.state);
	reading->engine.engine->close(reading->engine.state);
	reading->engine = cpu;
	reading->asked = false;
	reading->holds = false;
	if (status != CSV_OK)
		handle_failure(reading, status);
	describe_engine(reading);
}

/*
 * See to a failure of the device: an ERROR, or the CPU goes on.  False where what
 * the device held is lost.
 */
static bool
handle_device_failure(CsvReading *reading, const char *reason)
{
	char	   *message = pstrdup(reason);
	bool		held = reading->holds;

	if (!reading->engine.may_fall_back)
		ereport(ERROR,
				(errcode(ERRCODE_EXTERNAL_ROUTINE_EXCEPTION),
				 errmsg("GPU failed while reading \"%s\": %s",
						csv_source_name(reading->source), message)));
	ereport(WARNING,
			(errcode(ERRCODE_WARNING),
			 errmsg("GPU failed while reading \"%s\": %s",
					csv_source_name(reading->source), message),
			 held ?
			 errdetail("The CPU engine reads all of it again, and further scans of this session.") :
			 errdetail("The CPU engine reads the rest, and further scans of this session.")));
	fall_back(reading);
	return !held;
}

/*
 * See to a status that is not CSV_OK: an ERROR, or return to try again.  False
 * where that is of no use, since what the engine held is lost.
 */
static bool
handle_failure(CsvReading *reading, CsvStatus status)
{
	switch (status)
	{
		case CSV_INTERRUPTED:
			CHECK_FOR_INTERRUPTS();
			return true;
		case CSV_NO_MEMORY:
			ereport(ERROR,
					(errcode(ERRCODE_OUT_OF_MEMORY),
					 errmsg("out of memory"),
					 errdetail("Failed while reading \"%s\".",
							   csv_source_name(reading->source))));
			break;
		case CSV_DEVICE_FAILED:
			return handle_device_failure(reading,
										 csv_reader_message(reading->reader));
		default:
			elog(ERROR, "unexpected reader status: %d", (int) status);
	}
	return true;
}

/* ---- begin ---- */

CsvReading *
csv_reading_create(CsvFileLayout *layout)
{
	CsvReading *reading = palloc0(sizeof(CsvReading));

	reading->table = layout->table;
	reading->layout = layout;
	reading->context = CurrentMemoryContext;
	reading->source = csv_source_create(layout->table);
	reading->nbytes = csv_source_data_size(layout->table,
										   &reading->size_is_exact);
	reading->callback.func = release_reading;
	reading->callback.arg = reading;
	MemoryContextRegisterResetCallback(reading->context, &reading->callback);
	return reading;
}

/* ---- files ---- */

bool
csv_reading_next_file(CsvReading *reading)
{
	csv_reading_leave(reading);
	reading->file_bytes = 0;
	return csv_source_open_next(reading->source);
}

const char *
csv_reading_filename(const CsvReading *reading)
{
	return csv_source_name(reading->source);
}

bool
csv_reading_identity(const CsvReading *reading, CsvFileIdentity *identity)
{
	return csv_source_identity(reading->source, identity);
}

void
csv_reading_pass(CsvReading *reading, int64 nbytes)
{
	reading->passed_bytes += nbytes;
	reading->statistics.bytes += nbytes;
}

bool
csv_reading_begin(CsvReading *reading)
{
	bool		good = true;
	CsvStatus	status;
	CsvReadAhead ahead;

	if (reading->reader == NULL)
		csv_reading_open_engine(reading);
	while ((status = csv_reader_open(reading->reader, csv_source_read,
									 reading->source)) != CSV_OK)
		good &= handle_failure(reading, status);
	if (csv_source_read_ahead(reading->source, &ahead))
	{
		/* one thread reads as fast as several of the CPU engine's convert */
		if (reading->engine.engine == &csv_cpu_ahead_engine &&
			!reading->engine.awaits_gpu)
			ahead.nthreads = Min(ahead.nthreads,
								 1 + reading->table->settings.cpu_threads / 4);
		csv_reader_read_ahead(reading->reader, &ahead);
	}
	csv_file_layout_read(reading->layout, reading->reader,
						 csv_source_name(reading->source));
	while ((status = csv_reader_set_layout(reading->reader,
										   &reading->layout->layout)) != CSV_OK)
		good &= handle_failure(reading, status);
	reading->asked = false;
	return good;
}

const CsvDialect *
csv_reading_dialect(const CsvReading *reading)
{
	return csv_reader_dialect(reading->reader);
}

/* ---- batches ---- */

static void
count_batch(CsvReading *reading, const CsvBatch *batch)
{
	CsvReadStatistics *statistics = &reading->statistics;
	int64		file_bytes = batch->file_offset + batch->consumed;

	reading->holds |= batch->answer != NULL && batch->answer->held;
	reading->passed_bytes += batch->consumed;
	statistics->chunks++;
	/* what stands before the first batch is the header */
	statistics->bytes += file_bytes - reading->file_bytes;
	reading->file_bytes = file_bytes;
	statistics->copy_in_seconds += batch->copy_in_seconds;
	statistics->parse_seconds += batch->parse_seconds;
	statistics->copy_out_seconds += batch->copy_out_seconds;
}

CsvReadResult
csv_reading_next(CsvReading *reading, CsvBatch *batch)
{
	for (;;)
	{
		CsvStatus	status;

		if (reading->engine.awaits_gpu)
			take_over(reading);
		status = csv_reader_next(reading->reader, batch);
		if (status == CSV_OK)
		{
			count_batch(reading, batch);
			return CSV_READ_BATCH;
		}
		memset(batch, 0, sizeof(*batch));
		if (status == CSV_END)
			return CSV_READ_END;
		if (!handle_failure(reading, status))
			return CSV_READ_AGAIN;
		CHECK_FOR_INTERRUPTS();
	}
}

/* ---- queries that the engine answers ---- */

bool
csv_reading_asks(const CsvReading *reading)
{
	const CsvEngine *engine = reading->engine.engine;

	return !reading->asked && engine != NULL && engine->set_query != NULL;
}

void
csv_reading_ask(CsvReading *reading, const CsvRequest *request)
{
	reading->asked = true;
	reading->engine.engine->set_query(reading->engine.state, request);
}

void
csv_reading_set_hook(CsvReading *reading, const CsvBatchHook *hook)
{
	if (reading->reader != NULL)
		csv_reader_set_hook(reading->reader, hook);
}

void
csv_reading_leave(CsvReading *reading)
{
	if (reading->reader != NULL)
		csv_reader_leave(reading->reader);
}

CsvHolding
csv_reading_holding(const CsvReading *reading)
{
	if (reading->nbytes >= 0)
		return CSV_HOLDING_ALWAYS;
	return reading->engine.may_fall_back ? CSV_HOLDING_NEVER :
		CSV_HOLDING_ORDERED;
}

bool
csv_reading_holds(const CsvReading *reading)
{
	return reading->holds;
}

bool
csv_reading_first_held(CsvReading *reading, CsvPartialGroups *groups)
{
	const CsvEngine *engine = reading->engine.engine;

	if (!reading->holds ||
		engine->held_groups(reading->engine.state, 0, groups) == CSV_OK)
		return true;
	return handle_device_failure(reading,
								 engine->message(reading->engine.state));
}

void
csv_reading_held(CsvReading *reading, uint32_t first,
				 CsvPartialGroups *groups)
{
	const CsvEngine *engine = reading->engine.engine;

	if (engine->held_groups(reading->engine.state, first, groups) != CSV_OK)
		ereport(ERROR,
				(errcode(ERRCODE_EXTERNAL_ROUTINE_EXCEPTION),
				 errmsg("GPU failed after reading \"%s\": %s",
						csv_source_name(reading->source),
						engine->message(reading->engine.state))));
}

void
csv_reading_drop_held(CsvReading *reading)
{
	if (reading->holds)
		close_engine(reading);
}

/* ---- the end ---- */

void
csv_reading_rewind(CsvReading *reading, bool keeps)
{
	csv_reading_drop_held(reading);
	reading->passed_bytes = 0;
	reading->statistics.bytes = 0;
	reading->asked = false;
	csv_reading_leave(reading);
	csv_source_rewind(reading->source);
	if (reading->reader == NULL && !keeps)
		csv_reading_open_engine(reading);
}

void
csv_reading_finish(CsvReading *reading, bool expects_rewind)
{
	if (reading->holds)
		close_reader(reading);
	else if (!expects_rewind)
		close_engine(reading);
}

void
csv_reading_end(CsvReading *reading)
{
	csv_reading_leave(reading);
	csv_source_close(reading->source);
}

int64
csv_reading_size(const CsvReading *reading, bool *is_exact)
{
	*is_exact = reading->size_is_exact;
	return reading->nbytes;
}

void
csv_reading_statistics(const CsvReading *reading,
					   CsvReadStatistics *statistics)
{
	*statistics = reading->statistics;
	if (reading->reader == NULL)
		return;
	statistics->read_seconds += csv_reader_read_seconds(reading->reader);
	statistics->threads = Max(statistics->threads,
							  csv_reader_nthreads(reading->reader));
}

const char *
csv_reading_engine(const CsvReading *reading)
{
	return reading->description;
}
