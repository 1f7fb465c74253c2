/*
 * rights.c
 *		Who may read and write which files.
 *
 * A note names the row of a catalog that the statement is about to write, by
 * the number of the command: the row has it as its cmin.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "catalog/pg_foreign_server.h"
#include "catalog/pg_foreign_table.h"
#include "commands/defrem.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "compat.h"
#include "table/option_list.h"
#include "table/release.h"
#include "table/rights.h"

/* by CsvAccess */
static const char *const option_names[] = {"allowed", "allowed_write"};

/* what the validator was called for */
typedef struct RightsNote
{
	CommandId	command;
	Oid			user;
	Oid			catalog;		/* pg_foreign_table or pg_foreign_server */
	List	   *servers;		/* ForeignServers, as they were before */
} RightsNote;

/* of this transaction, in its memory context */
static List *notes = NIL;

/* ---- roles ---- */

Oid
csv_role_for(const char *name, CsvAccess access)
{
	return csv_is_url(name) ? ROLE_PG_EXECUTE_SERVER_PROGRAM :
		access == CSV_ACCESS_READ ? ROLE_PG_READ_SERVER_FILES :
		ROLE_PG_WRITE_SERVER_FILES;
}

static void
check_role_of(Oid user, Oid role, const char *denied, const char *deed)
{
	const char *name;

	if (has_privs_of_role(user, role))
		return;
	name = GetUserNameFromId(role, false);
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("permission denied %s", denied),
			 errdetail("Only roles with privileges of the \"%s\" role may %s.",
					   name, deed),
			 errhint("A superuser can run: GRANT %s TO %s;", name,
					 quote_identifier(GetUserNameFromId(user, false)))));
}

void
csv_check_role(Oid role, const char *denied, const char *deed)
{
	check_role_of(GetUserId(), role, denied, deed);
}

static void
check_may_set(Oid user, const char *name, CsvAccess access)
{
	const char *option = access == CSV_ACCESS_READ ? "filename" : "writable";

	check_role_of(user, csv_role_for(name, access),
				  psprintf("to set the \"%s\" option of a csv_gpu_fdw foreign table",
						   option), "set this option");
}

/* ---- servers and tables ---- */

CsvRights
csv_rights_get(const char *server, List *options)
{
	CsvRights	rights = {.server = server};
	ListCell   *cell;

	foreach(cell, options)
	{
		DefElem    *def = lfirst(cell);

		for (int i = 0; i < CSV_NUM_ACCESSES; i++)
			if (strcmp(def->defname, option_names[i]) == 0)
			{
				rights.given[i] = true;
				rights.prefixes[i] = csv_option_prefixes(def);
			}
	}
	return rights;
}

CsvRights
csv_rights_of(const ForeignServer *server)
{
	return csv_rights_get(server->servername, server->options);
}

/* the name of a table's files, and what is done to them; NULL: it has none */
static const char *
name_of(List *options, CsvAccess *access)
{
	const char *name = NULL;
	ListCell   *cell;

	*access = CSV_ACCESS_READ;
	foreach(cell, options)
	{
		DefElem    *def = lfirst(cell);

		if (strcmp(def->defname, "filename") == 0)
			name = defGetString(def);
		else if (strcmp(def->defname, "writable") == 0 && defGetBoolean(def))
			*access = CSV_ACCESS_WRITE;
	}
	return name;
}

bool
csv_is_wrapper(Oid wrapper)
{
	Oid			handler = GetForeignDataWrapper(wrapper)->fdwhandler;

	return OidIsValid(handler) &&
		strcmp(get_func_name(handler), "csv_gpu_fdw_handler") == 0;
}

/*
 * The OIDs of all foreign tables or servers.  If commands is not NULL: only rows
 * that this transaction has written, and the commands that did.
 */
static List *
list_oids(Oid catalog, List **commands)
{
	Relation	relation = table_open(catalog, AccessShareLock);
	SysScanDesc scan = systable_beginscan(relation, InvalidOid, false, NULL, 0,
										  NULL);
	List	   *oids = NIL;
	HeapTuple	tuple;

	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		HeapTupleHeader row = tuple->t_data;
		TransactionId xmin = HeapTupleHeaderGetXmin(row);

		if (commands != NULL && !TransactionIdIsCurrentTransactionId(xmin))
			continue;
		if (commands != NULL)
			*commands = lappend_oid(*commands, HeapTupleHeaderGetCmin(row));
		oids = lappend_oid(oids, catalog == ForeignTableRelationId ?
						   ((Form_pg_foreign_table) GETSTRUCT(tuple))->ftrelid :
						   ((Form_pg_foreign_server) GETSTRUCT(tuple))->oid);
	}
	systable_endscan(scan);
	table_close(relation, AccessShareLock);
	return oids;
}

static int
compare_servers(const ListCell *a, const ListCell *b)
{
	return strcmp(((ForeignServer *) lfirst(a))->servername,
				  ((ForeignServer *) lfirst(b))->servername);
}

static bool
has_usage(Oid server, Oid user)
{
	return csv_server_aclcheck(server, user, ACL_USAGE) == ACLCHECK_OK;
}

List *
csv_servers(Oid user)
{
	List	   *servers = NIL;
	ListCell   *cell;

	foreach(cell, list_oids(ForeignServerRelationId, NULL))
	{
		ForeignServer *server =
			GetForeignServerExtended(lfirst_oid(cell), FSV_MISSING_OK);

		if (server != NULL && csv_is_wrapper(server->fdwid) &&
			(!OidIsValid(user) || has_usage(server->serverid, user)))
			servers = lappend(servers, server);
	}
	list_sort(servers, compare_servers);
	return servers;
}

/* ---- notes ---- */

static void
end_transaction(XactEvent event, void *arg)
{
	if (event == XACT_EVENT_PRE_COMMIT || event == XACT_EVENT_PRE_PREPARE)
		csv_settle_rights();
	else if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT ||
			 event == XACT_EVENT_PREPARE)
		notes = NIL;
}

static void
add_note(Oid catalog)
{
	static bool is_registered = false;
	MemoryContext outer = MemoryContextSwitchTo(TopTransactionContext);
	RightsNote *note = palloc(sizeof(RightsNote));

	note->command = GetCurrentCommandId(false);
	note->user = GetUserId();
	note->catalog = catalog;
	note->servers = catalog == ForeignTableRelationId ? NIL :
		csv_servers(InvalidOid);
	notes = lappend(notes, note);
	MemoryContextSwitchTo(outer);
	if (!is_registered)
		RegisterXactCallback(end_transaction, NULL);
	is_registered = true;
}

void
csv_note_table(List *options)
{
	CsvAccess	most;
	const char *name = name_of(options, &most);
	ListCell   *cell;
	bool		any_limited = false;

	for (int i = most; name != NULL && i >= CSV_ACCESS_READ; i--)
	{
		bool		limited = false;

		foreach(cell, csv_servers(GetUserId()))
			limited |= csv_rights_of(lfirst(cell)).given[i];
		if (!limited)
			check_may_set(GetUserId(), name, i);
		any_limited |= limited;
	}
	if (any_limited)
		add_note(ForeignTableRelationId);
}

void
csv_note_server(void)
{
	add_note(ForeignServerRelationId);
}

/*
 * May the user set the name of the table's files?  If a server's prefixes
 * refuse those who may set any name, this is a WARNING: a dump can be restored.
 */
static void
check_table(Oid user, Oid relid)
{
	const ForeignTable *table = GetForeignTable(relid);
	const ForeignServer *server = GetForeignServer(table->serverid);
	const CsvRights rights = csv_rights_of(server);
	CsvAccess	most;
	const char *name = name_of(table->options, &most);

	for (int i = CSV_ACCESS_READ; name != NULL && i <= (int) most; i++)
	{
		const bool	may = has_privs_of_role(user, csv_role_for(name, i));

		if (!rights.given[i])
			check_may_set(user, name, i);
		if (!may && !has_usage(table->serverid, user))
			aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_FOREIGN_SERVER,
						   server->servername);
		if (!csv_is_allowed(&rights, name, i))
			csv_refuse_name(may ? WARNING : ERROR, &rights, name);
	}
}

/* the owner of a table, if only the server's prefixes let it name its files */
static Oid
owner_in_need(Oid relid, Oid server, CsvAccess access)
{
	const ForeignTable *table = GetForeignTable(relid);
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	CsvAccess	most;
	const char *name = name_of(table->options, &most);
	Oid			owner = InvalidOid;

	if (!HeapTupleIsValid(tuple))
		return InvalidOid;
	owner = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
	ReleaseSysCache(tuple);
	return table->serverid == server && name != NULL && access <= most &&
		!has_privs_of_role(owner, csv_role_for(name, access)) ? owner :
		InvalidOid;
}

/* ERROR if a server has lost an option that a table needs */
static void
check_server(const ForeignServer *before)
{
	const CsvRights rights = csv_rights_of(GetForeignServer(before->serverid));
	ListCell   *cell;

	for (int i = 0; i < CSV_NUM_ACCESSES; i++)
		foreach(cell, rights.given[i] || !csv_rights_of(before).given[i] ? NIL :
				list_oids(ForeignTableRelationId, NULL))
		{
			Oid			owner =
				owner_in_need(lfirst_oid(cell), before->serverid, i);

			if (OidIsValid(owner))
				ereport(ERROR,
						(errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
						 errmsg("cannot drop option \"%s\" of server \"%s\": foreign table \"%s\" needs it",
								option_names[i], rights.server,
								get_rel_name(lfirst_oid(cell))),
						 errdetail("Its owner \"%s\" may not name its files otherwise.",
								   GetUserNameFromId(owner, false)),
						 errhint("To allow nothing, run: ALTER SERVER %s OPTIONS (SET %s '{}');",
								 quote_identifier(rights.server),
								 option_names[i])));
		}
}

/* decides about a row of the catalog that a note is of, or of none */
static void
settle(const RightsNote *note, Oid catalog, Oid row, CommandId command)
{
	ListCell   *cell;

	if (note->catalog != catalog || note->command != command)
		return;
	if (catalog == ForeignTableRelationId)
		check_table(note->user, row);
	foreach(cell, note->servers)
		if (((ForeignServer *) lfirst(cell))->serverid == row)
			check_server(lfirst(cell));
}

void
csv_settle_rights(void)
{
	const Oid	catalogs[] = {ForeignTableRelationId, ForeignServerRelationId};

	for (int i = 0; notes != NIL && i < lengthof(catalogs); i++)
	{
		List	   *commands = NIL;
		List	   *rows = list_oids(catalogs[i], &commands);
		ListCell   *row;
		ListCell   *command;
		ListCell   *note;

		forboth(row, rows, command, commands)
			foreach(note, notes)
				settle(lfirst(note), catalogs[i], lfirst_oid(row),
					   lfirst_oid(command));
	}
	/* after an ERROR, the notes are of no rows that are left */
	notes = NIL;
}

PG_FUNCTION_INFO_V1(csv_gpu_check_rights);

/* csv_gpu_check_rights(): the event trigger at the end of statements */
Datum
csv_gpu_check_rights(PG_FUNCTION_ARGS)
{
	csv_begin_function(fcinfo, "-> event_trigger");
	csv_settle_rights();
	PG_RETURN_NULL();
}
