/*
 * scalars.cu
 *		Numbers, dates and the like: one thread a value.
 *
 * The blocks of one stretch of rows follow each other column by column, so that
 * its bytes and its part of the index come from the caches after the first.
 */
#include "field.cuh"

/*
 * One value.  Writes the entry; returns the status, or CSV_VALUE_OK with an
 * error reported (the row is left out then).
 */
static __device__ __forceinline__ uint8_t
convert_field(const CsvView &view, const CsvColumn &column, uint32_t number,
			  uint32_t row, uint32_t record, uint8_t *entry, uint32_t stride)
{
	uint32_t	start;
	uint32_t	end;
	uint32_t	length;
	uint64_t	from;
	uint64_t	to;
	bool		quoted;
	bool		plain;
	uint8_t		status = CSV_VALUE_NULL;
	CsvMeasure	measure;

	if (!csv_find_field(view, record, column.field, &start, &end))
		goto nothing;
	if (!column.force_not_null && csv_is_null_string(view, start, end))
		goto nothing;
	status = CSV_VALUE_DOUBTFUL;
	if (csv_is_default_string(view, start, end))
		goto nothing;
	length = end - start;
	if (length > CSV_LONG_FIELD_BYTES &&
		csv_push_long(view, row, record, number, start, length))
		goto nothing;

	plain = csv_field_plain(&view.dialect, view.bytes + start, length, &from,
							&to, &quoted);
	if (column.force_null && quoted &&
		csv_value_is_null_string(view, start, length))
	{
		status = CSV_VALUE_NULL;
		goto nothing;
	}
	if (plain &&
		csv_convert_value(&column, view.layout.decimal_separator,
						  view.bytes + start + from, (uint32_t) (to - from),
						  entry, stride))
	{
		/* what was converted is ASCII: a character is a byte */
		if ((column.max_chars >= 0 &&
			 to - from > (uint64_t) column.max_chars) ||
			(column.byte_width >= 0 &&
			 to - from > (uint64_t) column.byte_width))
		{
			measure.nbytes = to - from;
			measure.nchars = to - from;
			measure.has_nul = false;
			measure.invalid_utf8 = false;
			measure.beyond_ascii = false;
			measure.quoted = quoted;
			csv_judge_scalar(view, record, number, column, measure);
		}
		return CSV_VALUE_OK;
	}

	csv_field_measure(&view.dialect, view.bytes + start, length, &measure);
	status = csv_judge_scalar(view, record, number, column, measure).status;

nothing:
	for (uint32_t i = 0; i < stride; i++)
		entry[i] = 0;
	return status;
}

template <int kind>
static __global__ void __launch_bounds__(CSV_ROW_THREADS)
scalars_kernel(const __grid_constant__ CsvView view, CsvColumnList list)
{
	uint32_t	number = list.columns[blockIdx.x % list.n];
	uint32_t	row = blockIdx.x / list.n * CSV_ROW_THREADS + threadIdx.x;
	const CsvDeviceColumn &device_column = view.columns[number];
	CsvColumn	column = device_column.column;
	uint32_t	stride = device_column.stride;
	uint8_t		status = CSV_VALUE_OK;
	bool		slow;

	/* so that csv_convert_value is compiled for this kind alone */
	column.kind = kind;
	if (kind != CSV_KIND_NUMERIC)
		stride = csv_value_stride(&column);
	if (row < view.counters->nrows)
	{
		size_t		place = (size_t) view.first_row + row;

		status = convert_field(view, column, number, row, view.rows[row],
							   device_column.values + place * stride, stride);
		device_column.status[place] = status;
	}
	slow = __syncthreads_or(status == CSV_VALUE_DOUBTFUL);
	if (__syncthreads_or(status != CSV_VALUE_OK) && threadIdx.x == 0)
		atomicOr(&view.seen[number],
				 CSV_SEEN_NOT_OK | (slow ? CSV_SEEN_SLOW : 0));
}

#define LAUNCH(kind_) \
	case kind_: \
		scalars_kernel<kind_><<<nblocks, CSV_ROW_THREADS, 0, stream>>>(*view, \
																	   list); \
		break

void
csv_launch_scalars(const CsvView *view, int kind, CsvColumnList list,
				   cudaStream_t stream)
{
	uint32_t	nblocks = (view->nrecords + CSV_ROW_THREADS - 1) /
		CSV_ROW_THREADS * list.n;

	switch (kind)
	{
			LAUNCH(CSV_KIND_BOOL);
			LAUNCH(CSV_KIND_INT2);
			LAUNCH(CSV_KIND_INT4);
			LAUNCH(CSV_KIND_INT8);
			LAUNCH(CSV_KIND_FLOAT4);
			LAUNCH(CSV_KIND_FLOAT8);
			LAUNCH(CSV_KIND_NUMERIC);
			LAUNCH(CSV_KIND_DATE);
			LAUNCH(CSV_KIND_TIMESTAMP);
			LAUNCH(CSV_KIND_TIMESTAMPTZ);
			LAUNCH(CSV_KIND_UUID);
			LAUNCH(CSV_KIND_DECIMAL64);
			LAUNCH(CSV_KIND_DECIMAL128);
		default:
			break;
	}
}
