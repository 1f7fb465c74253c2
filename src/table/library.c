/*
 * library.c
 *		The functions of the libraries that compress and decompress.
 *
 * If such a library has been removed, a server that preloads the extension must still
 * start, and sessions must still be able to log in.
 */
#include "postgres.h"

#include <dlfcn.h>

#include "sonames.h"			/* the Makefile makes it */
#include "table/library.h"

CsvLibraryFunctions csv_library;

typedef struct LibraryFunction
{
	const char *name;			/* NULL: the end of the list */
	void	   *place;			/* in csv_library */
} LibraryFunction;

typedef struct Library
{
	const char *name;
	const char *package;
	const LibraryFunction *functions;
} Library;

#define FUNCTION(name) {#name, &csv_library.name},
#define FUNCTIONS(list) (const LibraryFunction[]) {list(FUNCTION) {NULL, NULL}}

static const Library libraries[CSV_NUM_LIBRARIES] = {
#ifdef CSV_WITH_GZIP
	[CSV_LIBRARY_ZLIB] = {CSV_SONAME_z, "zlib1g", FUNCTIONS(CSV_ZLIB_FUNCTIONS)},
#endif
#ifdef CSV_WITH_ISAL
	[CSV_LIBRARY_ISAL] = {CSV_SONAME_isal, "libisal2", FUNCTIONS(CSV_ISAL_FUNCTIONS)},
#endif
#ifdef CSV_WITH_ZSTD
	[CSV_LIBRARY_ZSTD] = {CSV_SONAME_zstd, "libzstd1", FUNCTIONS(CSV_ZSTD_FUNCTIONS)},
#endif
#ifdef CSV_WITH_LZ4
	[CSV_LIBRARY_LZ4] = {CSV_SONAME_lz4, "liblz4-1", FUNCTIONS(CSV_LZ4_FUNCTIONS)},
#endif
};

bool
csv_library_open(CsvLibrary library, CsvLibraryFailure *failure)
{
	static void *handles[lengthof(libraries)];
	const Library *opened = &libraries[library];
	void	   *handle;

	if (handles[library] != NULL)
		return true;
	failure->name = opened->name;
	failure->package = opened->package;
	handle = dlopen(opened->name, RTLD_NOW | RTLD_LOCAL);
	for (const LibraryFunction *function = opened->functions;
		 handle != NULL && function->name != NULL; function++)
	{
		void	   *address = dlsym(handle, function->name);

		if (address == NULL)
			handle = NULL;
		else
			memcpy(function->place, &address, sizeof(address));
	}
	if (handle == NULL)
		failure->reason = dlerror();
	handles[library] = handle;
	return handle != NULL;
}
