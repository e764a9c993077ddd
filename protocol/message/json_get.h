/* json_get.h - the members of a JSON object.
 *
 * Each call takes any object, also NULL or a value that is not an object.
 */
#pragma once

#include <cjson/cJSON.h>

/* NULL: no such member. */
static inline cJSON *json_get(const cJSON *object, const char *name)
{
	return cJSON_GetObjectItemCaseSensitive(object, name);
}

/* NULL: no such member, or it is not a string. */
static inline const char *json_get_text(const cJSON *object, const char *name)
{
	return cJSON_GetStringValue(json_get(object, name));
}

/* "" in place of NULL. */
static inline const char *json_get_text_or_empty(const cJSON *object,
						 const char *name)
{
	const char *text = json_get_text(object, name);

	return text ? text : "";
}
