/* visitor.h - calls a function for every match of an extract, also in sections.
 */
#ifndef CONTROLLER_RESULTS_VISITOR_H
#define CONTROLLER_RESULTS_VISITOR_H

#include "controller/results/rules/rules.h"

/* Called for each match, before the extract uses it. Returns 0, or -1 on
 * ENOMEM, which ends the reading. Texts are valid during the call.
 */
typedef int extract_fn(const struct captured *captured, void *arg);
void extract_visit(struct extract *extract, extract_fn *fn, void *arg);

/* The names of the captured values; borrowed. */
const struct fields *extract_fields(const struct extract *extract);

#endif
