/*
 * held.cu
 *		Copies groups that stay on the device to the host, piece by piece.
 */
#include "call.h"

#include <string.h>

void
csv_held_drop(CsvCuda *cuda)
{
	if (!cuda->table.is_shaped)
		return;
	csv_session_enter(cuda->session);
	csv_table_release(&cuda->table);
	csv_session_leave(cuda->session);
}

/* reduce *n groups until their texts fit into a piece */
static CsvStatus
measure_piece(CsvWork *work, CsvCuda *cuda, uint32_t first, uint32_t *n,
			  size_t *text_bytes)
{
	const CsvGroupTable *table = &cuda->table;
	CsvHeldCounts *counts = (CsvHeldCounts *) cuda->piece;

	*text_bytes = 0;
	for (; table->has_texts; *n = (*n + 1) / 2)
	{
		csv_table_measure_texts(table, first, *n, work->session->stream);
		TRY(csv_work_fetch(work, counts, table->counts, sizeof(*counts)));
		TRY(csv_work_wait(work));
		*text_bytes = counts->piece_bytes;
		if (*n == 1 || *text_bytes <= CSV_TABLE_PIECE_BYTES)
			break;
	}
	return CSV_OK;
}

static CsvStatus
fetch_piece(CsvWork *work, CsvCuda *cuda, uint32_t first,
			CsvPartialGroups *groups)
{
	CsvSession *session = work->session;
	const CsvGroupTable *table = &cuda->table;
	size_t		key_bytes = table->nkeys * 16;
	size_t		word_bytes = table->nwords * 8;
	uint32_t	n = (uint32_t) (CSV_TABLE_PIECE_BYTES /
								(key_bytes + word_bytes + 4)) + 1;
	const uint8_t *keys;
	const uint8_t *words;
	const uint8_t *texts = NULL;
	size_t		text_bytes;
	size_t		words_at;
	size_t		nulls_at;
	size_t		texts_at;

	if (!csv_session_check(session, work->message))
		return CSV_DEVICE_FAILED;
	if (first >= table->ngroups)
		return CSV_OK;
	if (n > table->ngroups - first)
		n = table->ngroups - first;
	TRY(csv_work_reserve_pinned(work, &cuda->piece, sizeof(CsvHeldCounts)));
	TRY(measure_piece(work, cuda, first, &n, &text_bytes));
	words_at = n * key_bytes;
	nulls_at = words_at + n * word_bytes;
	texts_at = nulls_at + n * 4;
	TRY(csv_work_reserve_pinned(work, &cuda->piece,
								texts_at + text_bytes + 8));
	keys = (const uint8_t *) table->keys + first * key_bytes;
	words = (const uint8_t *) table->words + first * word_bytes;
	if (table->has_texts)
	{
		uint8_t    *packed;

		TRY(csv_work_reserve(work, CSV_DEVICE_ANSWER, nulls_at + text_bytes,
							 0));
		packed = csv_work_memory(work, CSV_DEVICE_ANSWER);
		csv_table_pack_texts(table, first, n, (uint64_t *) packed,
							 (int64_t *) (packed + words_at),
							 packed + nulls_at, session->stream);
		keys = packed;
		words = packed + words_at;
		texts = packed + nulls_at;
	}
	TRY(csv_work_fetch(work, cuda->piece, keys, words_at));
	TRY(csv_work_fetch(work, cuda->piece + words_at, words, n * word_bytes));
	TRY(csv_work_fetch(work, cuda->piece + nulls_at, table->nulls + first,
					   n * 4));
	TRY(csv_work_fetch(work, cuda->piece + texts_at, texts, text_bytes));
	TRY(csv_work_wait(work));
	groups->ngroups = n;
	groups->keys = (const uint64_t *) cuda->piece;
	groups->words = (const int64_t *) (cuda->piece + words_at);
	groups->nulls = (const uint32_t *) (cuda->piece + nulls_at);
	groups->texts = cuda->piece + texts_at;
	return CSV_OK;
}

CsvStatus
csv_held_fetch(void *engine, uint32_t first, CsvPartialGroups *groups)
{
	CsvCuda    *cuda = (CsvCuda *) engine;
	CsvSession *session = cuda->session;
	CsvWork		work = {};
	CsvStatus	status;

	work.session = session;
	work.memory_limit = csv_session_limit(session, cuda->options.memory_limit);
	work.message = cuda->message;
	memset(groups, 0, sizeof(*groups));
	csv_session_enter(session);
	status = fetch_piece(&work, cuda, first, groups);
	csv_session_leave(session);
	return status;
}
