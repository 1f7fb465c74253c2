/*
 * unit.h
 *		For the unit tests: cmocka, what nearly all of them include, and TEST(),
 *		with which a test needs no place in a list: main() is in unit.c.
 */
#ifndef CSV_TEST_UNIT_H
#define CSV_TEST_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* tests run in the order in which they stand in a program's file */
#define TEST(name) \
	static void name(void **state); \
	static __attribute__((constructor)) void \
	add_##name(void) \
	{ \
		add_unit_test(#name, name); \
	} \
	static void \
	name(void **state __attribute__((unused)))

extern void add_unit_test(const char *name, CMUnitTestFunction test);

/* a program may have these; they return 0, or the tests have failed */
extern int	before_all(void **state) __attribute__((weak));
extern int	after_all(void **state) __attribute__((weak));
extern int	before_each(void **state) __attribute__((weak));
extern int	after_each(void **state) __attribute__((weak));

#endif							/* CSV_TEST_UNIT_H */
