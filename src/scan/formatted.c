/*
 * formatted.c
 *		Reads values in the form that a table's options give.
 */
#include "postgres.h"

#include <ctype.h>

#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/formatting.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"

#include "reader/patterns.h"
#include "scan/value.h"

/* ---- dates and timestamps ---- */

/* with the type's number of digits at most */
static Datum
to_typmod(Oid type, int32 typmod, Datum value)
{
	if (typmod < 0)
		return value;
	return type == TIMESTAMPOID ?
		DirectFunctionCall2(timestamp_scale, value, Int32GetDatum(typmod)) :
		DirectFunctionCall2(timestamptz_scale, value, Int32GetDatum(typmod));
}

/* microseconds from 1970 to 2000 */
#define EPOCH_MICROSECONDS \
	((int64) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * USECS_PER_DAY)

static Datum
from_epoch(const CsvPattern *pattern, Oid type, int32 typmod, const char *text)
{
	static const int64 units[] = {1000000, 1000, 1};	/* microseconds */
	Datum		number = DirectFunctionCall3(numeric_in, CStringGetDatum(text),
											 ObjectIdGetDatum(InvalidOid),
											 Int32GetDatum(-1));
	int64		unit = units[pattern->epoch - CSV_STEP_EPOCH];
	Timestamp	timestamp;

	number = DirectFunctionCall2(numeric_mul, number,
								 NumericGetDatum(int64_to_numeric(unit)));
	number = DirectFunctionCall2(numeric_round, number, Int32GetDatum(0));
	number = DirectFunctionCall2(numeric_sub, number,
								 NumericGetDatum(int64_to_numeric(EPOCH_MICROSECONDS)));
	timestamp = DatumGetInt64(DirectFunctionCall1(numeric_int8, number));
	if (!IS_VALID_TIMESTAMP(timestamp))
		ereport(ERROR,
				(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
				 errmsg("timestamp out of range: \"%s\"", text)));
	if (type == DATEOID)
		return DirectFunctionCall1(timestamp_date, TimestampGetDatum(timestamp));
	return to_typmod(type, typmod, TimestampGetDatum(timestamp));
}

/* a time without zone, as in the text, whatever the session's zone is */
static Datum
local_time(const CsvPattern *pattern, const char *text)
{
	Oid			type;
	int32		typmod;
	int			zone = 0;
	Datum		value = parse_datetime(cstring_to_text(text),
									   cstring_to_text(pattern->text), C_COLLATION_OID,
									   false, &type, &typmod, &zone, NULL);

	/* the pattern has no time of day */
	if (type == DATEOID)
		value = DirectFunctionCall1(date_timestamp, value);
	return value;
}

Datum
csv_date_by_pattern(const CsvPattern *pattern, Oid type, int32 typmod,
					const char *text)
{
	Datum		value;

	while (isspace((unsigned char) *text))
		text++;
	if (pattern->epoch != 0)
		return from_epoch(pattern, type, typmod, text);
	if (type == TIMESTAMPOID && !pattern->has_zone)
		value = local_time(pattern, text);
	else
		value = DirectFunctionCall2Coll(type == DATEOID ? to_date : to_timestamp,
										C_COLLATION_OID,
										PointerGetDatum(cstring_to_text(text)),
										PointerGetDatum(cstring_to_text(pattern->text)));
	if (!csv_pattern_covers(pattern, text))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_DATETIME_FORMAT),
				 errmsg("\"%s\" is not in the form \"%s\"", text, pattern->text)));
	if (type == DATEOID)
		return value;
	if (type == TIMESTAMPOID && pattern->has_zone)
		value = DirectFunctionCall1(timestamptz_timestamp, value);
	return to_typmod(type, typmod, value);
}

/* ---- numbers ---- */

/* stands for a separator, which may have several bytes */
#define SEPARATOR	0x01

char *
csv_without_thousands(const char *text, const char *separator)
{
	size_t		nseparator = strlen(separator);
	size_t		nbytes = strlen(text);
	char	   *number = palloc(nbytes + 1);
	const char *end = text + nbytes;
	char	   *to = number;
	bool		any = false;

	/* the separator may be a blank */
	while (isspace((unsigned char) *text))
		text++;
	while (end > text && isspace((unsigned char) end[-1]))
		end--;
	while (text < end)
	{
		if (strncmp(text, separator, nseparator) == 0)
		{
			any = true;
			*to++ = SEPARATOR;
			text += nseparator;
		}
		else if (*text == SEPARATOR)
			return NULL;
		else
			*to++ = *text++;
	}
	if (any)
	{
		nbytes = csv_ungroup((uint8_t *) number, (uint32_t) (to - number), SEPARATOR,
							 (uint8_t *) number);
		if (nbytes == 0)
			return NULL;
		to = number + nbytes;
	}
	*to = '\0';
	return number;
}
