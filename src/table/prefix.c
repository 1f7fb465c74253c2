/*
 * prefix.c
 *		Prefixes of paths and URLs, and which names are below them.
 *
 * What is odd is below nothing: a server or library may read it in another
 * way.
 */
#include "postgres.h"

#include <ctype.h>

#include "table/prefix.h"

/* how the components of a name are read */
typedef enum Scheme
{
	SCHEME_PATH,
	SCHEME_S3,
	SCHEME_HTTP,
	SCHEME_HTTPS
} Scheme;

static const char *const schemes[] = {"", "s3://", "http://", "https://"};
static const char *const default_ports[] = {"", "", ":80", ":443"};

static Scheme
scheme_of(const char *name)
{
	for (int i = SCHEME_S3; i <= SCHEME_HTTPS; i++)
		if (pg_strncasecmp(name, schemes[i], strlen(schemes[i])) == 0)
			return (Scheme) i;
	return SCHEME_PATH;
}

bool
csv_is_url(const char *name)
{
	return scheme_of(name) != SCHEME_PATH;
}

/*
 * The host of a URL, with the port unless it is the default, or the bucket.
 * NULL if it has a user, or is odd.  *path: what follows.
 */
static char *
host_of(Scheme scheme, const char *url, const char **path)
{
	const char *begin = url + strlen(schemes[scheme]);
	size_t		nbytes = strcspn(begin, scheme == SCHEME_S3 ? "/" : "/?#");
	const char *port = default_ports[scheme];
	char	   *host = pnstrdup(begin, nbytes);

	*path = begin + nbytes;
	for (size_t i = 0; i < nbytes; i++)
	{
		unsigned char c = (unsigned char) host[i];

		if (!isalnum(c) && strchr(scheme == SCHEME_S3 ? "-._" : "-._:[]", c) == NULL)
			return NULL;
		/* stores need not have buckets whose names differ by case only */
		if (scheme != SCHEME_S3)
			host[i] = (char) pg_tolower(c);
	}
	if (nbytes > strlen(port) && strcmp(host + nbytes - strlen(port), port) == 0)
		host[nbytes - strlen(port)] = '\0';
	return *host != '\0' ? host : NULL;
}

static int
hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 :
		c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* as a server may read it */
static char *
decode(const char *component, size_t nbytes)
{
	char	   *decoded = palloc(nbytes + 1);
	size_t		n = 0;

	for (size_t i = 0; i < nbytes; i++)
	{
		int			high = component[i] == '%' && i + 2 < nbytes ?
			hex_digit(component[i + 1]) : -1;
		int			low = high >= 0 ? hex_digit(component[i + 2]) : -1;

		decoded[n++] = low >= 0 ? (char) (high * 16 + low) : component[i];
		i += low >= 0 ? 2 : 0;
	}
	decoded[n] = '\0';
	return decoded;
}

/*
 * The next component, or NULL if there is none.  *odd becomes true if it might
 * lead to another place than below those before it.
 */
static char *
next_component(Scheme scheme, const char **at, bool *odd)
{
	const bool	is_path = scheme == SCHEME_PATH;
	const bool	is_http = scheme >= SCHEME_HTTP;
	size_t		nbytes;
	char	   *literal;
	char	   *decoded;

	/* a key may have empty components, a path has none */
	do
	{
		if (**at != '/')
			return NULL;
		++*at;
		nbytes = strcspn(*at, is_http ? "/?#" : "/");
		literal = pnstrdup(*at, nbytes);
		*at += nbytes;
	} while (is_path && (nbytes == 0 || strcmp(literal, ".") == 0));
	decoded = is_path ? literal : decode(literal, nbytes);
	*odd |= strcmp(decoded, "..") == 0 || strcmp(decoded, ".") == 0 ||
		(is_http && strpbrk(decoded, "/\\") != NULL) ||
		(!is_path && strstr(literal, "%00") != NULL);
	return is_http ? decoded : literal;
}

bool
csv_is_below(const char *name, const char *prefix)
{
	const Scheme scheme = scheme_of(name);
	const char *component;
	bool		odd = false;

	if (scheme_of(prefix) != scheme)
		return false;
	if (scheme != SCHEME_PATH)
	{
		const char *host = host_of(scheme, name, &name);
		const char *of_prefix = host_of(scheme, prefix, &prefix);

		if (host == NULL || of_prefix == NULL || strcmp(host, of_prefix) != 0)
			return false;
	}
	else if (*name != '/')
		return false;
	while ((component = next_component(scheme, &prefix, &odd)) != NULL)
	{
		const char *own;

		if (*component == '\0' && *prefix == '\0')
			break;
		own = next_component(scheme, &name, &odd);
		if (own == NULL || strcmp(own, component) != 0)
			return false;
	}
	while (next_component(scheme, &name, &odd) != NULL)
		;
	return !odd;
}

bool
csv_is_prefix(const char *prefix)
{
	return csv_is_below(prefix, prefix) &&
		strpbrk(prefix, scheme_of(prefix) >= SCHEME_HTTP ? "?#" : "*?[") == NULL;
}
