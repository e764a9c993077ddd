/* secret.h - overwrites memory that held a secret before it is released.
 *
 * All of them take NULL and what is empty.
 */
#pragma once

#include "protocol/base/buffer.h"
#include "protocol/base/error.h"
#include "protocol/base/owned.h"
#include "protocol/base/strings.h"

#include <cjson/cJSON.h>
#include <stddef.h>

void secret_free(char *text);
OWNED_POINTER(char, secret_free)
void secret_buffer_clear(struct buffer *buffer);
OWNED_VALUE(struct buffer, secret_buffer_clear)
void secret_json_free(cJSON *tree);
OWNED_POINTER(cJSON, secret_json_free)

/* The tree as one line of JSON of at most max bytes, on the heap, for
 * secret_free(). E2BIG; ENOMEM.
 */
char *secret_json_print(const cJSON *tree, size_t max, struct error *err);
