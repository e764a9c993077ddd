/* template.h - fills the cell templates of images/flagperf.yaml for one case.
 */
#pragma once

#include "controller/sweep/flagperf/names.h"

#include <cjson/cJSON.h>

/* Put the item into the object, in place of an earlier one of that name, or
 * behind the others of the list. The item is taken over, also on failure; NULL:
 * ENOMEM.
 */
int json_put(cJSON *object, const char *name, cJSON *item, struct error *err);
int json_append(cJSON *list, cJSON *item, struct error *err);

/* Fill the template, a map, and merge the result into the object: maps are
 * merged, other values replaced. An unquoted text that becomes an integer or a
 * bool is stored as one. Empty texts are left out, except in lists.
 */
int template_fill(const struct value *template, const struct names *names,
		  cJSON *cell, struct error *err);

/* Fill a list of templates and append the texts to the list. */
int template_list(const struct value *template, const struct names *names,
		  cJSON *list, struct error *err);
