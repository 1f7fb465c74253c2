/*
 * repair.c
 *		Builds the structural index: regular records by blocks, other records
 *		through the dialect's table, with the repair rule.
 *
 * If a record with a quoting error has several lines, only its first line is skipped:
 * each further line is read alone.  The same is done with a record longer than
 * max_record_bytes, for lines that begin within that many bytes of its start.  So a
 * line is read at most twice.
 *
 * If the dialect is lenient, a line with a quoting error may still be a record
 * (lenient.h); to find out, it is read once more.
 */
#include "index.h"

#include <string.h>

/*
 * Skip the line that starts (or continues) at `from`.  If the line does not end in this
 * input, all bytes are consumed, and the next input starts inside the line.  *length is
 * set to the length of the line, without its boundary.
 */
static void
pass_line(CsvIndex *index, uint64_t from, uint64_t *length)
{
	const CsvInput *input = index->input;
	uint64_t	position = csv_find_break(index->dialect, input->bytes, from, input->nbytes);

	if (position < input->nbytes)
	{
		*length = csv_content_end(index->dialect, input->bytes, from, position,
								  input->nbytes) - from;
		index->pos = position + 1;
		index->nlines++;
		index->skip_line = false;
		return;
	}
	index->pos = input->nbytes;
	*length = index->pos - from;
	index->skip_line = !input->at_end;

	/* CRs at the end may belong to the line break */
	if (index->skip_line)
	{
		uint32_t	ncrs = csv_crs_at_end(input->bytes + from, *length);

		index->pos -= ncrs;
		*length -= ncrs;
		index->incomplete = ncrs > 0;
	}
}

/*
 * Skip blank lines at index->pos that are not records, as long as they are read in the
 * same mode.  Returns true if there was any.
 */
static bool
pass_blank_lines(CsvIndex *index)
{
	const CsvInput *input = index->input;
	uint64_t	start = index->pos;
	bool		alone = start < index->alone_until;

	if (index->dialect->opt.blank_is_record)
		return false;
	/* stop after CSV_ASK_BYTES, so that the caller can check for interrupts */
	while (index->pos < input->nbytes && index->pos - start < CSV_ASK_BYTES &&
		   (index->pos < index->alone_until) == alone)
	{
		uint64_t	pos = index->pos;
		int			class = csv_class_at(index->dialect, input->bytes, pos,
										 input->nbytes);

		while (class == CSV_CLASS_PRE_BREAK)
			class = csv_class_at(index->dialect, input->bytes, ++pos,
								 input->nbytes);
		if (class != CSV_CLASS_BREAK)
			break;
		index->pos = pos + 1;
		index->nlines++;
	}
	return index->pos > start;
}

/*
 * Add the scanned record, which has no error of structure, to the index.  Fields beyond
 * those of the layout, which no column needs, become one field.
 */
static CsvStatus
add_record(CsvIndex *index, const CsvScan *scan, uint32_t line)
{
	const uint8_t *bytes = index->input->bytes;
	const uint8_t special = csv_special_byte(&index->dialect->opt);
	const uint8_t escape = index->dialect->opt.escape;
	const uint32_t nkept = csv_scan_nkept(scan);
	CsvIndexRecord *record;

	if (index->nrecords + 1 >= index->record_capacity &&
		!csv_index_grow_records(index))
		return CSV_NO_MEMORY;
	record = &index->records[index->nrecords++];
	record->start = (uint32_t) scan->start;
	record->first_separator = index->nseparators;
	record->line = line;

	/* no loop has read these blocks, or a loop has given up in them */
	csv_clear_between(index->separators, index->pos, scan->next);
	csv_clear_between(index->quotes, scan->start, scan->next);
	for (uint64_t i = CSV_WORD(scan->start); i <= CSV_WORD(scan->next); i++)
		index->unplain[i] = 1;
	for (uint32_t i = 0; i < nkept; i++)
	{
		uint64_t	separator = scan->start + scan->separators[i];

		if (i % CSV_ASK_BYTES == 0 && csv_interrupted(index->input))
			return CSV_INTERRUPTED;
		index->separators[CSV_WORD(separator)] |= CSV_BIT(separator);
	}
	for (uint64_t pos = scan->start; special != 0 && pos < scan->next; pos++)
	{
		if (pos % CSV_ASK_BYTES == 0 && csv_interrupted(index->input))
			return CSV_INTERRUPTED;
		if (bytes[pos] == special || bytes[pos] == escape)
			index->quotes[CSV_WORD(pos)] |= CSV_BIT(pos);
	}
	index->nseparators += nkept;
	if (nkept < scan->nfields)
	{
		uint64_t	end = scan->next - scan->has_break;

		index->separators[CSV_WORD(end)] |= CSV_BIT(end);
		index->nseparators++;
	}
	return CSV_OK;
}

/*
 * The line at index->pos has a quoting error.  If it is a record when read leniently,
 * add it to the index.
 */
static CsvStatus
add_lenient_record(CsvIndex *index, bool *is_record)
{
	const CsvLayout *layout = index->layout;
	CsvScan    *scan = &index->scan;
	CsvStatus	status = csv_scan_lenient(scan, index->memory, index->dialect,
										  index->input->bytes, scan->start,
										  index->input->nbytes);

	*is_record = status == CSV_OK &&
		(layout->pad || scan->nfields == layout->nfields);
	if (!*is_record)
		return status;
	if (!csv_index_add_lenient(index, index->nrecords))
		return CSV_NO_MEMORY;
	status = add_record(index, scan, index->nlines);
	index->nlines += scan->has_break;
	index->pos = scan->next;
	return status;
}

/* handle the scanned record, which is too long or has a quoting error */
static CsvStatus
bad_record(CsvIndex *index, CsvMode mode)
{
	const uint64_t max = index->input->max_record_bytes;
	const CsvScan *scan = &index->scan;
	const uint64_t start = scan->start;
	const uint32_t line = index->nlines;
	uint64_t	window = start + max;
	uint32_t	field = 0;
	CsvErrorCode code = CSV_ERROR_RECORD_TOO_LONG;
	uint64_t	first_line_length;

	if (scan->complete && scan->end - start <= max)
	{
		code = scan->last_state == CSV_STATE_SKIP_LINE ?
			CSV_ERROR_TEXT_AFTER_QUOTE : CSV_ERROR_UNTERMINATED_QUOTE;
		field = scan->nfields - 1;
		window = scan->next;
	}
	if (mode == CSV_NORMAL)
		index->alone_until = window;
	if (code != CSV_ERROR_RECORD_TOO_LONG && index->dialect->opt.lenient)
	{
		bool		is_record;
		CsvStatus	status = add_lenient_record(index, &is_record);

		if (status != CSV_OK || is_record)
			return status;
	}
	pass_line(index, start, &first_line_length);
	if (!csv_index_add_error(index, code, mode, start, first_line_length, line, field))
		return CSV_NO_MEMORY;
	return CSV_OK;
}

/* read the record (or blank lines, or a comment) at index->pos through the table */
static CsvStatus
slow_record(CsvIndex *index)
{
	const CsvInput *input = index->input;
	const CsvDialect *dialect = index->dialect;
	const uint64_t max = input->max_record_bytes;
	CsvScan    *scan = &index->scan;
	CsvMode		mode = index->pos < index->alone_until ? CSV_ALONE : CSV_NORMAL;
	uint64_t	first_line_length;
	uint32_t	line;
	CsvStatus	status;

	/* not for every record: the check may be a system call, and records may be short */
	if (index->pos - index->asked >= CSV_ASK_BYTES / 16)
	{
		if (csv_interrupted(index->input))
			return CSV_INTERRUPTED;
		index->asked = index->pos;
	}

	if (index->skip_line)
	{
		pass_line(index, index->pos, &first_line_length);
		return CSV_OK;
	}

	if (pass_blank_lines(index))
		return CSV_OK;
	if (csv_comment_at(&dialect->opt, input->bytes, index->pos, input->nbytes))
	{
		pass_line(index, index->pos, &first_line_length);
		return CSV_OK;
	}
	if (!input->at_end &&
		csv_comment_begins_at(&dialect->opt, input->bytes, index->pos, input->nbytes))
	{
		index->incomplete = true;
		return CSV_OK;
	}

	status = csv_scan_record(scan, index->memory, dialect, mode, input->bytes,
							 index->pos, input->nbytes, input->at_end);
	if (status != CSV_OK)
		return status;

	line = index->nlines;
	if (!scan->complete && input->nbytes - scan->start <= max + CSV_BREAK_CRS)
	{
		index->incomplete = true;
		return CSV_OK;
	}

	if (scan->complete && !scan->bad && scan->end - scan->start <= max)
	{
		if (!(input->at_end && input->has_footer) &&
			csv_is_end_of_data(dialect, input->bytes, scan->start, scan->end,
							   scan->next, input->nbytes))
		{
			/* the end of data, if no more bytes come */
			index->incomplete = !input->at_end;
			while (input->at_end && index->pos < input->nbytes)
				pass_line(index, index->pos, &first_line_length);
			return CSV_OK;
		}
		if (scan->nfields > csv_scan_nkept(scan) && !index->layout->pad)
			status = csv_index_add_error(index, CSV_ERROR_COLUMN_COUNT, CSV_NORMAL,
										 scan->start, scan->end - scan->start, line,
										 scan->nfields) ? CSV_OK : CSV_NO_MEMORY;
		else
			status = add_record(index, scan, line);
		index->nlines += scan->nbreaks + scan->has_break;
		index->pos = scan->next;
		return status;
	}

	return bad_record(index, mode);
}

CsvStatus
csv_index_build(CsvIndex *index)
{
	const CsvInput *input = index->input;
	CsvStatus	status = csv_index_reserve(index);
	uint64_t	nwords;

	if (status != CSV_OK)
		return status;
	index->nrecords = 0;
	index->nerrors = 0;
	index->nlenient = 0;
	index->pos = 0;
	index->nseparators = 0;
	index->nlines = 0;
	index->alone_until = input->alone_until;
	index->skip_line = input->skip_line;
	index->incomplete = false;
	index->asked = 0;

	/* clear, because the slow path sets single bits; the loop writes whole words */
	nwords = CSV_WORD(input->nbytes) + 2;
	memset(index->separators, 0, nwords * 8);
	memset(index->quotes, 0, nwords * 8);
	memset(index->unplain, 1, nwords);

	while (index->pos < input->nbytes && !index->incomplete)
	{
		if (!index->skip_line && index->pos >= index->alone_until)
		{
			status = index->functions->run(index);
			if (status != CSV_OK)
				return status;
			if (index->pos >= input->nbytes || index->incomplete)
				break;
		}
		status = slow_record(index);
		if (status != CSV_OK)
			return status;
	}
	if (index->pos < input->nbytes)
		csv_clear_between(index->separators, index->pos, index->pos + 1);

	if (index->nrecords + 1 > index->record_capacity &&
		!csv_index_grow_records(index))
		return CSV_NO_MEMORY;
	index->records[index->nrecords].start = (uint32_t) index->pos;
	index->records[index->nrecords].first_separator = index->nseparators;
	index->records[index->nrecords].line = index->nlines;
	return CSV_OK;
}
