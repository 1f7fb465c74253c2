/*
 * shared_report.c
 *		Reports skipped records if several processes share a scan.
 *
 * Notes of pieces that are not due yet are kept as intervals of pieces.  Between two
 * intervals is a piece that some process is reading, so there are no more intervals
 * than processes.  An interval notes no more records in full than NOTICEs or the
 * reject limit may need.  So memory is bounded, and no process ever waits for a
 * process that is behind.
 */
#include "postgres.h"

#include "storage/condition_variable.h"
#include "storage/lwlock.h"
#include "utils/wait_event.h"

#include "compat.h"
#include "scan/shared_report.h"

/*
 * A note is about a skipped record, or about a file that has changed.  `text` has the
 * file's name, and for a record its message and detail, one string after another.
 */
typedef struct Note
{
	dsa_pointer next;
	CsvFileChange change;		/* CSV_FILE_SAME: of a record */
	int64		record;
	int64		line;
	int64		byte_offset;
	CsvErrorCode code;
	int			sqlerrcode;
	bool		has_detail;
	char		text[FLEXIBLE_ARRAY_MEMBER];
} Note;

/* an ERROR that ends the scan; the strings are one after another */
typedef struct Failure
{
	int			sqlerrcode;
	bool		has_detail;
	bool		has_hint;
	char		text[FLEXIBLE_ARRAY_MEMBER];
} Failure;

/* the notes of the pieces [first, end) */
typedef struct PieceInterval
{
	uint64		first;
	uint64		end;
	CsvScanPoint point;			/* of the last record */
	int64		nrecords;
	CsvReportCounts counts;
	int64		nnotes;			/* notes of the first cases, */
	int64		nskip_notes;	/* and how many are of skipped records */
	dsa_pointer head;			/* these notes, and all notes of files */
	dsa_pointer tail;
	dsa_pointer failure;		/* the first failure */
} PieceInterval;

struct CsvSharedReport
{
	LWLock		lock;			/* for all of it */
	CsvScanPoint begin;			/* up to here all was reported before */
	PieceInterval due;			/* due pieces; counts and notes not reported yet */
	CsvReportCounts said;		/* counts that were reported */
	int64		npassed;		/* records before this scan and in due pieces */
	bool		ended;			/* the number of pieces is known: */
	uint64		npieces;
	bool		raised;			/* a process raises the scan's ERROR */
	bool		saying;			/* the leader reports older due notes */
	ConditionVariable has_said; /* the leader has reported them */
	int			npending;		/* intervals, in order */
	PieceInterval pending[FLEXIBLE_ARRAY_MEMBER];
};

struct CsvReporter
{
	CsvSharedReport *shared;
	dsa_area   *dsa;
	const CsvTable *table;
	PieceInterval piece;			/* the current piece */
	int64		most_notes;		/* most notes that NOTICEs may need, */
	int64		most_skip_notes;	/* and most notes of skipped records that an
									 * ERROR may need */
};

/* ---- set up ---- */

Size
csv_shared_report_size(int nprocesses)
{
	return offsetof(CsvSharedReport, pending) +
		(nprocesses + 1) * sizeof(PieceInterval);
}

void
csv_shared_report_init(CsvSharedReport *shared, int nprocesses)
{
	memset(shared, 0, csv_shared_report_size(nprocesses));

	/* held for moments; a tranche of our own would be one more in each session */
	LWLockInitialize(&shared->lock, LWTRANCHE_PARALLEL_APPEND);
	ConditionVariableInit(&shared->has_said);
}

void
csv_shared_report_begin(CsvSharedReport *shared, const CsvReport *report,
						const CsvScanPoint *point, int64 npassed)
{
	memset(&shared->due, 0, sizeof(shared->due));
	shared->due.point = *point;
	shared->begin = *point;
	shared->said = report->counts;
	shared->npassed = npassed;
	shared->ended = false;
	shared->raised = false;
	shared->saying = false;
	shared->npending = 0;
}

/* ---- a process's part ---- */

/* begin a piece: how many notes may it need? */
static void
begin_piece(CsvReporter *reporter)
{
	CsvSharedReport *shared = reporter->shared;
	const CsvTable *table = reporter->table;
	int64		nskipped;
	int64		ncases;

	memset(&reporter->piece, 0, sizeof(reporter->piece));
	LWLockAcquire(&shared->lock, LW_SHARED);
	nskipped = shared->said.nskipped + shared->due.counts.nskipped;
	ncases = csv_report_ncases(&shared->said) +
		csv_report_ncases(&shared->due.counts);
	LWLockRelease(&shared->lock);
	reporter->most_skip_notes = table->stop ? 1 :
		table->reject_count >= 0 ? table->reject_count + 1 - nskipped : 0;
	reporter->most_notes = table->verbosity == CSV_VERBOSITY_DEFAULT ?
		table->notice_limit - ncases : 0;
}

CsvReporter *
csv_reporter_create(CsvSharedReport *shared, dsa_area *dsa,
					const CsvTable *table)
{
	CsvReporter *reporter = palloc0(sizeof(CsvReporter));

	reporter->shared = shared;
	reporter->dsa = dsa;
	reporter->table = table;
	begin_piece(reporter);
	return reporter;
}

const CsvScanPoint *
csv_reporter_point(const CsvReporter *reporter)
{
	return &reporter->shared->begin;
}

bool
csv_reporter_needs_message(const CsvReporter *reporter)
{
	return reporter->piece.nnotes < reporter->most_notes ||
		reporter->piece.nskip_notes < reporter->most_skip_notes;
}

static Size
string_size(const char *string)
{
	return string == NULL ? 0 : strlen(string) + 1;
}

/* copy a string, if there is one; returns the place behind it */
static char *
put_string(char *place, const char *string)
{
	if (string == NULL)
		return place;
	memcpy(place, string, string_size(string));
	return place + string_size(string);
}

/* put a note, or a list of notes that ends with `last`, behind the interval's notes */
static void
append_notes(dsa_area *dsa, PieceInterval *interval, dsa_pointer first,
			 dsa_pointer last)
{
	if (DsaPointerIsValid(interval->tail))
		((Note *) dsa_get_address(dsa, interval->tail))->next = first;
	else
		interval->head = first;
	interval->tail = last;
}

static void
add_note(CsvReporter *reporter, const CsvSkipped *skipped)
{
	PieceInterval *piece = &reporter->piece;
	dsa_pointer pointer = dsa_allocate(reporter->dsa, offsetof(Note, text) +
									   string_size(skipped->file) +
									   string_size(skipped->message) +
									   string_size(skipped->detail));
	Note	   *note = dsa_get_address(reporter->dsa, pointer);
	char	   *place;

	note->next = InvalidDsaPointer;
	note->change = CSV_FILE_SAME;
	note->record = skipped->record;
	note->line = skipped->line;
	note->byte_offset = skipped->byte_offset;
	note->code = skipped->code;
	note->sqlerrcode = skipped->sqlerrcode;
	note->has_detail = skipped->detail != NULL;
	place = put_string(note->text, skipped->file);
	place = put_string(place, skipped->message);
	(void) put_string(place, skipped->detail);
	append_notes(reporter->dsa, piece, pointer, pointer);
	piece->nnotes++;
	piece->nskip_notes += skipped->code != CSV_ERROR_SET_NULL;
}

bool
csv_reporter_add(CsvReporter *reporter, const CsvSkipped *skipped)
{
	bool		set_null = skipped->code == CSV_ERROR_SET_NULL;

	if (reporter->piece.nnotes < reporter->most_notes ||
		(!set_null && reporter->piece.nskip_notes < reporter->most_skip_notes))
		add_note(reporter, skipped);
	reporter->piece.counts.nskipped += !set_null;
	reporter->piece.counts.by_code[skipped->code]++;
	return !reporter->table->stop;
}

void
csv_reporter_fail(CsvReporter *reporter, const ErrorData *error)
{
	dsa_pointer pointer = dsa_allocate(reporter->dsa,
									   offsetof(Failure, text) +
									   string_size(error->message) +
									   string_size(error->detail) +
									   string_size(error->hint));
	Failure    *failure = dsa_get_address(reporter->dsa, pointer);
	char	   *place;

	failure->sqlerrcode = error->sqlerrcode;
	failure->has_detail = error->detail != NULL;
	failure->has_hint = error->hint != NULL;
	place = put_string(failure->text, error->message);
	place = put_string(place, error->detail);
	(void) put_string(place, error->hint);
	reporter->piece.failure = pointer;
}

void
csv_reporter_changed(CsvReporter *reporter, const char *filename,
					 CsvFileChange change)
{
	ErrorData	error = {.sqlerrcode = CSV_ERRCODE_CHANGED};
	dsa_pointer pointer;
	Note	   *note;

	if (csv_change_level(reporter->table, change) >= ERROR)
	{
		error.message = csv_change_message(filename, change);
		csv_reporter_fail(reporter, &error);
		return;
	}
	pointer = dsa_allocate(reporter->dsa, offsetof(Note, text) +
						   string_size(filename));
	note = dsa_get_address(reporter->dsa, pointer);
	note->next = InvalidDsaPointer;
	note->change = change;
	(void) put_string(note->text, filename);
	append_notes(reporter->dsa, &reporter->piece, pointer, pointer);
}

void
csv_reporter_pass(CsvReporter *reporter, int file_number, int64 record,
				  int64 nrecords)
{
	reporter->piece.point.file_number = file_number;
	reporter->piece.point.record = record;
	reporter->piece.nrecords += nrecords;
}

/* ---- the order ---- */

static void
free_notes(dsa_area *dsa, dsa_pointer pointer)
{
	while (DsaPointerIsValid(pointer))
	{
		dsa_pointer next = ((Note *) dsa_get_address(dsa, pointer))->next;

		dsa_free(dsa, pointer);
		pointer = next;
	}
}

/* append only the notes of files */
static void
append_changes(dsa_area *dsa, PieceInterval *interval, dsa_pointer pointer)
{
	while (DsaPointerIsValid(pointer))
	{
		Note	   *note = dsa_get_address(dsa, pointer);
		dsa_pointer next = note->next;

		note->next = InvalidDsaPointer;
		if (note->change != CSV_FILE_SAME)
			append_notes(dsa, interval, pointer, pointer);
		else
			dsa_free(dsa, pointer);
		pointer = next;
	}
}

/*
 * Append `next` to an interval that ends where `next` begins.  If the interval could
 * not note all of its skipped records, it has as many notes as may be needed.  If only
 * NOTICEs need notes, the same holds if it could not note all of its values.
 */
static void
append_interval(CsvReporter *reporter, PieceInterval *interval,
				const PieceInterval *next)
{
	dsa_area   *dsa = reporter->dsa;
	bool		has_all = reporter->table->reject_count >= 0 ?
		interval->nskip_notes == interval->counts.nskipped :
		interval->nnotes == csv_report_ncases(&interval->counts);

	interval->end = next->end;
	if (DsaPointerIsValid(interval->failure))
	{
		/* a single process would not have got there */
		free_notes(dsa, next->head);
		return;
	}
	if (next->point.file_number > 0)
		interval->point = next->point;
	interval->nrecords += next->nrecords;
	interval->counts.nskipped += next->counts.nskipped;
	for (int code = 0; code < CSV_NUM_ERRORS; code++)
		interval->counts.by_code[code] += next->counts.by_code[code];
	interval->failure = next->failure;
	if (!has_all)
	{
		append_changes(dsa, interval, next->head);
		return;
	}
	if (!DsaPointerIsValid(next->head))
		return;
	append_notes(dsa, interval, next->head, next->tail);
	interval->nnotes += next->nnotes;
	interval->nskip_notes += next->nskip_notes;
}

static void
remove_pending(CsvSharedReport *shared, int i)
{
	shared->npending--;
	memmove(&shared->pending[i], &shared->pending[i + 1],
			(shared->npending - i) * sizeof(PieceInterval));
}

/* the caller holds the lock */
static void
add_pending(CsvReporter *reporter, const PieceInterval *piece)
{
	CsvSharedReport *shared = reporter->shared;
	int			i = 0;

	while (i < shared->npending && shared->pending[i].end < piece->first)
		i++;
	if (i < shared->npending && shared->pending[i].end == piece->first)
		append_interval(reporter, &shared->pending[i], piece);
	else
	{
		memmove(&shared->pending[i + 1], &shared->pending[i],
				(shared->npending - i) * sizeof(PieceInterval));
		shared->pending[i] = *piece;
		shared->npending++;
	}
	if (i + 1 < shared->npending &&
		shared->pending[i].end == shared->pending[i + 1].first)
	{
		append_interval(reporter, &shared->pending[i], &shared->pending[i + 1]);
		remove_pending(shared, i + 1);
	}
	if (shared->pending[0].first == shared->due.end)
	{
		shared->npassed += shared->pending[0].nrecords;
		append_interval(reporter, &shared->due, &shared->pending[0]);
		remove_pending(shared, 0);
	}
}

/* ---- due notes ---- */

/* take the due notes off the list; the caller holds the lock */
static PieceInterval
take_due(CsvSharedReport *shared, const CsvTable *table, CsvReportCounts *said)
{
	PieceInterval due = shared->due;

	*said = shared->said;
	csv_report_add_counts(table, &shared->said, &due.counts);
	memset(&shared->due.counts, 0, sizeof(shared->due.counts));
	shared->due.nnotes = 0;
	shared->due.nskip_notes = 0;
	shared->due.head = InvalidDsaPointer;
	shared->due.tail = InvalidDsaPointer;
	return due;
}

/* report a record by its note; ERROR if that is due */
static void
say_note(const Note *note, CsvReport *report, CsvReportCounts *rest)
{
	CsvSkipped	skipped;

	memset(&skipped, 0, sizeof(skipped));
	skipped.file = note->text;
	skipped.message = skipped.file + strlen(skipped.file) + 1;
	if (note->has_detail)
		skipped.detail = skipped.message + strlen(skipped.message) + 1;
	skipped.record = note->record;
	skipped.line = note->line;
	skipped.byte_offset = note->byte_offset;
	skipped.field = -1;
	skipped.code = note->code;
	skipped.sqlerrcode = note->sqlerrcode;
	csv_report_skipped(report, &skipped);
	rest->nskipped -= note->code != CSV_ERROR_SET_NULL;
	rest->by_code[note->code]--;
}

/* report due notes, after the cases in *report; ERROR if that is due */
static void
say(CsvReporter *reporter, const PieceInterval *due, CsvReport *report)
{
	CsvReportCounts rest = due->counts;
	dsa_pointer pointer = due->head;

	while (DsaPointerIsValid(pointer))
	{
		Note	   *note = dsa_get_address(reporter->dsa, pointer);
		dsa_pointer next = note->next;

		if (note->change != CSV_FILE_SAME)
			csv_report_changed(reporter->table, note->text, note->change);
		else
			say_note(note, report, &rest);
		dsa_free(reporter->dsa, pointer);
		pointer = next;
	}
	csv_report_add_counts(reporter->table, &report->counts, &rest);
}

/* is an ERROR due?  The caller holds the lock. */
static bool
is_error_due(const CsvSharedReport *shared, const CsvTable *table)
{
	int64		nskipped = shared->said.nskipped + shared->due.counts.nskipped;

	return DsaPointerIsValid(shared->due.failure) ||
		(table->stop && shared->due.counts.nskipped > 0) ||
		(table->reject_count >= 0 && nskipped > table->reject_count) ||
		(shared->ended && shared->due.end == shared->npieces &&
		 csv_report_exceeds(table, nskipped, shared->npassed));
}

static void
fail(CsvReporter *reporter, dsa_pointer pointer)
{
	const Failure *failure = dsa_get_address(reporter->dsa, pointer);
	const char *message = failure->text;
	const char *detail = message + strlen(message) + 1;
	const char *hint = failure->has_detail ? detail + strlen(detail) + 1 :
		detail;

	ereport(ERROR,
			(errcode(failure->sqlerrcode),
			 errmsg_internal("%s", message),
			 failure->has_detail ? errdetail_internal("%s", detail) : 0,
			 failure->has_hint ? errhint("%s", hint) : 0));
}

/*
 * Wait until the leader has reported older notes.  Otherwise messages of other
 * processes, and their ERROR, would reach it in the middle of that.  The caller holds
 * the lock, which is released meanwhile.
 */
static void
wait_for_leader(CsvSharedReport *shared)
{
	static uint32 wait_event = 0;

	while (shared->saying)
	{
		ConditionVariablePrepareToSleep(&shared->has_said);
		LWLockRelease(&shared->lock);
		ConditionVariableSleep(&shared->has_said,
							   csv_wait_event(&wait_event, "CsvGpuReport"));
		LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
	}
	ConditionVariableCancelSleep();
}

/* the caller holds the lock, which is released */
static void
raise_if_due(CsvReporter *reporter)
{
	CsvSharedReport *shared = reporter->shared;
	CsvReport	report;
	int64		npassed;
	PieceInterval due;

	if (!shared->raised && is_error_due(shared, reporter->table))
		wait_for_leader(shared);
	if (shared->raised || !is_error_due(shared, reporter->table))
	{
		LWLockRelease(&shared->lock);
		return;
	}
	shared->raised = true;
	npassed = shared->npassed;
	memset(&report, 0, sizeof(report));
	report.table = reporter->table;
	due = take_due(shared, reporter->table, &report.counts);
	LWLockRelease(&shared->lock);
	say(reporter, &due, &report);
	if (DsaPointerIsValid(due.failure))
		fail(reporter, due.failure);
	csv_report_end(&report, npassed, true);
}

void
csv_reporter_hand_in(CsvReporter *reporter, uint64 piece)
{
	CsvSharedReport *shared = reporter->shared;

	reporter->piece.first = piece;
	reporter->piece.end = piece + 1;
	LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
	add_pending(reporter, &reporter->piece);
	raise_if_due(reporter);
	begin_piece(reporter);
}

void
csv_reporter_end(CsvReporter *reporter, uint64 npieces)
{
	CsvSharedReport *shared = reporter->shared;

	LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
	shared->ended = true;
	shared->npieces = npieces;
	raise_if_due(reporter);
}

bool
csv_reporter_say(CsvReporter *reporter, CsvReport *report,
				 CsvScanPoint *point, int64 *npassed)
{
	CsvSharedReport *shared = reporter->shared;
	PieceInterval due;
	bool		is_last;

	LWLockAcquire(&shared->lock, LW_EXCLUSIVE);

	/* the process that raises an ERROR reports the notes before it */
	if (shared->raised || is_error_due(shared, reporter->table))
	{
		LWLockRelease(&shared->lock);
		return false;
	}
	due = take_due(shared, reporter->table, &report->counts);
	*point = due.point;
	*npassed = shared->npassed;
	is_last = shared->ended && due.end == shared->npieces;
	shared->saying = DsaPointerIsValid(due.head);
	LWLockRelease(&shared->lock);
	say(reporter, &due, report);
	if (!DsaPointerIsValid(due.head))
		return is_last;
	LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
	shared->saying = false;
	LWLockRelease(&shared->lock);
	ConditionVariableBroadcast(&shared->has_said);
	return is_last;
}
