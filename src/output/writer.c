/*
 * writer.c
 *		One process's share of a csv_gpu_unload(): collects records and writes them.
 *
 * Records of one stream (without keys: all records) wait in a buffer.  A full buffer is
 * compressed by itself and appended to the stream's current file, which is open only
 * meanwhile.  If the buffers take more memory than maintenance_work_mem, all are written
 * and released.  Only the names of the streams stay: about 150 bytes for each key.
 *
 * Bytes are appended under a lock of the stream's name.  They are compressed before that,
 * with or without a header, by a guess whether the file is new.  If the guess was wrong,
 * they are compressed again, under the lock.
 */
#include "postgres.h"

#include <fcntl.h>
#include <unistd.h>

#include "access/xact.h"
#include "commands/progress.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "utils/backend_progress.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"

#include "output/keys.h"
#include "output/writer.h"
#include "settings.h"
#include "table/threads.h"

/* a buffer with this many bytes of records is full, if nothing is compressed */
#define CSV_FULL_BYTES		(256 * 1024)

/* a buffer at first, behind the header */
#define CSV_FIRST_BYTES		512

/* the longest name of a directory */
#define CSV_NAME_BYTES		255

typedef struct Stream
{
	const char *name;			/* the key of the hash table */
	CsvOutputBytes bytes;		/* the header, and records that wait; or no memory */
	int64		nwaiting;		/* records */
	int			number;			/* of the current file, from 1 */
	bool		has_written;	/* this process, to that file ... */
	int64		nwritten;		/* ... records */
} Stream;

struct CsvWriter
{
	const CsvJob *job;
	CsvRowForm	form;
	size_t		header_length;
	CsvCompressor *compressor;
	size_t		full_bytes;
	HTAB	   *streams;
	Stream	   *last;			/* of the last row; NULL: none */
	MemoryContext names;		/* of the streams */
	MemoryContext buffers;
	MemoryContext scratch;		/* while records are written */
	CsvOutputBytes name;		/* of the current row's stream */
	CsvOutputBytes value;		/* of one of its keys */
	CsvOutputBytes packed;		/* compressed bytes */
	CsvOutputBytes files;		/* that this process has left */
};

/* ---- begin ---- */

void
csv_row_form_begin(CsvRowForm *form, const CsvJob *job, const Oid *types)
{
	const CsvJobShared *shared = job->shared;
	int			natts = types == NULL ? 0 : shared->natts;

	form->columns = palloc0(sizeof(CsvFormatted) * (size_t) Max(natts, 1));
	form->keys = palloc0(sizeof(CsvFormatted) * (size_t) Max(natts, 1));
	form->ncolumns = 0;
	form->nkeys = shared->nkeys;
	for (int i = 0; i < natts; i++)
	{
		CsvFormatted *column = shared->keys[i] > 0 ? &form->keys[shared->keys[i] - 1] :
			&form->columns[form->ncolumns++];

		csv_format_begin(column, types[i]);
		column->att = i;
	}
	form->format = shared->format;
	form->format.null = job->null;
	csv_output_format_finish(&form->format);
}

/* names differ by process: they go through their streams in different orders */
static uint32
hash_name(const void *key, Size size)
{
	const char *name = *(const char *const *) key;

	return (uint32) hash_bytes_extended((const unsigned char *) name, (int) strlen(name),
										(uint64) MyProcPid);
}

static int
compare_names(const void *a, const void *b, Size size)
{
	return strcmp(*(const char *const *) a, *(const char *const *) b);
}

CsvWriter *
csv_writer_begin(const CsvJob *job, const Oid *types)
{
	const CsvJobShared *shared = job->shared;
	CsvWriter  *writer = palloc0(sizeof(CsvWriter));
	HASHCTL		control = {
		.keysize = sizeof(const char *), .entrysize = sizeof(Stream), .hash = hash_name,
		.match = compare_names, .hcxt = CurrentMemoryContext
	};
	/* other processes have the other cores */
	int			nthreads = IsInParallelMode() ? 1 :
		csv_thread_count(csv_settings.cpu_threads);

	writer->job = job;
	csv_row_form_begin(&writer->form, job, types);
	writer->header_length = strlen(job->header);
	writer->compressor = csv_compressor_create(shared->compression, job->directory, nthreads);
	writer->full_bytes = writer->compressor == NULL ? CSV_FULL_BYTES :
		(size_t) nthreads * CSV_FRAME_BYTES;
	if (shared->most_bytes > 0)
		writer->full_bytes = (size_t) Max(1, Min((int64) writer->full_bytes,
												 shared->most_bytes -
												 (int64) writer->header_length));
	writer->streams = hash_create("csv_gpu_unload streams", 256, &control,
								  HASH_ELEM | HASH_FUNCTION | HASH_COMPARE | HASH_CONTEXT);
	writer->names = CurrentMemoryContext;
	writer->buffers = AllocSetContextCreate(CurrentMemoryContext, "csv_gpu_unload records",
											ALLOCSET_DEFAULT_SIZES);
	writer->scratch = AllocSetContextCreate(CurrentMemoryContext, "csv_gpu_unload file",
											ALLOCSET_SMALL_SIZES);
	csv_output_begin(&writer->name, 1024);
	csv_output_begin(&writer->value, 1024);
	csv_output_begin(&writer->packed, 1024);
	csv_output_begin(&writer->files, 1024);
	return writer;
}

/* ---- files ---- */

/* this process writes no more to the stream's current file */
static void
list_file(CsvWriter *writer, Stream *stream)
{
	if (!stream->has_written)
		return;
	csv_output_bytes(&writer->files, (const char *) &stream->nwritten,
					 sizeof(stream->nwritten));
	csv_output_bytes(&writer->files, (const char *) &stream->number, sizeof(stream->number));
	csv_output_bytes(&writer->files, stream->name, strlen(stream->name) + 1);
	stream->has_written = false;
	stream->nwritten = 0;
}

bool
csv_written_next(const char **at, const char *end, CsvWritten *file)
{
	if (*at == end)
		return false;
	memcpy(&file->nrecords, *at, sizeof(file->nrecords));
	*at += sizeof(file->nrecords);
	memcpy(&file->number, *at, sizeof(file->number));
	*at += sizeof(file->number);
	file->stream = *at;
	*at += strlen(*at) + 1;
	return true;
}

/* of the stream's current file */
static char *
make_path(const CsvWriter *writer, const Stream *stream)
{
	return psprintf("%s/%s", writer->job->directory,
					csv_job_file(writer->job, stream->name, stream->number));
}

/* open the stream's current file to append n bytes, or the next file if they do not fit */
static void
open_file(CsvWriter *writer, Stream *stream, size_t n, CsvSink *sink)
{
	const CsvJob *job = writer->job;
	int64		most = job->shared->most_bytes;

	for (;; stream->number++)
	{
		csv_sink_open_in(sink, job->directory, job->shared->dev, job->shared->ino,
						 csv_job_file(job, stream->name, stream->number), O_CREAT);
		if (most == 0 || sink->nbytes == 0 || sink->nbytes + (int64) n <= most)
			return;
		csv_sink_close(sink, false);
		list_file(writer, stream);
	}
}

/* ---- write ---- */

/* the bytes that are written, to `end` in the buffer; with a header if they begin a file */
static void
pack(CsvWriter *writer, const Stream *stream, size_t end, bool is_new,
	 const char **bytes, size_t *n)
{
	size_t		start = is_new ? 0 : writer->header_length;

	*bytes = stream->bytes.bytes + start;
	*n = end - start;
	if (writer->compressor == NULL)
		return;
	writer->packed.length = 0;
	csv_compress(writer->compressor, *bytes, *n, &writer->packed);
	*bytes = writer->packed.bytes;
	*n = writer->packed.length;
}

static void
show_progress(CsvJobShared *shared, int64 nrecords, size_t nbytes)
{
	const int	columns[] = {
		PROGRESS_COPY_BYTES_PROCESSED, PROGRESS_COPY_TUPLES_PROCESSED
	};

	nbytes += pg_atomic_fetch_add_u64(&shared->nbytes, nbytes);
	nrecords += (int64) pg_atomic_fetch_add_u64(&shared->nrecords, (uint64) nrecords);
	if (shared->leader == MyProcPid)
		pgstat_progress_update_multi_param(lengthof(columns), columns, (const int64[]) {
			(int64) nbytes, nrecords
		});
}

/* write the buffer to `end`, which is nrecords records */
static void
write_records(CsvWriter *writer, Stream *stream, size_t end, int64 nrecords)
{
	CsvJobShared *shared = writer->job->shared;
	uint32		hash = hash_bytes((const unsigned char *) stream->name,
								  (int) strlen(stream->name));
	LWLock	   *lock = &shared->locks[hash % CSV_JOB_LOCKS];
	CsvOutputBytes *buffer = &stream->bytes;
	MemoryContext outer = MemoryContextSwitchTo(writer->scratch);
	/* a guess */
	bool		is_new = !stream->has_written &&
		access(make_path(writer, stream), F_OK) != 0;
	const char *bytes;
	size_t		n;
	CsvSink		sink;

	pack(writer, stream, end, is_new, &bytes, &n);
	LWLockAcquire(lock, LW_EXCLUSIVE);
	open_file(writer, stream, n, &sink);
	if ((sink.nbytes == 0) != is_new)
		pack(writer, stream, end, sink.nbytes == 0, &bytes, &n);
	csv_sink_write(&sink, bytes, n);
	csv_sink_close(&sink, false);
	LWLockRelease(lock);
	MemoryContextSwitchTo(outer);
	MemoryContextReset(writer->scratch);
	show_progress(shared, nrecords, n);

	stream->has_written = true;
	stream->nwritten += nrecords;
	stream->nwaiting -= nrecords;
	memmove(buffer->bytes + writer->header_length, buffer->bytes + end, buffer->length - end);
	buffer->length -= end - writer->header_length;
}

/* write all records, and release the buffers */
static void
write_all(CsvWriter *writer)
{
	HASH_SEQ_STATUS iterator;
	Stream	   *stream;

	hash_seq_init(&iterator, writer->streams);
	while ((stream = hash_seq_search(&iterator)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		if (stream->nwaiting > 0)
			write_records(writer, stream, stream->bytes.length, stream->nwaiting);
		stream->bytes.bytes = NULL;
	}
	writer->last = NULL;
	MemoryContextReset(writer->buffers);
}

/* ---- rows ---- */

/* the name of the row's stream; without keys, or without a row: of the process */
static void
make_name(CsvWriter *writer, const Datum *values, const bool *isnull)
{
	CsvOutputBytes *name = &writer->name;
	const char *key_name = writer->job->key_names;

	name->length = 0;
	if (writer->form.nkeys == 0 || isnull == NULL)
	{
		char	   *pid = psprintf("%d", MyProcPid);

		csv_output_bytes(name, pid, strlen(pid) + 1);
		return;
	}
	for (int i = 0; i < writer->form.nkeys; i++)
	{
		CsvFormatted *key = &writer->form.keys[i];
		size_t		start = name->length;

		writer->value.length = 0;
		if (!isnull[key->att])
			csv_format_unquoted(key, values[key->att], &writer->value);
		csv_output_byte(&writer->value, '\0');
		csv_output_bytes(name, key_name, strlen(key_name));
		csv_key_value(name, isnull[key->att] ? NULL : writer->value.bytes);
		if (name->length - start > CSV_NAME_BYTES)
			ereport(ERROR,
					(errcode(ERRCODE_NAME_TOO_LONG),
					 errmsg("a value in \"partition_by\" is too long for the name of a directory"),
					 errdetail("A name has up to %d bytes, with the column's name and escapes.",
							   CSV_NAME_BYTES)));
		csv_output_byte(name, i + 1 < writer->form.nkeys ? '/' : '\0');
		key_name += strlen(key_name) + 1;
	}
}

/* the row's stream, with a buffer */
static Stream *
find_stream(CsvWriter *writer, const Datum *values, const bool *isnull)
{
	Stream	   *stream = writer->last;
	MemoryContext outer;
	bool		found;

	if (stream != NULL && writer->form.nkeys == 0)
		return stream;
	make_name(writer, values, isnull);
	if (stream != NULL && strcmp(stream->name, writer->name.bytes) == 0)
		return stream;
	stream = hash_search(writer->streams, &writer->name.bytes, HASH_ENTER, &found);
	if (!found)
		*stream = (Stream) {
			.name = MemoryContextStrdup(writer->names, writer->name.bytes), .number = 1
		};
	if (stream->bytes.bytes == NULL)
	{
		outer = MemoryContextSwitchTo(writer->buffers);
		csv_output_begin(&stream->bytes, writer->header_length + CSV_FIRST_BYTES);
		csv_output_bytes(&stream->bytes, writer->job->header, writer->header_length);
		MemoryContextSwitchTo(outer);
	}
	writer->last = stream;
	return stream;
}

/* a record has been added to the buffer, where there were `before` bytes */
static void
end_record(CsvWriter *writer, Stream *stream, size_t before)
{
	size_t		full = writer->header_length + writer->full_bytes;

	stream->nwaiting++;
	if (stream->bytes.length > full && stream->nwaiting > 1)
		write_records(writer, stream, before, stream->nwaiting - 1);
	if (stream->bytes.length >= full)
		write_records(writer, stream, stream->bytes.length, stream->nwaiting);
	if (MemoryContextMemAllocated(writer->buffers, false) >
		(Size) maintenance_work_mem * 1024)
		write_all(writer);
}

void
csv_writer_add(CsvWriter *writer, const Datum *values, const bool *isnull)
{
	const CsvRowForm *form = &writer->form;
	Stream	   *stream = find_stream(writer, values, isnull);
	size_t		before = stream->bytes.length;

	csv_format_row(form->columns, form->ncolumns, values, isnull, &stream->bytes,
				   &form->format);
	csv_output_byte(&stream->bytes, '\n');
	end_record(writer, stream, before);
}

void
csv_writer_add_line(CsvWriter *writer, const char *bytes, size_t n)
{
	Stream	   *stream = find_stream(writer, NULL, NULL);
	size_t		before = stream->bytes.length;

	csv_output_bytes(&stream->bytes, bytes, n);
	end_record(writer, stream, before);
}

void
csv_writer_end(CsvWriter *writer, bool make_one, CsvOutputBytes *files)
{
	HASH_SEQ_STATUS iterator;
	Stream	   *stream;

	write_all(writer);
	if (make_one && hash_get_num_entries(writer->streams) == 0)
		write_records(writer, find_stream(writer, NULL, NULL), writer->header_length, 0);
	hash_seq_init(&iterator, writer->streams);
	while ((stream = hash_seq_search(&iterator)) != NULL)
		list_file(writer, stream);
	csv_output_bytes(files, writer->files.bytes, writer->files.length);
}
