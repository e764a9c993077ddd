/* sections.h - what rules with `to` catch, kept in rows until it is printed.
 *
 * log_rules.h says what `row` makes of a match. A row that a lower rank wrote
 * is not replaced by a higher one. Beyond SECTION_ROWS_MAX rows a section takes
 * no more.
 */
#ifndef CONTROLLER_RESULTS_DOCUMENT_SECTIONS_H
#define CONTROLLER_RESULTS_DOCUMENT_SECTIONS_H

#include "controller/results/extract.h"

#include <cjson/cJSON.h>

#define SECTION_ROWS_MAX 65536
#define SECTION_TEXT_MAX 256 /* bytes of a text in a row */

struct sections;

struct sections *sections_new(struct error *err);
void sections_free(struct sections *sections);
OWNED_POINTER(struct sections, sections_free)

/* Hear of what the extract catches; the sections must live as long. */
void sections_listen(struct sections *sections, struct extract *extract);

bool sections_empty(const struct sections *sections);

/* How many rows; 0: there is no such section. */
size_t section_count(const struct sections *sections, const char *name);

/* A row, or NULL: an object or array, borrowed. Those with a key come in its
 * order, and *key is it.
 */
const cJSON *section_row(const struct sections *sections, const char *name,
			 size_t row, double *key);

/* The number at a name in a row that is an object; NaN: none. */
double row_number(const cJSON *row, const char *name);

/* All sections, each under its name, into an object. -1: no memory. */
int sections_print(const struct sections *sections, cJSON *object);

/* Steps before which an evaluation was: has this one? */
bool sections_evaluated(const struct sections *sections, uint64_t step);

/* A number as JSON has it: "nan", "inf" and "-inf" are texts. */
cJSON *number_json(double number);

#endif
