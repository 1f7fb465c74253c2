/*
 * copy.c
 *		COPY FROM through the engines (csv_gpu_fdw.copy), and the hook of COPY.
 *
 * A COPY FROM that is taken runs in a subtransaction.  If anything fails there (a record, a
 * row, an index, a privilege), the subtransaction is rolled back, and PostgreSQL's
 * COPY does all of the work.  So errors are COPY's to the letter, and the engines need
 * only be right if they succeed.  Therefore a COPY is taken only if
 *
 *	- its data are a file that can be read twice, or a stream that can be given to
 *	  COPY again (incoming.c), and contain nothing that COPY reads otherwise than
 *	  the engines do (oddity.c);
 *	- its table shows no sign of rows that were inserted in vain: it has no triggers
 *	  except those for foreign keys, and nothing volatile except nextval(), since
 *	  sequences may have gaps (find_obstacle_in_relation).
 */
#include "postgres.h"

#include <dlfcn.h>
#include <sys/stat.h>

#include "access/heapam.h"
#include "access/relation.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/namespace.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_trigger.h"
#include "commands/copy.h"
#include "commands/defrem.h"
#include "commands/trigger.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "parser/parse_collate.h"
#include "parser/parse_expr.h"
#include "parser/parse_relation.h"
#include "rewrite/rewriteHandler.h"
#include "storage/lmgr.h"
#include "tcop/cmdtag.h"
#include "tcop/utility.h"
#include "utils/acl.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/rls.h"

#include "compat.h"
#include "load/copy.h"
#include "load/incoming.h"
#include "load/indexes.h"
#include "load/load.h"
#include "load/oddity.h"
#include "load/owner.h"
#include "output/copy_to.h"
#include "scan/value.h"
#include "table/counts.h"
#include "table/messages.h"
#include "table/option.h"

/* COPY is as fast for smaller files */
#define CSV_COPY_LEAST_BYTES	CSV_INCOMING_BYTES

/* NOTICEs that wait until the rows are in; COPY sends more itself */
#define CSV_MOST_NOTICES	100000

typedef enum CopyChoice
{
	COPY_OFF,
	COPY_ON,					/* if the result is the same */
	COPY_FORCE					/* as ON, with ERROR if it is not taken */
} CopyChoice;

static const struct config_enum_entry copy_choices[] = {
	{"off", COPY_OFF, false},
	{"on", COPY_ON, false},
	{"force", COPY_FORCE, false},
	{"false", COPY_OFF, true},
	{"true", COPY_ON, true},
	{"no", COPY_OFF, true},
	{"yes", COPY_ON, true},
	{"0", COPY_OFF, true},
	{"1", COPY_ON, true},
	{NULL, 0, false}
};

static int	choice = COPY_OFF;
static bool past_hooks = false;
static ProcessUtility_hook_type next_hook;

/* ---- which COPY may be taken ---- */

/* options with the same meaning in COPY and in tables of this wrapper */
static bool
is_known_option(const char *name)
{
	static const char *const known[] = {
		"format", "delimiter", "null", "header", "quote", "escape", "encoding",
		"force_not_null", "force_null", "on_error", "reject_limit",
		"log_verbosity"
	};

	for (size_t i = 0; i < lengthof(known); i++)
		if (strcmp(name, known[i]) == 0)
			return true;
	return false;
}

/* returns an obstacle in the source of the data, or NULL */
static const char *
find_obstacle_in_source(const CopyStmt *stmt)
{
	struct stat st;

	if (stmt->is_program)
		return has_privs_of_role(GetUserId(), ROLE_PG_EXECUTE_SERVER_PROGRAM) ? NULL :
			"the user may not run programs of the server";
	if (stmt->filename == NULL)
		return whereToSendOutput == DestRemote ? NULL : "there is no frontend";
	if (strpbrk(stmt->filename, "*?[\\") != NULL)
		return "the file's name would be a pattern";
	if (!has_privs_of_role(GetUserId(), ROLE_PG_READ_SERVER_FILES))
		return "the user may not read files of the server";
	if (choice == COPY_ON && stat(stmt->filename, &st) == 0 &&
		st.st_size < CSV_COPY_LEAST_BYTES)
		return "it is short";
	return NULL;
}

/* the name of the library that has a function, without its directory and suffix */
static const char *
library_of(const void *function)
{
	Dl_info		info;
	const char *separator;
	char	   *name;
	char	   *suffix;

	if (dladdr(function, &info) == 0 || info.dli_fname == NULL)
		return "?";
	separator = last_dir_separator(info.dli_fname);
	name = pstrdup(separator != NULL ? separator + 1 : info.dli_fname);
	suffix = strrchr(name, '.');
	if (suffix != NULL)
		*suffix = '\0';
	return name;
}

static const char *
name_of(const CopyStmt *stmt)
{
	return stmt->is_from ? "COPY FROM" : "COPY TO";
}

/*
 * Returns an obstacle in the hooks for utility statements, or NULL.  A library that
 * was loaded earlier would not see a COPY that is taken, which is an obstacle unless
 * the administrator has set csv_gpu_fdw.copy_past_hooks.  The user is told once.
 */
static const char *
find_obstacle_in_hooks(const CopyStmt *stmt)
{
	static bool is_told = false;
	const char *library;

	if (next_hook == NULL || past_hooks)
		return NULL;
	library = library_of((const void *) next_hook);
	if (!is_told && choice == COPY_ON)
	{
		is_told = true;
		ereport(NOTICE,
				(errmsg("%s is left to PostgreSQL, because library \"%s\" would not see it otherwise",
						name_of(stmt), library),
				 /* with another library before Citus, the server does not start */
				 strcmp(library, "citus") == 0 ?
				 errhint("Citus must be the first library; have a superuser set csv_gpu_fdw.copy_past_hooks.") :
				 errhint("Put csv_gpu_fdw before \"%s\" in shared_preload_libraries, or have a superuser set csv_gpu_fdw.copy_past_hooks.",
						 library)));
	}
	return psprintf("library \"%s\" was loaded earlier and would not see it", library);
}

/* returns an obstacle that is known before the table is opened, or NULL */
static const char *
find_obstacle_in_statement(const CopyStmt *stmt)
{
	const char *obstacle;
	ListCell   *cell;

	if (csv_messages_are_delayed())
		return "it is within another one";
	if (stmt->relation == NULL)
		return "it has no table";
	foreach(cell, stmt->options)
	{
		DefElem    *def = (DefElem *) lfirst(cell);

		if (!is_known_option(def->defname))
			return psprintf("it has the option \"%s\"", def->defname);
		if (strcmp(def->defname, "format") == 0 &&
			(def->arg == NULL || (strcmp(defGetString(def), "csv") != 0 &&
								  strcmp(defGetString(def), "text") != 0)))
			return "the format is neither csv nor text";
	}
	if (IsInParallelMode() || RecoveryInProgress() || XactReadOnly)
		return "nothing may be written";
	obstacle = find_obstacle_in_source(stmt);
	return obstacle != NULL ? obstacle : find_obstacle_in_hooks(stmt);
}

/* returns why rows cannot be inserted into the table in vain, or NULL */
static const char *
find_obstacle_in_table(Relation relation)
{
	if (relation->rd_rel->relkind != RELKIND_RELATION &&
		relation->rd_rel->relkind != RELKIND_PARTITIONED_TABLE)
		return "it is not a table";
	if (relation->rd_rel->relkind == RELKIND_RELATION &&
		relation->rd_tableam != GetHeapamTableAmRoutine())
		return "the table's access method is not heap";
	if (relation->trigdesc != NULL)
		for (int i = 0; i < relation->trigdesc->numtriggers; i++)
		{
			const Trigger *trigger = &relation->trigdesc->triggers[i];

			if (TRIGGER_FOR_INSERT(trigger->tgtype) &&
				RI_FKey_trigger_type(trigger->tgfoid) != RI_TRIGGER_FK)
				return "the table has triggers";
		}
	if (csv_has_volatile_check(RelationGetDescr(relation)))
		return "a constraint of the table is volatile";
	return NULL;
}

/* as find_obstacle_in_table(), for the table and all of its partitions */
static const char *
find_obstacle_in_tables(Relation relation)
{
	const char *obstacle = NULL;
	List	   *tables;
	ListCell   *cell;

	if (relation->rd_rel->relkind != RELKIND_PARTITIONED_TABLE)
		return find_obstacle_in_table(relation);

	/* COPY waits only for partitions that get rows, so do not wait here */
	tables = find_all_inheritors(RelationGetRelid(relation), NoLock, NULL);
	foreach(cell, tables)
	{
		Oid			relid = lfirst_oid(cell);
		Relation	table;

		if (!ConditionalLockRelationOid(relid, AccessShareLock))
			return "a partition is locked";
		table = try_relation_open(relid, NoLock);
		if (table == NULL)
		{
			UnlockRelationOid(relid, AccessShareLock);
			return "a partition is gone";
		}
		obstacle = find_obstacle_in_table(table);
		relation_close(table, AccessShareLock);
		if (obstacle != NULL)
			break;
	}
	return obstacle;
}

static const char *
find_obstacle_in_relation(Relation relation, const Bitmapset *given)
{
	TupleDesc	tupdesc = RelationGetDescr(relation);

	for (int i = 0; i < tupdesc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(tupdesc, i);
		Node	   *expr;

		if (att->attisdropped || bms_is_member(i + 1, given))
			continue;
		expr = build_column_default(relation, i + 1);
		if (expr != NULL &&
			contain_volatile_functions_not_nextval((Node *) expression_planner((Expr *) expr)))
			return psprintf("the default of column \"%s\" is volatile",
							NameStr(att->attname));
	}
	return find_obstacle_in_tables(relation);
}

static int
file_encoding(const CopyFormatOptions *copy)
{
	return copy->file_encoding < 0 ? pg_get_client_encoding() : copy->file_encoding;
}

/* ---- how it is read ---- */

/* do the data come from the frontend or a program, and not from a file? */
static bool
comes_once(const CopyStmt *stmt)
{
	return stmt->is_program || stmt->filename == NULL;
}

static List *
add_option(List *options, const char *name, const char *value)
{
	return lappend(options, makeDefElem(pstrdup(name),
										(Node *) makeString(pstrdup(value)), -1));
}

static char *
byte_string(const char *byte)
{
	return psprintf("%c", *byte);
}

/* does the list of a FORCE option have the column? */
static bool
is_forced(const List *names, bool all, const char *column)
{
	ListCell   *cell;

	foreach(cell, names)
		all |= strcmp(strVal(lfirst(cell)), column) == 0;
	return all;
}

/* a COPY that may be taken */
typedef struct TakenCopy TakenCopy;
struct TakenCopy
{
	const CopyStmt *stmt;
	ParseState *pstate;			/* its range table is the relation */
	Relation	relation;
	List	   *attnums;
	Bitmapset  *given;			/* attnums, as a set */
	List	   *quals;			/* of WHERE */
	CopyFormatOptions options;
	CsvIncoming *incoming;		/* NULL: the data are a file */
	const char *(*try_it) (TakenCopy *copy);	/* returns an obstacle, or NULL */
	const char *obstacle;
	uint64		nrows;			/* inserted, if the engines did it */
	int64		nskipped;		/* by ON_ERROR ignore */
	List	   *notices;		/* of these rows */
	bool		failed;			/* the obstacle is the message of an ERROR */
};

/* The data as a table of this wrapper, with a column for each attribute named. */
static CsvTable *
make_table(const TakenCopy *taken)
{
	const CopyStmt *stmt = taken->stmt;
	const CopyFormatOptions *copy = &taken->options;
	List	   *options = NIL;
	CsvTable   *table;
	ListCell   *cell;

	options = add_option(options, comes_once(stmt) ? "program" : "filename",
						 stmt->filename != NULL ? stmt->filename : "STDIN");
	options = add_option(options, "compression", "none");
	options = add_option(options, "on_error", "stop");
	options = add_option(options, "log_verbosity", "silent");
	options = add_option(options, "header",
						 copy->header_line == COPY_HEADER_FALSE ? "false" :
						 copy->header_line == COPY_HEADER_MATCH ? "match" : "true");
	options = add_option(options, "delimiter", byte_string(copy->delim));
	if (csv_copy_is_csv(copy))
	{
		options = add_option(options, "quoting", "postgres");
		options = add_option(options, "quote", byte_string(copy->quote));
		options = add_option(options, "escape", byte_string(copy->escape));
	}
	else
		options = add_option(options, "format", "text");
	options = add_option(options, "null", copy->null_print);
	options = add_option(options, "encoding", pg_encoding_to_char(file_encoding(copy)));

	table = csv_table_make(InvalidOid, options);
	csv_table_set_fields(table, (uint32) list_length(taken->attnums));
	if (taken->incoming != NULL)
	{
		table->name = table->program;
		table->read = csv_incoming_read;
		table->read_arg = taken->incoming;
		table->from_frontend = !stmt->is_program;
	}

	/* a blank line is a record, which has too few fields */
	table->reader.dialect.blank_is_record = true;
	foreach(cell, taken->attnums)
	{
		CsvTableColumn *column = &table->columns[foreach_current_index(cell)];
		Form_pg_attribute att = TupleDescAttr(RelationGetDescr(taken->relation),
											  lfirst_int(cell) - 1);

		column->name = pstrdup(NameStr(att->attname));
		column->type = att->atttypid;
		column->typmod = att->atttypmod;
		column->collation = att->attcollation;
		column->force_not_null = is_forced(copy->force_notnull,
										   csv_copy_forces_not_null(copy),
										   column->name);
		column->force_null = is_forced(copy->force_null, csv_copy_forces_null(copy),
									   column->name);
	}
	return table;
}

/* ---- ON_ERROR ignore ---- */

/*
 * Returns the line by which COPY names a record, its last.  0: another field
 * may be an ERROR of COPY, which checks the encoding of all fields before any
 * value.  In text, escapes stand for any bytes.
 */
static long long
last_line(const CopyFormatOptions *copy, const CsvSkipped *skipped)
{
	const char *raw = (const char *) skipped->raw;
	const char *end = raw + skipped->raw_length;
	long long	line = skipped->line;

	/* ERROR for bytes that are invalid, or cannot be converted */
	(void) pg_any_to_server(raw, (int) (end - raw), file_encoding(copy));
	for (const char *at = raw; at + 1 < end; at++)
	{
		line += *at == '\n';
		if (*at == '\\' && csv_copy_is_text(copy) &&
			strchr("x01234567", at[1]) != NULL)
			return 0;
	}
	return line;
}

/*
 * A CsvSkippedFn.  COPY skips a row only if an input function refuses a value
 * without an ERROR.  Any other bad record, and a record past the limits, is an
 * ERROR here, so that COPY takes over.
 */
static bool
skip_row(void *arg, const CsvSkipped *skipped)
{
	TakenCopy  *copy = arg;
	const CsvValueError *refused = skipped->refused;
	int64		limit = csv_copy_reject_limit(&copy->options);
	long long	line = last_line(&copy->options, skipped);
	MemoryContext outer;
	const char *value;

	copy->nskipped++;
	if (refused == NULL || !refused->is_soft || line == 0 ||
		(limit > 0 && copy->nskipped > limit) ||
		list_length(copy->notices) == CSV_MOST_NOTICES)
		ereport(ERROR,
				(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
				 errmsg("a record cannot be skipped")));
	if (csv_copy_verbosity(&copy->options) != COPY_LOG_VERBOSITY_VERBOSE)
		return true;
	value = refused->value == NULL ? "null input" :
		psprintf("\"%s\"", CopyLimitPrintoutLength(refused->value));
	outer = MemoryContextSwitchTo(GetMemoryChunkContext(copy->pstate));
	copy->notices =
		lappend(copy->notices,
				psprintf("skipping row due to data type incompatibility at line %lld for column \"%s\": %s",
						 line, skipped->column_name, value));
	MemoryContextSwitchTo(outer);
	return true;
}

/* send COPY's NOTICEs of skipped rows */
static void
report_skipped(const TakenCopy *copy)
{
	ListCell   *cell;

	foreach(cell, copy->notices)
		ereport(NOTICE,
				(errmsg_internal("%s", (char *) lfirst(cell)),
				 errcontext("COPY %s", RelationGetRelationName(copy->relation))));
	if (copy->nskipped > 0 &&
		csv_copy_verbosity(&copy->options) >= COPY_LOG_VERBOSITY_DEFAULT)
		ereport(NOTICE,
				(errmsg_plural("%llu row was skipped due to data type incompatibility",
							   "%llu rows were skipped due to data type incompatibility",
							   (unsigned long) copy->nskipped,
							   (unsigned long long) copy->nskipped)));
}

/* ---- the statement ---- */

/* let the engines do the COPY, and set copy->nrows; returns NULL, or raises ERROR */
static const char *
try_copy(TakenCopy *copy)
{
	copy->nrows = (uint64) csv_load_fields(make_table(copy),
										   RelationGetRelid(copy->relation),
										   copy->attnums, copy->quals,
										   csv_copy_on_error(&copy->options) ==
										   COPY_ON_ERROR_IGNORE ? skip_row : NULL,
										   copy);
	csv_messages_check();
	return NULL;
}

/* would COPY fail in the same way, or not be allowed to try? */
static bool
is_final(int sqlstate)
{
	return ERRCODE_TO_CATEGORY(sqlstate) ==
		ERRCODE_TO_CATEGORY(ERRCODE_OPERATOR_INTERVENTION) ||
		ERRCODE_TO_CATEGORY(sqlstate) ==
		ERRCODE_TO_CATEGORY(ERRCODE_TRANSACTION_ROLLBACK) ||
		ERRCODE_TO_CATEGORY(sqlstate) ==
		ERRCODE_TO_CATEGORY(ERRCODE_CONNECTION_EXCEPTION) ||
		sqlstate == ERRCODE_LOCK_NOT_AVAILABLE;
}

/* for csv_attempt(), whose memory context the obstacle outlives; holds messages */
static bool
is_done(void *arg)
{
	TakenCopy  *copy = arg;
	const char *obstacle;

	csv_messages_delay();
	obstacle = copy->try_it(copy);
	if (obstacle != NULL)
		copy->obstacle = MemoryContextStrdup(GetMemoryChunkContext(copy->pstate), obstacle);
	return obstacle == NULL;
}

/* call try_it() in a subtransaction, which is kept only if there is no obstacle */
static const char *
try_apart(TakenCopy *copy, const char *(*try_it) (TakenCopy *))
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "csv_gpu_fdw copy",
												  ALLOCSET_DEFAULT_SIZES);
	ErrorData  *error;

	copy->try_it = try_it;
	copy->obstacle = NULL;
	error = csv_attempt(is_done, copy, context, true);
	MemoryContextDelete(context);
	csv_messages_release(error == NULL ? copy->obstacle == NULL :
						 is_final(error->sqlerrcode));
	if (error == NULL)
		return copy->obstacle;
	if (is_final(error->sqlerrcode))
		ReThrowError(error);
	copy->failed = true;
	return error->message != NULL ? error->message : "an error without a message";
}

/* are all columns that an option names copied? */
static bool
are_copied(const TakenCopy *copy, List *names)
{
	ListCell   *cell;

	if (names == NIL)
		return true;
	foreach(cell, CopyGetAttnums(RelationGetDescr(copy->relation), copy->relation, names))
		if (!list_member_int(copy->attnums, lfirst_int(cell)))
			return false;
	return true;
}

/* can text be converted from an encoding to the database's, or is that not needed? */
static bool
is_convertible(int encoding)
{
	int			own = GetDatabaseEncoding();

	return encoding == own || encoding == PG_SQL_ASCII || own == PG_SQL_ASCII ||
		OidIsValid(FindDefaultConversionProc(encoding, own));
}

/* a walker: is there a cast to a domain, which may have any check? */
static bool
has_domain_cast(Node *node, void *context)
{
	if (node == NULL)
		return false;
	return IsA(node, CoerceToDomain) ||
		expression_tree_walker(node, has_domain_cast, context);
}

/*
 * Transform WHERE as COPY does.  Returns NULL, or why the engines cannot evaluate it:
 * they may evaluate it for some rows in vain, and they do so before a row is inserted.
 */
static const char *
plan_where(TakenCopy *copy, ParseNamespaceItem *item)
{
	Node	   *where = copy->stmt->whereClause;
	Bitmapset  *attrs = NULL;
	Bitmapset  *attnums = NULL;
	int			i = -1;

	if (where == NULL)
		return NULL;
	addNSItemToQuery(copy->pstate, item, false, true, true);

	/* the statement may be executed again, and parsing changes the tree */
	where = transformExpr(copy->pstate, copyObject(where), EXPR_KIND_COPY_WHERE);
	where = coerce_to_boolean(copy->pstate, where, "WHERE");
	assign_expr_collations(copy->pstate, where);
	pull_varattnos(where, 1, &attrs);
	while ((i = bms_next_member(attrs, i)) >= 0)
	{
		int			attnum = i + FirstLowInvalidHeapAttributeNumber;

		if (attnum <= 0 ||
			TupleDescAttr(RelationGetDescr(copy->relation), attnum - 1)->attgenerated)
			return "its WHERE clause names system or generated columns";
		attnums = bms_add_member(attnums, attnum);
	}
	if (!csv_has_privilege(copy->relation, attnums, ACL_SELECT))
		return "the user may not read columns of its WHERE clause";
	if (contain_volatile_functions(where) || has_domain_cast(where, NULL))
		return "its WHERE clause is volatile, or casts to domains";
	where = eval_const_expressions(NULL, where);
	copy->quals = make_ands_implicit(canonicalize_qual((Expr *) where, false));
	return NULL;
}

/*
 * Do what COPY does before it checks privileges, with COPY's ERRORs.  Returns NULL, or
 * why the engines cannot take it.  A missing privilege is such a reason, because COPY
 * then raises the ERROR.
 */
static const char *
begin_copy(TakenCopy *copy)
{
	ParseNamespaceItem *item;
	const char *of_where;
	ListCell   *cell;

	copy->relation = table_openrv(copy->stmt->relation, RowExclusiveLock);
	item = addRangeTableEntryForRelation(copy->pstate, copy->relation, RowExclusiveLock,
										 NULL, false, false);
	of_where = plan_where(copy, item);
	copy->attnums = CopyGetAttnums(RelationGetDescr(copy->relation), copy->relation,
								   copy->stmt->attlist);
	foreach(cell, copy->attnums)
		copy->given = bms_add_member(copy->given, lfirst_int(cell));
	csv_ask_permissions(item, ACL_INSERT, copy->given);
	if (copy->attnums == NIL)
		return "there are no columns";
	if (!csv_has_privilege(copy->relation, copy->given, ACL_INSERT))
		return "the user may not insert into the table";
	if (check_enable_rls(RelationGetRelid(copy->relation), InvalidOid, true) ==
		RLS_ENABLED)
		return "row-level security is enabled for the table";
	return of_where;
}

/* begin_copy(), with messages of functions held back, since COPY would repeat them */
static const char *
begin_copy_silently(TakenCopy *copy)
{
	const char *volatile obstacle = NULL;

	csv_messages_delay();
	PG_TRY();
	{
		obstacle = begin_copy(copy);
		if (obstacle == NULL && csv_messages_any())
			obstacle = CSV_MESSAGE_DELAYED;
	}
	PG_CATCH();
	{
		csv_messages_release(true);
		PG_RE_THROW();
	}
	PG_END_TRY();
	csv_messages_release(false);
	return obstacle;
}

static const char *
find_obstacle_in_options(const TakenCopy *copy)
{
	int			encoding = file_encoding(&copy->options);

	if (!are_copied(copy, copy->options.force_notnull) ||
		!are_copied(copy, copy->options.force_null))
		return "an option names another column";
	if (csv_copy_on_error(&copy->options) > COPY_ON_ERROR_IGNORE)
		return "it sets values to NULL";
	if ((int) copy->options.header_line > COPY_HEADER_TRUE &&
		copy->options.header_line != COPY_HEADER_MATCH)
		return "its header has several lines";
	if (!is_convertible(encoding))
		return "there is no conversion from the encoding";

	/* a byte that looks like an escape may be half of a character */
	if (!csv_copy_is_csv(&copy->options) && PG_ENCODING_IS_CLIENT_ONLY(encoding))
		return "it is text in an encoding that only frontends have";
	return NULL;
}

/*
 * Do what COPY does after it has checked privileges and before it reads, and check all
 * that is known before data are read.  So COPY takes over before a library records
 * that privileges were checked, before the frontend is asked for data, and before a
 * program is started.  Returns NULL, or why the engines cannot take it.
 */
static const char *
try_before(TakenCopy *copy)
{
	MemoryContext outer =
		MemoryContextSwitchTo(GetMemoryChunkContext(copy->pstate));
	const char *obstacle;

	ProcessCopyOptions(copy->pstate, &copy->options, true, copy->stmt->options);
	MemoryContextSwitchTo(outer);
	obstacle = find_obstacle_in_options(copy);
	if (obstacle == NULL)
		obstacle = find_obstacle_in_relation(copy->relation, copy->given);
	if (obstacle == NULL)
		obstacle = csv_find_owner(copy->relation, copy->attnums);
	if (obstacle == NULL)
	{
		CsvTable   *table = make_table(copy);

		csv_table_check(table);
		if (!comes_once(copy->stmt))
			obstacle = csv_find_oddity(copy->stmt->filename, &copy->options,
									   file_encoding(&copy->options),
									   table->settings.cpu_threads);
	}
	csv_messages_check();
	return obstacle;
}

/*
 * Run the COPY.  Returns false if PostgreSQL must still run it; the frontend or
 * program was not asked for data then.  *obstacle: why the engines did not do it, or
 * NULL.
 */
static bool
run_copy(const CopyStmt *stmt, const char *query, uint64 *nrows, const char **obstacle)
{
	TakenCopy	copy = {.stmt = stmt};
	bool		done;
	bool		is_tried = false;

	copy.pstate = make_parsestate(NULL);
	copy.pstate->p_sourcetext = query;
	*obstacle = begin_copy_silently(&copy);
	if (*obstacle == NULL)
		*obstacle = try_apart(&copy, try_before);
	if (*obstacle == NULL)
		csv_check_permissions(copy.pstate);
	if (*obstacle == NULL && comes_once(stmt))
	{
		copy.incoming = csv_incoming_begin(stmt, &copy.options,
										   file_encoding(&copy.options),
										   list_length(copy.attnums));
		*obstacle = csv_incoming_obstacle(copy.incoming, choice == COPY_FORCE);
	}
	if (*obstacle == NULL)
	{
		is_tried = true;
		*obstacle = try_apart(&copy, try_copy);
		if (*obstacle == NULL)
			report_skipped(&copy);
	}
	*nrows = copy.nrows;
	if (*obstacle != NULL)
		csv_host_counts_add_copy(copy.failed ? "it failed" : *obstacle);
	done = *obstacle == NULL;
	if (copy.incoming != NULL)
	{
		/* PostgreSQL's COPY of a file checks privileges itself */
		if (!done && is_tried)
			csv_check_permissions(copy.pstate);
		if (!done)
			*nrows = csv_incoming_copy(copy.incoming, copy.pstate, copy.relation, stmt,
									   copy.quals);
		csv_incoming_end(copy.incoming);
		done = true;
	}
	table_close(copy.relation, NoLock);
	free_parsestate(copy.pstate);
	return done;
}

static void
process_utility(PlannedStmt *pstmt, const char *query, bool is_read_only,
				ProcessUtilityContext context, ParamListInfo params,
				QueryEnvironment *environment, DestReceiver *dest,
				QueryCompletion *qc)
{
	const CopyStmt *stmt = (const CopyStmt *) pstmt->utilityStmt;
	bool		wanted = choice != COPY_OFF && IsA(stmt, CopyStmt);
	const char *obstacle = NULL;
	uint64		nrows = 0;
	bool		done = false;

	if (wanted)
		obstacle = stmt->is_from ? find_obstacle_in_statement(stmt) :
			find_obstacle_in_hooks(stmt);
	if (obstacle != NULL)
		csv_host_counts_add_copy(obstacle);
	if (wanted && obstacle == NULL)
	{
		MemoryContext outer = CurrentMemoryContext;
		MemoryContext own = AllocSetContextCreate(outer, "csv_gpu_fdw copy",
												  ALLOCSET_DEFAULT_SIZES);

		MemoryContextSwitchTo(own);
		if (stmt->is_from)
			done = run_copy(stmt, query, &nrows, &obstacle);
		else
		{
			obstacle = csv_copy_to(pstmt, query, choice == COPY_FORCE, &nrows);
			done = obstacle == NULL;
			if (!done)
				csv_host_counts_add_copy(obstacle);
		}
		MemoryContextSwitchTo(outer);
		if (obstacle != NULL)
			obstacle = pstrdup(obstacle);
		MemoryContextDelete(own);
	}

	if (!done && next_hook != NULL)
		next_hook(pstmt, query, is_read_only, context, params, environment, dest, qc);
	else if (!done)
		standard_ProcessUtility(pstmt, query, is_read_only, context, params, environment,
								dest, qc);
	else if (qc != NULL)
		SetQueryCompletion(qc, CMDTAG_COPY, nrows);
	if (obstacle != NULL)
		ereport(DEBUG1,
				(errmsg_internal("%s was not taken by csv_gpu_fdw: %s", name_of(stmt),
								 obstacle)));
	if (obstacle != NULL && choice == COPY_FORCE)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("%s was not taken by csv_gpu_fdw", name_of(stmt)),
				 errdetail("Reason: %s.", obstacle)));
}

void
csv_copy_init(void)
{
	DefineCustomEnumVariable("csv_gpu_fdw.copy",
							 "Has COPY read and write CSV and text through csv_gpu_fdw.",
							 "With force, a COPY that PostgreSQL's COPY had to do is an ERROR.",
							 &choice, COPY_OFF, copy_choices,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("csv_gpu_fdw.copy_past_hooks",
							 "Lets csv_gpu_fdw.copy take COPY that other libraries would see otherwise.",
							 "Libraries that were loaded before csv_gpu_fdw do not see such a COPY.",
							 &past_hooks, false,
							 PGC_SUSET, 0, NULL, NULL, NULL);
	next_hook = ProcessUtility_hook;
	ProcessUtility_hook = process_utility;
}
