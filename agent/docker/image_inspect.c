/* image_inspect.c - reads what the engine reports of an image that it has.
 * Pure.
 */
#include "agent/docker/image_inspect.h"

#include "protocol/message/json_get.h"
#include "protocol/registry/reference.h"

#include <errno.h>
#include <string.h>

/* An array of strings that is not empty, or NULL. */
static const cJSON *image_inspect_find_list(const cJSON *object,
					    const char *name)
{
	const cJSON *list = json_get(object, name);
	const cJSON *item;

	if (!cJSON_IsArray(list) || !list->child)
		return NULL;
	cJSON_ArrayForEach(item, list)
	{
		if (!cJSON_IsString(item))
			return NULL;
	}
	return list;
}

/* If the image has names in several registries, the requested one. */
static const char *image_inspect_find_digest(const cJSON *answer,
					     const char *target)
{
	const cJSON *list = image_inspect_find_list(answer, "RepoDigests");
	struct reference parts;
	const cJSON *item;

	if (!list || reference_parse(target, &parts, NULL) < 0)
		return NULL;
	cJSON_ArrayForEach(item, list)
	{
		size_t size = strcspn(item->valuestring, "@");

		if (strlen(parts.name) == size &&
		    !strncmp(item->valuestring, parts.name, size))
			return item->valuestring;
	}
	return list->child->valuestring;
}

int image_inspect_read(const cJSON *answer, const char *target,
		       struct image *image, struct error *err)
{
	const cJSON *config = json_get(answer, "Config");
	const cJSON *size = json_get(answer, "Size");

	*image = (struct image){
		.id = json_get_text_or_empty(answer, "Id"),
		.digest = image_inspect_find_digest(answer, target),
		.entrypoint = image_inspect_find_list(config, "Entrypoint"),
		.command = image_inspect_find_list(config, "Cmd"),
		.env = image_inspect_find_list(config, "Env"),
		.user = json_get_text_or_empty(config, "User"),
		.workdir = json_get_text_or_empty(config, "WorkingDir"),
	};
	if (cJSON_IsNumber(size) && size->valuedouble > 0)
		image->size_bytes = (uint64_t)size->valuedouble;
	if (*image->id)
		return 0;
	return error_set(err, EPROTO,
			 "image %.100s: the engine's answer has no id", target);
}

const char *image_inspect_label(const cJSON *answer, const char *name)
{
	const cJSON *config = json_get(answer, "Config");

	return json_get_text_or_empty(json_get(config, "Labels"), name);
}
