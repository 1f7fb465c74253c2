/*
 * messages.c
 *		Messages of functions that are called on trial.
 *
 * If a trial fails, the work may be done again in another way, and its messages would
 * be sent twice.  So messages are held where they leave the server.  This changes no
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
#define MOST_HELD_BYTES	(1024 * 1024)

static const PQcommMethods *methods;	/* to the frontend; NULL: not holding */
static PQcommMethods holding;
static StringInfoData held;		/* the length and the bytes of each message */
static bool any_held = false;
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
send_held(void)
{
	for (int i = 0; i < held.len;)
	{
		size_t		length;

		memcpy(&length, held.data + i, sizeof(length));
		i += (int) sizeof(length);
		methods->putmessage('N', held.data + i, length);
		i += (int) length;
	}
	resetStringInfo(&held);
}

static int
put_message(char type, const char *s, size_t length)
{
	if (type == 'N' && !is_passing && is_of_function(s, length))
	{
		any_held = true;
		if (length <= (size_t) (MOST_HELD_BYTES - held.len))
		{
			appendBinaryStringInfo(&held, (char *) &length, sizeof(length));
			appendBinaryStringInfo(&held, s, (int) length);
		}
		return 0;
	}
	if (type == 'E')
		send_held();
	return methods->putmessage(type, s, length);
}

void
csv_messages_hold(void)
{
	MemoryContext outer = MemoryContextSwitchTo(TopMemoryContext);

	initStringInfo(&held);
	MemoryContextSwitchTo(outer);
	any_held = false;
	is_passing = false;
	methods = PqCommMethods;
	holding = *methods;
	holding.putmessage = put_message;
	PqCommMethods = &holding;
}

void
csv_messages_release(bool send)
{
	if (methods == NULL)
		return;
	if (send)
		send_held();
	PqCommMethods = methods;
	methods = NULL;
	any_held = false;
	pfree(held.data);
}

bool
csv_messages_are_held(void)
{
	return methods != NULL;
}

bool
csv_messages_any(void)
{
	return any_held;
}

void
csv_messages_check(void)
{
	if (any_held)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg(CSV_MESSAGE_HELD)));
}

void
csv_messages_pass(bool pass)
{
	is_passing = pass;
}
