/*
 * incoming.c
 *		The data of a COPY that come once: the frontend's, or a program's.
 *
 * They come in blocks.  Each block goes to the engine and then, before the next one
 * comes, to the temporary file, so that what has come is the file and the block.
 */
#include "postgres.h"

/* libpq.h includes what wants GSSAPI's headers where the server was built with it */
#undef ENABLE_GSS

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "commands/copyfrom_internal.h"
#include "commands/progress.h"
#include "lib/stringinfo.h"
#include "libpq/libpq.h"
#include "libpq/pqformat.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/fd.h"
#include "utils/memutils.h"
#include "utils/wait_event.h"

#include "load/incoming.h"
#include "load/oddity.h"
#include "table/interrupts.h"

/* bounds of the frontend's messages, as the server has them */
#define CSV_DATA_MESSAGE_BYTES		PQ_LARGE_MESSAGE_LIMIT
#define CSV_OTHER_MESSAGE_BYTES		PQ_SMALL_MESSAGE_LIMIT

/*
 * A last line, which psql sends before 18, "\\." and a line break; or with two further ones,
 * which pg_restore sends.
 */
#define CSV_MARKER_BYTES	8

/*
 * Where the frontend's data in text format end for COPY, which pays no heed to what
 * comes behind "\\." and a line break, wherever these stand in a line.
 */
typedef struct CsvTextEnd
{
	enum
	{
		TEXT_DATA,
		TEXT_CR,				/* is it the CR of a CR LF? */
		TEXT_ESCAPE,
		TEXT_MARKER,			/* a line break is to follow */
		TEXT_MARKER_CR,			/* and a LF */
		TEXT_END
	}			state;
	const char *line_break;		/* of the lines; NULL: none has ended */
	StringInfoData held;		/* what came with a marker, from its cursor on */
} CsvTextEnd;

struct CsvIncoming
{
	const char *command;		/* of the program; NULL: the frontend's */
	FILE	   *pipe;
	StringInfoData message;		/* the frontend's last, as far as it is not read */
	int			failure;		/* the type of the message that ended it, EOF, or 0 */
	bool		at_end;			/* no more will come */

	const CopyFormatOptions *copy;
	CsvStreamLook *look;
	const char *oddity;			/* of what has come; NULL: none */
	File		file;			/* 0: there has been one block at most */
	off_t		nfiled;			/* bytes */
	off_t		nrepeated;		/* of them, to COPY */
	bool		is_filed;		/* the block is in the file */
	bool		has_blocks;
	size_t		nbytes;			/* of the block */
	size_t		nmarker;		/* those at its end that say that it is the end */
	size_t		at;				/* those before it were delivered */
	CsvTextEnd	text_end;		/* of what is repeated */
	/* the block, behind the last bytes of the one before */
	char		block[CSV_LOOK_BEHIND + CSV_INCOMING_BYTES + CSV_MARKER_BYTES];
};

/* whose bytes COPY's callback, which has no argument, gets */
static CsvIncoming *repeated = NULL;

/* ---- what comes ---- */

/*
 * The next message of the frontend, into incoming->message; EOF if none comes.  One that
 * COPY does not expect is not read: COPY may fail before it comes to that.
 */
static int
receive_message(CsvIncoming *incoming)
{
	bool		was_in_step = csv_pause_step();
	int			type;

	HOLD_CANCEL_INTERRUPTS();
	pq_startmsgread();
	type = pq_peekbyte();
	if (type == EOF || type == '\0' || strchr("dcfHS", type) == NULL)
		pq_endmsgread();
	else if (pq_getbyte() == EOF ||
			 pq_getmessage(&incoming->message, type == 'd' ? CSV_DATA_MESSAGE_BYTES :
						   CSV_OTHER_MESSAGE_BYTES) != 0)
		type = EOF;
	RESUME_CANCEL_INTERRUPTS();
	csv_resume_step(was_in_step);
	csv_check_interrupts();
	return type;
}

/* what ended the data, but for their end */
static void
report_failure(CsvIncoming *incoming)
{
	if (incoming->failure == EOF)
		ereport(ERROR,
				(errcode(ERRCODE_CONNECTION_FAILURE),
				 errmsg("unexpected EOF on client connection with an open transaction")));
	if (incoming->failure != 'f')
	{
		/* read in part, so that the server ends the connection */
		pq_startmsgread();
		(void) pq_getbyte();
		ereport(ERROR,
				(errcode(ERRCODE_PROTOCOL_VIOLATION),
				 errmsg("unexpected message type 0x%02X during COPY from stdin",
						incoming->failure)));
	}
	ereport(ERROR,
			(errcode(ERRCODE_QUERY_CANCELED),
			 errmsg("COPY from stdin failed: %s",
					pq_getmsgstring(&incoming->message))));
}

/* one byte at least, but at the end or where incoming->failure is set */
static size_t
receive(CsvIncoming *incoming, char *buffer, size_t nbytes)
{
	StringInfo	message = &incoming->message;

	while (incoming->failure == 0 && !incoming->at_end)
	{
		size_t		n = Min((size_t) (message->len - message->cursor), nbytes);
		int			type;

		if (n > 0)
		{
			pq_copymsgbytes(message, buffer, (int) n);
			return n;
		}
		type = receive_message(incoming);
		if (type == 'c')
			incoming->at_end = true;
		else if (type == 'H' || type == 'S')
			message->cursor = message->len;
		else if (type != 'd')
			incoming->failure = type;
	}
	return 0;
}

/* likewise */
static size_t
read_program(CsvIncoming *incoming, char *buffer, size_t nbytes)
{
	int			fd = fileno(incoming->pipe);

	while (!incoming->at_end)
	{
		ssize_t		n;

		csv_check_interrupts();
		pgstat_report_wait_start(WAIT_EVENT_COPY_FILE_READ);
		n = read(fd, buffer, nbytes);
		pgstat_report_wait_end();
		if (n > 0)
			return (size_t) n;
		if (n == 0)
			incoming->at_end = true;
		else if (errno == EAGAIN || errno == EWOULDBLOCK)
			(void) csv_wait_readable(fd);
		else if (errno != EINTR)
			ereport(ERROR,
					(errcode_for_file_access(),
					 errmsg("could not read from COPY file: %m")));
	}
	return 0;
}

static size_t
get_bytes(CsvIncoming *incoming, char *buffer, size_t nbytes)
{
	return incoming->command != NULL ? read_program(incoming, buffer, nbytes) :
		receive(incoming, buffer, nbytes);
}

/* ---- begin ---- */

static void
ask_frontend(CsvIncoming *incoming, int ncolumns)
{
	StringInfoData message;

	pq_beginmessage(&message, 'G');
	pq_sendbyte(&message, 0);
	pq_sendint16(&message, (uint16) ncolumns);
	for (int i = 0; i < ncolumns; i++)
		pq_sendint16(&message, 0);
	pq_endmessage(&message);
	initStringInfo(&incoming->message);
	pq_flush();
}

static void
start_program(CsvIncoming *incoming, const char *command)
{
	incoming->command = command;
	incoming->pipe = OpenPipeStream(command, PG_BINARY_R);
	if (incoming->pipe == NULL)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not execute command \"%s\": %m", command)));
	/* stdio's own buffer is never used */
	if (fcntl(fileno(incoming->pipe), F_SETFL, O_NONBLOCK) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read from COPY file: %m")));
}

/*
 * Of the last bytes of a block, those that are the marker of the end, with empty lines
 * behind it, or the first of it; 0: none.  *line: its bytes up to the line break, if that
 * is there, else 0.
 */
static size_t
find_marker(const CsvIncoming *incoming, size_t *line)
{
	const char *block = incoming->block + CSV_LOOK_BEHIND;
	const char *end = block + incoming->nbytes;
	const char *marker = end;
	size_t		n;

	*line = 0;
	while (marker > block && end - marker < CSV_MARKER_BYTES &&
		   (marker[-1] == '\n' || marker[-1] == '\r'))
		marker--;
	if (marker > block && marker[-1] == '.')
		marker--;
	else if (marker < end)
		return 0;
	n = (size_t) (end - --marker);
	if (marker < block || *marker != '\\' || n > CSV_MARKER_BYTES ||
		(marker == block ? incoming->has_blocks && marker[-1] != '\n' :
		 marker[-1] != '\n'))
		return 0;
	if (n > 2 && marker[2] == '\n')
		*line = 3;
	else if (n > 3 && marker[2] == '\r' && marker[3] == '\n')
		*line = 4;
	return n;
}

/* does COPY? */
static bool
knows_marker(const CsvIncoming *incoming)
{
	return PG_VERSION_NUM < 180000 || !incoming->copy->csv_mode;
}

static bool
get_more(CsvIncoming *incoming, size_t limit)
{
	size_t		n = get_bytes(incoming, incoming->block + CSV_LOOK_BEHIND +
							  incoming->nbytes, limit - incoming->nbytes);

	incoming->nbytes += n;
	return n > 0;
}

/* as much as a block has room for, or all that comes */
static void
fill_block(CsvIncoming *incoming)
{
	char	   *block = incoming->block + CSV_LOOK_BEHIND;
	size_t		nbefore = Min(incoming->nbytes, CSV_LOOK_BEHIND);
	size_t		nmarker;
	size_t		line;

	memmove(block - nbefore, block + incoming->nbytes - nbefore, nbefore);
	incoming->nbytes = incoming->at = 0;
	incoming->is_filed = false;
	while (incoming->nbytes < CSV_INCOMING_BYTES &&
		   get_more(incoming, CSV_INCOMING_BYTES))
		;
	while ((nmarker = find_marker(incoming, &line)) > 0 &&
		   incoming->nbytes < CSV_INCOMING_BYTES + CSV_MARKER_BYTES &&
		   get_more(incoming, incoming->nbytes + 1))
		;
	incoming->nmarker = line > 0 && incoming->at_end && knows_marker(incoming) ?
		nmarker : 0;

	if (incoming->oddity == NULL)
		incoming->oddity =
			csv_find_oddity_in_block(incoming->look, block, nbefore,
									 incoming->nbytes - incoming->nmarker,
									 incoming->at_end);
	if (incoming->oddity == NULL && incoming->nmarker > 0)
		incoming->oddity =
			csv_find_oddity_in_block(incoming->look,
									 block + incoming->nbytes - nmarker + line - 1, 1, 1,
									 true);
	incoming->has_blocks = true;
}

CsvIncoming *
csv_incoming_begin(const CopyStmt *stmt, const CopyFormatOptions *copy, int encoding,
				   int ncolumns)
{
	CsvIncoming *incoming = palloc(sizeof(CsvIncoming));

	memset(incoming, 0, offsetof(CsvIncoming, block));
	incoming->copy = copy;
	incoming->look = csv_stream_look_create(copy, encoding);
	initStringInfo(&incoming->text_end.held);
	if (stmt->is_program)
		start_program(incoming, stmt->filename);
	else
		ask_frontend(incoming, ncolumns);
	fill_block(incoming);
	if (incoming->nbytes >= CSV_INCOMING_BYTES)
		incoming->file = OpenTemporaryFile(false);
	return incoming;
}

bool
csv_incoming_is_short(const CsvIncoming *incoming)
{
	return incoming->file == 0;
}

/* ---- for the engine ---- */

static void
file_block(CsvIncoming *incoming)
{
	int			nbytes = (int) incoming->nbytes;

	errno = 0;
	if (FileWrite(incoming->file, incoming->block + CSV_LOOK_BEHIND, nbytes,
				  incoming->nfiled, WAIT_EVENT_BUFFILE_WRITE) != nbytes)
	{
		/* a disk that is full does not say so */
		if (errno == 0)
			errno = ENOSPC;
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not write to file \"%s\": %m",
						FilePathName(incoming->file))));
	}
	incoming->nfiled += (off_t) incoming->nbytes;
	incoming->is_filed = true;
}

/* of the block's first bytes, what was not delivered yet */
static size_t
deliver(CsvIncoming *incoming, size_t end, void *buffer, size_t nbytes)
{
	nbytes = Min(nbytes, end - incoming->at);
	memcpy(buffer, incoming->block + CSV_LOOK_BEHIND + incoming->at, nbytes);
	incoming->at += nbytes;
	return nbytes;
}

size_t
csv_incoming_read(void *arg, uint8_t *buffer, size_t nbytes)
{
	CsvIncoming *incoming = arg;

	if (incoming->at == incoming->nbytes && !incoming->at_end)
	{
		if (incoming->nbytes > 0)
			file_block(incoming);
		fill_block(incoming);
	}
	if (incoming->oddity != NULL || incoming->failure != 0)
		ereport(ERROR,
				(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
				 errmsg_internal("%s", incoming->oddity != NULL ? incoming->oddity :
								 "the data were not sent to their end")));
	return deliver(incoming, incoming->nbytes - incoming->nmarker, buffer, nbytes);
}

/* ---- for COPY ---- */

static size_t
repeat(CsvIncoming *incoming, void *buffer, size_t nbytes)
{
	size_t		n;

	if (incoming->nrepeated < incoming->nfiled)
	{
		size_t		nleft = (size_t) (incoming->nfiled - incoming->nrepeated);
		int			nread = FileRead(incoming->file, buffer, (int) Min(nbytes, nleft),
									 incoming->nrepeated, WAIT_EVENT_BUFFILE_READ);

		if (nread <= 0)
			ereport(ERROR,
					(errcode_for_file_access(),
					 errmsg("could not read from file \"%s\": %m",
							FilePathName(incoming->file))));
		incoming->nrepeated += nread;
		return (size_t) nread;
	}
	if (incoming->at < incoming->nbytes)
		return deliver(incoming, incoming->nbytes, buffer, nbytes);
	n = get_bytes(incoming, buffer, nbytes);
	if (incoming->failure != 0)
		report_failure(incoming);
	return n;
}

static void
pass_text_byte(CsvTextEnd *end, char byte)
{
	switch (end->state)
	{
		case TEXT_CR:
			end->line_break = byte == '\n' ? "\r\n" : "\r";
			end->state = TEXT_DATA;
			/* FALLTHROUGH */
		case TEXT_DATA:
			if (byte == '\\')
				end->state = TEXT_ESCAPE;
			else if (end->line_break == NULL && byte == '\r')
				end->state = TEXT_CR;
			else if (end->line_break == NULL && byte == '\n')
				end->line_break = "\n";
			break;
		case TEXT_ESCAPE:
			end->state = byte == '.' ? TEXT_MARKER : TEXT_DATA;
			break;
		case TEXT_MARKER:
			/* COPY refuses another than that of the lines */
			if (end->line_break == NULL ? byte != '\r' && byte != '\n' :
				byte != end->line_break[0])
				end->state = TEXT_DATA;
			else
				end->state = end->line_break != NULL && end->line_break[1] != '\0' ?
					TEXT_MARKER_CR : TEXT_END;
			break;
		case TEXT_MARKER_CR:
			end->state = byte == '\n' ? TEXT_END : TEXT_DATA;
			break;
		case TEXT_END:
			break;
	}
}

/* the next bytes for COPY: those that are held come first */
static size_t
next_text(CsvIncoming *incoming, char *buffer, size_t nbytes)
{
	StringInfo	held = &incoming->text_end.held;
	size_t		nheld = (size_t) (held->len - held->cursor);

	if (nheld == 0)
	{
		resetStringInfo(held);
		return repeat(incoming, buffer, nbytes);
	}
	nbytes = Min(nheld, nbytes);
	memcpy(buffer, held->data + held->cursor, nbytes);
	held->cursor += (int) nbytes;
	return nbytes;
}

/* the last of the bytes that came from next_text() are to come again */
static void
hold_text(StringInfo held, const char *bytes, int nbytes)
{
	if (held->cursor >= nbytes)
		held->cursor -= nbytes; /* they had been held */
	else
		appendBinaryStringInfo(held, bytes, nbytes);
}

/* of these bytes, those up to the marker; the others are held */
static size_t
pass_text(CsvTextEnd *end, const char *bytes, size_t nbytes)
{
	size_t		i = 0;

	while (i < nbytes && end->state != TEXT_MARKER)
	{
		if (end->state == TEXT_DATA && end->line_break != NULL)
		{
			const char *escape = memchr(bytes + i, '\\', nbytes - i);

			if (escape == NULL)
				return nbytes;
			i = (size_t) (escape - bytes);
		}
		pass_text_byte(end, bytes[i++]);
	}
	if (i < nbytes)
		hold_text(&end->held, bytes + i, (int) (nbytes - i));
	return i;
}

/* what comes behind the end of the data is of no account, unless it is a failure */
static void
skip_rest(CsvIncoming *incoming)
{
	char		rest[8192];

	while (repeat(incoming, rest, sizeof(rest)) > 0)
		;
}

/*
 * The line break behind the marker.  COPY, which waits for it, has not left that line:
 * it is there that it would meet a failure behind it.
 */
static int
end_text(CsvIncoming *incoming, char *buffer)
{
	CsvTextEnd *end = &incoming->text_end;
	int			nbytes = 0;

	while (end->state == TEXT_MARKER || end->state == TEXT_MARKER_CR)
	{
		if (next_text(incoming, buffer + nbytes, 1) == 0)
			break;
		pass_text_byte(end, buffer[nbytes++]);
	}
	if (end->state == TEXT_END)
		skip_rest(incoming);
	return nbytes;
}

/* a copy_data_source_cb; COPY asks for one byte at least */
static int
repeat_for_copy(void *buffer, int least, int most)
{
	CsvIncoming *incoming = repeated;
	CsvTextEnd *end = &incoming->text_end;
	size_t		nbytes;

	if (end->state == TEXT_END)
		return 0;
	if (end->state == TEXT_MARKER)
		return end_text(incoming, buffer);

	/* no more than are there: COPY comes to the lines before a failure first */
	if (incoming->command != NULL || incoming->copy->csv_mode)
		return (int) repeat(incoming, buffer, (size_t) most);
	nbytes = next_text(incoming, buffer, (size_t) most);
	return (int) pass_text(end, buffer, nbytes);
}

/* the same behind a line that ends the data, where COPY has left it to us */
static void
drain(CsvIncoming *incoming, CopyFromState state)
{
	ErrorContextCallback callback;

	callback.callback = CopyFromErrorCallback;
	callback.arg = state;
	callback.previous = error_context_stack;
	error_context_stack = &callback;
	state->line_buf_valid = false;
	skip_rest(incoming);
	error_context_stack = callback.previous;
}

uint64
csv_incoming_copy(CsvIncoming *incoming, ParseState *pstate, Relation relation,
				  const CopyStmt *stmt, List *quals)
{
	CsvIncoming *const outer = repeated;
	uint64		nrows = 0;

	incoming->nrepeated = 0;
	incoming->at = incoming->is_filed ? incoming->nbytes : 0;
	repeated = incoming;
	PG_TRY();
	{
		CopyFromState state = BeginCopyFrom(pstate, relation, (Node *) quals, NULL, false,
											repeat_for_copy, stmt->attlist,
											stmt->options);

		pgstat_progress_update_param(PROGRESS_COPY_TYPE,
									 stmt->is_program ? PROGRESS_COPY_TYPE_PROGRAM :
									 PROGRESS_COPY_TYPE_PIPE);
		nrows = CopyFrom(state);
		if (!stmt->is_program)
			drain(incoming, state);
		EndCopyFrom(state);
	}
	PG_FINALLY();
	{
		repeated = outer;
	}
	PG_END_TRY();
	return nrows;
}

void
csv_incoming_end(CsvIncoming *incoming)
{
	int			status = 0;

	if (incoming->pipe != NULL)
		status = ClosePipeStream(incoming->pipe);
	if (status == -1)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not close pipe to external command: %m")));

	/* one that was not read to its end is expected to die of it */
	if (status != 0 && (incoming->at_end || !wait_result_is_signal(status, SIGPIPE)))
		ereport(ERROR,
				(errcode(ERRCODE_EXTERNAL_ROUTINE_EXCEPTION),
				 errmsg("program \"%s\" failed", incoming->command),
				 errdetail_internal("%s", wait_result_to_str(status))));
	if (incoming->file != 0)
		FileClose(incoming->file);
}
