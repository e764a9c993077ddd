/* sequence.c - what a cell says of the order of jobs: after, same_nodes, until.
 */
#include "controller/cell/sequence.h"

#include "controller/cell/keys.h"

#include <stdio.h>

#define FOLLOWS_BYTES 240
#define CONFIDENCE 0.95
#define REPEATS_MAX 10

static int read_until(const struct value *const *values,
		      struct until_spec *until, struct error *err)
{
	const struct value *confidence = values[KEY_UNTIL_CONFIDENCE];
	const struct value *width = values[KEY_UNTIL_WIDTH];
	const struct value *max = values[KEY_UNTIL_MAX];

	if (!width && (confidence || max))
		return value_error(confidence ? confidence : max, err,
				   "missing width (expected the precision of "
				   "the rate, until: {width: 1%%})");
	if (!width)
		return 0;
	until->confidence = CONFIDENCE;
	until->max = REPEATS_MAX;
	if (value_share(width, &until->width, err) < 0 ||
	    (confidence && value_double(confidence, 0.5, 0.999,
					&until->confidence, err) < 0) ||
	    (max && value_u32(max, (uint32_t)key_rules[KEY_UNTIL_MAX].min,
			      (uint32_t)key_rules[KEY_UNTIL_MAX].max,
			      &until->max, err) < 0))
		return -1;
	return 0;
}

int sequence_read(const struct value *const *values, struct job_spec *spec,
		  struct error *err)
{
	const struct value *after = values[KEY_AFTER];
	char words[FOLLOWS_BYTES] = "";
	size_t used = 0;

	if (read_until(values, &spec->until, err) < 0)
		return -1;
	if (!after)
		return 0;
	if (!value_count(after))
		return value_error(after, err,
				   "an empty map is not valid here; expected "
				   "values of other cells");
	for (size_t i = 0; i < value_count(after) && used < sizeof(words); i++)
		used += (size_t)snprintf(words + used, sizeof(words) - used,
					 "%s%s=%s", i ? " " : "",
					 value_key(after, i),
					 value_text(value_at(after, i)));
	spec->same_nodes = true;
	if (values[KEY_SAME_NODES] &&
	    value_bool(values[KEY_SAME_NODES], &spec->same_nodes, err) < 0)
		return -1;
	return string_set(&spec->follows, words, err);
}
