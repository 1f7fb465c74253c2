/*
 * messages.c
 *		Messages of functions, while something is tried.
 *
 * What fails may be done again in another way, and then they would come twice.  The one
 * place that sees all of them, before the frontend does, is the hook for the server's
 * log; it is asked for what goes there, which all does meanwhile.
 */
#include "postgres.h"

#include "utils/elog.h"
#include "utils/guc.h"

#include "table/messages.h"

static emit_log_hook_type next_hook;
static int	level;				/* of log_min_messages */
static bool is_passing = false;
static bool any_held = false;

static void
see_message(ErrorData *message)
{
	if (message->elevel >= INFO && message->elevel < ERROR)
	{
		message->output_to_server &= message->elevel >= level;
		if (!is_passing)
		{
			any_held |= message->output_to_server || message->output_to_client;
			message->output_to_server = false;
			message->output_to_client = false;
		}
	}
	if (next_hook != NULL && message->output_to_server)
		next_hook(message);
}

void
csv_messages_begin(void)
{
	next_hook = emit_log_hook;
	emit_log_hook = see_message;
	level = log_min_messages;
	log_min_messages = Min(level, INFO);
	any_held = false;
}

void
csv_messages_end(void)
{
	emit_log_hook = next_hook;
	log_min_messages = level;
	any_held = false;
}

void
csv_messages_check(void)
{
	if (any_held)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("a function had a message")));
}

void
csv_messages_pass(bool pass)
{
	is_passing = pass;
}
