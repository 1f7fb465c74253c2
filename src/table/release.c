/*
 * release.c
 *		Are the extension's objects in this database of this library's release, and other
 *		processes of its build?
 */
#include "postgres.h"

#include <dlfcn.h>
#include <sys/stat.h>

#include "access/htup_details.h"
#include "catalog/pg_proc.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/syscache.h"

#include "table/release.h"
#include "wire/message.h"

void
csv_begin_function(FunctionCallInfo fcinfo, const char *declared)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, fcinfo->flinfo->fn_oid);
	Form_pg_proc form;
	StringInfoData found;
	Oid		   *types;
	char	  **names;
	char	   *modes;
	int			ntypes;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", fcinfo->flinfo->fn_oid);
	form = (Form_pg_proc) GETSTRUCT(tuple);
	ntypes = get_func_arg_info(tuple, &types, &names, &modes);
	initStringInfo(&found);
	appendStringInfoString(&found, form->proisstrict ? "strict" : "");
	for (int i = 0; i < ntypes + (modes == NULL); i++)
	{
		Oid			type = i < ntypes ? types[i] : form->prorettype;
		const char *name = format_type_be_qualified(type);
		const char *dot = strrchr(name, '.');

		/* in the catalog, results may come before arguments */
		if (modes && (modes[i] == PROARGMODE_IN) != (i < PG_NARGS()))
			csv_fail_as_older();
		if (i == PG_NARGS())
			appendStringInfoString(&found, form->proretset ? " -> setof" : " ->");
		appendStringInfo(&found, " %s", dot != NULL ? dot + 1 : name);
	}
	ReleaseSysCache(tuple);
	if (strcmp(found.data + (found.data[0] == ' '), declared) != 0)
		csv_fail_as_older();
	if (fcinfo->flinfo->fn_retset)
		InitMaterializedSRF(fcinfo, 0);
}

void
csv_fail_as_older(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("the library of csv_gpu_fdw is newer than its functions in this database"),
			 errhint("Run ALTER EXTENSION csv_gpu_fdw UPDATE.")));
}

bool
csv_library_is_replaced(bool for_workers)
{
	static struct stat loaded;
	static bool is_inherited;
	struct stat now = {0};
	Dl_info		library;

	if (dladdr((const void *) csv_library_is_replaced, &library) != 0)
		(void) stat(library.dli_fname, &now);
	if (loaded.st_ino == 0)
	{
		loaded = now;
		is_inherited = process_shared_preload_libraries_in_progress;
	}
	return (now.st_ino != loaded.st_ino || now.st_dev != loaded.st_dev) &&
		!(for_workers && is_inherited);
}

List *
csv_build(void)
{
	uint64		build = csv_wire_build();

	return list_make2_int((int) (build >> 32), (int) build);
}

void
csv_check_build(const List *plan)
{
	if (!equal(list_copy_head(plan, 2), csv_build()))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the library of csv_gpu_fdw was replaced after this session began"),
				 errhint("Start a new session.")));
}
