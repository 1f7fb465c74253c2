/*
 * tuple.c
 *		Tuples of a heap, as heap_form_tuple() makes them.
 *
 * Threads make the tuples of a run of rows in slices.  Each thread takes a slice with
 * its own room.  Tuples behind the first row for which no tuple can be made do not
 * count.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/heaptoast.h"
#include "access/htup_details.h"
#include "access/tupmacs.h"
#include "utils/memutils.h"

#include "load/tuple.h"

/* limits of a slice, so that it fits into the cache of a processor's core */
#define CSV_SLICE_ROWS		1024
#define CSV_SLICE_BYTES		(256 * 1024)

/* slices for each thread, so that none waits for the slowest; least rows of a slice */
#define CSV_SLICES_EACH		4
#define CSV_LEAST_SLICE		64

/* how a value is laid out */
typedef enum CsvLayOut
{
	CSV_LAY_OUT_1,				/* by value, of this many bytes */
	CSV_LAY_OUT_2,
	CSV_LAY_OUT_4,
	CSV_LAY_OUT_8,
	CSV_LAY_OUT_FIXED,			/* by reference, of fixed length */
	CSV_LAY_OUT_VARLENA,
	CSV_LAY_OUT_PACKABLE		/* a varlena that may have a short header */
} CsvLayOut;

typedef struct CsvTupleColumn
{
	uint8_t		lay_out;		/* CsvLayOut */
	uint8_t		alignment;		/* in bytes */
	bool		not_null;
	int16_t		length;			/* of a fixed-length type */
} CsvTupleColumn;

struct CsvTupleForm
{
	HeapTupleHeaderData header;
	int			natts;
	CsvTupleColumn columns[FLEXIBLE_ARRAY_MEMBER];
};

typedef struct CsvTupleSlice
{
	uint32_t	first;			/* of the run's rows */
	uint32_t	nwanted;
	uint32_t	nrows;
	uint16_t	lengths[CSV_SLICE_ROWS];
	char	   *bytes;			/* tuples; zeros align each one's end */

	/* the current row */
	Datum	   *values;
	bool	   *isnull;
	CsvRowRoom *room;
} CsvTupleSlice;

struct CsvTuples
{
	const CsvTupleForm *form;
	Size		same_bytes;		/* of a tuple, without the run's columns */
	const int  *places;
	CsvCrew    *crew;
	const CsvRowRun *run;
	uint32_t	nslices;		/* of the run; later, those with tuples */
	uint32_t	max_slices;
	CsvTupleSlice *slices;
};

/* ---- one ---- */

static CsvTupleColumn
lay_out_for(Form_pg_attribute att)
{
	CsvTupleColumn column;

	column.alignment = (uint8_t) att_align_nominal(1, att->attalign);
	column.length = att->attlen;
	column.not_null = att->attnotnull;
	if (att->attlen < 0)
		column.lay_out = att->attstorage == TYPSTORAGE_PLAIN ?
			CSV_LAY_OUT_VARLENA : CSV_LAY_OUT_PACKABLE;
	else if (!att->attbyval)
		column.lay_out = CSV_LAY_OUT_FIXED;
	else
		column.lay_out = att->attlen == 1 ? CSV_LAY_OUT_1 :
			att->attlen == 2 ? CSV_LAY_OUT_2 :
			att->attlen == 4 ? CSV_LAY_OUT_4 : CSV_LAY_OUT_8;
	return column;
}

CsvTupleForm *
csv_tuple_form_create(TupleDesc tupdesc, TransactionId xmin, CommandId cid)
{
	CsvTupleForm *form = palloc0(offsetof(CsvTupleForm, columns) +
								 sizeof(CsvTupleColumn) * tupdesc->natts);

	/* as in heap_insert() */
	HeapTupleHeaderSetXmin(&form->header, xmin);
	HeapTupleHeaderSetCmin(&form->header, cid);
	form->header.t_infomask |= HEAP_XMAX_INVALID;
	HeapTupleHeaderSetNatts(&form->header, tupdesc->natts);

	form->natts = tupdesc->natts;
	for (int i = 0; i < tupdesc->natts; i++)
		form->columns[i] = lay_out_for(TupleDescAttr(tupdesc, i));
	return form;
}

/* align an address, and write zeros up to it, as heap_form_tuple() does */
static inline char *
align_data(char *data, uint8_t alignment)
{
	char	   *aligned = (char *) TYPEALIGN(alignment, data);

	while (data < aligned)
		*data++ = 0;
	return aligned;
}

Size
csv_form_tuple(const CsvTupleForm *form, const Datum *values, const bool *isnull,
			   void *room)
{
	int			natts = form->natts;
	HeapTupleHeader header = room;
	char	   *end = (char *) room + TOAST_TUPLE_THRESHOLD;
	bool		has_nulls = memchr(isnull, true, natts) != NULL;
	Size		header_bytes = SizeofHeapTupleHeader;
	char	   *data;

	*header = form->header;
	if (has_nulls)
	{
		header->t_infomask |= HEAP_HASNULL;
		header_bytes += BITMAPLEN(natts);
	}
	header_bytes = MAXALIGN(header_bytes);
	header->t_hoff = (uint8) header_bytes;
	memset((char *) room + SizeofHeapTupleHeader, 0,
		   header_bytes - SizeofHeapTupleHeader);
	data = (char *) room + header_bytes;

	for (int i = 0; i < natts; i++)
	{
		const CsvTupleColumn *column = &form->columns[i];
		Datum		value = values[i];
		char	   *pointer;
		Size		nbytes;

		if (isnull[i])
		{
			if (unlikely(column->not_null))
				return 0;
			continue;
		}
		if (has_nulls)
			header->t_bits[i / 8] |= (uint8) (1 << (i % 8));

		/* room for alignment and for any value except a varlena */
		if (unlikely(data + 16 + Max(column->length, 0) > end))
			return 0;
		switch ((CsvLayOut) column->lay_out)
		{
			case CSV_LAY_OUT_1:
				*data = DatumGetChar(value);
				data++;
				break;
			case CSV_LAY_OUT_2:
				data = align_data(data, sizeof(int16));
				*(int16 *) data = DatumGetInt16(value);
				data += sizeof(int16);
				break;
			case CSV_LAY_OUT_4:
				data = align_data(data, sizeof(int32));
				*(int32 *) data = DatumGetInt32(value);
				data += sizeof(int32);
				break;
			case CSV_LAY_OUT_8:
				data = align_data(data, column->alignment);
				*(int64 *) data = DatumGetInt64(value);
				data += sizeof(int64);
				break;
			case CSV_LAY_OUT_FIXED:
				data = align_data(data, column->alignment);
				memcpy(data, DatumGetPointer(value), column->length);
				data += column->length;
				break;
			case CSV_LAY_OUT_VARLENA:
			case CSV_LAY_OUT_PACKABLE:
				pointer = DatumGetPointer(value);
				header->t_infomask |= HEAP_HASVARWIDTH;
				if (unlikely(VARATT_IS_EXTERNAL(pointer)))
					return 0;
				if (column->lay_out == CSV_LAY_OUT_PACKABLE &&
					VARATT_CAN_MAKE_SHORT(pointer))
				{
					nbytes = VARATT_CONVERTED_SHORT_SIZE(pointer);
					if (unlikely(data + nbytes > end))
						return 0;
					SET_VARSIZE_SHORT(data, nbytes);
					memcpy(data + VARHDRSZ_SHORT, VARDATA(pointer),
						   nbytes - VARHDRSZ_SHORT);
				}
				else
				{
					if (!VARATT_IS_SHORT(pointer))
						data = align_data(data, column->alignment);
					nbytes = VARSIZE_ANY(pointer);
					if (unlikely(nbytes > (Size) (end - data)))
						return 0;
					memcpy(data, pointer, nbytes);
				}
				data += nbytes;
				break;
		}
	}
	return data - (char *) room;
}

/* ---- many ---- */

CsvTuples *
csv_tuples_create(const CsvTupleForm *form, TupleDesc tupdesc,
				  const CsvRowTemplate *template, CsvCrew *crew)
{
	CsvTuples  *tuples = palloc0(sizeof(CsvTuples));
	int			natts = tupdesc->natts;
	Size		row_bytes = (sizeof(Datum) + sizeof(CsvRowRoom) + sizeof(bool)) * natts;

	tuples->form = form;
	tuples->same_bytes = MAXALIGN(SizeofHeapTupleHeader + BITMAPLEN(natts)) +
		heap_compute_data_size(tupdesc, template->values, template->isnull);
	tuples->places = template->places;
	tuples->crew = crew;
	tuples->max_slices = CSV_SLICES_EACH * crew->nthreads;
	tuples->slices = MemoryContextAllocHuge(CurrentMemoryContext,
											sizeof(CsvTupleSlice) * tuples->max_slices);
	for (uint32_t i = 0; i < tuples->max_slices; i++)
	{
		CsvTupleSlice *slice = &tuples->slices[i];
		char	   *row = palloc(row_bytes);

		/* the last tuple may need as much room as any */
		slice->bytes = palloc(CSV_SLICE_BYTES + MAXALIGN(TOAST_TUPLE_THRESHOLD));
		slice->values = (Datum *) row;
		slice->room = (CsvRowRoom *) (row + sizeof(Datum) * natts);
		slice->isnull = (bool *) (slice->room + natts);
		memcpy(slice->values, template->values, sizeof(Datum) * natts);
		memcpy(slice->isnull, template->isnull, sizeof(bool) * natts);
	}
	return tuples;
}

/* the number of rows in a slice, by the run's rows and the length of their tuples */
static uint32_t
slice_rows(const CsvTuples *tuples, const CsvRowRun *run)
{
	uint32_t	share = run->nrows / tuples->max_slices + 1;
	Size		longest = tuples->same_bytes;

	for (int i = 0; i < run->ncolumns && longest < TOAST_TUPLE_THRESHOLD; i++)
		longest += run->columns[i].stride + MAXIMUM_ALIGNOF;
	longest = MAXALIGN(Min(longest, TOAST_TUPLE_THRESHOLD));
	return Min(Min(Max(share, CSV_LEAST_SLICE), CSV_SLICE_ROWS),
			   (uint32_t) (CSV_SLICE_BYTES / longest));
}

/* make the tuples of a slice; called by the crew */
static void
make_slice(void *arg, uint32_t part)
{
	const CsvTuples *tuples = arg;
	CsvTupleSlice *slice = &tuples->slices[part];
	Size		offset = 0;
	uint32_t	row;

	for (row = 0; row < slice->nwanted && offset <= CSV_SLICE_BYTES; row++)
	{
		Size		length;

		if (!csv_row_run_fetch(tuples->run, slice->first + row, tuples->places,
							   slice->values, slice->isnull, slice->room))
			break;
		length = csv_form_tuple(tuples->form, slice->values, slice->isnull,
								slice->bytes + offset);
		if (length == 0)
			break;
		slice->lengths[row] = (uint16_t) length;
		memset(slice->bytes + offset + length, 0, MAXALIGN(length) - length);
		offset += MAXALIGN(length);
	}
	slice->nrows = row;
}

void
csv_tuples_start(CsvTuples *tuples, const CsvRowRun *run)
{
	uint32_t	nrows_each = slice_rows(tuples, run);
	uint32_t	nslices = 0;

	for (uint32_t first = 0; first < run->nrows && nslices < tuples->max_slices;
		 first += nrows_each)
	{
		tuples->slices[nslices].first = first;
		tuples->slices[nslices].nwanted = Min(nrows_each, run->nrows - first);
		nslices++;
	}
	tuples->run = run;
	tuples->nslices = nslices;
	csv_crew_start(tuples->crew, nslices, make_slice, tuples);
}

uint32_t
csv_tuples_finish(CsvTuples *tuples, bool *stopped)
{
	uint32_t	nslices = tuples->nslices;
	uint32_t	nrows = 0;

	csv_crew_finish(tuples->crew);
	*stopped = false;
	for (tuples->nslices = 0; tuples->nslices < nslices && !*stopped; tuples->nslices++)
	{
		const CsvTupleSlice *slice = &tuples->slices[tuples->nslices];

		nrows += slice->nrows;
		*stopped = slice->nrows < slice->nwanted;
	}
	return nrows;
}

const char *
csv_tuples_next(const CsvTuples *tuples, CsvTupleCursor *cursor, Size *length)
{
	const CsvTupleSlice *slice;
	const char *tuple;

	while (cursor->slice < tuples->nslices &&
		   cursor->row == tuples->slices[cursor->slice].nrows)
	{
		cursor->slice++;
		cursor->row = 0;
		cursor->offset = 0;
	}
	if (cursor->slice == tuples->nslices)
		return NULL;
	slice = &tuples->slices[cursor->slice];
	tuple = slice->bytes + cursor->offset;
	*length = slice->lengths[cursor->row];
	cursor->offset += MAXALIGN(*length);
	cursor->row++;
	return tuple;
}
