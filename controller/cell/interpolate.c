/* interpolate.c - replaces ${placeholders} in a text by their values. */
#include "controller/cell/interpolate.h"

#include "protocol/base/nearest_word.h"

#include <errno.h>
#include <string.h>

/* clang-format off */
static const char *const runtime_names[] = {
	"MASTER_ADDR", "MASTER_PORT", "NODE_RANK", "NNODES", "NPROC_PER_NODE",
	"WORLD_SIZE", "NODE_ADDRESSES", "NODE_ENDPOINTS_JSON", "HOSTFILE",
	"NODE_ADDRESS", "INTERFACE", "ROUND", "START_TIME",
	NULL,
};
/* clang-format on */

static bool runtime_name(const char *name)
{
	for (size_t i = 0; runtime_names[i]; i++)
		if (!strcmp(name, runtime_names[i]))
			return true;
	return false;
}

/* Names that people write for the number of the repeat. Similar ones, such as
 * ${repeat}, are the same in all repeats.
 */
static bool means_round(const char *name)
{
	static const char *const names[] = { "repeat",    "repetition", "round",
					     "repeat_id", "seed",       "trial",
					     "run",       NULL };

	for (size_t i = 0; names[i]; i++)
		if (!strcasecmp(name, names[i]))
			return true;
	return false;
}

static int unknown_name(const struct interpolator *filler, const char *name,
			const struct value *place, struct error *err)
{
	const char *nearest =
		filler->nearest ? filler->nearest(filler->arg, name) : NULL;

	if (means_round(name))
		return value_error(place, err,
				   "${%.60s} is not defined; ${ROUND} is the "
				   "number of the repeat, from 1, and can be "
				   "its seed",
				   name);
	if (!nearest)
		nearest = nearest_word(name, runtime_names);
	if (nearest)
		return value_error(place, err,
				   "${%.60s} is not defined; did you mean "
				   "${%.60s}?",
				   name, nearest);
	return value_error(place, err,
			   "${%.60s} is not defined; expected a key of the "
			   "sweep, a property of the model, or a name such as "
			   "${NODE_RANK}",
			   name);
}

static int interpolate_name(const struct interpolator *filler, const char *name,
			    bool runtime, const struct value *place,
			    struct buffer *out, struct error *err)
{
	struct error why = { 0 };
	int found;

	if (runtime_name(name)) {
		if (runtime)
			return buffer_printf(out, err, "${%s}", name);
		return value_error(place, err,
				   "${%s} is not valid here; it is set when a "
				   "task starts, and can be used in command, "
				   "env and follow",
				   name);
	}
	found = filler->lookup(filler->arg, name, out, &why);
	if (found < 0 && why.code == ENOMEM)
		return error_nomem(err, value_file(place));
	if (found < 0)
		return value_error(place, err, "${%.60s}: %s", name, why.text);
	return found ? 0 : unknown_name(filler, name, place, err);
}

int interpolate(const struct interpolator *filler, const char *text,
		bool runtime, const struct value *place, struct buffer *out,
		struct error *err)
{
	while (*text) {
		size_t plain = strcspn(text, "$");
		const char *end;
		char name[INTERPOLATE_NAME_MAX + 1];

		if (buffer_append(out, text, plain, err) < 0)
			return -1;
		text += plain;
		if (text[0] != '$')
			break;
		if (text[1] != '{') {
			if (buffer_append(out, "$", 1, err) < 0)
				return -1;
			text += text[1] == '$' ? 2 : 1;
			continue;
		}
		end = strchr(text, '}');
		if (!end || end == text + 2 ||
		    (size_t)(end - text - 2) > INTERPOLATE_NAME_MAX)
			return value_error(place, err,
					   "\"%.40s\" is not valid here; "
					   "expected ${name}, or $$ for one $",
					   text);
		memcpy(name, text + 2, (size_t)(end - text - 2));
		name[end - text - 2] = 0;
		if (interpolate_name(filler, name, runtime, place, out, err) <
		    0)
			return -1;
		text = end + 1;
	}
	return 0;
}
