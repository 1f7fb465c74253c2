/*
 * heap_pages.c
 *		Rows laid out as pages of a heap, and appended to it many at a time.
 *
 *	1. A row's values become a tuple in a scratch buffer, as heap_form_tuple()
 *	   would make it, and that is copied to a page in private memory.
 *	2. When CSV_PENDING_PAGES are full, they are appended to the relation's main
 *	   fork.  Where it wants WAL, they go through shared buffers (fewer at a time
 *	   where there are few), and are logged in full, in one record.  Nobody waits
 *	   for it to be flushed: the WAL writer is told, and has done it by the time
 *	   that a buffer is wanted again.  Without WAL, they are written past shared
 *	   buffers.
 *	3. What is left at the end and fills no page goes in the ordinary way, into
 *	   free space that the table may have.  So a load leaves no page half empty,
 *	   and a small one writes none.
 *
 * log_pages() and write_pages() say why each step is safe.  Rows are visible
 * by their xmin, as any others are; an aborted load leaves dead rows, which
 * VACUUM takes away.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/heapam.h"
#include "access/heaptoast.h"
#include "access/htup_details.h"
#include "access/tableam.h"
#include "access/tupmacs.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "access/xloginsert.h"
#include "access/xlogrecord.h"
#include "catalog/catalog.h"
#include "catalog/pg_class.h"
#include "catalog/pg_control.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "storage/freespace.h"
#include "storage/lmgr.h"
#include "storage/predicate.h"
#include "storage/proc.h"
#include "storage/smgr.h"
#include "utils/memutils.h"

#include "load/heap_pages.h"

/* at most; as many as one record of WAL can hold */
#define CSV_PENDING_PAGES	XLR_MAX_BLOCK_ID

/*
 * A table that is loaded and deleted from, time and again, is not to grow for ever: from
 * so much of it on that is free, it is filled, if so much of a load finds room.
 */
#define CSV_FREE_SPACE_SHARE	8
#define CSV_FILLED_SHARE		4
#define CSV_FREE_SPACE_SAMPLES	256

/* direct I/O wants it */
#define CSV_PAGE_ALIGNMENT	4096

/* how a value is laid out */
typedef enum CsvLayOut
{
	CSV_LAY_OUT_1,				/* by value, of so many bytes */
	CSV_LAY_OUT_2,
	CSV_LAY_OUT_4,
	CSV_LAY_OUT_8,
	CSV_LAY_OUT_FIXED,			/* by reference, of fixed length */
	CSV_LAY_OUT_VARLENA,
	CSV_LAY_OUT_PACKABLE		/* a varlena that may have a short header */
} CsvLayOut;

typedef struct CsvPageColumn
{
	uint8_t		lay_out;		/* CsvLayOut */
	uint8_t		alignment;		/* in bytes */
	int16_t		length;			/* of a fixed-length type */
} CsvPageColumn;

struct CsvHeapPages
{
	Relation	relation;
	CommandId	cid;
	const CsvPagesHook *hook;	/* or NULL */
	int			natts;
	CsvPageColumn *columns;
	Size		kept_free;		/* bytes of a page, by the fillfactor */
	HeapTupleHeaderData header; /* what all tuples have in common */

	BufferAccessStrategy strategy;	/* COPY's: few buffers, over and over */
	char	   *pages;			/* aligned */
	int			npages;			/* so many */
	int			nfull;			/* of them; the next is being filled */
	bool		has_page;		/* that one has been started */
	int64		nrows;			/* in all of them */

	/* the row at hand; bytes behind its header are as they were */
	union
	{
		HeapTupleHeaderData header;
		char		bytes[BLCKSZ];
		int64		as_aligned_as_this;
	}			tuple;
};

/* ---- begin ---- */

const char *
csv_heap_pages_obstacle(const ResultRelInfo *info)
{
	Relation	relation = info->ri_RelationDesc;
	const TriggerDesc *triggers = info->ri_TrigDesc;

	if (relation->rd_rel->relkind != RELKIND_RELATION)
		return "it is not a plain table";
	if (relation->rd_tableam != GetHeapamTableAmRoutine())
		return "its access method is not heap";
	if (RELATION_IS_OTHER_TEMP(relation))
		return "it is a temporary table of another session";
	if (IsCatalogRelation(relation))
		return "it is a system catalog";
	if (triggers != NULL &&
		(triggers->trig_insert_before_row || triggers->trig_insert_after_row ||
		 triggers->trig_insert_new_table))
		return "it has row triggers, foreign keys or transition tables";

	/* what is decoded are insertions, not images of pages */
	if (RelationIsLogicallyLogged(relation))
		return "wal_level is logical";

	/* reading beyond the end may leave buffers there, see write_pages() */
	if (zero_damaged_pages && !RelationNeedsWAL(relation))
		return "zero_damaged_pages is on";
	return NULL;
}

/* of the free space map's entries, some */
bool
csv_heap_wants_filling(Relation relation, int64 nbytes)
{
	BlockNumber nblocks = RelationGetNumberOfBlocks(relation);
	uint32		nsamples = Min(nblocks, CSV_FREE_SPACE_SAMPLES);
	double		free_bytes = 0;

	for (uint32 i = 0; i < nsamples; i++)
		free_bytes += GetRecordedFreeSpace(relation, (BlockNumber)
										   ((uint64) nblocks * i / nsamples));
	if (nsamples > 0)
		free_bytes *= (double) nblocks / nsamples;
	return free_bytes > (double) nblocks * BLCKSZ / CSV_FREE_SPACE_SHARE &&
		(nbytes < 0 || free_bytes > (double) nbytes / CSV_FILLED_SHARE);
}

static CsvPageColumn
lay_out_for(Form_pg_attribute att)
{
	CsvPageColumn column;

	column.alignment = (uint8_t) att_align_nominal(1, att->attalign);
	column.length = att->attlen;
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

int
csv_pin_limit(void)
{
	return Max(NBuffers / (MaxBackends + NUM_AUXILIARY_PROCS), 1);
}

CsvHeapPages *
csv_heap_pages_begin(Relation relation, CommandId cid, const CsvPagesHook *hook)
{
	CsvHeapPages *pages = palloc0(sizeof(CsvHeapPages));
	TupleDesc	tupdesc = RelationGetDescr(relation);

	pages->relation = relation;
	pages->cid = cid;
	pages->hook = hook;
	pages->natts = tupdesc->natts;
	pages->columns = palloc(sizeof(CsvPageColumn) * Max(tupdesc->natts, 1));
	for (int i = 0; i < tupdesc->natts; i++)
		pages->columns[i] = lay_out_for(TupleDescAttr(tupdesc, i));
	pages->kept_free = RelationGetTargetPageFreeSpace(relation,
													  HEAP_DEFAULT_FILLFACTOR);

	/* as heap_insert() has it */
	HeapTupleHeaderSetXmin(&pages->header, GetCurrentTransactionId());
	HeapTupleHeaderSetCmin(&pages->header, cid);
	pages->header.t_infomask |= HEAP_XMAX_INVALID;
	HeapTupleHeaderSetNatts(&pages->header, tupdesc->natts);

	pages->strategy = GetAccessStrategy(BAS_BULKWRITE);
	pages->npages = CSV_PENDING_PAGES;
	if (RelationNeedsWAL(relation))
		pages->npages = Min(pages->npages, csv_pin_limit());
	pages->pages = (char *)
		TYPEALIGN(CSV_PAGE_ALIGNMENT,
				  palloc(pages->npages * BLCKSZ + CSV_PAGE_ALIGNMENT));
	return pages;
}

/* ---- tuples ---- */

/* the address aligned, with zeros up to there: as heap_form_tuple() leaves it */
static inline char *
align_data(char *data, uint8_t alignment)
{
	char	   *aligned = (char *) TYPEALIGN(alignment, data);

	while (data < aligned)
		*data++ = 0;
	return aligned;
}

/*
 * Make a tuple of a row.  Returns its length; 0 for one that is, or may become,
 * a matter for the toaster.
 */
static Size
form_tuple(CsvHeapPages *pages, const Datum *values, const bool *isnull)
{
	int			natts = pages->natts;
	HeapTupleHeader header = &pages->tuple.header;
	char	   *end = pages->tuple.bytes + TOAST_TUPLE_THRESHOLD;
	bool		has_nulls = memchr(isnull, true, natts) != NULL;
	Size		header_bytes = SizeofHeapTupleHeader;
	char	   *data;

	*header = pages->header;
	if (has_nulls)
	{
		header->t_infomask |= HEAP_HASNULL;
		header_bytes += BITMAPLEN(natts);
	}
	header_bytes = MAXALIGN(header_bytes);
	header->t_hoff = (uint8) header_bytes;
	memset(pages->tuple.bytes + SizeofHeapTupleHeader, 0,
		   header_bytes - SizeofHeapTupleHeader);
	data = pages->tuple.bytes + header_bytes;

	for (int i = 0; i < natts; i++)
	{
		const CsvPageColumn *column = &pages->columns[i];
		Datum		value = values[i];
		char	   *pointer;
		Size		nbytes;

		if (isnull[i])
			continue;
		if (has_nulls)
			header->t_bits[i / 8] |= (uint8) (1 << (i % 8));

		/* room for alignment and any value that is not a varlena's */
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
	return data - pages->tuple.bytes;
}

/* ---- pages ---- */

static inline Page
pending_page(CsvHeapPages *pages, int i)
{
	return (Page) (pages->pages + (Size) i * BLCKSZ);
}

/* let the tuples of a page know where it is */
static void
number_tuples(Page page, BlockNumber block)
{
	OffsetNumber last = PageGetMaxOffsetNumber(page);

	for (OffsetNumber offset = FirstOffsetNumber; offset <= last; offset++)
	{
		HeapTupleHeader tuple = (HeapTupleHeader)
			PageGetItem(page, PageGetItemId(page, offset));

		ItemPointerSet(&tuple->t_ctid, block, offset);
	}
}

/*
 * Append the pages that are full, by the way of all changes of a relation: a
 * page stands in a buffer, locked, from the time that the file has its block
 * until it is logged.  An ERROR, which may come before any is filled, leaves
 * blocks of zeros, as others' do.
 */
static void
log_pages(CsvHeapPages *pages)
{
	Relation	relation = pages->relation;
	bool		is_shared = !RELATION_IS_LOCAL(relation);
	Buffer		buffers[CSV_PENDING_PAGES];
	XLogRecPtr	lsn;

	XLogEnsureRecordSpace(pages->nfull - 1, 0);
	if (is_shared)
		LockRelationForExtension(relation, ExclusiveLock);
	for (int i = 0; i < pages->nfull; i++)
		buffers[i] = ReadBufferExtended(relation, MAIN_FORKNUM, P_NEW,
										RBM_ZERO_AND_LOCK, pages->strategy);
	if (is_shared)
		UnlockRelationForExtension(relation, ExclusiveLock);
	for (int i = 0; i < pages->nfull; i++)
		number_tuples(pending_page(pages, i), BufferGetBlockNumber(buffers[i]));

	XLogBeginInsert();
	START_CRIT_SECTION();
	for (int i = 0; i < pages->nfull; i++)
	{
		memcpy(BufferGetPage(buffers[i]), pending_page(pages, i), BLCKSZ);
		MarkBufferDirty(buffers[i]);
		XLogRegisterBuffer((uint8) i, buffers[i],
						   REGBUF_FORCE_IMAGE | REGBUF_STANDARD);
	}
	lsn = XLogInsert(RM_XLOG_ID, XLOG_FPI);
	for (int i = 0; i < pages->nfull; i++)
		PageSetLSN(BufferGetPage(buffers[i]), lsn);
	END_CRIT_SECTION();
	for (int i = 0; i < pages->nfull; i++)
		UnlockReleaseBuffer(buffers[i]);

	/* the WAL writer may begin; a buffer is not written before it has flushed */
	XLogSetAsyncXactLSN(lsn);
}

/*
 * Append the pages that are full, each by one write, where nothing is logged.
 *
 * Others may read and extend the relation meanwhile.  Nobody else extends it
 * while we hold the lock, so the blocks are ours alone.  No shared buffer stands
 * for a block beyond the end: a backend that fails to extend leaves one that is
 * not valid, and only reading there under zero_damaged_pages would leave
 * another.  A block enters the file complete, and the file's length is what
 * tells others of it.  From then on it is a page like any other, to be read and
 * changed in shared buffers; we never write it again.
 *
 * After a crash, an unlogged relation is empty, and one that is new under
 * wal_level minimal is not there; when they outlive their transaction and the
 * server's end, the server has synced them.
 */
static void
write_pages(CsvHeapPages *pages)
{
	Relation	relation = pages->relation;
	bool		is_shared = !RELATION_IS_LOCAL(relation);
	BlockNumber first;

	if (is_shared)
		LockRelationForExtension(relation, ExclusiveLock);
	first = smgrnblocks(RelationGetSmgr(relation), MAIN_FORKNUM);
	if ((BlockNumber) pages->nfull > MaxBlockNumber - first)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("cannot extend relation \"%s\" beyond %u blocks",
						RelationGetRelationName(relation), MaxBlockNumber)));
	for (int i = 0; i < pages->nfull; i++)
	{
		Page		page = pending_page(pages, i);

		number_tuples(page, first + i);
		PageSetChecksumInplace(page, first + i);
		smgrextend(RelationGetSmgr(relation), MAIN_FORKNUM, first + i,
				   (char *) page, false);
	}
	if (is_shared)
		UnlockRelationForExtension(relation, ExclusiveLock);
}

static void
append_pages(CsvHeapPages *pages)
{
	Relation	relation = pages->relation;

	if (pages->nfull == 0)
		return;
	CheckForSerializableConflictIn(relation, NULL, InvalidBlockNumber);
	if (RelationNeedsWAL(relation))
		log_pages(pages);
	else
		write_pages(pages);
	/* whoever has read the relation meanwhile has not seen these rows */
	CheckForSerializableConflictIn(relation, NULL, InvalidBlockNumber);
	for (int i = 0; i < pages->nfull && pages->hook != NULL; i++)
		pages->hook->page(pages->hook->arg, pending_page(pages, i));
	pgstat_count_heap_insert(relation, pages->nrows);
	pages->nrows = 0;
	pages->nfull = 0;
}

/* a page with room for a tuple of this length */
static inline Page
page_with_room(CsvHeapPages *pages, Size length)
{
	Page		page = pending_page(pages, pages->nfull);

	if (likely(pages->has_page))
	{
		if (PageGetHeapFreeSpace(page) >= MAXALIGN(length) + pages->kept_free)
			return page;
		pages->nfull++;
		pages->has_page = false;
		if (pages->nfull == pages->npages)
			append_pages(pages);
		page = pending_page(pages, pages->nfull);
	}

	/* a row below the threshold of toasting fits into an empty page */
	PageInit(page, BLCKSZ, 0);
	pages->has_page = true;
	return page;
}

bool
csv_heap_pages_add(CsvHeapPages *pages, const Datum *values,
				   const bool *isnull)
{
	Size		length = form_tuple(pages, values, isnull);
	PageHeader	page;
	ItemId		item;

	if (length == 0)
		return false;
	page = (PageHeader) page_with_room(pages, length);
	item = (ItemId) ((char *) page + page->pd_lower);
	page->pd_upper -= MAXALIGN(length);
	page->pd_lower += sizeof(ItemIdData);
	ItemIdSetNormal(item, page->pd_upper, length);
	memcpy((char *) page + page->pd_upper, pages->tuple.bytes, length);
	pages->nrows++;
	return true;
}

/* ---- end ---- */

void
csv_heap_pages_end(CsvHeapPages *pages, TupleTableSlot *slot, int options,
				   BulkInsertState bulk)
{
	Page		page = pending_page(pages, pages->nfull);
	OffsetNumber last = pages->has_page ? PageGetMaxOffsetNumber(page) : 0;

	/* they are counted when they are inserted */
	pages->nrows -= last;
	append_pages(pages);
	for (OffsetNumber offset = FirstOffsetNumber; offset <= last; offset++)
	{
		ItemId		item = PageGetItemId(page, offset);
		HeapTupleData tuple;

		CHECK_FOR_INTERRUPTS();
		tuple.t_len = ItemIdGetLength(item);
		tuple.t_tableOid = RelationGetRelid(pages->relation);
		tuple.t_data = (HeapTupleHeader) PageGetItem(page, item);
		ItemPointerSetInvalid(&tuple.t_self);
		ExecForceStoreHeapTuple(&tuple, slot, false);
		table_tuple_insert(pages->relation, slot, pages->cid, options, bulk);
		if (pages->hook != NULL)
			pages->hook->row(pages->hook->arg, slot);
		ExecClearTuple(slot);
	}
	pages->has_page = false;
}
