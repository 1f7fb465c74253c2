/*
 * names.c
 *		Names for tables and columns, made from names of files and of headers.
 *
 * Letters become small.  Other characters of ASCII than letters and digits become
 * underscores, as do blanks and control characters beyond ASCII.  Characters without
 * width vanish.  All others beyond ASCII stay: so a name needs no quotes, can be typed,
 * and says the same.  A name that SQL has another use for (order, user, ctid) gets
 * an underscore behind it, a name that begins with a digit an underscore before it, and
 * a name that is taken a number.
 */
#include "postgres.h"

#include <ctype.h>

#include "catalog/heap.h"
#include "common/keywords.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"

#include "import/names.h"
#include "table/text.h"

/* a name that is taken */
typedef struct TakenName
{
	char		name[NAMEDATALEN];
	int			next;			/* the number for the next one like it */
} TakenName;

HTAB *
csv_names_create(void)
{
	HASHCTL		control;

	memset(&control, 0, sizeof(control));
	control.keysize = NAMEDATALEN;
	control.entrysize = sizeof(TakenName);
	control.hcxt = CurrentMemoryContext;
	return hash_create("csv_gpu_fdw names", 64, &control,
					   HASH_ELEM | HASH_STRINGS | HASH_CONTEXT);
}

/* cut a name so that nbytes more bytes fit behind it, in whole characters */
static void
clip(StringInfo name, int nbytes)
{
	name->len = pg_mbcliplen(name->data, name->len,
							 NAMEDATALEN - 1 - nbytes);
	name->data[name->len] = '\0';
}

char *
csv_plain_name(const char *raw, size_t nbytes, const char *fallback)
{
	StringInfoData name;
	int			length;
	int			keyword;
	unsigned char last = 0;		/* the character that made the name's end */

	initStringInfo(&name);
	for (size_t i = 0; i < nbytes && name.len < NAMEDATALEN; i += (size_t) length)
	{
		unsigned char c = (unsigned char) raw[i];
		uint32		code;
		CsvVisibility visibility = csv_visibility(raw + i, nbytes - i, &length, &code);

		if (visibility == CSV_ZERO_WIDTH)
			continue;

		/* a byte that no text can hold (csv_valid_text) */
		if (c == '\\' && i + 3 < nbytes && raw[i + 1] == 'x' &&
			isxdigit((unsigned char) raw[i + 2]) && isxdigit((unsigned char) raw[i + 3]))
			length = 4;
		last = c;
		if (visibility == CSV_VISIBLE && IS_HIGHBIT_SET(c))
			appendBinaryStringInfo(&name, raw + i, length);
		else if (visibility == CSV_VISIBLE && (isdigit(c) || isalpha(c)))
		{
			if (name.len == 0 && isdigit(c))
				appendStringInfoChar(&name, '_');
			appendStringInfoChar(&name, (char) pg_ascii_tolower(c));
		}
		else if (c == '_' ||
				 (name.len > 0 && name.data[name.len - 1] != '_'))
			appendStringInfoChar(&name, '_');
	}

	/* an underscore at the end stays only if the raw name ends with it */
	while (name.len > 0 && name.data[name.len - 1] == '_' && last != '_')
		name.data[--name.len] = '\0';
	/* now, because it may cut off the only character that counts */
	clip(&name, 0);
	if (strspn(name.data, "_") == (size_t) name.len)
	{
		resetStringInfo(&name);
		appendStringInfoString(&name, fallback);
	}

	/* SQL may have another use for it */
	keyword = ScanKeywordLookup(name.data, &ScanKeywords);
	if ((keyword >= 0 && (ScanKeywordCategories[keyword] == RESERVED_KEYWORD ||
						  ScanKeywordCategories[keyword] == TYPE_FUNC_NAME_KEYWORD)) ||
		SystemAttributeByName(name.data) != NULL)
		appendStringInfoChar(&name, '_');
	return name.data;
}

char *
csv_make_name(HTAB *names, const char *raw, size_t nbytes,
			  const char *fallback)
{
	char	   *name = csv_plain_name(raw, nbytes, fallback);
	StringInfoData candidate;
	TakenName  *first = NULL;

	initStringInfo(&candidate);
	for (;;)
	{
		char		suffix[16] = "";
		TakenName  *taken;
		bool		found;

		if (first != NULL)
			snprintf(suffix, sizeof(suffix), "_%d", first->next++);
		resetStringInfo(&candidate);
		appendStringInfoString(&candidate, name);
		clip(&candidate, (int) strlen(suffix));
		appendStringInfoString(&candidate, suffix);
		taken = hash_search(names, candidate.data, HASH_ENTER, &found);
		if (!found)
		{
			taken->next = 2;
			pfree(name);
			return candidate.data;
		}
		if (first == NULL)
			first = taken;
	}
}

void
csv_name_columns(CsvFindings *findings, const List *header)
{
	HTAB	   *names = csv_names_create();
	CsvTable   *table = findings->table;
	const bool	by_name = table->by_name && table->reader.header_rows > 0;

	table->nfields_from_header = by_name;
	for (uint32 i = 0; i < findings->ncolumns; i++)
	{
		CsvFoundColumn *column = &findings->columns[i];
		const char *raw = "";

		if (i < (uint32) list_length(header))
			raw = column->header_name = strVal(list_nth(header, (int) i));
		column->name = csv_make_name(names, raw, strlen(raw), psprintf("column_%u", i + 1));
		table->columns[i].name = column->name;	/* for messages */
		if (by_name)
			table->columns[i].header_name = column->header_name;
	}
	hash_destroy(names);
}
