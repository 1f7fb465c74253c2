/*
 * lengths.cu
 *		Lengths of values in text columns: a histogram per column, over a sample of
 *		the rows.
 *
 * The unit is a word of 4 bytes.  Lengths up to 255 words have a bin each, and each
 * further power of two has eight bins.  A field's length gives an upper bound for its
 * value's length; quotes inside are not looked for.
 */
#include "field.cuh"

#define EXACT_BINS		256
#define BINS_PER_OCTAVE	8
#define EXACT_LOG		8

static __device__ __forceinline__ uint32_t
bin_of(uint32_t words)
{
	uint32_t	log;

	if (words < EXACT_BINS)
		return words;
	log = 31 - __clz(words);
	return min(EXACT_BINS + (log - EXACT_LOG) * BINS_PER_OCTAVE +
			   (words >> (log - 3) & 7), CSV_LENGTH_BINS - 1);
}

uint32_t
csv_length_bin_words(uint32_t bin)
{
	uint32_t	log;

	if (bin < EXACT_BINS)
		return bin;
	log = EXACT_LOG + (bin - EXACT_BINS) / BINS_PER_OCTAVE;
	return ((8 + (bin - EXACT_BINS) % BINS_PER_OCTAVE + 1) << (log - 3)) - 1;
}

/* most bytes that an entry needs for the value */
static __device__ __forceinline__ uint32_t
stored_length(const CsvView &view, const CsvColumn &column, uint32_t start,
			  uint32_t end)
{
	uint64_t	length = end - start;
	uint64_t	bound = UINT64_MAX;

	if (length >= 2 && view.dialect.opt.quote != 0 &&
		view.bytes[start] == view.dialect.opt.quote)
	{
		start++;
		end--;
		length -= 2;
	}
	if (column.byte_width >= 0)
		bound = column.byte_width;
	if (column.max_chars >= 0)
		bound = min(bound, (uint64_t) column.max_chars * 4);
	if (column.type_chars >= 0)
		bound = min(bound, (uint64_t) column.type_chars * 4);
	if (column.pad_blanks && column.type_chars >= 0)
	{
		uint64_t	nchars = 0;

		if (length > CSV_LONG_FIELD_BYTES)
			return (uint32_t) min(max(length, (uint64_t) column.type_chars),
								  (uint64_t) column.type_chars * 4);
		for (uint32_t i = start; i < end; i++)
			nchars += csv_utf8_begins(view.bytes[i]);
		return (uint32_t) min(length - nchars + column.type_chars,
							  (uint64_t) UINT32_MAX / 2);
	}
	return (uint32_t) min(length, bound);
}

static __global__ void __launch_bounds__(CSV_ROW_THREADS)
lengths_kernel(const __grid_constant__ CsvView view, CsvColumnList list,
			   uint32_t *histograms)
{
	__shared__ uint32_t bins[CSV_LENGTH_BINS];
	uint32_t	which = blockIdx.x % list.n;
	uint32_t	first = blockIdx.x / list.n * CSV_LENGTHS_ROWS;
	uint32_t	nrows = view.counters->nrows;
	uint32_t	each = max(nrows / CSV_LENGTHS_SAMPLE, 1);	/* rows for each sampled
															 * row */
	uint32_t	nsamples = nrows / each;
	const CsvColumn &column = view.columns[list.columns[which]].column;

	if (first >= nsamples)
		return;
	for (uint32_t i = threadIdx.x; i < CSV_LENGTH_BINS; i += CSV_ROW_THREADS)
		bins[i] = 0;
	__syncthreads();
	for (uint32_t i = threadIdx.x; i < CSV_LENGTHS_ROWS; i += CSV_ROW_THREADS)
	{
		uint32_t	sample = first + i;
		uint32_t	row;
		uint32_t	start;
		uint32_t	end;

		/* the place among `each` rows varies, in case the lengths have a period */
		row = sample * each + (sample * 0x9E3779B1u >> 16) % each;
		if (sample < nsamples &&
			csv_find_field(view, csv_row_record(view, row), column.field,
						   &start, &end))
		{
			uint32_t	nbytes = stored_length(view, column, start, end) +
				(column.kind == CSV_KIND_CSTRING);

			atomicAdd(&bins[bin_of((nbytes + 3) / 4)], 1);
		}
	}
	__syncthreads();
	for (uint32_t i = threadIdx.x; i < CSV_LENGTH_BINS; i += CSV_ROW_THREADS)
		if (bins[i] != 0)
			atomicAdd(&histograms[which * CSV_LENGTH_BINS + i],
					  bins[i] * each);
}

void
csv_launch_lengths(const CsvView *view, CsvColumnList list,
				   uint32_t *histograms, cudaStream_t stream)
{
	uint32_t	most = view->nrecords < 2 * CSV_LENGTHS_SAMPLE ?
		view->nrecords : 2 * CSV_LENGTHS_SAMPLE;
	uint32_t	nblocks = (most + CSV_LENGTHS_ROWS - 1) / CSV_LENGTHS_ROWS;

	lengths_kernel<<<nblocks * list.n, CSV_ROW_THREADS, 0, stream>>>(*view,
																	 list,
																	 histograms);
}
