/*
 * messages.c
 *		Messages of functions that are called on trial.
 *
 * If a trial fails, the work may be done again in another way, and its messages would
 * be sent twice.  So messages are delayed where they leave the server.  This changes no
 * setting that a function, or the end of a transaction, might change, too.
 */
#include "postgres.h"

/* libpq.h includes GSSAPI's headers if the server was built with GSSAPI */
#undef ENABLE_GSS

#include "lib/stringinfo.h"
#include "libpq/libpq.h"
#include "utils/memutils.h"

#include "table/messages.h"

/* messages beyond this are dropped: the caller soon checks for messages, and stops */
#define MOST_DELAYED_BYTES	(1024 * 1024)

static const PQcommMethods *methods;	/* to the frontend; NULL: no delay */
static PQcommMethods delaying;
static StringInfoData delayed;	/* the length and the bytes of each message */
static bool any_delayed = false;
static bool is_passing = false;

/*
 * Is the message from a function, judged by its severity?  A message consists of
 * fields, each a letter and a string.  'V' is the severity in English.
 */
static bool
is_of_function(const char *s, size_t length)
{
	const char *end = s + length;

	while (s < end && *s != '\0')
	{
		const char *field = s + 1;

		if (*s == 'V')
			return strcmp(field, "INFO") == 0 || strcmp(field, "NOTICE") == 0 ||
				strcmp(field, "WARNING") == 0;
		s = field + strnlen(field, (size_t) (end - field)) + 1;
	}
	return false;
}

static void
send_delayed(void)
{
	for (int i = 0; i < delayed.len;)
	{
		size_t		length;

		memcpy(&length, delayed.data + i, sizeof(length));
		i += (int) sizeof(length);
		methods->putmessage('N', delayed.data + i, length);
		i += (int) length;
	}
	resetStringInfo(&delayed);
}

static int
put_message(char type, const char *s, size_t length)
{
	if (type == 'N' && !is_passing && is_of_function(s, length))
	{
		any_delayed = true;
		if (length <= (size_t) (MOST_DELAYED_BYTES - delayed.len))
		{
			appendBinaryStringInfo(&delayed, (char *) &length, sizeof(length));
			appendBinaryStringInfo(&delayed, s, (int) length);
		}
		return 0;
	}
	if (type == 'E')
		send_delayed();
	return methods->putmessage(type, s, length);
}

void
csv_messages_delay(void)
{
	MemoryContext outer = MemoryContextSwitchTo(TopMemoryContext);

	initStringInfo(&delayed);
	MemoryContextSwitchTo(outer);
	any_delayed = false;
	is_passing = false;
	methods = PqCommMethods;
	delaying = *methods;
	delaying.putmessage = put_message;
	PqCommMethods = &delaying;
}

void
csv_messages_release(bool send)
{
	if (methods == NULL)
		return;
	if (send)
		send_delayed();
	PqCommMethods = methods;
	methods = NULL;
	any_delayed = false;
	pfree(delayed.data);
}

bool
csv_messages_are_delayed(void)
{
	return methods != NULL;
}

bool
csv_messages_any(void)
{
	return any_delayed;
}

void
csv_messages_check(void)
{
	if (any_delayed)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg(CSV_MESSAGE_DELAYED)));
}

void
csv_messages_pass(bool pass)
{
	is_passing = pass;
}
