/*
 * release.c
 *		Are the extension's objects in this database of this library's release?
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_proc.h"
#include "utils/builtins.h"
#include "utils/syscache.h"

#include "table/release.h"

/* a type's name as in a script; other types than PostgreSQL's have their schema */
static const char *
type_name(Oid type)
{
	const char *name = format_type_be_qualified(type);

	return name + (strncmp(name, "pg_catalog.", 11) == 0 ? 11 : 0);
}

TupleDesc
csv_begin_function(FunctionCallInfo fcinfo, const char *declared)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, fcinfo->flinfo->fn_oid);
	TupleDesc	tupdesc = NULL;
	Form_pg_proc form;
	StringInfoData found;
	Oid		   *types;
	char	  **names;
	char	   *modes;
	int			ntypes;
	bool		is_set;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", fcinfo->flinfo->fn_oid);
	form = (Form_pg_proc) GETSTRUCT(tuple);
	ntypes = get_func_arg_info(tuple, &types, &names, &modes);
	is_set = form->proretset;
	initStringInfo(&found);
	appendStringInfoString(&found, form->proisstrict ? "strict" : "");
	for (int i = 0; i <= ntypes; i++)
	{
		if (i == PG_NARGS())
			appendStringInfoString(&found, is_set ? " -> setof" : " ->");
		if (i < ntypes || modes == NULL)
			appendStringInfo(&found, " %s",
							 type_name(i < ntypes ? types[i] : form->prorettype));
	}
	ReleaseSysCache(tuple);
	if (strcmp(found.data + (found.data[0] == ' '), declared) != 0)
		csv_fail_as_older();
	if (is_set)
		InitMaterializedSRF(fcinfo, 0);
	else
		(void) get_call_result_type(fcinfo, NULL, &tupdesc);
	return tupdesc == NULL ? NULL : BlessTupleDesc(tupdesc);
}

void
csv_fail_as_older(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("the library of csv_gpu_fdw is newer than its functions in this database"),
			 errhint("Run ALTER EXTENSION csv_gpu_fdw UPDATE.")));
}
