/* template.h - cells of images/flagperf.yaml, filled for one case.
 */
#ifndef CONTROLLER_SWEEP_FLAGPERF_TEMPLATE_H
#define CONTROLLER_SWEEP_FLAGPERF_TEMPLATE_H

#include "controller/sweep/flagperf/names.h"

#include <cjson/cJSON.h>

/* Put what the template, a map, makes of the names over what the object has:
 * maps are merged, the rest is replaced. A text that is not quoted and makes a
 * whole number or a bool is one; what makes an empty text is left out, but in
 * lists.
 */
int template_fill(const struct value *template, const struct names *names,
		  cJSON *cell, struct error *err);

/* The texts of a list, behind those that are there. */
int template_list(const struct value *template, const struct names *names,
		  cJSON *list, struct error *err);

#endif
