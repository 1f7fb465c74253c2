/*
 * incoming.c
 *		The data of a COPY that come once: the frontend's, or a program's.
 *
 * They come in blocks.  Each block goes to the engine and then, before the next block
 * comes, to the temporary file.  So the file and the block hold all data that have
 * come.
 */
#include "postgres.h"

/* libpq.h includes GSSAPI's headers if the server was built with GSSAPI */
#undef ENABLE_GSS

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "commands/copyfrom_internal.h"
#include "commands/progress.h"
#include "commands/tablespace.h"
#include "lib/stringinfo.h"
#include "libpq/libpq.h"
#include "libpq/pqformat.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/fd.h"
#include "utils/memutils.h"
#include "utils/wait_event.h"

#include "compat.h"
#include "load/incoming.h"
#include "load/oddity.h"
#include "table/interrupts.h"

/* limits of the frontend's messages, as in the server */
#define CSV_DATA_MESSAGE_BYTES		PQ_LARGE_MESSAGE_LIMIT
#define CSV_OTHER_MESSAGE_BYTES		PQ_SMALL_MESSAGE_LIMIT

/*
 * The longest marker of the end: "\\." and a line break, which psql sends before 18,
 * or with two more line breaks, which pg_restore sends.
 */
#define CSV_MARKER_BYTES	8

/*
 * The end of the frontend's data for COPY: "\\." and a line break, in CSV at the
 * beginning of a line, in text anywhere in a line.  COPY ignores all bytes behind it.
 */
typedef struct CsvDataEnd
{
	enum
	{
		DATA_DATA,
		DATA_ESCAPE,
		DATA_MARKER,			/* a line break must follow */
		DATA_MARKER_CR,			/* a LF must follow */
		DATA_END
	}			state;
	char		last;			/* byte */
	StringInfoData held;		/* bytes behind a marker, from its cursor on */
} CsvDataEnd;

/* bytes of a line in CONTEXT; COPY shows fewer */
#define CSV_SHOWN_BYTES		128

struct CsvIncoming
{
	const char *command;		/* of the program; NULL: from the frontend */
	FILE	   *pipe;
	StringInfoData message;		/* the frontend's last; unread from its cursor */
	bool		has_failed;		/* the frontend's data have failed */
	int			failure;		/* by a message of this type, or EOF */
	bool		at_end;			/* no more will come */

	const char *table;			/* its name */
	int			encoding;		/* of the data */
	ErrorContextCallback *context;	/* of the statement */
	CopyFromState state;		/* COPY's, if it does the work; or NULL */
	const CopyFormatOptions *copy;
	CsvStreamLook *look;
	const char *oddity;			/* in the data so far; or NULL */
	File		file;			/* 0: at most one block has come */
	off_t		nfiled;			/* bytes in the file */
	off_t		nrepeated;		/* bytes of the file that COPY got */
	bool		is_filed;		/* the block is in the file */
	bool		has_blocks;
	size_t		nbytes;			/* of the block */
	size_t		nmarker;		/* of these, the marker of the data's end */
	size_t		at;				/* the bytes before it were delivered */
	uint64		nlines;			/* in earlier blocks */
	CsvDataEnd	end;			/* of the data that COPY gets */
	/* the block, behind the last bytes of the block before */
	char		block[CSV_LOOK_BEHIND + CSV_INCOMING_BYTES + CSV_MARKER_BYTES];
};

/* the data that COPY's callback reads, since it has no argument */
static CsvIncoming *repeated = NULL;

/* ---- receive ---- */

static uint64
count_lines(const char *bytes, size_t nbytes)
{
	const char *const end = bytes + nbytes;
	const char	line_break = memchr(bytes, '\n', nbytes) != NULL ? '\n' : '\r';
	uint64		n = 0;

	while ((bytes = memchr(bytes, line_break, (size_t) (end - bytes))) != NULL)
	{
		bytes++;
		n++;
	}
	return n;
}

/*
 * Copy the line that begins in the block and ends in the last message, and put a zero
 * byte behind it.  Returns false if the message does not end the line, or if the line
 * cannot be shown.
 */
static bool
show_line(const CsvIncoming *incoming, char text[CSV_SHOWN_BYTES])
{
	const StringInfoData *message = &incoming->message;
	const char *block = incoming->block + CSV_LOOK_BEHIND;
	const char *begin = block + incoming->nbytes;
	const char *rest = message->data + message->cursor;
	const char *end = message->cursor == message->len ? NULL :
		memchr(rest, '\n', (size_t) (message->len - message->cursor));
	int			n;
	int			nrest;
	int			nvalid;

	while (begin > block && begin[-1] != '\n')
		begin--;
	if (end == NULL || (begin == block && incoming->nfiled > 0) ||
		incoming->encoding != GetDatabaseEncoding())
		return false;
	if (end > rest && end[-1] == '\r')
		end--;
	n = (int) Min(block + incoming->nbytes - begin, CSV_SHOWN_BYTES - 1);
	nrest = (int) Min(end - rest, CSV_SHOWN_BYTES - 1 - n);
	memcpy(text, begin, (size_t) n);
	memcpy(text + n, rest, (size_t) nrest);
	n += nrest;

	/* a line that is cut off may end within a character */
	nvalid = pg_encoding_verifymbstr(incoming->encoding, text, n);
	text[nvalid] = '\0';
	return nvalid == n || n == CSV_SHOWN_BYTES - 1;
}

/*
 * The error context callback while the server waits for data.  COPY checks for
 * interrupts behind the last line that a message ends, so CONTEXT names that line.
 */
static void
tell_line(void *arg)
{
	const CsvIncoming *incoming = arg;
	CopyFromStateData state;
	char		text[CSV_SHOWN_BYTES];

	memset(&state, 0, sizeof(state));
	state.cur_relname = incoming->table;
	state.cur_lineno = incoming->nlines + 1 +
		count_lines(incoming->block + CSV_LOOK_BEHIND, incoming->nbytes);
	state.line_buf.data = text;
	state.line_buf_valid = show_line(incoming, text);
	CopyFromErrorCallback(&state);
}

/*
 * Read the frontend's next message into incoming->message.  Returns its type, or EOF
 * if none comes.  A message that COPY does not expect stays unread, since COPY may
 * fail before it gets there.
 */
static int
get_message(CsvIncoming *incoming)
{
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
	return type;
}

/* raise the ERROR of data that have failed */
static void
report_failure(CsvIncoming *incoming)
{
	/* leave the message half read, so that the server ends the connection */
	if (incoming->failure != 'f' && !pq_is_reading_msg())
		pq_startmsgread();
	if (incoming->failure == EOF)
		ereport(ERROR,
				(errcode(ERRCODE_CONNECTION_FAILURE),
				 errmsg("unexpected EOF on client connection with an open transaction")));
	if (incoming->failure != 'f')
	{
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

/*
 * Read the next message.  Returns false if the data have failed.  If COPY has the
 * data, COPY checks for interrupts itself, after each line.
 */
static bool
receive_message(CsvIncoming *incoming)
{
	bool		was_in_step = csv_pause_step();
	int			type;

	/* an ERROR loses a message, and COPY must not go on without it */
	incoming->has_failed = true;
	incoming->failure = EOF;
	type = get_message(incoming);
	incoming->failure = type;
	if (type != EOF && type != '\0' && strchr("dcHS", type) != NULL)
	{
		incoming->has_failed = false;
		incoming->at_end = type == 'c';
		if (incoming->state == NULL)
			csv_check_interrupts();
		if (type == 'H' || type == 'S')
			incoming->message.cursor = incoming->message.len;
	}
	/* COPY would be cancelled before it gets to the failure */
	else if (incoming->state == NULL && QueryCancelPending)
		report_failure(incoming);
	csv_resume_step(was_in_step);
	return !incoming->has_failed;
}

/* returns at least one byte; 0 at the end, or if the frontend has failed */
static size_t
receive(CsvIncoming *incoming, char *buffer, size_t nbytes)
{
	StringInfo	message = &incoming->message;

	while (!incoming->has_failed && !incoming->at_end)
	{
		size_t		n = Min((size_t) (message->len - message->cursor), nbytes);

		if (n > 0)
		{
			pq_copymsgbytes(message, buffer, (int) n);
			return n;
		}
		if (!receive_message(incoming))
			break;
	}
	return 0;
}

/* as receive(), from the program */
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
	ErrorContextCallback *const outer = error_context_stack;
	ErrorContextCallback callback;
	size_t		n;

	callback.callback = tell_line;
	callback.arg = incoming;
	callback.previous = incoming->context;
	if (incoming->state == NULL)
		error_context_stack = &callback;
	n = incoming->command != NULL ? read_program(incoming, buffer, nbytes) :
		receive(incoming, buffer, nbytes);
	error_context_stack = outer;
	return n;
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
 * Returns how many bytes at the end of a block are the marker of the end, with empty
 * lines behind it, or the beginning of a marker; 0 if there is none.  *line: bytes of
 * the marker up to its line break, or 0 without a line break.
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

/* does COPY know the marker? */
static bool
knows_marker(const CsvIncoming *incoming)
{
	return PG_VERSION_NUM < 180000 || !csv_copy_is_csv(incoming->copy);
}

static bool
get_more(CsvIncoming *incoming, size_t limit)
{
	size_t		n = get_bytes(incoming, incoming->block + CSV_LOOK_BEHIND +
							  incoming->nbytes, limit - incoming->nbytes);

	incoming->nbytes += n;
	return n > 0;
}

/* read a full block, or all data that are left */
static void
fill_block(CsvIncoming *incoming)
{
	char	   *block = incoming->block + CSV_LOOK_BEHIND;
	size_t		nbefore = Min(incoming->nbytes, CSV_LOOK_BEHIND);
	size_t		nmarker;
	size_t		line;

	incoming->nlines += count_lines(block, incoming->nbytes);
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
	incoming->table = stmt->relation->relname;
	incoming->encoding = encoding;
	incoming->context = error_context_stack;
	incoming->copy = copy;
	incoming->look = csv_stream_look_create(copy, encoding);
	incoming->end.last = '\n';
	initStringInfo(&incoming->end.held);
	if (stmt->is_program)
		start_program(incoming, stmt->filename);
	else
		ask_frontend(incoming, ncolumns);
	fill_block(incoming);
	if (incoming->nbytes >= CSV_INCOMING_BYTES)
	{
		PrepareTempTablespaces();
		incoming->file = OpenTemporaryFile(false);
	}
	return incoming;
}

const char *
csv_incoming_obstacle(const CsvIncoming *incoming, bool takes_short)
{
	if (incoming->file == 0 && !takes_short)
		return "it is short";
	return incoming->oddity;
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
		/* a full disk does not set errno */
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

/* copy bytes of the block before `end` that were not delivered yet */
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
	if (incoming->oddity != NULL || incoming->has_failed)
		ereport(ERROR,
				(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
				 errmsg_internal("%s", incoming->oddity != NULL ? incoming->oddity :
								 "the data were not sent to their end")));
	return deliver(incoming, incoming->nbytes - incoming->nmarker, buffer, nbytes);
}

/* ---- for COPY ---- */

static size_t
repeat_bytes(CsvIncoming *incoming, void *buffer, size_t nbytes)
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
	if (incoming->has_failed)
		report_failure(incoming);
	return n;
}

static void
pass_byte(CsvIncoming *incoming, char byte)
{
	CsvDataEnd *end = &incoming->end;
	EolType		eol = incoming->state->eol_type;

	switch (end->state)
	{
		case DATA_DATA:
			if (byte == '\\' && (!csv_copy_is_csv(incoming->copy) || end->last == '\n' ||
								 end->last == '\r'))
				end->state = DATA_ESCAPE;
			break;
		case DATA_ESCAPE:
			end->state = byte == '.' ? DATA_MARKER : DATA_DATA;
			break;
		case DATA_MARKER:
			/* COPY refuses a line break of another kind than the lines have */
			if (eol == EOL_UNKNOWN ? byte != '\r' && byte != '\n' :
				byte != (eol == EOL_NL ? '\n' : '\r'))
				end->state = DATA_DATA;
			else
				end->state = eol == EOL_CRNL ? DATA_MARKER_CR : DATA_END;
			break;
		case DATA_MARKER_CR:
			end->state = byte == '\n' ? DATA_END : DATA_DATA;
			break;
		case DATA_END:
			break;
	}
	end->last = byte;
}

/* read the next bytes for COPY: held bytes come first */
static size_t
next_bytes(CsvIncoming *incoming, char *buffer, size_t nbytes)
{
	StringInfo	held = &incoming->end.held;
	size_t		nheld = (size_t) (held->len - held->cursor);

	if (nheld == 0)
	{
		resetStringInfo(held);
		return repeat_bytes(incoming, buffer, nbytes);
	}
	nbytes = Min(nheld, nbytes);
	memcpy(buffer, held->data + held->cursor, nbytes);
	held->cursor += (int) nbytes;
	return nbytes;
}

/* let next_bytes() return its last bytes once more */
static void
hold_bytes(StringInfo held, const char *bytes, int nbytes)
{
	if (held->cursor >= nbytes)
		held->cursor -= nbytes; /* they were held before */
	else
		appendBinaryStringInfo(held, bytes, nbytes);
}

/* give COPY the bytes up to the marker, and hold the others */
static size_t
pass_bytes(CsvIncoming *incoming, const char *bytes, size_t nbytes)
{
	CsvDataEnd *end = &incoming->end;
	size_t		i = 0;

	while (i < nbytes && end->state != DATA_MARKER)
	{
		if (end->state == DATA_DATA)
		{
			const char *escape = memchr(bytes + i, '\\', nbytes - i);
			size_t		at = escape == NULL ? nbytes : (size_t) (escape - bytes);

			if (at > i)
				end->last = bytes[at - 1];
			if (escape == NULL)
				return nbytes;
			i = at;
		}
		pass_byte(incoming, bytes[i++]);
	}
	if (i < nbytes)
		hold_bytes(&end->held, bytes + i, (int) (nbytes - i));
	return i;
}

/* ignore bytes behind the end of the data, unless the data fail */
static void
skip_rest(CsvIncoming *incoming)
{
	char		rest[8192];

	while (repeat_bytes(incoming, rest, sizeof(rest)) > 0)
		;
}

/*
 * Pass on the line break behind the marker.  COPY waits for it and is still in that
 * line.  So if the data fail behind the marker, COPY must learn it now.
 */
static int
end_data(CsvIncoming *incoming, char *buffer)
{
	CsvDataEnd *end = &incoming->end;
	int			nbytes = 0;

	while (end->state == DATA_MARKER || end->state == DATA_MARKER_CR)
	{
		if (next_bytes(incoming, buffer + nbytes, 1) == 0)
			break;
		pass_byte(incoming, buffer[nbytes++]);
	}
	if (end->state == DATA_END)
		skip_rest(incoming);
	return nbytes;
}

/*
 * COPY waits for the byte that follows "\\.".  May it take "\\." for the end of the
 * data?  In CSV, and from 18 on, it may only at the beginning of a line.
 */
static bool
is_marker(const CsvIncoming *incoming)
{
	return incoming->state->line_buf.len == 0 ||
		(PG_VERSION_NUM < 180000 && !csv_copy_is_csv(incoming->copy));
}

/* a copy_data_source_cb; COPY asks for one byte at least */
static int
repeat_for_copy(void *buffer, int least, int most)
{
	CsvIncoming *incoming = repeated;
	CsvDataEnd *end = &incoming->end;
	size_t		nbytes;

	if (end->state == DATA_END)
		return 0;
	if (end->state == DATA_MARKER && is_marker(incoming))
		return end_data(incoming, buffer);
	if (end->state == DATA_MARKER)
		end->state = DATA_DATA;

	/* give no more than has come: COPY must see the lines before a failure first */
	if (incoming->command != NULL || !knows_marker(incoming))
		return (int) repeat_bytes(incoming, buffer, (size_t) most);
	nbytes = next_bytes(incoming, buffer, (size_t) most);
	return (int) pass_bytes(incoming, buffer, nbytes);
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
		incoming->state = BeginCopyFrom(pstate, relation, (Node *) quals, NULL, false,
										repeat_for_copy, stmt->attlist, stmt->options);
		pgstat_progress_update_param(PROGRESS_COPY_TYPE,
									 stmt->is_program ? PROGRESS_COPY_TYPE_PROGRAM :
									 PROGRESS_COPY_TYPE_PIPE);
		nrows = CopyFrom(incoming->state);
		EndCopyFrom(incoming->state);
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

	/* a program that was not read to its end is expected to die of SIGPIPE */
	if (status != 0 && (incoming->at_end || !wait_result_is_signal(status, SIGPIPE)))
		ereport(ERROR,
				(errcode(ERRCODE_EXTERNAL_ROUTINE_EXCEPTION),
				 errmsg("program \"%s\" failed", incoming->command),
				 errdetail_internal("%s", wait_result_to_str(status))));
	if (incoming->file != 0)
		FileClose(incoming->file);
}
