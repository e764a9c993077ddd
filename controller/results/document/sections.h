/* sections.h - keeps the matches of rules with `to` in rows until they are
 * printed.
 *
 * log_rules.h explains `row`. A row of a lower rank is not replaced by a higher
 * rank. A section ignores further rows after SECTION_ROWS_MAX.
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

/* Receive the extract's matches. The sections must outlive the extract. */
void sections_listen(struct sections *sections, struct extract *extract);

bool sections_empty(const struct sections *sections);

/* The number of rows; 0: no such section. */
size_t section_count(const struct sections *sections, const char *name);

/* A row (an object or array, borrowed), or NULL. Rows with a key are sorted by
 * it; *key is the key.
 */
const cJSON *section_row(const struct sections *sections, const char *name,
			 size_t row, double *key);

/* Add all sections, each under its name, to an object. -1: no memory. */
int sections_print(const struct sections *sections, cJSON *object);

/* Did an evaluation run just before this step? */
bool sections_evaluated(const struct sections *sections, uint64_t step);

#endif
