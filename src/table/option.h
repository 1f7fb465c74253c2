/*
 * option.h
 *		The options of servers, tables and columns: checked when they are set,
 *		and resolved into one plain struct when a table is read.
 *
 *	1. At DDL, csv_gpu_fdw_validator() sees the options of one object at a time.
 *	   It rejects options that are wrong by themselves.
 *	2. csv_table_get() merges the options of a table, its server and its columns
 *	   with the defaults.
 *	3. csv_table_check() (check.c) rejects combinations that are wrong, such as a
 *	   column beyond the last field.  It must be called when a query is planned.
 *	4. csv_table_kind() (check.c) tells the engines how to convert a column.
 */
#ifndef CSV_OPTION_H
#define CSV_OPTION_H

#include "storage/lockdefs.h"
#include "utils/relcache.h"

#include "table/encoding.h"
#include "table/rights.h"
#include "table/table.h"

/* is this foreign table of csv_gpu_fdw? */
extern bool csv_is_csv_table(Oid foreigntableid);

/* open any relation; ERROR if it does not exist */
extern Relation csv_open_relation(Oid relid, LOCKMODE lockmode);

/* open a foreign table for reading; ERROR if it is not ours */
extern Relation csv_open_source(Oid relid);

/* ERROR unless the user has SELECT on all of the table, as whole records need */
extern void csv_check_whole_select(Relation source);

/*
 * Resolves all options of a foreign table.  The result consists of many pieces,
 * allocated in the current memory context.  Caller must hold a lock on the table.
 */
extern CsvTable *csv_table_get(Oid foreigntableid);

/*
 * Like csv_table_get(), but with server options that another process has seen.  The
 * lock on the table does not keep the server's options from changing.
 */
extern CsvTable *csv_table_get_as(Oid foreigntableid, List *server_options);

/*
 * Makes a table that is in no catalog, of a server (InvalidOid: none), with
 * the given options of a table (DefElems) and without columns.  ERROR if an
 * option is wrong.
 */
extern CsvTable *csv_table_make(Oid server, List *table_options);

/* gives a table of csv_table_make() nfields columns of type text, one per field */
extern void csv_table_set_fields(CsvTable *table, uint32 nfields);

/* sorts a list of DefElem; ERROR if an option is unknown or wrong */
extern void csv_import_options(List *options, CsvImportOptions *import);

/* do the file's name and the table's options determine the column's value? */
extern bool csv_is_of_file(const CsvTableColumn *column);

/*
 * May a message quote a value of the column?  As in the server's own messages: only if
 * the user who gets the message may read the column, of this table or of a table that
 * it is a partition of.  The rights of a view's owner do not count, though the table
 * is read with them.
 */
extern bool csv_may_quote(const CsvTable *table, const CsvTableColumn *column);

/* may rows be inserted into the foreign table? */
extern bool csv_table_is_writable(Oid foreigntableid);

/* the numbers of all attributes that are not dropped, as a set */
extern Bitmapset *csv_table_attributes(const CsvTable *table);

/*
 * csv_table_check(): ERROR if the options of the table and its columns conflict; the
 * message names both.  csv_table_check_encoding(): ERROR if the file's text could not
 * be converted, as in COPY.  csv_table_check_written_name(): ERROR if rows cannot be
 * written to files of this name.  check.c.
 */
extern void csv_table_check(const CsvTable *table);
extern void csv_table_check_written_name(const CsvTable *table);
extern void csv_table_check_encoding(const CsvTable *table);

/*
 * The number for a value of csv_gpu_fdw.cpu_threads.  0 means: as many as the cores
 * that the process may use, within PostgreSQL's limits for the processes of a query,
 * including the backend itself.  A parallel worker gets one, because other workers
 * run, too.
 */
extern int	csv_thread_count(int setting);

/*
 * How many of a scan's threads decompress a file.  As many parse the stream, at the
 * same time.
 */
extern int	csv_stream_threads(int nthreads);

/* do decimal and thousands separators apply to a type? */
extern bool csv_table_is_number(Oid type);

/*
 * Returns the kind of a column, and fills *out with how engines must convert it.
 * out->field is 0 for a column found by header_name; the code that reads the header
 * must fill it in.
 */
extern CsvKind csv_table_kind(const CsvTableColumn *column, CsvColumn *out);

#endif							/* CSV_OPTION_H */
