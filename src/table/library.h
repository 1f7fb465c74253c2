/*
 * library.h
 *		The functions of the libraries that compress and decompress.
 *
 * The extension is not linked with these libraries: if one has been removed, a
 * server that preloads the extension must still start, and sessions must still be
 * able to log in.  csv_compression_prepare() opens them when they are needed, and
 * they stay open.
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

#endif							/* CSV_LIBRARY_H */
