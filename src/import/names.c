/*
 * names.c
 *		Names for tables and columns, made from those of files and headers.
 *
 * Letters become small.  Other characters of ASCII than letters and digits become
 * underscores, as do blanks and control characters beyond ASCII.  Characters without
 * width vanish.  All others beyond ASCII stay: so a name needs no quotes, can be typed,
 * and says the same.  What SQL has another use for (order, user, ctid) gets an
 * underscore behind it, one that begins with a digit before it, and one that is
 * taken a number.
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

/* does SQL have another use for it? */
static bool
is_reserved(const char *name)
{
	int			keyword = ScanKeywordLookup(name, &ScanKeywords);

	if (keyword >= 0 &&
		(ScanKeywordCategories[keyword] == RESERVED_KEYWORD ||
		 ScanKeywordCategories[keyword] == TYPE_FUNC_NAME_KEYWORD))
		return true;
	return SystemAttributeByName(name) != NULL;
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
csv_make_name(HTAB *names, const char *raw, size_t nbytes,
			  const char *fallback)
{
	StringInfoData name;
	StringInfoData candidate;
	TakenName  *taken;
	bool		found;
	int			length;
	unsigned char last = 0;		/* the character that made the name's end */

	initStringInfo(&name);
	for (size_t i = 0; i < nbytes && name.len < NAMEDATALEN; i += (size_t) length)
	{
		unsigned char c = (unsigned char) raw[i];
		uint32		code;
		CsvVisibility visibility = csv_visibility(raw + i, nbytes - i, &length, &code);

		if (visibility == CSV_ZERO_WIDTH)
			continue;
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

	/* the ends of a name are no place for what stood for blanks and the like */
	while (name.len > 0 && name.data[name.len - 1] == '_' && last != '_')
		name.data[--name.len] = '\0';
	/* before the question what is left: a character may not fit any more */
	clip(&name, 0);
	if (strspn(name.data, "_") == (size_t) name.len)
	{
		resetStringInfo(&name);
		appendStringInfoString(&name, fallback);
	}
	if (is_reserved(name.data))
		appendStringInfoChar(&name, '_');

	initStringInfo(&candidate);
	appendBinaryStringInfo(&candidate, name.data, name.len);
	taken = hash_search(names, candidate.data, HASH_ENTER, &found);
	if (!found)
		taken->next = 2;
	while (found)
	{
		char		suffix[16];
		TakenName  *another;

		snprintf(suffix, sizeof(suffix), "_%d", taken->next++);
		resetStringInfo(&candidate);
		appendBinaryStringInfo(&candidate, name.data, name.len);
		clip(&candidate, (int) strlen(suffix));
		appendStringInfoString(&candidate, suffix);
		another = hash_search(names, candidate.data, HASH_ENTER, &found);
		if (!found)
			another->next = 2;
	}
	pfree(name.data);
	return candidate.data;
}

bool
csv_name_is_taken(HTAB *names, const char *name)
{
	return hash_search(names, name, HASH_FIND, NULL) != NULL;
}
