/*
 * growth.c
 *		Finds the records that came into a foreign table's files since the last
 *		load.
 *
 * which_file.c says which of the files was loaded up to which position.  The
 * scan begins there (CsvResume), and its ends become the new positions.
 */
#include "postgres.h"

#include <sys/stat.h>
#include <unistd.h>

#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "load/growth.h"
#include "load/positions.h"
#include "load/which_file.h"
#include "scan/scan.h"
#include "table/decompress.h"
#include "table/release.h"

struct CsvGrowth
{
	CsvTable   *table;
	Oid			schema;
	Oid			target;
	bool		is_first;		/* there were no positions */
	CsvGrowingFile *files;
	int			nfiles;
	CsvResumedFile *resumed;
	CsvResume	resume;
};

/* room for an element of each file, of zeros */
static void *
alloc_for_files(int nfiles, Size each)
{
	return palloc_extended(each * Max(nfiles, 1),
						   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
}

/* ERROR if the open file is not as it was loaded, since it was looked at */
static void
check_before(const CsvGrowingFile *file, int fd)
{
	if (file->position != NULL && !file->is_rewritten && !file->is_unpacked &&
		!csv_fingerprint_fits_ends(fd, file->name, &file->position->bytes))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("file \"%s\" was replaced while it was read",
						file->name)));
}

/* CsvResume.begun */
static void
check_begin(void *arg, int number, int fd)
{
	check_before(&((CsvGrowth *) arg)->files[number], fd);
}

/*
 * Does the file, which was read to this end, end within a line?  The last byte
 * of compressed bytes, or of UTF-16, does not show that.  A last CR does not
 * end a line where others end in LF.
 */
static bool
ends_in_line(const CsvGrowth *growth, const CsvGrowingFile *file, int fd,
			 uint64 nbytes)
{
	char		tail[BLCKSZ];
	size_t		n = Min(nbytes, sizeof(tail));

	if (file->grows || n == 0 ||
		csv_compression_of(file->name,
						   growth->table->compression) != CSV_COMPRESSION_NONE ||
		pread(fd, tail, n, (off_t) (nbytes - n)) != (ssize_t) n)
		return false;
	return tail[n - 1] == '\r' ?
		growth->table->reader.dialect.boundary != CSV_BOUNDARY_CR &&
		memchr(tail, '\n', n) != NULL :
		tail[n - 1] != '\n' && tail[n - 1] != '\0';
}

/* CsvResume.ended */
static void
note_end(void *arg, int number, int fd, const CsvFilePlace *place,
		 uint64 nbytes)
{
	CsvGrowth  *growth = arg;
	CsvGrowingFile *file = &growth->files[number];
	const CsvFingerprint *before = file->position != NULL &&
		!file->is_rewritten &&
		!file->is_unpacked ? &file->position->bytes : NULL;
	struct stat st;

	check_before(file, fd);
	if (!csv_fingerprint_make(fd, file->name, nbytes, before, &file->now.bytes))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("file \"%s\" became shorter while it was read",
						file->name)));
	file->now.place = *place;
	file->now.lacks_break = ends_in_line(growth, file, fd, nbytes);
	file->was_read = true;
	/* a copy may have the time of these bytes */
	if (fstat(fd, &st) == 0 && st.st_size == (off_t) nbytes)
		file->identity.modified = csv_file_identity(&st).modified;
	if (file->now.lacks_break &&
		place->records > growth->resumed[number].start.records)
		csv_tell_choice(growth->table,
						psprintf("took record %lld of \"%s\", which has no line break",
								 (long long) place->records, file->name),
						psprintf("If the file is still written, set the option \"growing_rest\" to more than %d seconds.",
								 growth->table->growing_rest));
}

/* files under a new name come first: before the new file of the old name */
static int
compare_turns(const void *a, const void *b)
{
	const CsvGrowingFile *one = a;
	const CsvGrowingFile *two = b;
	bool		one_moved = one->position != NULL &&
		strcmp(one->position->filename, one->name) != 0;
	bool		two_moved = two->position != NULL &&
		strcmp(two->position->filename, two->name) != 0;

	if (one_moved != two_moved)
		return one_moved ? -1 : 1;
	return one->number - two->number;
}

/* the next scan of the table reads the files that have news */
static void
set_files(CsvGrowth *growth)
{
	CsvTable   *table = growth->table;

	qsort(growth->files, growth->nfiles, sizeof(CsvGrowingFile), compare_turns);
	table->files = alloc_for_files(growth->nfiles, sizeof(char *));
	table->nfiles = growth->nfiles;
	table->left_out = alloc_for_files(growth->nfiles, sizeof(bool));
	growth->resumed = alloc_for_files(growth->nfiles, sizeof(CsvResumedFile));
	for (int i = 0; i < growth->nfiles; i++)
	{
		const CsvGrowingFile *file = &growth->files[i];
		CsvResumedFile *resumed = &growth->resumed[i];

		table->files[i] = file->name;
		table->left_out[i] = file->is_left_out || !file->has_news;
		resumed->identity = file->identity;
		if (file->position == NULL || file->is_rewritten)
			continue;
		resumed->start = file->position->place;
		resumed->start.skip_line |= file->position->lacks_break;
		resumed->nbytes = file->is_unpacked ? 0 : file->position->bytes.nbytes;
	}
	growth->resume = (CsvResume) {growth->resumed, check_begin, note_end, growth};
	table->resume = &growth->resume;
}

/* reads the rewritten files to their ends, for nothing but their ends */
static void
pass_rewritten(CsvGrowth *growth)
{
	CsvTable	table = *growth->table;
	CsvTableScan *scan;
	Datum	   *values = palloc0(sizeof(Datum) * Max(table.natts, 1));
	bool	   *isnull = palloc0(sizeof(bool) * Max(table.natts, 1));
	bool		any = false;

	table.left_out = alloc_for_files(growth->nfiles, sizeof(bool));
	for (int i = 0; i < growth->nfiles; i++)
	{
		table.left_out[i] = !growth->files[i].is_rewritten;
		any |= growth->files[i].is_rewritten;
		if (growth->files[i].is_rewritten)
			growth->table->left_out[i] = true;
	}
	if (!any)
		return;
	table.verbosity = CSV_VERBOSITY_SILENT;
	table.stop = false;
	table.reject_count = -1;
	table.reject_percent = -1;
	scan = csv_table_scan_begin(&table, NULL, NULL, 0, NULL, NULL);
	while (csv_table_scan_next(scan, values, isnull))
		CHECK_FOR_INTERRUPTS();
	csv_table_scan_end(scan);
}

/* ERROR if rows of the target may be lost, when positions are not */
static void
check_target(Oid target)
{
	ListCell   *cell;

	/* rows go to partitions, but not to tables that only inherit */
	foreach(cell, get_rel_relkind(target) == RELKIND_PARTITIONED_TABLE ?
			find_all_inheritors(target, NoLock, NULL) : list_make1_oid(target))
	{
		char		persistence = get_rel_persistence(lfirst_oid(cell));

		if (persistence != RELPERSISTENCE_PERMANENT &&
			get_rel_relkind(lfirst_oid(cell)) != RELKIND_PARTITIONED_TABLE)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("new records cannot be loaded into %s table \"%s\"",
							persistence == RELPERSISTENCE_TEMP ? "temporary" :
							"unlogged",
							get_rel_name(lfirst_oid(cell))),
					 errdetail("The positions up to which files were loaded would outlive its rows."),
					 persistence == RELPERSISTENCE_TEMP ?
					 errhint("Load into a table that is not temporary.") :
					 errhint("Load into a logged table. If a crash emptied the table before ALTER TABLE ... SET LOGGED, call csv_gpu_forget_positions().")));
	}
}

CsvGrowth *
csv_growth_begin(CsvTable *table, Oid schema, Oid target,
				 CsvOnRewrite on_rewrite)
{
	CsvGrowth  *growth = palloc0(sizeof(CsvGrowth));
	CsvPosition *positions;
	int			npositions;

	if (table->reader.dialect.footer_rows > 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("new records of foreign table \"%s\" cannot be loaded, because it has the option \"footer_rows\"",
						table->name)));
	check_target(target);
	positions = csv_positions_read(schema, table->relid, target, &npositions);
	growth->table = table;
	growth->schema = schema;
	growth->target = target;
	growth->is_first = npositions == 0;
	table->reader.dialect.growing = true;
	table->settings.resident = false;
	growth->files = csv_which_files(table, positions, npositions, on_rewrite,
									&growth->nfiles);
	set_files(growth);
	if (on_rewrite >= CSV_REWRITE_SKIP)
		pass_rewritten(growth);
	return growth;
}

bool
csv_growth_is_first(const CsvGrowth *growth)
{
	return growth->is_first;
}

bool
csv_growth_is_any(const CsvGrowth *growth)
{
	for (int i = 0; i < growth->nfiles; i++)
		if (!growth->table->left_out[i])
			return true;
	return false;
}

int64
csv_growth_finish(CsvGrowth *growth)
{
	int64		nstored = 0;

	for (int i = 0; i < growth->nfiles; i++)
	{
		CsvGrowingFile *file = &growth->files[i];
		const CsvPosition *before = file->position;
		CsvPosition *now = &file->now;

		/*
		 * it may have been compressed and removed meanwhile: its time leads to
		 * the copy
		 */
		if (!file->was_read && before != NULL && !file->is_rewritten &&
			!file->is_unpacked &&
			strcmp(before->filename, file->name) != 0)
			*now = *before;
		/* a file without records is read from its beginning next time */
		else if (!file->was_read || (before == NULL && now->place.records == 0))
			continue;
		CHECK_FOR_INTERRUPTS();
		now->source = growth->table->relid;
		now->target = growth->target;
		now->filename = file->name;
		now->identity = file->identity;
		if (!csv_has_settled(file->identity.changed))
			now->identity.changed = 0;
		now->born = file->born;
		now->loaded_at = before != NULL &&
			before->place.records == now->place.records &&
			!file->is_rewritten ? before->loaded_at :
			GetCurrentTransactionStartTimestamp();
		csv_positions_write(growth->schema, before, now);
		nstored++;
	}
	return nstored;
}

/* ---- what users do with positions ---- */

/*
 * locks source and target of a function of this name, which is only for the
 * target's owner
 */
static void
lock_pair(FunctionCallInfo fcinfo, const char *function)
{
	Oid			target = PG_GETARG_OID(1);

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("source and target of %s() must not be null",
						function)));
	if (!csv_owns_table(target, GetUserId()))
	{
		const char *name = get_rel_name(target);

		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_TABLE,
					   name != NULL ? name : psprintf("%u", target));
	}
	csv_positions_lock(PG_GETARG_OID(0), target);
}

PG_FUNCTION_INFO_V1(csv_gpu_forget_positions);

/*
 * csv_gpu_forget_positions(source regclass, target regclass, filename text
 * DEFAULT NULL) deletes positions, and returns their number.  It waits for
 * loads.
 */
Datum
csv_gpu_forget_positions(PG_FUNCTION_ARGS)
{
	csv_begin_function(fcinfo, "regclass regclass text -> bigint");
	lock_pair(fcinfo, "csv_gpu_forget_positions");
	PG_RETURN_INT64(csv_positions_forget(get_func_namespace(fcinfo->flinfo->fn_oid),
										 PG_GETARG_OID(0), PG_GETARG_OID(1),
										 PG_ARGISNULL(2) ? NULL :
										 PG_GETARG_TEXT_PP(2)));
}

PG_FUNCTION_INFO_V1(csv_gpu_set_positions);

/*
 * csv_gpu_set_positions(source regclass, target regclass) counts what is in the
 * files as loaded, and returns the number of files with records.  It waits for
 * loads.
 */
Datum
csv_gpu_set_positions(PG_FUNCTION_ARGS)
{
	Oid			schema = get_func_namespace(fcinfo->flinfo->fn_oid);
	Oid			target = PG_GETARG_OID(1);
	Relation	source;
	CsvTable   *table;
	int64		nfiles;

	csv_begin_function(fcinfo, "regclass regclass -> bigint");
	lock_pair(fcinfo, "csv_gpu_set_positions");
	source = csv_open_source(PG_GETARG_OID(0));
	csv_check_whole_select(source);
	table = csv_table_get(RelationGetRelid(source));
	csv_table_check(table);
	table->all_files = true;
	(void) csv_positions_forget(schema, table->relid, target, NULL);
	nfiles = csv_growth_finish(csv_growth_begin(table, schema, target,
												CSV_REWRITE_ALL));
	table_close(source, NoLock);
	PG_RETURN_INT64(nfiles);
}
