/* imagelist.c - feeds any bytes to the readers of image files' lists: as a
 * manifest.json, as an index.json with a blob behind a newline, as a bundle.
 */
#include "controller/cli/imagelist.h"

#include <stdlib.h>
#include <string.h>

#define BLOB "blobs/sha256/"
#define ZEROS "0000000000000000000000000000000000000000000000000000000000000000"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool good)
{
	if (!good)
		abort();
}

static void add_entry(struct image_bundle *bundle, const char *path)
{
	struct image_bundle_entry *entry =
		&bundle->entries[bundle->entries_count++];

	entry->path = strdup(path);
	entry->content = strdup(ZEROS);
	must(entry->path && entry->content);
}

static void check(struct texts *texts)
{
	struct image_bundle bundle = { 0 };
	struct error err = { 0 };

	bundle.entries = calloc(4, sizeof(*bundle.entries));
	must(bundle.entries);
	add_entry(&bundle, "config");
	add_entry(&bundle, "layer");
	add_entry(&bundle, BLOB ZEROS);
	if (image_list(texts, &bundle, &err) < 0)
		must(err.code && err.text[0]);
	else
		must(bundle.images_count && bundle.images[0].id);
	image_bundle_clear(&bundle);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	const char *line = memchr(data, '\n', size);
	size_t first = line ? (size_t)(line - text) : size;
	struct texts texts = { 0 };
	struct image_bundle bundle;
	struct error err = { 0 };

	must(texts_add(&texts, "manifest.json", text, size, NULL) == 0);
	check(&texts);
	texts_clear(&texts);
	must(texts_add(&texts, "index.json", text, first, NULL) == 0);
	if (line)
		must(texts_add(&texts, BLOB ZEROS, line + 1, size - first - 1,
			       NULL) == 0);
	check(&texts);
	texts_clear(&texts);
	if (image_bundle_parse(text, size, &bundle, &err) < 0)
		must(err.code && err.text[0]);
	else
		image_bundle_clear(&bundle);
	return 0;
}
