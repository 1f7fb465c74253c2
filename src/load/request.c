/*
 * request.c
 *		The arguments of a load.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "load/load.h"

/*
 * The place in `values` (NULL at their end) of an argument of type text; 0 if
 * it is NULL. ERROR for any other value.
 */
static int
choose_value(FunctionCallInfo fcinfo, int arg, const char *name,
			 const char *const *values)
{
	StringInfoData valid;
	const char *value;

	if (PG_ARGISNULL(arg))
		return 0;
	value = text_to_cstring(PG_GETARG_TEXT_PP(arg));
	initStringInfo(&valid);
	for (int i = 0; values[i] != NULL; i++)
	{
		if (strcmp(value, values[i]) == 0)
			return i;
		appendStringInfo(&valid, "%s\"%s\"", i == 0 ? "" : ", ", values[i]);
	}
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("%s \"%s\" not recognized", name, value),
			 errhint("Valid values are: %s.", valid.data)));
}

void
csv_load_get_request(CsvLoadRequest *request, FunctionCallInfo fcinfo,
					 int columns, int mode, int on_rewrite)
{
	static const char *const modes[] = {"all", "new_records", NULL};
	static const char *const rewrites[] = {"error", "restart", "skip", NULL};
	static const char *const duplicates[] = {"error", "first", "last", "update", NULL};
	static const char *const new_columns[] = {"ignore", "error", "add", NULL};

	memset(request, 0, sizeof(*request));
	request->source = PG_GETARG_OID(0);
	request->target = PG_GETARG_OID(1);
	request->schema = get_func_namespace(fcinfo->flinfo->fn_oid);
	if (!PG_ARGISNULL(columns))
		request->columns = PG_GETARG_ARRAYTYPE_P(columns);
	if (!PG_ARGISNULL(columns + 1))
		request->rejects = PG_GETARG_OID(columns + 1);
	request->freeze = !PG_ARGISNULL(columns + 2) && PG_GETARG_BOOL(columns + 2);
	request->is_new_records = choose_value(fcinfo, mode, "mode", modes) > 0;
	request->on_rewrite = (CsvOnRewrite) choose_value(fcinfo, on_rewrite,
													  "on_rewrite", rewrites);
	if (!request->is_new_records && request->on_rewrite != CSV_REWRITE_ERROR)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("on_rewrite can be used only with mode \"new_records\"")));
	if (!PG_ARGISNULL(on_rewrite + 1))
		request->duplicates = (CsvDuplicates)
			(choose_value(fcinfo, on_rewrite + 1, "duplicates",
						  duplicates) + CSV_DUPLICATES_ERROR);
	if (!PG_ARGISNULL(on_rewrite + 2))
		request->key = PG_GETARG_ARRAYTYPE_P(on_rewrite + 2);
	if (!PG_ARGISNULL(on_rewrite + 3))
		request->filter = text_to_cstring(PG_GETARG_TEXT_PP(on_rewrite + 3));
	if (!PG_ARGISNULL(on_rewrite + 4))
		request->expressions = PG_GETARG_JSONB_P(on_rewrite + 4);
	request->new_columns = (CsvNewColumns)
		choose_value(fcinfo, on_rewrite + 5, "new_columns", new_columns);
}
