/* image_inspect.c - reads what the engine reports of an image that it has.
 * Pure.
 */
#include "agent/docker/image_inspect.h"

#include "protocol/message/json_get.h"
#include "protocol/registry/reference.h"

#include <errno.h>
#include <stdio.h>
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
		if (!cJSON_IsString(item))
			return NULL;
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
	cJSON_ArrayForEach(item, list) {
		size_t size = strcspn(item->valuestring, "@");

		if (strlen(parts.name) == size &&
		    !strncmp(item->valuestring, parts.name, size))
			return item->valuestring;
	}
	return list->child->valuestring;
}

static void image_content_add_text(struct digest *digest, const char *text)
{
	digest_add(digest, "=", 1);
	digest_add(digest, text, strlen(text) + 1);
}

/* The next name of an object, in their order; NULL: `last` was the last. */
static const char *image_content_next(const cJSON *object, const char *last)
{
	const char *next = NULL;
	const cJSON *item;

	cJSON_ArrayForEach(item, object)
		if ((!last || strcmp(item->string, last) > 0) &&
		    (!next || strcmp(item->string, next) < 0))
			next = item->string;
	return next;
}

/* A text, the texts of a list, or the names of an object; then a 0. What is
 * not there is as what is empty.
 */
static void image_content_add(struct digest *digest, const cJSON *value)
{
	const char *name = NULL;
	const cJSON *item;

	if (cJSON_IsString(value) && *value->valuestring)
		image_content_add_text(digest, value->valuestring);
	if (cJSON_IsArray(value)) {
		cJSON_ArrayForEach(item, value)
			if (cJSON_IsString(item))
				image_content_add_text(digest,
						       item->valuestring);
	}
	if (cJSON_IsObject(value)) {
		while ((name = image_content_next(value, name)))
			image_content_add_text(digest, name);
	}
	digest_add(digest, "", 1);
}

void image_content(const cJSON *config, const cJSON *layers,
		   char content[IMAGE_CONTENT_SIZE])
{
	static const char *const names[] = { "Entrypoint", "Cmd",
					     "Env",        "User",
					     "WorkingDir", "Volumes" };
	struct digest digest;
	char hex[DIGEST_HEX_SIZE];

	digest_init(&digest);
	image_content_add(&digest, layers);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		image_content_add(&digest, json_get(config, names[i]));
	digest_hex(&digest, hex);
	snprintf(content, IMAGE_CONTENT_SIZE, "sha256:%s", hex);
}

void image_inspect_content(const cJSON *answer,
			   char content[IMAGE_CONTENT_SIZE])
{
	image_content(json_get(answer, "Config"),
		      json_get(json_get(answer, "RootFS"), "Layers"), content);
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
	image_inspect_content(answer, image->content);
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
