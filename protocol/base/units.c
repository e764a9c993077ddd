/* units.c - times and sizes as people write them, with a unit.
 */
#include "protocol/base/units.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const char *utc_text(int64_t ms, char text[UTC_SIZE])
{
	time_t seconds = (time_t)(ms / 1000);
	struct tm time;

	if (!gmtime_r(&seconds, &time) ||
	    !strftime(text, UTC_SIZE, "%Y-%m-%dT%H:%M:%SZ", &time))
		snprintf(text, UTC_SIZE, "-");
	return text;
}

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

struct quantity {
	const char *allowed; /* what is expected, before the limits */
	struct unit units[16];
};

/* clang-format off */
static const struct quantity duration = {
	"a time with its unit (500ms, 90s, 15m, 2h, 1d)",
	{ { "ms", 1 }, { "s", 1e3 }, { "m", 60e3 }, { "h", 3600e3 },
	  { "d", 86400e3 } },
};
static const struct quantity size = {
	"bytes (a number, or 64K, 32M, 1.5G, 2T)",
	{ { "", 1 }, { "B", 1 },
	  { "K", 0x1p10 }, { "KB", 0x1p10 }, { "KiB", 0x1p10 },
	  { "M", 0x1p20 }, { "MB", 0x1p20 }, { "MiB", 0x1p20 },
	  { "G", 0x1p30 }, { "GB", 0x1p30 }, { "GiB", 0x1p30 },
	  { "T", 0x1p40 }, { "TB", 0x1p40 }, { "TiB", 0x1p40 } },
};
/* clang-format on */

/* A number with one of the units behind it, rounded to a whole. Plain zero
 * needs no unit. The result is below 2^63.
 */
static bool units_read_number(const struct unit *units, const char *text,
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

/* The largest unit that the number is a multiple of: "64M", "1d". */
static const struct unit *units_choose_unit(uint64_t number,
					    const struct unit *units)
{
	const struct unit *best = units;

	for (; number && units->name; units++)
		if (units->factor > best->factor &&
		    number % (uint64_t)units->factor == 0)
			best = units;
	return best;
}

static char *allowed(const struct quantity *quantity, uint64_t min,
		     uint64_t max, char text[UNITS_ALLOWED_BYTES])
{
	const struct unit *from = units_choose_unit(min, quantity->units);
	const struct unit *to = units_choose_unit(max, quantity->units);

	snprintf(text, UNITS_ALLOWED_BYTES,
		 "%s from %" PRIu64 "%s to %" PRIu64 "%s", quantity->allowed,
		 min / (uint64_t)from->factor, from->name,
		 max / (uint64_t)to->factor, to->name);
	return text;
}

static int units_parse_number(const struct quantity *quantity, const char *text,
			      uint64_t min, uint64_t max, uint64_t *out,
			      struct error *err)
{
	char expected[UNITS_ALLOWED_BYTES];
	uint64_t number;

	if (!units_read_number(quantity->units, text, &number) ||
	    number < min || number > max)
		return error_set(err, EINVAL,
				 "'%.60s' is not valid here; expected %s", text,
				 allowed(quantity, min, max, expected));
	*out = number;
	return 0;
}

int duration_parse(const char *text, uint64_t min_ms, uint64_t max_ms,
		   uint64_t *out, struct error *err)
{
	return units_parse_number(&duration, text, min_ms, max_ms, out, err);
}

int size_parse(const char *text, uint64_t min, uint64_t max, uint64_t *out,
	       struct error *err)
{
	return units_parse_number(&size, text, min, max, out, err);
}

char *duration_allowed(uint64_t min_ms, uint64_t max_ms,
		       char text[UNITS_ALLOWED_BYTES])
{
	return allowed(&duration, min_ms, max_ms, text);
}

char *size_allowed(uint64_t min, uint64_t max, char text[UNITS_ALLOWED_BYTES])
{
	return allowed(&size, min, max, text);
}

double round_digits(double value, int digits)
{
	double places = value == 0 ? 0 : digits - 1 - floor(log10(fabs(value)));
	double unit = pow(10, fabs(places)), rounded;

	rounded = places < 0 ? round(value / unit) * unit
			     : round(value * unit) / unit;
	return isfinite(rounded) ? rounded : value;
}
