/* visitor.h - hear of every match of an extract, those of sections too.
 */
#ifndef CONTROLLER_RESULTS_VISITOR_H
#define CONTROLLER_RESULTS_VISITOR_H

#include "controller/results/rules/rules.h"

/* Runs for each match, before the extract itself uses it. 0, or -1: no memory,
 * which ends the reading. Texts are borrowed and die with the call.
 */
typedef int extract_fn(const struct caught *caught, void *arg);
void extract_visit(struct extract *extract, extract_fn *fn, void *arg);

/* The names of what is caught; borrowed. */
const struct fields *extract_fields(const struct extract *extract);

#endif
