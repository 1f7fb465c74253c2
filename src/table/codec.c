/*
 * codec.c
 *		The libraries that decompress, behind one function.
 *
 * The libraries are zlib, zstd and lz4, if PostgreSQL is built with them, and ISA-L,
 * which decompresses gzip three times as fast as zlib.
 */
#include "postgres.h"

#include <dlfcn.h>
#include <unistd.h>

#include "common/hashfn.h"

#include "sonames.h"			/* the Makefile makes it */
#include "table/codec.h"
#include "wire/message.h"

CsvLibraryFunctions csv_library;

typedef struct LibraryFunction
{
	const char *name;			/* NULL: the end of the list */
	void	   *place;			/* in csv_library */
} LibraryFunction;

#define FUNCTION(name) {#name, &csv_library.name},
#define FUNCTIONS(list) (const LibraryFunction[]) {list(FUNCTION) {NULL, NULL}}

typedef void (*Step) (CsvCodec *codec, const uint8_t *input, size_t ninput,
					  uint8_t *output, size_t noutput, CsvDecoded *decoded);

/* a library; a step begins a member or frame if the codec is complete */
typedef struct Decoder
{
	const char *name;			/* of its file; NULL: not in this build */
	const char *package;
	const LibraryFunction *functions;
	void	   *(*open) (void); /* makes a stream; NULL: no memory */
	void		(*close) (void *stream);
	Step		step;			/* as csv_codec_step() */
	void	   *handle;			/* NULL: not open yet */
} Decoder;

struct CsvCodec
{
	const Decoder *decoder;
	void	   *stream;
	bool		complete;		/* the next call begins a member or frame */
	bool		in_header;		/* ISA-L is still parsing a member's header */

#ifdef CSV_WITH_ISAL
	struct isal_gzip_header header;
#endif
};

const char	csv_codec_no_memory[] = "out of memory";

#ifdef CSV_WITH_GZIP
static void *
open_zlib(void)
{
	z_stream   *gzip = calloc(1, sizeof(z_stream));

	/* the largest window; adding 16 selects gzip's header and trailer */
	if (gzip != NULL && csv_library.inflateInit2(gzip, MAX_WBITS + 16) == Z_OK)
		return gzip;
	free(gzip);
	return NULL;
}

static void
close_zlib(void *gzip)
{
	csv_library.inflateEnd(gzip);
	free(gzip);
}

static void
step_zlib(CsvCodec *codec, const uint8_t *input, size_t ninput,
		  uint8_t *output, size_t noutput, CsvDecoded *decoded)
{
	z_stream   *gzip = codec->stream;
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
static void *
open_isal(void)
{
	struct inflate_state *isal = malloc(sizeof(*isal));

	if (isal != NULL)
		csv_library.isal_inflate_init(isal);
	return isal;
}

/*
 * Reads the header by a separate call.  isal_inflate() forgets its flags if the input
 * ends within the header, and ignores reserved flags.
 */
static void
step_isal(CsvCodec *codec, const uint8_t *input, size_t ninput,
		  uint8_t *output, size_t noutput, CsvDecoded *decoded)
{
	struct inflate_state *isal = codec->stream;
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
static void *
open_zstd(void)
{
	return csv_library.ZSTD_createDStream();
}

static void
close_zstd(void *zstd)
{
	csv_library.ZSTD_freeDStream(zstd);
}

static void
step_zstd(CsvCodec *codec, const uint8_t *input, size_t ninput,
		  uint8_t *output, size_t noutput, CsvDecoded *decoded)
{
	ZSTD_inBuffer in = {input, ninput, 0};
	ZSTD_outBuffer out = {output, noutput, 0};
	size_t		result;

	if (codec->complete)
		csv_library.ZSTD_DCtx_reset(codec->stream, ZSTD_reset_session_only);
	result = csv_library.ZSTD_decompressStream(codec->stream, &out, &in);
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
static void *
open_lz4(void)
{
	LZ4F_dctx  *lz4;
	size_t		result =
		csv_library.LZ4F_createDecompressionContext(&lz4, LZ4F_VERSION);

	return csv_library.LZ4F_isError(result) ? NULL : lz4;
}

static void
close_lz4(void *lz4)
{
	csv_library.LZ4F_freeDecompressionContext(lz4);
}

static void
step_lz4(CsvCodec *codec, const uint8_t *input, size_t ninput,
		 uint8_t *output, size_t noutput, CsvDecoded *decoded)
{
	size_t		result;

	if (codec->complete)
		csv_library.LZ4F_resetDecompressionContext(codec->stream);
	decoded->consumed = ninput;
	decoded->produced = noutput;
	result = csv_library.LZ4F_decompress(codec->stream, output, &decoded->produced,
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

static Decoder decoders[CSV_NUM_COMPRESSIONS] = {
#ifdef CSV_WITH_GZIP
	[CSV_COMPRESSION_GZIP] = {CSV_SONAME_z, "zlib1g",
	FUNCTIONS(CSV_ZLIB_FUNCTIONS), open_zlib, close_zlib, step_zlib, NULL},
#endif
#ifdef CSV_WITH_ZSTD
	[CSV_COMPRESSION_ZSTD] = {CSV_SONAME_zstd, "libzstd1",
	FUNCTIONS(CSV_ZSTD_FUNCTIONS), open_zstd, close_zstd, step_zstd, NULL},
#endif
#ifdef CSV_WITH_LZ4
	[CSV_COMPRESSION_LZ4] = {CSV_SONAME_lz4, "liblz4-1",
	FUNCTIONS(CSV_LZ4_FUNCTIONS), open_lz4, close_lz4, step_lz4, NULL},
#endif
};

#ifdef CSV_WITH_ISAL
/* zlib is used where it cannot be opened */
static Decoder fast_gzip = {CSV_SONAME_isal, "libisal2",
FUNCTIONS(CSV_ISAL_FUNCTIONS), open_isal, free, step_isal, NULL};
#else
static const Decoder fast_gzip;

struct inflate_state
{
	uint32_t	crc;
	int32_t		tmp_out_valid;
	uint8_t		tmp_out_buffer[1];
};
#endif
static uint64_t state_version = 0;

/* ---- codecs ---- */

/* opens a library, unless it is open; false on failure */
static bool
open_library(Decoder *decoder, CsvLibraryFailure *failure)
{
	void	   *handle;

	failure->name = decoder->name;
	failure->package = decoder->package;
	if (decoder->handle != NULL || decoder->name == NULL)
		return decoder->handle != NULL;
	handle = dlopen(decoder->name, RTLD_NOW | RTLD_LOCAL);
	for (const LibraryFunction *function = decoder->functions;
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
	decoder->handle = handle;
	return handle != NULL;
}

bool
csv_codec_prepare(CsvCompression compression, CsvLibraryFailure *failure)
{
#ifdef CSV_WITH_ISAL
	Dl_info		info;
	struct stat st;

	/* the library's file may be replaced while the server runs */
	if (compression == CSV_COMPRESSION_GZIP && fast_gzip.handle == NULL &&
		open_library(&fast_gzip, failure) &&
		dladdr((void *) csv_library.isal_inflate, &info) != 0 &&
		stat(info.dli_fname, &st) == 0)
	{
		CsvFileIdentity file = csv_file_identity(&st);

		state_version = hash_bytes_extended((unsigned char *) &file,
											sizeof(file), csv_wire_build());
	}
#endif
	return open_library(&decoders[compression], failure);
}

CsvCodec *
csv_codec_open(CsvCompression compression, bool fast)
{
	CsvCodec   *codec = calloc(1, sizeof(CsvCodec));

	if (codec == NULL)
		return NULL;
	codec->decoder = &decoders[compression];
#ifdef CSV_WITH_ISAL
	if (fast && fast_gzip.handle != NULL && compression == CSV_COMPRESSION_GZIP)
		codec->decoder = &fast_gzip;
#endif
	codec->complete = true;
	codec->stream = codec->decoder->open();
	if (codec->stream != NULL)
		return codec;
	free(codec);
	return NULL;
}

void
csv_codec_close(CsvCodec *codec)
{
	if (codec != NULL)
		codec->decoder->close(codec->stream);
	free(codec);
}

void
csv_codec_restart(CsvCodec *codec)
{
	codec->complete = true;
}

void
csv_codec_step(CsvCodec *codec, const uint8_t *input, size_t ninput,
			   uint8_t *output, size_t noutput, CsvDecoded *decoded)
{
	decoded->consumed = decoded->produced = 0;
	decoded->complete = false;
	decoded->failure = NULL;
	codec->decoder->step(codec, input, ninput, output, noutput, decoded);
	codec->complete = decoded->complete;
}

/* ---- states ---- */

#define WINDOW_AT	offsetof(struct inflate_state, tmp_out_buffer)

StaticAssertDecl(sizeof(struct inflate_state) <= CSV_STATE_BYTES,
				 "a state has room");

uint64_t
csv_codec_version(void)
{
	return state_version;
}

uint32_t
csv_codec_crc(const CsvCodec *codec)
{
	const struct inflate_state *isal = codec->stream;

	return codec->decoder == &fast_gzip ? isal->crc : 0;
}

const void *
csv_codec_state(const CsvCodec *codec, size_t *nbytes)
{
	const struct inflate_state *isal = codec->stream;

	if (codec->decoder != &fast_gzip || codec->complete || codec->in_header)
		return NULL;
	*nbytes = WINDOW_AT + isal->tmp_out_valid;
	return isal;
}

bool
csv_codec_load(CsvCodec *codec, int file, off_t offset, size_t nbytes)
{
	struct inflate_state *isal = codec->stream;

	codec->complete = codec->in_header = false;
	return codec->decoder == &fast_gzip && nbytes <= sizeof(*isal) &&
		pread(file, isal, nbytes, offset) == (ssize_t) nbytes &&
		nbytes == WINDOW_AT + isal->tmp_out_valid;
}
