/*
 * progress.c
 *		csv_gpu_positions() and csv_gpu_forget_positions(): what users see of positions,
 *		and do with them.
 *
 * They see positions of their own targets; members of pg_monitor see all.
 */
#include "postgres.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/fd.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "load/positions.h"
#include "table/release.h"

#define POSITION_COLUMNS	8

/*
 * The state of a position's file, by its name alone; the next load may find it under
 * another name.  *nbehind: bytes behind the position; -1: not known.
 */
static const char *
find_state(const CsvPosition *position, int64 *nbehind)
{
	const char *name = position->filename;
	int			file = OpenTransientFile(name, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	const char *state = "open";
	struct stat st;

	*nbehind = -1;
	if (file < 0)
		return "gone";
	if (fstat(file, &st) != 0 || !S_ISREG(st.st_mode))
		state = "gone";
	else
	{
		bool		is_same = (uint64) st.st_ino == position->identity.inode &&
			csv_time_of_birth(name) == position->born;
		bool		is_shorter = st.st_size < (int64) position->bytes.nbytes;
		bool		is_longer = st.st_size > (int64) position->bytes.nbytes;

		if (is_shorter || (is_longer && position->lacks_break &&
							!csv_position_got_break(position, file)) ||
			!csv_fingerprint_fits_ends(file, name, &position->bytes))
			state = !is_same ? "gone" : is_shorter ? "shrunk" : "changed";
		else
			*nbehind = st.st_size - (int64) position->bytes.nbytes;
	}
	CloseTransientFile(file);
	return state;
}

PG_FUNCTION_INFO_V1(csv_gpu_positions);

/* csv_gpu_positions() returns a row for each position that the user may see */
Datum
csv_gpu_positions(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	bool		sees_all = has_privs_of_role(GetUserId(), ROLE_PG_MONITOR);
	CsvPosition *positions;
	int			npositions;

	csv_begin_function(fcinfo, "strict -> setof regclass regclass text bigint bigint bigint "
					   "timestamp with time zone text");
	positions = csv_positions_read(get_func_namespace(fcinfo->flinfo->fn_oid), InvalidOid,
								   InvalidOid, &npositions);
	for (int i = 0; i < npositions; i++)
	{
		const CsvPosition *position = &positions[i];
		Datum		values[POSITION_COLUMNS];
		bool		nulls[POSITION_COLUMNS] = {false};
		int64		nbehind;

		CHECK_FOR_INTERRUPTS();
		if (!sees_all && !csv_owns_table(position->target, GetUserId()))
			continue;
		values[0] = ObjectIdGetDatum(position->source);
		values[1] = ObjectIdGetDatum(position->target);
		values[2] = CStringGetTextDatum(position->filename);
		values[3] = Int64GetDatum((int64) position->bytes.nbytes);
		values[7] = CStringGetTextDatum(find_state(position, &nbehind));
		values[4] = Int64GetDatum(nbehind);
		nulls[4] = nbehind < 0;
		values[5] = Int64GetDatum((int64) position->place.records);
		values[6] = TimestampTzGetDatum(position->loaded_at);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	return (Datum) 0;
}

PG_FUNCTION_INFO_V1(csv_gpu_forget_positions);

/*
 * csv_gpu_forget_positions(source regclass, target regclass, filename text DEFAULT NULL)
 * deletes positions, and returns their number.  It waits for loads.
 */
Datum
csv_gpu_forget_positions(PG_FUNCTION_ARGS)
{
	Oid			source;
	Oid			target;

	csv_begin_function(fcinfo, "regclass regclass text -> bigint");
	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("source and target of csv_gpu_forget_positions() must not be null")));
	source = PG_GETARG_OID(0);
	target = PG_GETARG_OID(1);
	if (!csv_owns_table(target, GetUserId()))
	{
		const char *name = get_rel_name(target);

		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_TABLE,
					   name != NULL ? name : psprintf("%u", target));
	}
	csv_positions_lock(source, target);
	PG_RETURN_INT64(csv_positions_forget(get_func_namespace(fcinfo->flinfo->fn_oid),
										 source, target, PG_ARGISNULL(2) ? NULL :
										 text_to_cstring(PG_GETARG_TEXT_PP(2))));
}
