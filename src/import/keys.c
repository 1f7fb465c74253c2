/*
 * keys.c
 *		Columns for the directories KEY=VALUE in files' paths, and for a table's share.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/value.h"

#include "import/create.h"
#include "import/names.h"
#include "import/types.h"
#include "table/source.h"
#include "table/text.h"

/* the keys of files' paths without their first nfixed bytes, as String nodes */
static List *
find_keys(char **names, int nnames, size_t nfixed)
{
	List	   *keys = NIL;

	for (int i = 0; i < nnames && list_length(keys) <= MaxHeapAttributeNumber; i++)
	{
		const char *end;

		CHECK_FOR_INTERRUPTS();
		for (const char *name = names[i] + Min(nfixed, strlen(names[i]));
			 (end = strchr(name, '/')) != NULL; name = end + 1)
		{
			const char *equals = memchr(name, '=', end - name);
			char	   *key;

			if (equals == NULL)
				continue;
			key = csv_path_key(name);
			if (csv_is_path_key(key))
				keys = list_append_unique(keys, makeString(key));
		}
	}
	return keys;
}

/* the type of a key's values, by which path columns read them */
static Oid
key_type(const CsvTable *table, const char *key, char **names, int nnames)
{
	Oid			type;
	const CsvReadingRules rules = {0};
	CsvEvidence *evidence = palloc0(sizeof(CsvEvidence));
	List	   *values = NIL;
	size_t		nbytes = 0;
	bool		are_filled_up = true;
	ListCell   *cell;

	/* all are digits, as many in each?  Then zeros fill numbers up: 01, 02, 12. */
	for (int i = 0; i < nnames; i++)
	{
		char	   *value = csv_path_value(names[i], key);

		CHECK_FOR_INTERRUPTS();
		if (value == NULL)
			continue;
		if (values == NIL)
			nbytes = strlen(value);
		are_filled_up &= *value != '\0' && strlen(value) == nbytes &&
			strspn(value, "0123456789") == nbytes;
		values = lappend(values, csv_shown_filename(value));
	}
	foreach(cell, values)
	{
		const char *value = lfirst(cell);

		if (are_filled_up)
			value += Min(strspn(value, "0"), nbytes - 1);
		csv_evidence_add(&rules, evidence,
						 &(CsvValuePlace) {.record = foreach_current_index(cell)}, value,
						 (uint32) strlen(value));
	}

	/* a pattern that is given holds for the type */
	type = csv_plain_type(evidence);
	return (type == DATEOID && table->date_pattern != NULL) ||
		((type == TIMESTAMPOID || type == TIMESTAMPTZOID) && table->timestamp_pattern != NULL) ?
		TEXTOID : type;
}

static CsvPathColumn *
make_column(HTAB *taken, const char *name, Oid type, char *option)
{
	CsvPathColumn *column = palloc(sizeof(CsvPathColumn));

	column->name = csv_make_name(taken, name, strlen(name), "key");
	column->type = type;
	column->option = option;
	return column;
}

List *
csv_find_keys(const CsvFindings *findings, size_t nfixed)
{
	HTAB	   *taken = csv_names_create();
	List	   *columns = NIL;
	char	  **names;
	int			nnames;
	ListCell   *cell;

	csv_source_files(findings->table, &names, &nnames);
	for (uint32 i = 0; i < findings->ncolumns; i++)
		(void) csv_make_name(taken, findings->columns[i].name,
							 strlen(findings->columns[i].name), "column");
	foreach(cell, find_keys(names, nnames, nfixed))
	{
		const char *key = csv_shown_filename(strVal(lfirst(cell)));
		Oid			type = key_type(findings->table, strVal(lfirst(cell)), names, nnames);

		columns = lappend(columns, make_column(taken, key, type,
											   psprintf("path:%s", key)));
	}
	if (findings->table->share >= 0)
		columns = lappend(columns, make_column(taken, "share", INT4OID, "share"));
	hash_destroy(taken);
	return columns;
}
