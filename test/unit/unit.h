/*
 * unit.h
 *		For the unit tests: cmocka, and what nearly all of them include.
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

#endif							/* CSV_TEST_UNIT_H */
