/* about.c - reads the keys `about`, `align` and `require` of a sweep. */
#include "controller/sweep/about.h"
#include "controller/report/requirement.h"
#include "protocol/message/codec.h"

#include <string.h>

#define FROM_STEP 21
#define TOLERANCE 0.02
#define PATH_BYTES 256
#define VALUES_MAX 32 /* of a baseline */

/* clang-format off */
static const char *const about_keys[] = {
	"task", "dataset", "framework", "optimizations", "columns", NULL,
};
static const char *const align_keys[] = {
	"baseline", "cells", "from_step", "tolerance", NULL,
};
/* clang-format on */

static int about_read_texts(const struct value *map, cJSON *to,
			    struct error *err)
{
	const char *text;

	if (value_expect(map, VALUE_MAP, err) < 0 ||
	    value_check_keys(map, about_keys, err) < 0)
		return -1;
	for (size_t i = 0; i < value_count(map); i++)
		if (value_string(value_at(map, i), ABOUT_TEXT_MAX, &text, err) <
			    0 ||
		    (!cJSON_AddStringToObject(to, value_key(map, i), text) &&
		     error_nomem(err, "about") < 0))
			return -1;
	return 0;
}

/* {parallel: {tp: 8}} is {parallel.tp: 8}. */
static int about_read_values(const struct value *map, const char *above,
			     cJSON *to, struct error *err)
{
	if (!value_count(map) || value_count(map) > VALUES_MAX)
		return value_error(map, err, "%zu values; expected 1 to %d",
				   value_count(map), VALUES_MAX);
	for (size_t i = 0; i < value_count(map); i++) {
		const struct value *value = value_at(map, i);
		char path[PATH_BYTES];
		const char *text;
		int size = snprintf(path, sizeof(path), "%s%s%s", above,
				    *above ? "." : "", value_key(map, i));

		if (size >= (int)sizeof(path))
			return value_error(value, err,
					   "a name of %d bytes; expected at "
					   "most %d",
					   size, PATH_BYTES - 1);
		if (value_kind(value) == VALUE_MAP) {
			if (about_read_values(value, path, to, err) < 0)
				return -1;
			continue;
		}
		if (value_string(value, ABOUT_TEXT_MAX, &text, err) < 0)
			return -1;
		if (!cJSON_AddStringToObject(to, path, text))
			return error_nomem(err, "align");
	}
	return 0;
}

static int read_baseline(const struct value *baseline, cJSON *to,
			 struct error *err)
{
	uint64_t job;

	if (value_kind(baseline) == VALUE_MAP)
		return about_read_values(baseline, "",
					 cJSON_AddObjectToObject(to, "values"),
					 err);
	if (value_u64(baseline, 1, (uint64_t)1 << 53, &job, NULL) < 0)
		return value_invalid(baseline, err,
				     "the number of a job, or values of a cell "
				     "of this sweep, such as {vendor: nvidia}");
	if (!cJSON_AddNumberToObject(to, "job", (double)job))
		return error_nomem(err, "align");
	return 0;
}

static int read_align(const struct value *map, cJSON *to, struct error *err)
{
	const struct value *baseline = value_get(map, "baseline");
	const struct value *cells = value_get(map, "cells");
	const struct value *from = value_get(map, "from_step");
	const struct value *tolerance = value_get(map, "tolerance");
	uint64_t from_step = FROM_STEP;
	double share = TOLERANCE;

	if (value_expect(map, VALUE_MAP, err) < 0 ||
	    value_check_keys(map, align_keys, err) < 0)
		return -1;
	if (!baseline)
		return value_error(map, err,
				   "missing baseline (expected the number of a "
				   "job, or values of a cell of this sweep)");
	if ((from &&
	     value_u64(from, 0, (uint64_t)1 << 53, &from_step, err) < 0) ||
	    (tolerance && value_share(tolerance, &share, err) < 0))
		return -1;
	cJSON_AddNumberToObject(to, "from_step", (double)from_step);
	cJSON_AddNumberToObject(to, "tolerance", share);
	if (cells &&
	    (value_expect(cells, VALUE_MAP, err) < 0 ||
	     about_read_values(cells, "", cJSON_AddObjectToObject(to, "cells"),
			       err) < 0))
		return -1;
	return read_baseline(baseline, to, err);
}

/* A text, or a list of them. */
static int read_require(const struct value *list, cJSON *to, struct error *err)
{
	bool single = value_kind(list) == VALUE_SCALAR;
	size_t count = single ? 1 : value_count(list);
	cJSON *texts = cJSON_AddArrayToObject(to, "require");
	struct requirement requirement;
	struct error why;
	const char *text;

	if (!single && value_expect(list, VALUE_LIST, err) < 0)
		return -1;
	if (count > REQUIREMENTS_MAX)
		return value_error(list, err,
				   "%zu requirements; expected at "
				   "most %d",
				   count, REQUIREMENTS_MAX);
	for (size_t i = 0; i < count; i++) {
		const struct value *item = single ? list : value_at(list, i);

		if (value_string(item, REQUIREMENT_TEXT, &text, err) < 0)
			return -1;
		if (requirement_parse(text, &requirement, &why) < 0)
			return value_error(item, err, "%s", why.text);
		if (!cJSON_AddItemToArray(texts, cJSON_CreateString(text)))
			return error_nomem(err, "require");
	}
	return 0;
}

int about_read(const struct value *root, cJSON **about, struct error *err)
{
	const struct value *texts = value_get(root, "about");
	const struct value *align = value_get(root, "align");
	const struct value *require = value_get(root, "require");
	owned(cJSON_Delete) cJSON *to = NULL;

	*about = NULL;
	if (!texts && !align && !require)
		return 0;
	to = cJSON_CreateObject();
	if (!to)
		return error_nomem(err, "about");
	if ((texts && about_read_texts(texts, to, err) < 0) ||
	    (align && read_align(align, cJSON_AddObjectToObject(to, "align"),
				 err) < 0) ||
	    (require && read_require(require, to, err) < 0))
		return -1;
	*about = take(to);
	return 0;
}
