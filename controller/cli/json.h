/* json.h - what a controller answered, read without trust.
 *
 * An answer may lack what we look for, hold another type, or know more than we
 * do (a newer controller): a reader then gives nothing (0, "", NULL), never an
 * error. Every function takes NULL for the object.
 */
#ifndef CONTROLLER_CLI_JSON_H
#define CONTROLLER_CLI_JSON_H

#include "protocol/base/owned.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

static inline void json_free(cJSON *json)
{
	cJSON_Delete(json);
}
OWNED_POINTER(cJSON, json_free)

const cJSON *json_get(const cJSON *object, const char *name);

/* A list or NULL, so that cJSON_ArrayForEach() walks it. */
const cJSON *json_list(const cJSON *object, const char *name);
const char *json_text(const cJSON *object, const char *name); /* or "" */
bool json_bool(const cJSON *object, const char *name);

/* A whole number, also as a decimal string; negative or broken is 0. */
uint64_t json_u64(const cJSON *object, const char *name);

/* NaN where there is no number. */
double json_double(const cJSON *object, const char *name);

/* Put the rows of a list into the order of their texts of this name, in which
 * n2 comes before n10. Without memory they stay as they are.
 */
void json_sort(cJSON *rows, const char *name);

#endif
