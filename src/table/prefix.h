/*
 * prefix.h
 *		Prefixes of paths and URLs, and which names are below them.
 *
 * A prefix stands for whole components: "/data/in" for itself and
 * "/data/in/...", and "s3://b" for neither "s3://b2" nor "s3://B".
 */
#ifndef CSV_PREFIX_H
#define CSV_PREFIX_H

/* does the name begin with the scheme of a URL that can be read? */
extern bool csv_is_url(const char *name);

/*
 * An absolute path or a URL without wildcards, dots, user and query, so that
 * it can be a prefix?
 */
extern bool csv_is_prefix(const char *prefix);

/*
 * Is the name, or each name that it matches as a pattern, the prefix or below
 * it? Symbolic links are not followed.  "." and ".." in URLs, and ".." in
 * paths, are below nothing.
 *
 * Schemes and hosts of URLs are compared in lower case and without the default
 * port, paths of http and https without their percent-encoding.  Keys of s3
 * are literal.
 */
extern bool csv_is_below(const char *name, const char *prefix);

#endif							/* CSV_PREFIX_H */
