/* value_json.h - a value of a document as JSON.
 */
#ifndef PROTOCOL_YAML_VALUE_JSON_H
#define PROTOCOL_YAML_VALUE_JSON_H

#include "protocol/yaml/value.h"

#include <cjson/cJSON.h>

/* Numbers and bools are what they look like, unless they are quoted. The
 * caller deletes it; NULL: no memory.
 */
cJSON *value_to_json(const struct value *value);

#endif
