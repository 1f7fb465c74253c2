/*
 * message.h
 *		What sessions and the program that serves them all (csv_gpu_service) say to
 *		each other.
 *
 * They talk over a Unix socket that keeps messages apart (SOCK_SEQPACKET).  A
 * session asks, and waits for the answer, except where it says that there is none.
 * Descriptors go along with messages.  Both ends are of one build, which the first
 * message makes sure of, so that structs are sent as they are.
 *
 * The program believes nothing that it is sent.  A message that is not as it
 * should be ends the connection.
 */
#ifndef CSV_MESSAGE_H
#define CSV_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "identity.h"

/* of messages, and of all that is in memory that is shared; newer is greater */
#define CSV_WIRE_VERSION		2

#define CSV_WIRE_BYTES		16384	/* no message is longer */
#define CSV_WIRE_DESCRIPTORS	3	/* nor has more of them */

/* but for those of a batch: with what is before its own bytes (batch.h) */
#define CSV_WIRE_BATCH_BYTES	(96 * 1024)

/* columns of a table, as PostgreSQL has at most, with some to spare */
#define CSV_MOST_KEPT_COLUMNS	1664
#define CSV_NAME_BYTES			1024	/* a shorter one, with its zero byte */
#define CSV_MEANING_BYTES		32
#define CSV_DEVICE_NAME_BYTES	128
#define CSV_REASON_BYTES		256

typedef enum CsvMessageKind
{
	/* the first message, and its answer: CsvHelloMessage */
	CSV_MESSAGE_HELLO,

	/* a session is newer: end, as soon as nobody is served.  No answer. */
	CSV_MESSAGE_RETIRE,

	/* CsvFindMessage, with the file; the answer is a CsvFoundMessage */
	CSV_MESSAGE_FIND,
	/* CsvSetMessage: a set that was found is no longer used.  No answer. */
	CSV_MESSAGE_RELEASE,
	/* CsvLookMessage; the answer is a CsvFoundMessage without a set */
	CSV_MESSAGE_LOOK,

	/* CsvRoomMessage; the answer, unless it is for none, is a CsvDoneMessage */
	CSV_MESSAGE_ROOM,
	/* CsvFindMessage, with the file and the columns: a CsvDoneMessage */
	CSV_MESSAGE_KEEP,

	/*
	 * CsvGroupingMessage: without a descriptor, is there one, or may there be; with
	 * one, take it.  The answer is a CsvDoneMessage, with the grouping to be used, if
	 * there is one.
	 */
	CSV_MESSAGE_GROUPING,

	/* CsvListMessage: a CsvListedMessage, with a memory file of CsvListEntry */
	CSV_MESSAGE_LIST,
	/* CsvForgetMessage: a CsvDoneMessage, with the number of sets */
	CSV_MESSAGE_FORGET,
	/* the answer is a CsvStatisticsMessage */
	CSV_MESSAGE_STATISTICS,

	/* CsvDeviceMessage; the answer, too, is one */
	CSV_MESSAGE_DEVICE,
	/* a CsvListedMessage, with a memory file of CsvDeviceEntry; or CSV_LATER of them */
	CSV_MESSAGE_DEVICES,

	/*
	 * CsvAskMessage, with a socket for the answer, and a request (request.h) in a
	 * memory file.  A CsvDoneMessage, as for a scan.  Over the socket come the answers
	 * of the device for rows of a set that was found, each an ANSWER
	 * (CsvBatchMessage), and END; or FAILED.  They last until it is closed.
	 */
	CSV_MESSAGE_ASK,
	CSV_MESSAGE_ANSWER,

	/*
	 * CsvScanMessage, with a socket for the scan.  A CsvDoneMessage: 0, there is no
	 * device that is awake; else all goes on over that socket, until it is closed.
	 */
	CSV_MESSAGE_SCAN,

	/*
	 * Over a scan's socket.  FILE (CsvFileMessage) has a request (request.h) in a
	 * memory file, and the file, if it is one; it begins a file, or the next one.
	 * No answer.  PIECE (CsvPieceMessage) goes to a place in it, where it is one; no
	 * answer.  NEXT asks for a batch: the answer is BATCH, END or FAILED.  HELD
	 * (CsvHeldMessage), after END, for groups: GROUPS, or FAILED.  Before the answer
	 * may come BLOCK, and NEED, which asks for DATA.
	 */
	CSV_MESSAGE_FILE,
	CSV_MESSAGE_PIECE,
	CSV_MESSAGE_NEXT,
	CSV_MESSAGE_HELD,
	CSV_MESSAGE_BATCH,			/* CsvBatchMessage */
	CSV_MESSAGE_GROUPS,			/* likewise */
	CSV_MESSAGE_END,			/* CsvEndMessage */
	CSV_MESSAGE_FAILED,			/* CsvFailedMessage */
	CSV_MESSAGE_BLOCK,			/* CsvBlockMessage, with its memory file */
	CSV_MESSAGE_NEED,			/* CsvDataMessage: room for bytes of the stream; */
	CSV_MESSAGE_DATA,			/* likewise: so many are there now */

	/* another request, with a query for batches to come, in a memory file.  No
	 * answer. */
	CSV_MESSAGE_QUERY,

	/* from the process that looks after the program: CsvLimitsMessage.  No answer. */
	CSV_MESSAGE_LIMITS,
	CSV_NUM_MESSAGE_KINDS
} CsvMessageKind;

typedef struct CsvHelloMessage
{
	uint32_t	kind;
	uint32_t	version;
	uint64_t	sizes;			/* of structs, in this build: csv_wire_sizes() */
	int32_t		pid;
	uint32_t	has_cuda;		/* told: the program was built with it */
} CsvHelloMessage;

/* ---- kept columns ---- */

/* a column by its number in the table, and whether as scaled integers */
typedef struct CsvKeyColumn
{
	int16_t		attnum;
	uint16_t	decimal;
} CsvKeyColumn;

/*
 * What columns are of, beside the file: a hash of all that shapes them.  Those
 * that a query wants; `positions`: and where rows start.
 */
typedef struct CsvWanted
{
	uint8_t		meaning[CSV_MEANING_BYTES];
	uint32_t	positions;
	uint32_t	ncolumns;
	CsvKeyColumn columns[CSV_MOST_KEPT_COLUMNS];
} CsvWanted;

/* a table that uses them */
typedef struct CsvTableName
{
	uint32_t	database;
	uint32_t	table;
	char		filename[CSV_NAME_BYTES];	/* as it calls the file */
} CsvTableName;

/* ends with the columns that there are, as all messages with a CsvWanted */
typedef struct CsvFindMessage
{
	uint32_t	kind;
	uint32_t	making;			/* KEEP: what room was taken for */
	CsvTableName user;
	uint64_t	nrows;			/* KEEP, */
	uint32_t	has_bad_values; /* likewise */
	uint32_t	unused;
	CsvFileIdentity file;		/* as it was opened; KEEP: and still is */
	CsvWanted	wanted;
} CsvFindMessage;

#define CSV_MOST_IDENTITIES		128

/* are there columns of all of these files? */
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
	uint32_t	found;			/* 1; 0: there are none */
	uint64_t	set;
	uint64_t	nrows;
} CsvFoundMessage;

typedef struct CsvSetMessage
{
	uint32_t	kind;
	uint32_t	unused;
	uint64_t	set;
} CsvSetMessage;

/*
 * Room for columns that are being made, nbytes in all; 0: no longer.  What was made
 * so far came from read_bytes of file_bytes of the file.
 */
typedef struct CsvRoomMessage
{
	uint32_t	kind;
	uint32_t	making;			/* the session's number for it, not 0 */
	uint64_t	nbytes;
	uint64_t	read_bytes;
	uint64_t	file_bytes;
} CsvRoomMessage;

typedef struct CsvDoneMessage
{
	uint32_t	kind;
	uint32_t	count;			/* 0: it is not; else it is, or how many */
} CsvDoneMessage;

#define CSV_MOST_GROUPING_KEYS	32

/* a column, and whether the blanks at its end are taken off first */
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

/* sets that tables of a database use */
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

/* the one used last is the first; its columns and keys of groupings follow it */
typedef struct CsvListEntry
{
	uint64_t	set;
	uint64_t	nrows;
	uint64_t	nbytes;
	int64_t		last_used;		/* microseconds since 1970 */
	CsvTableName user;
	uint32_t	ncolumns;		/* a CsvKeyColumn each */
	uint32_t	ngroupings;		/* a CsvGroupingMessage each */
	uint32_t	on_device;		/* 1: a device has had a copy at the last question */
	uint32_t	unused;
} CsvListEntry;

/* of all tables, or a table's; sets that another one uses stay */
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
	CSV_DEVICE_NONE,			/* there is no such device, or it is of no use */
	CSV_DEVICE_ASLEEP,
	CSV_DEVICE_STARTING,
	CSV_DEVICE_AWAKE
} CsvDeviceState;

/* as the user counts; or the one that has least to do */
#define CSV_ANY_DEVICE		(-1)

typedef struct CsvDeviceMessage
{
	uint32_t	kind;
	int32_t		device;
	uint32_t	wake;			/* asked: have it start, if it is asleep */
	uint32_t	state;			/* told: CsvDeviceState */
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
	char		reason[CSV_DEVICE_NAME_BYTES];	/* why not usable; else empty */
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
	uint32_t	io_threads;
} CsvScanMessage;

/* as in a CsvFilePlace */
typedef struct CsvPlaceInMessage
{
	uint64_t	offset;
	uint64_t	records;
	uint64_t	lines;
	uint64_t	alone_until;
	uint64_t	skip_line;		/* 0 or 1 */
} CsvPlaceInMessage;

typedef struct CsvFileMessage
{
	uint32_t	kind;
	uint16_t	is_stream;		/* bytes come from the session */
	uint16_t	is_shared;		/* other scans read other pieces of it */
	CsvPlaceInMessage place;	/* where it begins */
	uint64_t	file_bytes;		/* the file is read up to there; 0: to its end */
} CsvFileMessage;

/*
 * The next batch is of the records up to offset `end`, and beyond it if otherwise
 * there would be none.
 */
typedef struct CsvPieceMessage
{
	uint32_t	kind;
	uint32_t	is_last;		/* the file ends there, for whoever reads it */
	CsvPlaceInMessage place;
	uint64_t	end;
} CsvPieceMessage;

typedef struct CsvHeldMessage
{
	uint32_t	kind;
	uint32_t	first;
} CsvHeldMessage;

typedef struct CsvBatchMessage
{
	uint32_t	kind;
	uint32_t	nbytes;			/* of what follows */
	double		read_seconds;	/* of the scan, so far */
	uint32_t	first_row;		/* of those that are answered for */
	uint32_t	nrows;
	uint64_t	bytes[CSV_WIRE_BATCH_BYTES / sizeof(uint64_t) - 3];
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

typedef struct CsvEndMessage
{
	uint32_t	kind;
	uint32_t	unused;
	uint64_t	file_bytes;		/* of the file at hand: its size, or less if some of
								 * its bytes could not be read */
} CsvEndMessage;

typedef struct CsvBlockMessage
{
	uint32_t	kind;
	uint32_t	number;
	uint64_t	nbytes;
} CsvBlockMessage;

typedef struct CsvDataMessage
{
	uint32_t	kind;
	uint32_t	block;			/* NEED: where the bytes are to go */
	uint64_t	offset;
	uint64_t	nbytes;			/* 0 of DATA: the stream has ended */
} CsvDataMessage;

/* ---- what there is to say of it ---- */

/* why a session whose choice is automatic reads on the CPU what a GPU was for */
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
	uint32_t	n;				/* the host, and devices that are in use */
	uint32_t	unused;
	CsvStatistics of[1 + CSV_MOST_DEVICES];
} CsvStatisticsMessage;

typedef struct CsvLimitsMessage
{
	uint32_t	kind;
	int32_t		device;			/* that the program uses */
	uint64_t	resident_bytes;
	uint64_t	gpu_bytes;		/* on each; 0: half of what is free */
} CsvLimitsMessage;

/* any of them */
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
	CsvPieceMessage piece;
	CsvHeldMessage held;
	CsvFailedMessage failed;
	CsvEndMessage end;
	CsvBlockMessage block;
	CsvDataMessage data;
} CsvMessage;

/* bytes of a CsvFindMessage, or CsvLookMessage, with its columns */
#define CSV_WANTED_BYTES(type, ncolumns) \
	(offsetof(type, wanted.columns) + sizeof(CsvKeyColumn) * (ncolumns))

/* a hash of how large structs are that are shared: of another build, another one */
extern uint64_t csv_wire_sizes(void);

/* ---- sending ---- */

/* descriptors that came with a message, or that go with one */
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
 * Receive one, of no more than `room` bytes.  Returns its bytes; 0: the other end
 * is gone; -1 with errno, which is EAGAIN where there is none, EBADMSG where it is none
 * of ours, and EMFILE where this process may not have its descriptors.  Descriptors are
 * the caller's then, closed where the process starts another program.
 */
extern ssize_t csv_wire_receive(int socket, void *message, size_t room,
								CsvDescriptors *descriptors);
extern void csv_wire_close(CsvDescriptors *descriptors);

/* take a descriptor out, for good; -1: there is none */
extern int	csv_wire_take(CsvDescriptors *descriptors);

/* is the process at the other end one of this one's user? */
extern bool csv_wire_is_own_user(int socket);

#endif							/* CSV_MESSAGE_H */
