/* value.h - typed readers of the values of a document.
 *
 * Values belong to their document (protocol/yaml/document.h) and are read-only.
 */
#pragma once

#include "protocol/base/error.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct value;

enum value_kind {
	VALUE_NULL,   /* nothing, ~ or null, not quoted */
	VALUE_SCALAR, /* a number, a bool, a string */
	VALUE_LIST,
	VALUE_MAP,
};

enum value_kind value_kind(const struct value *value);
unsigned value_line(const struct value *value); /* from 1 */
const char *value_file(const struct value *value);

/* A scalar's text as written, without quotes and with escapes resolved: UTF-8,
 * no NUL inside. "" for the other kinds. value_quoted(): the scalar is quoted,
 * so it is a string, never a number or a bool.
 */
const char *value_text(const struct value *value);
bool value_quoted(const struct value *value);

/* The items of a list or entries of a map, in the order of the text (merged
 * ones last); 0 for other kinds. value_at() is NULL past the end.
 */
size_t value_count(const struct value *value);
const struct value *value_at(const struct value *value, size_t index);

/* The key of a map's entry, and its line. */
const char *value_key(const struct value *map, size_t index);
unsigned value_key_line(const struct value *map, size_t index);

/* The value of a key. NULL: no such key, or map is NULL or not a map. A key
 * without a value gives a VALUE_NULL.
 */
const struct value *value_get(const struct value *map, const char *key);

/* The path of the value: "matrix.layout[2].parallel.tp"; "" for the root. Cut
 * to size.
 */
void value_path(const struct value *value, char *buffer, size_t size);

/* The value as error texts name it: `"two"`, `a list of 3 entries`,
 * `an empty map`, `nothing`. */
void value_found(const struct value *value, char *buffer, size_t size);

/* Set *err to EINVAL with the text "file:line: path: " and the formatted text;
 * return -1. value_key_error() uses the line and path of an entry's key.
 */
int value_error(const struct value *value, struct error *err, const char *fmt,
		...) __attribute__((format(printf, 3, 4)));
int value_key_error(const struct value *map, size_t index, struct error *err,
		    const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* The same with `FOUND is not valid here; expected ` and the formatted text;
 * FOUND is value_found().
 */
int value_invalid(const struct value *value, struct error *err, const char *fmt,
		  ...) __attribute__((format(printf, 3, 4)));

/* 0 if the value is of this kind, else -1 with EINVAL. */
int value_expect(const struct value *value, enum value_kind kind,
		 struct error *err);

/* Typed readers: 0 with *out set, or -1 with *out unchanged and EINVAL, whose
 * text says where, what was found and what is allowed. The value must not be
 * NULL: for a default, check value_get() first.
 */

/* A plain integer: 12, -3, 0x1f, 0o17. */
int value_u64(const struct value *value, uint64_t min, uint64_t max,
	      uint64_t *out, struct error *err);
int value_u32(const struct value *value, uint32_t min, uint32_t max,
	      uint32_t *out, struct error *err);
int value_i64(const struct value *value, int64_t min, int64_t max, int64_t *out,
	      struct error *err);

/* A plain number, 1.5e9 or 12; never infinite or NaN. */
int value_double(const struct value *value, double min, double max, double *out,
		 struct error *err);

/* Plain true or false. */
int value_bool(const struct value *value, bool *out, struct error *err);

/* Any scalar, as its text (12 is "12"), of 1 to max bytes. *out is borrowed
 * from the document.
 */
int value_string(const struct value *value, size_t max, const char **out,
		 struct error *err);

/* A time (protocol/base/units.h). */
int value_duration_ms(const struct value *value, uint64_t min_ms,
		      uint64_t max_ms, uint64_t *out, struct error *err);

/* Bytes (protocol/base/units.h). */
int value_size_bytes(const struct value *value, uint64_t min, uint64_t max,
		     uint64_t *out, struct error *err);

/* A share above 0 and up to 1: 2% or 0.02. */
int value_share(const struct value *value, double *out, struct error *err);

/* One of the words (an array that ends in NULL): *out is its index. The error
 * names the nearest word.
 */
int value_enum(const struct value *value, const char *const *words, size_t *out,
	       struct error *err);

/* The value is a map with no other keys than these (an array that ends in
 * NULL). The error names the nearest one.
 */
int value_check_keys(const struct value *map, const char *const *keys,
		     struct error *err);

/* The value as JSON. Plain numbers and bools become numbers and bools; quoted
 * ones stay strings. The caller deletes the result. NULL: no memory.
 */
cJSON *value_to_json(const struct value *value);
