/*
 * heap_pages.c
 *		Lays out rows as heap pages, and appends many pages at a time.
 *
 *	1. A row's values become a tuple (tuple.c), which is copied to a page in
 *	   private memory.  If many rows come at a time, threads do both.
 *	2. When CSV_PENDING_PAGES are full, they are appended to the relation's main
 *	   fork.  If the relation needs WAL, they go through shared buffers (fewer
 *	   at a time if there are few), and one record logs them in full, or under
 *	   wal_level logical a record the rows of each page.  The load does not wait
 *	   for the flush: it tells the WAL writer, which has flushed the record by the
 *	   time that a buffer is needed again.  Without WAL, or if the file is new in
 *	   this transaction, they are written past shared buffers.
 *	3. The first rows go where COPY would put them: into pages with free space, in
 *	   the ordinary way, as many at a time as a page holds, until no page has
 *	   space.  The last rows, which do not fill a page, go to the table's end in
 *	   the ordinary way.
 *	   So a load leaves no page half empty, and a small load writes no page itself.
 *
 * buffer_pages() and write_pages() say why each step is safe.  Rows are visible by
 * their xmin, as any rows are.  An aborted load leaves dead rows, which VACUUM
 * removes.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/heapam_xlog.h"
#include "access/htup_details.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "access/xloginsert.h"
#include "access/xlogrecord.h"
#include "catalog/catalog.h"
#include "catalog/pg_class.h"
#include "catalog/pg_control.h"
#include "catalog/storage.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "storage/lmgr.h"
#include "storage/predicate.h"
#include "storage/proc.h"
#include "storage/smgr.h"
#include "utils/memutils.h"

#include "compat.h"
#include "load/heap_pages.h"
#include "table/memory.h"

/* the most pages that one WAL record can hold */
#define CSV_PENDING_PAGES	XLR_MAX_BLOCK_ID

/*
 * Threads fill a window of pages while the window before it is written.  A thread
 * fills a part of the window at a time.
 */
#define CSV_WINDOW_PAGES	128
#define CSV_WINDOW_PART		8

/* as direct I/O needs */
#define CSV_PAGE_ALIGNMENT	4096

/* pages that threads fill, each with a number of tuples from a cursor on */
typedef struct CsvPageWindow
{
	const CsvTuples *tuples;
	char	   *pages;			/* aligned */
	PageHeaderData empty;		/* header of an empty page */
	int			npages;
	BlockNumber block;			/* expected number of the first page */
	struct
	{
		CsvTupleCursor from;
		int			ntuples;
	}			plan[CSV_WINDOW_PAGES];
} CsvPageWindow;

/* the threads that fill pages, and their windows */
typedef struct CsvPageCrew
{
	CsvCrew    *crew;
	CsvTuples  *tuples;
	CsvPageWindow windows[2];	/* one is filled, one is written */
	CsvPageWindow *waiting;		/* full, and to write next; or NULL */
} CsvPageCrew;

struct CsvHeapPages
{
	Relation	relation;
	CommandId	cid;
	CsvIndexEntries *entries;	/* or NULL */
	const CsvTupleForm *form;
	Size		kept_free;		/* bytes of a page, by the fillfactor */
	bool		past_buffers;	/* pages are written to the file itself */

	BufferAccessStrategy strategy;	/* COPY's: uses few buffers in turn */
	char	   *pages;			/* aligned */
	int			npages;			/* in this array */
	int			nfull;			/* of these; the next page is being filled */
	bool		has_page;		/* the next page has been started */
	BlockNumber room;			/* the page of the row inserted last */
	bool		seeks_room;		/* pages that are there may have space */
	MemoryContext context;
	BlockNumber first_end;		/* of the relation, at the beginning */
	BlockNumber end;			/* block after the page appended last */
	CsvPageCrew *crew;			/* NULL until needed */

	/* for rows that are inserted in the ordinary way */
	int			options;		/* TABLE_INSERT_... */
	BulkInsertState bulk;
	TupleTableSlot *slots[MaxHeapTuplesPerPage];	/* made when needed, in order */

	CsvTupleRoom tuple;			/* of the current row */
};

/* ---- begin ---- */

/*
 * Are pages written to the file itself?  Yes if they need no WAL, or if no other
 * process may look at the file until this transaction commits.  For logical decoding, rows
 * are logged, in pages that are in buffers.
 */
static bool
is_past_buffers(Relation relation)
{
	if (RelationIsLogicallyLogged(relation))
		return false;
	return !RelationNeedsWAL(relation) ||
		relation->rd_createSubid != InvalidSubTransactionId ||
		csv_new_storage_subid(relation) != InvalidSubTransactionId;
}

bool
csv_heap_takes_pages(Relation relation)
{
	const TriggerDesc *triggers = relation->trigdesc;

	if (relation->rd_rel->relkind != RELKIND_RELATION ||
		relation->rd_tableam != GetHeapamTableAmRoutine() ||
		RELATION_IS_OTHER_TEMP(relation) || IsCatalogRelation(relation))
		return false;

	/* row triggers, foreign keys and transition tables need the rows */
	if (triggers != NULL &&
		(triggers->trig_insert_before_row || triggers->trig_insert_after_row ||
		 triggers->trig_insert_new_table))
		return false;

	/*
	 * Output plugins may read a user's catalog while they decode, so that its rows need more
	 * in WAL.  And reading beyond the end may leave buffers there, see write_pages().
	 */
	return !RelationIsUsedAsCatalogTable(relation) &&
		!(zero_damaged_pages && is_past_buffers(relation));
}

int
csv_pin_limit(void)
{
	return Max(NBuffers / (MaxBackends + NUM_AUXILIARY_PROCS), 1);
}

static char *
alloc_pages(int npages)
{
	return (char *) TYPEALIGN(CSV_PAGE_ALIGNMENT,
							  palloc((Size) npages * BLCKSZ + CSV_PAGE_ALIGNMENT));
}

CsvHeapPages *
csv_heap_pages_begin(Relation relation, CommandId cid, int options,
					 CsvIndexEntries *entries)
{
	CsvHeapPages *pages = palloc0(sizeof(CsvHeapPages));

	pages->relation = relation;
	pages->context = CurrentMemoryContext;
	pages->cid = cid;
	pages->entries = entries;
	pages->form = csv_tuple_form_create(RelationGetDescr(relation),
										GetCurrentTransactionId(), cid);
	pages->kept_free = RelationGetTargetPageFreeSpace(relation,
													  HEAP_DEFAULT_FILLFACTOR);

	pages->first_end = pages->end = RelationGetNumberOfBlocks(relation);
	pages->seeks_room = pages->end > 0;
	pages->room = InvalidBlockNumber;
	pages->options = options;
	pages->bulk = GetBulkInsertState();
	pages->strategy = GetAccessStrategy(BAS_BULKWRITE);
	pages->npages = CSV_PENDING_PAGES;
	pages->past_buffers = is_past_buffers(relation);
	if (!pages->past_buffers)
		pages->npages = Min(pages->npages, csv_pin_limit());
	pages->pages = alloc_pages(pages->npages);
	return pages;
}

/* ---- pages ---- */

static inline Page
page_of(char *pages, int i)
{
	return (Page) (pages + (Size) i * BLCKSZ);
}

static inline Page
pending_page(CsvHeapPages *pages, int i)
{
	return page_of(pages->pages, i);
}

/* set the tuples' own addresses, and the page's checksum, unless they are right */
static void
place_page(Page page, BlockNumber block)
{
	OffsetNumber last = PageGetMaxOffsetNumber(page);

	for (OffsetNumber offset = FirstOffsetNumber; offset <= last; offset++)
	{
		HeapTupleHeader tuple = (HeapTupleHeader)
			PageGetItem(page, PageGetItemId(page, offset));

		if (ItemPointerGetOffsetNumberNoCheck(&tuple->t_ctid) == offset &&
			ItemPointerGetBlockNumberNoCheck(&tuple->t_ctid) == block)
			return;
		ItemPointerSet(&tuple->t_ctid, block, offset);
	}
	PageSetChecksumInplace(page, block);
}

/*
 * Log the rows of a new page as COPY does.  Logical decoding sees the rows, and recovery
 * makes the page of them.
 */
static XLogRecPtr
log_rows(Buffer buffer)
{
	Page		page = BufferGetPage(buffer);
	xl_heap_multi_insert record = {
		.flags = XLH_INSERT_CONTAINS_NEW_TUPLE | XLH_INSERT_LAST_IN_MULTI,
		.ntuples = PageGetMaxOffsetNumber(page)
	};
	PGAlignedBlock rows;
	char	   *end = rows.data;

	for (OffsetNumber offset = FirstOffsetNumber; offset <= record.ntuples; offset++)
	{
		ItemId		item = PageGetItemId(page, offset);
		HeapTupleHeader tuple = (HeapTupleHeader) PageGetItem(page, item);
		xl_multi_insert_tuple *row = (xl_multi_insert_tuple *) SHORTALIGN(end);

		row->datalen = ItemIdGetLength(item) - SizeofHeapTupleHeader;
		row->t_infomask2 = tuple->t_infomask2;
		row->t_infomask = tuple->t_infomask;
		row->t_hoff = tuple->t_hoff;
		end = (char *) row + SizeOfMultiInsertTuple;
		memcpy(end, (char *) tuple + SizeofHeapTupleHeader, row->datalen);
		end += row->datalen;
	}
	XLogBeginInsert();
	XLogRegisterData((char *) &record, SizeOfHeapMultiInsert);
	XLogRegisterBuffer(0, buffer, REGBUF_STANDARD | REGBUF_WILL_INIT);
	XLogRegisterBufData(0, rows.data, end - rows.data);
	XLogSetRecordFlags(XLOG_INCLUDE_ORIGIN);
	return XLogInsert(RM_HEAP2_ID, XLOG_HEAP2_MULTI_INSERT | XLOG_HEAP_INIT_PAGE);
}

/*
 * Append pages in the way of all changes of a relation: a buffer holds each page,
 * locked, from the time that the file has its block until it is logged.  An ERROR is
 * possible only before the buffers are filled.  It leaves blocks of zeros, as any
 * failed extension does.
 */
static void
buffer_pages(CsvHeapPages *to, char *pages, int npages)
{
	Relation	relation = to->relation;
	bool		is_shared = !RELATION_IS_LOCAL(relation);
	bool		by_rows = RelationIsLogicallyLogged(relation);
	Buffer		buffers[CSV_PENDING_PAGES];
	XLogRecPtr	lsn = InvalidXLogRecPtr;

	XLogEnsureRecordSpace(npages - 1, 0);
	if (is_shared)
		LockRelationForExtension(relation, ExclusiveLock);
	for (int i = 0; i < npages; i++)
		buffers[i] = ReadBufferExtended(relation, MAIN_FORKNUM, P_NEW,
										RBM_ZERO_AND_LOCK, to->strategy);
	if (is_shared)
		UnlockRelationForExtension(relation, ExclusiveLock);
	for (int i = 0; i < npages; i++)
	{
		to->end = BufferGetBlockNumber(buffers[i]) + 1;
		place_page(page_of(pages, i), to->end - 1);
	}

	if (!by_rows)
		XLogBeginInsert();
	START_CRIT_SECTION();
	for (int i = 0; i < npages; i++)
	{
		memcpy(BufferGetPage(buffers[i]), page_of(pages, i), BLCKSZ);
		MarkBufferDirty(buffers[i]);
		if (by_rows)
		{
			lsn = log_rows(buffers[i]);
			PageSetLSN(BufferGetPage(buffers[i]), lsn);
		}
		else
			XLogRegisterBuffer((uint8) i, buffers[i],
							   REGBUF_FORCE_IMAGE | REGBUF_STANDARD);
	}
	if (!by_rows)
	{
		lsn = XLogInsert(RM_XLOG_ID, XLOG_FPI);
		for (int i = 0; i < npages; i++)
			PageSetLSN(BufferGetPage(buffers[i]), lsn);
	}
	END_CRIT_SECTION();
	for (int i = 0; i < npages; i++)
		UnlockReleaseBuffer(buffers[i]);

	/* the WAL writer may begin; no buffer is written before its WAL is flushed */
	XLogSetAsyncXactLSN(lsn);
}

/*
 * Extend the relation's file by pages.  The storage manager also makes the next
 * checkpoint sync them.
 */
static void
extend_file(CsvHeapPages *to, char *pages, int npages, BlockNumber block)
{
	SMgrRelation storage = RelationGetSmgr(to->relation);

	for (int i = 0; i < npages; i++)
		smgrextend(storage, MAIN_FORKNUM, block + i, (char *) page_of(pages, i), false);
}

/*
 * Extend the file by pages, and log them.  In the file, the pages' LSN is the current
 * insert position of WAL; the records for them follow it.  A checkpoint that begins after
 * the records syncs the pages, since the file was registered for it before.  After a
 * checkpoint that began earlier, recovery replays the records.  If anything fails, the
 * file is truncated to its old length: no process may add rows to a page that standbys
 * do not know.
 */
static void
write_new_storage(CsvHeapPages *to, char *pages, int npages, BlockNumber first)
{
	Page		logged[CSV_WINDOW_PAGES];
	BlockNumber blocks[CSV_WINDOW_PAGES];
	XLogRecPtr	lsn = GetXLogInsertRecPtr();

	for (int i = 0; i < npages; i++)
	{
		logged[i] = page_of(pages, i);
		blocks[i] = first + i;
		PageSetLSN(logged[i], lsn);
		PageSetChecksumInplace(logged[i], blocks[i]);
	}
	PG_TRY();
	{
		extend_file(to, pages, npages, first);
		csv_log_new_pages(to->relation, npages, blocks, logged);
		XLogSetAsyncXactLSN(PageGetLSN(logged[npages - 1]));
	}
	PG_CATCH();
	{
		RelationTruncate(to->relation, first);
		PG_RE_THROW();
	}
	PG_END_TRY();
}

/*
 * Append pages past shared buffers.
 *
 * Other processes may use the relation meanwhile.  No other process extends it while
 * we hold the lock, so the blocks are ours alone.  Shared buffers have no valid page
 * for a block beyond the end: a backend that fails to extend leaves an invalid buffer,
 * and only reading there under zero_damaged_pages would leave a valid buffer.  A block
 * enters the file complete, and other processes learn of it by the file's length.
 * From then on it is a page like any other, which is read and changed in shared
 * buffers; we never write it again.
 *
 * After a crash, an unlogged relation is empty, and a relation that was new does not
 * exist.  Under wal_level minimal, the server syncs a new relation before its
 * transaction commits, so the relation survives a crash.
 */
static void
write_pages(CsvHeapPages *to, char *pages, int npages)
{
	Relation	relation = to->relation;
	bool		is_shared = !RELATION_IS_LOCAL(relation);
	BlockNumber first;

	if (is_shared)
		LockRelationForExtension(relation, ExclusiveLock);
	first = smgrnblocks(RelationGetSmgr(relation), MAIN_FORKNUM);
	if ((BlockNumber) npages > MaxBlockNumber - first)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("cannot extend relation \"%s\" beyond %u blocks",
						RelationGetRelationName(relation), MaxBlockNumber)));
	for (int i = 0; i < npages; i++)
		place_page(page_of(pages, i), first + i);
	if (RelationNeedsWAL(relation))
		write_new_storage(to, pages, npages, first);
	else
		extend_file(to, pages, npages, first);
	if (is_shared)
		UnlockRelationForExtension(relation, ExclusiveLock);
	to->end = first + npages;
}

static void
append_pages(CsvHeapPages *to, char *pages, int npages)
{
	Relation	relation = to->relation;
	int64		nrows = 0;

	if (npages == 0)
		return;
	CheckForSerializableConflictIn(relation, NULL, InvalidBlockNumber);
	if (to->past_buffers)
		write_pages(to, pages, npages);
	else
		for (int i = 0; i < npages; i += to->npages)
			buffer_pages(to, page_of(pages, i), Min(npages - i, to->npages));
	/* a transaction that has read the relation meanwhile has not seen these rows */
	CheckForSerializableConflictIn(relation, NULL, InvalidBlockNumber);
	for (int i = 0; i < npages; i++)
	{
		nrows += PageGetMaxOffsetNumber(page_of(pages, i));
		if (to->entries != NULL)
			csv_index_entries_add(to->entries, page_of(pages, i));
	}
	pgstat_count_heap_insert(relation, nrows);
}

static void
append_waiting(CsvHeapPages *pages)
{
	CsvPageWindow *window = pages->crew == NULL ? NULL : pages->crew->waiting;

	if (window == NULL)
		return;
	pages->crew->waiting = NULL;
	append_pages(pages, window->pages, window->npages);
}

/* append the full pages; the page that is being filled stays */
static void
append_pending(CsvHeapPages *pages)
{
	append_waiting(pages);
	append_pages(pages, pages->pages, pages->nfull);
	pages->nfull = 0;
}

static inline bool
has_room(const CsvHeapPages *pages, Page page, Size length)
{
	return PageGetHeapFreeSpace(page) >= MAXALIGN(length) + pages->kept_free;
}

/*
 * Returns the bytes that a page of the relation has for a tuple, without its line
 * pointer.  The number is rounded down so that a page in private memory can have it,
 * too.
 */
static Size
free_room(const CsvHeapPages *pages, BlockNumber block)
{
	Buffer		buffer = ReadBuffer(pages->relation, block);
	Size		nbytes;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	nbytes = PageGetHeapFreeSpace(BufferGetPage(buffer));
	UnlockReleaseBuffer(buffer);
	return nbytes == 0 ? 0 :
		MAXALIGN_DOWN(nbytes + sizeof(ItemIdData)) - sizeof(ItemIdData);
}

/*
 * Start a page in private memory for rows that the server puts into older pages, while
 * these have space.  When it has added a page, fill that page, too.  Returns false if
 * no space is left for a tuple of this length.
 */
static bool
start_room(CsvHeapPages *pages, Size length)
{
	Size		nfree = BLCKSZ - SizeOfPageHeaderData - sizeof(ItemIdData);

	if (pages->room != InvalidBlockNumber && pages->room >= pages->first_end)
		nfree = free_room(pages, pages->room);
	pages->seeks_room = nfree >= MAXALIGN(length) + pages->kept_free;
	if (!pages->seeks_room)
		return false;

	/* the other bytes count as special space */
	PageInit(pending_page(pages, 0), BLCKSZ,
			 BLCKSZ - SizeOfPageHeaderData - sizeof(ItemIdData) - nfree);
	pages->has_page = true;
	return true;
}

/*
 * Insert the rows of the page that has been started in the ordinary way: into older
 * pages, or at the end of the relation.
 */
static void
insert_page(CsvHeapPages *pages, Page page)
{
	OffsetNumber last = PageGetMaxOffsetNumber(page);
	int			options = pages->options;

	if (!pages->seeks_room)
	{
		options |= TABLE_INSERT_SKIP_FSM;
		ReleaseBulkInsertStatePin(pages->bulk);
		RelationSetTargetBlock(pages->relation, InvalidBlockNumber);
	}
	for (int i = 0; i < last; i++)
	{
		ItemId		item = PageGetItemId(page, i + 1);
		HeapTupleData tuple;

		if (pages->slots[i] == NULL)
		{
			MemoryContext outer = MemoryContextSwitchTo(pages->context);

			pages->slots[i] = table_slot_create(pages->relation, NULL);
			MemoryContextSwitchTo(outer);
		}
		tuple.t_len = ItemIdGetLength(item);
		tuple.t_tableOid = RelationGetRelid(pages->relation);
		tuple.t_data = (HeapTupleHeader) PageGetItem(page, item);
		ItemPointerSetInvalid(&tuple.t_self);
		ExecForceStoreHeapTuple(&tuple, pages->slots[i], false);
	}
	table_multi_insert(pages->relation, pages->slots, last, pages->cid, options,
					   pages->bulk);
	pages->room = ItemPointerGetBlockNumber(&pages->slots[last - 1]->tts_tid);
	for (int i = 0; i < last; i++)
	{
		if (pages->entries != NULL)
			csv_index_entries_add_row(pages->entries, pages->slots[i]);
		ExecClearTuple(pages->slots[i]);
	}
	pages->has_page = false;
}

/* add no more rows to the page that has been started */
static void
finish_page(CsvHeapPages *pages)
{
	if (pages->seeks_room)
		insert_page(pages, pending_page(pages, pages->nfull));
	else
		pages->nfull++;
	pages->has_page = false;
}

/* returns a page with room for a tuple of this length */
static inline Page
page_with_room(CsvHeapPages *pages, Size length)
{
	Page		page = pending_page(pages, pages->nfull);

	if (likely(pages->has_page))
	{
		if (has_room(pages, page, length))
			return page;
		finish_page(pages);
		if (pages->nfull == pages->npages)
			append_pending(pages);
		page = pending_page(pages, pages->nfull);
	}
	if (pages->seeks_room && start_room(pages, length))
		return page;

	/* a row that needs no toasting fits into an empty page */
	PageInit(page, BLCKSZ, 0);
	pages->has_page = true;
	return page;
}

/* the page must have room for the tuple; zeros align its end */
static inline void
put_tuple(Page to, const char *tuple, Size length)
{
	PageHeader	page = (PageHeader) to;
	ItemId		item = (ItemId) ((char *) page + page->pd_lower);

	page->pd_upper -= MAXALIGN(length);
	page->pd_lower += sizeof(ItemIdData);
	ItemIdSetNormal(item, page->pd_upper, length);
	memcpy((char *) page + page->pd_upper, tuple, MAXALIGN(length));
}

bool
csv_heap_pages_add(CsvHeapPages *pages, const Datum *values,
				   const bool *isnull)
{
	Size		length = csv_form_tuple(pages->form, values, isnull, &pages->tuple);

	if (length == 0)
		return false;
	memset(pages->tuple.bytes + length, 0, MAXALIGN(length) - length);
	put_tuple(page_with_room(pages, length), pages->tuple.bytes, length);
	return true;
}

/* ---- many rows ---- */

static CsvPageCrew *
make_crew(CsvHeapPages *pages, const CsvRowTemplate *template, int nthreads)
{
	MemoryContext outer = MemoryContextSwitchTo(pages->context);
	CsvPageCrew *crew = palloc0(sizeof(CsvPageCrew));

	crew->crew = csv_crew_create(nthreads);
	crew->tuples = csv_tuples_create(pages->form, RelationGetDescr(pages->relation),
									 template, crew->crew);
	for (int i = 0; i < 2; i++)
	{
		crew->windows[i].tuples = crew->tuples;
		crew->windows[i].pages = alloc_pages(CSV_WINDOW_PAGES);
		PageInit(page_of(crew->windows[i].pages, 0), BLCKSZ, 0);
		memcpy(&crew->windows[i].empty, crew->windows[i].pages, SizeOfPageHeaderData);
	}
	MemoryContextSwitchTo(outer);
	return crew;
}

/*
 * Plan which tuples go to which page of a window, from the cursor on.  A page is full
 * when the next tuple does not fit, so the last tuples may remain.
 */
static void
plan_window(CsvPageWindow *window, Size kept_free, CsvTupleCursor *cursor)
{
	for (window->npages = 0; window->npages < CSV_WINDOW_PAGES; window->npages++)
	{
		CsvTupleCursor end = *cursor;
		CsvTupleCursor next = *cursor;
		Size		room = BLCKSZ - SizeOfPageHeaderData;
		int			ntuples = 0;
		Size		length;

		for (;;)
		{
			if (csv_tuples_next(window->tuples, &next, &length) == NULL)
				return;
			length = MAXALIGN(length);
			if (ntuples > 0 && (ntuples == MaxHeapTuplesPerPage ||
								room < length + sizeof(ItemIdData) + kept_free))
				break;
			room -= length + sizeof(ItemIdData);
			ntuples++;
			end = next;
		}
		window->plan[window->npages].from = *cursor;
		*cursor = end;
		window->plan[window->npages].ntuples = ntuples;
	}
}

/* fill a part of a window; called by the crew */
static void
fill_pages(void *arg, uint32_t part)
{
	CsvPageWindow *window = arg;
	int			first = (int) part * CSV_WINDOW_PART;
	int			end = Min(first + CSV_WINDOW_PART, window->npages);

	for (int i = first; i < end; i++)
	{
		CsvTupleCursor cursor = window->plan[i].from;
		Page		page = page_of(window->pages, i);

		/* the header of an empty page; all other bytes are overwritten below */
		memcpy(page, &window->empty, SizeOfPageHeaderData);
		for (int k = 0; k < window->plan[i].ntuples; k++)
		{
			Size		length;
			const char *tuple = csv_tuples_next(window->tuples, &cursor, &length);

			put_tuple(page, tuple, length);
		}
		memset((char *) page + ((PageHeader) page)->pd_lower, 0,
			   ((PageHeader) page)->pd_upper - ((PageHeader) page)->pd_lower);
		place_page(page, window->block + i);
	}
}

/*
 * Let threads fill a window for blocks from `block` on, which are right unless another
 * process extends the relation.  Returns false if the remaining tuples do not fill a
 * page.
 */
static bool
start_window(CsvHeapPages *pages, CsvPageWindow *window, BlockNumber block,
			 CsvTupleCursor *cursor)
{
	plan_window(window, pages->kept_free, cursor);
	if (window->npages == 0)
		return false;
	window->block = block;
	csv_crew_start(pages->crew->crew,
				   (uint32_t) (window->npages + CSV_WINDOW_PART - 1) / CSV_WINDOW_PART,
				   fill_pages, window);
	return true;
}

/* append full pages of the tuples from the cursor on; the last window waits */
static void
add_windows(CsvHeapPages *pages, CsvTupleCursor *cursor)
{
	CsvPageCrew *crew = pages->crew;
	CsvPageWindow *filled = &crew->windows[0];
	CsvPageWindow *next = &crew->windows[1];
	bool		any = start_window(pages, filled, pages->end, cursor);

	while (any)
	{
		CsvPageWindow *window = filled;

		csv_crew_finish(crew->crew);
		any = start_window(pages, next, window->block + window->npages, cursor);
		if (!any)
		{
			crew->waiting = window;
			break;
		}
		CHECK_FOR_INTERRUPTS();
		append_pages(pages, window->pages, window->npages);
		filled = next;
		next = window;
	}
}

/*
 * Let threads make tuples of a run, while the waiting pages are written.  The run must
 * stay until the threads are done, even at an ERROR or at the session's end.
 */
static uint32
make_tuples(CsvHeapPages *pages, const CsvRowRun *run, bool *stopped)
{
	CsvTuples  *tuples = pages->crew->tuples;

	csv_tuples_start(tuples, run);
	HOLD_INTERRUPTS();
	PG_TRY();
	{
		append_waiting(pages);
	}
	PG_CATCH();
	{
		(void) csv_tuples_finish(tuples, stopped);
		PG_RE_THROW();
	}
	PG_END_TRY();
	RESUME_INTERRUPTS();
	return csv_tuples_finish(tuples, stopped);
}

uint32
csv_heap_pages_add_run(CsvHeapPages *pages, const CsvRowRun *run,
					   const CsvRowTemplate *template, int nthreads, bool *stopped)
{
	CsvTupleCursor cursor = {0};
	const char *tuple;
	Size		length;
	uint32		nrows;

	/* into older pages, rows go one by one */
	*stopped = pages->seeks_room;
	if (pages->seeks_room)
		return 0;
	if (pages->crew == NULL)
		pages->crew = make_crew(pages, template, nthreads);
	nrows = make_tuples(pages, run, stopped);

	/* first fill the page that has been started */
	while (pages->has_page)
	{
		CsvTupleCursor next = cursor;

		tuple = csv_tuples_next(pages->crew->tuples, &next, &length);
		if (tuple == NULL)
			return nrows;
		if (!has_room(pages, pending_page(pages, pages->nfull), length))
			finish_page(pages);
		else
		{
			put_tuple(pending_page(pages, pages->nfull), tuple, length);
			cursor = next;
		}
	}
	append_pending(pages);
	add_windows(pages, &cursor);
	while ((tuple = csv_tuples_next(pages->crew->tuples, &cursor, &length)) != NULL)
		put_tuple(page_with_room(pages, length), tuple, length);
	return nrows;
}

/* ---- end ---- */

void
csv_heap_pages_end(CsvHeapPages *pages)
{
	Page		page = pending_page(pages, pages->nfull);

	append_pending(pages);
	if (pages->has_page)
		insert_page(pages, page);
	for (int i = 0; i < MaxHeapTuplesPerPage && pages->slots[i] != NULL; i++)
		ExecDropSingleTupleTableSlot(pages->slots[i]);
	FreeBulkInsertState(pages->bulk);
}
