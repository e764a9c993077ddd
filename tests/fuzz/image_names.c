/* image_names.c - fuzz the reader of an image file's manifest.json: what it
 * lets pass names nothing but what was told, in whatever spelling an engine may
 * take for RepoTags.
 */
#include "agent/images/image_names.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define TOLD "a/a:1"
#define ID "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
	if (!good)
		abort();
}

static void check_names(const cJSON *list)
{
	const cJSON *item, *field, *name;

	cJSON_ArrayForEach(item, list)
	{
		cJSON_ArrayForEach(field, item)
		{
			if (strncasecmp(field->string, "RepoTag", 7) != 0)
				continue;
			cJSON_ArrayForEach(name, field)
			{
				check(!strcmp(name->valuestring, TOLD));
			}
			check(!cJSON_IsString(field));
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *tags[] = { (char *)TOLD };
	struct image_bundle_image image = {
		.id = (char *)"sha256:" ID,
		.tags = { .items = tags, .count = 1 },
	};
	struct image_bundle_entry entry = {
		.path = (char *)"./c.json",
		.content = (char *)ID,
	};
	struct image_bundle bundle = { &image, 1, &entry, 1 };
	struct error err = { 0 };
	cJSON *json;

	if (image_names_read(&bundle, (const char *)data, size, &err) < 0) {
		check(err.code && err.text[0]);
		return 0;
	}
	json = codec_parse((const char *)data, size, NULL);
	check_names(json);
	cJSON_Delete(json);
	return 0;
}
