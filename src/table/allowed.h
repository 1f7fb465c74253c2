/*
 * allowed.h
 *		Which names and files the prefixes of a server allow.
 */
#ifndef CSV_ALLOWED_H
#define CSV_ALLOWED_H

#include <sys/stat.h>

#include "nodes/pg_list.h"

typedef enum CsvAccess
{
	CSV_ACCESS_READ,
	CSV_ACCESS_WRITE,
	CSV_NUM_ACCESSES
} CsvAccess;

/* the prefixes of a server, by CsvAccess */
typedef struct CsvRights
{
	const char *server;			/* its name */
	bool		given[CSV_NUM_ACCESSES];	/* false: everything is allowed */
	List	   *prefixes[CSV_NUM_ACCESSES]; /* String nodes */
} CsvRights;

/* does the name begin with the scheme of a URL that can be read? */
extern bool csv_is_url(const char *name);

/* an absolute path or a URL without dots, user, query and, if any, wildcards */
extern bool csv_is_prefix(const char *prefix);

/*
 * Does the server allow the name, or each name that it matches as a pattern?
 * Links are not followed.
 *
 * A prefix stands for whole components: "/data/in" for itself and "/data/in/...".
 * Hosts are compared in lower case and without the default port, paths of http
 * and https percent-decoded, buckets and keys of s3 as they are.  "." and ".."
 * in URLs, and ".." in paths, are below nothing.
 */
extern bool csv_is_allowed(const CsvRights *rights, const char *name,
						   CsvAccess access);

/* ERROR, or a report of another level: it does not */
extern void csv_refuse_name(int elevel, const CsvRights *rights,
							const char *name);

/*
 * ERROR unless the server allows the name, which may be a URL or a pattern.
 * Links are not followed: a file must be opened by csv_rights_open(), too.
 */
extern void csv_check_allowed(const CsvRights *rights, const char *name,
							  CsvAccess access);

/*
 * stat() of a local file, or -1 with errno EACCES if it is not allowed, or
 * links lead out of what is allowed.
 */
extern int	csv_rights_stat(const CsvRights *rights, const char *name,
							CsvAccess access, struct stat *st);

/* open() of a local file for reading, likewise.  Other files are not opened. */
extern int	csv_rights_open(const CsvRights *rights, const char *name,
							int flags);

/* ERROR if a file that is open for reading, or a directory, is not allowed */
extern void csv_check_file(const CsvRights *rights, const char *name, int fd);

/* ERROR if a local file is not allowed, or links lead out */
extern void csv_check_links(const CsvRights *rights, const char *name,
							CsvAccess access);

/*
 * Finds the directory in which a local file may be written, if the last
 * component of the name is no link.  Returns false if it is not there; ERROR
 * if it is not allowed.
 */
extern bool csv_check_written(const CsvRights *rights, const char *name,
							  struct stat *directory);

#endif							/* CSV_ALLOWED_H */
