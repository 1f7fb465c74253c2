/*
 * library.h
 *		The functions of the libraries that compress and decompress.
 *
 * The extension is not linked with these libraries, so it can be loaded where they are
 * not installed.  csv_library_open() opens them when they are needed.
 */
#ifndef CSV_LIBRARY_H
#define CSV_LIBRARY_H

#ifdef CSV_WITH_GZIP
#include <zlib.h>
#define CSV_ZLIB_FUNCTIONS(F) \
	F(inflateInit2_) F(inflateReset) F(inflate) F(inflateEnd) \
	F(deflateInit2_) F(deflate) F(deflateEnd)
#else
#define CSV_ZLIB_FUNCTIONS(F)
#endif
#ifdef CSV_WITH_ISAL
#include <isa-l/igzip_lib.h>
#define CSV_ISAL_FUNCTIONS(F) \
	F(isal_inflate_init) F(isal_inflate_reset) F(isal_gzip_header_init) \
	F(isal_read_gzip_header) F(isal_inflate)
#else
#define CSV_ISAL_FUNCTIONS(F)
#endif
#ifdef CSV_WITH_ZSTD
#include <zstd.h>
#include <zstd_errors.h>
#define CSV_ZSTD_FUNCTIONS(F) \
	F(ZSTD_createDStream) F(ZSTD_freeDStream) F(ZSTD_DCtx_reset) \
	F(ZSTD_decompressStream) F(ZSTD_isError) F(ZSTD_getErrorCode) \
	F(ZSTD_getErrorName) F(ZSTD_compress)
#else
#define CSV_ZSTD_FUNCTIONS(F)
#endif
#ifdef CSV_WITH_LZ4
#include <lz4frame.h>
#define CSV_LZ4_FUNCTIONS(F) \
	F(LZ4F_createDecompressionContext) F(LZ4F_freeDecompressionContext) \
	F(LZ4F_resetDecompressionContext) F(LZ4F_decompress) F(LZ4F_getFrameInfo) \
	F(LZ4F_isError) F(LZ4F_getErrorName) F(LZ4F_createCompressionContext) \
	F(LZ4F_compressBegin) F(LZ4F_freeCompressionContext) F(LZ4F_compressFrame)
#else
#define CSV_LZ4_FUNCTIONS(F)
#endif

/* flags that must be zero in the header of a member of gzip */
#define CSV_GZIP_RESERVED_FLAGS	0xe0

typedef enum CsvLibrary
{
	CSV_LIBRARY_ZLIB,
	CSV_LIBRARY_ISAL,
	CSV_LIBRARY_ZSTD,
	CSV_LIBRARY_LZ4,
	CSV_NUM_LIBRARIES
} CsvLibrary;

/* a function is NULL until its library is open */
typedef struct CsvLibraryFunctions
{
#define CSV_LIBRARY_FUNCTION(name) __typeof__(name) *name;
	CSV_ZLIB_FUNCTIONS(CSV_LIBRARY_FUNCTION)
	CSV_ISAL_FUNCTIONS(CSV_LIBRARY_FUNCTION)
	CSV_ZSTD_FUNCTIONS(CSV_LIBRARY_FUNCTION)
	CSV_LZ4_FUNCTIONS(CSV_LIBRARY_FUNCTION)
#undef CSV_LIBRARY_FUNCTION
} CsvLibraryFunctions;

extern CsvLibraryFunctions csv_library;

/* why a library could not be opened */
typedef struct CsvLibraryFailure
{
	const char *name;			/* file name; NULL: this build lacks the library */
	const char *package;		/* Debian's package */
	const char *reason;			/* valid until the next call of dlopen() */
} CsvLibraryFailure;

/*
 * Opens a library of this build, unless it is open.  A library stays open until the process
 * ends.  Returns false on failure; the caller may try again.
 * The main thread must call this before it starts threads that use the library.
 */
extern bool csv_library_open(CsvLibrary library, CsvLibraryFailure *failure);

#endif							/* CSV_LIBRARY_H */
