/*
 * sample.c
 *		The beginning of a file, record by record.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "import/sample.h"
#include "reader/field.h"
#include "reader/lenient.h"
#include "table/source.h"

static void *
sample_alloc(void *owner, size_t nbytes)
{
	return palloc_extended(nbytes, MCXT_ALLOC_HUGE);
}

static void
sample_free(void *owner, void *memory)
{
	pfree(memory);
}

static const CsvMemory sample_memory = {sample_alloc, sample_free, NULL};

void
csv_sample_begin(CsvScan *scan, uint64 start)
{
	memset(scan, 0, sizeof(*scan));
	scan->interrupted = csv_process_interrupts;
	scan->next = start;
	scan->most = CSV_MAX_FIELDS;
}

void
csv_sample_end(CsvScan *scan)
{
	if (scan->separators != NULL)
		pfree(scan->separators);
	scan->separators = NULL;
}

bool
csv_sample_next(CsvScan *scan, const CsvDialect *dialect,
				const CsvSample *sample)
{
	CHECK_FOR_INTERRUPTS();
	csv_scan_record(scan, &sample_memory, dialect, CSV_NORMAL, sample->bytes,
					scan->next, sample->nbytes, sample->at_end);
	if (scan->complete && scan->bad && dialect->opt.lenient)
		csv_scan_lenient(scan, &sample_memory, dialect, sample->bytes, scan->start,
						 sample->nbytes);
	return scan->complete && scan->is_record;
}

char *
csv_sample_line(const CsvSample *sample, uint64 start)
{
	uint64		end = start;

	while (end < sample->nbytes && end - start < CSV_SHOWN_LINE_BYTES &&
		   sample->bytes[end] != '\n' && sample->bytes[end] != '\r')
		end++;
	return pnstrdup((const char *) sample->bytes + start, end - start);
}

bool
csv_sample_has(const CsvSample *sample, const char *bytes)
{
	const uint8_t *at = sample->bytes;
	const uint8_t *end = sample->bytes + sample->nbytes;
	size_t		length = strlen(bytes);

	while ((at = memchr(at, (uint8_t) *bytes, (size_t) (end - at))) != NULL)
	{
		if ((size_t) (end - at) >= length && memcmp(at, bytes, length) == 0)
			return true;
		at++;
	}
	return false;
}

uint32
csv_sample_value(const CsvScan *scan, const CsvDialect *dialect,
				 const CsvSample *sample, uint32 field, char **value, bool *quoted)
{
	CsvSpan		span = csv_scan_field(scan, dialect, sample->bytes,
									  sample->nbytes, field);
	CsvDialect	lenient;
	bool		any_quote;
	uint32		nbytes;

	if (scan->lenient)
	{
		lenient = csv_lenient_dialect(dialect);
		dialect = &lenient;
	}

	*value = palloc_extended(span.length + 1, MCXT_ALLOC_HUGE);
	nbytes = (uint32) csv_field_value(dialect, sample->bytes + span.offset,
									  span.length, (uint8_t *) *value,
									  span.length, &any_quote);
	(*value)[nbytes] = '\0';
	if (quoted != NULL)
		*quoted = any_quote;
	return nbytes;
}
