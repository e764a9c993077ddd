/* json_object.h - reads and builds JSON objects: rows, results, samples.
 */
#pragma once

#include "protocol/message/codec.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

/* The value at a path like "result.loss.last"; NULL: not there. */
const cJSON *row_at(const cJSON *row, const char *path);

/* The text there; NULL: none. */
const char *row_text(const cJSON *row, const char *path);

/* The number at a path; NAN: none. */
double row_double(const cJSON *row, const char *path);

/* A number, or its number_word(). The caller deletes it; NULL: ENOMEM. */
cJSON *number_json(double number);

/* Add to an object, or with the name NULL to a list. *failed becomes true if
 * memory runs out, also for an item or object that is NULL. The item is owned.
 */
void json_add(cJSON *to, const char *name, cJSON *item, bool *failed);
/* null if the number is not finite, or the text is NULL. */
void json_add_number(cJSON *to, const char *name, double number, bool *failed);
void json_add_text(cJSON *to, const char *name, const char *text, bool *failed);
/* A copy; null if the item is NULL. */
void json_add_copy(cJSON *to, const char *name, const cJSON *item,
		   bool *failed);
