/*
 * records.cu
 *		Which records are good: structural errors, the list of rows, the rows'
 *		positions, and the table of errors.
 */
#include <cub/block/block_reduce.cuh>

#include "structure.cuh"
#include "field.cuh"
#include "scan.cuh"

/* is there a line break in [from, until)?  One thread looks byte by byte. */
static __device__ bool
any_break_among(const CsvView &view, uint32_t from, uint32_t until)
{
	for (uint32_t i = from; i < until; i++)
		if (csv_class_at(&view.dialect, view.bytes, i, view.nbytes) ==
			CSV_CLASS_BREAK)
			return true;
	return false;
}

/* the same; for whole tiles between, the ranks tell */
static __device__ bool
any_break_between(const CsvView &view, uint32_t from, uint32_t until)
{
	uint32_t	first = from / CSV_TILE_BYTES + 1;
	uint32_t	last = until / CSV_TILE_BYTES;

	if (first > last)
		return any_break_among(view, from, until);
	return any_break_among(view, from, first * CSV_TILE_BYTES) ||
		view.ranks[first].breaks != view.ranks[last].breaks ||
		any_break_among(view, last * CSV_TILE_BYTES, until);
}

/* may this record at the input's end be the end of data?  The CPU engine decides */
static __device__ __forceinline__ bool
may_be_end_of_data(const CsvView &view, uint32_t start, uint32_t end)
{
	return view.nbytes <= (uint64_t) end + 1 + CSV_END_OF_DATA_BYTES &&
		csv_is_end_of_data(&view.dialect, view.bytes, start,
						   csv_content_end(&view.dialect, view.bytes, start, end,
										   view.nbytes), end + 1, view.nbytes);
}

/*
 * Find structural errors.  A record that is too long or has a quoting error is
 * irregular if it covers several lines: the repair rule reads these again, in the CPU
 * engine.  In a lenient dialect it always is, as it may be a row.  Only bad records
 * look for breaks, and they stop at the first break.
 */
static __global__ void __launch_bounds__(CSV_ROW_THREADS)
check_kernel(const __grid_constant__ CsvView view)
{
	uint32_t	record = blockIdx.x * CSV_ROW_THREADS + threadIdx.x;
	uint32_t	start;
	uint32_t	first;
	uint32_t	next;
	uint32_t	end;
	uint32_t	key = CSV_KEY_GOOD;
	bool		too_long;

	if (record >= view.nrecords)
		return;
	start = view.record_start[record];
	first = view.record_first[record];
	next = view.record_first[record + 1];

	end = view.separators[next - 1];

	/* only long records look at their bytes */
	too_long = end - start > view.max_record_bytes &&
		csv_content_end(&view.dialect, view.bytes, start, end,
						view.nbytes) - start > view.max_record_bytes;
	if (too_long || csv_mask_bit(view, CSV_MASK_BAD, end))
	{
		key = CSV_MAKE_KEY(0, too_long ? CSV_ERROR_RECORD_TOO_LONG :
						   csv_mask_bit(view, CSV_MASK_FIELDS, end) ?
						   CSV_ERROR_TEXT_AFTER_QUOTE :
						   CSV_ERROR_UNTERMINATED_QUOTE, 0);
		if (view.dialect.opt.lenient || any_break_between(view, start, end))
			atomicMin(&view.counters->first_irregular,
					  view.first_record + record);
	}
	else if (may_be_end_of_data(view, start, end))
	{
		/* not a row, whatever the CPU engine decides */
		key = CSV_MAKE_KEY(0, CSV_ERROR_NONE, 0);
		atomicMin(&view.counters->first_irregular, view.first_record + record);
	}
	else if (!view.layout.pad && next - first != view.layout.nfields)
		key = CSV_MAKE_KEY(0, CSV_ERROR_COLUMN_COUNT, 0);
	view.record_key[record] = key;
	if (key != CSV_KEY_GOOD)
		view.counters->any_bad = 1;
}

/* ---- selection: nothing to do if all records are good ---- */

/* records of the window before the first irregular one */
static __device__ __forceinline__ uint32_t
valid_records(const CsvView &view)
{
	uint32_t	until = view.counters->first_irregular;

	if (until <= view.first_record)
		return 0;
	return min(view.nrecords, until - view.first_record);
}

static __global__ void __launch_bounds__(CSV_ROW_THREADS)
count_good_kernel(const __grid_constant__ CsvView view)
{
	typedef cub::BlockReduce<uint32_t, CSV_ROW_THREADS> BlockReduce;
	__shared__ typename BlockReduce::TempStorage reduce;
	uint32_t	nrecords = valid_records(view);
	uint32_t	base = blockIdx.x * CSV_SELECT_RECORDS +
		threadIdx.x * CSV_SELECT_ITEMS;
	uint32_t	good = 0;

	if (view.counters->any_bad == 0)
		return;
	for (uint32_t i = 0; i < CSV_SELECT_ITEMS; i++)
		if (base + i < nrecords)
			good += view.record_key[base + i] == CSV_KEY_GOOD;
	good = BlockReduce(reduce).Sum(good);
	if (threadIdx.x == 0)
		view.select_ranks[blockIdx.x] = good;
}

static __global__ void __launch_bounds__(CSV_SCAN_THREADS)
scan_good_kernel(const __grid_constant__ CsvView view, uint32_t nblocks)
{
	uint32_t	nrows = view.nrecords;

	if (view.counters->any_bad != 0)
		nrows = csv_scan_counts(view.select_ranks, nblocks);
	if (threadIdx.x == 0)
		view.counters->nrows = nrows;
}

/* write the bad records to `errors`, or the list of good records */
template <bool write_errors>
static __global__ void __launch_bounds__(CSV_ROW_THREADS)
select_kernel(const __grid_constant__ CsvView view, CsvError *errors,
			  uint32_t errors_before)
{
	typedef cub::BlockScan<uint32_t, CSV_ROW_THREADS> BlockScan;
	__shared__ typename BlockScan::TempStorage scan;
	uint32_t	nrecords = valid_records(view);
	uint32_t	base = blockIdx.x * CSV_SELECT_RECORDS +
		threadIdx.x * CSV_SELECT_ITEMS;
	uint32_t	keys[CSV_SELECT_ITEMS];
	uint32_t	good = 0;
	uint32_t	rank;

	if (view.counters->any_bad == 0)
		return;
	for (uint32_t i = 0; i < CSV_SELECT_ITEMS; i++)
	{
		keys[i] = base + i < nrecords ? view.record_key[base + i] : 0;
		good += keys[i] == CSV_KEY_GOOD;
	}
	BlockScan(scan).ExclusiveSum(good, rank);
	rank += view.select_ranks[blockIdx.x];
	for (uint32_t i = 0; i < CSV_SELECT_ITEMS; i++)
	{
		uint32_t	record = base + i;

		if (record >= nrecords)
			break;
		if (keys[i] == CSV_KEY_GOOD)
		{
			if (!write_errors)
				view.rows[rank] = record;
			rank++;
		}
		else if (write_errors)
		{
			uint32_t	code = keys[i] >> CSV_KEY_COLUMN_BITS &
				((1 << CSV_KEY_CODE_BITS) - 1);
			uint32_t	start = view.record_start[record];
			uint32_t	first = view.record_first[record];
			uint32_t	next = view.record_first[record + 1];
			CsvError	error;

			error.offset = start;
			error.length = csv_content_end(&view.dialect, view.bytes, start,
										   view.separators[next - 1],
										   view.nbytes) - start;
			error.record = view.first_record + record;
			error.line = view.record_line[record];
			error.before_row = view.first_row + rank;
			error.code = (uint8_t) code;
			error.mode = CSV_NORMAL;
			error.where = code == CSV_ERROR_RECORD_TOO_LONG ? 0 :
				code == CSV_ERROR_COLUMN_COUNT ? next - first :
				code < CSV_ERROR_COLUMN_COUNT ? next - first - 1 :
				keys[i] & ((1 << CSV_KEY_COLUMN_BITS) - 1);
			errors[errors_before + record - rank] = error;
		}
	}
}

/* ---- positions ---- */

static __global__ void __launch_bounds__(CSV_ROW_THREADS)
positions_kernel(const __grid_constant__ CsvView view)
{
	uint32_t	row = blockIdx.x * CSV_ROW_THREADS + threadIdx.x;
	uint32_t	record;

	if (row >= view.counters->nrows)
		return;
	record = csv_row_record(view, row);
	view.row_offsets[view.first_row + row] = view.record_start[record];
	view.row_lines[view.first_row + row] = view.record_line[record];
}

/*
 * Find how far the batch reaches, and count the line breaks before that: up to
 * `position` or, if that is UINT32_MAX, to behind the boundary of the window's last
 * valid record.  One block.
 */
static __global__ void __launch_bounds__(CSV_TILE_THREADS)
consumed_kernel(const __grid_constant__ CsvView view, uint32_t position)
{
	typedef cub::BlockReduce<uint32_t, CSV_TILE_THREADS> BlockReduce;
	__shared__ typename BlockReduce::TempStorage reduce;
	uint32_t	breaks = 0;
	uint32_t	tile;

	if (position == UINT32_MAX)
	{
		uint32_t	nrecords = valid_records(view);

		if (nrecords == 0)
			return;
		position = view.separators[view.record_first[nrecords] - 1];
		if (position < view.nbytes)
			position++;
	}
	tile = position / CSV_TILE_BYTES;
	for (uint32_t i = tile * CSV_TILE_BYTES + threadIdx.x; i < position;
		 i += CSV_TILE_THREADS)
		breaks += csv_class_at(&view.dialect, view.bytes, i, view.nbytes) ==
			CSV_CLASS_BREAK;
	breaks = BlockReduce(reduce).Sum(breaks);
	if (threadIdx.x == 0)
	{
		view.counters->consumed = position;
		view.counters->nlines = breaks + view.ranks[min(tile, view.ntiles)].breaks;
	}
}

/* ---- launches ---- */

void
csv_launch_check(const CsvView *view, cudaStream_t stream)
{
	check_kernel<<<csv_blocks_of(view->nrecords, CSV_ROW_THREADS),
		CSV_ROW_THREADS, 0, stream>>>(*view);
}

void
csv_launch_select(const CsvView *view, cudaStream_t stream)
{
	uint32_t	nblocks = csv_blocks_of(view->nrecords, CSV_SELECT_RECORDS);

	count_good_kernel<<<nblocks, CSV_ROW_THREADS, 0, stream>>>(*view);
	scan_good_kernel<<<1, CSV_SCAN_THREADS, 0, stream>>>(*view, nblocks);
	select_kernel<false><<<nblocks, CSV_ROW_THREADS, 0, stream>>>(*view, NULL,
																  0);
}

void
csv_launch_positions(const CsvView *view, cudaStream_t stream)
{
	positions_kernel<<<csv_blocks_of(view->nrecords, CSV_ROW_THREADS),
		CSV_ROW_THREADS, 0, stream>>>(*view);
}

void
csv_launch_errors(const CsvView *view, CsvError *errors,
				  uint32_t errors_before, cudaStream_t stream)
{
	select_kernel<true><<<csv_blocks_of(view->nrecords, CSV_SELECT_RECORDS),
		CSV_ROW_THREADS, 0, stream>>>(*view, errors, errors_before);
}

void
csv_launch_consumed(const CsvView *view, uint32_t position,
					cudaStream_t stream)
{
	consumed_kernel<<<1, CSV_TILE_THREADS, 0, stream>>>(*view, position);
}
