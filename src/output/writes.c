/*
 * writes.c
 *		INSERT and TRUNCATE of foreign tables: callbacks of the executor (FdwRoutine), and
 *		the rows that a transaction writes, until it commits.
 *
 * A table is written to from its first row on: INSERT, COPY and rows that come by a
 * partitioned table need nothing at their beginning and end.
 *
 * Records wait in a temporary file, whose first block stays in memory.  When the transaction
 * commits, they come into the table's files:
 *
 *	- A pattern: a new file gets them before the commit, under a hidden name, and gets its
 *	  name after the commit (staging.h).
 *	- A plain name: they are written behind the file's end before the commit, under a
 *	  lock.  An abort cuts them off again.
 *
 * TRUNCATE deletes the files of a pattern after the commit.  If the file is a plain file,
 * records that follow TRUNCATE are appended as well, and the commit moves them to the
 * front.
 *
 * After the commit nothing may raise an ERROR.
 */
#include "postgres.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "access/xact.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "storage/buffile.h"
#include "storage/fd.h"
#include "storage/lmgr.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/resowner.h"

#include "output/file_form.h"
#include "output/hidden.h"
#include "output/row_writer.h"
#include "output/sink.h"
#include "output/staging.h"
#include "output/writes.h"
#include "table/declaration.h"
#include "table/decompress.h"
#include "table/listing.h"
#include "table/option.h"
#include "table/release.h"
#include "table/text.h"

/* bytes that are written at a time, unless they are compressed */
#define CSV_WRITTEN_BYTES	(64 * 1024)

/* bytes that are moved at a time */
#define CSV_MOVED_BYTES		(64 * 1024)

/* how rows are written to a file, and how a new one begins */
typedef struct Form
{
	const CsvTable *table;
	StringInfoData meaning;		/* of the table's definition */
	CsvFileForm file;
	CsvRowWriter *writer;
	StringInfoData header;
} Form;

/*
 * What a transaction has written at a nest level and outside of it.  Each level
 * that writes has its own copy, so that ROLLBACK TO finds what the outer level has
 * written.
 */
typedef struct WriteState
{
	struct WriteState *outer;	/* of the level outside; NULL: none */
	int			nest_level;
	bool		truncates;
	uint64		start;			/* of the records, in the bytes that wait ... */
	uint64		end;			/* ... and their end */
	Form	   *form;			/* of these records and the next, or NULL */
} WriteState;

/* what a transaction writes to the file of a table */
typedef struct Write
{
	Oid			relid;
	char	   *filename;
	bool		is_pattern;
	CsvRights	rights;
	WriteState *state;

	/*
	 * A type's functions may call functions of users, which may write to the same table.
	 * So this is the nest level of a row that is being written, or 0.
	 */
	int			row_level;
	bool		takes_over;		/* TRUNCATE deletes files of copies of this server, too */

	BufFile    *file;			/* records that wait, each behind its length; NULL: none */
	ResourceOwner owner;		/* of the file */
	bool		is_torn;		/* it could not be written: bytes may be missing or displaced */
	StringInfoData record;		/* the last one */

	/* while the transaction commits */
	uint64		lock;			/* of a plain file */
	List	   *doomed;			/* a pattern: files to delete, ... */
	CsvPlace	place;			/* ... in this directory, if prefixes allow it */
	CsvSink		sink;			/* a plain file */
	struct stat before;			/* ... as it was */
	bool		is_made;		/* ... it was not there */
	char	   *real_name;		/* ... without symbolic links; NULL: not opened */
} Write;

/* of a statement and a table: ri_FdwState */
typedef struct Insert
{
	Write	   *write;
	uint64		nrows;
} Insert;

/* of this transaction */
static List *writes = NIL;

/* directories that this session has settled */
static List *settled = NIL;

/* ---- rows that wait ---- */

static bool
has_rows(const Write *write)
{
	return write->state->end > write->state->start;
}

static bool
has_changes(const Write *write)
{
	return has_rows(write) || write->state->truncates;
}

/* the state that the current nest level may change */
static WriteState *
own_state(Write *write)
{
	WriteState *outer = write->state;
	int			nest_level = GetCurrentTransactionNestLevel();

	if (outer->nest_level == nest_level)
		return outer;
	write->state = MemoryContextAlloc(TopTransactionContext, sizeof(WriteState));
	*write->state = *outer;
	write->state->outer = outer;
	write->state->nest_level = nest_level;
	return write->state;
}

/* a form that no outer level has is freed */
static void
set_form(WriteState *state, Form *form)
{
	if (state->form != NULL && state->form != state->outer->form)
		MemoryContextDelete(GetMemoryChunkContext(state->form));
	state->form = form;
}

/* ERROR if the temporary file has other bytes than were written to it */
static void
check_whole(const Write *write)
{
	if (write->is_torn)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot write to file \"%s\" in this transaction", write->filename),
				 errdetail("A temporary file with rows that wait could not be written.")));
}

static void
open_temporary_file(Write *write)
{
	ResourceOwner owner = CurrentResourceOwner;
	MemoryContext outer = MemoryContextSwitchTo(TopTransactionContext);

	/* a subtransaction's end must not close it */
	write->owner = ResourceOwnerCreate(TopTransactionResourceOwner, "csv_gpu_fdw rows");
	CurrentResourceOwner = write->owner;
	write->file = BufFileCreateTemp(false);
	CurrentResourceOwner = owner;
	MemoryContextSwitchTo(outer);
}

/* BufFileClose() would write what is in its buffer, which may be an ERROR */
static void
close_temporary_file(Write *write)
{
	if (write->file != NULL)
	{
		ResourceOwnerRelease(write->owner, RESOURCE_RELEASE_BEFORE_LOCKS, false, false);
		ResourceOwnerRelease(write->owner, RESOURCE_RELEASE_LOCKS, false, false);
		ResourceOwnerRelease(write->owner, RESOURCE_RELEASE_AFTER_LOCKS, false, false);
		ResourceOwnerDelete(write->owner);
	}
	write->file = NULL;
	write->is_torn = false;
}

static void
seek(const Write *write, uint64 offset)
{
	if (BufFileSeek(write->file, 0, (off_t) offset, SEEK_SET) != 0)
		elog(ERROR, "could not seek in a temporary file");
}

static void
add_row(Write *write, TupleTableSlot *slot)
{
	StringInfo	record = &write->record;
	WriteState *state;

	resetStringInfo(record);
	csv_row_writer_add(write->state->form->writer, slot, record);
	state = own_state(write);
	check_whole(write);
	if (write->file == NULL)
		open_temporary_file(write);
	write->is_torn = true;
	/* over what ROLLBACK TO and ERRORs have left behind */
	seek(write, state->end);
	BufFileWrite(write->file, &record->len, sizeof(record->len));
	BufFileWrite(write->file, record->data, (size_t) record->len);
	write->is_torn = false;
	state->end += sizeof(record->len) + (size_t) record->len;
}

static void
leave_nest_level(Write *write, int nest_level, bool is_commit)
{
	WriteState *state = write->state;
	WriteState *outer = state->outer;

	/* an ERROR has ended the row */
	if (write->row_level >= nest_level)
		write->row_level = 0;
	if (state->nest_level < nest_level)
		return;
	state->nest_level--;
	if (!is_commit)
	{
		/* no statement of the outer level has begun with this form */
		set_form(state, NULL);
		write->state = outer;
		pfree(state);
	}
	else if (outer->nest_level == state->nest_level)
	{
		if (outer->form != state->form)
			set_form(outer, NULL);
		state->outer = outer->outer;
		pfree(outer);
	}
	/* the next row gets a new file */
	if (write->is_torn && write->state->end == 0)
		close_temporary_file(write);
}

/* ---- begin ---- */

/*
 * The directory in which the server's prefixes allow the file, *found; NULL:
 * there are no prefixes.  ERROR if they do not allow it.
 */
static const CsvPlace *
find_place(const CsvRights *rights, const char *filename, CsvPlace *found)
{
	struct stat st;

	if (!rights->given[CSV_ACCESS_WRITE])
		return NULL;
	if (!csv_check_written(rights, filename, &st))
	{
		errno = ENOENT;
		csv_fail_on_file("could not open file \"%s\" for writing: %m", filename,
						 "write");
	}
	*found = (CsvPlace) {st.st_dev, st.st_ino};
	return found;
}

/* ERROR if rows could not be written at commit */
static void
check_access(const CsvTable *table, bool is_pattern)
{
	char	   *directory = csv_directory_of(table->filename);
	bool		is_file = !is_pattern && access(table->filename, F_OK) == 0;

	if (access(is_file ? table->filename : directory,
			   is_file ? W_OK : W_OK | X_OK) != 0)
		csv_fail_on_file("could not open file \"%s\" for writing: %m", table->filename, "write");
}

/* ERROR if rows cannot be written.  In a memory context of its own, which an ERROR frees. */
static Form *
make_form(const Write *write, Oid relid)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "csv_gpu_fdw writer",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext outer = MemoryContextSwitchTo(context);
	const CsvTable *table = csv_table_get(relid);
	Form	   *form = palloc0(sizeof(Form));
	CsvCompression compression = csv_compression_of(table->filename, table->compression);

	csv_table_check(table);
	if (table->shares > 1)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot write to foreign table \"%s\", which has a share of its files",
						table->name),
				 errhint("Write to a foreign table that has all of its files: with share '0' and shares '1'.")));
	check_access(table, write->is_pattern);
	if (compression != CSV_COMPRESSION_NONE)
		csv_compression_prepare(compression, table->filename, true);
	form->table = table;
	form->meaning = csv_table_declaration(table);
	form->file = write->is_pattern || write->state->truncates ?
		csv_file_form_new(table) : csv_file_form_read(table);
	form->writer = csv_row_writer_create(table, &form->file);
	initStringInfo(&form->header);
	csv_row_writer_header(form->writer, &form->header);
	MemoryContextSetParent(context, TopTransactionContext);
	MemoryContextSwitchTo(outer);
	return form;
}

/* is it the form of the table's definition as it is now? */
static bool
is_form_of(const Form *form, const CsvTable *table)
{
	StringInfoData meaning = csv_table_declaration(table);

	return form != NULL && form->meaning.len == meaning.len &&
		memcmp(form->meaning.data, meaning.data, (size_t) meaning.len) == 0 &&
		form->table->file_encoding == table->file_encoding;
}

/* the write to the table's file; at the first call, it is made */
static Write *
find_write(const CsvTable *table)
{
	Write	   *write;
	MemoryContext outer;
	ListCell   *cell;

	foreach(cell, writes)
	{
		write = lfirst(cell);
		if (write->relid == table->relid && strcmp(write->filename, table->filename) == 0)
			return write;
	}
	outer = MemoryContextSwitchTo(TopTransactionContext);
	write = palloc0(sizeof(Write));
	write->relid = table->relid;
	write->filename = pstrdup(table->filename);
	write->is_pattern = strchr(table->filename, '*') != NULL;
	write->rights = table->rights;
	write->rights.server = pstrdup(table->rights.server);
	write->rights.prefixes[CSV_ACCESS_WRITE] =
		copyObject(table->rights.prefixes[CSV_ACCESS_WRITE]);
	write->state = palloc0(sizeof(WriteState));
	initStringInfo(&write->record);
	writes = lappend(writes, write);
	MemoryContextSwitchTo(outer);
	return write;
}

/*
 * The files of a pattern that this server has written.  ERROR for files that a copy of
 * this server may have written, unless the user has taken them over.
 */
static List *
list_doomed(const Write *write)
{
	List	   *doomed = NIL;
	size_t		nprefix = (size_t) (strchr(write->filename, '*') - write->filename);
	const char *suffix = write->filename + nprefix + 1;
	/* ROLLBACK TO may have left no form */
	const CsvTable table = {.filename = write->filename, .prefers_pattern = true};
	char	  **files;
	int			nfiles;

	if (!csv_expand_pattern(&table, false, &files, &nfiles))
		return NIL;
	for (int i = 0; i < nfiles; i++)
	{
		bool		is_own;
		size_t		ntag = csv_hidden_tag_at(files[i], nprefix, &is_own);

		if (ntag == 0 || strcmp(files[i] + nprefix + ntag, suffix) != 0)
			continue;
		if (!is_own && !write->takes_over)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("another server may have written file \"%s\"",
							csv_shown_filename(files[i])),
					 errdetail("Its name has this server's system identifier, but no transaction of this timeline and data directory is known to have written it."),
					 errhint("If no other server uses the table's files, call csv_gpu_take_over() in the transaction of TRUNCATE.")));
		doomed = lappend(doomed, files[i]);
	}
	return doomed;
}

/* ERROR if a row is being written */
static void
check_idle(const Write *write)
{
	if (write->row_level > 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("a row of foreign table \"%s\" is being written",
						write->state->form->table->name)));
}

static void
add_truncate(Write *write)
{
	WriteState *state = own_state(write);

	if (write->is_pattern)
		list_free_deep(list_doomed(write));
	state->truncates = true;
	state->start = state->end;
	set_form(state, NULL);
}

/* begin with the form that the table and its file have now */
static Write *
begin(Oid relid, bool truncates)
{
	const CsvTable *table = csv_table_get(relid);
	Write	   *write = find_write(table);
	Form	   *form;
	CsvPlace	place;

	(void) find_place(&table->rights, table->filename, &place);
	check_idle(write);
	if (truncates)
		add_truncate(write);
	if (is_form_of(write->state->form, table))
		return write;
	if (has_rows(write))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot write rows of two forms to file \"%s\" in one transaction",
						write->filename),
				 errdetail("The definition of foreign table \"%s\" has changed after rows were written.",
						   table->name)));
	form = make_form(write, relid);
	set_form(own_state(write), form);
	return write;
}

/* ---- callbacks of the executor ---- */

/* for ereport() */
static int
hint_writable(Relation relation)
{
	return csv_table_get(RelationGetRelid(relation))->program != NULL ? 0 :
		errhint("Set the option \"writable\" of the table to \"true\".");
}

/* the executor's ERROR, with a HINT */
void
csv_begin_modify(ModifyTableState *state, ResultRelInfo *result, List *fdw_private,
				 int subplan, int flags)
{
	Relation	relation = result->ri_RelationDesc;

	if (!csv_table_is_writable(RelationGetRelid(relation)))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("foreign table \"%s\" does not allow inserts",
						RelationGetRelationName(relation)),
				 hint_writable(relation)));
}

void
csv_begin_insert(ModifyTableState *state, ResultRelInfo *result)
{
	csv_begin_modify(state, result, NIL, 0, 0);
}

/* a table that an INSERT has locked is left to the callbacks above */
int
csv_is_updatable(Relation relation)
{
	const TupleConstr *constraints = relation->rd_att->constr;

	/* nothing would compute the column for rows that are read */
	if (constraints != NULL && constraints->has_generated_stored)
		return 0;
	return csv_table_is_writable(RelationGetRelid(relation)) ||
		CheckRelationLockedByMe(relation, RowExclusiveLock, false) ? 1 << CMD_INSERT : 0;
}

/* context of an ERROR; COPY has its own */
static void
show_row(void *arg)
{
	const ResultRelInfo *result = arg;
	const Insert *insert = result->ri_FdwState;

	errcontext("INSERT into foreign table \"%s\", row " UINT64_FORMAT,
			   RelationGetRelationName(result->ri_RelationDesc), insert->nrows);
}

static void
write_row(EState *estate, ResultRelInfo *result, TupleTableSlot *slot)
{
	Insert	   *insert = result->ri_FdwState;
	Write	   *write = insert->write;
	ErrorContextCallback context = {
		.previous = error_context_stack, .callback = show_row, .arg = result
	};

	insert->nrows++;
	if (estate->es_plannedstmt != NULL)
		error_context_stack = &context;
	check_idle(write);
	write->row_level = GetCurrentTransactionNestLevel();
	add_row(write, slot);
	write->row_level = 0;
	error_context_stack = context.previous;
}

TupleTableSlot *
csv_exec_insert(EState *estate, ResultRelInfo *result, TupleTableSlot *slot,
				TupleTableSlot *plan_slot)
{
	Relation	relation = result->ri_RelationDesc;
	const TriggerDesc *triggers = result->ri_TrigDesc;

	if (result->ri_FdwState == NULL)
	{
		Insert	   *insert = MemoryContextAllocZero(estate->es_query_cxt, sizeof(Insert));

		insert->write = begin(RelationGetRelid(relation), false);
		result->ri_FdwState = insert;
	}
	slot->tts_tableOid = RelationGetRelid(relation);

	/*
	 * The executor leaves the checks of foreign tables to others, even the checks by a
	 * partitioned table's row security.
	 */
	if (result->ri_WithCheckOptions != NIL)
	{
		ExecWithCheckOptions(WCO_RLS_INSERT_CHECK, result, slot, estate);
		ExecWithCheckOptions(WCO_RLS_UPDATE_CHECK, result, slot, estate);
	}
	if (relation->rd_att->constr != NULL)
		ExecConstraints(result, slot, estate);
	if (relation->rd_rel->relispartition &&
		(result->ri_RootResultRelInfo == NULL ||
		 (triggers != NULL && triggers->trig_insert_before_row)))
		ExecPartitionCheck(result, slot, estate, true);
	write_row(estate, result, slot);
	return slot;
}

void
csv_exec_truncate(List *relations, DropBehavior behavior, bool restart_sequences)
{
	ListCell   *cell;

	foreach(cell, relations)
	{
		Relation	relation = lfirst(cell);

		if (!csv_table_is_writable(RelationGetRelid(relation)))
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("cannot truncate foreign table \"%s\"",
							RelationGetRelationName(relation)),
					 hint_writable(relation)));
		(void) begin(RelationGetRelid(relation), true);
	}
}

PG_FUNCTION_INFO_V1(csv_gpu_take_over);

/*
 * csv_gpu_take_over(target regclass): to the end of the transaction, TRUNCATE of the
 * foreign table also deletes the files that a copy of this server may have written.
 */
Datum
csv_gpu_take_over(PG_FUNCTION_ARGS)
{
	Oid			relid;

	csv_begin_function(fcinfo, "strict regclass -> void");
	relid = PG_GETARG_OID(0);
	csv_check_role(ROLE_PG_WRITE_SERVER_FILES, "for function csv_gpu_take_over",
				   "call this function");
	PreventCommandDuringRecovery("csv_gpu_take_over()");
	if (get_rel_relkind(relid) != RELKIND_FOREIGN_TABLE || !csv_is_csv_table(relid) ||
		!csv_table_is_writable(relid))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a writable foreign table of csv_gpu_fdw",
						get_rel_name(relid) != NULL ? get_rel_name(relid) : psprintf("%u", relid))));
	find_write(csv_table_get(relid))->takes_over = true;
	PG_RETURN_VOID();
}

/* ---- before the commit ---- */

/* write whole records, since others may append to the file, too */
static void
put(const Form *form, CsvCompressor *compressor, StringInfo records, CsvSink *sink)
{
	StringInfo	bytes = records;
	StringInfoData converted;
	StringInfoData packed;

	if (records->len == 0)
		return;
	initStringInfo(&converted);
	initStringInfo(&packed);
	if (form->file.utf16 != CSV_UTF16_NO)
	{
		bytes = &converted;
		csv_utf8_to_utf16(records->data, (size_t) records->len, form->file.utf16, bytes);
	}
	if (compressor != NULL)
	{
		csv_compress(compressor, bytes->data, (size_t) bytes->len, &packed);
		bytes = &packed;
	}
	csv_sink_write(sink, bytes->data, (size_t) bytes->len);
	pfree(converted.data);
	pfree(packed.data);
	resetStringInfo(records);
}

/* the next bytes that wait */
static void
read_waiting(const Write *write, void *to, int n)
{
	if (BufFileRead(write->file, to, (size_t) n) != (size_t) n)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read from temporary file: %m")));
}

/* write the records; is_new: to a file that has no bytes */
static void
put_rows(const Write *write, CsvSink *sink, bool is_new, bool lacks_break)
{
	const WriteState *state = write->state;
	const Form *form = state->form;
	CsvCompressor *compressor =
		csv_compressor_create(csv_compression_of(write->filename, form->table->compression),
							  write->filename, 1);
	int			most = compressor == NULL ? CSV_WRITTEN_BYTES : CSV_FRAME_BYTES;
	StringInfoData records;
	int			n;

	initStringInfo(&records);
	/* a byte-order mark */
	if (is_new && form->file.utf16 != CSV_UTF16_NO && (sink->nbytes == 0 || state->truncates))
		appendStringInfoString(&records, "\xef\xbb\xbf");
	if (is_new)
		appendBinaryStringInfo(&records, form->header.data, form->header.len);
	if (lacks_break)
		appendStringInfoString(&records, csv_line_break(form->file.boundary));
	check_whole(write);
	seek(write, state->start);
	for (uint64 at = state->start; at < state->end; at += sizeof(n) + (size_t) n)
	{
		CHECK_FOR_INTERRUPTS();
		read_waiting(write, &n, sizeof(n));
		read_waiting(write, csv_output_room(&records, (size_t) n), n);
		records.len += n;
		if (records.len >= most)
			put(form, compressor, &records, sink);
	}
	put(form, compressor, &records, sink);
}

/* settle the leftovers of a crash, once in a session */
static void
settle_directory(const char *directory)
{
	MemoryContext outer;

	if (list_member(settled, makeString(unconstify(char *, directory))))
		return;
	csv_hidden_settle(directory, true, NULL);
	outer = MemoryContextSwitchTo(TopMemoryContext);
	settled = lappend(settled, makeString(pstrdup(directory)));
	MemoryContextSwitchTo(outer);
}

/* write a new file of a pattern, under its hidden name */
static void
write_new_file(Write *write)
{
	const char *star = strchr(write->filename, '*');
	char	   *directory = csv_directory_of(write->filename);
	char	   *path;
	struct stat st;
	CsvSink		sink;
	CsvPlace	found;
	const CsvPlace *place = find_place(&write->rights, write->filename, &found);

	write->place = place != NULL ? found : write->place;
	settle_directory(directory);
	if (write->state->truncates)
		write->doomed = list_doomed(write);
	if (!has_rows(write))
		return;
	path = psprintf("%.*s%s%s", (int) (star - write->filename), write->filename,
					csv_hidden_tag(write->relid), star + 1);
	if (lstat(path, &st) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_FILE),
				 errmsg("file \"%s\" already exists", path)));
	csv_staging_check_written(path);
	csv_hidden_make_file(path, place, &sink);
	put_rows(write, &sink, true, false);
	csv_sink_close(&sink, true);
	if (fsync_fname_ext(directory, true, true, WARNING) != 0)
		csv_fail_on_file("could not fsync directory \"%s\": %m", directory, "write");
}

/* append to a plain file, which is locked */
static void
append_to_file(Write *write)
{
	const Form *rows = write->state->form;
	CsvFileForm form;
	bool		is_new;
	bool		lacks_break;
	off_t		size;
	CsvPlace	found;
	const CsvPlace *place = find_place(&write->rights, write->filename, &found);

	write->is_made =
		csv_rights_stat(&write->rights, write->filename, CSV_ACCESS_WRITE,
						&write->before) != 0;
	size = write->before.st_size;
	if (!write->is_made)
		csv_check_regular(write->filename, write->before.st_mode);
	if (!has_rows(write))
		return;
	form = write->state->truncates ? csv_file_form_new(rows->table) :
		csv_file_form_read(rows->table);
	if (!csv_file_forms_equal(rows->table, &form, &rows->file))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("file \"%s\" was replaced in the meantime", write->filename),
				 errdetail("The transaction's rows do not fit its header or its line breaks.")));
	is_new = !form.has_bytes;
	lacks_break = !is_new && csv_file_lacks_break(rows->table, &form);
	csv_sink_open(&write->sink, write->filename, place,
				  O_CREAT | O_APPEND | O_NONBLOCK);
	write->real_name = csv_real_path(write->filename);
	if (fstat(write->sink.fd, &write->before) != 0)
		csv_fail_on_file("could not stat file \"%s\": %m", write->filename, "write");
	csv_check_regular(write->filename, write->before.st_mode);
	/* the header takes the place of an empty line */
	if (form.is_blank && write->before.st_size == size && ftruncate(write->sink.fd, 0) == 0)
		write->before.st_size = write->sink.nbytes = 0;
	put_rows(write, &write->sink, is_new, lacks_break);
	csv_sink_close(&write->sink, true);
	if (write->is_made)
		(void) fsync_fname_ext(csv_directory_of(write->real_name), true, true, WARNING);
}

static int
compare_locks(const ListCell *a, const ListCell *b)
{
	const Write *left = lfirst(a);
	const Write *right = lfirst(b);

	return left->lock < right->lock ? -1 : left->lock > right->lock;
}

static void
write_all(void)
{
	MemoryContext outer = MemoryContextSwitchTo(TopTransactionContext);
	const Write *before = NULL;
	ListCell   *cell;

	foreach(cell, writes)
	{
		Write	   *write = lfirst(cell);

		if (!write->is_pattern && has_changes(write))
			write->lock = csv_file_lock_number(write->filename);
	}
	/* all transactions lock files in this order */
	list_sort(writes, compare_locks);
	foreach(cell, writes)
	{
		Write	   *write = lfirst(cell);

		if (!has_changes(write))
			continue;
		ForceSyncCommit();
		if (write->is_pattern)
		{
			write_new_file(write);
			continue;
		}
		if (before != NULL && before->lock == write->lock &&
			(before->state->truncates || write->state->truncates))
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("cannot truncate file \"%s\" and write to it by another table in one transaction",
							write->filename)));
		csv_staging_check_written(write->filename);

		/* csv_gpu_unload() locks a directory from before its commit until after it */
		csv_file_lock(csv_file_lock_number(csv_directory_of(write->filename)),
					  ShareLock);
		csv_file_lock(write->lock, ExclusiveLock);
		append_to_file(write);
		before = write;
	}
	MemoryContextSwitchTo(outer);
}

/* ---- after the commit ---- */

/* only the bytes behind `from` stay in a file.  Returns 0, or -1 with errno. */
static int
keep_bytes(int fd, off_t from)
{
	static char bytes[CSV_MOVED_BYTES];
	off_t		to = 0;
	ssize_t		n;

	while ((n = pread(fd, bytes, sizeof(bytes), from)) > 0)
	{
		if (pwrite(fd, bytes, (size_t) n, to) != n)
			return -1;
		from += n;
		to += n;
	}
	return n < 0 || ftruncate(fd, to) != 0 ? -1 : pg_fsync(fd);
}

/* is it the file that was there when the transaction wrote? */
static bool
is_same_file(const Write *write, const struct stat *st)
{
	return st->st_dev == write->before.st_dev && st->st_ino == write->before.st_ino;
}

static void
truncate_file(const Write *write)
{
	struct stat st;
	int			fd;

	if (write->is_made)
		return;
	fd = open(write->filename, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0 && fstat(fd, &st) == 0 && !is_same_file(write, &st))
		csv_warn_at_end("file \"%s\" was replaced in the meantime, and is not truncated",
						write->filename);
	else if (fd < 0 || keep_bytes(fd, write->before.st_size) != 0)
		csv_warn_at_end("could not truncate file \"%s\": %m", write->filename);
	if (fd >= 0)
		close(fd);
}

/* links must not have come into the path of a file of a pattern */
static int
remove_file(const Write *write, const char *path)
{
	struct stat st;
	int			at;
	int			result;

	if (!write->rights.given[CSV_ACCESS_WRITE])
		return unlink(path);
	at = open(csv_directory_of(path), O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (at < 0)
		return -1;
	errno = ESTALE;
	result = fstat(at, &st) == 0 && st.st_dev == write->place.dev &&
		st.st_ino == write->place.ino ?
		unlinkat(at, last_dir_separator(path) + 1, 0) : -1;
	close(at);
	return result;
}

static void
finish(const Write *write)
{
	ListCell   *cell;

	if (!write->is_pattern && write->state->truncates)
		truncate_file(write);
	foreach(cell, write->doomed)
		if (remove_file(write, lfirst(cell)) != 0 && errno != ENOENT)
			csv_warn_at_end("could not remove file \"%s\": %m", lfirst(cell));
	/* a new file's end does so, too */
	if (write->doomed != NIL && !has_rows(write))
		(void) fsync_fname_ext(csv_directory_of(write->filename), true, true,
							   csv_level_at_end());
}

/* ---- after an abort ---- */

/* cut the records off a file, unless another program has written behind them */
static void
take_off(const Write *write)
{
	struct stat st;
	int			fd;

	if (write->real_name == NULL)
		return;
	fd = open(write->real_name, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) != 0)
		csv_warn_at_end("could not open file \"%s\": %m", write->filename);
	else if (!is_same_file(write, &st) || st.st_size <= write->before.st_size)
		;
	else if (st.st_size > write->sink.nbytes)
		ereport(csv_level_at_end(),
				(errmsg("rows of an aborted transaction stay in file \"%s\"",
						csv_shown_filename(write->filename)),
				 errdetail("Another program has written to the file in the meantime.")));
	else if (ftruncate(fd, write->before.st_size) != 0)
		csv_warn_at_end("could not truncate file \"%s\": %m", write->filename);
	if (write->is_made && fd >= 0 && fstat(fd, &st) == 0 && is_same_file(write, &st) &&
		st.st_size == 0)
		(void) unlink(write->real_name);
	if (fd >= 0)
		close(fd);
}

/* ---- ends of transactions ---- */

static void
close_temporary_files(void)
{
	ListCell   *cell;

	foreach(cell, writes)
		close_temporary_file(lfirst(cell));
}

static void
end_transaction(XactEvent event, void *arg)
{
	ListCell   *cell;

	switch (event)
	{
		case XACT_EVENT_PRE_COMMIT:
			write_all();
			close_temporary_files();
			csv_staging_commit();
			return;
		case XACT_EVENT_PRE_PREPARE:
			foreach(cell, writes)
				if (has_changes(lfirst(cell)))
					ereport(ERROR,
							(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
							 errmsg("cannot PREPARE a transaction that has written to csv_gpu_fdw foreign tables")));
			if (csv_hidden_all != NIL)
				ereport(ERROR,
						(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						 errmsg("cannot PREPARE a transaction that has called csv_gpu_unload()")));
			close_temporary_files();
			return;
		case XACT_EVENT_COMMIT:
			foreach(cell, writes)
				finish(lfirst(cell));
			csv_hidden_leave(1, true);
			break;
		case XACT_EVENT_ABORT:
			csv_hidden_leave(1, false);
			/* two tables may have one file */
			for (int i = list_length(writes) - 1; i >= 0; i--)
				take_off(list_nth(writes, i));
			break;
		case XACT_EVENT_PREPARE:
			break;
		default:
			return;
	}
	/* the memory goes with the transaction */
	writes = NIL;
}

static void
end_subtransaction(SubXactEvent event, SubTransactionId subid,
				   SubTransactionId outer_subid, void *arg)
{
	int			nest_level = GetCurrentTransactionNestLevel();
	bool		is_commit = event == SUBXACT_EVENT_COMMIT_SUB;
	ListCell   *cell;

	if (!is_commit && event != SUBXACT_EVENT_ABORT_SUB)
		return;
	foreach(cell, writes)
		leave_nest_level(lfirst(cell), nest_level, is_commit);
	csv_hidden_leave(nest_level, is_commit);
}

void
csv_writes_init(void)
{
	RegisterXactCallback(end_transaction, NULL);
	RegisterSubXactCallback(end_subtransaction, NULL);
}
