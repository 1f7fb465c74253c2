/*
 * duckdb.c
 *		Times a statement in DuckDB.
 *
 *	duckdb THREADS STATEMENT...
 *
 * Runs the statements in one connection to a new database in memory.  Prints
 * the milliseconds that the last one took, its result complete in memory, and
 * the most memory the process had, in kB.
 *
 * The library is DUCKDB_LIB, or libduckdb.so beside this program (see
 * get-duckdb.sh).  It is loaded at run time and used through DuckDB's C API,
 * https://duckdb.org/docs/stable/clients/c/api, of which the few declarations
 * needed stand below: so this builds where there is no DuckDB.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* ---- DuckDB's C API ---- */

typedef int duckdb_state;		/* 0 is success */
typedef struct _duckdb_database *duckdb_database;
typedef struct _duckdb_connection *duckdb_connection;

typedef struct
{
	uint64_t	deprecated_counts[3];
	void	   *deprecated_columns;
	char	   *deprecated_error_message;
	void	   *internal_data;
} duckdb_result;

static struct
{
	duckdb_state (*open) (const char *path, duckdb_database *database);
	duckdb_state (*connect) (duckdb_database database,
							 duckdb_connection *connection);
	duckdb_state (*query) (duckdb_connection connection, const char *query,
						   duckdb_result *result);
	const char *(*result_error) (duckdb_result *result);
	void		(*destroy_result) (duckdb_result *result);
	void		(*disconnect) (duckdb_connection *connection);
	void		(*close) (duckdb_database *database);
} duckdb;

static void
load_function(void *library, const char *name, void *function)
{
	void	   *symbol = dlsym(library, name);

	if (symbol == NULL)
	{
		fprintf(stderr, "duckdb: %s\n", dlerror());
		exit(1);
	}
	memcpy(function, &symbol, sizeof(symbol));
}

static void
load_library(void)
{
	const char *name = getenv("DUCKDB_LIB");
	char		beside[PATH_MAX];
	void	   *library;

	if (name == NULL)
	{
		ssize_t		length = readlink("/proc/self/exe", beside,
									  sizeof(beside) - sizeof("libduckdb.so"));
		char	   *slash;

		beside[length < 0 ? 0 : length] = '\0';
		slash = strrchr(beside, '/');
		strcpy(slash != NULL ? slash + 1 : beside, "libduckdb.so");
		name = beside;
	}
	library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	if (library == NULL)
	{
		fprintf(stderr, "duckdb: %s\n", dlerror());
		exit(1);
	}
	load_function(library, "duckdb_open", &duckdb.open);
	load_function(library, "duckdb_connect", &duckdb.connect);
	load_function(library, "duckdb_query", &duckdb.query);
	load_function(library, "duckdb_result_error", &duckdb.result_error);
	load_function(library, "duckdb_destroy_result", &duckdb.destroy_result);
	load_function(library, "duckdb_disconnect", &duckdb.disconnect);
	load_function(library, "duckdb_close", &duckdb.close);
}

/* ---- the statements ---- */

/* how long it took, in milliseconds; does not return from a failure */
static double
run(duckdb_connection connection, const char *statement)
{
	struct timespec start;
	struct timespec end;
	duckdb_result result;

	clock_gettime(CLOCK_MONOTONIC, &start);
	if (duckdb.query(connection, statement, &result) != 0)
	{
		fprintf(stderr, "duckdb: %s\n", duckdb.result_error(&result));
		exit(1);
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	duckdb.destroy_result(&result);
	return (double) (end.tv_sec - start.tv_sec) * 1e3 +
		(double) (end.tv_nsec - start.tv_nsec) * 1e-6;
}

int
main(int argc, char **argv)
{
	duckdb_database database;
	duckdb_connection connection;
	struct rusage usage;
	char		threads[64];
	double		milliseconds = 0;

	if (argc < 3)
	{
		fprintf(stderr, "usage: duckdb THREADS STATEMENT...\n");
		return 2;
	}
	load_library();
	if (duckdb.open(NULL, &database) != 0 ||
		duckdb.connect(database, &connection) != 0)
	{
		fprintf(stderr, "duckdb: cannot open a database\n");
		return 1;
	}
	snprintf(threads, sizeof(threads), "SET threads = %d", atoi(argv[1]));
	run(connection, threads);
	for (int i = 2; i < argc; i++)
		milliseconds = run(connection, argv[i]);
	getrusage(RUSAGE_SELF, &usage);
	printf("%.3f %ld\n", milliseconds, usage.ru_maxrss);
	duckdb.disconnect(&connection);
	duckdb.close(&database);
	return 0;
}
