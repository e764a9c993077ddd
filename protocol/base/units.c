/* units.c - times and sizes as people write them, with a unit.
 */
#include "protocol/base/units.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool decimal_parse(const char *text, double *number, const char **end)
{
	const char *at = text + (*text == '-' || *text == '+');
	char *after;

	/* strtod would also take blanks, hexadecimals, "inf" and "nan". */
	if (!(*at >= '0' && *at <= '9') && *at != '.')
		return false;
	if (at[0] == '0' && (at[1] == 'x' || at[1] == 'X'))
		return false;
	*number = strtod(text, &after);
	*end = after;
	return after != text && isfinite(*number);
}

struct unit {
	const char *name;
	double factor;
};

/* A number with one of the units behind it, rounded to a whole. Plain zero
 * needs no unit. The result is below 2^63.
 */
static bool parse_units(const char *text, const struct unit *units,
			uint64_t *out)
{
	const char *end;
	double number;

	if (!decimal_parse(text, &number, &end) || number < 0)
		return false;
	if (!*end && number == 0) {
		*out = 0;
		return true;
	}
	for (; units->name; units++) {
		if (strcasecmp(units->name, end))
			continue;
		number = round(number * units->factor);
		if (number >= 0x1p63)
			return false;
		*out = (uint64_t)number;
		return true;
	}
	return false;
}

/* In the largest unit that it is a multiple of: "64M", "1d". */
static char *in_units(uint64_t number, const struct unit *units,
		      char text[UNITS_BYTES])
{
	const struct unit *best = units;

	for (; number && units->name; units++)
		if (units->factor > best->factor &&
		    number % (uint64_t)units->factor == 0)
			best = units;
	snprintf(text, UNITS_BYTES, "%" PRIu64 "%s",
		 number / (uint64_t)best->factor, best->name);
	return text;
}

/* clang-format off */
static const struct unit durations[] = {
	{ "ms", 1 }, { "s", 1e3 }, { "m", 60e3 }, { "h", 3600e3 },
	{ "d", 86400e3 }, { NULL, 0 },
};
/* clang-format on */

char *duration_text(uint64_t ms, char text[UNITS_BYTES])
{
	return in_units(ms, durations, text);
}

int duration_parse(const char *text, uint64_t min_ms, uint64_t max_ms,
		   uint64_t *out, struct error *err)
{
	char from[UNITS_BYTES], to[UNITS_BYTES];
	uint64_t number;

	if (!parse_units(text, durations, &number) || number < min_ms ||
	    number > max_ms)
		return error_set(err, EINVAL,
				 "'%.60s' is not valid here; "
				 "expected " DURATION_ALLOWED,
				 text, duration_text(min_ms, from),
				 duration_text(max_ms, to));
	*out = number;
	return 0;
}

/* clang-format off */
static const struct unit sizes[] = {
	{ "", 1 }, { "B", 1 },
	{ "K", 0x1p10 }, { "KB", 0x1p10 }, { "KiB", 0x1p10 },
	{ "M", 0x1p20 }, { "MB", 0x1p20 }, { "MiB", 0x1p20 },
	{ "G", 0x1p30 }, { "GB", 0x1p30 }, { "GiB", 0x1p30 },
	{ "T", 0x1p40 }, { "TB", 0x1p40 }, { "TiB", 0x1p40 },
	{ NULL, 0 },
};
/* clang-format on */

char *size_text(uint64_t bytes, char text[UNITS_BYTES])
{
	return in_units(bytes, sizes, text);
}

int size_parse(const char *text, uint64_t min, uint64_t max, uint64_t *out,
	       struct error *err)
{
	char from[UNITS_BYTES], to[UNITS_BYTES];
	uint64_t number;

	if (!parse_units(text, sizes, &number) || number < min || number > max)
		return error_set(err, EINVAL,
				 "'%.60s' is not valid here; "
				 "expected " SIZE_ALLOWED,
				 text, size_text(min, from),
				 size_text(max, to));
	*out = number;
	return 0;
}

/* "a, b or c", cut where the sentence would be too long to read. */
