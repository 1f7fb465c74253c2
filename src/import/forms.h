/*
 * forms.h
 *		Options for the forms that values have: words for missing ones, patterns of dates,
 *		separators of thousands.
 */
#ifndef CSV_FORMS_H
#define CSV_FORMS_H

#include "import/findings.h"

/*
 * Decide them by all values that were read, with a NOTICE of each guess.  In the current
 * memory context.
 */
extern void csv_find_forms(CsvFindings *findings, CsvInferrer *inferrer);

#endif							/* CSV_FORMS_H */
