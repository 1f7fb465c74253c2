/*
 * skipping.c
 *		Tracks the records that a scan has passed, and reports skipped records.
 *
 * If processes share the scan, each process notes the records that it skips in the
 * piece that it reads, and hands the notes in when it has passed the piece.  When all
 * pieces up to some point are passed, their notes are due, and the leader reports them.
 * If an ERROR is due, the process that handed in the last missing notes raises it, and
 * reports the due notes before it.
 *
 * Notes of pieces that are not due yet are in intervals of pieces.  Between two
 * intervals is a piece that some process is reading, so there are no more intervals
 * than processes.  An interval notes no more records in full than NOTICEs or the
 * reject limit may need.  So memory is bounded, and no process ever waits for a
 * process that is behind.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "miscadmin.h"
#include "storage/lwlock.h"
#include "utils/memutils.h"

#include "scan/skipping.h"

/* how far a scan has come, in the order of the files */
typedef struct ScanPoint
{
	int			file_number;	/* from 1; 0: before the first file */
	int64		record;
} ScanPoint;

#define NOTE_STRINGS	3

/*
 * A skipped record or a value that is NULL, with its file, message and detail; or a
 * message, with its detail and hint.  These strings are one after another in `text`.
 */
typedef struct ReportNote
{
	dsa_pointer next;
	int			level;			/* 0: not a message */
	CsvSkipped	skipped;		/* without its strings; of a message: sqlerrcode */
	bool		has_string[NOTE_STRINGS];
	char		text[FLEXIBLE_ARRAY_MEMBER];
} ReportNote;

/* the notes of the pieces [first, end) */
typedef struct PieceInterval
{
	uint64		first;
	uint64		end;
	ScanPoint	point;			/* of the last record */
	int64		nrecords;
	CsvReportCounts counts;
	int64		nnotes;			/* notes of the first cases, */
	int64		nskip_notes;	/* and how many are of skipped records */
	dsa_pointer head;			/* these notes, and all other notes */
	dsa_pointer tail;
	bool		failed;			/* the last note is an ERROR */
} PieceInterval;

struct CsvSharedReport
{
	LWLock		lock;			/* for all of it */
	ScanPoint	begin;			/* up to here all was reported before */
	PieceInterval due;			/* due pieces; counts and notes not reported yet */
	CsvReportCounts said;		/* counts that were reported */
	int64		npassed;		/* records before this scan and in due pieces */
	bool		ended;			/* the number of pieces is known: */
	uint64		npieces;
	bool		raised;			/* a process raises the scan's ERROR */
	int			npending;		/* intervals, in order */
	PieceInterval pending[FLEXIBLE_ARRAY_MEMBER];
};

struct CsvSkipping
{
	const CsvTable *table;
	CsvSkippedFn skipped;
	void	   *arg;
	CsvReport	report;
	ScanPoint	point;			/* furthest record that was passed and reported */
	int64		npassed;		/* up to there */
	Bitmapset  *changed;		/* files whose change was reported */

	/*
	 * Records that were passed of each file, if a rewind may leave out other files
	 * than before, so that a later file may have been passed before an earlier file.
	 * NULL: point tells.
	 */
	int64	   *of_file;
	bool		looks_ahead;
	int64		nskipped;		/* by this process */
	int64		nset_null;		/* values */

	/* if other processes share the scan */
	CsvSharedReport *shared;	/* NULL: none does */
	dsa_area   *dsa;
	int64		nown;			/* records that this process has passed */
	PieceInterval piece;		/* the current piece */
};

CsvSkipping *
csv_skipping_create(const CsvTable *table, CsvSkippedFn skipped, void *arg)
{
	CsvSkipping *skipping = palloc0(sizeof(CsvSkipping));

	skipping->table = table;
	skipping->skipped = skipped;
	skipping->arg = arg;
	csv_report_begin(&skipping->report, table);
	if (table->left_out_varies)
		skipping->of_file = palloc_extended(sizeof(int64) * table->nfiles,
											MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	return skipping;
}

/* ---- records that were passed ---- */

/* up to here, records were reported before */
static const ScanPoint *
passed_point(const CsvSkipping *skipping)
{
	return skipping->shared != NULL ? &skipping->shared->begin : &skipping->point;
}

bool
csv_skipping_was_passed(const CsvSkipping *skipping, int file_number,
						int64 record)
{
	const ScanPoint *point = passed_point(skipping);

	if (skipping->of_file != NULL)
		return record <= skipping->of_file[file_number - 1];
	return file_number < point->file_number ||
		(file_number == point->file_number && record <= point->record);
}

/* how many records of a batch, up to this record, were not passed before? */
static int64
count_new(const CsvSkipping *skipping, int file_number, int64 before,
		  int64 record)
{
	const ScanPoint *point = passed_point(skipping);

	if (file_number == 0 ||
		csv_skipping_was_passed(skipping, file_number, record))
		return 0;
	if (skipping->of_file != NULL)
		before = Max(skipping->of_file[file_number - 1], before);
	else if (file_number == point->file_number)
		before = Max(point->record, before);
	return record - before;
}

void
csv_skipping_pass(CsvSkipping *skipping, int file_number, int64 before,
				  int64 record)
{
	int64		nnew = count_new(skipping, file_number, before, record);
	ScanPoint	point = {file_number, record};

	if (skipping->looks_ahead)
		return;
	if (skipping->shared != NULL)
	{
		skipping->piece.point = point;
		skipping->piece.nrecords += nnew;
		skipping->nown += nnew;
	}
	else if (nnew > 0)
	{
		skipping->npassed += nnew;
		if (skipping->of_file != NULL)
			skipping->of_file[file_number - 1] = record;
		skipping->point = point;
	}
}

void
csv_skipping_look_ahead(CsvSkipping *skipping, bool looks_ahead)
{
	skipping->looks_ahead = looks_ahead;
}

int64
csv_skipping_count(const CsvSkipping *skipping, int file_number, int64 before,
				   int64 record, int64 *skipped, int64 *set_null)
{
	*skipped = skipping->nskipped;
	*set_null = skipping->nset_null;
	return (skipping->shared != NULL ? skipping->nown : skipping->npassed) +
		(skipping->looks_ahead ? 0 :
		 count_new(skipping, file_number, before, record));
}

bool
csv_skipping_is_new(const CsvSkipping *skipping, int file_number, int64 record)
{
	return !skipping->looks_ahead &&
		!csv_skipping_was_passed(skipping, file_number, record);
}

/* ---- notes ---- */

/* put a note, or a list of notes that ends with `last`, behind the interval's notes */
static void
append_notes(dsa_area *dsa, PieceInterval *interval, dsa_pointer first,
			 dsa_pointer last)
{
	if (DsaPointerIsValid(interval->tail))
		((ReportNote *) dsa_get_address(dsa, interval->tail))->next = first;
	else
		interval->head = first;
	interval->tail = last;
}

/* note something in the current piece */
static void
add_note(CsvSkipping *skipping, int level, const CsvSkipped *skipped,
		 const char *const strings[NOTE_STRINGS])
{
	Size		nbytes = offsetof(ReportNote, text);
	dsa_pointer pointer;
	ReportNote *note;
	char	   *place;

	for (int i = 0; i < NOTE_STRINGS; i++)
		nbytes += strings[i] == NULL ? 0 : strlen(strings[i]) + 1;
	pointer = dsa_allocate0(skipping->dsa, nbytes);
	note = dsa_get_address(skipping->dsa, pointer);
	note->level = level;
	note->skipped = *skipped;
	place = note->text;
	for (int i = 0; i < NOTE_STRINGS; i++)
	{
		note->has_string[i] = strings[i] != NULL;
		if (note->has_string[i])
			place = stpcpy(place, strings[i]) + 1;
	}
	append_notes(skipping->dsa, &skipping->piece, pointer, pointer);
}

static const char *
note_string(const ReportNote *note, int number)
{
	const char *string = note->text;

	for (int i = 0; i < number; i++)
		string += note->has_string[i] ? strlen(string) + 1 : 0;
	return note->has_string[number] ? string : NULL;
}

/*
 * Drop notes of records, from this note on, and append all others to the interval's
 * notes, unless it is NULL.
 */
static void
drop_notes(dsa_area *dsa, dsa_pointer pointer, PieceInterval *interval)
{
	while (DsaPointerIsValid(pointer))
	{
		ReportNote *note = dsa_get_address(dsa, pointer);
		dsa_pointer next = note->next;

		note->next = InvalidDsaPointer;
		if (interval != NULL && note->level > 0)
			append_notes(dsa, interval, pointer, pointer);
		else
			dsa_free(dsa, pointer);
		pointer = next;
	}
}

/* ---- a process's piece ---- */

/*
 * May a note of the interval's next skipped record, or value, be needed: for a
 * NOTICE, or for the ERROR of a limit?
 */
static bool
needs_note(const CsvTable *table, const PieceInterval *interval, bool set_null)
{
	int64		most = table->stop ? 0 : table->reject_count;

	return (table->verbosity == CSV_VERBOSITY_DEFAULT &&
			interval->nnotes < table->notice_limit) ||
		(!set_null && interval->nskip_notes <= most);
}

bool
csv_skipping_needs_message(const CsvSkipping *skipping)
{
	if (skipping->shared != NULL)
		return needs_note(skipping->table, &skipping->piece, false);
	return skipping->skipped != NULL ||
		csv_report_needs_message(&skipping->report);
}

bool
csv_skipping_add(CsvSkipping *skipping, const CsvSkipped *skipped)
{
	bool		set_null = skipped->code == CSV_ERROR_SET_NULL;
	PieceInterval *piece = &skipping->piece;

	if (skipping->looks_ahead)
		return false;
	skipping->nset_null += set_null;
	skipping->nskipped += !set_null;
	if (skipping->shared == NULL)
	{
		if (skipping->skipped != NULL)
			return skipping->skipped(skipping->arg, skipped);
		csv_report_skipped(&skipping->report, skipped);
		return true;
	}
	if (needs_note(skipping->table, piece, set_null))
	{
		add_note(skipping, 0, skipped, (const char *const[]) {
			skipped->file, skipped->message, skipped->detail
		});
		piece->nnotes++;
		piece->nskip_notes += !set_null;
	}
	piece->counts.nskipped += !set_null;
	piece->counts.by_code[skipped->code]++;
	return !skipping->table->stop;
}

static void
send(int level, int sqlerrcode, const char *message, const char *detail,
	 const char *hint)
{
	ereport(level,
			(level >= ERROR ? errcode(sqlerrcode) : 0,
			 errmsg_internal("%s", message),
			 detail != NULL ? errdetail_internal("%s", detail) : 0,
			 hint != NULL ? errhint("%s", hint) : 0));
}

/* send a message, or note it */
static void
add_message(CsvSkipping *skipping, int level, int sqlerrcode, const char *message,
			const char *detail, const char *hint)
{
	CsvSkipped	skipped = {.sqlerrcode = sqlerrcode};

	if (skipping->shared == NULL)
		send(level, sqlerrcode, message, detail, hint);
	else if (!skipping->piece.failed)
		add_note(skipping, level, &skipped, (const char *const[]) {
			message, detail, hint
		});
	skipping->piece.failed |= level >= ERROR;
}

void
csv_skipping_fail(void *arg, const ErrorData *error)
{
	add_message(arg, ERROR, error->sqlerrcode, error->message, error->detail,
				error->hint);
}

static char *
change_message(const char *file, CsvFileChange change)
{
	switch (change)
	{
		case CSV_FILE_SHORTER:
			return psprintf("file \"%s\" became shorter while it was read", file);
		case CSV_FILE_LONGER:
			return psprintf("file \"%s\" became longer while it was read", file);
		case CSV_FILE_GONE:
			return psprintf("left out file \"%s\", which no longer exists", file);
		case CSV_FILE_ODD_BREAKS:
			return psprintf("file \"%s\" has line breaks outside quotes that end no records", file);
		default:
			return pstrdup("");
	}
}

void
csv_skipping_changed(void *arg, int file_number, const char *filename,
					 CsvFileChange change)
{
	CsvSkipping *skipping = arg;
	const CsvTable *table = skipping->table;
	int			level = change == CSV_FILE_LONGER || change == CSV_FILE_GONE ? NOTICE :
		change == CSV_FILE_SHORTER && table->stop ? ERROR : WARNING;
	MemoryContext outer;

	if (skipping->looks_ahead || bms_is_member(file_number, skipping->changed))
		return;
	outer = MemoryContextSwitchTo(GetMemoryChunkContext(skipping));
	skipping->changed = bms_add_member(skipping->changed, file_number);
	MemoryContextSwitchTo(outer);

	/* the table of a COPY is in no catalog, and COPY tells nothing */
	if (OidIsValid(table->relid) &&
		(level >= ERROR || table->verbosity != CSV_VERBOSITY_SILENT))
		add_message(skipping, level, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
					change_message(filename, change), NULL, change != CSV_FILE_ODD_BREAKS ? NULL :
					"If carriage returns end the records, set the option \"record_boundary\" to 'cr', otherwise to 'lf'.");
}

/* ---- the order ---- */

/*
 * Append `next` to an interval that ends where `next` begins.  If the interval could
 * not note all of its skipped records, it has as many notes as may be needed.  If only
 * NOTICEs need notes, the same holds if it could not note all of its values.
 */
static void
append_interval(CsvSkipping *skipping, PieceInterval *interval,
				const PieceInterval *next)
{
	bool		has_all = skipping->table->reject_count >= 0 ?
		interval->nskip_notes == interval->counts.nskipped :
		interval->nnotes == csv_report_ncases(&interval->counts);

	interval->end = next->end;
	if (interval->failed)
	{
		/* a single process would not have got there */
		drop_notes(skipping->dsa, next->head, NULL);
		return;
	}
	if (next->point.file_number > 0)
		interval->point = next->point;
	interval->nrecords += next->nrecords;
	interval->failed = next->failed;
	csv_report_add_counts(&interval->counts, &next->counts);
	if (!has_all || !needs_note(skipping->table, interval, false))
		drop_notes(skipping->dsa, next->head, interval);
	else if (DsaPointerIsValid(next->head))
	{
		append_notes(skipping->dsa, interval, next->head, next->tail);
		interval->nnotes += next->nnotes;
		interval->nskip_notes += next->nskip_notes;
	}
}

/* append interval i to the interval before it, and remove it; the lock is held */
static void
append_pending(CsvSkipping *skipping, PieceInterval *before, int i)
{
	CsvSharedReport *shared = skipping->shared;

	append_interval(skipping, before, &shared->pending[i]);
	shared->npending--;
	memmove(&shared->pending[i], &shared->pending[i + 1],
			(shared->npending - i) * sizeof(PieceInterval));
}

/* the caller holds the lock */
static void
add_pending(CsvSkipping *skipping, const PieceInterval *piece)
{
	CsvSharedReport *shared = skipping->shared;
	PieceInterval *pending = shared->pending;
	int			i = 0;

	while (i < shared->npending && pending[i].first < piece->first)
		i++;
	memmove(&pending[i + 1], &pending[i],
			(shared->npending - i) * sizeof(PieceInterval));
	pending[i] = *piece;
	shared->npending++;
	if (i + 1 < shared->npending && pending[i].end == pending[i + 1].first)
		append_pending(skipping, &pending[i], i + 1);
	if (i > 0 && pending[i - 1].end == pending[i].first)
		append_pending(skipping, &pending[i - 1], i);
	if (pending[0].first == shared->due.end)
	{
		shared->npassed += pending[0].nrecords;
		append_pending(skipping, &shared->due, 0);
	}
}

/* ---- due notes ---- */

/* report a note; ERROR if that is due */
static void
say_note(CsvSkipping *skipping, const ReportNote *note, CsvReportCounts *rest)
{
	CsvSkipped	skipped = note->skipped;

	if (note->level > 0)
	{
		send(note->level, skipped.sqlerrcode, note_string(note, 0),
			 note_string(note, 1), note_string(note, 2));
		return;
	}
	skipped.file = note_string(note, 0);
	skipped.message = note_string(note, 1);
	skipped.detail = note_string(note, 2);
	csv_report_skipped(&skipping->report, &skipped);
	rest->nskipped -= skipped.code != CSV_ERROR_SET_NULL;
	rest->by_code[skipped.code]--;
}

/*
 * Report everything that is due; ERROR if that is due.  The report then includes all
 * that was reported.  The caller holds the lock, which is released.
 */
static void
say_due(CsvSkipping *skipping)
{
	CsvSharedReport *shared = skipping->shared;
	PieceInterval due = shared->due;
	CsvReportCounts rest = due.counts;
	dsa_pointer pointer = due.head;
	bool		is_last = shared->ended && due.end == shared->npieces;

	skipping->report.counts = shared->said;
	skipping->point = due.point;
	skipping->npassed = shared->npassed;
	csv_report_add_counts(&shared->said, &due.counts);
	shared->due = (PieceInterval) {
		.end = due.end, .point = due.point, .failed = due.failed
	};
	/* the leader passes on other processes' messages, and their ERROR, after these */
	if (!IsParallelWorker())
		HOLD_INTERRUPTS();
	LWLockRelease(&shared->lock);

	while (DsaPointerIsValid(pointer))
	{
		ReportNote *note = dsa_get_address(skipping->dsa, pointer);
		dsa_pointer next = note->next;

		say_note(skipping, note, &rest);
		dsa_free(skipping->dsa, pointer);
		pointer = next;
	}
	if (!IsParallelWorker())
		RESUME_INTERRUPTS();
	csv_report_add_counts(&skipping->report.counts, &rest);
	if (is_last)
		csv_report_end(&skipping->report, skipping->npassed, true);
}

/* is an ERROR due?  The caller holds the lock. */
static bool
is_error_due(const CsvSharedReport *shared, const CsvTable *table)
{
	int64		nskipped = shared->said.nskipped + shared->due.counts.nskipped;

	return shared->due.failed ||
		(table->stop && shared->due.counts.nskipped > 0) ||
		(table->reject_count >= 0 && nskipped > table->reject_count) ||
		(shared->ended && shared->due.end == shared->npieces &&
		 csv_report_exceeds(table, nskipped, shared->npassed));
}

/* raise the scan's ERROR if it is due; the caller holds the lock, which is released */
static void
raise_if_due(CsvSkipping *skipping)
{
	CsvSharedReport *shared = skipping->shared;

	if (shared->raised || !is_error_due(shared, skipping->table))
	{
		LWLockRelease(&shared->lock);
		return;
	}
	shared->raised = true;
	say_due(skipping);
}

/* ---- scans that other processes share ---- */

Size
csv_shared_report_size(int nprocesses)
{
	return offsetof(CsvSharedReport, pending) +
		(nprocesses + 1) * sizeof(PieceInterval);
}

void
csv_skipping_begin_shared(const CsvSkipping *skipping, CsvSharedReport *shared)
{
	memset(shared, 0, offsetof(CsvSharedReport, pending));

	/* held for moments; a tranche of our own would be one more in each session */
	LWLockInitialize(&shared->lock, LWTRANCHE_PARALLEL_APPEND);
	shared->due.point = shared->begin = skipping->point;
	shared->said = skipping->report.counts;
	shared->npassed = skipping->npassed;
}

void
csv_skipping_share(CsvSkipping *skipping, CsvSharedReport *shared,
				   dsa_area *dsa)
{
	skipping->shared = shared;
	skipping->dsa = dsa;
	skipping->piece = (PieceInterval) {0};
}

void
csv_skipping_hand_in(void *arg, uint64 piece)
{
	CsvSkipping *skipping = arg;

	skipping->piece.first = piece;
	skipping->piece.end = piece + 1;
	LWLockAcquire(&skipping->shared->lock, LW_EXCLUSIVE);
	add_pending(skipping, &skipping->piece);
	raise_if_due(skipping);
	skipping->piece = (PieceInterval) {0};
}

void
csv_skipping_end_pieces(CsvSkipping *skipping, uint64 npieces)
{
	LWLockAcquire(&skipping->shared->lock, LW_EXCLUSIVE);
	skipping->shared->ended = true;
	skipping->shared->npieces = npieces;
	raise_if_due(skipping);
}

void
csv_skipping_say(CsvSkipping *skipping)
{
	CsvSharedReport *shared = skipping->shared;

	LWLockAcquire(&shared->lock, LW_EXCLUSIVE);

	/* the process that raises an ERROR reports the notes before it */
	if (shared->raised || is_error_due(shared, skipping->table))
		LWLockRelease(&shared->lock);
	else
		say_due(skipping);
}

void
csv_skipping_unshare(CsvSkipping *skipping)
{
	csv_skipping_say(skipping);
	skipping->shared = NULL;
}

void
csv_skipping_end(CsvSkipping *skipping, bool complete)
{
	if (skipping->looks_ahead)
		return;
	if (skipping->shared == NULL)
		csv_report_end(&skipping->report, skipping->npassed, complete);
	else if (!IsParallelWorker())
		csv_skipping_say(skipping);
	if (!complete)
		csv_report_log(&skipping->report);
}
