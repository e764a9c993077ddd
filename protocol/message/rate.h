/* rate.h - how fast a job trains, in the one unit that its output allows.
 *
 * The rate of a job is token/p/s where tokens are known, else samples per
 * second and device, else steps per second. Each place that shows, stores or
 * compares a rate uses this one, and names its unit; rates of different units
 * are not compared.
 */
#pragma once

#include "protocol/message/result.h"

enum rate_unit {
	RATE_NONE,
	RATE_TOKENS,  /* per second and device */
	RATE_SAMPLES, /* the same */
	RATE_STEPS,   /* per second; of the whole job */
	RATE_UNITS
};

/* "token/p/s", "sample/p/s", "step/s" by unit, as JSON has them, too. RATE_NONE
 * is ""; NULL ends the list.
 */
extern const char *const rate_units[RATE_UNITS + 1];

/* A uint32_t in a message; RATE_NONE is left out. */
#define FIELD_RATE_UNIT(t, m)                                                  \
	FIELD_(t, m, FIELD_ENUM, .names = rate_units, .optional = true)

struct rate {
	double value; /* above 0; NAN: none */
	uint32_t unit;
};

/* The first of these rates that is known: a positive number. Samples are over
 * all devices; devices 0: not known, so samples are not.
 */
struct rate rate_of(double tokens_per_device, double samples, uint64_t devices,
		    double steps);

/* The rate of a result, which may be NULL. */
struct rate result_rate(const struct result *result);
