/* image_names.c - which names an image file gives, and whose they are.
 */
#include "agent/images/image_names.h"

#include "protocol/registry/reference.h"

#include <errno.h>
#include <string.h>

#define WHOLE_NAME_MAX (REFERENCE_HOST_MAX + REFERENCE_PATH_MAX + 132)

static void json_free(cJSON *json)
{
	cJSON_Delete(json);
}
OWNED_POINTER(cJSON, json_free)

static const cJSON *get(const cJSON *object, const char *name)
{
	return cJSON_GetObjectItemCaseSensitive(object, name);
}

static const char *text_of(const cJSON *object, const char *name)
{
	const char *text = cJSON_GetStringValue(get(object, name));

	return text ? text : "";
}

/* "./a" and ".//a" are "a". */
static const char *plain(const char *path)
{
	while (*path == '/' || !strncmp(path, "./", 2))
		path += *path == '/' ? 1 : 2;
	return path;
}

/* Does the bundle say so of that name, and of that image (NULL: of any)? */
static bool is_told(const struct image_bundle *bundle, const char *name,
		    const char *content)
{
	for (size_t i = 0; i < bundle->images_count; i++)
		if (strings_has(&bundle->images[i].tags, name) &&
		    (!content || !strcmp(bundle->images[i].id + 7, content)))
			return true;
	return false;
}

static int refuse(const char *list, const char *name, struct error *err)
{
	return error_set(err, EPROTO,
			 "%s names an image %.120s that was not told of", list,
			 name);
}

static const char *content_of(const struct image_bundle *bundle,
			      const char *path)
{
	for (size_t i = 0; i < bundle->entries_count; i++)
		if (bundle->entries[i].content &&
		    !strcmp(plain(bundle->entries[i].path), plain(path)))
			return bundle->entries[i].content;
	return "";
}

static int check_manifest(const struct image_bundle *bundle, const cJSON *list,
			  struct error *err)
{
	const cJSON *item, *tag;

	cJSON_ArrayForEach(item, list)
	{
		const char *content =
			content_of(bundle, text_of(item, "Config"));

		cJSON_ArrayForEach(tag, get(item, "RepoTags"))
		{
			const char *name = cJSON_GetStringValue(tag);

			if (!name || !is_told(bundle, name, content))
				return refuse("manifest.json", name ? name : "",
					      err);
		}
	}
	return 0;
}

/* The whole of it: "docker.io/library/app:1" for "app:1". */
static bool whole_name(const char *name, char whole[WHOLE_NAME_MAX])
{
	struct reference reference;
	char host[REFERENCE_HOST_MAX + 1], path[REFERENCE_PATH_MAX + 1];

	if (reference_parse(name, &reference, NULL) < 0 || !*reference.name)
		return false;
	reference_place(&reference, host, path);
	snprintf(whole, WHOLE_NAME_MAX, "%s/%s:%s", host, path,
		 *reference.tag ? reference.tag : "latest");
	return true;
}

static bool is_told_whole(const struct image_bundle *bundle, const char *name)
{
	char whole[WHOLE_NAME_MAX], other[WHOLE_NAME_MAX];

	if (!whole_name(name, whole))
		return false;
	for (size_t i = 0; i < bundle->images_count; i++) {
		const struct strings *tags = &bundle->images[i].tags;

		for (size_t t = 0; t < tags->count; t++)
			if (whole_name(tags->items[t], other) &&
			    !strcmp(whole, other))
				return true;
	}
	return false;
}

/* Does the name begin with its registry? */
static bool has_registry(const char *name)
{
	size_t size = strcspn(name, "/");

	return name[size] &&
	       (memchr(name, '.', size) || memchr(name, ':', size) ||
		(size == 9 && !memcmp(name, "localhost", 9)));
}

/* Engines name an image of an index by containerd's annotation, else by OCI's.
 * Without a registry Docker takes it for one of docker.io, Podman for one of
 * localhost.
 */
static int check_index(const struct image_bundle *bundle, const cJSON *index,
		       struct error *err)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, get(index, "manifests"))
	{
		const cJSON *notes = get(item, "annotations");
		const char *name = text_of(notes, "io.containerd.image.name");
		const char *tag =
			text_of(notes, "org.opencontainers.image.ref.name");

		if (!*name)
			name = tag;
		if (*name && !has_registry(name))
			return error_set(err, EPROTO,
					 "index.json names an image %.120s "
					 "without its registry; expected the "
					 "whole name, as in "
					 "docker.io/library/app:1",
					 name);
		if (*name && !is_told_whole(bundle, name))
			return refuse("index.json", name, err);
		/* Beside a name it is but a tag. */
		if (strpbrk(tag, "/:") && !is_told_whole(bundle, tag))
			return refuse("index.json", tag, err);
	}
	return 0;
}

static int check_repositories(const struct image_bundle *bundle,
			      const cJSON *map, struct error *err)
{
	const cJSON *repository, *tag;

	cJSON_ArrayForEach(repository, map)
	{
		cJSON_ArrayForEach(tag, repository)
		{
			char name[600];

			snprintf(name, sizeof(name), "%.300s:%.200s",
				 repository->string ? repository->string : "",
				 tag->string ? tag->string : "");
			if (!is_told(bundle, name, NULL))
				return refuse("repositories", name, err);
		}
	}
	return 0;
}

int image_names_check(struct blob_store *contents,
		      const struct image_bundle *bundle, size_t at,
		      struct error *err)
{
	static const struct {
		const char *path;
		int (*check)(const struct image_bundle *bundle,
			     const cJSON *json, struct error *err);
	} lists[] = {
		{ "manifest.json", check_manifest },
		{ "index.json", check_index },
		{ "repositories", check_repositories },
	};
	const struct image_bundle_entry *entry = &bundle->entries[at];
	owned(buffer_clear) struct buffer text;
	owned(json_free) cJSON *json = NULL;
	size_t i = 0;

	buffer_init(&text, IMAGE_NAMES_TEXT_MAX);
	while (i < 3 && strcmp(plain(entry->path), lists[i].path) != 0)
		i++;
	if (i == 3)
		return 0;
	if (!entry->content)
		return error_set(err, EPROTO, "%s is a link", entry->path);
	if (blob_store_text(contents, entry->content, &text, err) < 0)
		return -1;
	json = codec_parse(text.data, text.size, err);
	if (!json)
		return error_set(err, EPROTO, "%s is not JSON", entry->path);
	return lists[i].check(bundle, json, err);
}

static void info_clear(struct image_info *info)
{
	codec_clear(&image_info_schema, info);
}
OWNED_VALUE(struct image_info, info_clear)

static int read_names(const cJSON *list, struct strings *names)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, list)
	{
		if (cJSON_IsString(item) &&
		    strings_add(names, item->valuestring, NULL) < 0)
			return -1;
	}
	return 0;
}

bool image_is_ours(struct image_usage *usage, const cJSON *inspected, bool used)
{
	owned(info_clear) struct image_info info = {
		.id = strdup(text_of(inspected, "Id")),
	};

	if (!info.id ||
	    read_names(get(inspected, "RepoTags"), &info.tags) < 0 ||
	    read_names(get(inspected, "RepoDigests"), &info.digests) < 0)
		return false;
	image_usage_tell(usage, &info);
	return info.origin || (used && info.used_ms);
}
