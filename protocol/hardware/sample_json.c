/* sample_json.c - monitor output that is JSON, read by the paths of its keys.
 */
#include "protocol/hardware/sample_internal.h"

#include <string.h>

#define DEPTH_MAX 16
#define PATH_SIZE 512

struct tree {
	struct run *run;
	struct row *row; /* of the device that is read; NULL: none */
	char path[PATH_SIZE];
	size_t start; /* of the path within the device */
};

static int sample_json_walk(struct tree *tree, const cJSON *item, size_t used,
			    unsigned depth, struct error *err);

/* A scalar as text; false: null, an object or an array. */
static bool scalar(const cJSON *item, char *copy, size_t size,
		   struct sample_text *text)
{
	if (cJSON_IsString(item)) {
		*text = (struct sample_text){ item->valuestring,
					      strlen(item->valuestring) };
		return true;
	}
	if (cJSON_IsNumber(item))
		snprintf(copy, size, "%.15g", item->valuedouble);
	else if (cJSON_IsBool(item))
		snprintf(copy, size, "%s",
			 cJSON_IsTrue(item) ? "true" : "false");
	else
		return false;
	*text = (struct sample_text){ copy, strlen(copy) };
	return true;
}

static int sample_json_put_value(struct tree *tree, const cJSON *item,
				 size_t used, struct error *err)
{
	const cJSON *value = cJSON_GetObjectItem(item, "value");
	const cJSON *unit = cJSON_GetObjectItem(item, "unit");
	struct sample_text text;
	char copy[64], both[192];

	if (value && !scalar(value, copy, sizeof(copy), &text))
		return 0;
	if (!value && !scalar(item, copy, sizeof(copy), &text))
		return 0;
	if (value && cJSON_IsString(unit) && text.size < 64) {
		snprintf(both, sizeof(both), "%.*s %.100s", (int)text.size,
			 text.data, unit->valuestring);
		text = (struct sample_text){ both, strlen(both) };
	}
	return row_put_key(tree->run, tree->row ? tree->row : &tree->run->all,
			   (struct sample_text){ tree->path + tree->start,
						 used - tree->start },
			   text, err);
}

/* Walk the members, each with its name or number behind the path. */
static int walk_members(struct tree *tree, const cJSON *item, size_t used,
			unsigned depth, struct error *err)
{
	const cJSON *member;
	size_t index = 0;

	cJSON_ArrayForEach(member, item) {
		size_t from = used > tree->start ? used + 1 : used;
		int size;

		if (from > used)
			tree->path[used] = '/';
		if (cJSON_IsArray(item))
			size = snprintf(tree->path + from, PATH_SIZE - from,
					"%zu", index);
		else
			size = snprintf(tree->path + from, PATH_SIZE - from,
					"%s", member->string);
		index++;
		if (size < 0 || from + (size_t)size + 1 >= PATH_SIZE)
			continue;
		if (sample_json_walk(tree, member, from + (size_t)size,
				     depth + 1, err) < 0)
			return -1;
	}
	return 0;
}

static int walk_device(struct tree *tree, const cJSON *item, size_t used,
		       unsigned depth, const struct expression *found,
		       struct error *err)
{
	size_t start = tree->start;
	int rc;

	tree->row = run_row(tree->run, NULL, err);
	if (!tree->row)
		return -1;
	row_put_groups(tree->run, tree->row, found);
	tree->start = used;
	rc = walk_members(tree, item, used, depth, err);
	tree->start = start;
	tree->row = NULL;
	run_row_end(tree->run);
	return rc;
}

static int sample_json_walk(struct tree *tree, const cJSON *item, size_t used,
			    unsigned depth, struct error *err)
{
	const struct expressions *devices = &tree->run->layout->device;
	size_t index;
	int rc;

	if (!cJSON_IsObject(item) && !cJSON_IsArray(item))
		return sample_json_put_value(tree, item, used, err);
	if (cJSON_GetObjectItem(item, "value"))
		return sample_json_put_value(tree, item, used, err);
	if (depth > DEPTH_MAX)
		return 0;
	if (!tree->row && cJSON_IsObject(item)) {
		rc = run_match_any(tree->run, devices,
				   (struct sample_text){ tree->path, used },
				   EXPRESSION_WHOLE, &index, err);
		if (rc < 0)
			return -1;
		if (rc)
			return walk_device(tree, item, used, depth,
					   devices->list[index], err);
	}
	return walk_members(tree, item, used, depth, err);
}

/* Parse from the first line where a JSON text begins: tools print warnings
 * before it.
 */
static cJSON *sample_json_parse(const struct run *run)
{
	struct line line;
	size_t at = 0;
	unsigned tries = 0;

	while (tries < 16 && line_next(run->text, run->size, &at, &line)) {
		cJSON *json;

		if (!line.text.size || !strchr("{[", *line.text.data))
			continue;
		tries++;
		json = cJSON_ParseWithLength(line.text.data,
					     run->size -
						     (size_t)(line.text.data -
							      run->text));
		if (json)
			return json;
	}
	return NULL;
}

int json_read(struct run *run, struct error *err)
{
	owned_free struct tree *tree = calloc(1, sizeof(*tree));
	cJSON *json;
	int rc;

	if (!tree)
		return error_nomem(err, "samples");
	tree->run = run;
	json = sample_json_parse(run);
	rc = json ? sample_json_walk(tree, json, 0, 0, err) : 0;
	cJSON_Delete(json);
	return rc;
}
