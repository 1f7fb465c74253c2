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
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "compat.h"
#include "table/option_list.h"
#include "table/prefix.h"
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
	List	   *limited[CSV_NUM_ACCESSES];	/* OIDs of servers that had prefixes */
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
			 errdetail("Only roles with privileges of the \"%s\" role may %s.", name, deed),
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
	check_role_of(user, csv_role_for(name, access),
				  psprintf("to set the \"%s\" option of a csv_gpu_fdw foreign table",
						   access == CSV_ACCESS_READ ? "filename" : "writable"),
				  "set this option");
}

/* ---- prefixes ---- */

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

/* ---- servers ---- */

bool
csv_is_wrapper(Oid wrapper)
{
	Oid			handler = GetForeignDataWrapper(wrapper)->fdwhandler;

	return OidIsValid(handler) && strcmp(get_func_name(handler), "csv_gpu_fdw_handler") == 0;
}

static int
compare_servers(const ListCell *a, const ListCell *b)
{
	return strcmp(((ForeignServer *) lfirst(a))->servername,
				  ((ForeignServer *) lfirst(b))->servername);
}

/* all servers of csv_gpu_fdw */
static List *
list_servers(void)
{
	Relation	catalog = table_open(ForeignServerRelationId, AccessShareLock);
	SysScanDesc scan = systable_beginscan(catalog, InvalidOid, false, NULL, 0, NULL);
	List	   *servers = NIL;
	HeapTuple	tuple;

	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_foreign_server form = (Form_pg_foreign_server) GETSTRUCT(tuple);

		if (csv_is_wrapper(form->srvfdw))
			servers = lappend(servers, GetForeignServer(form->oid));
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	list_sort(servers, compare_servers);
	return servers;
}

static bool
has_usage(Oid server, Oid user)
{
	return csv_server_aclcheck(server, user, ACL_USAGE) == ACLCHECK_OK;
}

List *
csv_usable_servers(void)
{
	List	   *usable = NIL;
	ListCell   *cell;

	foreach(cell, list_servers())
		if (has_usage(((ForeignServer *) lfirst(cell))->serverid, GetUserId()))
			usable = lappend(usable, lfirst(cell));
	return usable;
}

static CsvRights
rights_of(const ForeignServer *server)
{
	return csv_rights_get(server->servername, server->options);
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
	RightsNote *note = palloc0(sizeof(RightsNote));
	ListCell   *cell;

	note->command = GetCurrentCommandId(false);
	note->user = GetUserId();
	note->catalog = catalog;
	foreach(cell, catalog == ForeignServerRelationId ? list_servers() : NIL)
	{
		const ForeignServer *server = lfirst(cell);
		const CsvRights rights = rights_of(server);

		for (int i = 0; i < CSV_NUM_ACCESSES; i++)
			if (rights.given[i])
				note->limited[i] = lappend_oid(note->limited[i], server->serverid);
	}
	notes = lappend(notes, note);
	MemoryContextSwitchTo(outer);
	if (!is_registered)
		RegisterXactCallback(end_transaction, NULL);
	is_registered = true;
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

void
csv_note_table(List *options)
{
	CsvAccess	most;
	const char *name = name_of(options, &most);
	ListCell   *cell;

	for (int i = most; name != NULL && i >= CSV_ACCESS_READ; i--)
	{
		bool		may = has_privs_of_role(GetUserId(), csv_role_for(name, i));

		foreach(cell, may ? NIL : csv_usable_servers())
			may |= rights_of(lfirst(cell)).given[i];
		if (!may)
			check_may_set(GetUserId(), name, i);
	}
	add_note(ForeignTableRelationId);
}

void
csv_note_server(void)
{
	add_note(ForeignServerRelationId);
}

/* ---- decide ---- */

/*
 * May the user set the name of the table's files?  If a server's prefixes
 * refuse those who may set any name, this is a WARNING: a dump can be
 * restored.
 */
static void
check_table(const RightsNote *note, Oid relid)
{
	const ForeignTable *table = GetForeignTable(relid);
	const ForeignServer *server = GetForeignServer(table->serverid);
	const CsvRights rights = rights_of(server);
	CsvAccess	most;
	const char *name = name_of(table->options, &most);

	for (int i = CSV_ACCESS_READ; name != NULL && i <= (int) most; i++)
	{
		const bool	may = has_privs_of_role(note->user, csv_role_for(name, i));

		if (!rights.given[i])
			check_may_set(note->user, name, i);
		if (!may && !has_usage(table->serverid, note->user))
			aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_FOREIGN_SERVER, server->servername);
		if (!csv_is_allowed(&rights, name, i))
			csv_refuse_name(may ? WARNING : ERROR, &rights, name);
	}
}

/*
 * ERROR if a table of the server belongs to a role that could not set its
 * file's name
 */
static void
check_owners(const ForeignServer *server, CsvAccess access)
{
	Relation	catalog = table_open(ForeignTableRelationId, AccessShareLock);
	SysScanDesc scan = systable_beginscan(catalog, InvalidOid, false, NULL, 0, NULL);
	HeapTuple	tuple;

	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_foreign_table form = (Form_pg_foreign_table) GETSTRUCT(tuple);
		const char *name;
		CsvAccess	most;
		HeapTuple	class;
		Oid			owner;

		if (form->ftserver != server->serverid)
			continue;
		name = name_of(GetForeignTable(form->ftrelid)->options, &most);
		if (name == NULL || access > most)
			continue;
		class = SearchSysCache1(RELOID, ObjectIdGetDatum(form->ftrelid));
		if (!HeapTupleIsValid(class))
			continue;
		owner = ((Form_pg_class) GETSTRUCT(class))->relowner;
		ReleaseSysCache(class);
		if (!has_privs_of_role(owner, csv_role_for(name, access)))
			ereport(ERROR,
					(errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
					 errmsg("cannot drop option \"%s\" of server \"%s\": foreign table \"%s\" needs it",
							option_names[access], server->servername,
							get_rel_name(form->ftrelid)),
					 errdetail("Its owner \"%s\" does not have privileges of the \"%s\" role.",
							   GetUserNameFromId(owner, false),
							   GetUserNameFromId(csv_role_for(name, access), false)),
					 errhint("To allow nothing, run: ALTER SERVER %s OPTIONS (SET %s '{}');",
							 quote_identifier(server->servername), option_names[access])));
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
}

static void
check_server(const RightsNote *note, Oid serverid)
{
	const ForeignServer *server = GetForeignServer(serverid);
	const CsvRights rights = rights_of(server);

	for (int i = 0; i < CSV_NUM_ACCESSES; i++)
		if (!rights.given[i] && list_member_oid(note->limited[i], serverid))
			check_owners(server, i);
}

/* the rows of its catalog that the note's command has written */
static List *
find_rows(const RightsNote *note)
{
	Relation	catalog = table_open(note->catalog, AccessShareLock);
	SysScanDesc scan = systable_beginscan(catalog, InvalidOid, false, NULL, 0, NULL);
	List	   *rows = NIL;
	HeapTuple	tuple;

	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		HeapTupleHeader header = tuple->t_data;

		if (!TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(header)) ||
			HeapTupleHeaderGetCmin(header) != note->command)
			continue;
		rows = lappend_oid(rows, note->catalog == ForeignTableRelationId ?
						   ((Form_pg_foreign_table) GETSTRUCT(tuple))->ftrelid :
						   ((Form_pg_foreign_server) GETSTRUCT(tuple))->oid);
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return rows;
}

void
csv_settle_rights(void)
{
	while (notes != NIL)
	{
		const RightsNote *note = linitial(notes);
		ListCell   *cell;

		foreach(cell, find_rows(note))
			if (note->catalog == ForeignTableRelationId)
				check_table(note, lfirst_oid(cell));
			else
				check_server(note, lfirst_oid(cell));

		/*
		 * an ERROR leaves it, and the statement's subtransaction takes the row
		 * back
		 */
		notes = list_delete_first(notes);
	}
}

PG_FUNCTION_INFO_V1(csv_gpu_check_rights);

/*
 * csv_gpu_check_rights(): the event trigger at the end of statements that note
 * something
 */
Datum
csv_gpu_check_rights(PG_FUNCTION_ARGS)
{
	csv_begin_function(fcinfo, "-> event_trigger");
	csv_settle_rights();
	PG_RETURN_NULL();
}
