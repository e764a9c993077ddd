/* image_names.c - checks the names that an image file gives to images.
 */
#include "agent/images/image_names.h"

#include "protocol/blob/unpack.h"
#include "protocol/message/json_get.h"

#include <errno.h>
#include <string.h>

#define LIST "manifest.json"

static bool is_path(const struct image_bundle_entry *entry, const char *path)
{
	char clean[PATH_MAX];

	return unpack_path(entry->path, clean) && !strcmp(clean, path);
}

static bool is_other_list(const struct image_bundle_entry *entry,
			  const void *arg)
{
	return is_path(entry, "index.json") || is_path(entry, "oci-layout") ||
	       is_path(entry, "repositories");
}

int image_names_reduce(struct image_bundle *bundle, struct error *err)
{
	image_bundle_drop(bundle, is_other_list, NULL);
	for (size_t i = 0; i < bundle->entries_count; i++)
		if (is_path(&bundle->entries[i], LIST))
			return bundle->entries[i].content
				       ? 0
				       : error_set(err, EPROTO,
						   LIST " is a link");
	return error_set(err, EPROTO, "no " LIST " in the file");
}

static bool is_told(const struct image_bundle *bundle, const char *name,
		    const char *content)
{
	for (size_t i = 0; i < bundle->images_count; i++)
		if (!strcmp(bundle->images[i].id + 7, content) &&
		    strings_has(&bundle->images[i].tags, name))
			return true;
	return false;
}

static const char *content_of(const struct image_bundle *bundle,
			      const char *path)
{
	char clean[PATH_MAX];

	for (size_t i = 0;
	     unpack_path(path, clean) && i < bundle->entries_count; i++)
		if (bundle->entries[i].content &&
		    is_path(&bundle->entries[i], clean))
			return bundle->entries[i].content;
	return "";
}

/* Engines use the last of two equal fields, and ignore the case of names. */
static int check_fields(const cJSON *item, struct error *err)
{
	static const char *const names[] = {
		"Config", "RepoTags", "Layers", "Parent", "LayerSources",
	};
	bool seen[5] = { false };
	const cJSON *field;

	if (!cJSON_IsObject(item))
		return error_set(err, EPROTO, LIST ": expected objects");
	cJSON_ArrayForEach(field, item)
	{
		size_t i = 0;

		while (i < 5 && strcmp(field->string, names[i]) != 0)
			i++;
		if (i == 5 || seen[i])
			return error_set(err, EPROTO,
					 LIST
					 ": \"%.40s\" is %s; expected Config, "
					 "RepoTags, Layers, Parent, "
					 "LayerSources, "
					 "each at most once",
					 field->string,
					 i == 5 ? "not known" : "duplicate");
		seen[i] = true;
	}
	return 0;
}

static int check_image(const struct image_bundle *bundle, const cJSON *item,
		       struct error *err)
{
	const cJSON *tags = json_get(item, "RepoTags"), *tag;
	const char *content;

	if (check_fields(item, err) < 0)
		return -1;
	if (tags && !cJSON_IsArray(tags) && !cJSON_IsNull(tags))
		return error_set(err, EPROTO, LIST ": RepoTags is not a list");
	content = content_of(bundle, json_get_text_or_empty(item, "Config"));
	cJSON_ArrayForEach(tag, tags)
	{
		const char *name = cJSON_GetStringValue(tag);

		if (!name || strchr(name, '@') ||
		    !is_told(bundle, name, content))
			return error_set(err, EPROTO,
					 LIST
					 " contains an undeclared image %.120s",
					 name ? name : "");
	}
	return 0;
}

int image_names_read(const struct image_bundle *bundle, const char *text,
		     size_t size, struct error *err)
{
	owned(cJSON_Delete) cJSON *list = codec_parse(text, size, NULL);
	const cJSON *item;

	if (!cJSON_IsArray(list))
		return error_set(err, EPROTO, LIST " is not a JSON list");
	cJSON_ArrayForEach(item, list)
	{
		if (check_image(bundle, item, err) < 0)
			return -1;
	}
	return 0;
}

int image_names_check(struct blob_store *contents,
		      const struct image_bundle *bundle, size_t at,
		      struct error *err)
{
	owned(buffer_clear) struct buffer text;

	buffer_init(&text, IMAGE_NAMES_TEXT_MAX);
	if (!is_path(&bundle->entries[at], LIST))
		return 0;
	if (blob_store_text(contents, bundle->entries[at].content, &text, err) <
	    0)
		return -1;
	return image_names_read(bundle, text.data, text.size, err);
}
