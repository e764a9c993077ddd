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

/* A file with these, and some that they may name. */
static void check(const char *path, const char *text, size_t size,
		  const char *blob, size_t blob_size)
{
	static const char *const others[] = { "config", "layer" };
	struct image_file_entries entries = { 0 };
	struct image_bundle bundle = { 0 };
	struct image_file_entry *entry;
	struct error err = { 0 };

	entry = image_file_entry_add(&entries, path, NULL, NULL);
	must(entry &&
	     image_file_entry_keep(&entries, entry, text, size, NULL) == 0);
	entry = image_file_entry_add(&entries, BLOB ZEROS, NULL, NULL);
	must(entry && image_file_entry_keep(&entries, entry, blob, blob_size,
					    NULL) == 0);
	for (size_t i = 0; i < 2; i++)
		must(image_file_entry_add(&entries, others[i], NULL, NULL));
	for (size_t i = 0; i < entries.count; i++)
		memset(entries.list[i].hash, '0' + (int)i, 64);
	if (image_list(&entries, &bundle, &err) < 0)
		must(err.code && err.text[0]);
	else
		must(bundle.images_count && bundle.images[0].config &&
		     bundle.blobs_count);
	image_bundle_clear(&bundle);
	image_file_entries_clear(&entries);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	const char *line = memchr(data, '\n', size);
	size_t first = line ? (size_t)(line - text) : size;
	struct image_bundle bundle;
	struct error err = { 0 };

	check("manifest.json", text, size, "", 0);
	check("index.json", text, first, line ? line + 1 : "",
	      line ? size - first - 1 : 0);
	if (image_bundle_parse(text, size, &bundle, &err) < 0)
		must(err.code && err.text[0]);
	else
		image_bundle_clear(&bundle);
	return 0;
}
