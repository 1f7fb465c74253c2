/*
 * allowed.c
 *		Which names and files the prefixes of a server allow.
 *
 * A path leads elsewhere if it has a symbolic link, which may be replaced at any
 * moment.  So a file is found by a descriptor that does not open it (O_PATH),
 * whose name the kernel knows, and what is read is that descriptor's file.
 */
#include "postgres.h"

#include <ctype.h>
#include <fcntl.h>
#include <unistd.h>

#include "lib/stringinfo.h"
#include "nodes/value.h"

#include "table/allowed.h"
#include "table/text.h"

/* ---- names ---- */

static bool
begins(const char *name, const char *scheme)
{
	return pg_strncasecmp(name, scheme, strlen(scheme)) == 0;
}

bool
csv_is_url(const char *name)
{
	return begins(name, "s3://") || begins(name, "http://") ||
		begins(name, "https://");
}

/*
 * A name in the form in which it is compared, or NULL if it is odd: servers or
 * libraries may read it in another way.
 */
static char *
canonical_name(const char *name)
{
	const bool	is_url = csv_is_url(name);
	const bool	is_s3 = begins(name, "s3://");
	const char *ends = is_url && !is_s3 ? "/?#" : "/";
	const char *at = name;
	StringInfoData canonical;

	initStringInfo(&canonical);
	if (is_url)
	{
		const char *port = is_s3 ? "" : begins(name, "http:") ? ":80" : ":443";
		const char *host = strstr(name, "://") + 3;
		const char *end = host + strcspn(host, ends);
		size_t		nport = strlen(port);

		for (; at < end; at++)
		{
			if (at >= host && !isalnum((unsigned char) *at) &&
				strchr(is_s3 ? "-._" : "-._:[]", *at) == NULL)
				return NULL;
			/* names of buckets may differ by case only */
			appendStringInfoChar(&canonical, is_s3 && at >= host ? *at :
								 (char) pg_tolower((unsigned char) *at));
		}
		if (end == host)
			return NULL;
		if (end > host + nport && strncmp(end - nport, port, nport) == 0)
			canonical.data[canonical.len -= (int) nport] = '\0';
	}
	else if (*name != '/')
		return NULL;
	while (*at == '/')
	{
		size_t		n = strcspn(++at, ends);
		char	   *literal = pnstrdup(at, n);
		char	   *decoded = is_url ? csv_decode_percent(at, n) : literal;

		at += n;
		/* a key may have empty components, a path has none */
		if (!is_url && (n == 0 || strcmp(decoded, ".") == 0))
			continue;
		if (strcmp(decoded, "..") == 0 || strcmp(decoded, ".") == 0 ||
			(is_url && strstr(literal, "%00") != NULL) ||
			(is_url && !is_s3 && strpbrk(decoded, "/\\") != NULL))
			return NULL;
		appendStringInfo(&canonical, "/%s", is_s3 ? literal : decoded);
	}
	return canonical.data;
}

bool
csv_is_prefix(const char *prefix)
{
	return canonical_name(prefix) != NULL &&
		strpbrk(prefix, begins(prefix, "http") ? "?#" : "*?[") == NULL;
}

static bool
is_below(const char *name, const char *prefix)
{
	char	   *canonical = canonical_name(name);
	char	   *start = canonical_name(prefix);
	size_t		n = start != NULL ? strlen(start) : 0;

	if (n > 0 && start[n - 1] == '/')
		n--;
	return canonical != NULL && start != NULL &&
		strncmp(canonical, start, n) == 0 &&
		(canonical[n] == '/' || canonical[n] == '\0');
}

bool
csv_is_allowed(const CsvRights *rights, const char *name, CsvAccess access)
{
	ListCell   *cell;

	foreach(cell, rights->prefixes[access])
		if (is_below(name, strVal(lfirst(cell))))
			return true;
	return !rights->given[access];
}

void
csv_refuse_name(int elevel, const CsvRights *rights, const char *name)
{
	ereport(elevel,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("\"%s\" is not below a prefix that server \"%s\" allows",
					csv_shown_filename(name), rights->server)));
}

void
csv_check_allowed(const CsvRights *rights, const char *name, CsvAccess access)
{
	if (!csv_is_allowed(rights, name, access))
		csv_refuse_name(ERROR, rights, name);
}

/* ---- files ---- */

/*
 * Is the descriptor's file allowed, or the file of the name `base` in its
 * directory?  A descriptor's name has no links.  The links of a prefix count.
 */
static bool
is_file_allowed(const CsvRights *rights, int fd, const char *base,
				CsvAccess access)
{
	char		target[MAXPGPATH];
	char		link[32];
	char	   *name;
	ssize_t		n;
	ListCell   *cell;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, target, sizeof(target));
	if (n < 0 || n == sizeof(target))
		return false;
	name = psprintf("%.*s%s%s", (int) n, target, base != NULL ? "/" : "",
					base != NULL ? base : "");
	if (csv_is_allowed(rights, name, access))
		return true;
	foreach(cell, rights->prefixes[access])
		if (is_below(name, csv_real_path(strVal(lfirst(cell)))))
			return true;
	return false;
}

/*
 * May the user know that there is no file of the name?  Not if a directory above
 * it is not allowed, or a link leads to it.
 */
static bool
may_be_missed(const CsvRights *rights, const char *name, CsvAccess access)
{
	char	   *path = pstrdup(name);
	struct stat st;

	for (; csv_is_allowed(rights, path, access); get_parent_directory(path))
	{
		int			fd = open(path, O_PATH | O_CLOEXEC);

		if (fd >= 0)
		{
			bool		allowed = is_file_allowed(rights, fd, NULL, access);

			close(fd);
			return allowed;
		}
		if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
			return false;
	}
	return true;
}

/*
 * A descriptor that stands for an allowed file, or for the directory of the name
 * `base`; -1 with errno.  *outside: it is not allowed.
 */
static int
find_allowed(const CsvRights *rights, const char *path, const char *base,
			 CsvAccess access, bool *outside)
{
	int			fd = open(path, O_PATH | O_CLOEXEC);
	int			error = errno;

	*outside = fd >= 0 ? !is_file_allowed(rights, fd, base, access) :
		!may_be_missed(rights, path, access);
	if (*outside && fd >= 0)
	{
		close(fd);
		fd = -1;
	}
	errno = *outside ? EACCES : error;
	return fd;
}

/* closes it, with the errno that there was before */
static void
close_found(int fd)
{
	int			error = errno;

	close(fd);
	errno = error;
}

/* a descriptor that stands for a file whose name is allowed, too */
static int
find_named(const CsvRights *rights, const char *name, CsvAccess access)
{
	bool		outside;

	errno = EACCES;
	return csv_is_allowed(rights, name, access) ?
		find_allowed(rights, name, NULL, access, &outside) : -1;
}

int
csv_rights_stat(const CsvRights *rights, const char *name, CsvAccess access,
				struct stat *st)
{
	int			fd;
	int			result;

	if (!rights->given[access])
		return stat(name, st);
	fd = find_named(rights, name, access);
	if (fd < 0)
		return -1;
	result = fstat(fd, st);
	close_found(fd);
	return result;
}

int
csv_rights_open(const CsvRights *rights, const char *name, int flags)
{
	char		link[32];
	int			found;
	int			fd;

	if (!rights->given[CSV_ACCESS_READ])
		return open(name, flags);
	found = find_named(rights, name, CSV_ACCESS_READ);
	if (found < 0)
		return -1;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", found);
	fd = open(link, flags);
	close_found(found);
	return fd;
}

void
csv_check_file(const CsvRights *rights, const char *name, int fd)
{
	if (rights->given[CSV_ACCESS_READ] &&
		!is_file_allowed(rights, fd, NULL, CSV_ACCESS_READ))
		csv_refuse_name(ERROR, rights, name);
}

void
csv_check_links(const CsvRights *rights, const char *name, CsvAccess access)
{
	bool		outside;
	int			fd;

	csv_check_allowed(rights, name, access);
	if (!rights->given[access])
		return;
	fd = find_allowed(rights, name, NULL, access, &outside);
	if (fd >= 0)
		close(fd);
	if (outside)
		csv_refuse_name(ERROR, rights, name);
}

bool
csv_check_written(const CsvRights *rights, const char *name,
				  struct stat *directory)
{
	const char *slash = last_dir_separator(name);
	bool		outside;
	int			fd;

	csv_check_links(rights, name, CSV_ACCESS_WRITE);
	fd = find_allowed(rights, csv_directory_of(name), slash + 1,
					  CSV_ACCESS_WRITE, &outside);
	if (outside || (fd >= 0 && fstat(fd, directory) != 0))
		csv_refuse_name(ERROR, rights, name);
	if (fd >= 0)
		close_found(fd);
	return fd >= 0;
}
