/*
 * message.h
 *		The messages between sessions and the program that serves all sessions
 *		(csv_gpu_service).
 *
 * Messages go over a Unix socket that keeps them apart (SOCK_SEQPACKET).  A session
 * sends a message and waits for the answer, except for messages that have no answer.
 * Descriptors go along with messages.  Both ends are of the same build, which the
 * first message checks, so structs are sent as they are.
 *
 * Only sessions of the program's own user and build connect.  The program checks
 * lengths and bounds in their messages; an invalid one ends the connection.
 */
#ifndef CSV_MESSAGE_H
#define CSV_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "identity.h"
#include "reader/place.h"

/* of messages, and of everything in shared memory; newer versions are greater */
#define CSV_WIRE_VERSION		3

#define CSV_WIRE_BYTES		16384	/* the longest message, except batches */
#define CSV_WIRE_DESCRIPTORS	3	/* the most descriptors of a message */

/* the longest message with a batch, of CSV_MOST_KEPT_COLUMNS columns */
#define CSV_WIRE_BATCH_BYTES	(48 * 1024)

/* the most columns of a PostgreSQL table, and some more */
#define CSV_MOST_KEPT_COLUMNS	1664
#define CSV_NAME_BYTES			1024	/* with a zero byte at the end */
#define CSV_DECLARATION_BYTES		32
#define CSV_DEVICE_NAME_BYTES	128
#define CSV_REASON_BYTES		256

/* the descriptors that the program starts with */
#define CSV_SERVICE_LISTEN		3	/* the socket that sessions connect to */
#define CSV_SERVICE_SERVER		4	/* reaches its end when the server ends */
#define CSV_SERVICE_CONTROL		5	/* a socket: the worker sends limits */
#define CSV_SERVICE_LOCK		6	/* its holder is the server's service */

typedef enum CsvMessageKind
{
	/* the first message, and its answer: CsvHelloMessage */
	CSV_MESSAGE_HELLO,

	/* from a newer session: end as soon as no scan is left.  No answer. */
	CSV_MESSAGE_RETIRE,

	/* CsvFindMessage, with the file; the answer is a CsvFoundMessage */
	CSV_MESSAGE_FIND,
	/* CsvSetMessage: the session no longer uses a set that it found.  No answer. */
	CSV_MESSAGE_RELEASE,
	/* CsvLookMessage; the answer is a CsvFoundMessage without a set */
	CSV_MESSAGE_LOOK,

	/* CsvRoomMessage; the answer is a CsvDoneMessage; none if nbytes is 0 */
	CSV_MESSAGE_ROOM,
	/* CsvFindMessage, with the file and the columns; the answer is a CsvDoneMessage */
	CSV_MESSAGE_KEEP,

	/*
	 * CsvGroupingMessage: with a descriptor it adds a grouping; without it asks for
	 * the grouping, or whether it may be added.  The answer is a CsvDoneMessage, with
	 * the grouping, if there is one.
	 */
	CSV_MESSAGE_GROUPING,

	/* CsvListMessage; the answer is CsvListedMessage: a memory file of CsvListEntry */
	CSV_MESSAGE_LIST,
	/* CsvForgetMessage; the answer is a CsvDoneMessage, with the number of sets */
	CSV_MESSAGE_FORGET,
	/* the answer is a CsvStatisticsMessage */
	CSV_MESSAGE_STATISTICS,

	/* CsvDeviceMessage; the answer, too */
	CSV_MESSAGE_DEVICE,
	/* the answer is CsvListedMessage: CSV_LATER, or a memory file of CsvDeviceEntry */
	CSV_MESSAGE_DEVICES,

	/*
	 * CsvAskMessage, with a socket for the answer, and a request (request.h) in a
	 * memory file.  The answer is a CsvDoneMessage, as for a scan.  Then ANSWER
	 * (CsvBatchMessage) comes over that socket for some rows of the set at a time, as
	 * a batch without columns, and END at last; or FAILED.  The answers last until the
	 * socket is closed.
	 */
	CSV_MESSAGE_ASK,
	CSV_MESSAGE_ANSWER,

	/*
	 * CsvScanMessage, with a socket for the scan.  The answer is a CsvDoneMessage; 0:
	 * no device is awake.  Otherwise all further messages go over that socket, until
	 * it is closed.
	 */
	CSV_MESSAGE_SCAN,

	/*
	 * Over a scan's socket.  FILE (CsvFileMessage) begins a file.  With it come a
	 * request (request.h) in a memory file, and the file, except for a stream.  No
	 * answer.  PARSE (CsvParseMessage) asks for a batch; the answer is BATCH, END
	 * or FAILED.  NEED (CsvDataMessage) asks for room for bytes of a stream; the
	 * answer is NEED or FAILED.  HELD (CsvHeldMessage), after the last batch, asks
	 * for groups; the answer is GROUPS or FAILED.  Before an answer BLOCK may come.
	 */
	CSV_MESSAGE_FILE,
	CSV_MESSAGE_PARSE,
	CSV_MESSAGE_NEED,
	CSV_MESSAGE_HELD,
	CSV_MESSAGE_BATCH,			/* CsvBatchMessage */
	CSV_MESSAGE_GROUPS,			/* CsvBatchMessage */
	CSV_MESSAGE_END,			/* CsvEndMessage */
	CSV_MESSAGE_FAILED,			/* CsvFailedMessage */
	CSV_MESSAGE_BLOCK,			/* CsvBlockMessage, with its memory file */

	/* a memory file with a request, whose query is for the next batches; no answer */
	CSV_MESSAGE_QUERY,

	/* from the worker that watches the program: CsvLimitsMessage.  No answer. */
	CSV_MESSAGE_LIMITS,
	CSV_NUM_MESSAGE_KINDS
} CsvMessageKind;

typedef struct CsvHelloMessage
{
	uint32_t	kind;
	uint32_t	version;
	uint64_t	build;			/* csv_wire_build() */
	int32_t		pid;
	uint32_t	has_cuda;		/* answer: the program was built with CUDA */
} CsvHelloMessage;

/* ---- kept columns ---- */

/* a column by its number in the table, and whether it has scaled integers */
typedef struct CsvKeyColumn
{
	int16_t		attnum;
	uint16_t	decimal;
} CsvKeyColumn;

/*
 * The columns of a file that a query wants, or a set has.  declaration: a hash of
 * everything, except the file, that shapes the values.  positions: also where rows
 * start.
 */
typedef struct CsvWanted
{
	uint8_t		declaration[CSV_DECLARATION_BYTES];
	uint32_t	positions;
	uint32_t	ncolumns;
	CsvKeyColumn columns[CSV_MOST_KEPT_COLUMNS];
} CsvWanted;

/* a table that uses them */
typedef struct CsvTableName
{
	uint32_t	database;
	uint32_t	table;
	char		filename[CSV_NAME_BYTES];	/* as the table names it */
} CsvTableName;

#define CSV_END_HASH_BYTES		32

/*
 * The records of a file that grows which some columns have.  The file is the same as long
 * as its bytes up to `to` have these hashes at both ends (fingerprint.h).
 */
typedef struct CsvStretch
{
	CsvFilePlace from;
	CsvFilePlace to;
	uint8_t		first[CSV_END_HASH_BYTES];
	uint8_t		last[CSV_END_HASH_BYTES];
} CsvStretch;

/* this, like all messages with a CsvWanted, ends after ncolumns columns */
typedef struct CsvFindMessage
{
	uint32_t	kind;
	uint16_t	has_bad_values; /* KEEP */
	uint16_t	grows;			/* columns of a stretch of the file */
	CsvStretch	stretch;		/* FIND: only from.offset */
	uint64_t	set;			/* FIND: 0, or no other set will do */
	CsvTableName user;
	uint64_t	nrows;			/* KEEP */
	uint64_t	promised;		/* KEEP: bytes that these columns were promised */
	CsvFileIdentity file;		/* when it was opened; KEEP: and now */
	CsvWanted	wanted;
} CsvFindMessage;

#define CSV_MOST_IDENTITIES		128

/* are there columns of all these files? */
typedef struct CsvLookMessage
{
	uint32_t	kind;
	uint32_t	nfiles;
	CsvFileIdentity files[CSV_MOST_IDENTITIES];
	CsvWanted	wanted;
} CsvLookMessage;

typedef struct CsvFoundMessage
{
	uint32_t	kind;
	uint32_t	found;			/* 1, or 0: there are no columns */
	uint64_t	set;
	uint64_t	nrows;
	CsvStretch	stretch;
} CsvFoundMessage;

typedef struct CsvSetMessage
{
	uint32_t	kind;
	uint32_t	unused;
	uint64_t	set;
} CsvSetMessage;

/*
 * Asks for room for columns in the making, which were promised `before` bytes so far:
 * nbytes in all; 0: no longer.  The columns come from read_bytes of the file's
 * file_bytes so far.
 */
typedef struct CsvRoomMessage
{
	uint32_t	kind;
	uint32_t	unused;
	uint64_t	before;
	uint64_t	nbytes;
	uint64_t	read_bytes;
	uint64_t	file_bytes;
} CsvRoomMessage;

typedef struct CsvDoneMessage
{
	uint32_t	kind;
	uint32_t	count;			/* 0: no; otherwise yes, or a number */
} CsvDoneMessage;

#define CSV_MOST_GROUPING_KEYS	32

/* a column, and whether trailing blanks are removed first */
typedef struct CsvGroupingKey
{
	int16_t		attnum;
	uint16_t	trim;
} CsvGroupingKey;

typedef struct CsvGroupingMessage
{
	uint32_t	kind;
	uint32_t	nkeys;
	uint64_t	set;
	CsvGroupingKey keys[CSV_MOST_GROUPING_KEYS];
} CsvGroupingMessage;

/* asks for the sets that tables of a database use */
typedef struct CsvListMessage
{
	uint32_t	kind;
	uint32_t	database;
} CsvListMessage;

#define CSV_LATER			UINT32_MAX

typedef struct CsvListedMessage
{
	uint32_t	kind;
	uint32_t	nentries;
} CsvListedMessage;

/* a set, followed by its columns and groupings; the last used set comes first */
typedef struct CsvListEntry
{
	uint64_t	set;
	uint64_t	nrows;
	uint64_t	nbytes;
	int64_t		last_used;		/* microseconds since 1970 */
	CsvTableName user;
	uint32_t	ncolumns;		/* a CsvKeyColumn each */
	uint32_t	ngroupings;		/* a CsvGroupingMessage each */
	uint32_t	on_device;		/* 1: a device had a copy after the last question */
	uint32_t	unused;
} CsvListEntry;

/* sets of all tables, or a set of a table, which stays if another table uses it */
typedef struct CsvForgetMessage
{
	uint32_t	kind;
	uint32_t	all;
	uint64_t	set;
	uint32_t	database;
	uint32_t	table;
} CsvForgetMessage;

/* ---- scans ---- */

typedef enum CsvDeviceState
{
	CSV_DEVICE_NONE,			/* there is no such device, or it is not usable */
	CSV_DEVICE_ASLEEP,
	CSV_DEVICE_STARTING,
	CSV_DEVICE_AWAKE
} CsvDeviceState;

/* the device with the least work; other numbers are as in csv_gpu_devices() */
#define CSV_ANY_DEVICE		(-1)

typedef struct CsvDeviceMessage
{
	uint32_t	kind;
	int32_t		device;
	uint32_t	wake;			/* question: start it, if it is asleep */
	uint32_t	state;			/* answer: CsvDeviceState */
	char		name[CSV_DEVICE_NAME_BYTES];
} CsvDeviceMessage;

/* a device of the machine */
typedef struct CsvDeviceEntry
{
	int32_t		number;
	int32_t		capability_major;
	int32_t		capability_minor;
	uint32_t	usable;
	uint64_t	memory_total;	/* bytes */
	int64_t		memory_free;	/* bytes; -1: not known */
	char		name[CSV_DEVICE_NAME_BYTES];
	char		reason[CSV_DEVICE_NAME_BYTES];	/* why it is not usable; or empty */
} CsvDeviceEntry;

typedef struct CsvAskMessage
{
	uint32_t	kind;
	int32_t		device;
	uint32_t	must_wait;		/* for the device, if it is not awake */
	uint32_t	unused;
	uint64_t	set;
} CsvAskMessage;

typedef struct CsvScanMessage
{
	uint32_t	kind;
	int32_t		device;
	uint32_t	must_wait;		/* for the device, if it is not awake */
	uint32_t	unused;
} CsvScanMessage;

typedef struct CsvFileMessage
{
	uint32_t	kind;
	uint16_t	is_stream;		/* bytes come from the session */
	uint16_t	is_shared;		/* other scans read other parts of the file */
	uint64_t	from;			/* where it begins */
	uint64_t	file_bytes;		/* its length, when the session's scan began */
	uint32_t	grows;			/* bytes are only appended to the file */
	uint32_t	unused;
} CsvFileMessage;

/*
 * As a CsvInput.  The bytes of a stream are in the room for them.  Of another file,
 * the batch may have fewer bytes.
 */
typedef struct CsvParseMessage
{
	uint32_t	kind;
	uint16_t	at_end;
	uint8_t		has_footer;
	uint8_t		skip_line;
	uint64_t	offset;
	uint64_t	nbytes;
	uint64_t	alone_until;
} CsvParseMessage;

typedef struct CsvHeldMessage
{
	uint32_t	kind;
	uint32_t	first;
} CsvHeldMessage;

/* ends behind the packed batch (packed.h) */
typedef struct CsvBatchMessage
{
	uint32_t	kind;
	uint32_t	unused;
	uint64_t	packed[CSV_WIRE_BATCH_BYTES / sizeof(uint64_t) - 1];
} CsvBatchMessage;

typedef enum CsvFailure
{
	CSV_FAILURE_DEVICE,
	CSV_FAILURE_FILE,			/* it cannot be read: error is an errno */
	CSV_FAILURE_FOOTER,			/* it is too long */
	CSV_FAILURE_MEMORY
} CsvFailure;

typedef struct CsvFailedMessage
{
	uint32_t	kind;
	uint32_t	failure;		/* CsvFailure */
	int32_t		error;
	uint32_t	unused;
	char		reason[CSV_REASON_BYTES];
} CsvFailedMessage;

/* the input reaches beyond the file's end, which is here */
typedef struct CsvEndMessage
{
	uint32_t	kind;
	uint32_t	unused;
	uint64_t	file_bytes;
} CsvEndMessage;

/* blocks are numbered in the order of these messages, from 0 */
typedef struct CsvBlockMessage
{
	uint32_t	kind;
	uint32_t	unused;
	uint64_t	nbytes;
} CsvBlockMessage;

typedef struct CsvDataMessage
{
	uint32_t	kind;
	uint32_t	block;			/* answer: where the bytes go */
	uint64_t	offset;
	uint64_t	nbytes;
} CsvDataMessage;

/* ---- statistics ---- */

/* why a session that may choose reads on the CPU instead of a GPU */
typedef enum CsvFallback
{
	CSV_FALLBACK_FAILED,		/* the device has failed */
	CSV_FALLBACK_MEMORY,		/* it has too little memory */
	CSV_FALLBACK_STARTING,		/* it was not awake yet */
	CSV_NUM_FALLBACKS
} CsvFallback;

typedef struct CsvCounts
{
	uint64_t	scans_running;
	uint64_t	scans_done;
	uint64_t	bytes_read;
	uint64_t	chunks;
	uint64_t	rows;
	uint64_t	resident_hits;
	uint64_t	resident_misses;
	uint64_t	failures;
	uint64_t	fallbacks[CSV_NUM_FALLBACKS];
} CsvCounts;

/* of a device, or of the host */
typedef struct CsvStatistics
{
	int32_t		device;			/* -1: the host */
	uint32_t	unused;
	CsvCounts	counts;
	uint64_t	memory_held;
	uint64_t	memory_limit;
	char		name[CSV_DEVICE_NAME_BYTES];
} CsvStatistics;

#define CSV_MOST_DEVICES		64

typedef struct CsvStatisticsMessage
{
	uint32_t	kind;
	int32_t		pid;
	int64_t		since;			/* microseconds since 1970 */
	uint32_t	n;				/* the host, and the devices in use */
	uint32_t	unused;
	CsvStatistics of[1 + CSV_MOST_DEVICES];
} CsvStatisticsMessage;

typedef struct CsvLimitsMessage
{
	uint32_t	kind;
	int32_t		device;			/* that the program uses */
	uint64_t	resident_bytes;
	uint64_t	gpu_bytes;		/* on each device; 0: half of the free memory */
} CsvLimitsMessage;

/* any message except CsvBatchMessage */
typedef union CsvMessage
{
	uint32_t	kind;
	CsvHelloMessage hello;
	CsvFindMessage find;
	CsvLookMessage look;
	CsvFoundMessage found;
	CsvSetMessage set;
	CsvRoomMessage room;
	CsvDoneMessage done;
	CsvGroupingMessage grouping;
	CsvListMessage list;
	CsvListedMessage listed;
	CsvForgetMessage forget;
	CsvStatisticsMessage statistics;
	CsvLimitsMessage limits;
	CsvDeviceMessage device;
	CsvAskMessage ask;
	CsvScanMessage scan;
	CsvFileMessage file;
	CsvParseMessage parse;
	CsvHeldMessage held;
	CsvFailedMessage failed;
	CsvEndMessage end;
	CsvBlockMessage block;
	CsvDataMessage data;
} CsvMessage;

/* bytes of a CsvFindMessage, or CsvLookMessage, with its columns */
#define CSV_WANTED_BYTES(type, ncolumns) \
	(offsetof(type, wanted.columns) + sizeof(CsvKeyColumn) * (ncolumns))

/* a hash of all sources and flags: only processes with the same one understand each other */
extern uint64_t csv_wire_build(void);

/* ---- sending ---- */

/* that come or go with a message */
typedef struct CsvDescriptors
{
	int			n;
	int			files[CSV_WIRE_DESCRIPTORS];
} CsvDescriptors;

/*
 * Send a message, with descriptors (NULL: none), which stay open here.  False with
 * errno; EAGAIN: not now.
 */
extern bool csv_wire_send(int socket, const void *message, size_t nbytes,
						  const CsvDescriptors *descriptors);

/*
 * Receive a message of at most `room` bytes.  Returns its bytes; 0: the other end is
 * gone; -1 with errno: EAGAIN if there is no message, EBADMSG if it is not valid,
 * EMFILE if this process may not open its descriptors.  The caller owns the
 * descriptors; they are closed when the process starts another program.
 */
extern ssize_t csv_wire_receive(int socket, void *message, size_t room,
								CsvDescriptors *descriptors);
extern void csv_wire_close(CsvDescriptors *descriptors);

/* does the process at the other end run as the same user? */
extern bool csv_wire_is_own_user(int socket);

#endif							/* CSV_MESSAGE_H */
