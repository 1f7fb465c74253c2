/*
 * layout.cu
 *		The columns as the kernels read them, and their strides.  Lays out
 *		CSV_DEVICE_SMALL and the staging block.
 */
#include "call.h"

#include <string.h>

#include "../src/reader/field.h"

/* offsets, the same on the device and in the staging block */
typedef struct SmallLayout
{
	size_t		columns;
	size_t		text;			/* numbers of the text columns */
	size_t		strips;
	size_t		strings;		/* null, default, then null_values */
	size_t		seen;
	size_t		histograms;
	size_t		nbytes;
} SmallLayout;

static SmallLayout
lay_out_small(const CsvCuda *cuda)
{
	const CsvLayout *layout = cuda->layout;
	uint32_t	n = layout->ncolumns;
	SmallLayout small;

	small.columns = 256;		/* the counters come first */
	small.text = small.columns + ALIGN(n * sizeof(CsvDeviceColumn), 256);
	small.strips = small.text + ALIGN(cuda->ntext * 4, 256);
	small.strings = small.strips +
		ALIGN(cuda->nstrips * sizeof(CsvStrip), 256);
	small.seen = small.strings +
		ALIGN((size_t) layout->null_length + layout->default_length +
			  layout->null_values_length, 256);
	small.histograms = small.seen + ALIGN(n * 4, 256);
	small.nbytes = small.histograms +
		(size_t) cuda->ntext * CSV_LENGTH_BINS * 4;
	return small;
}

/* the staging block has room for everything that passes through it */
CsvStatus
csv_layout_place(CsvCall *call)
{
	CsvCuda    *cuda = call->cuda;
	const SmallLayout small = lay_out_small(cuda);
	size_t		max_tiles = (size_t) call->found.nbytes / CSV_TILE_BYTES + 3;
	size_t		staged = CSV_STAGED_RANKS + max_tiles * sizeof(CsvRanks);
	uint8_t    *device;

	TRY(csv_work_reserve_pinned(&call->work, &cuda->staging,
								small.nbytes > staged ? small.nbytes : staged));
	TRY(csv_work_reserve(&call->work, CSV_DEVICE_SMALL, small.nbytes, 0));
	device = csv_work_memory(&call->work, CSV_DEVICE_SMALL);
	call->view.counters = (CsvCounters *) device;
	call->view.columns = (CsvDeviceColumn *) (device + small.columns);
	call->view.seen = (uint32_t *) (device + small.seen);
	call->strips.strips = (CsvStrip *) (device + small.strips);
	call->strips.n = cuda->nstrips;
	call->staged_columns = cuda->staging + small.columns;
	call->staged_seen = (uint32_t *) (cuda->staging + small.seen);
	return CSV_OK;
}

/*
 * Set the length below which plain ASCII text is within a column's limits and fits
 * into its entry, and the least stored length.
 */
static void
set_plain_limits(CsvDeviceColumn *device_column)
{
	const CsvColumn *column = &device_column->column;
	bool		text = column->kind == CSV_KIND_TEXT ||
		column->kind == CSV_KIND_CSTRING;
	const int32_t limits[] = {column->max_chars, column->byte_width,
	text ? column->type_chars : -1};
	int64_t		most = INT32_MAX;

	device_column->pad_bytes = 0;
	if (text)
		most = (int64_t) device_column->stride - 4 -
			(column->kind == CSV_KIND_CSTRING);
	if (column->kind == CSV_KIND_TEXT && column->pad_blanks &&
		column->type_chars > 0)
		device_column->pad_bytes = (uint32_t) column->type_chars;
	if (device_column->pad_bytes > most)
		most = -1;
	for (int i = 0; i < 3; i++)
		if (limits[i] >= 0 && limits[i] < most)
			most = limits[i];
	device_column->plain_below = most < 0 ? 0 : (uint32_t) most + 1;
}

CsvStatus
csv_layout_upload(CsvCall *call)
{
	CsvCuda    *cuda = call->cuda;
	const CsvLayout *layout = cuda->layout;
	const SmallLayout small = lay_out_small(cuda);
	CsvView    *view = &call->view;
	uint8_t    *device = csv_work_memory(&call->work, CSV_DEVICE_SMALL);
	uint8_t    *host = cuda->staging;
	CsvDeviceColumn *columns = (CsvDeviceColumn *) call->staged_columns;
	uint32_t	group = 0;

	for (uint32_t i = 0; i < layout->ncolumns; i++)
	{
		if (i == 0 || layout->columns[i].field != layout->columns[i - 1].field)
			group++;
		columns[i].column = layout->columns[i];
		columns[i].group = group;
		columns[i].stride = cuda->strides[i];
		columns[i].null_lengths = csv_null_lengths(layout, &layout->columns[i]);
		set_plain_limits(&columns[i]);
		columns[i].values = call->filled.places.columns[i].values;
		columns[i].status = call->filled.places.columns[i].status;
	}
	if (cuda->ntext > 0)
		memcpy(host + small.text, cuda->text, cuda->ntext * 4);
	if (cuda->nstrips > 0)
		memcpy(host + small.strips, cuda->strips,
			   cuda->nstrips * sizeof(CsvStrip));
	if (layout->null_length > 0)
		memcpy(host + small.strings, layout->null_bytes, layout->null_length);
	if (layout->default_length > 0)
		memcpy(host + small.strings + layout->null_length,
			   layout->default_bytes, layout->default_length);
	if (layout->null_values_length > 0)
		memcpy(host + small.strings + layout->null_length + layout->default_length,
			   layout->null_values, layout->null_values_length);
	TRY(csv_work_send(&call->work, device + small.columns,
					  host + small.columns, small.seen - small.columns));
	view->layout = *layout;
	view->ordinary_below = layout->has_default ||
		cuda->dialect->opt.quoting == CSV_QUOTING_POSTGRES ? 0 :
		CSV_LONG_FIELD_BYTES + 1;
	view->layout.columns = NULL;
	view->layout.null_bytes = device + small.strings;
	view->layout.default_bytes = device + small.strings + layout->null_length;
	view->layout.null_values = view->layout.default_bytes + layout->default_length;
	return CSV_OK;
}

/*
 * Choose a text column's stride so that the column takes the fewest bytes in all.  A
 * value that does not fit costs its bytes and a fixed price.
 */
static uint32_t
choose_stride(const uint32_t *histogram)
{
	uint64_t	nrows = 0;
	uint64_t	cost_beyond = 0;
	uint64_t	best_cost = UINT64_MAX;
	uint32_t	best = 8;

	for (uint32_t bin = 0; bin < CSV_LENGTH_BINS; bin++)
		nrows += histogram[bin];
	for (uint32_t bin = CSV_LENGTH_BINS; bin-- > 0;)
	{
		uint64_t	words = csv_length_bin_words(bin);
		uint64_t	stride = 4 + 4 * words;

		if (stride <= CSV_MAX_STRIDE && (histogram[bin] != 0 || bin == 0))
		{
			uint64_t	cost = stride * nrows + cost_beyond;

			if (cost < best_cost)
			{
				best_cost = cost;
				best = (uint32_t) stride;
			}
		}
		cost_beyond += histogram[bin] * (4 * words + CSV_LONG_VALUE_COST);
	}
	return best;
}

/* strides of all columns; strides of text columns by the histograms */
static void
choose_strides(CsvCuda *cuda, const uint32_t *histograms)
{
	const CsvLayout *layout = cuda->layout;

	for (uint32_t i = 0; i < layout->ncolumns; i++)
		cuda->strides[i] = csv_value_stride(&layout->columns[i]);
	for (uint32_t i = 0; i < cuda->ntext; i++)
		cuda->strides[cuda->text[i]] =
			choose_stride(histograms + (size_t) i * CSV_LENGTH_BINS);
}

CsvStatus
csv_layout_measure(CsvCall *call, bool one_window)
{
	CsvWork    *work = &call->work;
	CsvCuda    *cuda = call->cuda;
	CsvView    *view = &call->view;
	cudaStream_t stream = work->session->stream;
	uint8_t    *device = csv_work_memory(work, CSV_DEVICE_SMALL);
	const SmallLayout small = lay_out_small(cuda);
	CsvColumnList list = {(uint32_t *) (device + small.text), cuda->ntext};
	size_t		nbytes = (size_t) list.n * CSV_LENGTH_BINS * 4;
	uint32_t   *histograms = (uint32_t *) (device + small.histograms);
	uint32_t   *lengths = (uint32_t *) (cuda->staging + small.histograms);

	if (one_window)
		TRY(csv_window_launch(call));
	if (list.n > 0)
	{
		TRY(csv_work_clear(work, histograms, nbytes));
		if (one_window)
			csv_launch_lengths(view, list, histograms, stream);
		for (uint32_t next = 0; !one_window && next < call->found.nrecords;
			 next += view->nrecords)
		{
			TRY(csv_work_ask(work));
			TRY(csv_window_open(call, next, UINT32_MAX));
			TRY(csv_window_launch(call));
			csv_launch_lengths(view, list, histograms, stream);
		}
		TRY(csv_work_fetch(work, lengths, histograms, nbytes));
		TRY(csv_work_wait(work));
	}
	choose_strides(cuda, lengths);
	return CSV_OK;
}
