/*
 * codec.c
 *		The libraries that decompress, behind one function.
 *
 * The libraries are zlib, zstd and lz4, if PostgreSQL is built with them, and ISA-L,
 * which decompresses gzip three times as fast as zlib.
 */
#include "postgres.h"

#include "table/codec.h"

struct CsvCodec
{
	CsvCompression compression;
	bool		complete;		/* the next call begins a member or frame */

#ifdef CSV_WITH_GZIP
	z_stream	gzip;
#endif
#ifdef CSV_WITH_ISAL
	bool		in_header;		/* of a member; parsing it is not complete */
	struct isal_gzip_header header;
	struct inflate_state *isal; /* NULL: zlib is used */
#endif
#ifdef CSV_WITH_ZSTD
	ZSTD_DStream *zstd;
#endif
#ifdef CSV_WITH_LZ4
	LZ4F_dctx  *lz4;
#endif
};

#ifdef CSV_WITH_ISAL
/* csv_codec_prepare() has opened ISA-L; otherwise zlib is used */
static bool has_isal;
#endif

bool
csv_codec_prepare(CsvCompression compression, CsvLibraryFailure *failure)
{
	static const CsvLibrary libraries[] = {
		[CSV_COMPRESSION_GZIP] = CSV_LIBRARY_ZLIB,
		[CSV_COMPRESSION_ZSTD] = CSV_LIBRARY_ZSTD,
		[CSV_COMPRESSION_LZ4] = CSV_LIBRARY_LZ4
	};

#ifdef CSV_WITH_ISAL
	if (compression == CSV_COMPRESSION_GZIP)
		has_isal = csv_library_open(CSV_LIBRARY_ISAL, failure);
#endif
	return csv_library_open(libraries[compression], failure);
}

const char	csv_codec_no_memory[] = "out of memory";

/* false: out of memory */
static bool
open_library(CsvCodec *codec, bool fast)
{
#ifdef CSV_WITH_LZ4
	size_t		result;
#endif

	switch (codec->compression)
	{
#ifdef CSV_WITH_GZIP
		case CSV_COMPRESSION_GZIP:
#ifdef CSV_WITH_ISAL
			if (fast && has_isal)
			{
				codec->isal = malloc(sizeof(*codec->isal));
				if (codec->isal != NULL)
					csv_library.isal_inflate_init(codec->isal);
				return codec->isal != NULL;
			}
#endif
			/* the largest window; adding 16 selects gzip's header and trailer */
			return csv_library.inflateInit2(&codec->gzip,
											MAX_WBITS + 16) == Z_OK;
#endif
#ifdef CSV_WITH_ZSTD
		case CSV_COMPRESSION_ZSTD:
			codec->zstd = csv_library.ZSTD_createDStream();
			return codec->zstd != NULL;
#endif
#ifdef CSV_WITH_LZ4
		case CSV_COMPRESSION_LZ4:
			result = csv_library.LZ4F_createDecompressionContext(&codec->lz4,
																 LZ4F_VERSION);
			return !csv_library.LZ4F_isError(result);
#endif
		default:
			return true;
	}
}

CsvCodec *
csv_codec_open(CsvCompression compression, bool fast)
{
	CsvCodec   *codec = calloc(1, sizeof(CsvCodec));

	if (codec == NULL)
		return NULL;
	codec->compression = compression;
	codec->complete = true;
	if (open_library(codec, fast))
		return codec;
	csv_codec_close(codec);
	return NULL;
}

void
csv_codec_close(CsvCodec *codec)
{
	if (codec == NULL)
		return;
#ifdef CSV_WITH_GZIP
	/* if the stream was not opened, this only returns an error */
	if (codec->compression == CSV_COMPRESSION_GZIP)
		csv_library.inflateEnd(&codec->gzip);
#endif
#ifdef CSV_WITH_ISAL
	free(codec->isal);
#endif
#ifdef CSV_WITH_ZSTD
	if (codec->zstd != NULL)
		csv_library.ZSTD_freeDStream(codec->zstd);
#endif
#ifdef CSV_WITH_LZ4
	if (codec->lz4 != NULL)
		csv_library.LZ4F_freeDecompressionContext(codec->lz4);
#endif
	free(codec);
}

void
csv_codec_restart(CsvCodec *codec)
{
	/* a member of gzip begins with a reset anyway */
	codec->complete = true;
#ifdef CSV_WITH_ZSTD
	if (codec->zstd != NULL)
		csv_library.ZSTD_DCtx_reset(codec->zstd,
									ZSTD_reset_session_only);
#endif
#ifdef CSV_WITH_LZ4
	if (codec->lz4 != NULL)
		csv_library.LZ4F_resetDecompressionContext(codec->lz4);
#endif
}

#ifdef CSV_WITH_GZIP
static void
step_zlib(CsvCodec *codec, const uint8_t *input, size_t ninput,
		  uint8_t *output, size_t noutput, CsvDecoded *decoded)
{
	z_stream   *gzip = &codec->gzip;
	int			result;

	if (codec->complete)
		csv_library.inflateReset(gzip);
	/* neither library writes to its input, but the declarations lack const */
	gzip->next_in = (Bytef *) (uintptr_t) input;
	gzip->avail_in = (uInt) ninput;
	gzip->next_out = output;
	gzip->avail_out = (uInt) noutput;
	result = csv_library.inflate(gzip, Z_NO_FLUSH);
	decoded->consumed = ninput - gzip->avail_in;
	decoded->produced = noutput - gzip->avail_out;
	decoded->complete = result == Z_STREAM_END;

	/* Z_BUF_ERROR only means that more input is needed */
	if (result == Z_MEM_ERROR)
		decoded->failure = csv_codec_no_memory;
	else if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
		decoded->failure = gzip->msg != NULL ? gzip->msg : "invalid data";
}
#endif

#ifdef CSV_WITH_ISAL
/*
 * Reads the header by a separate call.  isal_inflate() forgets its flags if the input
 * ends within the header, and ignores reserved flags.
 */
static void
step_isal(CsvCodec *codec, const uint8_t *input, size_t ninput,
		  uint8_t *output, size_t noutput, CsvDecoded *decoded)
{
	struct inflate_state *isal = codec->isal;
	int			result = ISAL_DECOMP_OK;

	if (codec->complete)
	{
		csv_library.isal_inflate_reset(isal);
		isal->crc_flag = ISAL_GZIP_NO_HDR_VER;
		csv_library.isal_gzip_header_init(&codec->header);
		codec->in_header = true;
	}
	isal->next_in = (uint8_t *) (uintptr_t) input;
	isal->avail_in = (uint32_t) ninput;
	isal->next_out = output;
	isal->avail_out = (uint32_t) noutput;
	if (codec->in_header)
	{
		result = csv_library.isal_read_gzip_header(isal, &codec->header);
		codec->in_header = result == ISAL_END_INPUT;
		if ((codec->header.flags & CSV_GZIP_RESERVED_FLAGS) != 0)
			result = ISAL_INVALID_WRAPPER;
	}
	if (result == ISAL_DECOMP_OK)
		result = csv_library.isal_inflate(isal);
	decoded->consumed = ninput - isal->avail_in;
	decoded->produced = noutput - isal->avail_out;
	decoded->complete = isal->block_state == ISAL_BLOCK_FINISH;
	if (result < 0)
		decoded->failure = "invalid data";
}
#endif

#ifdef CSV_WITH_ZSTD
static void
step_zstd(CsvCodec *codec, const uint8_t *input, size_t ninput,
		  uint8_t *output, size_t noutput, CsvDecoded *decoded)
{
	ZSTD_inBuffer in = {input, ninput, 0};
	ZSTD_outBuffer out = {output, noutput, 0};
	size_t		result = csv_library.ZSTD_decompressStream(codec->zstd, &out,
														   &in);

	decoded->consumed = in.pos;
	decoded->produced = out.pos;
	decoded->complete = result == 0;
	if (csv_library.ZSTD_isError(result))
		decoded->failure = csv_library.ZSTD_getErrorCode(result) ==
			ZSTD_error_memory_allocation ?
			csv_codec_no_memory : csv_library.ZSTD_getErrorName(result);
}
#endif

#ifdef CSV_WITH_LZ4
static void
step_lz4(CsvCodec *codec, const uint8_t *input, size_t ninput,
		 uint8_t *output, size_t noutput, CsvDecoded *decoded)
{
	size_t		result;

	decoded->consumed = ninput;
	decoded->produced = noutput;
	result = csv_library.LZ4F_decompress(codec->lz4, output, &decoded->produced,
										 input, &decoded->consumed, NULL);
	decoded->complete = result == 0;
	if (csv_library.LZ4F_isError(result))
	{
		/* the counts are meaningless after an error */
		decoded->consumed = decoded->produced = 0;
		decoded->failure = csv_library.LZ4F_getErrorName(result);
		/* lz4 has no public number for this error */
		if (strcmp(decoded->failure, "ERROR_allocation_failed") == 0)
			decoded->failure = csv_codec_no_memory;
	}
}
#endif

void
csv_codec_step(CsvCodec *codec, const uint8_t *input, size_t ninput,
			   uint8_t *output, size_t noutput, CsvDecoded *decoded)
{
	decoded->consumed = decoded->produced = 0;
	decoded->complete = false;
	decoded->failure = NULL;
	switch (codec->compression)
	{
#ifdef CSV_WITH_GZIP
		case CSV_COMPRESSION_GZIP:
#ifdef CSV_WITH_ISAL
			if (codec->isal != NULL)
			{
				step_isal(codec, input, ninput, output, noutput, decoded);
				break;
			}
#endif
			step_zlib(codec, input, ninput, output, noutput, decoded);
			break;
#endif
#ifdef CSV_WITH_ZSTD
		case CSV_COMPRESSION_ZSTD:
			step_zstd(codec, input, ninput, output, noutput, decoded);
			break;
#endif
#ifdef CSV_WITH_LZ4
		case CSV_COMPRESSION_LZ4:
			step_lz4(codec, input, ninput, output, noutput, decoded);
			break;
#endif
		default:
			decoded->failure = "unexpected compression";
	}
	codec->complete = decoded->complete;
}
