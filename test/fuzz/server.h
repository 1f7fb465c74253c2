/*
 * server.h
 *		What fuzz_sniff.c chooses of the server that it does without.
 */
#ifndef FUZZ_SERVER_H
#define FUZZ_SERVER_H

#include <setjmp.h>

#include "nodes/pg_list.h"

typedef struct FuzzServer
{
	int			encoding;		/* of the database */
	int			file_encoding;
	List	   *options;		/* what somebody said of the file */
	const uint8_t *bytes;		/* of the file */
	size_t		nbytes;
	jmp_buf		error;			/* where an ERROR goes */
} FuzzServer;

extern FuzzServer fuzz_server;

/* gets each row that the function returns */
extern void fuzz_check_row(char **values);

#endif							/* FUZZ_SERVER_H */
