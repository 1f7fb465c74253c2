/*
 * value.c
 *		Calls input functions, after checks of encoding and limits.
 *
 * If an input function refuses a value, the record is bad, but the scan must not end.
 * There are two ways to survive the function's ERROR.  A built-in function that does
 * nothing but compute can be left by longjmp, as PG_TRY does.  Any other function (it
 * may run SQL, hold locks or pins) needs a subtransaction.
 *
 * Before 17 there are no subtransactions while a query has parallel workers.  Planning
 * avoids such queries where it can (scan_path.c).  Where it cannot, a function of the
 * second kind is called without a subtransaction, and a refusal ends the scan.
 */
#include "postgres.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/partition.h"
#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/rls.h"

#include "compat.h"
#include "reader/field.h"
#include "scan/value.h"
#include "table/option.h"
#include "table/text.h"

#if PG_VERSION_NUM >= 160000
#include "nodes/miscnodes.h"
#include "commands/defrem.h"
#include "rewrite/rewriteHandler.h"
#include "executor/executor.h"
#endif

/* input functions that hold nothing but memory when they refuse a value */
static const Oid pure_functions[] = {
	F_BOOLIN, F_INT2IN, F_INT4IN, F_INT8IN, F_FLOAT4IN, F_FLOAT8IN,
	F_NUMERIC_IN, F_CASH_IN, F_DATE_IN, F_TIME_IN, F_TIMETZ_IN,
	F_TIMESTAMP_IN, F_TIMESTAMPTZ_IN, F_INTERVAL_IN, F_UUID_IN, F_TEXTIN,
	F_VARCHARIN, F_BPCHARIN, F_CHARIN, F_NAMEIN, F_BYTEAIN, F_OIDIN,
	F_JSON_IN, F_JSONB_IN, F_INET_IN, F_CIDR_IN, F_MACADDR_IN,
	F_MACADDR8_IN, F_BIT_IN, F_VARBIT_IN, F_POINT_IN, F_LSEG_IN, F_PATH_IN,
	F_BOX_IN, F_POLY_IN, F_LINE_IN, F_CIRCLE_IN, F_TSVECTORIN,
	F_TSQUERYIN, F_PG_LSN_IN, F_TIDIN, F_XIDIN, F_CIDIN, F_ENUM_IN
};

bool
csv_is_pure_input(Oid type)
{
	Oid			function;
	Oid			ioparam;

	getTypeInputInfo(type, &function, &ioparam);
	if (function == F_ARRAY_IN && OidIsValid(get_element_type(type)))
		return csv_is_pure_input(get_element_type(type));
	for (int i = 0; i < lengthof(pure_functions); i++)
		if (pure_functions[i] == function)
			return true;
	return false;
}

void
csv_value_init(CsvValueInput *input, const CsvTable *table,
			   const CsvTableColumn *column, MemoryContext context)
{
	Oid			function;
	Oid			type = column->type;
	Oid			base = getBaseType(type);

	memset(input, 0, sizeof(*input));
	input->table = table;
	input->column = column;
	input->typmod = column->typmod;
	input->has_forms = table->timezone != NULL || table->date_order >= 0;
	csv_table_kind(column, &input->spec);

	/* checks of a domain see the session's settings */
	if (input->has_forms && base != type && csv_is_pure_input(base))
	{
		input->checks_domain = true;
		type = getBaseTypeAndTypmod(type, &input->typmod);
	}
	getTypeInputInfo(type, &function, &input->ioparam);
	fmgr_info_cxt(function, &input->function, context);
	input->is_strict = input->function.fn_strict && !input->checks_domain;
	input->pure = csv_is_pure_input(column->type);
	input->calls_others = !input->pure && !input->checks_domain;
	input->comma_decimal = table->decimal_separator == ',' &&
		(column->type == NUMERICOID || column->type == FLOAT4OID ||
		 column->type == FLOAT8OID);
	input->has_thousands = table->thousands_separator != NULL &&
		csv_table_is_number(column->type);
}

/* ---- calling input functions ---- */

bool
csv_is_about_value(int sqlerrcode, bool pure)
{
	/* elog()'s code, with which extensions refuse values */
	if (sqlerrcode == ERRCODE_INTERNAL_ERROR)
		return !pure;

	/* lock_timeout; and enum_in() holds a cache entry there */
	if (sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE ||
		sqlerrcode == ERRCODE_UNSAFE_NEW_ENUM_VALUE_USAGE)
		return false;

	switch (ERRCODE_TO_CATEGORY(sqlerrcode))
	{
		case ERRCODE_OPERATOR_INTERVENTION:
		case ERRCODE_INSUFFICIENT_RESOURCES:
		case ERRCODE_SYSTEM_ERROR:
		case ERRCODE_INTERNAL_ERROR:
		case ERRCODE_TRANSACTION_ROLLBACK:
			return false;
		default:
			return true;
	}
}

static void
refuse(CsvValueError *error, int sqlerrcode, const char *message)
{
	error->code = CSV_ERROR_BAD_VALUE;
	error->sqlerrcode = sqlerrcode;
	error->message = pstrdup(message);
}

/* the message in place of words that may quote the value */
static char *
without_value(const CsvValueInput *input)
{
	return psprintf("invalid value for type %s",
					format_type_be(input->column->type));
}

/*
 * Refuse a value in the input function's words, if the user may see them.  detail may
 * be NULL.
 */
static void
refuse_value(const CsvValueInput *input, CsvValueError *error, int sqlerrcode,
			 const char *message, const char *detail)
{
	bool		may_quote = csv_may_quote(input->table, input->column);

	refuse(error, sqlerrcode, may_quote ? message : without_value(input));
	error->detail = may_quote && detail != NULL ? pstrdup(detail) : NULL;
}

/*
 * Raise an input function's ERROR that ends the scan.  If it is not about the value,
 * it is raised as it is.
 */
static void
rethrow(const CsvValueInput *input, ErrorData *edata)
{
	bool		has_value = csv_is_about_value(edata->sqlerrcode, false) ||
		edata->sqlerrcode == ERRCODE_UNSAFE_NEW_ENUM_VALUE_USAGE ||
		ERRCODE_TO_CATEGORY(edata->sqlerrcode) == ERRCODE_INTERNAL_ERROR;

	/* a new ERROR, because the old CONTEXT may quote the value, too */
	if (has_value && !csv_may_quote(input->table, input->column))
		ereport(ERROR,
				(errcode(edata->sqlerrcode),
				 errmsg("column \"%s\": %s", input->column->name,
						without_value(input))));
	ReThrowError(edata);
}

/* a call of an input function, or of the functions that read dates by a pattern */
typedef struct InputCall
{
	CsvValueInput *input;
	char	   *string;
	Datum	   *value;
	CsvValueError *error;
	pg_tz	   *timezone;		/* of the session */
	int			date_order;
} InputCall;

static void
set_forms(pg_tz *timezone, int date_order)
{
	if (session_timezone != timezone)
		assign_timezone(NULL, &timezone);
	DateOrder = date_order;
}

void
csv_set_in_level(const char *name, const char *value)
{
	(void) set_config_option(name, value, PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true,
							 0, false);
}

/*
 * The table's time zone and order of dates go into the session's variables for functions
 * that call no others, because to change the settings takes longer than most of them.
 * For other functions, which may change settings themselves, they are settings in the GUC
 * nesting level that is returned.
 */
static int
begin_forms(const CsvValueInput *input)
{
	static const char *const orders[] = {
		[DATEORDER_YMD] = "YMD", [DATEORDER_DMY] = "DMY", [DATEORDER_MDY] = "MDY"
	};
	const CsvTable *table = input->table;
	int			level;

	if (!input->has_forms)
		return 0;
	if (!input->calls_others)
	{
		set_forms(table->timezone != NULL ? table->timezone : session_timezone,
				  table->date_order >= 0 ? table->date_order : DateOrder);
		return 0;
	}
	level = NewGUCNestLevel();
	if (table->timezone != NULL)
		csv_set_in_level("timezone", pg_get_timezone_name(table->timezone));
	if (table->date_order >= 0)
		csv_set_in_level("datestyle", orders[table->date_order]);
	return level;
}

/* for csv_attempt() */
static bool
call_input(void *arg)
{
	const InputCall *call = arg;
	CsvValueInput *input = call->input;
	const CsvTableColumn *column = input->column;

	if (call->string != NULL && column->pattern != NULL)
		*call->value = csv_date_by_pattern(column->pattern, column->type,
										   column->typmod, call->string);
	else
	{
#if PG_VERSION_NUM >= 160000
		ErrorSaveContext escontext = {
			.type = T_ErrorSaveContext,
			.details_wanted = true
		};

		if (!InputFunctionCallSafe(&input->function, call->string, input->ioparam,
								   input->typmod, (Node *) &escontext,
								   call->value))
			refuse_value(input, call->error, escontext.error_data->sqlerrcode,
						 escontext.error_data->message,
						 escontext.error_data->detail);
		call->error->is_soft = escontext.error_occurred;
#else
		*call->value = InputFunctionCall(&input->function, call->string,
										 input->ioparam, input->typmod);
#endif
	}
	if (input->checks_domain && call->error->code == CSV_ERROR_NONE)
	{
		set_forms(call->timezone, call->date_order);
		domain_check(*call->value, call->string == NULL, column->type, &input->domain,
					 input->function.fn_mcxt);
	}
	return true;
}

bool
csv_may_open_subtransaction(void)
{
	return CSV_HAVE_PARALLEL_SUBTRANSACTIONS || !IsInParallelMode();
}

ErrorData *
csv_attempt(bool (*work) (void *arg), void *arg, MemoryContext context, bool inside)
{
	MemoryContext outer = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	ErrorData  *volatile error = NULL;

	if (inside)
		BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		bool		good = work(arg);

		if (inside && good)
			ReleaseCurrentSubTransaction();
		else if (inside)
			RollbackAndReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(outer);
		error = CopyErrorData();
		FlushErrorState();
		if (inside)
			RollbackAndReleaseCurrentSubTransaction();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(outer);
	CurrentResourceOwner = owner;
	return error;
}

/*
 * Call the input function so that its ERROR can be survived: in a subtransaction, if
 * it needs that.  If there can be no subtransaction, the ERROR says so.
 */
static void
try_input(CsvValueInput *input, char *string, Datum *value,
		  CsvValueError *error)
{
	InputCall	call = {input, string, value, error, session_timezone, DateOrder};
	bool		inside = !input->pure && csv_may_open_subtransaction();
	int			level = begin_forms(input);
	ErrorData  *edata = csv_attempt(call_input, &call, CurrentMemoryContext, inside);

	if (level > 0)
		AtEOXact_GUC(true, level);
	else
		set_forms(call.timezone, call.date_order);
	if (edata == NULL)
		return;
	if (!csv_is_about_value(edata->sqlerrcode, input->pure))
		rethrow(input, edata);
	if (!input->pure && !inside)
	{
		if (edata->hint == NULL)
			edata->hint = psprintf("Before PostgreSQL 17, a query with parallel workers cannot skip a record for a value of type %s. Set max_parallel_workers_per_gather to 0.",
								   format_type_be(input->column->type));
		rethrow(input, edata);
	}
	refuse_value(input, error, edata->sqlerrcode, edata->message, edata->detail);
}

/* refuse a text that is not a number, in its input function's words; returns false */
static bool
refuse_syntax(const CsvValueInput *input, CsvValueError *error, const char *text)
{
	refuse_value(input, error, ERRCODE_INVALID_TEXT_REPRESENTATION,
				 psprintf("invalid input syntax for type %s: \"%s\"",
						  format_type_be(input->column->type), text), NULL);
	return false;
}

bool
csv_value_from_cstring(CsvValueInput *input, char *string, Datum *value,
					   CsvValueError *error)
{
	const char *original = string;

	memset(error, 0, sizeof(*error));
	error->value = string;
	if (string != NULL && input->has_thousands)
	{
		string = csv_without_thousands(string, input->table->thousands_separator);
		if (string == NULL)
			return refuse_syntax(input, error, original);
	}
	if (string != NULL && input->comma_decimal)
	{
		/* a point would pass for the decimal one, once the commas are points */
		if (strchr(string, '.') != NULL)
			return refuse_syntax(input, error, original);
		string = pstrdup(string);
		for (char *c = string; *c != '\0'; c++)
			if (*c == ',')
				*c = '.';
	}

	try_input(input, string, value, error);
	if (error->code == CSV_ERROR_BAD_VALUE && string != original &&
		error->sqlerrcode == ERRCODE_INVALID_TEXT_REPRESENTATION)
		(void) refuse_syntax(input, error, original);
	return error->code == CSV_ERROR_NONE;
}

bool
csv_value_null(CsvValueInput *input, Datum *value, CsvValueError *error)
{
	*value = (Datum) 0;
	return input->is_strict ||
		csv_value_from_cstring(input, NULL, value, error);
}

/* ---- encoding ---- */

#define INVALID_FOR	"an invalid byte sequence for"

/* the bytes of an invalid sequence, as PostgreSQL shows them: 0xc3 0x28 */
static char *
invalid_bytes(int encoding, const uint8_t *bytes, uint64_t length)
{
	int			nbytes = pg_encoding_mblen(encoding, (const char *) bytes);
	StringInfoData text;

	if (nbytes > 8)
		nbytes = 8;
	if ((uint64_t) nbytes > length)
		nbytes = (int) length;
	initStringInfo(&text);
	for (int i = 0; i < nbytes; i++)
		appendStringInfo(&text, i == 0 ? "0x%02x" : " 0x%02x", bytes[i]);
	return text.data;
}

/*
 * Fill in an error of invalid bytes.  `what` tells how they relate to encoding
 * `as_to`: they are not a character of it, or a character of another encoding without
 * equivalent in it.
 */
static void
set_invalid(const CsvValueInput *input, const char *what, int as_to,
			int encoding, const uint8_t *bytes, uint64_t length,
			CsvValueError *error)
{
	error->code = CSV_ERROR_INVALID_UTF8;
	error->message = psprintf("%s encoding \"%s\"", what,
							  pg_encoding_to_char(as_to));
	if (csv_may_quote(input->table, input->column))
		error->message = psprintf("%s: %s", error->message,
								  invalid_bytes(encoding, bytes, length));
}

/*
 * Verify the text and convert it to the server's encoding.  *text and *nbytes
 * are replaced.
 */
static bool
to_server_encoding(CsvValueInput *input, char **text, uint64_t *nbytes,
				   CsvValueError *error)
{
	int			from = input->table->encoding;
	int			to = GetDatabaseEncoding();
	int			length = (int) *nbytes;
	int			done;
	Size		space;
	char	   *converted;

	if (to == PG_SQL_ASCII)
	{
		/* the server takes any bytes; if the file has an encoding, that is checked */
		from = from == PG_SQL_ASCII ? to : from;
		to = from;
	}
	else if (from == PG_SQL_ASCII)
		from = to;

	done = pg_encoding_verifymbstr(from, *text, length);
	if (done < length)
	{
		set_invalid(input, INVALID_FOR, from, from,
					(uint8_t *) *text + done, length - done, error);
		return false;
	}
	if (from == to)
		return true;

	/* pg_do_encoding_conversion_buf() would look up the function for every string */
	if (!OidIsValid(input->conversion.fn_oid))
		fmgr_info_cxt(csv_find_conversion(from, to), &input->conversion,
					  input->function.fn_mcxt);
	space = (Size) length * MAX_CONVERSION_GROWTH + 1;
	converted = MemoryContextAllocHuge(CurrentMemoryContext, space);
	done = DatumGetInt32(FunctionCall6(&input->conversion,
									   Int32GetDatum(from), Int32GetDatum(to),
									   CStringGetDatum(*text),
									   CStringGetDatum(converted),
									   Int32GetDatum(length),
									   BoolGetDatum(true)));
	if (done < length)
	{
		set_invalid(input, "a character without equivalent in", to, from,
					(uint8_t *) *text + done, length - done, error);
		return false;
	}
	*text = converted;
	*nbytes = strlen(converted);
	return true;
}

/* ---- limits ---- */

/* are all characters beyond the first nchars blanks? */
static bool
blank_beyond(const char *text, uint64_t nbytes, int nchars)
{
	uint64_t	kept = pg_mbcharcliplen(text, (int) nbytes, nchars);

	while (kept < nbytes && text[kept] == ' ')
		kept++;
	return kept == nbytes;
}

static bool
check_limits(const CsvValueInput *input, const char *text, uint64_t nbytes,
			 CsvValueError *error)
{
	const CsvColumn *spec = &input->spec;
	int64		most = spec->max_chars >= 0 ? spec->max_chars : spec->type_chars;

	/* there are no more characters than bytes */
	if (most >= 0 && nbytes > (uint64_t) most)
	{
		int64		nchars = pg_mbstrlen_with_len(text, (int) nbytes);
		bool		too_long = false;

		if (spec->max_chars >= 0)
		{
			error->limit = spec->max_chars;
			too_long = nchars > spec->max_chars;
		}
		else if (nchars > spec->type_chars)
		{
			error->limit = spec->type_chars;
			too_long = !blank_beyond(text, nbytes, spec->type_chars);
			error->is_soft = true;
			error->value = text;
		}
		if (too_long)
		{
			error->code = CSV_ERROR_TOO_MANY_CHARS;
			error->count = nchars;
			return false;
		}
	}
	if (spec->byte_width >= 0 && nbytes > (uint64_t) spec->byte_width)
	{
		error->code = CSV_ERROR_TOO_MANY_BYTES;
		error->count = (int64) nbytes;
		error->limit = spec->byte_width;
		return false;
	}
	return true;
}

/* ---- from a field to a datum ---- */

/*
 * The value of a field: unquoted, NUL-terminated, in the field's encoding.
 */
static char *
field_text(const CsvDialect *dialect, const uint8_t *field, uint64_t length,
		   uint64_t *nbytes, bool *quoted)
{
	char	   *text = MemoryContextAllocHuge(CurrentMemoryContext, length + 1);

	*nbytes = csv_field_value(dialect, field, length, (uint8_t *) text, length,
							  quoted);
	text[*nbytes] = '\0';
	return text;
}

#if PG_VERSION_NUM >= 160000
/*
 * Evaluate the column's default expression.  Returns false if it has none, which is an
 * error as in COPY.
 */
static bool
default_value(const CsvValueInput *input, Datum *value, bool *isnull,
			  CsvValueError *error)
{
	Relation	relation = table_open(input->table->relid, NoLock);
	Node	   *expression = build_column_default(relation,
												  input->column->attnum);

	if (expression == NULL)
		refuse(error, ERRCODE_BAD_COPY_FILE_FORMAT,
			   "unexpected default marker, for there is no default");
	else
	{
		EState	   *estate = CreateExecutorState();
		ExprState  *state = ExecPrepareExpr((Expr *) expression, estate);
		int16		typlen;
		bool		typbyval;

		*value = ExecEvalExprSwitchContext(state,
										   GetPerTupleExprContext(estate),
										   isnull);
		get_typlenbyval(input->column->type, &typlen, &typbyval);
		if (!*isnull)
			*value = datumCopy(*value, typbyval, typlen);
		FreeExecutorState(estate);
	}
	table_close(relation, NoLock);
	return expression != NULL;
}
#endif

bool
csv_value_beyond(CsvValueError *error, const char *message)
{
	refuse(error, ERRCODE_PROGRAM_LIMIT_EXCEEDED, message);
	return false;
}

/*
 * The value of a field of the text format, in the server's encoding.  As in COPY, the
 * field is converted before escapes are replaced: escapes stand for bytes of the
 * server's encoding.
 */
static bool
unescaped_text(CsvValueInput *input, const CsvDialect *dialect, const uint8_t *field,
			   uint64_t length, char **text, uint64_t *nbytes, CsvValueError *error)
{
	int			encoding = GetDatabaseEncoding();
	char	   *converted = MemoryContextAllocHuge(CurrentMemoryContext, length + 1);
	bool		quoted;
	int			nvalid;

	memcpy(converted, field, length);
	converted[length] = '\0';
	if (!to_server_encoding(input, &converted, &length, error))
		return false;
	*text = field_text(dialect, (uint8_t *) converted, length, nbytes, &quoted);
	nvalid = pg_encoding_verifymbstr(encoding, *text, (int) *nbytes);
	if (nvalid < *nbytes && (*text)[nvalid] == '\0')
	{
		error->code = CSV_ERROR_NUL_BYTE;
		return false;
	}
	if (nvalid < *nbytes)
	{
		set_invalid(input, INVALID_FOR, encoding, encoding, (uint8_t *) *text + nvalid,
					*nbytes - nvalid, error);
		return false;
	}
	return true;
}

/* is a field equal to a marker? */
static bool
is_marker(const uint8_t *field, uint64_t length, const char *marker)
{
	return csv_bytes_equal(field, length, (const uint8_t *) marker, strlen(marker));
}

static bool
is_null(const CsvValueInput *input, const uint8_t *bytes, uint64_t length)
{
	ListCell   *cell;

	if (is_marker(bytes, length, input->table->null_string))
		return true;
	foreach(cell, input->column->null_values)
		if (is_marker(bytes, length, lfirst(cell)))
			return true;
	return false;
}

bool
csv_value_text(CsvValueInput *input, const CsvDialect *dialect, const uint8_t *field,
			   uint64_t length, char **text, uint64_t *nbytes, bool *is_default,
			   CsvValueError *error)
{
	bool		quoted;

	*text = field_text(dialect, field, length, nbytes, &quoted);
	*is_default = false;
	memset(error, 0, sizeof(*error));
	if (quoted ? input->spec.force_null && is_null(input, (uint8_t *) *text, *nbytes) :
		!input->spec.force_not_null && is_null(input, field, length))
	{
		*text = NULL;
		return true;
	}
	if (input->table->default_string != NULL && !quoted &&
		is_marker(field, length, input->table->default_string))
	{
		*is_default = true;
		return true;
	}
	if (memchr(*text, '\0', *nbytes) != NULL)
	{
		error->code = CSV_ERROR_NUL_BYTE;
		return false;
	}
	if (*nbytes >= MaxAllocSize)
		return csv_value_beyond(error, CSV_TOO_LONG_FOR_DATUM);
	if (dialect->opt.quoting == CSV_QUOTING_TEXT ?
		!unescaped_text(input, dialect, field, length, text, nbytes, error) :
		!to_server_encoding(input, text, nbytes, error))
		return false;
	if (*nbytes >= MaxAllocSize)
		return csv_value_beyond(error, CSV_TOO_LONG_FOR_DATUM);
	return check_limits(input, *text, *nbytes, error);
}

bool
csv_value_from_field(CsvValueInput *input, const CsvDialect *dialect,
					 const uint8_t *field, uint64_t length, Datum *value,
					 bool *isnull, CsvValueError *error)
{
	char	   *text;
	uint64_t	nbytes;
	bool		is_default;

	*isnull = false;
	*value = (Datum) 0;
	if (!csv_value_text(input, dialect, field, length, &text, &nbytes, &is_default,
						error))
		return false;
	*isnull = text == NULL;
	if (*isnull)
		return csv_value_null(input, value, error);
#if PG_VERSION_NUM >= 160000
	if (is_default)
		return default_value(input, value, isnull, error);
#endif
	return csv_value_from_cstring(input, text, value, error);
}

bool
csv_value_check_bytes(CsvValueInput *input, const uint8_t *bytes,
					  uint64_t length, CsvValueError *error)
{
	char	   *text = (char *) unconstify(uint8_t *, bytes);

	return to_server_encoding(input, &text, &length, error);
}
