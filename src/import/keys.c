/*
 * keys.c
 *		Columns for what the directories KEY=VALUE of files' paths say.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "import/keys.h"
#include "import/names.h"
#include "table/path.h"
#include "table/source.h"
#include "table/text.h"

static bool
is_in(List *strings, const char *string)
{
	ListCell   *cell;

	foreach(cell, strings)
		if (strcmp(lfirst(cell), string) == 0)
			return true;
	return false;
}

List *
csv_find_keys(const CsvTable *table)
{
	List	   *keys = NIL;
	char	  **names;
	int			nnames;
	const char *end;

	csv_source_files(table, &names, &nnames);
	if (nnames == 0)
		return NIL;
	for (const char *name = names[0]; (end = strchr(name, '/')) != NULL; name = end + 1)
	{
		const char *equals = memchr(name, '=', end - name);
		char	   *key;

		CHECK_FOR_INTERRUPTS();
		if (equals == NULL || equals == name)
			continue;

		/* what has a slash or an equals sign in it cannot be named by an option */
		key = csv_path_key(name);
		if (strpbrk(key, "/=") == NULL && *key != '\0' && !is_in(keys, key))
			keys = lappend(keys, key);
	}
	return keys;
}

/* are all values digits, as many in each?  Then zeros fill numbers up: 01, 02, 12. */
static bool
are_filled_up(const char *key, char **names, int nnames)
{
	size_t		ndigits = 0;

	for (int i = 0; i < nnames; i++)
	{
		char	   *value = csv_path_value(names[i], key);

		CHECK_FOR_INTERRUPTS();
		if (value == NULL)
			continue;
		if (ndigits == 0)
			ndigits = strlen(value);
		if (ndigits == 0 || strlen(value) != ndigits ||
			strspn(value, "0123456789") != ndigits)
			return false;
	}
	return ndigits > 0;
}

/* what the type of a key's values is */
static char *
key_type(const char *key, const CsvFindings *findings, char **names, int nnames)
{
	CsvInferrer inferrer;
	CsvInference inference;
	int32		typmod;
	bool		are_numbers = are_filled_up(key, names, nnames);

	csv_inferrer_init(&inferrer, findings->table);
	inferrer.decimal_separator = '.';
	memset(&inference, 0, sizeof(inference));
	for (int i = 0; i < nnames; i++)
	{
		char	   *value = csv_path_value(names[i], key);

		CHECK_FOR_INTERRUPTS();
		if (value == NULL)
			continue;
		value = csv_shown_filename(value);
		if (are_numbers)
			value += Min(strspn(value, "0"), strlen(value) - 1);
		csv_infer_value(&inferrer, &inference, value, (uint32) strlen(value));
	}
	/* the values of now are no limit for those to come */
	return format_type_be(csv_inferred_type(&inference, &typmod));
}

List *
csv_find_key_columns(const CsvFindings *findings, List *keys)
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
	foreach(cell, keys)
	{
		const char *key = csv_shown_filename(lfirst(cell));
		CsvPathColumn *column = palloc(sizeof(CsvPathColumn));

		column->name = csv_make_name(taken, key, strlen(key), "key");
		column->type = key_type(lfirst(cell), findings, names, nnames);
		column->option = psprintf("path:%s", key);
		columns = lappend(columns, column);
	}
	hash_destroy(taken);
	return columns;
}
