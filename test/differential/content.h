/*
 * content.h
 *		Files of the tests: bytes that grow, and random ones: well formed, nearly
 *		well formed, and hostile.
 */
#ifndef CSV_TEST_CONTENT_H
#define CSV_TEST_CONTENT_H

#include "case.h"

typedef struct Content
{
	uint8_t    *bytes;
	size_t		nbytes;
	size_t		capacity;
} Content;

/* all zeros is an empty one; where there is no memory, the process ends */
extern void content_put(Content *content, const void *bytes, size_t nbytes);
extern void content_byte(Content *content, uint8_t byte);
extern void content_string(Content *content, const char *string);
extern void content_repeat(Content *content, const char *string, size_t times);

/* of at most 511 bytes */
extern void content_format(Content *content, const char *format, ...)
			__attribute__((format(printf, 2, 3)));
extern void content_free(Content *content);

/* a file in place of what is there; its record limit may come to be the case's */
extern void content_make(Content *content, Case *test_case, Choices *choices);

/* a content that is read as a file; content_read() is a CsvReadFn for it */
typedef struct ContentSource
{
	const Content *file;
	size_t		position;
} ContentSource;

extern size_t content_read(void *source, uint8_t *buffer, size_t nbytes);

#endif							/* CSV_TEST_CONTENT_H */
