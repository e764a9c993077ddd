/* value_json.h - converts a value of a document to JSON.
 */
#ifndef PROTOCOL_YAML_VALUE_JSON_H
#define PROTOCOL_YAML_VALUE_JSON_H

#include "protocol/yaml/value.h"

#include <cjson/cJSON.h>

/* Plain numbers and bools become JSON numbers and bools; quoted ones stay
 * strings. The caller deletes the result. NULL: no memory.
 */
cJSON *value_to_json(const struct value *value);

#endif
