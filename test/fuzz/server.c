/*
 * server.c
 *		As much of the server as sniff.c and what it calls need, for the fuzzer.
 *
 * Each piece of memory is one of malloc's own, so that ASan knows where it ends;
 * the server's allocator rounds up, and puts pieces side by side.  Strings,
 * encodings and keywords are those of the server's libraries.  An ERROR leaves by
 * longjmp; one without an SQLSTATE is a bug.
 *
 * In place of a file there are the bytes that fuzz_sniff.c sets, and in place of
 * a scan by an engine one record after the other.
 */
#include "postgres.h"

#include "catalog/heap.h"
#include "catalog/namespace.h"
#include "commands/defrem.h"
#include "import/given.h"
#include "import/look.h"
#include "table/decompress.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "scan/scan.h"
#include "server.h"
#include "storage/fd.h"
#include "import/import.h"
#include "table/encoding.h"
#include "table/listing.h"
#include "table/release.h"
#include "table/source.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/formatting.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"

FuzzServer	fuzz_server;

/* ---- memory ---- */

typedef struct Chunk
{
	struct Chunk *next;
	struct Chunk **link;		/* what points to this */
	Size		nbytes;
	MemoryContext context;		/* last: the server's macros look for it here */
} Chunk;

typedef struct Context
{
	MemoryContextData data;
	Chunk	   *chunks;
} Context;

MemoryContext CurrentMemoryContext;

static Chunk *
chunk_of(const void *pointer)
{
	return (Chunk *) pointer - 1;
}

static void
link_chunk(Chunk *chunk)
{
	chunk->link = &((Context *) chunk->context)->chunks;
	chunk->next = *chunk->link;
	*chunk->link = chunk;
	if (chunk->next != NULL)
		chunk->next->link = &chunk->next;
}

static void
unlink_chunk(Chunk *chunk)
{
	*chunk->link = chunk->next;
	if (chunk->next != NULL)
		chunk->next->link = chunk->link;
}

void *
MemoryContextAlloc(MemoryContext context, Size nbytes)
{
	Chunk	   *chunk = malloc(sizeof(Chunk) + nbytes);

	if (chunk == NULL)
		abort();
	chunk->context = context;
	chunk->nbytes = nbytes;
	link_chunk(chunk);
	return chunk + 1;
}

void *
palloc(Size nbytes)
{
	return MemoryContextAlloc(CurrentMemoryContext, nbytes);
}

void *
palloc0(Size nbytes)
{
	return memset(palloc(nbytes), 0, nbytes);
}

void *
MemoryContextAllocExtended(MemoryContext context, Size nbytes, int flags)
{
	void	   *pointer = MemoryContextAlloc(context, nbytes);

	return (flags & MCXT_ALLOC_ZERO) != 0 ? memset(pointer, 0, nbytes) : pointer;
}

void *
palloc_extended(Size nbytes, int flags)
{
	return MemoryContextAllocExtended(CurrentMemoryContext, nbytes, flags);
}

void
pfree(void *pointer)
{
	unlink_chunk(chunk_of(pointer));
	free(chunk_of(pointer));
}

void *
repalloc(void *pointer, Size nbytes)
{
	void	   *moved = MemoryContextAlloc(chunk_of(pointer)->context, nbytes);

	memcpy(moved, pointer, Min(nbytes, chunk_of(pointer)->nbytes));
	pfree(pointer);
	return moved;
}

void *
repalloc_huge(void *pointer, Size nbytes)
{
	return repalloc(pointer, nbytes);
}

char *
MemoryContextStrdup(MemoryContext context, const char *string)
{
	Size		nbytes = strlen(string) + 1;

	return memcpy(MemoryContextAlloc(context, nbytes), string, nbytes);
}

char *
pstrdup(const char *string)
{
	return MemoryContextStrdup(CurrentMemoryContext, string);
}

char *
pnstrdup(const char *string, Size nbytes)
{
	char	   *copy;

	nbytes = strnlen(string, nbytes);
	copy = memcpy(palloc(nbytes + 1), string, nbytes);
	copy[nbytes] = '\0';
	return copy;
}

#if PG_VERSION_NUM >= 160000
MemoryContext
GetMemoryChunkContext(void *pointer)
{
	return chunk_of(pointer)->context;
}
#endif

MemoryContext
AllocSetContextCreateInternal(MemoryContext parent, const char *name,
							  Size minimum, Size initial, Size maximum)
{
	Context    *context = calloc(1, sizeof(Context));

	if (context == NULL)
		abort();
	context->data.name = name;
	context->data.parent = parent;
	if (parent != NULL)
	{
		context->data.nextchild = parent->firstchild;
		parent->firstchild = &context->data;
	}
	return &context->data;
}

void
MemoryContextReset(MemoryContext context)
{
	while (context->firstchild != NULL)
		MemoryContextDelete(context->firstchild);
	while (((Context *) context)->chunks != NULL)
		pfree(((Context *) context)->chunks + 1);
}

void
MemoryContextDelete(MemoryContext context)
{
	MemoryContextReset(context);
	if (context->parent != NULL)
	{
		MemoryContext *link = &context->parent->firstchild;

		while (*link != context)
			link = &(*link)->nextchild;
		*link = context->nextchild;
	}
	free(context);
}

/* ---- errors ---- */

volatile sig_atomic_t InterruptPending = false;
int			DateOrder = DATEORDER_MDY;
static bool has_sqlstate;

char *
GetConfigOptionByName(const char *name, const char **varname, bool missing_ok)
{
	return strcmp(name, "datestyle") == 0 ? "ISO, MDY" : "UTC";
}

void
ProcessInterrupts(void)
{
}

bool
csv_process_interrupts(void *arg)
{
	return false;
}

bool
errstart(int elevel, const char *domain)
{
	has_sqlstate = false;
	return elevel >= ERROR;
}

bool
errstart_cold(int elevel, const char *domain)
{
	return errstart(elevel, domain);
}

int
errcode(int sqlerrcode)
{
	has_sqlstate = true;
	return 0;
}

int
errmsg(const char *format,...)
{
	return 0;
}

int
errmsg_internal(const char *format,...)
{
	return 0;
}

int
errdetail(const char *format,...)
{
	return 0;
}

int
errdetail_internal(const char *format,...)
{
	return 0;
}

int
errhint(const char *format,...)
{
	return 0;
}

void
errfinish(const char *filename, int line, const char *function)
{
	if (!has_sqlstate)
		abort();
	longjmp(fuzz_server.error, 1);
}

/* ---- lists ---- */

static List *
make_list(const List *old, int length)
{
	List	   *list = palloc0(sizeof(List));

	list->type = T_List;
	list->length = list->max_length = length;
	list->elements = palloc(sizeof(ListCell) * length);
	if (old != NIL)
		memcpy(list->elements, old->elements, sizeof(ListCell) * old->length);
	return list;
}

List *
list_copy(const List *old)
{
	return old == NIL ? NIL : make_list(old, old->length);
}

List *
lappend(List *old, void *datum)
{
	List	   *list = make_list(old, list_length(old) + 1);

	list->elements[list->length - 1].ptr_value = datum;
	return list;
}

String *
makeString(char *string)
{
	String	   *node = palloc0(sizeof(String));

	node->type = T_String;
	node->sval = string;
	return node;
}

DefElem *
makeDefElem(char *name, Node *value, int location)
{
	DefElem    *def = palloc0(sizeof(DefElem));

	def->type = T_DefElem;
	def->defname = name;
	def->arg = value;
	return def;
}

/* ---- a hash table: HASH_STRINGS and HASH_ENTER only ---- */

struct HTAB
{
	List	   *entries;
	Size		key_bytes;
	Size		entry_bytes;
};

HTAB *
hash_create(const char *name, long nelements, const HASHCTL *control, int flags)
{
	HTAB	   *table = palloc0(sizeof(HTAB));

	table->key_bytes = control->keysize;
	table->entry_bytes = control->entrysize;
	return table;
}

void *
hash_search(HTAB *table, const void *key, HASHACTION action, bool *found)
{
	ListCell   *cell;
	List	   *old = table->entries;
	char	   *entry;

	/* as dynahash.c does: no longer key can be told from another */
	if (strlen(key) >= table->key_bytes)
		abort();
	*found = true;
	foreach(cell, old)
		if (strcmp(lfirst(cell), key) == 0)
			return lfirst(cell);
	*found = false;
	entry = palloc(table->entry_bytes);
	strcpy(entry, key);
	table->entries = lappend(old, entry);
	if (old != NIL)
	{
		pfree(old->elements);
		pfree(old);
	}
	return entry;
}

void
hash_destroy(HTAB *table)
{
	pfree(table);
}

/* ---- encodings and names ---- */

int
GetDatabaseEncoding(void)
{
	return fuzz_server.encoding;
}

const char *
pg_get_client_encoding_name(void)
{
	return "UTF8";
}

const char *
GetDatabaseEncodingName(void)
{
	return pg_encoding_to_char(fuzz_server.encoding);
}

int
pg_mblen(const char *string)
{
	return pg_encoding_mblen(fuzz_server.encoding, string);
}

/* nodes are strings, and lists of them */
bool
equal(const void *a, const void *b)
{
	const List *left = a;
	const List *right = b;

	if (a == NULL || b == NULL)
		return a == b;
	if (IsA(a, String))
		return strcmp(strVal(a), strVal(b)) == 0;
	if (list_length(left) != list_length(right))
		return false;
	for (int i = 0; i < list_length(left); i++)
		if (!equal(list_nth(left, i), list_nth(right, i)))
			return false;
	return true;
}

bool
list_member(const List *list, const void *node)
{
	for (int i = 0; i < list_length(list); i++)
		if (equal(list_nth(list, i), node))
			return true;
	return false;
}

List *
list_append_unique(List *list, void *node)
{
	return list_member(list, node) ? list : lappend(list, node);
}

List *
list_union(const List *a, const List *b)
{
	List	   *all = NIL;

	for (int i = 0; i < list_length(a) + list_length(b); i++)
		all = list_append_unique(all, i < list_length(a) ? list_nth(a, i) :
								 list_nth(b, i - list_length(a)));
	return all;
}

void *
copyObjectImpl(const void *node)
{
	List	   *copy = NIL;

	for (int i = 0; i < list_length((const List *) node); i++)
		copy = lappend(copy, makeString(pstrdup(strVal(list_nth(node, i)))));
	return copy;
}

char *
defGetString(DefElem *option)
{
	return strVal(option->arg);
}

char *
str_tolower(const char *text, size_t nbytes, Oid collation)
{
	char	   *lower = pnstrdup(text, nbytes);

	for (char *c = lower; *c != '\0'; c++)
		*c = (char) pg_ascii_tolower((unsigned char) *c);
	return lower;
}

const char *
quote_identifier(const char *name)
{
	return name;
}

void
MemoryContextRegisterResetCallback(MemoryContext context, MemoryContextCallback *callback)
{
}

Oid
csv_look_server(const char *function, const char *filename, const char *given, bool makes_table)
{
	return InvalidOid;
}

void
csv_fail_as_older(void)
{
	abort();
}

char *
quote_qualified_identifier(const char *schema, const char *name)
{
	return pstrdup(name);
}

void
csv_check_file(const CsvRights *rights, const char *name, int fd)
{
}

void
csv_give_types(CsvFindings *findings, const CsvImportOptions *import)
{
}

/* of names and delimiters, which need no E'' here */
char *
quote_literal_cstr(const char *string)
{
	StringInfoData quoted;

	initStringInfo(&quoted);
	appendStringInfoChar(&quoted, '\'');
	for (; *string != '\0'; string++)
	{
		if (*string == '\'')
			appendStringInfoChar(&quoted, '\'');
		appendStringInfoChar(&quoted, *string);
	}
	appendStringInfoChar(&quoted, '\'');
	return quoted.data;
}

int
pg_mbcliplen(const char *string, int nbytes, int limit)
{
	int			clipped = 0;

	while (clipped < nbytes && string[clipped] != '\0')
	{
		int			length = pg_encoding_mblen(fuzz_server.encoding,
											   string + clipped);

		if (clipped + length > limit)
			break;
		clipped += length;
	}
	return clipped;
}

int
pg_mbstrlen_with_len(const char *string, int nbytes)
{
	int			nchars = 0;

	while (nbytes > 0 && *string != '\0')
	{
		int			length = pg_encoding_mblen(fuzz_server.encoding, string);

		string += length;
		nbytes -= length;
		nchars++;
	}
	return nchars;
}

Oid
FindDefaultConversionProc(int32 from, int32 to)
{
	return from == PG_LATIN1 ? InvalidOid + 1 : InvalidOid;
}

/*
 * From LATIN1, to UTF8 as it is; else to as many bytes as a character may become,
 * and of some there is no equivalent.
 */
int
pg_do_encoding_conversion_buf(Oid proc, int from, int to, unsigned char *source,
							  int nbytes, unsigned char *target,
							  int room, bool no_error)
{
	int			done;

	for (done = 0; done < nbytes && source[done] != 0 &&
		 room > MAX_CONVERSION_GROWTH; done++)
	{
		int			length = 1;

		if (!IS_HIGHBIT_SET(source[done]))
			*target = source[done];
		else if (to == PG_UTF8)
		{
			length = 2;
			target[0] = 0xc0 | source[done] >> 6;
			target[1] = 0x80 | (source[done] & 0x3f);
		}
		else if (source[done] < 0xc0)
			break;
		else
		{
			length = MAX_CONVERSION_GROWTH;
			memset(target, 0xa4, length);
		}
		target += length;
		room -= length;
	}
	*target = '\0';
	return done;
}

const FormData_pg_attribute *
SystemAttributeByName(const char *name)
{
	static const FormData_pg_attribute attribute;

	return strcmp(name, "ctid") == 0 || strcmp(name, "xmin") == 0 ||
		strcmp(name, "tableoid") == 0 ? &attribute : NULL;
}

/* ---- the SQL function's call and result ---- */

char *
format_type_with_typemod(Oid type, int32 typmod)
{
	return psprintf("type %u(%d)", type, typmod);
}

char *
format_type_be(Oid type)
{
	return format_type_with_typemod(type, -1);
}

const char *
csv_boundary_name(CsvBoundary boundary)
{
	static const char *const names[] = {"auto", "lf", "crlf", "cr"};

	return names[boundary];
}

void
csv_import_options(List *options, CsvImportOptions *import)
{
	memset(import, 0, sizeof(*import));
	import->sample_records = -1;
	import->table_options = fuzz_server.options;
}

text *
cstring_to_text_with_len(const char *string, int nbytes)
{
	text	   *result = palloc(VARHDRSZ + nbytes);

	SET_VARSIZE(result, VARHDRSZ + nbytes);
	memcpy(VARDATA(result), string, nbytes);
	return result;
}

text *
cstring_to_text(const char *string)
{
	return cstring_to_text_with_len(string, (int) strlen(string));
}

/* the words of an option; no test looks at the text */
ArrayType *
construct_array(Datum *elements, int n, Oid type, int length, bool by_value, char align)
{
	return palloc0(sizeof(ArrayType));
}

char *
OidOutputFunctionCall(Oid function, Datum value)
{
	return pstrdup("{}");
}

char *
text_to_cstring(const text *t)
{
	return pnstrdup(VARDATA_ANY(t), VARSIZE_ANY_EXHDR(t));
}

struct varlena *
pg_detoast_datum_packed(struct varlena *datum)
{
	return datum;
}

void
csv_begin_function(FunctionCallInfo fcinfo, const char *declared)
{
}

AttInMetadata *
TupleDescGetAttInMetadata(TupleDesc tupdesc)
{
	return NULL;
}

HeapTuple
BuildTupleFromCStrings(AttInMetadata *input, char **values)
{
	fuzz_check_row(values);
	return NULL;
}

void
tuplestore_puttuple(Tuplestorestate *store, HeapTuple tuple)
{
}

/* ---- the table, and its file ---- */

static uint8_t
option_character(const DefElem *def)
{
	return (uint8_t) strVal(def->arg)[0];
}

CsvTable *
csv_table_make(Oid server, List *options)
{
	CsvTable   *table = palloc0(sizeof(CsvTable));
	CsvDialectOptions *dialect = &table->reader.dialect;
	ListCell   *cell;

	dialect->delimiter = ',';
	dialect->quote = '"';
	dialect->boundary = CSV_BOUNDARY_AUTO;
	dialect->multiline = true;
	table->reader.max_record_bytes = 16 * 1024 * 1024;
	table->null_string = "";
	table->decimal_separator = '.';
	table->encoding = fuzz_server.file_encoding;
	foreach(cell, options)
	{
		DefElem    *def = lfirst(cell);

		if (strcmp(def->defname, "filename") == 0)
			table->filename = table->name = strVal(def->arg);
		else if (strcmp(def->defname, "encoding") == 0)
			table->encoding = PG_UTF8;
		else if (strcmp(def->defname, "null") == 0)
			table->null_string = strVal(def->arg);
		else if (strcmp(def->defname, "delimiter") == 0)
		{
			table->delimiter = strVal(def->arg);
			dialect->delimiter = option_character(def);
		}
		else if (strcmp(def->defname, "quote") == 0)
			dialect->quote = option_character(def);
		else if (strcmp(def->defname, "escape") == 0)
			dialect->escape = option_character(def);
		else if (strcmp(def->defname, "quoting") == 0)
			dialect->lenient = true;
		else if (strcmp(def->defname, "header_rows") == 0)
			table->reader.header_rows = option_character(def) - '0';
	}
	table->file_encoding = table->encoding;
	return table;
}

void
csv_table_set_fields(CsvTable *table, uint32 nfields)
{
	table->nfields = nfields;
	table->natts = (int) nfields;
	table->columns = palloc0(sizeof(CsvTableColumn) * nfields);
	table->reader.dialect.blank_is_record = nfields == 1;
}

Bitmapset *
csv_table_attributes(const CsvTable *table)
{
	return NULL;
}

struct CsvSource
{
	const char *name;
	size_t		position;
	bool		opened;
};

CsvSource *
csv_source_create(const CsvTable *table)
{
	CsvSource  *source = palloc0(sizeof(CsvSource));

	source->name = table->filename;
	return source;
}

bool
csv_source_open_next(CsvSource *source, bool *gone)
{
	bool		first = !source->opened;

	source->opened = true;
	return first;
}

bool
csv_source_open(CsvSource *source, int number, const CsvFileIdentity *as)
{
	source->opened = true;
	source->position = 0;
	return true;
}

void
csv_source_files(const CsvTable *table, char ***names, int *nnames)
{
	*names = palloc(sizeof(char *));
	(*names)[0] = table->filename;
	*nnames = 1;
}

void
csv_source_names(const CsvSource *source, char ***names, int *nnames)
{
	*names = palloc(sizeof(char *));
	(*names)[0] = pstrdup(csv_source_name(source));
	*nnames = 1;
}

int
csv_source_number(const CsvSource *source)
{
	return 0;
}

const char *
csv_source_name(const CsvSource *source)
{
	return source->name;
}

/* half of the inputs count as a pattern's only file */
bool
csv_is_pattern(const CsvTable *table)
{
	return fuzz_server.nbytes % 2 == 1;
}

bool
csv_source_is_regular(const CsvSource *source)
{
	return true;
}

size_t
csv_source_read(void *arg, uint8_t *buffer, size_t nbytes)
{
	CsvSource  *source = arg;

	nbytes = Min(nbytes, fuzz_server.nbytes - source->position);
	memcpy(buffer, fuzz_server.bytes + source->position, nbytes);
	source->position += nbytes;
	return nbytes;
}

/* as a stream */
bool
csv_source_read_ahead(CsvSource *source, CsvReadAhead *ahead)
{
	return false;
}

/* no file can be opened: its mark is not known */
int
OpenTransientFile(const char *name, int flags)
{
	return -1;
}

int
CloseTransientFile(int fd)
{
	return 0;
}

CsvUtf16
csv_source_found_utf16(const CsvSource *source)
{
	/* which the source would have converted */
	return fuzz_server.nbytes >= 2 &&
		memcmp(fuzz_server.bytes, "\xff\xfe", 2) == 0 ? CSV_UTF16_LITTLE : CSV_UTF16_NO;
}

void
csv_source_close(CsvSource *source)
{
}

size_t
csv_name_without_compression(const char *filename, bool is_read)
{
	return strlen(filename);
}

/* ---- the scan ---- */

typedef struct FuzzScan
{
	CsvTableScan scan;			/* for callers; only its table and batches are set */
	CsvBatches	batches;		/* never a batch */
	CsvDialect	dialect;
	CsvScan		record;
	MemoryContext values;		/* of one record */
	CsvSkippedFn skipped;
	void	   *arg;
} FuzzScan;

static void *
scan_alloc(void *owner, size_t nbytes)
{
	return palloc(nbytes);
}

static void
scan_free(void *owner, void *memory)
{
	pfree(memory);
}

static const CsvMemory scan_memory = {scan_alloc, scan_free, NULL};

/* the next record; false if there is none */
static bool
next_record(FuzzScan *scan)
{
	csv_scan_record(&scan->record, &scan_memory, &scan->dialect, CSV_NORMAL,
					fuzz_server.bytes, scan->record.next, fuzz_server.nbytes,
					true);
	return scan->record.complete && scan->record.is_record;
}

CsvTableScan *
csv_table_scan_begin(const CsvTable *table, const Bitmapset *wanted,
					 const CsvPushdown *pushdown, int flags,
					 CsvSkippedFn skipped, void *arg)
{
	FuzzScan   *scan = palloc0(sizeof(FuzzScan));

	scan->scan.table = table;
	scan->scan.batches = &scan->batches;
	scan->scan.at = &scan->batches.at;
	scan->batches.at.filename = table->filename;
	scan->batches.at.batch.row_lines = palloc0(sizeof(uint32_t));
	scan->skipped = skipped;
	scan->arg = arg;
	scan->values = AllocSetContextCreate(CurrentMemoryContext, "values",
										 ALLOCSET_DEFAULT_SIZES);
	csv_dialect_compile(&scan->dialect, &table->reader.dialect);
	if (fuzz_server.nbytes >= 3 &&
		memcmp(fuzz_server.bytes, "\xef\xbb\xbf", 3) == 0)
		scan->record.next = 3;
	for (uint32 i = 0; i < table->reader.header_rows; i++)
		(void) next_record(scan);
	return &scan->scan;
}

/* a field as a text; false if it is no valid one */
static bool
text_value(FuzzScan *scan, uint32 field, Datum *value)
{
	CsvSpan		span = csv_scan_field(&scan->record, &scan->dialect,
									  fuzz_server.bytes, fuzz_server.nbytes,
									  field);
	text	   *result = palloc(VARHDRSZ + span.length);
	bool		quoted;
	int			nbytes = (int) csv_field_value(&scan->dialect,
											   fuzz_server.bytes + span.offset,
											   span.length,
											   (uint8_t *) VARDATA(result),
											   span.length, &quoted);

	/* one that ends where its memory does */
	result = repalloc(result, VARHDRSZ + nbytes);
	SET_VARSIZE(result, VARHDRSZ + nbytes);
	*value = PointerGetDatum(result);
	return memchr(VARDATA(result), '\0', nbytes) == NULL &&
		pg_encoding_verifymbstr(fuzz_server.encoding, VARDATA(result),
								nbytes) == nbytes;
}

bool
csv_table_scan_next(CsvTableScan *of, Datum *values, bool *isnull)
{
	FuzzScan   *scan = (FuzzScan *) of;

	while (next_record(scan))
	{
		CsvSkipped	skipped = {
			.file = of->table->filename, .record = 1, .message = "invalid",
			.code = CSV_ERROR_INVALID_UTF8
		};
		MemoryContext outer = MemoryContextSwitchTo(scan->values);
		bool		valid = !scan->record.bad &&
			scan->record.nfields == of->table->nfields;

		MemoryContextReset(scan->values);
		for (uint32 i = 0; valid && i < of->table->nfields; i++)
		{
			valid = text_value(scan, i, &values[i]);
			isnull[i] = valid &&
				VARSIZE(DatumGetPointer(values[i])) == VARHDRSZ &&
				i % 2 == 0;
		}
		MemoryContextSwitchTo(outer);
		if (valid)
			return true;
		(void) scan->skipped(scan->arg, &skipped);
	}
	return false;
}

void
csv_table_scan_end(CsvTableScan *scan)
{
	MemoryContextDelete(((FuzzScan *) scan)->values);
}

/* a record at a time, and never a run, nor a batch that a thread has seen */
bool
csv_table_scan_run(CsvTableScan *scan, struct CsvRowRun *run)
{
	return false;
}

void
csv_batches_watch(CsvBatches *batches, const CsvBatchHook *hook)
{
}
