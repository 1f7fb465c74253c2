/*
 * kept.c
 *		Batches of columns that the session keeps, and keeping them.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "utils/guc.h"
#include "utils/memutils.h"

#include "batches/kept.h"
#include "table/source.h"

struct CsvKept
{
	CsvFileLayout *layout;
	MemoryContextCallback callback;
	const char *meaning;		/* of the table */
	CsvFileIdentity identity;	/* of the open file, as it was opened */

	CsvResident *found;			/* that the open file's batches are taken from */
	const CsvResidentBatch *batch;
	CsvArray   *arrays;			/* of the batch, in the order of the layout */
	int		   *places;			/* likewise, of its columns among those found */
	CsvResident *copying;		/* that the open file's batches are copied to */
};

/* ---- what tells columns from others ---- */

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
column_meaning(const CsvFileColumn *column)
{
	const CsvColumn *spec = &column->spec;
	const char *header_name = column->column->header_name;
	int			kind = is_decimal(column->kind) ? CSV_KIND_NUMERIC :
		column->kind;
	StringInfoData meaning;

	initStringInfo(&meaning);
	appendStringInfo(&meaning, "%u %d %d %d %d %d %d %d %d %d %u %d",
					 header_name != NULL ? 0 : spec->field,
					 kind, spec->force_null, spec->force_not_null,
					 spec->pad_blanks, spec->max_chars, spec->byte_width,
					 spec->type_chars, spec->precision, spec->scale,
					 column->column->type, column->column->typmod);
	add_string(&meaning, header_name);
	return meaning.data;
}

/* the columns of a file as they are wanted; in the current memory context */
static CsvResidentKey
make_key(const CsvFileLayout *layout, const char *meaning,
		 const char *filename, const CsvFileIdentity *identity)
{
	CsvResidentColumn *columns =
		palloc(sizeof(CsvResidentColumn) * Max(layout->ncolumns, 1));
	CsvResidentKey key;

	for (int i = 0; i < layout->ncolumns; i++)
	{
		columns[i].attnum = layout->columns[i].column->attnum;
		columns[i].meaning = column_meaning(&layout->columns[i]);
		columns[i].decimal = is_decimal(layout->columns[i].kind);
	}
	key.relid = layout->table->relid;
	key.filename = filename;
	key.file = *identity;
	key.meaning = meaning;
	key.positions = layout->layout.want_positions;
	key.ncolumns = layout->ncolumns;
	key.columns = columns;
	return key;
}

bool
csv_kept_exist(const CsvFileLayout *layout, int64 *nrows)
{
	const char *meaning = table_meaning(layout->table);
	char	  **names;
	CsvFileIdentity *identities;
	int			nfiles;
	bool		all;

	*nrows = 0;
	all = csv_source_identities(layout->table, &names, &identities, &nfiles);
	for (int i = 0; all && i < nfiles; i++)
	{
		CsvResidentKey key = make_key(layout, meaning, names[i],
									  &identities[i]);
		int64		file_rows = 0;

		all = csv_resident_exists(&key, &file_rows);
		*nrows += file_rows;
	}
	return all;
}

/* ---- kept columns ---- */

/* the reset callback */
static void
release_kept(void *arg)
{
	csv_kept_leave(arg);
}

CsvKept *
csv_kept_create(CsvFileLayout *layout)
{
	CsvKept    *kept = palloc0(sizeof(CsvKept));

	kept->layout = layout;
	kept->meaning = table_meaning(layout->table);
	kept->arrays = palloc(sizeof(CsvArray) * Max(layout->ncolumns, 1));
	kept->places = palloc(sizeof(int) * Max(layout->ncolumns, 1));
	kept->callback.func = release_kept;
	kept->callback.arg = kept;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, &kept->callback);
	return kept;
}

bool
csv_kept_find(CsvKept *kept, const char *filename,
			  const CsvFileIdentity *identity, bool *may_keep)
{
	CsvFileLayout *layout = kept->layout;
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "csv_gpu_fdw key",
												  ALLOCSET_SMALL_SIZES);
	MemoryContext outer = MemoryContextSwitchTo(context);
	CsvResidentKey key = make_key(layout, kept->meaning, filename, identity);

	kept->identity = *identity;
	kept->found = csv_resident_find(&key);
	MemoryContextSwitchTo(outer);
	MemoryContextDelete(context);
	*may_keep = kept->found == NULL && csv_has_settled(identity->changed);
	if (kept->found == NULL)
		return false;

	for (int i = 0; i < layout->ncolumns; i++)
	{
		CsvFileColumn *column = &layout->columns[i];

		csv_resident_column(kept->found, column->column->attnum,
							&column->spec.field, &column->spec.kind);
	}
	csv_file_layout_set(layout, csv_resident_nfields(kept->found));
	for (int i = 0; i < layout->ncolumns; i++)
	{
		uint32_t	field;
		uint8_t		kind;

		kept->places[i] = csv_resident_column(kept->found,
											  layout->columns[i].column->attnum,
											  &field, &kind);
	}
	return true;
}

CsvResident *
csv_kept_columns(const CsvKept *kept)
{
	return kept->found;
}

const CsvResidentBatch *
csv_kept_next(CsvKept *kept, CsvBatch *batch)
{
	const CsvResidentBatch *next = csv_resident_batch(kept->found,
													  kept->batch);

	kept->batch = next;
	if (next == NULL)
		return NULL;
	*batch = next->batch;
	batch->arrays = kept->arrays;
	for (int i = 0; i < kept->layout->ncolumns; i++)
		kept->arrays[i] = next->batch.arrays[kept->places[i]];
	return next;
}

int
csv_kept_place(const CsvKept *kept, int column)
{
	return kept->places[column];
}

/* ---- keeping them ---- */

void
csv_kept_begin(CsvKept *kept, const char *filename, const CsvDialect *dialect)
{
	CsvResidentKey key = make_key(kept->layout, kept->meaning, filename,
								  &kept->identity);

	kept->copying = csv_resident_begin(&key, dialect, &kept->layout->layout);
	for (int i = 0; i < key.ncolumns; i++)
		pfree(key.columns[i].meaning);
	pfree(key.columns);
}

bool
csv_kept_is_copying(const CsvKept *kept)
{
	return kept->copying != NULL;
}

void
csv_kept_add(CsvKept *kept, const CsvBatch *batch)
{
	if (kept->copying != NULL && !csv_resident_add(kept->copying, batch))
		csv_kept_leave(kept);
}

void
csv_kept_finish(CsvKept *kept, const CsvFileIdentity *identity)
{
	/* if it was written to while it was read, nobody knows what was read */
	if (kept->copying != NULL && csv_same_file(identity, &kept->identity))
		csv_resident_keep(kept->copying);
	csv_kept_leave(kept);
}

void
csv_kept_leave(CsvKept *kept)
{
	if (kept->found != NULL)
		csv_resident_release(kept->found);
	if (kept->copying != NULL)
		csv_resident_release(kept->copying);
	kept->found = NULL;
	kept->batch = NULL;
	kept->copying = NULL;
}
