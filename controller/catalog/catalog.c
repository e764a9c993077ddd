/* catalog.c - models, frameworks, vendors and chips: the data files of
 * images/, loaded and checked.
 */
#include "controller/catalog/catalog.h"

#include "controller/catalog/catalog_internal.h"
#include "controller/results/formula.h"
#include "protocol/base/buffer.h"
#include "protocol/base/file.h"
#include "protocol/hardware/profile.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <sodium.h>
#include <string.h>
#include <unistd.h>

#define FILES_MAX 1024 /* in one folder */
#define FILE_BYTES (1 << 20)
#define FIGURE_MAX 1e15

/* clang-format off */
static const struct name_index empty_shelves[] = {
	[CATALOG_MODEL] = { "model", sizeof(struct model) },
	[CATALOG_FRAMEWORK] = { "framework", sizeof(struct framework) },
	[CATALOG_VENDOR] = { "vendor", sizeof(struct vendor) },
	[CATALOG_CHIP] = { "chip", sizeof(struct chip) },
};
static const char *const model_keys[] = {
	"title", "aliases", "source", "parameters", "active_parameters",
	"nominal_parameters", "layers", "hidden", "heads", "kv_heads",
	"feed_forward", "vocabulary", "sequence", "experts",
	"experts_per_token", "stages", NULL,
};
static const char *const framework_keys[] = {
	"framework", "title", "source", "aliases", "image", "build", "env",
	"processes", "follow", "launch", "defaults", "log", NULL,
};
/* clang-format on */

void catalog_free(struct catalog *catalog)
{
	if (!catalog)
		return;
	for (size_t i = 0; i <= CATALOG_CHIP; i++) {
		name_index_clear(&catalog->shelves[i]);
	}
	for (size_t i = 0; i < catalog->document_count; i++)
		document_free(catalog->documents[i]);
	free(catalog->documents);
	profiles_clear(&catalog->profiles);
	free(catalog);
}

struct catalog *catalog_new(const struct catalog *base, struct error *err)
{
	struct catalog *catalog = calloc(1, sizeof(*catalog));

	if (!catalog) {
		error_nomem(err, "catalog");
		return NULL;
	}
	catalog->base = base;
	memcpy(catalog->shelves, empty_shelves, sizeof(empty_shelves));
	return catalog;
}

const struct value *catalog_keep(struct catalog *catalog,
				 struct document *document, struct error *err)
{
	struct document **documents;

	if (!document)
		return NULL;
	documents =
		realloc(catalog->documents, (catalog->document_count + 1) *
						    sizeof(struct document *));
	if (!documents) {
		error_nomem(err, document_file(document));
		document_free(document);
		return NULL;
	}
	catalog->documents = documents;
	documents[catalog->document_count++] = document;
	return document_root(document);
}

/* Read a file that the catalog keeps. */
static const struct value *catalog_read(struct catalog *catalog,
					const char *path, struct error *err)
{
	return catalog_keep(catalog, document_read(path, NULL, err), err);
}

/* An optional positive number; 0 when it is not there. */
static int read_figure(const struct value *entry, const char *key,
		       double *figure, struct error *err)
{
	const struct value *value = value_get(entry, key);

	*figure = 0;
	return value ? value_double(value, 1, FIGURE_MAX, figure, err) : 0;
}

static int read_count(const struct value *entry, const char *key,
		      uint32_t *count, struct error *err)
{
	const struct value *value = value_get(entry, key);

	*count = 0;
	return value ? value_u32(value, 1, 1 << 30, count, err) : 0;
}

static int read_source(const struct value *entry, const char **text,
		       struct error *err)
{
	const struct value *source = value_get(entry, "source");

	if (!source)
		return value_error(entry, err,
				   "no \"source\", which must say where the "
				   "figures come from");
	return value_string(source, 4096, text, err);
}

/* What each stage of a model learns. */
static int check_stages(const struct value *stages, struct error *err)
{
	size_t word;

	if (!stages)
		return 0;
	if (value_expect(stages, VALUE_MAP, err) < 0)
		return -1;
	for (size_t i = 0; i < value_count(stages); i++)
		if (value_enum(value_at(stages, i), formula_stages, &word,
			       err) < 0)
			return -1;
	return 0;
}

int catalog_add_model(struct catalog *catalog, const char *name,
		      const struct value *entry, struct error *err)
{
	struct model model = {
		.name = name,
		.stages = value_get(entry, "stages"),
		.value = entry,
	};

	if (value_check_keys(entry, model_keys, err) < 0 ||
	    read_source(entry, &model.source, err) < 0 ||
	    check_stages(model.stages, err) < 0 ||
	    read_figure(entry, "parameters", &model.parameters, err) < 0 ||
	    read_figure(entry, "active_parameters", &model.active_parameters,
			err) < 0 ||
	    read_figure(entry, "nominal_parameters", &model.nominal_parameters,
			err) < 0 ||
	    read_count(entry, "layers", &model.layers, err) < 0 ||
	    read_count(entry, "hidden", &model.hidden, err) < 0 ||
	    read_count(entry, "heads", &model.heads, err) < 0 ||
	    read_count(entry, "kv_heads", &model.kv_heads, err) < 0 ||
	    read_count(entry, "sequence", &model.sequence, err) < 0 ||
	    read_count(entry, "experts", &model.experts, err) < 0 ||
	    read_count(entry, "experts_per_token", &model.experts_per_token,
		       err) < 0)
		return -1;
	if (!model.active_parameters)
		model.active_parameters = model.parameters;
	if (!model.kv_heads)
		model.kv_heads = model.heads;
	return name_index_add(&catalog->shelves[CATALOG_MODEL], &model,
			      (struct name){ .text = name }, entry, err);
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
		return value_error(root, err, "no \"models\"");
	if (value_expect(models, VALUE_MAP, err) < 0)
		return -1;
	for (size_t i = 0; i < value_count(models); i++)
		if (catalog_add_model(catalog, value_key(models, i),
				      value_at(models, i), err) < 0)
			return -1;
	return 0;
}

/* The name that a file gives itself must be that of its place. */
static int read_name(const struct value *root, const char *key,
		     const char *place, const char **name, struct error *err)
{
	const struct value *value;

	if (value_expect(root, VALUE_MAP, err) < 0)
		return -1;
	value = value_get(root, key);
	if (!value)
		return value_error(root, err, "no \"%s\"", key);
	if (value_string(value, NAME_INDEX_NAME_BYTES, name, err) < 0)
		return -1;
	if (strcmp(*name, place) != 0)
		return value_error(value, err,
				   "\"%s\" is not valid here; expected \"%s\", "
				   "as the file is called",
				   *name, place);
	return 0;
}

void catalog_hash(const char *text, size_t size, char hex[65])
{
	unsigned char hash[crypto_hash_sha256_BYTES];

	crypto_hash_sha256(hash, (const unsigned char *)text, size);
	sodium_bin2hex(hex, 65, hash, sizeof(hash));
}

static int hash_file(const char *path, char hex[65], struct error *err)
{
	owned(buffer_clear) struct buffer text;

	buffer_init(&text, FILE_BYTES);
	if (file_read_any(path, &text, err) < 0)
		return -1;
	catalog_hash(text.data, text.size, hex);
	return 0;
}

int catalog_add_framework(struct catalog *catalog, const char *name,
			  const struct value *root, const char *hash,
			  struct error *err)
{
	struct framework framework = { .value = root };

	snprintf(framework.hash, sizeof(framework.hash), "%s", hash);
	if (read_name(root, "framework", name, &framework.name, err) < 0 ||
	    value_check_keys(root, framework_keys, err) < 0)
		return -1;
	framework.log = value_get(root, "log");
	return name_index_add(&catalog->shelves[CATALOG_FRAMEWORK], &framework,
			      (struct name){ .text = framework.name }, root,
			      err);
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

static int add_chip(struct catalog *catalog, const char *vendor,
		    const struct chip_rule *rule, struct error *err)
{
	struct chip chip = {
		.name = rule->name,
		.vendor = vendor,
		.source = rule->source,
		.memory_gib = rule->memory_gib,
		.tflops = rule->tflops,
		.flagperf_tflops = rule->flagperf_tflops,
	};

	return name_index_add(&catalog->shelves[CATALOG_CHIP], &chip,
			      (struct name){ .text = chip.name,
					     .vendor = vendor,
					     .gib = (uint32_t)chip.memory_gib },
			      rule->value, err);
}

int catalog_add_vendor(struct catalog *catalog, const struct profile *profile,
		       struct error *err)
{
	struct vendor vendor = {
		.name = profile->vendor,
		.profile = profile,
		.value = profile->value,
		.images = profile->images,
	};

	if (name_index_add(&catalog->shelves[CATALOG_VENDOR], &vendor,
			   (struct name){ .text = vendor.name }, profile->value,
			   err) < 0)
		return -1;
	for (size_t i = 0; i < profile->chips_count; i++)
		if (add_chip(catalog, vendor.name, &profile->chips[i], err) < 0)
			return -1;
	return 0;
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

struct listing {
	struct dirent **entries;
	int count;
};

static void listing_clear(struct listing *listing)
{
	for (int i = 0; i < listing->count; i++)
		free(listing->entries[i]);
	free(listing->entries);
}
OWNED_VALUE(struct listing, listing_clear)

static int visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* Each <folder>/<framework>.yaml, in order. A folder that is not there is
 * empty.
 */
static int load_frameworks(struct catalog *catalog, const char *folder,
			   struct error *err)
{
	static const char suffix[] = ".yaml";
	owned(listing_clear) struct listing listing = { 0 };
	int count = scandir(folder, &listing.entries, visible, alphasort);

	if (count < 0)
		return errno == ENOENT ? 0 : error_errno(err, "%s", folder);
	listing.count = count;
	if (count > FILES_MAX)
		return error_set(err, E2BIG,
				 "%s: %d files; expected at most %d", folder,
				 count, FILES_MAX);
	for (int i = 0; i < count; i++) {
		const char *name = listing.entries[i]->d_name;
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

const struct value *catalog_flagperf(const struct catalog *catalog)
{
	return catalog->base ? catalog->base->flagperf : catalog->flagperf;
}

struct catalog *catalog_load(const char *folder, struct error *err)
{
	owned(catalog_free) struct catalog *catalog = catalog_new(NULL, err);
	char path[PATH_MAX - NAME_MAX];

	if (!catalog)
		return NULL;
	if (strlen(folder) > sizeof(path) - 32) {
		error_set(err, ENAMETOOLONG, "%s: too long", folder);
		return NULL;
	}
	if (load_models(catalog, folder, err) < 0 ||
	    load_flagperf(catalog, folder, err) < 0)
		return NULL;
	snprintf(path, sizeof(path), "%s/frameworks", folder);
	if (load_frameworks(catalog, path, err) < 0 ||
	    load_vendors(catalog, folder, err) < 0)
		return NULL;
	return take(catalog);
}

/* What the catalog has itself comes before what its base has. */
static const void *find(const struct catalog *catalog, enum catalog_kind kind,
			const char *vendor, const char *name)
{
	const void *found = NULL;

	for (; catalog && !found; catalog = catalog->base)
		found = name_index_find(&catalog->shelves[kind], vendor, name);
	return found;
}

const struct model *catalog_model(const struct catalog *catalog,
				  const char *name)
{
	return find(catalog, CATALOG_MODEL, NULL, name);
}

const struct framework *catalog_framework(const struct catalog *catalog,
					  const char *name)
{
	const void *found = find(catalog, CATALOG_FRAMEWORK, NULL, name);

	for (; catalog && !found; catalog = catalog->base)
		found = name_index_find_version(&catalog->shelves
							 [CATALOG_FRAMEWORK],
						name);
	return found;
}

static int add_logs(const struct catalog *catalog, const struct value *log,
		    const struct value *place, const struct value **logs,
		    size_t *count, size_t depth, struct error *err)
{
	const struct value *like = value_get(log, "like");

	if (depth == CATALOG_LOGS_MAX)
		return value_error(place, err,
				   "a framework like itself, or more than %d "
				   "like each other",
				   CATALOG_LOGS_MAX);
	if (like && value_expect(like, VALUE_LIST, err) < 0)
		return -1;
	for (size_t i = 0; like && i < value_count(like); i++) {
		const struct value *name = value_at(like, i);
		const struct framework *other = find(catalog, CATALOG_FRAMEWORK,
						     NULL, value_text(name));

		if (!other)
			return catalog_unknown(catalog, CATALOG_FRAMEWORK, name,
					       err);
		if (!other->log)
			return value_error(name, err,
					   "%s, which has no log rules",
					   other->name);
		if (add_logs(catalog, other->log, name, logs, count, depth + 1,
			     err) < 0)
			return -1;
	}
	for (size_t i = 0; i < *count; i++)
		if (logs[i] == log)
			return 0;
	if (*count == CATALOG_LOGS_MAX)
		return value_error(place, err, "more than %d logs",
				   CATALOG_LOGS_MAX);
	logs[(*count)++] = log;
	return 0;
}

int catalog_logs(const struct catalog *catalog,
		 const struct framework *framework,
		 const struct value *logs[CATALOG_LOGS_MAX], size_t *count,
		 struct error *err)
{
	*count = 0;
	return add_logs(catalog, framework->log, framework->log, logs, count, 0,
			err);
}

/* The framework that a log section belongs to. */
static const struct framework *framework_with(const struct catalog *catalog,
					      const struct value *log)
{
	const struct framework *framework;

	for (size_t i = 0; (framework = catalog_framework_at(catalog, i)); i++)
		if (framework->log == log)
			return framework;
	return NULL;
}

void catalog_rules_hash(const struct catalog *catalog,
			const struct framework *framework, char hex[65])
{
	const struct value *logs[CATALOG_LOGS_MAX];
	unsigned char hash[crypto_hash_sha256_BYTES];
	crypto_hash_sha256_state state;
	size_t count = 0;

	*hex = 0;
	if (!framework->log ||
	    catalog_logs(catalog, framework, logs, &count, NULL) < 0)
		return;
	if (count == 1) {
		snprintf(hex, 65, "%s", framework->hash);
		return;
	}
	crypto_hash_sha256_init(&state);
	for (size_t i = 0; i < count; i++)
		crypto_hash_sha256_update(&state,
					  (const unsigned char *)
						  framework_with(catalog,
								 logs[i])
							  ->hash,
					  64);
	crypto_hash_sha256_final(&state, hash);
	sodium_bin2hex(hex, 65, hash, sizeof(hash));
}

const struct vendor *catalog_vendor(const struct catalog *catalog,
				    const char *name)
{
	return find(catalog, CATALOG_VENDOR, NULL, name);
}

const struct chip *catalog_chip(const struct catalog *catalog,
				const char *vendor, const char *name)
{
	return find(catalog, CATALOG_CHIP, vendor, name);
}

const struct value *vendor_framework_image(const struct catalog *catalog,
					   const struct vendor *vendor,
					   const struct framework *framework)
{
	size_t count = vendor->images ? value_count(vendor->images) : 0;

	for (size_t i = 0; i < count; i++)
		if (catalog_framework(catalog, value_key(vendor->images, i)) ==
		    framework)
			return value_at(vendor->images, i);
	return NULL;
}

const struct framework *catalog_framework_at(const struct catalog *catalog,
					     size_t index)
{
	size_t own = catalog->shelves[CATALOG_FRAMEWORK].count;

	return index >= own && catalog->base
		       ? catalog_framework_at(catalog->base, index - own)
		       : name_index_at(&catalog->shelves[CATALOG_FRAMEWORK],
				       index);
}

const struct vendor *catalog_vendor_at(const struct catalog *catalog,
				       size_t index)
{
	return name_index_at(&catalog->shelves[CATALOG_VENDOR], index);
}

bool catalog_near(const struct catalog *catalog, enum catalog_kind kind,
		  const char *text)
{
	return name_index_near(&catalog->shelves[kind], text) ||
	       (catalog->base && catalog_near(catalog->base, kind, text));
}

int catalog_unknown(const struct catalog *catalog, enum catalog_kind kind,
		    const struct value *found, struct error *err)
{
	/* A file of one's own does, unless a known name was meant. */
	bool own = kind == CATALOG_FRAMEWORK &&
		   !catalog_near(catalog, kind, value_text(found));
	char text[96], near[160];

	if (catalog->base)
		return catalog_unknown(catalog->base, kind, found, err);
	if (name_index_suggest(&catalog->shelves[kind], value_text(found), near,
			       own ? sizeof(near) - 60 : sizeof(near)) < 0)
		return error_nomem(err, value_file(found));
	value_found(found, text, sizeof(text));
	return value_error(found, err, "unknown %s %s%s%s",
			   catalog->shelves[kind].kind, text, near,
			   own ? "; one of yours: frameworks/NAME.yaml in "
				 "--images DIR"
			       : "");
}

int catalog_unknown_name(const struct catalog *catalog, enum catalog_kind kind,
			 const char *where, const char *name, struct error *err)
{
	char near[160];

	if (catalog->base)
		return catalog_unknown_name(catalog->base, kind, where, name,
					    err);
	if (name_index_suggest(&catalog->shelves[kind], name, near,
			       sizeof(near)) < 0)
		return error_nomem(err, where);
	return error_set(err, EINVAL, "%s: unknown %s \"%.60s\"%s", where,
			 catalog->shelves[kind].kind, name, near);
}

/* The key of a precision, whatever its case and its other names. What computes
 * in mixed precision computes in halves.
 */
static const char *precision_key(const char *precision)
{
	static const struct {
		const char *word, *key;
	} words[] = {
		{ "amp", "fp16" },      { "mixed", "fp16" },
		{ "half", "fp16" },     { "float16", "fp16" },
		{ "bfloat16", "bf16" }, { "float32", "fp32" },
		{ "float64", "fp64" },  { "fp64", "fp64" },
		{ "fp32", "fp32" },     { "tf32", "tf32" },
		{ "fp16", "fp16" },     { "bf16", "bf16" },
		{ "fp8", "fp8" },       { "int8", "int8" },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcasecmp(words[i].word, precision))
			return words[i].key;
	return precision;
}

static double flops_of(const struct value *tflops, const char *precision)
{
	const struct value *value =
		precision ? value_get(tflops, precision_key(precision)) : NULL;
	double figure = 0;

	if (!value || value_double(value, 0, 1e9, &figure, NULL) < 0)
		return 0;
	return figure * 1e12;
}

double chip_peak_flops(const struct chip *chip, const char *precision)
{
	return flops_of(chip->tflops, precision);
}

double chip_flagperf_flops(const struct chip *chip, const char *precision)
{
	double flops = flops_of(chip->flagperf_tflops, precision);

	return flops > 0 ? flops : chip_peak_flops(chip, precision);
}
