/* labels.h - labels of nodes: key=value texts by which sweeps choose nodes.
 *
 * Key and value contain no blanks and no commas, so that lists of labels need
 * no quotes.
 */
#ifndef CONTROLLER_NODES_LABELS_H
#define CONTROLLER_NODES_LABELS_H

#include "protocol/base/error.h"

#include <cjson/cJSON.h>

#define LABELS_MAX 64 /* of one node */

/* A new object: `now` (NULL: none) with the texts of `change` set and its nulls
 * removed. NULL with *err set: EINVAL, E2BIG, ENOMEM.
 */
cJSON *labels_merge(const cJSON *now, const cJSON *change, struct error *err);

/* ",key=value,key=value,", the form of a slot's labels (scheduler.h); NULL:
 * none, or ENOMEM. The caller frees it.
 */
char *labels_text(const cJSON *labels);

#endif
