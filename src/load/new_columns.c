/*
 * new_columns.c
 *		Columns of files that the source of a load lacks.
 *
 * Headers are read before the load, and tables are altered before it opens
 * them.
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/table.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "load/load.h"
#include "table/interrupts.h"
#include "table/layout.h"
#include "table/memory.h"
#include "table/source.h"

/* the names in the headers of the files that no column of the table finds */
static List *
new_names(CsvTable *table)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "csv_gpu_fdw headers",
												  ALLOCSET_DEFAULT_SIZES);
	Bitmapset  *all = csv_table_attributes(table);
	CsvSource  *source = csv_source_create(table);
	List	   *names = NIL;
	char	  **files;
	int			nfiles;

	table->reader.interrupted = csv_process_interrupts;
	csv_source_names(source, &files, &nfiles);
	for (int i = 0; i < nfiles; i++)
	{
		MemoryContext outer;
		CsvMemory	memory = csv_context_memory(context);
		CsvReader  *reader;
		CsvFileLayout *layout;

		CHECK_FOR_INTERRUPTS();
		if (!csv_source_open(source, i, NULL))
			continue;
		outer = MemoryContextSwitchTo(context);
		reader = csv_reader_create(&memory, &table->reader);
		if (csv_reader_open(reader, csv_source_read, source) != CSV_OK)
			ereport(ERROR,
					(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
					 errmsg("could not read the header of \"%s\"",
							csv_source_name(source))));
		layout = csv_file_layout_create(table, all, NULL, false);
		csv_file_layout_read(layout, reader, csv_source_name(source));
		MemoryContextSwitchTo(outer);
		names = csv_file_layout_more(layout, reader, names);
		MemoryContextReset(context);
	}
	csv_source_close(source);
	MemoryContextDelete(context);
	return names;
}

/* add columns of type text, as far as there are none of these names */
static void
add_columns(Oid relid, const List *names)
{
	const char *table = quote_qualified_identifier(get_namespace_name(get_rel_namespace(relid)),
												   get_rel_name(relid));
	ListCell   *cell;

	foreach(cell, names)
	{
		const char *sql = psprintf("ALTER TABLE %s ADD COLUMN IF NOT EXISTS %s pg_catalog.text",
								   table, quote_identifier(lfirst(cell)));

		if (get_attnum(relid, lfirst(cell)) <= 0 &&
			SPI_execute(sql, false, 0) < 0)
			elog(ERROR, "SPI_execute failed: %s", sql);
	}
}

void
csv_load_new_columns(const CsvLoadRequest *request)
{
	Relation	source = csv_open_source(request->source);
	CsvTable   *table = csv_table_get(request->source);
	const Oid	both[] = {request->source, request->target};
	const bool	adds = request->new_columns == CSV_NEW_COLUMNS_ADD;
	StringInfoData list;
	List	   *names;
	ListCell   *cell;

	csv_table_check(table);
	csv_check_whole_select(source);
	table_close(source, AccessShareLock);
	relation_close(csv_open_relation(request->target, AccessShareLock),
				   AccessShareLock);
	if (!table->by_name || table->program != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("new_columns needs files and the option \"by_name\", which foreign table \"%s\" lacks",
						table->name)));
	if (adds && request->columns != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("new_columns \"add\" cannot be used together with columns")));
	for (int i = 0; i < (adds ? lengthof(both) : 0); i++)
		if (!csv_owns_table(both[i], GetUserId()))
			aclcheck_error(ACLCHECK_NOT_OWNER,
						   get_relkind_objtype(get_rel_relkind(both[i])),
						   get_rel_name(both[i]));
	if (request->only_check)
		return;
	if (request->of_job)
		csv_prefer_pattern(table, DEBUG1);
	if (request->filename != NULL)
		csv_source_choose_file(table, request->filename);
	table->reader.dialect.growing |= request->is_new_records;
	names = new_names(table);
	if (names == NIL)
		return;
	initStringInfo(&list);
	foreach(cell, names)
	{
		appendStringInfo(&list, "%s\"%s\"", list.len > 0 ? ", " : "",
						 (char *) lfirst(cell));
		if (adds && strlen(lfirst(cell)) >= NAMEDATALEN)
			ereport(ERROR,
					(errcode(ERRCODE_NAME_TOO_LONG),
					 errmsg("name of a new column is too long: \"%s\"",
							(char *) lfirst(cell))));
	}
	if (!adds)
		ereport(ERROR,
				(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
				 errmsg("foreign table \"%s\" lacks columns of its files: %s",
						table->name,
						list.data),
				 errhint("Add them to both tables, or load with new_columns => 'add' or 'ignore'.")));
	ereport(NOTICE,
			(errmsg("added columns to \"%s\" and \"%s\": %s", table->name,
					get_rel_name(request->target), list.data)));
	SPI_connect();
	for (int i = 0; i < lengthof(both); i++)
		add_columns(both[i], names);
	SPI_finish();
}
