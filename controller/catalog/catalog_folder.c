/* catalog_folder.c - loads the data files of an images folder. */
#include "controller/catalog/catalog_internal.h"
#include "controller/catalog/published.h"
#include "protocol/base/buffer.h"
#include "protocol/base/file.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#define FILES_MAX 1024 /* in one folder */
#define FILE_BYTES (1 << 20)

/* Read a file that the catalog keeps. */
static const struct value *catalog_read(struct catalog *catalog,
					const char *path, struct error *err)
{
	return catalog_keep(catalog, document_read(path, NULL, err), err);
}

static int load_models(struct catalog *catalog, const char *folder,
		       struct error *err)
{
	static const char *const keys[] = { "models", NULL };
	const struct value *root, *models;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/models.yaml", folder);
	root = catalog_read(catalog, path, err);
	if (!root || value_check_keys(root, keys, err) < 0)
		return -1;
	models = value_get(root, "models");
	if (!models)
		return value_error(root, err, "missing \"models\"");
	if (value_expect(models, VALUE_MAP, err) < 0)
		return -1;
	for (size_t i = 0; i < value_count(models); i++)
		if (catalog_add_model(catalog, value_key(models, i),
				      value_at(models, i), err) < 0)
			return -1;
	return 0;
}

static int hash_file(const char *path, char hex[65], struct error *err)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(FILE_BYTES);

	if (file_read_any(path, &text, err) < 0)
		return -1;
	catalog_hash(text.data, text.size, hex);
	return 0;
}

static int load_framework(struct catalog *catalog, const char *path,
			  const char *stem, struct error *err)
{
	const struct value *root = catalog_read(catalog, path, err);
	char hash[65];

	return root && hash_file(path, hash, err) == 0
		       ? catalog_add_framework(catalog, stem, root, hash, err)
		       : -1;
}

static int load_vendors(struct catalog *catalog, const char *folder,
			struct error *err)
{
	if (profiles_load(folder, &catalog->profiles, err) < 0)
		return -1;
	for (size_t i = 0; i < catalog->profiles.count; i++)
		if (catalog_add_vendor(catalog, catalog->profiles.list[i],
				       err) < 0)
			return -1;
	return 0;
}

/* Each <folder>/<framework>.yaml, in order. A folder that is not there is
 * empty.
 */
static int load_frameworks(struct catalog *catalog, const char *folder,
			   struct error *err)
{
	static const char suffix[] = ".yaml";
	owned(strings_clear) struct strings names = { 0 };

	if (file_list(folder, FILES_MAX, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++) {
		const char *name = names.items[i];
		size_t length = strlen(name), tail = strlen(suffix);
		char path[PATH_MAX + NAME_MAX], stem[NAME_MAX + 1];

		if (length <= tail || strcmp(name + length - tail, suffix) != 0)
			continue;
		snprintf(stem, sizeof(stem), "%.*s", (int)(length - tail),
			 name);
		snprintf(path, sizeof(path), "%s/%s", folder, name);
		if (load_framework(catalog, path, stem, err) < 0)
			return -1;
	}
	return 0;
}

static int load_flagperf(struct catalog *catalog, const char *folder,
			 struct error *err)
{
	static const char *const keys[] = { "scripts", "suites", "monitors",
					    NULL };
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/flagperf.yaml", folder);
	if (access(path, F_OK) < 0)
		return 0;
	catalog->flagperf = catalog_read(catalog, path, err);
	return catalog->flagperf
		       ? value_check_keys(catalog->flagperf, keys, err)
		       : -1;
}

static int load_published(struct catalog *catalog, const char *folder,
			  struct error *err)
{
	static const char *const keys[] = { "baselines", NULL };
	const struct value *root, *list;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/baselines.yaml", folder);
	if (access(path, F_OK) < 0)
		return 0;
	root = catalog_read(catalog, path, err);
	if (!root || value_check_keys(root, keys, err) < 0)
		return -1;
	list = value_get(root, "baselines");
	if (!list)
		return value_error(root, err, "missing \"baselines\"");
	if (value_expect(list, VALUE_LIST, err) < 0)
		return -1;
	catalog->published =
		calloc(value_count(list) + 1, sizeof(*catalog->published));
	if (!catalog->published)
		return error_nomem(err, path);
	for (size_t i = 0; i < value_count(list); i++) {
		if (published_read(&catalog->published[i], catalog,
				   value_at(list, i), err) < 0)
			return -1;
		catalog->published_count++;
	}
	return 0;
}

struct catalog *catalog_load(const char *folder, struct error *err)
{
	owned(catalog_free) struct catalog *catalog = catalog_new(NULL, err);
	char path[PATH_MAX - NAME_MAX];

	if (!catalog)
		return NULL;
	if (strlen(folder) > sizeof(path) - 32)
		return error_null(
			error_set(err, ENAMETOOLONG, "%s: too long", folder));
	if (load_models(catalog, folder, err) < 0 ||
	    load_flagperf(catalog, folder, err) < 0)
		return NULL;
	snprintf(path, sizeof(path), "%s/frameworks", folder);
	if (load_frameworks(catalog, path, err) < 0 ||
	    load_vendors(catalog, folder, err) < 0 ||
	    load_published(catalog, folder, err) < 0)
		return NULL;
	return take(catalog);
}
