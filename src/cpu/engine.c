/*
 * engine.c
 *		The CPU engine: index, then columns.
 */
#include "columns.h"
#include "../reader/arrays.h"
#include "../reader/clock.h"

typedef struct CsvCpu
{
	CsvMemory	memory;
	CsvIsa		isa;
	uint32_t	nthreads;
	uint32_t	part_bytes;		/* least bytes of input for a part of the rows */
	CsvIndex	index;
	CsvColumns	columns;		/* of the last batch */
} CsvCpu;

/*
 * Rows are filled in parts of at least this many bytes of input.  The arrays of a part
 * stay in the second-level cache, even if the chunk is larger.
 */
#define PART_BYTES		(128 * 1024)

static CsvIsa
best_isa(void)
{
	if (csv_index_has_avx512())
		return CSV_ISA_AVX512;
	if (csv_index_has_avx2())
		return CSV_ISA_AVX2;
	return CSV_ISA_SWAR;
}

static const char *
isa_name(CsvIsa isa)
{
	switch (isa)
	{
		case CSV_ISA_AVX512:
			return "avx512";
		case CSV_ISA_AVX2:
			return "avx2";
		default:
			return "swar";
	}
}

const char *
csv_cpu_isa_name(void)
{
	return isa_name(best_isa());
}

void *
csv_cpu_open(const CsvMemory *memory, const CsvCpuOptions *options)
{
	CsvIsa		isa = options->isa;
	CsvCpu	   *cpu;

	if (isa == CSV_ISA_BEST)
		isa = best_isa();
	if ((isa == CSV_ISA_AVX2 && !csv_index_has_avx2()) ||
		(isa == CSV_ISA_AVX512 && !csv_index_has_avx512()))
		return NULL;
	cpu = csv_alloc_zeros(memory, sizeof(CsvCpu));
	if (cpu == NULL)
		return NULL;
	cpu->memory = *memory;
	cpu->isa = isa;
	cpu->part_bytes = options->part_bytes != 0 ? options->part_bytes :
		PART_BYTES;
	cpu->nthreads = options->threads;
	cpu->index.functions = isa == CSV_ISA_AVX512 ? &csv_index_avx512 :
		isa == CSV_ISA_AVX2 ? &csv_index_avx2 : &csv_index_swar;
	cpu->index.memory = &cpu->memory;
	cpu->columns.functions = isa == CSV_ISA_SWAR ? &csv_fill_plain :
		&csv_fill_avx2;
	cpu->columns.memory = &cpu->memory;
	return cpu;
}

static const char *
cpu_detail(void *engine)
{
	return isa_name(((CsvCpu *) engine)->isa);
}

static CsvStatus
cpu_configure(void *engine, const CsvDialect *dialect, const CsvLayout *layout)
{
	CsvCpu	   *cpu = engine;

	cpu->index.dialect = dialect;
	cpu->index.layout = layout;
	cpu->index.scan.most = layout->nfields;
	return csv_columns_configure(&cpu->columns, dialect, layout);
}

/* the number of parts of at least part_bytes in nbytes, CSV_MAX_PARTS at most */
static uint32_t
count_parts(uint64_t nbytes, uint32_t part_bytes)
{
	uint64_t	nparts = nbytes / part_bytes;

	return nparts < 1 ? 1 : nparts > CSV_MAX_PARTS ? CSV_MAX_PARTS :
		(uint32_t) nparts;
}

static CsvStatus
cpu_parse(void *engine, const CsvInput *input, CsvBatch *batch)
{
	CsvCpu	   *cpu = engine;
	CsvIndex   *index = &cpu->index;
	double		began = csv_now_seconds();
	CsvStatus	status;

	index->input = input;
	index->scan.interrupted = input->interrupted;
	index->scan.interrupted_arg = input->interrupted_arg;
	status = csv_index_build(index);
	if (status == CSV_OK)
		status = csv_columns_build(&cpu->columns, index,
								   count_parts(input->nbytes, cpu->part_bytes),
								   batch);
	if (status != CSV_OK)
		return status;

	batch->bytes = input->bytes;
	batch->nbytes = input->nbytes;
	batch->nlines = index->nlines;
	batch->consumed = index->pos;
	batch->alone_until = index->alone_until;
	batch->skip_line = index->skip_line;
	batch->parse_seconds = csv_now_seconds() - began;
	return CSV_OK;
}

static void
cpu_close(void *engine)
{
	CsvCpu	   *cpu = engine;
	CsvMemory	memory = cpu->memory;

	csv_columns_free(&cpu->columns);
	csv_index_free(&cpu->index);
	memory.free(memory.owner, cpu);
}

static void *
cpu_another(void *engine)
{
	const CsvCpu *cpu = engine;
	CsvCpuOptions options;

	memset(&options, 0, sizeof(options));
	options.isa = cpu->isa;
	options.part_bytes = cpu->part_bytes;
	return csv_cpu_open(&cpu->memory, &options);
}

static uint32_t
cpu_nthreads(void *engine)
{
	return ((CsvCpu *) engine)->nthreads;
}

/*
 * A chunk of 256 kB stays in the second-level cache, with its index and arrays.  The
 * first chunk is small, so that the first row comes soon.
 */
const CsvEngine csv_cpu_engine = {
	.name = "cpu",
	.detail = cpu_detail,
	.configure = cpu_configure,
	.parse = cpu_parse,
	.close = cpu_close,
	.default_chunk_bytes = 256 * 1024,
	.first_chunk_bytes = 32 * 1024,
	.another = cpu_another,
	.nthreads = cpu_nthreads
};
