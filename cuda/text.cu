/*
 * text.cu
 *		Text columns: entries of equal stride, copied by whole blocks.
 *
 * A block takes 256 rows of a column.  First each thread finds out about one
 * value: where it stands, what it is, whether it fits.  Then the block writes
 * the entries as one run of aligned words, coalesced; each word is put together
 * from two aligned words of the input by a funnel shift.  Values with quotes or
 * escapes to remove are written by their own thread.  Fields that are long are
 * left to longs.cu.
 */
#include "field.cuh"

static __device__ __forceinline__ CsvVerdict
judge_field(const CsvView &view, const CsvDeviceColumn &device_column,
			uint32_t number, uint32_t row, uint32_t record, uint32_t *length)
{
	const CsvColumn &column = device_column.column;
	const uint8_t quote = view.dialect.opt.quote;
	uint32_t	start;
	uint32_t	end;
	uint32_t	from;
	uint32_t	to;
	uint32_t	plain_start = UINT32_MAX;
	uint32_t	seen;
	bool		opens;
	bool		blanks_beyond = false;
	CsvMeasure	measure;

	*length = 0;
	if (!csv_find_field(view, record, column.field, &start, &end))
		return csv_without_value(CSV_VALUE_NULL);
	*length = end - start;
	if (!column.force_not_null && csv_is_null_string(view, start, end))
		return csv_without_value(CSV_VALUE_NULL);
	if (csv_is_default_string(view, start, end))
		return csv_without_value(CSV_VALUE_DOUBTFUL);
	if (*length > CSV_LONG_FIELD_BYTES &&
		csv_push_long(view, row, record, number, start, *length))
		return csv_without_value(CSV_VALUE_OK);	/* for the time being */

	/* the common case: plain ASCII, perhaps between two quotes */
	from = start;
	to = end;
	opens = quote != 0 && start < end && view.bytes[start] == quote;
	if (opens && *length >= 2 && view.bytes[end - 1] == quote)
	{
		from++;
		to--;
	}
	seen = csv_look_for(view, from, to);
	if (!opens && view.dialect.opt.quoting == CSV_QUOTING_RFC4180)
		seen &= ~CSV_HAS_SPECIAL;	/* a quote is data here */
	if (opens && from == start)
		seen |= CSV_HAS_SPECIAL;
	if (seen == 0)
	{
		measure.nbytes = to - from;
		measure.nchars = to - from;
		measure.has_nul = false;
		measure.invalid_utf8 = false;
		measure.beyond_ascii = false;
		measure.quoted = opens;
		plain_start = from;
	}
	else
	{
		csv_field_measure(&view.dialect, view.bytes + start, *length, &measure);
		if (measure.nbytes == *length)
			plain_start = start;
		else if (from != start && measure.nbytes == to - from)
			plain_start = from;
	}

	if (column.force_null && measure.quoted &&
		csv_value_is_null_string(view, start, *length))
		return csv_without_value(CSV_VALUE_NULL);
	if (CSV_NEEDS_BLANKS(&column, measure.nchars) && !measure.invalid_utf8)
		blanks_beyond = csv_blanks_beyond(view, start, *length,
										  (uint32_t) column.type_chars);
	return csv_judge_text(view, record, number, device_column, measure,
						  blanks_beyond, start, plain_start);
}

static __global__ void __launch_bounds__(CSV_ROW_THREADS)
text_kernel(const __grid_constant__ CsvView view, CsvColumnList list)
{
	__shared__ uint32_t starts[CSV_ROW_THREADS];
	__shared__ uint32_t nbytes[CSV_ROW_THREADS];
	__shared__ uint32_t stored[CSV_ROW_THREADS];
	__shared__ uint8_t sources[CSV_ROW_THREADS];
	uint32_t	number = list.columns[blockIdx.x % list.n];
	uint32_t	first = blockIdx.x / list.n * CSV_ROW_THREADS;
	uint32_t	nrows = view.counters->nrows;
	const CsvDeviceColumn &device_column = view.columns[number];
	uint32_t	stride_words = device_column.stride / 4;
	uint32_t	length = 0;
	uint32_t	row;
	uint32_t	k;
	uint32_t	row_step;
	uint32_t	k_step;
	uint32_t   *words;
	bool		slow;
	CsvVerdict	verdict = csv_without_value(CSV_VALUE_OK);

	if (first >= nrows)
		return;
	nrows = min(nrows - first, CSV_ROW_THREADS);
	words = (uint32_t *) (device_column.values + ((size_t) view.first_row +
												  first) *
						  device_column.stride);
	if (threadIdx.x < nrows)
	{
		verdict = judge_field(view, device_column, number, first + threadIdx.x,
							  view.rows[first + threadIdx.x], &length);
		device_column.status[(size_t) view.first_row + first + threadIdx.x] =
			verdict.status;
	}
	starts[threadIdx.x] = verdict.start;
	nbytes[threadIdx.x] = verdict.nbytes;
	stored[threadIdx.x] = verdict.stored;
	sources[threadIdx.x] = verdict.source;
	slow = __syncthreads_or(verdict.status == CSV_VALUE_DOUBTFUL ||
							verdict.status == CSV_VALUE_LONG);
	if (__syncthreads_or(verdict.status != CSV_VALUE_OK) && threadIdx.x == 0)
		atomicOr(&view.seen[number],
				 CSV_SEEN_NOT_OK | (slow ? CSV_SEEN_SLOW : 0));

	/* one run of words; where each falls is stepped, not divided, on */
	row = threadIdx.x / stride_words;
	k = threadIdx.x % stride_words;
	row_step = CSV_ROW_THREADS / stride_words;
	k_step = CSV_ROW_THREADS % stride_words;
	while (row < nrows)
	{
		CsvVerdict	other;

		other.source = sources[row];
		other.start = starts[row];
		other.nbytes = nbytes[row];
		other.stored = stored[row];
		if (other.source != CSV_SOURCE_UNQUOTED)
			words[(size_t) row * stride_words + k] =
				csv_text_word(view, other, k);
		row += row_step;
		k += k_step;
		if (k >= stride_words)
		{
			k -= stride_words;
			row++;
		}
	}
	if (verdict.source == CSV_SOURCE_UNQUOTED)
		csv_write_unquoted(view, verdict, length,
						   (uint8_t *) (words + (size_t) threadIdx.x *
										stride_words),
						   device_column.stride);
}

void
csv_launch_text(const CsvView *view, CsvColumnList list, cudaStream_t stream)
{
	uint32_t	nblocks = (view->nrecords + CSV_ROW_THREADS - 1) /
		CSV_ROW_THREADS * list.n;

	text_kernel<<<nblocks, CSV_ROW_THREADS, 0, stream>>>(*view, list);
}
