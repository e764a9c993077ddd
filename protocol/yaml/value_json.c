/* value_json.c - a value of a document as JSON.
 */
#include "protocol/yaml/value_json.h"

#include <string.h>

cJSON *value_to_json(const struct value *value)
{
	const char *text = value_text(value);
	bool plain = !value_quoted(value);
	double number;
	bool yes;
	cJSON *list;

	if (value_kind(value) == VALUE_SCALAR) {
		if (plain && strchr("+-.0123456789", *text) &&
		    !value_double(value, -1e300, 1e300, &number, NULL))
			return cJSON_CreateNumber(number);
		if (plain && !value_bool(value, &yes, NULL))
			return cJSON_CreateBool(yes);
		return cJSON_CreateString(text);
	}
	list = value_kind(value) == VALUE_MAP ? cJSON_CreateObject()
					      : cJSON_CreateArray();
	for (size_t i = 0; list && i < value_count(value); i++) {
		cJSON *item = value_to_json(value_at(value, i));

		if (!item ||
		    !(value_kind(value) == VALUE_MAP
			      ? cJSON_AddItemToObject(list, value_key(value, i),
						      item)
			      : cJSON_AddItemToArray(list, item))) {
			cJSON_Delete(item);
			cJSON_Delete(list);
			return NULL;
		}
	}
	return list;
}
