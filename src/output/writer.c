/*
 * writer.c
 *		One process's share of a csv_gpu_unload(): collects records and writes them.
 *
 * Records of one combination of keys (without keys: all records) wait in a buffer of
 * their own.  A full buffer is compressed by itself and appended to the current file
 * of the stream, which is open only meanwhile.  If the buffers take more memory than
 * maintenance_work_mem, all are written and forgotten.  So memory does not depend on the
 * number of keys, except for shared memory: about 200 bytes a file.
 *
 * Bytes are appended under the lock of the stream's entry in the shared hash table.
 * They are compressed before that, with or without a header, by a guess whether the
 * file is new.  If the guess was wrong, they are compressed again, under the lock.
 */
#include "postgres.h"

#include <fcntl.h>

#include "commands/progress.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "utils/backend_progress.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/memutils.h"

#include "output/format.h"
#include "output/keys.h"
#include "output/writer.h"

/* a buffer of so many bytes is full, if nothing is compressed */
#define CSV_FULL_BYTES		(256 * 1024)

/* a buffer at first, with keys */
#define CSV_FIRST_BYTES		512

/* the longest name of a directory */
#define CSV_NAME_BYTES		255

/* in the key of a buffer */
#define CSV_KEY_NULL		'\1'
#define CSV_KEY_VALUE		'\2'

/* records that wait to be written to one stream */
typedef struct StreamBuffer
{
	uint32		hash;
	size_t		nkey;
	const char *key;			/* for each key column CSV_KEY_NULL, or CSV_KEY_VALUE,
								 * the value's text and a zero byte */
	uint8		id[CSV_STREAM_ID_BYTES];
	CsvOutputBytes bytes;
	int64		nrecords;
} StreamBuffer;

typedef struct BufferSlot
{
	const StreamBuffer *buffer;
	char		status;
} BufferSlot;

#define SH_PREFIX buffers
#define SH_ELEMENT_TYPE BufferSlot
#define SH_KEY_TYPE const StreamBuffer *
#define SH_KEY buffer
#define SH_HASH_KEY(table, key) ((key)->hash)
#define SH_EQUAL(table, a, b) \
	((a)->nkey == (b)->nkey && memcmp((a)->key, (b)->key, (a)->nkey) == 0)
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

struct CsvWriter
{
	CsvJob	   *job;
	CsvRowForm	form;
	const char *header;
	size_t		header_length;
	const char *directory;
	CsvCompressor *compressor;
	size_t		full_bytes;

	MemoryContext buffer_context;
	buffers_hash *buffers;
	StreamBuffer	   *last;			/* of the last row; NULL: none */
	size_t		nallocated;		/* bytes of all buffers */
	CsvOutputBytes key;			/* of the current row */
	CsvOutputBytes records;		/* a header and records of one file, ... */
	CsvOutputBytes packed;		/* ... and compressed */
};

/* ---- begin ---- */

void
csv_row_form_begin(CsvRowForm *form, const CsvJob *job, const Oid *types)
{
	const CsvJobShared *shared = job->shared;
	const uint16 *keys = dsa_get_address(job->area, shared->keys);
	int			natts = types == NULL ? 0 : shared->natts;

	form->columns = palloc0(sizeof(CsvFormatted) * (size_t) Max(natts, 1));
	form->keys = palloc0(sizeof(CsvFormatted) * (size_t) Max(natts, 1));
	form->ncolumns = 0;
	form->nkeys = shared->nkeys;
	for (int i = 0; i < natts; i++)
	{
		CsvFormatted *column = keys[i] > 0 ? &form->keys[keys[i] - 1] :
			&form->columns[form->ncolumns++];

		csv_format_begin(column, types[i]);
		column->att = i;
	}
	form->format = shared->format;
	form->format.null = dsa_get_address(job->area, shared->null);
	csv_output_format_finish(&form->format);
	csv_output_format_null(&form->format);
}

/* no buffers */
static void
begin_buffers(CsvWriter *writer)
{
	MemoryContextReset(writer->buffer_context);
	writer->buffers = buffers_create(writer->buffer_context, 256, NULL);
	writer->last = NULL;
	writer->nallocated = 0;
}

CsvWriter *
csv_writer_begin(CsvJob *job, const Oid *types)
{
	CsvWriter  *writer = palloc0(sizeof(CsvWriter));
	const CsvJobShared *shared = job->shared;

	writer->job = job;
	csv_row_form_begin(&writer->form, job, types);
	writer->header = dsa_get_address(job->area, shared->header);
	writer->header_length = shared->header_length;
	writer->directory = dsa_get_address(job->area, shared->directory);
	writer->compressor = csv_compressor_create(shared->compression, writer->directory,
											   shared->nthreads);
	writer->full_bytes = writer->compressor == NULL ? CSV_FULL_BYTES :
		(size_t) shared->nthreads * CSV_FRAME_BYTES;
	if (shared->most_bytes > 0)
		writer->full_bytes = (size_t) Max(1, Min((int64) writer->full_bytes,
												 shared->most_bytes -
												 (int64) writer->header_length));
	writer->buffer_context = AllocSetContextCreate(CurrentMemoryContext,
												   "csv_gpu_unload records",
												   ALLOCSET_DEFAULT_SIZES);
	csv_output_begin(&writer->key, 1024);
	csv_output_begin(&writer->records, 1024);
	csv_output_begin(&writer->packed, 1024);
	begin_buffers(writer);
	return writer;
}

/* ---- streams ---- */

/* KEY=VALUE/KEY=VALUE of a buffer */
static dsa_pointer
share_directory(CsvWriter *writer, const StreamBuffer *buffer)
{
	CsvJob	   *job = writer->job;
	const char *name = dsa_get_address(job->area, job->shared->key_names);
	const char *key = buffer->key;
	CsvOutputBytes path;
	dsa_pointer shared;

	csv_output_begin(&path, 1024);
	for (int i = 0; i < writer->form.nkeys; i++)
	{
		bool		isnull = *key++ == CSV_KEY_NULL;
		size_t		start;

		if (i > 0)
			csv_output_byte(&path, '/');
		start = path.length;
		csv_output_bytes(&path, name, strlen(name));
		csv_key_value(&path, isnull ? NULL : key);
		if (path.length - start > CSV_NAME_BYTES)
			ereport(ERROR,
					(errcode(ERRCODE_NAME_TOO_LONG),
					 errmsg("a value in \"partition_by\" is too long for the name of a directory"),
					 errdetail("A name has up to %d bytes, with the column's name and escapes.",
							   CSV_NAME_BYTES)));
		name += strlen(name) + 1;
		if (!isnull)
			key += strlen(key) + 1;
	}
	csv_output_byte(&path, '\0');
	shared = dsa_allocate(job->area, path.length);
	memcpy(dsa_get_address(job->area, shared), path.bytes, path.length);
	return shared;
}

/* find or make the stream, whose lock is held then */
static CsvStream *
lock_stream(CsvWriter *writer, const StreamBuffer *buffer)
{
	bool		found;
	CsvStream  *stream = dshash_find_or_insert(writer->job->streams, buffer->id, &found);

	if (found)
		return stream;
	stream->number = pg_atomic_fetch_add_u32(&writer->job->shared->nstreams, 1);
	stream->nfiles = 0;
	stream->file = InvalidDsaPointer;
	stream->directory = InvalidDsaPointer;
	if (writer->form.nkeys > 0)
		stream->directory = share_directory(writer, buffer);
	return stream;
}

/* the stream's current file; NULL: none yet */
static CsvUnloadFile *
current_file(CsvWriter *writer, const CsvStream *stream)
{
	return DsaPointerIsValid(stream->file) ?
		dsa_get_address(writer->job->area, stream->file) : NULL;
}

static bool
has_file(CsvWriter *writer, const StreamBuffer *buffer)
{
	CsvStream  *stream = dshash_find(writer->job->streams, buffer->id, false);
	bool		has = stream != NULL && DsaPointerIsValid(stream->file);

	if (stream != NULL)
		dshash_release_lock(writer->job->streams, stream);
	return has;
}

static CsvUnloadFile *
add_file(CsvWriter *writer, CsvStream *stream)
{
	CsvJob	   *job = writer->job;
	CsvJobShared *shared = job->shared;
	dsa_pointer added = dsa_allocate0(job->area, sizeof(CsvUnloadFile));
	CsvUnloadFile *file = dsa_get_address(job->area, added);

	file->directory = stream->directory;
	file->stream = stream->number;
	file->number = ++stream->nfiles;
	file->name = pg_atomic_fetch_add_u32(&shared->nfiles, 1);
	stream->file = added;
	SpinLockAcquire(&shared->lock);
	file->next = shared->files;
	shared->files = added;
	SpinLockRelease(&shared->lock);
	return file;
}

/* ---- write ---- */

/* make the bytes that are written, with a header if they begin a file */
static void
pack(CsvWriter *writer, const StreamBuffer *buffer, size_t nbytes, bool is_new,
	 const char **bytes, size_t *n)
{
	*bytes = buffer->bytes.bytes;
	*n = nbytes;
	if (is_new && writer->header_length > 0)
	{
		writer->records.length = 0;
		csv_output_bytes(&writer->records, writer->header, writer->header_length);
		csv_output_bytes(&writer->records, buffer->bytes.bytes, nbytes);
		*bytes = writer->records.bytes;
		*n = writer->records.length;
	}
	if (writer->compressor == NULL)
		return;
	writer->packed.length = 0;
	csv_compress(writer->compressor, *bytes, *n, &writer->packed);
	*bytes = writer->packed.bytes;
	*n = writer->packed.length;
}

static void
append(CsvWriter *writer, CsvUnloadFile *file, const char *bytes, size_t n)
{
	char	   *path = csv_job_path(writer->job, file);
	bool		is_new = file->nbytes == 0;
	CsvSink		sink;

	csv_sink_open(&sink, path, is_new ? O_CREAT | O_EXCL : 0);
	csv_sink_write(&sink, bytes, n);
	file->nbytes = sink.nbytes;
	csv_sink_close(&sink, false);
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

/* write the first nbytes of a buffer, which are nrecords records */
static void
write_records(CsvWriter *writer, StreamBuffer *buffer, size_t nbytes, int64 nrecords)
{
	int64		most = writer->job->shared->most_bytes;
	bool		is_new = !has_file(writer, buffer);
	const char *bytes;
	size_t		n;
	CsvStream  *stream;
	CsvUnloadFile *file;

	pack(writer, buffer, nbytes, is_new, &bytes, &n);
	stream = lock_stream(writer, buffer);
	file = current_file(writer, stream);
	if (file != NULL && most > 0 && file->nbytes + (int64) n > most)
		file = NULL;
	if ((file == NULL) != is_new)
		pack(writer, buffer, nbytes, file == NULL, &bytes, &n);
	if (file == NULL)
		file = add_file(writer, stream);
	append(writer, file, bytes, n);
	file->nrecords += nrecords;
	dshash_release_lock(writer->job->streams, stream);
	show_progress(writer->job->shared, nrecords, n);

	memmove(buffer->bytes.bytes, buffer->bytes.bytes + nbytes,
			buffer->bytes.length - nbytes);
	buffer->bytes.length -= nbytes;
	buffer->nrecords -= nrecords;
}

static void
write_all(CsvWriter *writer)
{
	buffers_iterator iterator;
	BufferSlot *entry;

	buffers_start_iterate(writer->buffers, &iterator);
	while ((entry = buffers_iterate(writer->buffers, &iterator)) != NULL)
	{
		StreamBuffer	   *buffer = unconstify(StreamBuffer *, entry->buffer);

		CHECK_FOR_INTERRUPTS();
		if (buffer->bytes.length > 0)
			write_records(writer, buffer, buffer->bytes.length, buffer->nrecords);
	}
}

void
csv_writer_end(CsvWriter *writer)
{
	write_all(writer);
	begin_buffers(writer);
}

/* ---- rows ---- */

/* the key of a row; without keys: of the process */
static void
make_key(CsvWriter *writer, const Datum *values, const bool *isnull)
{
	writer->key.length = 0;
	for (int i = 0; i < writer->form.nkeys; i++)
	{
		CsvFormatted *key = &writer->form.keys[i];

		csv_output_byte(&writer->key, isnull[key->att] ? CSV_KEY_NULL : CSV_KEY_VALUE);
		if (isnull[key->att])
			continue;
		csv_format_unquoted(key, values[key->att], &writer->key);
		csv_output_byte(&writer->key, '\0');
	}
	if (writer->form.nkeys == 0)
		csv_output_bytes(&writer->key, (const char *) &MyProcPid, sizeof(MyProcPid));
}

static StreamBuffer *
add_buffer(CsvWriter *writer, const StreamBuffer *sought)
{
	MemoryContext outer = MemoryContextSwitchTo(writer->buffer_context);
	StreamBuffer	   *buffer = palloc0(sizeof(StreamBuffer));
	bytea	   *bytes;
	bytea	   *id;
	bool		found;

	buffer->hash = sought->hash;
	buffer->nkey = sought->nkey;
	buffer->key = memcpy(palloc(sought->nkey), sought->key, sought->nkey);
	csv_output_begin(&buffer->bytes, CSV_FIRST_BYTES);
	(void) buffers_insert(writer->buffers, buffer, &found);
	MemoryContextSwitchTo(outer);

	bytes = palloc(VARHDRSZ + sought->nkey);
	SET_VARSIZE(bytes, VARHDRSZ + sought->nkey);
	memcpy(VARDATA(bytes), sought->key, sought->nkey);
	id = DatumGetByteaPP(DirectFunctionCall1(sha256_bytea, PointerGetDatum(bytes)));
	memcpy(buffer->id, VARDATA_ANY(id), CSV_STREAM_ID_BYTES);
	writer->nallocated += sizeof(StreamBuffer) + sought->nkey + CSV_FIRST_BYTES +
		2 * sizeof(BufferSlot);
	return buffer;
}

static StreamBuffer *
find_buffer(CsvWriter *writer, const Datum *values, const bool *isnull)
{
	const CsvOutputBytes *key = &writer->key;
	StreamBuffer		sought;
	BufferSlot *entry;

	if (writer->form.nkeys == 0 && writer->last != NULL)
		return writer->last;
	make_key(writer, values, isnull);
	if (writer->last != NULL && writer->last->nkey == key->length &&
		memcmp(writer->last->key, key->bytes, key->length) == 0)
		return writer->last;
	sought.key = key->bytes;
	sought.nkey = key->length;
	/* processes go through their buffers in different orders */
	sought.hash = (uint32) hash_bytes_extended((const unsigned char *) key->bytes,
											   (int) key->length, (uint64) MyProcPid);
	entry = buffers_lookup(writer->buffers, &sought);
	return entry != NULL ? unconstify(StreamBuffer *, entry->buffer) :
		add_buffer(writer, &sought);
}

/* a record has been added to the buffer, where there were `before` bytes */
static void
end_record(CsvWriter *writer, StreamBuffer *buffer, size_t before, size_t capacity)
{
	CsvOutputBytes *bytes = &buffer->bytes;

	buffer->nrecords++;
	writer->last = buffer;
	if (bytes->length > writer->full_bytes && before > 0)
		write_records(writer, buffer, before, buffer->nrecords - 1);
	if (bytes->length >= writer->full_bytes)
		write_records(writer, buffer, bytes->length, buffer->nrecords);
	writer->nallocated += bytes->capacity - capacity;
	if (writer->nallocated > (size_t) maintenance_work_mem * 1024)
	{
		write_all(writer);
		begin_buffers(writer);
	}
}

void
csv_writer_add(CsvWriter *writer, const Datum *values, const bool *isnull)
{
	const CsvRowForm *form = &writer->form;
	StreamBuffer *buffer = find_buffer(writer, values, isnull);
	size_t		before = buffer->bytes.length;
	size_t		capacity = buffer->bytes.capacity;

	csv_format_row(form->columns, form->ncolumns, values, isnull, &buffer->bytes,
				   &form->format);
	csv_output_byte(&buffer->bytes, '\n');
	end_record(writer, buffer, before, capacity);
}

void
csv_writer_add_line(CsvWriter *writer, const char *bytes, size_t n)
{
	StreamBuffer *buffer = find_buffer(writer, NULL, NULL);
	size_t		before = buffer->bytes.length;
	size_t		capacity = buffer->bytes.capacity;

	csv_output_bytes(&buffer->bytes, bytes, n);
	end_record(writer, buffer, before, capacity);
}

void
csv_writer_end_empty(CsvWriter *writer)
{
	/* there are no keys, so no values are needed */
	const Datum value = 0;
	const bool	isnull = true;

	write_records(writer, find_buffer(writer, &value, &isnull), 0, 0);
}
