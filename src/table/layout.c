/*
 * layout.c
 *		The wanted columns of a table, and their places in a file.
 *
 * A table's options give the number of a column's field, or its name in the header.
 * With names, each file has its own layout.  With by_name, a file may lack the column.
 */
#include "postgres.h"

#include "catalog/pg_collation.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/formatting.h"
#include "utils/memutils.h"

#include "table/layout.h"
#include "query/query.h"
#include "reader/field.h"
#include "reader/lenient.h"
#include "table/option.h"
#include "table/text.h"

/*
 * A numeric is read as a scaled integer if the query only computes with it or gets few
 * rows, and if such integers hold all of its values.  Without a precision, they hold
 * most values.
 */
static void
prefer_decimal(CsvColumn *spec)
{
	if (spec->kind == CSV_KIND_NUMERIC && spec->precision < 0)
		spec->kind = CSV_KIND_SCALED;
	else if (spec->kind == CSV_KIND_NUMERIC &&
			 spec->precision <= CSV_MAX_DECIMAL_DIGITS)
		spec->kind = spec->precision <= CSV_MAX_SQUARED_DIGITS ?
			CSV_KIND_DECIMAL64 : CSV_KIND_DECIMAL128;
}

/*
 * Sets the column's list of null values.  Columns that inherit the table's list share
 * it; a new list is appended to the others.
 */
static void
add_null_values(CsvFileLayout *layout, int number)
{
	const List *values = layout->columns[number].column->null_values;
	CsvColumn  *spec = &layout->columns[number].spec;
	StringInfo	bytes = &layout->null_values;
	ListCell   *cell;

	if (values == NIL)
		return;
	if (bytes->data == NULL)
		initStringInfo(bytes);
	for (int i = 0; i < number; i++)
		if (layout->columns[i].column->null_values == values)
		{
			spec->nulls_from = layout->columns[i].spec.nulls_from;
			spec->nulls_to = layout->columns[i].spec.nulls_to;
			return;
		}
	spec->nulls_from = (uint32_t) bytes->len;
	foreach(cell, values)
	{
		size_t		length = strlen(lfirst(cell));

		appendStringInfoChar(bytes, (char) length);
		appendBinaryStringInfo(bytes, lfirst(cell), (int) length);
	}
	spec->nulls_to = (uint32_t) bytes->len;
}

CsvFileLayout *
csv_file_layout_create(const CsvTable *table, const Bitmapset *wanted,
					   const Bitmapset *hidden, bool few_rows)
{
	CsvFileLayout *layout = palloc0(sizeof(CsvFileLayout));

	layout->table = table;
	layout->columns = palloc0(sizeof(CsvFileColumn) * Max(table->natts, 1));
	layout->specs = palloc0(sizeof(CsvColumn) * Max(table->natts, 1));
	for (int i = 0; i < table->natts; i++)
	{
		const CsvTableColumn *column = &table->columns[i];
		CsvFileColumn *file_column = &layout->columns[layout->ncolumns];

		if (!bms_is_member(column->attnum, wanted) || column->dropped ||
			column->generated)
			continue;
		if (column->virtual_kind != CSV_VIRTUAL_NONE)
		{
			layout->nvirtuals++;
			layout->wants_surplus |= column->virtual_kind == CSV_VIRTUAL_SURPLUS;
			layout->layout.want_positions |= !csv_is_of_file(column);
			continue;
		}
		file_column->column = column;
		csv_table_kind(column, &file_column->spec);
		file_column->hidden = bms_is_member(column->attnum, hidden);
		if (file_column->hidden || few_rows)
			prefer_decimal(&file_column->spec);
		file_column->kind = file_column->spec.kind;
		if (file_column->kind == CSV_KIND_CSTRING)
			layout->layout.want_positions = true;
		add_null_values(layout, layout->ncolumns);
		layout->ncolumns++;
	}
	return layout;
}

/* ---- the header ---- */

/*
 * Returns the name in a field of the header.  With header 'match', returns NULL if the
 * field reads as NULL.
 */
static char *
header_name(const CsvTable *table, const CsvDialect *dialect,
			const CsvRecord *header, uint32_t field)
{
	uint64_t	start = field == 0 ? 0 :
		header->separators[field - 1] + csv_delimiter_length(&dialect->opt);
	uint64_t	end = header->separators[field];
	char	   *name = palloc(end - start + 1);
	uint64_t	nbytes;
	bool		quoted;

	if (dialect->opt.trim)
		csv_trim(&dialect->opt, header->bytes, &start, &end);
	nbytes = csv_field_value(dialect, header->bytes + start, end - start,
							 (uint8_t *) name, end - start, &quoted);
	name[nbytes] = '\0';
	if (table->header_match && !quoted &&
		csv_bytes_equal(header->bytes + start, end - start,
						(const uint8_t *) table->null_string,
						strlen(table->null_string)))
		return NULL;
	return pg_any_to_server(name, (int) nbytes, table->encoding);
}

/* is the name in the table's definition, and not only in the file? */
static bool
is_declared(const CsvTable *table, const char *name)
{
	for (int i = 0; i < table->natts; i++)
		if (table->columns[i].header_name != NULL &&
			strcmp(table->columns[i].header_name, name) == 0)
			return true;
	return false;
}

/* is the name one of these values, which are in the file's encoding? */
static bool
is_any_value(const CsvTable *table, const List *values, const char *name)
{
	ListCell   *cell;

	foreach(cell, values)
		if (strcmp(pg_any_to_server(lfirst(cell), (int) strlen(lfirst(cell)),
									table->encoding), name) == 0)
			return true;
	return false;
}

/*
 * Is the name empty, or NULL in some column, and not the name of a declared column?
 * Such a field counts as nameless.
 */
static bool
is_no_name(const CsvTable *table, const char *name)
{
	bool		is_null = *name == '\0' || is_any_value(table, table->null_values, name) ||
		is_any_value(table, list_make1((char *) table->null_string), name);

	for (int i = 0; i < table->natts && !is_null; i++)
		is_null = is_any_value(table, table->columns[i].null_values, name);
	return is_null && !is_declared(table, name);
}

/* header 'match': each field's name must be its column's name, as in COPY */
static void
match_header(const CsvTable *table, const CsvRecord *header, char **names,
			 const char *filename)
{
	if (!table->nfields_from_header && header->nfields != table->nfields)
		ereport(ERROR,
				(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
				 errmsg("wrong number of fields in header line of \"%s\": got %u, expected %u",
						filename, header->nfields, table->nfields)));
	for (int i = 0; i < table->natts; i++)
	{
		const CsvTableColumn *column = &table->columns[i];

		if (column->field < 0 || (uint32_t) column->field >= header->nfields)
			continue;
		if (names[column->field] == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
					 errmsg("column name mismatch in header line field %d of \"%s\": got null value (\"%s\"), expected \"%s\"",
							column->field + 1, filename, table->null_string,
							column->name)));
		if (strcmp(names[column->field], column->name) != 0)
			ereport(ERROR,
					(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
					 errmsg("column name mismatch in header line field %d of \"%s\": %sexpected \"%s\"",
							column->field + 1, filename,
							csv_may_quote(table, column) ?
							psprintf("got \"%s\", ",
									 csv_visible_text(names[column->field],
													  strlen(names[column->field]), false)) : "",
							column->name)));
	}
}

/* a name that is not NULL, and the field's number */
typedef struct HeaderField
{
	const char *name;
	uint32_t	field;
} HeaderField;

static int
compare_names(const void *a, const void *b)
{
	return strcmp(((const HeaderField *) a)->name, ((const HeaderField *) b)->name);
}

static int
compare_fields(const void *a, const void *b)
{
	const HeaderField *left = a;
	const HeaderField *right = b;
	int			order = compare_names(left, right);

	if (order != 0)
		return order;
	return left->field < right->field ? -1 : 1;
}

/* the first field of this name, of fields in their order; NULL: there is none */
static const HeaderField *
find_name(const HeaderField *fields, uint32_t n, const char *name)
{
	HeaderField wanted = {.name = name};
	const HeaderField *found = bsearch(&wanted, fields, n, sizeof(HeaderField),
									   compare_names);

	while (found != NULL && found > fields && compare_names(found - 1, found) == 0)
		found--;
	return found;
}

static bool
has_another(const HeaderField *fields, uint32_t n, const HeaderField *found)
{
	return found + 1 < fields + n && compare_names(found, found + 1) == 0;
}

/* for messages about a column's field */
static int
detail_of_column(const CsvTable *table, const CsvTableColumn *column)
{
	return errdetail("Column \"%s\" of foreign table \"%s\" finds its field by that name.",
					 column->name, table->name);
}

/*
 * ERROR for two fields of one name.  Unless the table declares the name, shows only
 * the fields' numbers, because the user may not be allowed to see the file.
 */
static void
report_same_name(const CsvTable *table, const HeaderField *field,
				 const char *filename)
{
	ereport(ERROR,
			(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
			 is_declared(table, field->name) ?
			 errmsg("header of \"%s\" has more than one field \"%s\"",
					filename, field->name) :
			 errmsg("header of \"%s\" has one name in fields %u and %u",
					filename, field[0].field + 1, field[1].field + 1),
			 errdetail("Columns of foreign table \"%s\" find their fields by name.",
					   table->name)));
}

/* ERROR for a column whose field must be there, but is not */
static void
report_missing(const CsvTable *table, const CsvTableColumn *column,
			   char **names, uint32_t nnames, const char *filename)
{
	const char *similar = NULL;

	for (uint32_t i = 0; i < nnames; i++)
		if (names[i] != NULL && csv_may_quote(table, column) &&
			pg_strcasecmp(names[i], column->header_name) == 0)
			similar = names[i];
	ereport(ERROR,
			(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
			 errmsg("header of \"%s\" has no field \"%s\"",
					filename, column->header_name),
			 detail_of_column(table, column),
			 similar != NULL ?
			 errhint("It has \"%s\": case counts.",
					 csv_visible_text(similar, strlen(similar), false)) : 0));
}

/* lower case, by the database's collation */
static char *
fold_name(const char *name)
{
	return str_tolower(name, strlen(name), DEFAULT_COLLATION_OID);
}

/*
 * Finds the fields of columns that no name matches exactly: ignores case, among
 * the names that match no column of the table.  ERROR for fields whose names differ
 * only in case, which shows only their numbers, because the user may not be allowed
 * to see the file.
 */
static void
find_similar(CsvFileLayout *layout, const HeaderField *fields, uint32_t n,
			 const char *filename)
{
	HeaderField *folded = NULL;
	uint32_t	nfolded = 0;

	for (int i = 0; i < layout->ncolumns; i++)
	{
		CsvFileColumn *column = &layout->columns[i];
		const char *name = column->column->header_name;
		const HeaderField *found;

		if (column->spec.field != CSV_ABSENT_FIELD)
			continue;
		if (folded == NULL)
		{
			folded = palloc(sizeof(HeaderField) * n);
			for (uint32_t j = 0; j < n; j++)
			{
				CHECK_FOR_INTERRUPTS();
				if (!is_declared(layout->table, fields[j].name))
					folded[nfolded++] = (HeaderField) {fold_name(fields[j].name),
						fields[j].field};
			}
			qsort(folded, nfolded, sizeof(HeaderField), compare_fields);
		}
		found = find_name(folded, nfolded, fold_name(name));
		if (found == NULL)
			continue;
		if (has_another(folded, nfolded, found))
			ereport(ERROR,
					(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
					 errmsg("header of \"%s\" has no field \"%s\", but fields %u and %u differ from it in case only",
							filename, name, found[0].field + 1, found[1].field + 1),
					 detail_of_column(layout->table, column->column)));
		column->spec.field = found->field;
	}
}

/*
 * For a load: ERROR if the header has none of the table's columns, as with
 * another delimiter.  The rows would all be NULLs.
 */
static void
refuse_unknown(const CsvFileLayout *layout, const HeaderField *fields,
			   uint32_t n, const char *filename)
{
	const CsvTable *table = layout->table;
	bool		known = layout->ncolumns == 0;

	for (int i = 0; i < layout->ncolumns; i++)
		known |= layout->columns[i].spec.field != CSV_ABSENT_FIELD;
	for (int i = 0; i < table->natts && !known; i++)
	{
		const char *name = table->columns[i].header_name;

		for (uint32_t j = 0; name != NULL && j < n && !known; j++)
			known = strcmp(fold_name(fields[j].name), fold_name(name)) == 0;
	}
	if (!known)
		ereport(ERROR,
				(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
				 errmsg("header of \"%s\" has none of the columns of foreign table \"%s\"",
						filename, table->name),
				 errhint("Compare the option \"delimiter\" with the file.")));
}

/*
 * Finds the fields of columns that have a name, which the file may lack with by_name.
 * Whether a name counts as duplicate there does not depend on the columns that a query
 * wants.
 */
static void
find_by_name(CsvFileLayout *layout, char **names, uint32_t nnames,
			 const char *filename)
{
	const CsvTable *table = layout->table;
	HeaderField *fields = palloc(sizeof(HeaderField) * nnames);
	uint32_t	n = 0;

	for (uint32_t i = 0; i < nnames; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (names[i] != NULL)
			fields[n++] = (HeaderField) {names[i], i};
	}
	qsort(fields, n, sizeof(HeaderField), compare_fields);
	for (uint32_t i = 1; table->by_name && i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (compare_names(&fields[i - 1], &fields[i]) == 0 &&
			!is_no_name(table, fields[i].name))
			report_same_name(table, &fields[i - 1], filename);
	}
	for (int i = 0; i < layout->ncolumns; i++)
	{
		const CsvTableColumn *column = layout->columns[i].column;
		const HeaderField *found;

		if (column->header_name == NULL)
			continue;
		found = find_name(fields, n, column->header_name);
		if (found != NULL)
			layout->columns[i].spec.field = found->field;
		else if (!table->by_name)
			report_missing(table, column, names, nnames, filename);
		if (found != NULL && !table->by_name && has_another(fields, n, found))
			ereport(ERROR,
					(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
					 errmsg("header of \"%s\" has more than one field \"%s\"",
							filename, column->header_name),
					 detail_of_column(table, column)));
	}
	if (table->by_name)
		find_similar(layout, fields, n, filename);
	if (table->by_name && table->all_files)
		refuse_unknown(layout, fields, n, filename);
}

/* lays out columns by the header; returns the number of its fields */
static uint32_t
read_header(CsvFileLayout *layout, const CsvDialect *dialect,
			const CsvRecord *header, const char *filename)
{
	const CsvTable *table = layout->table;
	char	  **names;

	if (header->nfields > CSV_MAX_FIELDS)
		ereport(ERROR,
				(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
				 errmsg("header of \"%s\" has %u fields, which is more than %d",
						filename, header->nfields, CSV_MAX_FIELDS)));
	names = palloc(sizeof(char *) * header->nfields);
	for (uint32_t i = 0; i < header->nfields; i++)
		names[i] = header_name(table, dialect, header, i);
	if (table->header_match)
		match_header(table, header, names, filename);
	find_by_name(layout, names, header->nfields, filename);
	return header->nfields;
}

/*
 * Columns that are found by their numbers: ERROR if the header has just their
 * names, in whatever case, but in another order.
 */
static void
check_order(const CsvTable *table, const CsvDialect *dialect,
			const CsvRecord *header,
			const char *filename)
{
	const char **ours = palloc(sizeof(char *) * table->natts);
	const char **names = palloc(sizeof(char *) * table->natts);
	uint32_t	n = 0;
	bool		in_order = false;

	for (int i = 0; i < table->natts; i++)
		if (table->columns[i].field >= 0)
			ours[n++] = table->columns[i].name;

	/* names in another encoding are not known */
	if (n != header->nfields || (table->encoding != GetDatabaseEncoding() &&
								 GetDatabaseEncoding() != PG_UTF8) ||
		pg_encoding_verifymbstr(table->encoding, (const char *) header->bytes,
								(int) header->length) != (int) header->length)
		return;
	for (int folded = 0; folded < 2 && !in_order; folded++)
	{
		in_order = true;
		for (uint32_t i = 0; i < n; i++)
		{
			names[i] = folded ? fold_name(names[i]) :
				header_name(table, dialect, header, i);
			ours[i] = folded ? fold_name(ours[i]) : ours[i];
			in_order &= strcmp(names[i], ours[i]) == 0;
		}
	}
	if (in_order)
		return;
	qsort(names, n, sizeof(char *), pg_qsort_strcmp);
	qsort(ours, n, sizeof(char *), pg_qsort_strcmp);
	for (uint32_t i = 0; i < n; i++)
		if (strcmp(names[i], ours[i]) != 0)
			return;
	ereport(ERROR,
			(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
			 errmsg("header of \"%s\" has the names of the columns of foreign table \"%s\" in another order",
					filename, table->name),
			 errhint("ALTER FOREIGN TABLE ... OPTIONS (ADD by_name 'true') has columns found by the header's names.")));
}

/* ---- the layout ---- */

static int
compare_columns(const void *a, const void *b)
{
	const CsvColumn *left = &((const CsvFileColumn *) a)->spec;
	const CsvColumn *right = &((const CsvFileColumn *) b)->spec;

	if (left->field != right->field)
		return left->field < right->field ? -1 : 1;
	return left->attnum < right->attnum ? -1 : 1;
}

void
csv_file_layout_set(CsvFileLayout *file_layout, uint32_t nfields)
{
	const CsvTable *table = file_layout->table;
	CsvLayout  *layout = &file_layout->layout;

	qsort(file_layout->columns, file_layout->ncolumns, sizeof(CsvFileColumn),
		  compare_columns);
	for (int i = 0; i < file_layout->ncolumns; i++)
		file_layout->specs[i] = file_layout->columns[i].spec;

	layout->nfields = nfields;
	layout->pad = table->pad;
	layout->encoding = table->engine_encoding;
	layout->decimal_separator = (uint8_t) table->decimal_separator;
	layout->has_default = table->default_string != NULL;
	layout->bad_is_doubtful = table->set_null;
	layout->null_bytes = (const uint8_t *) table->null_string;
	layout->null_length = (uint32_t) strlen(table->null_string);
	layout->null_values = (const uint8_t *) file_layout->null_values.data;
	layout->null_values_length = (uint32_t) file_layout->null_values.len;
	if (table->default_string != NULL)
	{
		layout->default_bytes = (const uint8_t *) table->default_string;
		layout->default_length = (uint32_t) strlen(table->default_string);
	}
	layout->ncolumns = (uint32_t) file_layout->ncolumns;
	layout->columns = file_layout->specs;
}

void
csv_file_layout_read(CsvFileLayout *layout, CsvReader *reader,
					 const char *filename)
{
	const CsvTable *table = layout->table;
	uint32_t	nfields = table->nfields;
	bool		any_by_name = false;
	bool		has_header;
	CsvRecord	header;
	CsvDialect	dialect = *csv_reader_dialect(reader);
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "csv_gpu_fdw header",
												  ALLOCSET_SMALL_SIZES);
	MemoryContext outer = MemoryContextSwitchTo(context);

	for (int i = 0; i < table->natts; i++)
		any_by_name |= table->columns[i].header_name != NULL;

	/* the previous file may have been a kept one, or have had other fields */
	for (int i = 0; i < layout->ncolumns; i++)
	{
		CsvFileColumn *column = &layout->columns[i];

		column->spec.kind = column->kind;
		if (table->by_name)
			column->spec.field = CSV_ABSENT_FIELD;
	}

	has_header = csv_reader_header(reader, &header);
	if (has_header && header.lenient)
		dialect = csv_lenient_dialect(&dialect);
	if (has_header &&
		(table->header_match || any_by_name || table->nfields_from_header))
	{
		uint32_t	nnames = read_header(layout, &dialect, &header, filename);

		if (table->nfields_from_header)
			nfields = nnames;
	}
	else if (table->nfields_from_header)
		nfields = 1;			/* an empty file: it has no records */
	else if (has_header && OidIsValid(table->relid))
		check_order(table, &dialect, &header, filename);

	for (int i = 0; i < layout->ncolumns; i++)
	{
		uint32_t	field = layout->columns[i].spec.field;

		if (field < nfields || field == CSV_ABSENT_FIELD)
			continue;
		if (has_header)
			ereport(ERROR,
					(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
					 errmsg("header of \"%s\" has %u fields, but column \"%s\" of foreign table \"%s\" is field %u of the file",
							filename, nfields, layout->columns[i].column->name,
							table->name, field + 1)));
		nfields = field + 1;
	}
	csv_file_layout_set(layout, nfields);
	MemoryContextSwitchTo(outer);
	MemoryContextDelete(context);
}

/* does the header's name (and in lower case) equal the column's?  2: yes; 1: without case */
static int
fit_name(const char *const names[2], const char *name, const char *folded)
{
	return strcmp(names[0], name) == 0 ? 2 : strcmp(names[1], folded) == 0;
}

bool
csv_file_layout_names(const CsvFileLayout *layout, CsvReader *reader,
					  const char *filename)
{
	const CsvTable *table = layout->table;
	CsvDialect	dialect = *csv_reader_dialect(reader);
	CsvRecord	header = {0};
	const char *(*names)[2];	/* of each field: as they are, and in lower case */
	bool		found = false;

	(void) csv_reader_header(reader, &header);
	if (header.lenient)
		dialect = csv_lenient_dialect(&dialect);
	if (header.nfields != layout->layout.nfields)
		ereport(ERROR,
				(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
				 errmsg("header of \"%s\" has %u fields, but records of foreign table \"%s\" have %u",
						filename, header.nfields, table->name, layout->layout.nfields),
				 errhint("Set by_name 'true' if the header's names say where columns are, or correct the options \"delimiter\" and \"header\".")));
	/* names in another encoding are not known */
	if (pg_encoding_verifymbstr(table->encoding, (const char *) header.bytes,
								(int) header.length) != (int) header.length)
		return false;
	names = palloc0(sizeof(*names) * header.nfields);
	for (uint32_t i = 0; i < header.nfields; i++)
	{
		names[i][0] = header_name(table, &dialect, &header, i);
		names[i][1] = fold_name(names[i][0]);
	}
	for (int i = 0; i < layout->ncolumns; i++)
	{
		const CsvTableColumn *column = layout->columns[i].column;
		uint32_t	field = layout->columns[i].spec.field;
		const char *folded = fold_name(column->name);
		int			fit = column->header_name != NULL ? 2 :
			fit_name(names[field], column->name, folded);

		for (uint32_t j = 0; j < header.nfields && fit < 2; j++)
			if (fit_name(names[j], column->name, folded) > fit)
				ereport(ERROR,
						(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
						 errmsg("column \"%s\" of foreign table \"%s\" is field %u of \"%s\", but its name is in field %u of the header",
								column->name, table->name, field + 1, filename, j + 1),
						 errhint("With by_name 'true', rows go by the header's names.")));
		found |= fit > 0;
	}
	return found;
}

List *
csv_file_layout_more(const CsvFileLayout *layout, CsvReader *reader,
					 List *names)
{
	CsvDialect	dialect = *csv_reader_dialect(reader);
	const int	nbefore = list_length(names);
	Bitmapset  *found = NULL;
	CsvRecord	header;

	if (!csv_reader_header(reader, &header))
		return names;
	if (header.lenient)
		dialect = csv_lenient_dialect(&dialect);
	for (int i = 0; i < layout->ncolumns; i++)
		if (layout->columns[i].spec.field != CSV_ABSENT_FIELD)
			found = bms_add_member(found, (int) layout->columns[i].spec.field);
	for (uint32_t i = 0; i < header.nfields; i++)
	{
		char	   *name = header_name(layout->table, &dialect, &header, i);
		bool		is_new = !bms_is_member((int) i, found) &&
			!is_no_name(layout->table, name);

		for (int j = 0; j < nbefore && is_new; j++)
			is_new = strcmp(fold_name(name),
							fold_name(list_nth(names, j))) != 0;
		if (is_new)
			names = lappend(names, name);
	}
	return names;
}
