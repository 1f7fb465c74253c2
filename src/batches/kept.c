/*
 * kept.c
 *		Uses and keeps columns of files.
 */
#include "postgres.h"

#include "access/transam.h"
#include "commands/defrem.h"
#include "common/cryptohash.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/guc.h"
#include "utils/guc_tables.h"
#include "utils/memutils.h"

#include "batches/kept.h"
#include "compat.h"
#include "table/option_list.h"

/* ---- the identity of kept columns ---- */

/* settings by which the work is done: the batches are the same with any value */
static const char *const without_meaning[] = {
	"csv_gpu_fdw.engine", "csv_gpu_fdw.device", "csv_gpu_fdw.gpu_memory_limit",
	"csv_gpu_fdw.io_threads", "csv_gpu_fdw.cpu_threads",
	"csv_gpu_fdw.enable_pushdown", "csv_gpu_fdw.resident",
	"csv_gpu_fdw.resident_memory", "csv_gpu_fdw.load_method"
};

static bool
has_meaning(const char *setting)
{
	for (size_t i = 0; i < lengthof(without_meaning); i++)
		if (strcmp(setting, without_meaning[i]) == 0)
			return false;
	return true;
}

/* adds the terminating zero, as a separator; a setting may be NULL */
static void
add_string(StringInfo meaning, const char *string)
{
	if (string == NULL)
		string = "";
	appendBinaryStringInfo(meaning, string, (int) strlen(string) + 1);
}

static void
add_options(StringInfo meaning, List *options, bool of_column)
{
	ListCell   *cell;

	foreach(cell, options)
	{
		DefElem    *def = (DefElem *) lfirst(cell);

		if (!csv_option_has_meaning(def->defname, of_column))
			continue;
		add_string(meaning, def->defname);
		add_string(meaning, defGetString(def));
	}
	add_string(meaning, "");
}

/*
 * Adds PostgreSQL's settings of locale and formats, and settings of csv_gpu_fdw.
 * Other settings may affect input functions, but these are called anew in each query.
 */
static void
add_settings(StringInfo meaning)
{
	static List *names = NIL;	/* searched once: there are hundreds of settings */
	ListCell   *cell;

	if (names == NIL)
	{
		int			nsettings;
		struct config_generic **settings = csv_all_settings(&nsettings);
		List	   *found = NIL;
		MemoryContext outer = MemoryContextSwitchTo(TopMemoryContext);

		for (int i = 0; i < nsettings; i++)
			if ((settings[i]->group == CLIENT_CONN_LOCALE ||
				 strncmp(settings[i]->name, "csv_gpu_fdw.", 12) == 0) &&
				has_meaning(settings[i]->name))
				found = lappend(found, pstrdup(settings[i]->name));
		names = found;
		MemoryContextSwitchTo(outer);
	}
	foreach(cell, names)
		add_string(meaning, GetConfigOption(lfirst(cell), false, false));
}

/*
 * Everything that may affect batches of the table, except the columns that a query
 * wants: all options of the table and its columns, even unknown options, and settings.
 */
static StringInfoData
table_meaning(const CsvTable *table)
{
	Oid			database[] = {(Oid) GetDatabaseEncoding(), InvalidOid};
	StringInfoData meaning;

	initStringInfo(&meaning);
	add_options(&meaning, table->options, false);
	for (int i = 0; i < table->natts; i++)
	{
		const CsvTableColumn *column = &table->columns[i];
		Oid			type[] = {
			column->type, (Oid) column->typmod, column->collation,
			column->dropped, column->generated
		};

		/* another database may have another type or collation with this OID */
		if (column->type >= FirstNormalObjectId ||
			column->collation >= FirstNormalObjectId)
			database[1] = MyDatabaseId;
		add_string(&meaning, column->name);
		appendBinaryStringInfo(&meaning, (const char *) type, sizeof(type));
		add_options(&meaning, column->options, true);
	}
	appendBinaryStringInfo(&meaning, (const char *) database, sizeof(database));
	add_settings(&meaning);
	return meaning;
}

/* sets the hash of table_meaning() */
static void
set_meaning(uint8 *hash, const CsvTable *table)
{
	StringInfoData meaning = table_meaning(table);
	pg_cryptohash_ctx *context = pg_cryptohash_create(PG_SHA256);

	if (context == NULL || pg_cryptohash_init(context) < 0 ||
		pg_cryptohash_update(context, (const uint8 *) meaning.data,
							 (size_t) meaning.len) < 0 ||
		pg_cryptohash_final(context, hash, CSV_MEANING_BYTES) < 0)
		elog(ERROR, "could not hash a table's options");
	pg_cryptohash_free(context);
	pfree(meaning.data);
}

/* sets the wanted columns */
static void
set_columns(CsvWanted *wanted, const CsvFileLayout *layout)
{
	wanted->positions = layout->layout.want_positions;
	wanted->ncolumns = (uint32) layout->ncolumns;
	for (int i = 0; i < layout->ncolumns; i++)
	{
		int			kind = layout->columns[i].kind;

		wanted->columns[i].attnum = layout->columns[i].column->attnum;
		wanted->columns[i].decimal = kind == CSV_KIND_DECIMAL64 ||
			kind == CSV_KIND_DECIMAL128 || kind == CSV_KIND_SCALED;
	}
}

bool
csv_kept_exist(const CsvTable *table, const Bitmapset *wanted,
			   const Bitmapset *hidden, bool few_rows, int *ncolumns, int64 *nrows)
{
	CsvFileLayout *layout = csv_file_layout_create(table, wanted, hidden,
												   few_rows);
	CsvWanted  *columns;
	char	  **names;
	CsvFileIdentity *identities;
	int			nfiles;

	*ncolumns = layout->ncolumns;
	*nrows = 0;
	if (layout->wants_surplus ||
		!csv_source_identities(table, &names, &identities, &nfiles) ||
		nfiles == 0)
		return false;
	columns = palloc(sizeof(CsvWanted));
	set_meaning(columns->meaning, table);
	set_columns(columns, layout);
	return csv_resident_exist(columns, identities, nfiles, nrows);
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
	kept->context = CurrentMemoryContext;
	kept->key.user.database = MyDatabaseId;
	kept->key.user.table = layout->table->relid;
	set_meaning(kept->key.wanted.meaning, layout->table);
	kept->arrays = palloc(sizeof(CsvArray) * Max(layout->ncolumns, 1));
	kept->places = palloc(sizeof(uint32_t) * Max(layout->ncolumns, 1));
	kept->callback.func = release_kept;
	kept->callback.arg = kept;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, &kept->callback);
	return kept;
}

/* finds the places of the layout's columns, and their specs */
static void
find_columns(CsvKept *kept)
{
	const CsvColumn *found = csv_resident_layout(kept->found)->columns;

	for (int i = 0; i < kept->layout->ncolumns; i++)
	{
		CsvFileColumn *column = &kept->layout->columns[i];
		CsvColumn	wanted = column->spec;
		uint32_t	place = 0;

		while (found[place].attnum != wanted.attnum)
			place++;
		column->spec = found[place];

		/* kept columns have their NULLs already, but the next file may be read */
		column->spec.nulls_from = wanted.nulls_from;
		column->spec.nulls_to = wanted.nulls_to;
		kept->places[i] = place;
	}
}

bool
csv_kept_find(CsvKept *kept, const CsvSource *source, bool *may_keep)
{
	CsvFileLayout *layout = kept->layout;
	MemoryContext outer;

	*may_keep = false;
	if (!csv_source_identity(source, &kept->key.file))
		return false;
	outer = MemoryContextSwitchTo(kept->context);
	strlcpy(kept->key.user.filename, csv_source_name(source), CSV_NAME_BYTES);
	set_columns(&kept->key.wanted, layout);
	kept->found = csv_resident_find(&kept->key, csv_source_file(source));
	MemoryContextSwitchTo(outer);
	*may_keep = kept->found == NULL && csv_has_settled(kept->key.file.changed);
	if (kept->found == NULL)
		return false;

	find_columns(kept);
	csv_file_layout_set(layout, csv_resident_layout(kept->found)->nfields);
	find_columns(kept);			/* csv_file_layout_set() has changed their order */
	return true;
}

const CsvResidentBatch *
csv_kept_next(CsvKept *kept, CsvBatch *batch)
{
	const CsvResidentBatch *next = csv_resident_batch(kept->found,
													  kept->batch);

	kept->batch = next;
	if (next == NULL)
		return NULL;
	csv_resident_pass(kept->found, next);
	csv_kept_map(kept, next, batch, kept->arrays);
	return next;
}

void
csv_kept_map(const CsvKept *kept, const CsvResidentBatch *from, CsvBatch *batch,
			 CsvArray *arrays)
{
	*batch = from->batch;
	batch->arrays = arrays;
	for (int i = 0; i < kept->layout->ncolumns; i++)
		arrays[i] = from->batch.arrays[kept->places[i]];
}

/* ---- keeping columns ---- */

void
csv_kept_begin(CsvKept *kept, const CsvDialect *dialect)
{
	MemoryContext outer = MemoryContextSwitchTo(kept->context);

	/* the file's header may have changed the order of columns */
	set_columns(&kept->key.wanted, kept->layout);
	kept->copying = csv_resident_begin(&kept->key, dialect,
									   &kept->layout->layout);
	MemoryContextSwitchTo(outer);
}

void
csv_kept_add(CsvKept *kept, const CsvBatch *batch)
{
	if (kept->copying != NULL && !csv_resident_add(kept->copying, batch))
		csv_kept_leave(kept);
}

void
csv_kept_finish(CsvKept *kept, const CsvSource *source)
{
	CsvFileIdentity now;

	/* if the file was changed while it was read, its version is unknown */
	if (kept->copying != NULL && csv_source_identity(source, &now) &&
		csv_same_file(&now, &kept->key.file))
		csv_resident_keep(kept->copying, csv_source_file(source));
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
