/*
 * reading.c
 *		Batches that an engine makes of the open file.
 *
 *	1. The source delivers the bytes of one file after the other.
 *	2. The reader makes batches of them with the CPU engine.  Behind the header, or
 *	   from a later place on, a GPU may be its engine (remote.c).
 *	3. If a GPU fails with 'auto', the CPU engine reads the same bytes again and
 *	   continues.  Groups that the device held for earlier batches are lost; then
 *	   all files must be read again (is_lost).
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "batches/reading.h"
#include "batches/remote.h"
#include "client/gpu.h"
#include "reader/footer.h"
#include "reader/piece.h"
#include "table/memory.h"
#include "table/messages.h"
#include "table/option.h"

/* bytes of a stream to pass over at a time */
#define PASSED_BYTES	(64 * 1024)

/* ---- the engine ---- */

void
csv_reading_name_engine(CsvBatches *batches, bool is_gpu)
{
	MemoryContext outer = MemoryContextSwitchTo(batches->context);

	batches->engine = csv_engine_name(&batches->table->settings, is_gpu);
	MemoryContextSwitchTo(outer);
}

void
csv_reading_open(CsvBatches *batches, int nthreads, CsvGpuUse gpu)
{
	CsvReaderOptions options = batches->table->reader;
	CsvCpuOptions cpu;

	options.stream_threads =
		(uint32_t) csv_stream_threads(batches->table->settings.cpu_threads);
	options.interrupted = csv_source_interrupted;
	options.interrupted_arg = NULL;
	batches->reader = csv_reader_create(&csv_thread_memory, &options);
	memset(&cpu, 0, sizeof(cpu));
	cpu.threads = (uint32_t) nthreads;
	batches->cpu = csv_cpu_open(&csv_thread_memory, &cpu);
	if (batches->reader == NULL || batches->cpu == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory")));
	csv_reader_set_engine(batches->reader, &csv_cpu_engine, batches->cpu);
	batches->gpu = gpu;
	csv_reading_name_engine(batches, false);
}

void
csv_reading_add_times(const CsvBatches *batches, CsvBatchesStatistics *statistics)
{
	if (batches->reader == NULL)
		return;
	statistics->read_seconds += csv_reader_read_seconds(batches->reader);
	statistics->threads = Max(statistics->threads,
							  csv_reader_nthreads(batches->reader));
}

void
csv_reading_close_reader(CsvBatches *batches)
{
	csv_reading_add_times(batches, &batches->statistics);
	if (batches->reader != NULL)
		csv_reader_free(batches->reader);
	batches->reader = NULL;
	batches->is_alone = false;
}

static void
close_remote(CsvBatches *batches)
{
	if (batches->remote == NULL)
		return;
	csv_remote_engine.close(batches->remote);
	batches->remote = NULL;
	batches->holds = false;
}

void
csv_reading_close(CsvBatches *batches)
{
	close_remote(batches);
	csv_reading_close_reader(batches);
	if (batches->cpu != NULL)
		csv_cpu_engine.close(batches->cpu);
	batches->cpu = NULL;
}

void
csv_reading_leave(CsvBatches *batches)
{
	if (batches->reader != NULL)
		csv_reader_leave(batches->reader);
}

/* ---- failures ---- */

void
csv_reading_fail(CsvBatches *batches, CsvStatus status)
{
	const char *name = csv_source_name(batches->source);

	switch (status)
	{
		case CSV_INTERRUPTED:
			csv_check_interrupts();
			break;
		case CSV_NO_MEMORY:
			ereport(ERROR,
					(errcode(ERRCODE_OUT_OF_MEMORY),
					 errmsg("out of memory"),
					 errdetail("Failed while reading \"%s\".", name)));
			break;
		case CSV_UNREADABLE:
			ereport(ERROR,
					(errcode_for_file_access(),
					 errmsg("could not read from file \"%s\": %m", name)));
			break;
		case CSV_FOOTER_TOO_LONG:
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("footer of \"%s\" is longer than %d MB", name,
							(int) (CSV_FOOTER_BYTES >> 20)),
					 errhint("Perhaps the option \"footer_rows\" is too large.")));
			break;
		default:
			elog(ERROR, "unexpected reader status: %d", (int) status);
	}
}

/* ---- a GPU goes on, or stops ---- */

/* a GPU continues the file, if it is awake, and if the engine is 'cuda' in any case */
static void
begin_remote(CsvBatches *batches)
{
	const CsvSettings *settings = &batches->table->settings;
	MemoryContext outer;
	CsvStatus	status;

	batches->gpu = CSV_GPU_NONE;
	if (batches->remote == NULL)
	{
		outer = MemoryContextSwitchTo(batches->context);
		batches->remote = csv_remote_open(batches->table);
		MemoryContextSwitchTo(outer);
		if (batches->remote == NULL && settings->engine == CSV_ENGINE_CUDA)
			csv_engine_no_gpu(settings);
		if (batches->remote == NULL)
			return;
		csv_reading_name_engine(batches, true);
	}
	while ((status = csv_remote_use(batches->remote, batches->reader,
									batches->source, batches->share != NULL,
									batches->grows)) != CSV_OK)
		csv_reading_fail(batches, status);
}

/* a GPU that is awake by now takes over from the CPU */
static void
take_over(CsvBatches *batches)
{
	CsvGpuUse	use = csv_await_gpu(&batches->table->settings,
									batches->nbytes - batches->statistics.bytes);

	if (use == CSV_GPU_NONE)
		batches->gpu = use;
	if (use == CSV_GPU_READS && csv_reader_settle(batches->reader))
		begin_remote(batches);
}

static void
set_layout(CsvBatches *batches)
{
	CsvStatus	status;

	while ((status = csv_reader_set_layout(batches->reader,
										   &batches->layout->layout)) != CSV_OK)
		csv_reading_fail(batches, status);
}

/* the CPU reads, from the reader's place on */
static void
begin_cpu(CsvBatches *batches)
{
	CsvStatus	status;

	while ((status = csv_reader_set_engine(batches->reader, &csv_cpu_engine,
										   batches->cpu)) != CSV_OK)
		csv_reading_fail(batches, status);
}

/* the reader, which has read the header, goes on at a place that an earlier scan reached */
static void
resume(CsvBatches *batches, const CsvFilePlace *place)
{
	CsvSource  *source = batches->source;
	CsvDialect	dialect = *csv_reader_dialect(batches->reader);
	uint8_t    *passed;
	uint64		left = place->offset;
	size_t		nread = 1;
	CsvReadAhead ahead;

	batches->file_bytes = (int64) place->offset;
	if (csv_source_read_ahead(source, &ahead))
	{
		ahead.seek(ahead.arg, place->offset);
		csv_reader_open_at(batches->reader, csv_source_read, source, place,
						   &dialect);
		csv_reader_read_ahead(batches->reader, &ahead);
	}
	else
	{
		/* the bytes of a stream before the place come once more */
		csv_reader_leave(batches->reader);
		(void) csv_source_open(source, csv_source_number(source), NULL);
		passed = palloc(PASSED_BYTES);
		for (; left > 0 && nread > 0; left -= nread)
			nread = csv_source_read(source, passed, Min(left, PASSED_BYTES));
		pfree(passed);
		csv_reader_open_at(batches->reader, csv_source_read, source, place,
						   &dialect);
	}
	set_layout(batches);
}

void
csv_reading_leave_gpu(CsvBatches *batches, bool warns)
{
	const CsvSettings *settings = &batches->table->settings;
	const char *name = csv_source_name(batches->source);
	const char *reason = csv_remote_engine.message(batches->remote);

	if (settings->engine == CSV_ENGINE_CUDA)
	{
		/* csv_gpu_service may have searched for devices until now */
		if (csv_gpu_is_missing(settings->device))
			csv_engine_no_gpu(settings);
		ereport(ERROR,
				(errcode(ERRCODE_EXTERNAL_ROUTINE_EXCEPTION),
				 errmsg("GPU failed while reading \"%s\": %s", name, reason)));
	}
	if (warns)
		csv_warn((errcode(ERRCODE_WARNING),
				  errmsg("GPU failed while reading \"%s\": %s", name, reason),
				  batches->holds ?
				  errdetail("The CPU engine reads all of it again.") :
				  errdetail("The CPU engine reads the rest.")));
	csv_engine_gpu_failed();
	batches->is_lost = batches->holds;
	if (batches->reader != NULL)
		begin_cpu(batches);
	close_remote(batches);
	csv_reading_name_engine(batches, false);
}

/* ---- a file ---- */

void
csv_reading_begin(CsvBatches *batches, bool grows, const CsvFilePlace *from)
{
	CsvReader  *reader = batches->reader;
	const CsvResume *resumed = batches->table->resume;
	int			number = csv_source_number(batches->source);
	const CsvFilePlace *start = resumed == NULL ? from :
		&resumed->files[number].start;
	CsvStatus	status;
	CsvReadAhead ahead;

	if (batches->remote != NULL)
		begin_cpu(batches);
	csv_reader_expect(reader, csv_source_expected_bytes(batches->source), grows);
	while ((status = csv_reader_open(reader, csv_source_read,
									 batches->source)) != CSV_OK)
		csv_reading_fail(batches, status);
	if (batches->share == NULL && csv_source_read_ahead(batches->source, &ahead))
		csv_reader_read_ahead(reader, &ahead);
	csv_file_layout_read(batches->layout, reader,
						 csv_source_name(batches->source));
	set_layout(batches);
	if (start != NULL && start->offset > csv_reader_place(reader)->offset)
	{
		if (resumed != NULL)
			resumed->begun(resumed->arg, number, csv_source_file(batches->source));
		resume(batches, start);
	}
	if (batches->remote != NULL || batches->gpu == CSV_GPU_READS)
		begin_remote(batches);
}

bool
csv_reading_ask(CsvBatches *batches, const CsvRequest *request)
{
	return batches->remote != NULL &&
		csv_remote_engine.set_query(batches->remote, request);
}

void
csv_reading_held(CsvBatches *batches, uint32_t first, CsvPartialGroups *groups)
{
	if (csv_remote_engine.held_groups(batches->remote, first, groups) == CSV_OK)
		return;
	if (first > 0)
		ereport(ERROR,
				(errcode(ERRCODE_EXTERNAL_ROUTINE_EXCEPTION),
				 errmsg("GPU failed after reading \"%s\": %s",
						csv_source_name(batches->source),
						csv_remote_engine.message(batches->remote))));
	csv_reading_leave_gpu(batches, true);
}

CsvFileChange
csv_reading_change(const CsvBatches *batches)
{
	CsvFileChange change = csv_source_change(batches->source);

	return change != CSV_FILE_SHORTER && csv_reader_has_odd_breaks(batches->reader) ?
		CSV_FILE_ODD_BREAKS : change;
}

void
csv_reading_tell_change(CsvBatches *batches, CsvFileChange change)
{
	if (change != CSV_FILE_SAME && batches->callbacks.changed != NULL)
		batches->callbacks.changed(batches->callbacks.arg,
								   batches->at.file_number,
								   csv_source_name(batches->source), change);
}

void
csv_reading_count(CsvBatches *batches)
{
	const CsvBatch *batch = &batches->at.batch;
	CsvBatchesStatistics *statistics = &batches->statistics;
	int64		file_bytes = batch->file_offset + batch->consumed;

	batches->holds |= batch->answer != NULL && batch->answer->held;
	statistics->chunks++;
	/* the bytes before the first batch are the header */
	statistics->bytes += file_bytes - batches->file_bytes;
	batches->file_bytes = file_bytes;
	statistics->read_seconds += batch->read_seconds;
	statistics->copy_in_seconds += batch->copy_in_seconds;
	statistics->parse_seconds += batch->parse_seconds;
	statistics->copy_out_seconds += batch->copy_out_seconds;
}

bool
csv_reading_next(CsvBatches *batches)
{
	CsvBatch   *batch = &batches->at.batch;

	if (csv_reader_waits(batches->reader))
		return false;
	for (;;)
	{
		CsvStatus	status;

		if (batches->gpu == CSV_GPU_AWAITED)
			take_over(batches);
		status = csv_reader_next(batches->reader, batch);
		if (status == CSV_OK)
		{
			csv_source_check_same(batches->source);
			csv_reading_count(batches);
			return true;
		}
		memset(batch, 0, sizeof(*batch));
		if (status == CSV_END)
			return false;
		if (status != CSV_DEVICE_FAILED)
			csv_reading_fail(batches, status);
		else
			csv_reading_leave_gpu(batches, true);
		if (batches->is_lost)
			return false;
		csv_check_interrupts();
	}
}
