/*
 * writer.c
 *		How the processes of one csv_gpu_unload() write its rows.
 *
 * The leader makes a job in dynamic shared memory.  In each process of a parallel plan,
 * record_scan.c creates a writer for it, which writes rows to files, and lists them, or
 * only makes records.
 *
 * A stream is the records of one combination of keys, whose files all processes share; or,
 * without keys, of one process.  Its records wait in a buffer.  A full buffer is
 * compressed by itself and appended to the stream's current file, which is open only
 * meanwhile.  If the buffers take more memory than maintenance_work_mem, all are written
 * and released.  Only the names of the streams stay: about 150 bytes for each key.
 *
 * Bytes are appended under a lock of the stream's name.  They are compressed before that,
 * with or without a header, by a guess whether the file is new.  If the guess was wrong,
 * they are compressed again, under the lock.
 */
#include "postgres.h"

#include <ctype.h>
#include <fcntl.h>
#include <unistd.h>

#include "access/xact.h"
#include "commands/progress.h"
#include "common/hashfn.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "port/atomics.h"
#include "storage/dsm.h"
#include "storage/lwlock.h"
#include "utils/backend_progress.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"

#include "compat.h"
#include "output/format.h"
#include "output/hidden.h"
#include "output/writer.h"
#include "settings.h"
#include "table/text.h"
#include "table/option.h"

#define CSV_JOB_LOCKS		128

/* a buffer with this many bytes of records is full, if nothing is compressed */
#define CSV_FULL_BYTES		(256 * 1024)

/* the longest name of a directory */
#define CSV_NAME_BYTES		255

struct CsvJob
{
	int64		handle;			/* of its dynamic shared memory; 0: it is not shared */
	int			leader;			/* its pid */
	CsvUnloadPlan plan;			/* the pointers are the leader's */
	CsvOutputFormat format;		/* each process sets the pointers */
	int			ncolumns;
	int			nkeys;
	struct
	{
		Oid			type;
		int			att;
		bool		force_quote;
	}			columns[MaxTupleAttributeNumber];	/* keys are the last */
	pg_atomic_uint64 nrecords;	/* written */
	pg_atomic_uint64 nbytes;
	LWLock		locks[CSV_JOB_LOCKS];	/* for appending, by the stream's name */

	/*
	 * The text of NULL, the hidden directory, how a file begins (byte-order mark, and
	 * header with its line break), and NAME= of each key; each with a zero byte.
	 */
	char		texts[FLEXIBLE_ARRAY_MEMBER];
};

typedef struct Stream
{
	const char *name;			/* the key of the hash table: KEY=VALUE/KEY=VALUE */
	StringInfoData bytes;		/* the header, and records that wait; or no memory */
	int64		nwaiting;		/* records */
	int			number;			/* of the current file, from 1 */
	bool		has_written;	/* this process, to that file ... */
	int64		nwritten;		/* ... records */
} Stream;

struct CsvWriter
{
	List	   *files;			/* CsvWritten, that this process has left */
	HTAB	   *streams;

	CsvJob	   *job;
	const char *directory;		/* the job's texts ... */
	const char *header;
	int			header_length;
	const char *key_names;
	CsvOutputFormat format;
	CsvFormatted *columns;		/* of the files ... */
	CsvFormatted *keys;			/* ... and behind them */
	CsvCompressor *compressor;
	int			full_bytes;
	Stream	   *last;			/* of the last row; NULL: none */
	MemoryContext names;		/* of the streams */
	MemoryContext buffers;
	MemoryContext scratch;		/* while records are written */
	StringInfoData name;		/* of the current row's stream */
	StringInfoData value;		/* of one of its keys */
	StringInfoData packed;		/* compressed bytes */
};

/* ---- names of directories, as Hive writes them ---- */

/*
 * Hive's list.  Bytes beyond ASCII stand for themselves in UTF-8 only, because other
 * programs take names for UTF-8.
 */
static bool
needs_escape(unsigned char byte)
{
	if (!IS_HIGHBIT_SET(byte) && isalnum(byte))
		return false;
	return byte < ' ' || byte == 0x7f ||
		(IS_HIGHBIT_SET(byte) && GetDatabaseEncoding() != PG_UTF8) ||
		strchr("\"#%'*/:=?\\[]^{}", byte) != NULL;
}

/* escapes_first: in any case */
static void
add_escaped(StringInfo output, const char *text, bool escapes_first)
{
	for (; *text != '\0'; text++)
	{
		if (escapes_first || needs_escape((unsigned char) *text))
			appendStringInfo(output, "%%%02X", (unsigned char) *text);
		else
			appendStringInfoChar(output, *text);
		escapes_first = false;
	}
}

/* ---- the job ---- */

/* with its zero byte */
static void
add_text(StringInfo texts, const char *text)
{
	appendBinaryStringInfo(texts, text, (int) strlen(text) + 1);
}

/* the columns, and the texts, which need them */
static void
set_columns(CsvJob *job, StringInfo texts)
{
	const CsvUnloadPlan *plan = &job->plan;
	TupleDesc	tupdesc = plan->tupdesc;
	List	   *all = plan->attnums != NIL ? plan->attnums : CopyGetAttnums(tupdesc, NULL, NIL);
	List	   *written = list_difference_int(all, plan->keys);
	/* without names it is all columns */
	List	   *forced = !plan->copy->force_quote_all && plan->copy->force_quote == NIL ? NIL :
		CopyGetAttnums(tupdesc, NULL, plan->copy->force_quote);
	ListCell   *cell;

	job->ncolumns = list_length(written);
	job->nkeys = list_length(plan->keys);
	foreach(cell, list_concat_copy(written, plan->keys))
	{
		int			i = foreach_current_index(cell);

		job->columns[i].att = lfirst_int(cell) - 1;
		job->columns[i].type = TupleDescAttr(tupdesc, lfirst_int(cell) - 1)->atttypid;
		job->columns[i].force_quote = list_member_int(forced, lfirst_int(cell));
	}
	csv_output_format_begin(&job->format, plan->copy, job->ncolumns);

	add_text(texts, plan->copy->null_print);
	add_text(texts, plan->directory);
	if (plan->bom)
		appendStringInfoString(texts, "\xef\xbb\xbf");
	if (plan->copy->header_line != COPY_HEADER_FALSE)
	{
		csv_format_header(written, tupdesc, texts, &job->format);
		appendStringInfoString(texts, plan->crlf ? "\r\n" : "\n");
	}
	appendStringInfoChar(texts, '\0');
	foreach(cell, plan->keys)
	{
		add_escaped(texts, NameStr(TupleDescAttr(tupdesc, lfirst_int(cell) - 1)->attname),
					false);
		add_text(texts, "=");
	}
}

CsvJob *
csv_job_create(const CsvUnloadPlan *plan, bool is_shared)
{
	CsvJob	   *job = palloc0(sizeof(CsvJob));
	CsvJob	   *created;
	size_t		nbytes;
	StringInfoData texts;

	initStringInfo(&texts);
	job->leader = MyProcPid;
	job->plan = *plan;
	set_columns(job, &texts);
	pg_atomic_init_u64(&job->nrecords, 0);
	pg_atomic_init_u64(&job->nbytes, 0);
	for (int i = 0; i < CSV_JOB_LOCKS; i++)
		LWLockInitialize(&job->locks[i], LWTRANCHE_PARALLEL_QUERY_DSA);

	nbytes = offsetof(CsvJob, texts) + (size_t) texts.len;
	if (is_shared)
	{
		dsm_segment *segment = dsm_create(nbytes, 0);

		job->handle = dsm_segment_handle(segment);
		created = dsm_segment_address(segment);
	}
	else
		created = palloc(nbytes);
	memcpy(created, job, offsetof(CsvJob, texts));
	memcpy(created->texts, texts.data, (size_t) texts.len);
	pfree(job);
	return created;
}

int64
csv_job_handle(const CsvJob *job)
{
	return job->handle;
}

void
csv_job_end(CsvJob *job)
{
	if (job->handle != 0)
		dsm_detach(dsm_find_mapping((dsm_handle) job->handle));
}

CsvJob *
csv_job_open(int64 handle)
{
	dsm_segment *segment = dsm_find_mapping((dsm_handle) handle);

	if (segment == NULL)
	{
		segment = dsm_attach((dsm_handle) handle);
		if (segment == NULL)
			elog(ERROR, "could not map dynamic shared memory segment");
		/* until the worker exits */
		dsm_pin_mapping(segment);
	}
	return dsm_segment_address(segment);
}

/* ---- begin ---- */

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
csv_writer_begin(CsvJob *job)
{
	CsvWriter  *writer = palloc0(sizeof(CsvWriter));
	int			n = job->ncolumns + job->nkeys;
	int64		most_bytes = job->plan.most_bytes;
	HASHCTL		control = {
		.keysize = sizeof(const char *), .entrysize = sizeof(Stream), .hash = hash_name,
		.match = compare_names, .hcxt = CurrentMemoryContext
	};
	/* other processes have the other cores */
	int			nthreads = IsInParallelMode() ? 1 :
		csv_thread_count(csv_settings.cpu_threads);

	writer->job = job;
	writer->directory = job->texts + strlen(job->texts) + 1;
	writer->header = writer->directory + strlen(writer->directory) + 1;
	writer->header_length = (int) strlen(writer->header);
	writer->key_names = writer->header + writer->header_length + 1;
	writer->columns = palloc0(sizeof(CsvFormatted) * (size_t) Max(n, 1));
	writer->keys = writer->columns + job->ncolumns;
	for (int i = 0; i < n; i++)
	{
		csv_format_begin(&writer->columns[i], job->columns[i].type);
		writer->columns[i].att = job->columns[i].att;
		writer->columns[i].force_quote = job->columns[i].force_quote;
	}
	writer->format = job->format;
	writer->format.null = job->texts;
	csv_output_format_finish(&writer->format);

	writer->compressor = csv_compressor_create(job->plan.compression, writer->directory,
											   nthreads);
	writer->full_bytes = writer->compressor == NULL ? CSV_FULL_BYTES :
		nthreads * CSV_FRAME_BYTES;
	if (most_bytes > 0)
		writer->full_bytes = (int) Max(1, Min(writer->full_bytes,
											  most_bytes - writer->header_length));
	writer->streams = hash_create("csv_gpu_unload streams", 256, &control,
								  HASH_ELEM | HASH_FUNCTION | HASH_COMPARE | HASH_CONTEXT);
	writer->names = CurrentMemoryContext;
	writer->buffers = AllocSetContextCreate(CurrentMemoryContext, "csv_gpu_unload records",
											ALLOCSET_DEFAULT_SIZES);
	writer->scratch = AllocSetContextCreate(CurrentMemoryContext, "csv_gpu_unload file",
											ALLOCSET_SMALL_SIZES);
	initStringInfo(&writer->name);
	initStringInfo(&writer->value);
	initStringInfo(&writer->packed);
	return writer;
}

/* ---- files ---- */

/* this process writes no more to the stream's current file */
static void
list_file(CsvWriter *writer, Stream *stream)
{
	MemoryContext outer = MemoryContextSwitchTo(writer->names);
	CsvWritten *file;

	if (stream->has_written)
	{
		file = palloc(sizeof(CsvWritten));
		*file = (CsvWritten) {stream->name, stream->number, stream->nwritten};
		writer->files = lappend(writer->files, file);
	}
	stream->has_written = false;
	stream->nwritten = 0;
	MemoryContextSwitchTo(outer);
}

char *
csv_written_name(const char *stream, int number)
{
	/* keys may be longer than the name of a file */
	Datum		digest = DirectFunctionCall1(sha256_bytea, CStringGetTextDatum(stream));
	Datum		hex = DirectFunctionCall2(binary_encode, digest, CStringGetTextDatum("hex"));

	return psprintf(CSV_HIDDEN_ROWS "%s-%d", TextDatumGetCString(hex), number);
}

static char *
make_path(const CsvWriter *writer, const Stream *stream)
{
	return psprintf("%s/%s", writer->directory,
					csv_written_name(stream->name, stream->number));
}

/* open the stream's current file to append n bytes, or the next file if they do not fit */
static void
open_file(CsvWriter *writer, Stream *stream, size_t n, CsvSink *sink)
{
	const CsvUnloadPlan *plan = &writer->job->plan;
	int64		most = plan->most_bytes;

	for (;; stream->number++)
	{
		csv_sink_open(sink, make_path(writer, stream), &plan->place, O_CREAT);
		if (most == 0 || sink->nbytes == 0 || sink->nbytes + (int64) n <= most)
			return;
		csv_sink_close(sink, false);
		list_file(writer, stream);
	}
}

/* ---- write ---- */

/* the bytes that are written, to `end` in the buffer; with a header if they begin a file */
static void
pack(CsvWriter *writer, const Stream *stream, int end, bool is_new,
	 const char **bytes, size_t *n)
{
	int			start = is_new ? 0 : writer->header_length;

	*bytes = stream->bytes.data + start;
	*n = (size_t) (end - start);
	if (writer->compressor == NULL)
		return;
	writer->packed.len = 0;
	csv_compress(writer->compressor, *bytes, *n, &writer->packed);
	*bytes = writer->packed.data;
	*n = (size_t) writer->packed.len;
}

void
csv_show_copy_to(Oid relid, int type)
{
	pgstat_progress_start_command(PROGRESS_COMMAND_COPY, relid);
	pgstat_progress_update_param(PROGRESS_COPY_COMMAND, PROGRESS_COPY_COMMAND_TO);
	pgstat_progress_update_param(PROGRESS_COPY_TYPE, type);
}

void
csv_show_written(int64 nbytes, int64 nrecords)
{
	pgstat_progress_update_param(PROGRESS_COPY_BYTES_PROCESSED, nbytes);
	pgstat_progress_update_param(PROGRESS_COPY_TUPLES_PROCESSED, nrecords);
}

/* of all processes */
static void
add_progress(CsvJob *job, int64 nrecords, size_t nbytes)
{
	nbytes += pg_atomic_fetch_add_u64(&job->nbytes, nbytes);
	nrecords += (int64) pg_atomic_fetch_add_u64(&job->nrecords, (uint64) nrecords);
	if (job->leader == MyProcPid)
		csv_show_written((int64) nbytes, nrecords);
}

/* write the buffer to `end`, which is nrecords records */
static void
write_records(CsvWriter *writer, Stream *stream, int end, int64 nrecords)
{
	uint32		hash = hash_bytes((const unsigned char *) stream->name,
								  (int) strlen(stream->name));
	LWLock	   *lock = &writer->job->locks[hash % CSV_JOB_LOCKS];
	StringInfo	buffer = &stream->bytes;
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
	add_progress(writer->job, nrecords, n);

	stream->has_written = true;
	stream->nwritten += nrecords;
	stream->nwaiting -= nrecords;
	memmove(buffer->data + writer->header_length, buffer->data + end,
			(size_t) (buffer->len - end));
	buffer->len -= end - writer->header_length;
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
			write_records(writer, stream, stream->bytes.len, stream->nwaiting);
		stream->bytes.data = NULL;
	}
	writer->last = NULL;
	MemoryContextReset(writer->buffers);
}

/* ---- rows ---- */

/* the name of the row's stream; without keys, or without a row: of the process */
static void
make_name(CsvWriter *writer, const Datum *values, const bool *isnull)
{
	StringInfo	name = &writer->name;
	StringInfo	value = &writer->value;
	const char *key_name = writer->key_names;
	int			nkeys = isnull == NULL ? 0 : writer->job->nkeys;

	resetStringInfo(name);
	if (nkeys == 0)
		appendStringInfo(name, "%d", MyProcPid);
	for (int i = 0; i < nkeys; i++)
	{
		CsvFormatted *key = &writer->keys[i];
		int			start = name->len;

		/* what csv_path_value() reads in the name is the same value, or NULL */
		appendStringInfoString(name, key_name);
		resetStringInfo(value);
		if (isnull[key->att])
			appendStringInfoString(name, CSV_PATH_NULL);
		else
		{
			csv_format_unquoted(key, values[key->att], value);
			appendStringInfoChar(value, '\0');
			add_escaped(name, value->data, strcmp(value->data, CSV_PATH_NULL) == 0);
		}
		if (name->len - start > CSV_NAME_BYTES)
			ereport(ERROR,
					(errcode(ERRCODE_NAME_TOO_LONG),
					 errmsg("a value in \"partition_by\" is too long for the name of a directory"),
					 errdetail("A name has up to %d bytes, with the column's name and escapes.",
							   CSV_NAME_BYTES)));
		if (i + 1 < nkeys)
			appendStringInfoChar(name, '/');
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

	if (stream != NULL && writer->job->nkeys == 0)
		return stream;
	make_name(writer, values, isnull);
	if (stream != NULL && strcmp(stream->name, writer->name.data) == 0)
		return stream;
	stream = hash_search(writer->streams, &writer->name.data, HASH_ENTER, &found);
	if (!found)
		*stream = (Stream) {
			.name = MemoryContextStrdup(writer->names, writer->name.data), .number = 1
		};
	if (stream->bytes.data == NULL)
	{
		outer = MemoryContextSwitchTo(writer->buffers);
		initStringInfo(&stream->bytes);
		csv_writer_header(writer, &stream->bytes);
		MemoryContextSwitchTo(outer);
	}
	writer->last = stream;
	return stream;
}

/* a record has been added to the buffer, where there were `before` bytes */
static void
end_record(CsvWriter *writer, Stream *stream, int before)
{
	int			full = writer->header_length + writer->full_bytes;

	stream->nwaiting++;
	if (stream->bytes.len > full && stream->nwaiting > 1)
		write_records(writer, stream, before, stream->nwaiting - 1);
	if (stream->bytes.len >= full)
		write_records(writer, stream, stream->bytes.len, stream->nwaiting);
	if (MemoryContextMemAllocated(writer->buffers, false) >
		(Size) maintenance_work_mem * 1024)
		write_all(writer);
}

void
csv_writer_header(const CsvWriter *writer, StringInfo output)
{
	appendBinaryStringInfo(output, writer->header, writer->header_length);
}

void
csv_writer_format(const CsvWriter *writer, const Datum *values, const bool *isnull,
				  StringInfo output)
{
	csv_format_row(writer->columns, writer->job->ncolumns, values, isnull, output,
				   &writer->format);
	if (writer->job->plan.crlf)
		appendStringInfoCharMacro(output, '\r');
	appendStringInfoCharMacro(output, '\n');
}

void
csv_writer_add(CsvWriter *writer, const Datum *values, const bool *isnull)
{
	Stream	   *stream = find_stream(writer, values, isnull);
	int			before = stream->bytes.len;

	csv_writer_format(writer, values, isnull, &stream->bytes);
	end_record(writer, stream, before);
}

void
csv_writer_add_line(CsvWriter *writer, const char *bytes, int n)
{
	Stream	   *stream = find_stream(writer, NULL, NULL);
	int			before = stream->bytes.len;

	appendBinaryStringInfo(&stream->bytes, bytes, n);
	end_record(writer, stream, before);
}

List *
csv_writer_end(CsvWriter *writer, bool make_one)
{
	HASH_SEQ_STATUS iterator;
	Stream	   *stream;

	write_all(writer);
	if (make_one && hash_get_num_entries(writer->streams) == 0)
		write_records(writer, find_stream(writer, NULL, NULL), writer->header_length, 0);
	hash_seq_init(&iterator, writer->streams);
	while ((stream = hash_seq_search(&iterator)) != NULL)
		list_file(writer, stream);
	return writer->files;
}
