/*
 * declaration.c
 *		Everything that shapes the values of a table's columns.
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

#include "compat.h"
#include "table/declaration.h"
#include "table/option_list.h"
#include "wire/message.h"

/* adds the terminating zero, as a separator; a setting may be NULL */
static void
add_string(StringInfo declaration, const char *string)
{
	if (string == NULL)
		string = "";
	appendBinaryStringInfo(declaration, string, (int) strlen(string) + 1);
}

static void
add_options(StringInfo declaration, List *options, bool of_column)
{
	ListCell   *cell;

	foreach(cell, options)
	{
		DefElem    *def = (DefElem *) lfirst(cell);

		if (!csv_option_changes_batches(def->defname, of_column))
			continue;
		add_string(declaration, def->defname);
		add_string(declaration, defGetString(def));
	}
	add_string(declaration, "");
}

/*
 * Adds PostgreSQL's settings of locale and formats.  Other settings may affect input
 * functions, but these are called anew in each query.  Settings of csv_gpu_fdw
 * change no values (settings.h).
 */
static void
add_settings(StringInfo declaration)
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
			if (settings[i]->group == CLIENT_CONN_LOCALE)
				found = lappend(found, pstrdup(settings[i]->name));
		names = found;
		MemoryContextSwitchTo(outer);
	}
	foreach(cell, names)
		add_string(declaration, GetConfigOption(lfirst(cell), false, false));
}

StringInfoData
csv_table_declaration(const CsvTable *table)
{
	Oid			database[] = {(Oid) GetDatabaseEncoding(), InvalidOid};
	StringInfoData declaration;

	initStringInfo(&declaration);
	add_options(&declaration, table->options, false);
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
		add_string(&declaration, column->name);
		appendBinaryStringInfo(&declaration, (const char *) type, sizeof(type));
		add_options(&declaration, column->options, true);
	}
	appendBinaryStringInfo(&declaration, (const char *) database, sizeof(database));
	return declaration;
}

void
csv_hash_declaration(uint8 *hash, const CsvTable *table)
{
	StringInfoData declaration = csv_table_declaration(table);
	pg_cryptohash_ctx *context = pg_cryptohash_create(PG_SHA256);

	add_settings(&declaration);
	if (context == NULL || pg_cryptohash_init(context) < 0 ||
		pg_cryptohash_update(context, (const uint8 *) declaration.data,
							 (size_t) declaration.len) < 0 ||
		pg_cryptohash_final(context, hash, CSV_DECLARATION_BYTES) < 0)
		elog(ERROR, "could not hash a table's options");
	pg_cryptohash_free(context);
	pfree(declaration.data);
}
