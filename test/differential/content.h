/*
 * content.h
 *		Random files: well formed, nearly well formed, and hostile.
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

extern void content_make(Content *content, Case *test_case, Choices *choices);
extern void content_free(Content *content);

#endif							/* CSV_TEST_CONTENT_H */
