/*
 * allowed.c
 *		Which names and files the prefixes of a server allow.
 *
 * Paths lead elsewhere if they have symbolic links, which may be replaced at
 * any moment.  So a file is found by a descriptor that does not open it
 * (O_PATH), whose name the kernel knows, and what is read is that descriptor's
 * file.
 */
#include "postgres.h"

#include <fcntl.h>
#include <unistd.h>

#include "nodes/value.h"

#include "table/allowed.h"
#include "table/prefix.h"
#include "table/text.h"

bool
csv_is_allowed(const CsvRights *rights, const char *name, CsvAccess access)
{
	ListCell   *cell;

	foreach(cell, rights->prefixes[access])
		if (csv_is_below(name, strVal(lfirst(cell))))
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

/* ---- links ---- */

/*
 * Is the descriptor's file allowed, or the file of the name `base` in its
 * directory?  A descriptor's name has no links.  The links of a prefix count.
 */
static bool
is_file_allowed(const CsvRights *rights, int fd, const char *base, CsvAccess access)
{
	char		target[MAXPGPATH];
	char	   *name;
	ssize_t		n = readlink(psprintf("/proc/self/fd/%d", fd), target, sizeof(target));
	ListCell   *cell;

	if (n < 0 || n == sizeof(target))
		return false;
	name = psprintf("%.*s%s%s", (int) n, target, base != NULL ? "/" : "",
					base != NULL ? base : "");
	if (csv_is_allowed(rights, name, access))
		return true;
	foreach(cell, rights->prefixes[access])
		if (csv_is_below(name, csv_real_path(strVal(lfirst(cell)))))
			return true;
	return false;
}

/*
 * May the user know that there is no file of the name?  Not if a directory
 * above it is not allowed, or a link leads to it.
 */
static bool
may_be_missed(const CsvRights *rights, const char *name, CsvAccess access)
{
	char	   *path = pstrdup(name);
	struct stat st;

	while (csv_is_allowed(rights, path, access))
	{
		int			fd = open(path, O_PATH | O_CLOEXEC);
		bool		allowed;

		if (fd >= 0)
		{
			allowed = is_file_allowed(rights, fd, NULL, access);
			close(fd);
			return allowed;
		}
		if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
			return false;
		get_parent_directory(path);
	}
	return true;
}

/*
 * A descriptor that stands for an allowed file, which is not opened; -1 with
 * errno. *outside: it is not allowed.
 */
static int
find_allowed(const CsvRights *rights, const char *name, CsvAccess access, bool *outside)
{
	int			fd = -1;
	int			error = EACCES;

	*outside = !csv_is_allowed(rights, name, access);
	if (!*outside)
	{
		fd = open(name, O_PATH | O_CLOEXEC);
		error = errno;
		*outside = fd >= 0 ? !is_file_allowed(rights, fd, NULL, access) :
			!may_be_missed(rights, name, access);
	}
	if (*outside && fd >= 0)
	{
		close(fd);
		fd = -1;
	}
	errno = *outside ? EACCES : error;
	return fd;
}

int
csv_rights_stat(const CsvRights *rights, const char *name, CsvAccess access,
				struct stat *st)
{
	bool		outside;
	int			fd;
	int			result;
	int			error;

	if (!rights->given[access])
		return stat(name, st);
	fd = find_allowed(rights, name, access, &outside);
	if (fd < 0)
		return -1;
	result = fstat(fd, st);
	error = errno;
	close(fd);
	errno = error;
	return result;
}

int
csv_rights_open(const CsvRights *rights, const char *name, int flags)
{
	bool		outside;
	int			found;
	int			fd;
	int			error;

	if (!rights->given[CSV_ACCESS_READ])
		return open(name, flags);
	found = find_allowed(rights, name, CSV_ACCESS_READ, &outside);
	if (outside)
		csv_refuse_name(ERROR, rights, name);
	if (found < 0)
		return -1;
	fd = open(psprintf("/proc/self/fd/%d", found), flags);
	error = errno;
	close(found);
	errno = error;
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
	bool		outside = false;
	int			fd = rights->given[access] ?
		find_allowed(rights, name, access, &outside) : -1;

	if (fd >= 0)
		close(fd);
	if (outside)
		csv_refuse_name(ERROR, rights, name);
}

bool
csv_check_written(const CsvRights *rights, const char *name, struct stat *directory)
{
	const char *slash = last_dir_separator(name);
	char	   *path = csv_directory_of(name);
	bool		allowed;
	int			fd;

	csv_check_allowed(rights, name, CSV_ACCESS_WRITE);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		allowed = may_be_missed(rights, path, CSV_ACCESS_WRITE);
	else
	{
		allowed = is_file_allowed(rights, fd, slash != NULL ? slash + 1 : name,
								  CSV_ACCESS_WRITE) && fstat(fd, directory) == 0;
		close(fd);
	}
	if (!allowed)
		csv_refuse_name(ERROR, rights, name);
	return fd >= 0;
}
