/* secret.h - memory that held a secret is overwritten before it is given back.
 *
 * All of them take NULL and what is empty.
 */
#ifndef PROTOCOL_SECRET_H
#define PROTOCOL_SECRET_H

#include "protocol/buffer.h"
#include "protocol/codec.h"
#include "protocol/error.h"
#include "protocol/owned.h"

#include <cjson/cJSON.h>
#include <stddef.h>

void secret_free(char *text);
OWNED_POINTER(char, secret_free)
void secret_strings_clear(struct strings *strings);
OWNED_VALUE(struct strings, secret_strings_clear)
void secret_buffer_clear(struct buffer *buffer);
OWNED_VALUE(struct buffer, secret_buffer_clear)
void secret_json_free(cJSON *tree);
OWNED_POINTER(cJSON, secret_json_free)

/* The tree as one line of JSON of at most max bytes, on the heap, for
 * secret_free(). E2BIG; ENOMEM.
 */
char *secret_json_print(const cJSON *tree, size_t max, struct error *err);

#endif
