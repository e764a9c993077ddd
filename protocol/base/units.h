/* units.h - times and sizes as people write them, with a unit.
 */
#pragma once

#include "protocol/base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* A time as number and unit: 500ms, 90s, 15m, 2h, 1.5d; or plain 0. EINVAL: it
 * is none, or not from min_ms to max_ms.
 */
int duration_parse(const char *text, uint64_t min_ms, uint64_t max_ms,
		   uint64_t *out, struct error *err);

/* Bytes, as a plain integer or with a power of 1024: 64K, 32M, 1.5G, 2T, each
 * also with B or iB behind it. EINVAL: as above.
 */
int size_parse(const char *text, uint64_t min, uint64_t max, uint64_t *out,
	       struct error *err);

/* What these calls expect: "a time with its unit (500ms, 90s, 15m, 2h, 1d) from
 * 1s to 1d". Returns text.
 */
#define UNITS_ALLOWED_BYTES 160
char *duration_allowed(uint64_t min_ms, uint64_t max_ms,
		       char text[UNITS_ALLOWED_BYTES]);
char *size_allowed(uint64_t min, uint64_t max, char text[UNITS_ALLOWED_BYTES]);

/* "2026-05-04T03:02:01Z" of milliseconds since 1970; "-" past the year 9999.
 * Returns text.
 */
#define UTC_SIZE 24
const char *utc_text(int64_t ms, char text[UTC_SIZE]);

/* A decimal number at the start of the text; *end: what follows it. false:
 * none, or hexadecimal, infinite or no number.
 */
bool decimal_parse(const char *text, double *number, const char **end);

/* The value with so many decimal digits (1 to 15): the nearest double to them,
 * so writing them as text and reading them gives it again. What is not finite,
 * or has no such digits, stays.
 */
double round_digits(double value, int digits);
