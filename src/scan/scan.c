/*
 * scan.c
 *		From batches to rows.
 *
 *	1. The source delivers the bytes of one file after the other.
 *	2. The reader, with the engine chosen for the table, makes batches of them:
 *	   arrays of datums for the wanted columns, and errors between the rows.
 *	3. A row is handed out by setting words and pointers into the arrays.
 *	   Values that the engine was not sure of are made here, by the type's
 *	   input function (value.c); where that refuses, the record joins the
 *	   skipped ones.
 *	4. Skipped records are reported when the scan passes them, in file order.
 *
 * Filters and aggregates that are pushed down are evaluated over a batch's
 * arrays, between 2 and 3; or by the engine itself, where it can (CsvAnswer):
 * then the arrays have entries only for rows that come out.
 *
 * Where the session keeps columns (resident.c), 1 and 2 are spared for a file
 * whose wanted ones are there; where they are not, its batches are copied on
 * the way.
 *
 * Memory: everything of the scan hangs on its context.  Values made here live
 * in row_context, until the next row; those of functions that need a
 * subtransaction are made for a run of rows ahead, in run_context.  Reader and
 * engine hold memory of another kind, and threads; a reset callback gives them
 * back when the context goes, also after an ERROR or a cancel.  They also go
 * when the scan has come to its end: a query may read hundreds of partitions
 * one after the other, and ends none of their scans before the last.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "mb/pg_wchar.h"
#include "access/xact.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

#include "batches/resident_gpu.h"
#include "scan/progress.h"
#include "scan/scan.h"
#include "table/source.h"

/* rows whose values are made in one subtransaction */
#define CSV_RUN_ROWS	256

/*
 * How a value gets from the array into the slot.  A float's bits travel as an
 * integer's: that is how it is passed by value.
 */
typedef enum CsvFetch
{
	CSV_FETCH_POINTER,			/* the entry itself */
	CSV_FETCH_INT32,
	CSV_FETCH_INT64,
	CSV_FETCH_INT16,
	CSV_FETCH_BYTE,
	CSV_NUM_FETCHES,			/* those above need no more than an array */
	CSV_FETCH_CSTRING = CSV_NUM_FETCHES,	/* by the input function */
	CSV_FETCH_RUN,				/* the same, made a run of rows ahead */
	CSV_FETCH_DECIMAL			/* a numeric, from a scaled integer; if hidden,
								 * only where the engine could not decide */
} CsvFetch;

/* one for each row of a batch */
typedef struct CsvRowFlags
{
	uint8_t    *values;
	uint32_t	capacity;
} CsvRowFlags;

/* a column of a batch that has no status but CSV_VALUE_OK */
typedef struct CsvPlainColumn
{
	const uint8_t *values;
	uint32_t	stride;
	int			att;			/* attribute number - 1 */
} CsvPlainColumn;

/* a wanted column that is read from the file */
typedef struct CsvScanColumn
{
	CsvValueInput input;
	CsvFetch	fetch;
	int			att;			/* attribute number - 1 */
	bool		hidden;			/* as in CsvPushdown */
	uint8_t		kind;			/* CsvKind, where it is read from a file */
	const char *meaning;		/* for resident.c */
	int			resident;		/* index among the file's resident columns */
	const uint8_t *values;		/* of this batch */
	const uint8_t *status;		/* NULL if all are OK */
	uint32_t	stride;

	/* CSV_FETCH_RUN */
	Datum	   *run_values;
	bool	   *run_isnull;
} CsvScanColumn;

struct CsvTableScan
{
	const CsvTable *table;
	MemoryContext context;
	MemoryContext row_context;
	MemoryContext run_context;
	CsvMemory	memory;			/* of the context */
	MemoryContextCallback callback;
	CsvSkippedFn skipped;
	void	   *skipped_arg;

	CsvSource  *source;
	int64		nbytes;			/* of the source, when the scan began, about */
	int64		progress_bytes; /* the same where it is certain, else 0 */
	int64		passed_bytes;	/* of them, in batches */
	int64		file_bytes;		/* likewise, of the open file */
	Oid			progress_relid; /* where its progress shows, if it does */
	CsvOpenEngine engine;		/* none at the end of a scan */
	CsvReader  *reader;			/* likewise NULL */
	const char *engine_description; /* also of one that is closed */
	bool		was_rewound;
	bool		file_is_open;
	int			file_number;	/* from 1 */

	/* columns that the session keeps */
	bool		keeps;			/* the setting asks for it, and may have it */
	bool		all_resident;	/* no file had to be read so far */
	char	   *meaning;		/* of the table, for resident.c */
	CsvResident *resident;		/* that the open file's batches are taken from */
	CsvResidentGrouping *grouping;	/* of its rows, by the query's keys */
	const CsvResidentBatch *resident_batch; /* NULL: the reader's */
	CsvArray   *resident_arrays;
	CsvResidentAnswer *resident_answer; /* of a GPU, to the query; or NULL */
	CsvResident *kept;			/* that the open file's batches are copied to */
	CsvFileIdentity identity;	/* of the open file, as it was opened */

	const CsvDialect *dialect;	/* of the open file */
	CsvLayout	layout;
	CsvColumn  *layout_columns; /* in order of (field, attnum) */
	CsvScanColumn *columns;		/* likewise */
	int			ncolumns;
	const CsvTableColumn **virtuals;
	int			nvirtuals;
	Datum		filename;		/* text */

	/* what is pushed down; NULL: nothing */
	const CsvPushdown *pushdown;
	CsvQuery   *query;
	CsvDecidable decidable;
	CsvEvaluator *evaluator;	/* NULL: not made yet */
	bool		requested;		/* the engine has been asked to answer it, as it
								 * is, in this layout */
	bool		holding;		/* the engine has groups of batches that are past */
	bool		may_not_hold;	/* that has turned out to be of no use */
	bool		must_restart;	/* all has to be read anew, as such groups are lost */
	CsvPartialGroups held;		/* the first of them, when all is read */
	MemoryContext query_context;
	CsvMemory	query_memory;
	CsvRowClasses classes;		/* of the batch, where it is resident */
	CsvSelection selection;		/* of the batch's rows */
	uint32_t	position;		/* next of the selection */
	bool		undecided;		/* the last row that came out */
	CsvRowFlags doubtful;		/* some value is not made yet */

	CsvBatch	batch;
	uint32_t	row;			/* next of the batch */
	uint32_t	entry;			/* its place in the arrays */
	uint32_t	error;			/* next of the batch */
	bool		any_careful;	/* some entries have values that the arrays do
								 * not hold: */
	bool		all_careful;	/* all of them, */
	CsvRowFlags careful;		/* or these */

	/*
	 * The batch's columns that the arrays hold: the plain ones by their way
	 * to fetch, each way's ending before plain_end of it, and those with NULLs.
	 * The plain ones' isnull was set to false in the array null_set, once.
	 */
	CsvPlainColumn *plain;
	CsvPlainColumn *plain_end[CSV_NUM_FETCHES];
	const CsvScanColumn **nullable;
	int			nnullable;
	const bool *null_set;
	bool		row_context_used;
	bool		finished;
	bool		stopped;		/* scan->skipped said so */

	/* the run of rows made ahead: entries [run_from, run_until) */
	uint32_t	run_from;
	uint32_t	run_until;
	bool		run_failed;		/* value by value, then */
	bool		has_runs;
	bool		has_functions;	/* a column whose function sees every value */

	/* fields of one record, for values that need the input's bytes */
	CsvScan		fields;
	uint64_t	fields_of;		/* offset of the record in the batch, + 1 */

	CsvReport	report;
	int			reported_file;	/* furthest record that was passed */
	int64		reported_record;
	CsvScanStatistics statistics;
};

/* ---- memory ---- */

static void *
scan_alloc(void *owner, size_t nbytes)
{
	return MemoryContextAllocExtended((MemoryContext) owner, nbytes,
									  MCXT_ALLOC_HUGE);
}

static void
scan_free(void *owner, void *memory)
{
	pfree(memory);
}

/*
 * The memory of the reader, and of an engine that works in other threads: those
 * must not touch a memory context.
 */
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

static const CsvMemory thread_memory = {thread_alloc, thread_free, NULL};

/* ---- the engine ---- */

static void
open_engine(CsvTableScan *scan)
{
	MemoryContext outer = MemoryContextSwitchTo(scan->context);
	CsvReaderOptions options = scan->table->reader;

	options.interrupted = csv_source_interrupted;
	options.interrupted_arg = NULL;
	scan->reader = csv_reader_create(&thread_memory, &options);
	if (scan->reader == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory")));
	csv_engine_open(&scan->engine, scan->table->engine, scan->nbytes,
					scan->ncolumns + scan->nvirtuals, &thread_memory);
	csv_reader_set_engine(scan->reader, scan->engine.engine,
						  scan->engine.state);
	scan->engine_description = csv_engine_description(&scan->engine);
	MemoryContextSwitchTo(outer);
}

static void
close_reader(CsvTableScan *scan)
{
	if (scan->reader != NULL)
	{
		scan->statistics.read_seconds += csv_reader_read_seconds(scan->reader);
		csv_reader_free(scan->reader);
	}
	scan->reader = NULL;
}

static void
close_engine(CsvTableScan *scan)
{
	close_reader(scan);
	if (scan->engine.engine != NULL)
		scan->engine.engine->close(scan->engine.state);
	scan->engine.engine = NULL;
}

/* a GPU that has woken up by now takes over from the CPU */
static void
take_over(CsvTableScan *scan)
{
	MemoryContext outer = MemoryContextSwitchTo(scan->context);
	CsvOpenEngine cpu = scan->engine;
	CsvOpenEngine gpu;

	if (csv_engine_take_over(&scan->engine, scan->nbytes - scan->passed_bytes,
							 &thread_memory, &gpu))
	{
		/* no ERROR may come before one of the two is closed */
		if (csv_reader_set_engine(scan->reader, gpu.engine,
								  gpu.state) == CSV_OK)
		{
			scan->engine = gpu;
			cpu.engine->close(cpu.state);
			scan->requested = false;
			scan->engine_description = csv_engine_description(&scan->engine);
		}
		else
		{
			csv_reader_set_engine(scan->reader, cpu.engine, cpu.state);
			gpu.engine->close(gpu.state);
		}
	}
	MemoryContextSwitchTo(outer);
}

static void handle_failure(CsvTableScan *scan, CsvStatus status);

/* where a GPU failed */
static void
fall_back(CsvTableScan *scan)
{
	MemoryContext outer = MemoryContextSwitchTo(scan->context);
	CsvOpenEngine cpu = scan->engine;
	CsvStatus	status;

	/* no ERROR may come between opening it and keeping it */
	csv_engine_fall_back(&cpu, &thread_memory);
	status = csv_reader_set_engine(scan->reader, cpu.engine, cpu.state);
	scan->engine.engine->close(scan->engine.state);
	scan->engine = cpu;
	scan->requested = false;
	if (status != CSV_OK)
		handle_failure(scan, status);
	scan->engine_description = csv_engine_description(&scan->engine);
	MemoryContextSwitchTo(outer);
}

/* let go of columns that are taken from, or copied to */
static void
leave_resident(CsvTableScan *scan)
{
	if (scan->resident_answer != NULL)
		csv_resident_answer_free(scan->resident_answer);
	scan->resident_answer = NULL;
	if (scan->resident != NULL)
		csv_resident_release(scan->resident);
	if (scan->kept != NULL)
		csv_resident_release(scan->kept);
	scan->resident = NULL;
	scan->resident_batch = NULL;
	scan->grouping = NULL;
	scan->kept = NULL;
}

/* the reset callback */
static void
release_scan(void *arg)
{
	csv_progress_release(arg);
	leave_resident(arg);
	close_engine(arg);
}

/* ---- begin ---- */

static CsvFetch
fetch_for(const CsvValueInput *input)
{
	switch (input->spec.kind)
	{
		case CSV_KIND_BOOL:
			return CSV_FETCH_BYTE;
		case CSV_KIND_INT2:
			return CSV_FETCH_INT16;
		case CSV_KIND_INT4:
		case CSV_KIND_DATE:
		case CSV_KIND_FLOAT4:
			return CSV_FETCH_INT32;
		case CSV_KIND_INT8:
		case CSV_KIND_TIMESTAMP:
		case CSV_KIND_TIMESTAMPTZ:
		case CSV_KIND_FLOAT8:
			return CSV_FETCH_INT64;
		case CSV_KIND_CSTRING:
			return input->pure ? CSV_FETCH_CSTRING : CSV_FETCH_RUN;
		case CSV_KIND_DECIMAL64:
		case CSV_KIND_DECIMAL128:
			return CSV_FETCH_DECIMAL;
		default:
			return CSV_FETCH_POINTER;
	}
}

static void
set_kind(CsvScanColumn *column, uint8_t kind)
{
	column->input.spec.kind = kind;
	column->fetch = fetch_for(&column->input);
}

/*
 * A numeric that is only computed with, or comes out in few rows, comes as a
 * scaled integer, if there is one that holds all its values.
 */
static void
prefer_decimal(CsvColumn *spec)
{
	if (spec->kind == CSV_KIND_NUMERIC && spec->precision > 0 &&
		spec->precision <= CSV_MAX_DECIMAL_DIGITS)
		spec->kind = spec->precision <= CSV_MAX_SQUARED_DIGITS ?
			CSV_KIND_DECIMAL64 : CSV_KIND_DECIMAL128;
}

static int
compare_columns(const void *a, const void *b)
{
	const CsvColumn *left = &((const CsvScanColumn *) a)->input.spec;
	const CsvColumn *right = &((const CsvScanColumn *) b)->input.spec;

	if (left->field != right->field)
		return left->field < right->field ? -1 : 1;
	return left->attnum < right->attnum ? -1 : 1;
}

/*
 * Put together the columns that are read from the file, and the others.
 */
static void
choose_columns(CsvTableScan *scan, const Bitmapset *wanted,
			   const Bitmapset *hidden, bool few_rows)
{
	const CsvTable *table = scan->table;

	scan->columns = palloc0(sizeof(CsvScanColumn) * Max(table->natts, 1));
	scan->virtuals = palloc0(sizeof(CsvTableColumn *) * Max(table->natts, 1));
	for (int i = 0; i < table->natts; i++)
	{
		const CsvTableColumn *column = &table->columns[i];
		CsvScanColumn *scan_column = &scan->columns[scan->ncolumns];

		if (!bms_is_member(column->attnum, wanted) || column->dropped ||
			column->generated)
			continue;
		if (column->virtual_kind != CSV_VIRTUAL_NONE)
		{
			scan->virtuals[scan->nvirtuals++] = column;
			continue;
		}
		csv_value_init(&scan_column->input, table, column, scan->context);
		scan_column->hidden = bms_is_member(column->attnum, hidden);
		if (scan_column->hidden || few_rows)
			prefer_decimal(&scan_column->input.spec);
		scan_column->kind = scan_column->input.spec.kind;
		scan_column->fetch = fetch_for(&scan_column->input);
		scan_column->att = column->attnum - 1;
		if (scan_column->input.spec.kind == CSV_KIND_CSTRING)
			scan->has_functions = true;
		if (scan_column->fetch == CSV_FETCH_RUN)
			scan->has_runs = true;
		scan->ncolumns++;
	}
}

/* ---- resident columns ---- */

/* a string of any bytes, such that none is part of another */
static void
add_string(StringInfo meaning, const char *string)
{
	if (string == NULL)
		appendStringInfoString(meaning, " -");
	else
		appendStringInfo(meaning, " %zu:%s", strlen(string), string);
}

/*
 * All that shapes the records of the table and what becomes of their fields,
 * but for the columns themselves.
 */
static char *
table_meaning(const CsvTable *table)
{
	const CsvDialectOptions *dialect = &table->reader.dialect;
	StringInfoData meaning;

	initStringInfo(&meaning);
	appendStringInfo(&meaning, "%d %d %d %d %d %d %d %u " UINT64_FORMAT,
					 dialect->delimiter, dialect->quote, dialect->escape,
					 dialect->quoting, dialect->boundary, dialect->multiline,
					 dialect->blank_is_record, table->reader.header_rows,
					 (uint64) table->reader.max_record_bytes);
	appendStringInfo(&meaning, " %d %d %d %d %d %d %u %d %d",
					 table->compression, table->file_encoding, table->encoding,
					 table->engine_encoding, GetDatabaseEncoding(),
					 table->decimal_separator, table->nfields,
					 table->nfields_from_header, table->pad);
	add_string(&meaning, table->null_string);
	add_string(&meaning, table->default_string);
	add_string(&meaning, GetConfigOption("DateStyle", false, false));
	add_string(&meaning, GetConfigOption("TimeZone", false, false));
	add_string(&meaning, GetConfigOption("IntervalStyle", false, false));

	/* a header that matches does so for all columns, wanted or not */
	if (table->header_match)
		for (int i = 0; i < table->natts; i++)
		{
			appendStringInfo(&meaning, " %d", table->columns[i].field);
			add_string(&meaning, table->columns[i].name);
		}
	return meaning.data;
}

static bool
is_decimal(int kind)
{
	return kind == CSV_KIND_DECIMAL64 || kind == CSV_KIND_DECIMAL128;
}

/*
 * All that shapes a column, but for the kind of a numeric.
 */
static char *
column_meaning(const CsvValueInput *input)
{
	const CsvColumn *spec = &input->spec;
	const char *header_name = input->column->header_name;
	int			kind = is_decimal(spec->kind) ? CSV_KIND_NUMERIC : spec->kind;
	StringInfoData meaning;

	initStringInfo(&meaning);
	appendStringInfo(&meaning, "%u %d %d %d %d %d %d %d %d %d %u %d",
					 header_name != NULL ? 0 : spec->field,
					 kind, spec->force_null, spec->force_not_null,
					 spec->pad_blanks, spec->max_chars, spec->byte_width,
					 spec->type_chars, spec->precision, spec->scale,
					 input->column->type, input->column->typmod);
	add_string(&meaning, header_name);
	return meaning.data;
}

static void
describe_columns(CsvTableScan *scan)
{
	scan->meaning = table_meaning(scan->table);
	for (int i = 0; i < scan->ncolumns; i++)
		scan->columns[i].meaning = column_meaning(&scan->columns[i].input);
}

static bool
wants_positions(const CsvTableScan *scan)
{
	return scan->nvirtuals > 0 || scan->has_functions;
}

/* the columns of a file as they are wanted; in the current memory context */
static CsvResidentKey
resident_key(const CsvTableScan *scan, const char *filename,
			 const CsvFileIdentity *identity)
{
	CsvResidentColumn *columns =
		palloc(sizeof(CsvResidentColumn) * Max(scan->ncolumns, 1));
	CsvResidentKey key;

	for (int i = 0; i < scan->ncolumns; i++)
	{
		columns[i].attnum = (AttrNumber) (scan->columns[i].att + 1);
		columns[i].meaning = scan->columns[i].meaning;
		columns[i].decimal = is_decimal(scan->columns[i].kind);
	}
	key.relid = scan->table->relid;
	key.filename = filename;
	key.file = *identity;
	key.meaning = scan->meaning;
	key.positions = wants_positions(scan);
	key.ncolumns = scan->ncolumns;
	key.columns = columns;
	return key;
}

bool
csv_table_is_resident(const CsvTable *table, const Bitmapset *wanted,
					  const Bitmapset *hidden, bool few_rows, int *ncolumns,
					  int64 *nrows)
{
	CsvTableScan scan;
	char	  **names;
	CsvFileIdentity *identities;
	int			nfiles;
	bool		all;

	memset(&scan, 0, sizeof(scan));
	scan.table = table;
	scan.context = CurrentMemoryContext;
	choose_columns(&scan, wanted, hidden, few_rows);
	describe_columns(&scan);
	*ncolumns = scan.ncolumns;
	*nrows = 0;
	all = csv_source_identities(table, &names, &identities, &nfiles);
	for (int i = 0; all && i < nfiles; i++)
	{
		CsvResidentKey key = resident_key(&scan, names[i], &identities[i]);

		int64		file_rows = 0;

		all = csv_resident_exists(&key, &file_rows);
		*nrows += file_rows;
	}
	return all;
}

/* ---- begin ---- */

CsvTableScan *
csv_table_scan_begin(const CsvTable *table, const Bitmapset *wanted,
					 const CsvPushdown *pushdown, bool may_keep,
					 CsvSkippedFn skipped, void *arg)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "csv_gpu_fdw scan",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext outer = MemoryContextSwitchTo(context);
	CsvTableScan *scan = palloc0(sizeof(CsvTableScan));
	bool		size_is_exact;

	scan->table = table;
	scan->context = context;
	scan->row_context = AllocSetContextCreate(context, "csv_gpu_fdw row",
											  ALLOCSET_DEFAULT_SIZES);
	scan->run_context = AllocSetContextCreate(context, "csv_gpu_fdw run",
											  ALLOCSET_DEFAULT_SIZES);
	scan->memory.alloc = scan_alloc;
	scan->memory.free = scan_free;
	scan->memory.owner = context;
	scan->pushdown = pushdown;
	if (pushdown != NULL)
	{
		scan->query_context = AllocSetContextCreate(context,
													"csv_gpu_fdw query",
													ALLOCSET_DEFAULT_SIZES);
		scan->query_memory.alloc = scan_alloc;
		scan->query_memory.free = scan_free;
		scan->query_memory.owner = scan->query_context;
	}
	scan->skipped = skipped;
	scan->skipped_arg = arg;
	scan->report.table = table;

	choose_columns(scan, wanted, pushdown != NULL ? pushdown->hidden : NULL,
				   pushdown != NULL && pushdown->few_rows);
	scan->layout_columns = palloc0(sizeof(CsvColumn) * Max(table->natts, 1));
	scan->plain = palloc0(sizeof(CsvPlainColumn) * Max(table->natts, 1));
	scan->nullable = palloc0(sizeof(CsvScanColumn *) * Max(table->natts, 1));
	for (int i = 0; i < scan->ncolumns; i++)
		if (scan->columns[i].fetch == CSV_FETCH_RUN)
		{
			scan->columns[i].run_values = palloc(sizeof(Datum) * CSV_RUN_ROWS);
			scan->columns[i].run_isnull = palloc(sizeof(bool) * CSV_RUN_ROWS);
		}
	if (may_keep && csv_resident_enabled())
	{
		scan->keeps = true;
		scan->all_resident = true;
		scan->resident_arrays = palloc(sizeof(CsvArray) *
									   Max(scan->ncolumns, 1));
		describe_columns(scan);
	}

	scan->source = csv_source_create(table);
	scan->nbytes = csv_source_data_size(table, &size_is_exact);
	scan->progress_bytes = size_is_exact ? scan->nbytes : 0;
	scan->callback.func = release_scan;
	scan->callback.arg = scan;
	MemoryContextRegisterResetCallback(context, &scan->callback);

	/* where columns may be resident, an engine may never be needed */
	if (!scan->keeps)
		open_engine(scan);
	MemoryContextSwitchTo(outer);
	return scan;
}

void
csv_table_scan_show_progress(CsvTableScan *scan, Oid relid)
{
	scan->progress_relid = relid;
}

/* ---- files ---- */

/*
 * The name in a field of the header: NULL if it reads as null.
 */
static char *
header_name(CsvTableScan *scan, const CsvRecord *header, uint32_t field)
{
	const CsvTable *table = scan->table;
	uint64_t	start = field == 0 ? 0 : header->separators[field - 1] + 1;
	uint64_t	end = header->separators[field];
	char	   *name = palloc(end - start + 1);
	uint64_t	nbytes;
	bool		quoted;

	nbytes = csv_field_value(scan->dialect,
							 header->bytes + start, end - start,
							 (uint8_t *) name, end - start, &quoted);
	name[nbytes] = '\0';
	if (!quoted && strcmp(name, table->null_string) == 0)
		return NULL;
	return pg_any_to_server(name, (int) nbytes, table->encoding);
}

/*
 * header 'match': each field's name must be its column's, as in COPY.
 */
static void
match_header(CsvTableScan *scan, const CsvRecord *header, char **names)
{
	const CsvTable *table = scan->table;
	const char *null_string = table->null_string;

	if (!table->nfields_from_header && header->nfields != table->nfields)
		ereport(ERROR,
				(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
				 errmsg("wrong number of fields in header line of \"%s\": got %u, expected %u",
						csv_source_name(scan->source), header->nfields,
						table->nfields)));
	for (int i = 0; i < table->natts; i++)
	{
		const CsvTableColumn *column = &table->columns[i];

		if (column->field < 0 || (uint32_t) column->field >= header->nfields)
			continue;
		if (names[column->field] == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
					 errmsg("column name mismatch in header line field %d of \"%s\": got null value (\"%s\"), expected \"%s\"",
							column->field + 1, csv_source_name(scan->source),
							null_string, column->name)));
		if (strcmp(names[column->field], column->name) != 0)
			ereport(ERROR,
					(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
					 errmsg("column name mismatch in header line field %d of \"%s\": got \"%s\", expected \"%s\"",
							column->field + 1, csv_source_name(scan->source),
							names[column->field], column->name)));
	}
}

/* the field that a column finds by its name */
static int
find_header_name(CsvTableScan *scan, const CsvTableColumn *column,
				 char **names, uint32_t nnames)
{
	int			found = -1;

	for (uint32_t i = 0; i < nnames; i++)
	{
		if (names[i] == NULL || strcmp(names[i], column->header_name) != 0)
			continue;
		if (found >= 0)
			ereport(ERROR,
					(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
					 errmsg("header of \"%s\" has more than one field \"%s\"",
							csv_source_name(scan->source),
							column->header_name),
					 errdetail("Column \"%s\" of foreign table \"%s\" finds its field by that name.",
							   column->name, scan->table->name)));
		found = (int) i;
	}
	if (found < 0)
		ereport(ERROR,
				(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
				 errmsg("header of \"%s\" has no field \"%s\"",
						csv_source_name(scan->source), column->header_name),
				 errdetail("Column \"%s\" of foreign table \"%s\" finds its field by that name.",
						   column->name, scan->table->name)));
	return found;
}

/*
 * The layout, once the columns' fields are known.
 */
static void
lay_out_columns(CsvTableScan *scan, uint32_t nfields)
{
	const CsvTable *table = scan->table;
	CsvLayout  *layout = &scan->layout;

	qsort(scan->columns, scan->ncolumns, sizeof(CsvScanColumn),
		  compare_columns);
	for (int i = 0; i < scan->ncolumns; i++)
		scan->layout_columns[i] = scan->columns[i].input.spec;

	layout->nfields = nfields;
	layout->pad = table->pad;
	layout->encoding = table->engine_encoding;
	layout->decimal_separator = (uint8_t) table->decimal_separator;
	layout->has_default = table->default_string != NULL;
	layout->want_positions = wants_positions(scan);
	layout->null_bytes = (const uint8_t *) table->null_string;
	layout->null_length = (uint32_t) strlen(table->null_string);
	if (table->default_string != NULL)
	{
		layout->default_bytes = (const uint8_t *) table->default_string;
		layout->default_length = (uint32_t) strlen(table->default_string);
	}
	layout->ncolumns = (uint32_t) scan->ncolumns;
	layout->columns = scan->layout_columns;
}

/*
 * Lay out the wanted columns for the file that was opened; its header may say
 * which fields they are.
 */
static void
lay_out(CsvTableScan *scan)
{
	const CsvTable *table = scan->table;
	uint32_t	nfields = table->nfields;
	CsvRecord	header;
	bool		any_by_name = false;
	MemoryContext outer = MemoryContextSwitchTo(scan->row_context);

	for (int i = 0; i < table->natts; i++)
		any_by_name |= table->columns[i].header_name != NULL;

	/* the file before may have been resident */
	for (int i = 0; i < scan->ncolumns; i++)
		set_kind(&scan->columns[i], scan->columns[i].kind);

	if ((table->header_match || any_by_name || table->nfields_from_header) &&
		csv_reader_header(scan->reader, &header))
	{
		char	  **names;

		if (header.nfields > CSV_MAX_FIELDS)
			ereport(ERROR,
					(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
					 errmsg("header of \"%s\" has %u fields, which is more than %d",
							csv_source_name(scan->source), header.nfields,
							CSV_MAX_FIELDS)));
		names = palloc(sizeof(char *) * header.nfields);
		for (uint32_t i = 0; i < header.nfields; i++)
			names[i] = header_name(scan, &header, i);
		if (table->nfields_from_header)
			nfields = header.nfields;
		if (table->header_match)
			match_header(scan, &header, names);
		for (int i = 0; i < scan->ncolumns; i++)
		{
			CsvScanColumn *column = &scan->columns[i];

			if (column->input.column->header_name != NULL)
				column->input.spec.field =
					find_header_name(scan, column->input.column, names,
									 header.nfields);
		}
	}
	else if (table->nfields_from_header)
		nfields = 1;			/* an empty file: there will be no record */

	for (int i = 0; i < scan->ncolumns; i++)
		if (scan->columns[i].input.spec.field >= nfields)
		{
			if (csv_reader_header(scan->reader, &header))
				ereport(ERROR,
						(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
						 errmsg("header of \"%s\" has %u fields, but column \"%s\" of foreign table \"%s\" is field %u of the file",
								csv_source_name(scan->source), nfields,
								scan->columns[i].input.column->name,
								table->name,
								scan->columns[i].input.spec.field + 1)));
			nfields = scan->columns[i].input.spec.field + 1;
		}
	lay_out_columns(scan, nfields);
	MemoryContextSwitchTo(outer);
	MemoryContextReset(scan->row_context);
}

/*
 * See to a failure of the device: an ERROR, or the CPU goes on; it begins anew if
 * groups were lost.
 */
static void
handle_device_failure(CsvTableScan *scan, const char *reason)
{
	char	   *message = pstrdup(reason);

	if (!scan->engine.may_fall_back)
		ereport(ERROR,
				(errcode(ERRCODE_EXTERNAL_ROUTINE_EXCEPTION),
				 errmsg("GPU failed while reading \"%s\": %s",
						csv_source_name(scan->source), message)));
	ereport(WARNING,
			(errcode(ERRCODE_WARNING),
			 errmsg("GPU failed while reading \"%s\": %s",
					csv_source_name(scan->source), message),
			 scan->holding ?
			 errdetail("The CPU engine reads all of it again, and further scans of this session.") :
			 errdetail("The CPU engine reads the rest, and further scans of this session.")));
	scan->must_restart = scan->holding;
	fall_back(scan);
}

/*
 * See to a status that is not CSV_OK: an ERROR, or return to try again.
 */
static void
handle_failure(CsvTableScan *scan, CsvStatus status)
{
	switch (status)
	{
		case CSV_INTERRUPTED:
			CHECK_FOR_INTERRUPTS();
			break;
		case CSV_NO_MEMORY:
			ereport(ERROR,
					(errcode(ERRCODE_OUT_OF_MEMORY),
					 errmsg("out of memory"),
					 errdetail("Failed while reading \"%s\".",
							   csv_source_name(scan->source))));
			break;
		case CSV_DEVICE_FAILED:
			handle_device_failure(scan, csv_reader_message(scan->reader));
			break;
		default:
			elog(ERROR, "unexpected reader status: %d", (int) status);
	}
}

/*
 * Are the wanted columns of the file that was opened resident?  Otherwise,
 * *may_keep says whether they may be, once read.
 */
static bool
find_resident(CsvTableScan *scan, bool *may_keep)
{
	CsvResidentKey key;
	uint32_t	field;
	uint8_t		kind;

	*may_keep = false;
	if (!scan->keeps || !csv_source_identity(scan->source, &scan->identity))
		return false;
	key = resident_key(scan, csv_source_name(scan->source), &scan->identity);
	scan->resident = csv_resident_find(&key);
	pfree((void *) key.columns);
	if (scan->resident == NULL)
	{
		/* to be asked before anything is read */
		*may_keep = csv_file_has_settled(&scan->identity);
		return false;
	}

	for (int i = 0; i < scan->ncolumns; i++)
	{
		CsvScanColumn *column = &scan->columns[i];

		column->resident = csv_resident_column(scan->resident,
											   (AttrNumber) (column->att + 1),
											   &field, &kind);
		column->input.spec.field = field;
		set_kind(column, kind);
	}
	scan->dialect = csv_resident_dialect(scan->resident);
	lay_out_columns(scan, csv_resident_nfields(scan->resident));
	scan->passed_bytes += scan->identity.size;
	scan->statistics.bytes += scan->identity.size;
	return true;
}

/* have the reader begin with the file that was opened */
static void
begin_reading(CsvTableScan *scan)
{
	CsvStatus	status;
	CsvReadAhead ahead;

	if (scan->reader == NULL)
		open_engine(scan);
	while ((status = csv_reader_open(scan->reader, csv_source_read,
									 scan->source)) != CSV_OK)
		handle_failure(scan, status);
	scan->dialect = csv_reader_dialect(scan->reader);
	if (csv_source_read_ahead(scan->source, &ahead))
	{
		/* one thread reads as fast as several of the CPU engine's convert */
		if (scan->engine.engine == &csv_cpu_ahead_engine &&
			!scan->engine.awaits_gpu)
			ahead.nthreads = Min(ahead.nthreads, 1 + csv_cpu_threads_guc / 4);
		csv_reader_read_ahead(scan->reader, &ahead);
	}
	lay_out(scan);
	while ((status = csv_reader_set_layout(scan->reader,
										   &scan->layout)) != CSV_OK)
		handle_failure(scan, status);
	scan->requested = false;
}

static void open_evaluator(CsvTableScan *scan, bool has_rows);
static void request_answers(CsvTableScan *scan);

/* open the next file; false when there is none */
static bool
open_file(CsvTableScan *scan)
{
	bool		may_keep;

	if (scan->reader != NULL)
		csv_reader_leave(scan->reader);
	leave_resident(scan);
	if (!csv_source_open_next(scan->source))
		return false;
	scan->file_number++;
	if (!find_resident(scan, &may_keep))
	{
		begin_reading(scan);
		scan->all_resident = false;
		if (may_keep)
		{
			CsvResidentKey key = resident_key(scan,
											  csv_source_name(scan->source),
											  &scan->identity);

			scan->kept = csv_resident_begin(&key, scan->dialect,
											&scan->layout);
			pfree((void *) key.columns);
		}
	}

	for (int i = 0; i < scan->nvirtuals; i++)
		if (scan->virtuals[i]->virtual_kind == CSV_VIRTUAL_FILENAME)
		{
			MemoryContext outer = MemoryContextSwitchTo(scan->context);

			if (DatumGetPointer(scan->filename) != NULL)
				pfree(DatumGetPointer(scan->filename));
			scan->filename = (Datum) 0;
			scan->filename =
				CStringGetTextDatum(csv_source_name(scan->source));
			MemoryContextSwitchTo(outer);
			break;
		}
	scan->file_is_open = true;
	scan->file_bytes = 0;
	if (scan->pushdown != NULL)
	{
		if (scan->pushdown->is_literal && scan->evaluator == NULL)
			open_evaluator(scan, true);
		request_answers(scan);
	}
	return true;
}

/* ---- batches ---- */

/*
 * Sort out how the columns of a new batch are fetched.
 */
static void
sort_columns(CsvTableScan *scan)
{
	CsvPlainColumn *next = scan->plain;

	scan->null_set = NULL;
	scan->nnullable = 0;
	for (int fetch = 0; fetch < CSV_NUM_FETCHES; fetch++)
	{
		for (int i = 0; i < scan->ncolumns; i++)
		{
			const CsvScanColumn *column = &scan->columns[i];

			if ((int) column->fetch != fetch || column->values == NULL)
				continue;
			if (column->status != NULL)
			{
				scan->nullable[scan->nnullable++] = column;
				continue;
			}
			next->values = column->values;
			next->stride = column->stride;
			next->att = column->att;
			next++;
		}
		scan->plain_end[fetch] = next;
	}
}

static void
show_progress(const CsvTableScan *scan)
{
	CsvProgress progress;

	progress.relid = scan->progress_relid;
	progress.from_program = scan->table->program != NULL;
	progress.bytes_processed = scan->statistics.bytes;
	progress.bytes_total = scan->progress_bytes;
	progress.tuples_processed = scan->statistics.records -
		scan->statistics.skipped;
	progress.tuples_excluded = scan->statistics.skipped;
	csv_progress_report(scan, &progress);
}

static void
free_flags(CsvRowFlags *flags)
{
	if (flags->values != NULL)
		pfree(flags->values);
	flags->values = NULL;
	flags->capacity = 0;
}

static void
set_flags(const CsvTableScan *scan, CsvRowFlags *flags, uint32_t n, bool value)
{
	if (n > flags->capacity)
	{
		free_flags(flags);
		flags->values = MemoryContextAllocHuge(scan->context, n);
		flags->capacity = n;
	}
	memset(flags->values, value, n);
}

/*
 * Find the entries of a new batch that fill_careful() has a part in.  In most
 * batches they are few or none, and the look at all columns is for them only.
 */
static void
find_careful(CsvTableScan *scan)
{
	const CsvBatch *batch = &scan->batch;
	uint32_t	n = batch->answer != NULL ? batch->answer->selection.nrows :
		batch->nrows;
	uint8_t    *careful;

	scan->any_careful = false;
	scan->all_careful = false;
	for (int i = 0; i < scan->ncolumns; i++)
	{
		const CsvScanColumn *column = &scan->columns[i];

		if (column->values == NULL)
			continue;			/* nobody looks at it */
		scan->all_careful |= column->fetch >= CSV_NUM_FETCHES;
		scan->any_careful |= batch->arrays[i].any_slow;
	}
	scan->any_careful |= scan->all_careful;
	if (!scan->any_careful || scan->all_careful)
		return;
	set_flags(scan, &scan->careful, n, false);
	careful = scan->careful.values;
	for (int i = 0; i < scan->ncolumns; i++)
	{
		const uint8_t *status = scan->columns[i].status;

		if (scan->columns[i].values != NULL && batch->arrays[i].any_slow)
			for (uint32_t entry = 0; entry < n; entry++)
				careful[entry] |= status[entry] > CSV_VALUE_NULL;
	}
}

static void
take_batch(CsvTableScan *scan)
{
	CsvBatch   *batch = &scan->batch;

	scan->row = 0;
	scan->entry = 0;
	scan->error = 0;
	scan->fields_of = 0;
	scan->run_from = 0;
	scan->run_until = 0;
	if (scan->resident == NULL)
	{
		int64		file_bytes = batch->file_offset + batch->consumed;

		scan->passed_bytes += batch->consumed;
		scan->statistics.chunks++;
		/* what stands before the first batch is the header */
		scan->statistics.bytes += file_bytes - scan->file_bytes;
		scan->file_bytes = file_bytes;
	}
	if (OidIsValid(scan->progress_relid))
		show_progress(scan);
	scan->statistics.copy_in_seconds += batch->copy_in_seconds;
	scan->statistics.parse_seconds += batch->parse_seconds;
	scan->statistics.copy_out_seconds += batch->copy_out_seconds;
	for (int i = 0; i < scan->ncolumns; i++)
	{
		CsvScanColumn *column = &scan->columns[i];
		const CsvArray *array = &batch->arrays[i];

		column->values = array->values;
		column->status = array->all_ok ? NULL : array->status;
		column->stride = array->stride;
	}
	sort_columns(scan);
	find_careful(scan);
}

/* ---- what is pushed down ---- */

/*
 * Does it show which of two equal values came first or last?  -0 and 0 are
 * equal, and look different.
 */
static bool
order_shows(const CsvQuery *query)
{
	bool		shows = false;

	for (uint32_t i = 0; i < query->nkeys; i++)
		shows |= query->keys[i].lane == CSV_LANE_FLOAT;
	for (uint32_t i = 0; i < query->naggregates; i++)
		shows |= query->aggregate[i].lane == CSV_LANE_FLOAT &&
			(query->aggregate[i].kind == CSV_AGGREGATE_MIN ||
			 query->aggregate[i].kind == CSV_AGGREGATE_MAX);
	return shows;
}

static CsvQuery *
prepare_query(CsvTableScan *scan, bool has_rows)
{
	const CsvPushdown *pushdown = scan->pushdown;
	CsvQuery   *query = pushdown->prepare(pushdown->arg, has_rows,
										  &scan->decidable);

	/* undecided rows are added to their groups after the batch's others */
	if (order_shows(query) && csv_program_leaves_lanes(pushdown->program, query))
		scan->decidable = CSV_DECIDES_NOTHING;
	return query;
}

static void
open_evaluator(CsvTableScan *scan, bool has_rows)
{
	MemoryContext outer = MemoryContextSwitchTo(scan->query_context);

	scan->query = prepare_query(scan, has_rows);
	scan->evaluator = csv_evaluator_create(&scan->query_memory, scan->query);
	if (scan->evaluator == NULL)
		handle_failure(scan, CSV_NO_MEMORY);
	MemoryContextSwitchTo(outer);
	scan->pushdown->prepared(scan->pushdown->arg, scan->evaluator);
}

/* constants that were not known when the query was made may be by now */
static void
complete_query(CsvTableScan *scan)
{
	MemoryContext outer;

	if (scan->decidable != CSV_DECIDES_LATER ||
		!scan->pushdown->is_ready(scan->pushdown->arg))
		return;
	outer = MemoryContextSwitchTo(scan->query_context);
	/* the evaluator has the old one's address */
	*scan->query = *prepare_query(scan, true);
	MemoryContextSwitchTo(outer);
}

static void
close_evaluator(CsvTableScan *scan)
{
	scan->evaluator = NULL;
	scan->query = NULL;
	scan->requested = false;
	if (scan->query_context != NULL)
		MemoryContextReset(scan->query_context);
}

/*
 * The rows of the batch that have to come out whatever the engine says: those
 * with a value that only its input function can judge.  NULL if there are none.
 * They are added to their groups after the others; where that would show, all
 * of the batch's rows come out.
 */
static const uint8_t *
find_doubtful(CsvTableScan *scan)
{
	uint32_t	nrows = scan->batch.nrows;
	bool		any = false;
	bool		all = scan->decidable == CSV_DECIDES_NOTHING ||
		(scan->decidable == CSV_DECIDES_LATER && order_shows(scan->query));

	for (int i = 0; i < scan->ncolumns; i++)
		any |= scan->batch.arrays[i].any_slow;
	all |= any && order_shows(scan->query);
	if (!any && !all)
		return NULL;
	set_flags(scan, &scan->doubtful, nrows, all);
	for (int i = 0; i < scan->ncolumns && !all; i++)
	{
		const CsvArray *array = &scan->batch.arrays[i];

		if (array->any_slow)
			for (uint32_t row = 0; row < nrows; row++)
				scan->doubtful.values[row] |=
					array->status[row] == CSV_VALUE_DOUBTFUL;
	}
	return scan->doubtful.values;
}

/* how the query groups: false if a key is more than a column */
static bool
get_grouping_keys(const CsvProgram *program, CsvGroupingKey *keys)
{
	for (uint32_t key = 0; key < program->n.nkeys; key++)
	{
		const CsvInstruction *made =
			csv_find_writer(program->instructions, program->n.ninstructions,
							program->keys[key].value);

		if (made == NULL || made->operation != CSV_OP_COLUMN)
			return false;
		keys[key].attnum = (AttrNumber) made->operand;
		keys[key].trim = (made->flags & CSV_FLAG_TRIM) != 0;
	}
	return true;
}

/* let the evaluator know what is known of the groups of resident rows */
static void
remember_groups(CsvTableScan *scan)
{
	const CsvProgram *program = scan->pushdown->program;
	CsvRowClasses *classes = &scan->classes;
	CsvGroupingKey keys[CSV_MAX_KEYS];

	if (scan->resident_batch == NULL || program->n.nkeys == 0)
		return;
	if (scan->resident_batch->first_row == 0)
	{
		csv_evaluator_forget(scan->evaluator);
		scan->grouping = get_grouping_keys(program, keys) ?
			csv_resident_grouping(scan->resident, keys,
								  (int) program->n.nkeys) : NULL;
	}
	if (scan->grouping == NULL)
		return;
	classes->classes = scan->grouping->classes +
		scan->resident_batch->first_row;
	classes->nclasses = &scan->grouping->nclasses;
	csv_evaluator_remember(scan->evaluator, classes);
}

/* of the current memory context */
static CsvRequest
make_request(CsvTableScan *scan)
{
	bool	   *hidden = palloc(sizeof(bool) * Max(scan->ncolumns, 1));
	CsvRequest	request;

	for (int i = 0; i < scan->ncolumns; i++)
		hidden[i] = scan->columns[i].hidden;
	csv_program_lay_out(scan->pushdown->program, scan->query,
						scan->layout.columns, scan->layout.ncolumns);
	request.query = scan->query;
	request.hidden = hidden;
	request.all_certain = order_shows(scan->query);
	request.may_hold = false;
	return request;
}

/*
 * May groups stay with the engine?  If it fails, or if the order of batches turns
 * out to count, all must be read again: not a program's output, nor a FIFO.
 */
static bool
may_hold(const CsvTableScan *scan)
{
	return !scan->may_not_hold &&
		(scan->nbytes >= 0 ||
		 (!scan->engine.may_fall_back && !order_shows(scan->query)));
}

/*
 * Have the engine evaluate the query over the batches to come, if it can.  Not
 * as long as a constant is missing, nor where the batches are to be kept.
 */
static void
request_answers(CsvTableScan *scan)
{
	const CsvEngine *engine = scan->engine.engine;
	CsvRequest	request;

	if (scan->requested || scan->evaluator == NULL ||
		scan->decidable != CSV_DECIDES_ALL || scan->resident != NULL ||
		scan->kept != NULL || engine == NULL || engine->set_query == NULL)
		return;
	scan->requested = true;
	request = make_request(scan);
	request.may_hold = may_hold(scan);
	engine->set_query(scan->engine.state, &request);
	pfree((void *) request.hidden);
}

/*
 * The same for a GPU, over all of a file's resident columns.
 */
static void
ask_gpu(CsvTableScan *scan)
{
	MemoryContext outer;
	CsvRequest	request;
	CsvStatus	status = CSV_OK;
	uint32_t   *places;

	if (scan->decidable != CSV_DECIDES_ALL)
		return;
	outer = MemoryContextSwitchTo(scan->context);
	request = make_request(scan);
	places = palloc(sizeof(uint32_t) * Max(scan->ncolumns, 1));
	for (int i = 0; i < scan->ncolumns; i++)
		places[i] = (uint32_t) scan->columns[i].resident;
	scan->resident_answer = csv_resident_ask(scan->resident,
											 scan->table->engine, &request,
											 &scan->layout, places);
	pfree(places);
	pfree((void *) request.hidden);
	if (scan->resident_answer != NULL)
	{
		scan->engine_description = csv_engine_describe(CSV_ENGINE_CUDA, 0, 0);
		if (scan->query->aggregates)
			status = csv_resident_merge(scan->resident_answer,
										scan->evaluator);
	}
	MemoryContextSwitchTo(outer);
	if (status != CSV_OK)
		handle_failure(scan, status);
}

/* the engine has evaluated the query itself */
static void
take_answer(CsvTableScan *scan)
{
	const CsvAnswer *answer = scan->batch.answer;
	CsvStatus	status;

	scan->selection = answer->selection;
	scan->statistics.answered++;
	scan->statistics.held += answer->held;
	if (scan->query->aggregates)
	{
		status = csv_evaluator_merge(scan->evaluator, &answer->groups);
		if (status != CSV_OK)
			handle_failure(scan, status);
	}
	scan->statistics.filtered += scan->selection.ndropped;
}

/*
 * The engine holds groups that come after this batch's, as they are merged.  Does
 * that show, if rows of this one are not held as well?
 */
static bool
is_out_of_order(const CsvTableScan *scan)
{
	const CsvAnswer *answer = scan->batch.answer;

	return scan->holding && order_shows(scan->query) &&
		(answer == NULL || answer->groups.ngroups > 0 ||
		 answer->selection.nrows > 0);
}

/* have the batch's rows filtered, or added to their groups */
static void
evaluate_batch(CsvTableScan *scan)
{
	CsvStatus	status;

	scan->position = 0;
	memset(&scan->selection, 0, sizeof(scan->selection));
	if (scan->batch.nrows == 0)
		return;
	if (scan->evaluator == NULL)
		open_evaluator(scan, true);
	else
		complete_query(scan);
	request_answers(scan);
	scan->holding |= scan->batch.answer != NULL && scan->batch.answer->held;
	if (is_out_of_order(scan))
	{
		scan->may_not_hold = true;
		scan->must_restart = true;
		return;
	}
	if (scan->batch.answer != NULL)
	{
		take_answer(scan);
		return;
	}
	if (scan->resident_batch != NULL && scan->resident_batch->first_row == 0)
		ask_gpu(scan);
	if (scan->resident_answer != NULL)
	{
		csv_resident_select(scan->resident_answer, scan->batch.nrows,
							&scan->selection);
		scan->statistics.filtered += scan->selection.ndropped;
		return;
	}
	csv_program_lay_out(scan->pushdown->program, scan->query,
						scan->layout.columns, scan->layout.ncolumns);
	if (scan->query->aggregates)
	{
		csv_evaluator_remember(scan->evaluator, NULL);
		remember_groups(scan);
	}
	status = csv_evaluator_run(scan->evaluator, &scan->layout, &scan->batch,
							   find_doubtful(scan), NULL, NULL,
							   &scan->selection);
	if (status != CSV_OK)
		handle_failure(scan, status);
	scan->statistics.filtered += scan->selection.ndropped;
	scan->statistics.beyond += scan->selection.nbeyond;
}

/* the next row that is to come out; the batch's end if there is none */
static inline uint32_t
next_row(CsvTableScan *scan)
{
	if (scan->pushdown == NULL)
		return scan->row;
	if (scan->position == scan->selection.nrows)
		return scan->batch.nrows;
	return scan->selection.rows[scan->position];
}

/*
 * Records of the batch that the scan has passed, less those that it was past
 * before a rewind.
 */
static int64
newly_passed(const CsvTableScan *scan)
{
	int64		last = (int64) scan->batch.file_records + scan->row +
		scan->error;

	if (scan->batch.bytes == NULL || scan->file_number < scan->reported_file)
		return 0;
	if (scan->file_number > scan->reported_file)
		return last;
	return Max(last - scan->reported_record, 0);
}

/*
 * Let go of the batch, if there is one, and count its records as passed.
 */
static void
leave_batch(CsvTableScan *scan)
{
	int64		npassed = newly_passed(scan);

	if (npassed > 0)
	{
		if (scan->file_number > scan->reported_file)
			scan->reported_record = 0;
		scan->reported_file = scan->file_number;
		scan->reported_record += npassed;
		scan->statistics.records += npassed;
	}
	memset(&scan->batch, 0, sizeof(scan->batch));
	memset(&scan->selection, 0, sizeof(scan->selection));
	scan->position = 0;
	scan->row = 0;
	scan->entry = 0;
	scan->error = 0;
}

/* the next batch of resident columns; CSV_END after the last */
static CsvStatus
next_resident_batch(CsvTableScan *scan)
{
	const CsvResidentBatch *next = csv_resident_batch(scan->resident,
													  scan->resident_batch);

	scan->resident_batch = next;
	if (next == NULL)
		return CSV_END;
	scan->batch = next->batch;
	scan->batch.arrays = scan->resident_arrays;
	for (int i = 0; i < scan->ncolumns; i++)
		scan->resident_arrays[i] =
			next->batch.arrays[scan->columns[i].resident];
	return CSV_OK;
}

/* copy what the reader delivers, as far as the file is to be kept */
static void
keep_batch(CsvTableScan *scan, CsvStatus status)
{
	CsvFileIdentity now;
	bool		is_kept = true;

	if (scan->kept == NULL)
		return;
	if (status == CSV_OK)
		is_kept = csv_resident_add(scan->kept, &scan->batch);
	else if (status == CSV_END)
	{
		/* written to while it was read: nobody knows what was read */
		if (csv_source_identity(scan->source, &now) &&
			csv_same_file(&now, &scan->identity))
			csv_resident_keep(scan->kept);
		is_kept = false;
	}
	if (!is_kept)
		leave_resident(scan);
}

/*
 * Begin with the first file again, as what the engine held is lost.  Nothing that
 * was made of it has come out so far; records that were skipped have.
 */
static void
restart(CsvTableScan *scan)
{
	bool		was_rewound = scan->was_rewound;

	scan->must_restart = false;
	scan->statistics.filtered = 0;
	scan->statistics.answered = 0;
	scan->statistics.held = 0;
	csv_table_scan_rewind(scan);
	scan->was_rewound = was_rewound;
}

/*
 * All is read: is what the engine holds there?  If not, all has to be read again.
 */
static bool
fetch_held(CsvTableScan *scan)
{
	const CsvEngine *engine = scan->engine.engine;

	if (!scan->holding ||
		engine->held_groups(scan->engine.state, 0, &scan->held) == CSV_OK)
		return true;
	handle_device_failure(scan, engine->message(scan->engine.state));
	return false;
}

static bool
next_batch(CsvTableScan *scan)
{
	for (;;)
	{
		CsvStatus	status;

		if (scan->must_restart)
			restart(scan);
		if (!scan->file_is_open && !open_file(scan))
		{
			if (fetch_held(scan))
				return false;
			continue;
		}
		if (scan->must_restart)
			continue;
		CHECK_FOR_INTERRUPTS();
		if (scan->resident != NULL)
			status = next_resident_batch(scan);
		else
		{
			if (scan->engine.awaits_gpu)
				take_over(scan);
			status = csv_reader_next(scan->reader, &scan->batch);
			keep_batch(scan, status);
		}
		if (status == CSV_OK)
		{
			take_batch(scan);
			if (scan->pushdown != NULL)
				evaluate_batch(scan);
			if (scan->must_restart)
				continue;
			return true;
		}
		memset(&scan->batch, 0, sizeof(scan->batch));
		if (status == CSV_END)
			scan->file_is_open = false;
		else
			handle_failure(scan, status);
	}
}

/* ---- skipped records ---- */

/* where the record of an entry stands in the batch's part of the file */
static uint64_t
entry_place(const CsvTableScan *scan, uint32_t entry)
{
	return scan->resident_batch != NULL ?
		scan->resident_batch->row_places[entry] :
		scan->batch.row_offsets[entry];
}

static uint64_t
error_place(const CsvTableScan *scan, const CsvError *error)
{
	return scan->resident_batch != NULL ?
		scan->resident_batch->error_places[error - scan->batch.errors] :
		error->offset;
}

/* has the scan been past this record before a rewind? */
static bool
was_passed(const CsvTableScan *scan, int64 record)
{
	return scan->file_number < scan->reported_file ||
		(scan->file_number == scan->reported_file &&
		 record <= scan->reported_record);
}

/*
 * Report a skipped record, which stands at this offset of the batch's part of
 * the file: `where` as in CsvError, for an error of the record; column (or
 * NULL) and detail for one of a value.
 */
static void
skip_record(CsvTableScan *scan, int64 record, uint64_t offset, uint32_t line,
			uint64_t length, CsvErrorCode code, int64 where,
			const CsvScanColumn *column, const CsvValueError *detail)
{
	const CsvTable *table = scan->table;
	CsvSkipped	skipped;
	MemoryContext outer;

	if (was_passed(scan, record))
		return;
	scan->statistics.skipped++;

	outer = MemoryContextSwitchTo(scan->row_context);
	scan->row_context_used = true;
	memset(&skipped, 0, sizeof(skipped));
	skipped.file = csv_source_name(scan->source);
	skipped.record = record;
	skipped.line = (int64) scan->batch.file_lines + line + 1;
	skipped.byte_offset = (int64) (scan->batch.file_offset + offset);
	skipped.code = code;
	if (scan->skipped != NULL)
	{
		Assert(scan->resident == NULL);
		skipped.raw = scan->batch.bytes + offset;
		skipped.raw_length = length;
	}
	skipped.field = -1;
	if (column != NULL)
	{
		skipped.field = (int) column->input.spec.field;
		skipped.column_name = column->input.column->name;
		skipped.sqlerrcode = detail->sqlerrcode;
	}
	else if (code == CSV_ERROR_TEXT_AFTER_QUOTE ||
			 code == CSV_ERROR_UNTERMINATED_QUOTE)
	{
		skipped.field = (int) where;
		for (int i = 0; i < scan->ncolumns && skipped.column_name == NULL; i++)
			if (scan->columns[i].input.spec.field == (uint32_t) where)
				skipped.column_name = scan->columns[i].input.column->name;
	}
	if (scan->skipped != NULL || csv_report_needs_message(&scan->report))
		skipped.message = csv_error_message(table, code, where,
											scan->layout.nfields,
											skipped.column_name, detail);
	if (scan->skipped != NULL)
		scan->stopped = !scan->skipped(scan->skipped_arg, &skipped);
	else
		csv_report_skipped(&scan->report, &skipped);
	MemoryContextSwitchTo(outer);
}

/*
 * The fields of the record that starts at this offset of the batch.  Its
 * structure is sound, so that both modes read it the same.
 */
static void
find_fields(CsvTableScan *scan, uint64_t offset)
{
	if (scan->fields_of == offset + 1)
		return;
	csv_scan_record(&scan->fields, &scan->memory,
					scan->dialect, CSV_NORMAL,
					scan->batch.bytes, offset, scan->batch.consumed, true);
	scan->fields_of = offset + 1;
}

/* the content of a field; false if the record has none (ragged 'pad') */
static bool
field_content(CsvTableScan *scan, uint32_t field, const uint8_t **content,
			  uint64_t *length)
{
	CsvSpan		span;

	if (field >= scan->fields.nfields)
		return false;
	span = csv_scan_field(&scan->fields, scan->dialect,
						  scan->batch.bytes, scan->batch.consumed, field);
	*content = scan->batch.bytes + span.offset;
	*length = span.length;
	return true;
}

/*
 * An error that the engine found.  Where it is one of a value, an earlier
 * field may hold a value that only its input function refuses: that one comes
 * first then.
 */
static void
skip_error(CsvTableScan *scan, const CsvError *error)
{
	const CsvDialect *dialect = scan->dialect;
	int64		record = (int64) scan->batch.file_records + error->record + 1;
	CsvScanColumn *column;
	CsvValueError detail;
	const uint8_t *content;
	uint64_t	length;
	MemoryContext outer;

	if (was_passed(scan, record))
		return;
	if (error->code <= CSV_ERROR_COLUMN_COUNT)
	{
		/* what is in the input beyond that hangs on the size of chunks */
		length = error->length;
		if (error->code == CSV_ERROR_RECORD_TOO_LONG)
			length = Min(length, scan->table->reader.max_record_bytes);
		memset(&detail, 0, sizeof(detail));
		skip_record(scan, record, error_place(scan, error), error->line, length,
					(CsvErrorCode) error->code, error->where, NULL, &detail);
		return;
	}

	outer = MemoryContextSwitchTo(scan->row_context);
	scan->row_context_used = true;
	find_fields(scan, error->offset);
	column = &scan->columns[error->where];
	memset(&detail, 0, sizeof(detail));
	detail.code = (CsvErrorCode) error->code;
	if (field_content(scan, column->input.spec.field, &content, &length))
		csv_value_explain(&column->input, dialect, content, length,
						  (CsvErrorCode) error->code, &detail);
	for (uint32_t i = 0; i < error->where; i++)
	{
		CsvScanColumn *earlier = &scan->columns[i];
		CsvValueError refused;
		Datum		value;
		bool		isnull;

		if (earlier->input.spec.field >= column->input.spec.field)
			break;
		if (!field_content(scan, earlier->input.spec.field, &content, &length))
			continue;
		if (!csv_value_from_field(&earlier->input, dialect, content, length,
								  &value, &isnull, &refused))
		{
			column = earlier;
			detail = refused;
			break;
		}
	}
	MemoryContextSwitchTo(outer);
	skip_record(scan, record, error_place(scan, error), error->line,
				error->length, detail.code, 0, column, &detail);
}

/* ---- values that the arrays do not hold as datums ---- */

/* a numeric of a column whose array holds scaled integers */
static Datum
decimal_value(const CsvScanColumn *column, uint32_t entry)
{
	const uint8_t *place = column->values + (size_t) entry * column->stride;
	CsvInt128	decimal;

	if (column->stride == sizeof(int64_t))
		decimal = *(const int64_t *) place;
	else
		memcpy(&decimal, place, sizeof(decimal));
	return csv_numeric_of_decimal(decimal, column->input.spec.scale, NULL);
}

/*
 * Make one value of an entry.  False, with *error filled in, if it is refused.
 */
static bool
make_value(CsvTableScan *scan, CsvScanColumn *column, uint32_t entry,
		   Datum *value, bool *isnull, CsvValueError *error)
{
	int			status = column->status == NULL ? CSV_VALUE_OK :
		column->status[entry];

	*isnull = false;
	if (status == CSV_VALUE_NULL)
	{
		*isnull = true;
		*value = (Datum) 0;
		if (column->input.function.fn_strict)
			return true;
		return csv_value_from_cstring(&column->input, NULL, value, error);
	}
	if (status == CSV_VALUE_OK)
	{
		char	   *string = (char *) column->values +
			(size_t) entry * column->stride + VARHDRSZ;

		/* whatever the function does to its argument, others will want it */
		if (scan->resident != NULL)
			string = pstrdup(string);
		return csv_value_from_cstring(&column->input, string, value, error);
	}
	else
	{
		const uint8_t *content = NULL;
		uint64_t	length = 0;

		find_fields(scan, scan->batch.row_offsets[entry]);
		field_content(scan, column->input.spec.field, &content, &length);
		return csv_value_from_field(&column->input,
									scan->dialect, content,
									length, value, isnull, error);
	}
}

/*
 * The values of a run, with its subtransaction open.  False if one is refused.
 */
static bool
make_run_values(CsvTableScan *scan)
{
	bool		good = true;

	for (int i = 0; i < scan->ncolumns; i++)
	{
		CsvScanColumn *column = &scan->columns[i];
		CsvScanColumn inside;

		if (column->fetch != CSV_FETCH_RUN || column->values == NULL)
			continue;
		inside = *column;
		inside.input.pure = true;	/* needs no further subtransaction */
		for (uint32_t entry = scan->run_from; entry < scan->run_until && good;
			 entry++)
		{
			uint32_t	k = entry - scan->run_from;
			CsvValueError error;

			good = make_value(scan, &inside, entry, &column->run_values[k],
							  &column->run_isnull[k], &error);
		}

		/* was perhaps looked up meanwhile */
		column->input.conversion = inside.input.conversion;
		if (!good)
			return false;
	}
	return true;
}

/*
 * Make the values of the next run of rows for the columns whose functions need
 * a subtransaction, in a single one.  If any of them is refused, they are made
 * one by one later, each in a subtransaction of its own.
 */
static void
make_run(CsvTableScan *scan)
{
	MemoryContext outer;
	ResourceOwner owner = CurrentResourceOwner;
	uint32_t	nentries = scan->batch.answer != NULL ? scan->selection.nrows :
		scan->batch.nrows;
	uint32_t	until = scan->entry + CSV_RUN_ROWS;

	if (until > nentries)
		until = nentries;
	MemoryContextReset(scan->run_context);
	outer = MemoryContextSwitchTo(scan->run_context);
	scan->run_from = scan->entry;
	scan->run_until = until;
	scan->run_failed = false;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(scan->run_context);
	PG_TRY();
	{
		bool		good = make_run_values(scan);

		if (good)
			ReleaseCurrentSubTransaction();
		else
			RollbackAndReleaseCurrentSubTransaction();
		scan->run_failed = !good;
	}
	PG_CATCH();
	{
		ErrorData  *edata;

		MemoryContextSwitchTo(outer);
		edata = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		if (!csv_is_about_value(edata->sqlerrcode))
			ReThrowError(edata);
		FreeErrorData(edata);
		scan->run_failed = true;
	}
	PG_END_TRY();
	MemoryContextSwitchTo(outer);
	CurrentResourceOwner = owner;
}

/*
 * Fill in a row's values that the arrays do not hold.  False if one of them is
 * refused: the record is reported then, and the row is none.
 */
static bool
fill_careful(CsvTableScan *scan, uint32_t row, Datum *values, bool *isnull)
{
	MemoryContext outer;
	uint32_t	entry = scan->entry;
	bool		good = true;

	if (scan->has_runs && entry >= scan->run_until)
	{
		if (csv_may_open_subtransaction())
			make_run(scan);
		else
		{
			/* value by value, each as it can be made then */
			scan->run_until = entry + 1;
			scan->run_failed = true;
		}
	}

	outer = MemoryContextSwitchTo(scan->row_context);
	scan->row_context_used = true;
	for (int i = 0; i < scan->ncolumns; i++)
	{
		CsvScanColumn *column = &scan->columns[i];
		CsvValueError error;

		if (column->values == NULL)
			continue;			/* nobody looks at it */
		if (column->fetch == CSV_FETCH_RUN && !scan->run_failed)
		{
			values[column->att] = column->run_values[entry - scan->run_from];
			isnull[column->att] = column->run_isnull[entry - scan->run_from];
			continue;
		}
		if (column->fetch < CSV_NUM_FETCHES &&
			(column->status == NULL || column->status[entry] <= CSV_VALUE_NULL))
			continue;			/* is in the slot already */
		if (column->fetch == CSV_FETCH_DECIMAL &&
			(column->status == NULL || column->status[entry] <= CSV_VALUE_NULL))
		{
			isnull[column->att] = (column->hidden && !scan->undecided) ||
				(column->status != NULL &&
				 column->status[entry] == CSV_VALUE_NULL);
			if (!isnull[column->att])
				values[column->att] = decimal_value(column, entry);
			continue;
		}
		if (!make_value(scan, column, entry, &values[column->att],
						&isnull[column->att], &error))
		{
			int64		record = (int64) scan->batch.file_records + row +
				scan->error + 1;
			uint64_t	length = 0;

			/* of a resident batch's, nobody sees the bytes, nor are they there */
			if (scan->skipped != NULL)
			{
				find_fields(scan, scan->batch.row_offsets[entry]);
				length = scan->fields.end - scan->fields.start;
			}
			skip_record(scan, record, entry_place(scan, entry),
						scan->batch.row_lines[entry], length, error.code, 0,
						column, &error);
			good = false;
			break;
		}
	}
	MemoryContextSwitchTo(outer);
	return good;
}

static void
fill_virtuals(CsvTableScan *scan, uint32_t row, Datum *values, bool *isnull)
{
	const CsvBatch *batch = &scan->batch;

	for (int i = 0; i < scan->nvirtuals; i++)
	{
		const CsvTableColumn *column = scan->virtuals[i];
		int			att = column->attnum - 1;
		int64		number = 0;

		isnull[att] = false;
		switch (column->virtual_kind)
		{
			case CSV_VIRTUAL_FILENAME:
				values[att] = scan->filename;
				continue;
			case CSV_VIRTUAL_RECORD:
				number = (int64) batch->file_records + row + scan->error + 1;
				break;
			case CSV_VIRTUAL_LINE:
				number = (int64) batch->file_lines + batch->row_lines[scan->entry] + 1;
				break;
			case CSV_VIRTUAL_BYTE_OFFSET:
				number = (int64) (batch->file_offset +
								  entry_place(scan, scan->entry));
				break;
			default:
				break;
		}
		if (column->type == INT8OID)
			values[att] = Int64GetDatum(number);
		else if (number <= PG_INT32_MAX)
			values[att] = Int32GetDatum((int32) number);
		else
			ereport(ERROR,
					(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
					 errmsg("value of virtual column \"%s\" is out of range for type integer",
							column->name)));
	}
}

/* ---- rows ---- */

static inline Datum
fetch_value(CsvFetch fetch, const uint8_t *entry)
{
	switch (fetch)
	{
		case CSV_FETCH_BYTE:
			return BoolGetDatum(*entry != 0);
		case CSV_FETCH_INT16:
			return Int16GetDatum(*(const int16 *) entry);
		case CSV_FETCH_INT32:
			return Int32GetDatum(*(const int32 *) entry);
		case CSV_FETCH_INT64:
			return Int64GetDatum(*(const int64 *) entry);
		default:
			return PointerGetDatum(entry);
	}
}

/*
 * What the arrays hold of an entry.
 */
static inline void
fill_fast(CsvTableScan *scan, uint32_t entry, Datum *values, bool *isnull)
{
	const CsvPlainColumn *column = scan->plain;

	if (unlikely(scan->null_set != isnull))
	{
		for (; column < scan->plain_end[CSV_NUM_FETCHES - 1]; column++)
			isnull[column->att] = false;
		column = scan->plain;
		for (int i = 0; i < scan->ncolumns; i++)
			if (scan->columns[i].values == NULL)
				isnull[scan->columns[i].att] = true;
		scan->null_set = isnull;
	}

	/* a loop for each way to fetch, that need not ask which */
#define FETCH_COLUMNS(fetch) \
	for (const CsvPlainColumn *end = scan->plain_end[fetch]; column < end; \
		 column++) \
		values[column->att] = fetch_value(fetch, column->values + \
										  (size_t) entry * column->stride)

	FETCH_COLUMNS(CSV_FETCH_POINTER);
	FETCH_COLUMNS(CSV_FETCH_INT32);
	FETCH_COLUMNS(CSV_FETCH_INT64);
	FETCH_COLUMNS(CSV_FETCH_INT16);
	FETCH_COLUMNS(CSV_FETCH_BYTE);
#undef FETCH_COLUMNS

	for (int i = 0; i < scan->nnullable; i++)
	{
		const CsvScanColumn *nullable = scan->nullable[i];
		int			att = nullable->att;

		isnull[att] = nullable->status[entry] != CSV_VALUE_OK;
		values[att] = isnull[att] ? (Datum) 0 :
			fetch_value(nullable->fetch, nullable->values +
						(size_t) entry * nullable->stride);
	}
}

static inline void
reset_row(CsvTableScan *scan)
{
	if (scan->row_context_used)
	{
		MemoryContextReset(scan->row_context);
		scan->row_context_used = false;
	}
}

/*
 * Report the skipped records that stand before this row of the batch.
 */
static inline void
skip_errors_before(CsvTableScan *scan, uint32_t row)
{
	CsvBatch   *batch = &scan->batch;

	while (unlikely(scan->error < batch->nerrors) &&
		   batch->errors[scan->error].before_row <= row && !scan->stopped)
	{
		/* rows before it are passed when it is */
		scan->row = batch->errors[scan->error].before_row;
		skip_error(scan, &batch->errors[scan->error]);
		scan->error++;
		reset_row(scan);
	}
}

/*
 * On to the next batch; false at the end of the scan.
 */
static bool
advance_batch(CsvTableScan *scan)
{
	leave_batch(scan);
	if (next_batch(scan))
		return true;
	scan->finished = true;
	csv_progress_release(scan);
	free_flags(&scan->doubtful);
	free_flags(&scan->careful);

	/* a scan that was rewound once will be again */
	if (scan->holding)
		close_reader(scan);
	else if (!scan->was_rewound)
		close_engine(scan);
	csv_report_end(&scan->report, scan->statistics.records, true);
	return false;
}

bool
csv_table_scan_next(CsvTableScan *scan, Datum *values, bool *isnull)
{
	if (scan->finished)
		return false;
	for (;;)
	{
		uint32_t	row = next_row(scan);

		reset_row(scan);
		skip_errors_before(scan, row);
		if (unlikely(scan->stopped))
		{
			scan->finished = true;
			return false;
		}
		scan->row = row;
		if (row >= scan->batch.nrows)
		{
			if (!advance_batch(scan))
				return false;
			continue;
		}
		scan->entry = scan->batch.answer != NULL ? scan->position : row;
		if (scan->pushdown != NULL)
		{
			scan->undecided = scan->selection.any_careful &&
				scan->selection.careful[scan->position] != 0;
			scan->position++;
		}

		fill_fast(scan, scan->entry, values, isnull);
		if (scan->any_careful &&
			(scan->all_careful || scan->careful.values[scan->entry]) &&
			!fill_careful(scan, row, values, isnull))
		{
			scan->row++;
			CHECK_FOR_INTERRUPTS();
			continue;
		}
		scan->row++;
		if (scan->nvirtuals > 0)
			fill_virtuals(scan, row, values, isnull);
		return true;
	}
}

const char *
csv_table_scan_place(const CsvTableScan *scan, int64 *record)
{
	*record = (int64) scan->batch.file_records + scan->row + scan->error;
	return csv_source_name(scan->source);
}

bool
csv_table_scan_undecided(const CsvTableScan *scan)
{
	return scan->undecided;
}

CsvEvaluator *
csv_table_scan_evaluator(CsvTableScan *scan)
{
	if (scan->evaluator == NULL)
		open_evaluator(scan, false);
	return scan->evaluator;
}

bool
csv_table_scan_held(CsvTableScan *scan, uint32_t first,
					CsvPartialGroups *groups)
{
	const CsvEngine *engine = scan->engine.engine;

	*groups = scan->held;
	if (!scan->holding)
		return false;
	if (first > 0 &&
		engine->held_groups(scan->engine.state, first, groups) != CSV_OK)
		ereport(ERROR,
				(errcode(ERRCODE_EXTERNAL_ROUTINE_EXCEPTION),
				 errmsg("GPU failed after reading \"%s\": %s",
						csv_source_name(scan->source),
						engine->message(scan->engine.state))));
	return groups->ngroups > 0;
}

void
csv_table_scan_drop_held(CsvTableScan *scan)
{
	if (!scan->holding)
		return;
	scan->holding = false;
	close_engine(scan);
}

/* ---- end ---- */

void
csv_table_scan_rewind(CsvTableScan *scan)
{
	leave_batch(scan);
	leave_resident(scan);
	close_evaluator(scan);
	csv_table_scan_drop_held(scan);
	scan->file_is_open = false;
	scan->file_number = 0;
	scan->passed_bytes = 0;
	scan->statistics.bytes = 0;
	scan->finished = false;
	scan->was_rewound = true;
	if (scan->reader != NULL)
		csv_reader_leave(scan->reader);
	csv_source_rewind(scan->source);
	if (scan->reader == NULL && !scan->keeps)
		open_engine(scan);
}

void
csv_table_scan_end(CsvTableScan *scan)
{
	leave_batch(scan);
	leave_resident(scan);
	if (scan->reader != NULL)
		csv_reader_leave(scan->reader);
	csv_source_close(scan->source);
	csv_progress_release(scan);
	csv_report_end(&scan->report, scan->statistics.records, false);
}

void
csv_table_scan_statistics(const CsvTableScan *scan,
						  CsvScanStatistics *statistics)
{
	*statistics = scan->statistics;
	statistics->records += newly_passed(scan);
	if (scan->reader != NULL)
		statistics->read_seconds += csv_reader_read_seconds(scan->reader);
}

const char *
csv_table_scan_engine(const CsvTableScan *scan)
{
	return scan->engine_description;
}

bool
csv_table_scan_resident(const CsvTableScan *scan, int *ncolumns)
{
	*ncolumns = scan->ncolumns;
	return scan->all_resident && scan->file_number > 0;
}
