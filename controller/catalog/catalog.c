/* catalog.c - a catalog of models, frameworks, vendors and chips. */
#include "controller/catalog/catalog_internal.h"
#include "protocol/base/list.h"
#include "protocol/base/nearest_word.h"
#include "protocol/base/owned.h"
#include "protocol/hardware/profile.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NEAR_MAX 3     /* similar names in an error */
#define PLAIN_BYTES 96 /* of a name in any spelling */

static void name_index_clear(struct name_index *name_index)
{
	free(name_index->items);
	free(name_index->names);
	*name_index = (struct name_index){ 0 };
}

/* The characters that are compared; "": there are none, or too many. */
static void make_plain(const char *text, char plain[PLAIN_BYTES])
{
	size_t used = 0;

	for (; *text && used < PLAIN_BYTES - 2; text++) {
		if (*text >= 'A' && *text <= 'Z')
			plain[used++] = (char)(*text - 'A' + 'a');
		else if ((*text >= 'a' && *text <= 'z') ||
			 (*text >= '0' && *text <= '9') || *text == '.' ||
			 *text == '+')
			plain[used++] = *text;
	}
	if (*text)
		used = 0;
	/* 80G, 80GB and 80GiB are the same. */
	if (used > 3 && !memcmp(plain + used - 3, "gib", 3))
		plain[used -= 2] = 0;
	else if (used > 2 && !memcmp(plain + used - 2, "gb", 2))
		used--;
	plain[used] = 0;
}

/* The text behind `start`; NULL: the text does not begin with it. */
static const char *name_skip_start(const char *text, const char *start)
{
	size_t size = strlen(start);

	return strncmp(text, start, size) ? NULL : text + size;
}

bool name_match(const struct name *name, const char *text)
{
	char known[PLAIN_BYTES], found[PLAIN_BYTES], before[PLAIN_BYTES];
	char memory[16] = "";
	const char *rest, *tail;

	make_plain(name->text, known);
	make_plain(text, found);
	if (!*known || !*found)
		return false;
	rest = found;
	if (name->vendor) {
		make_plain(name->vendor, before);
		tail = name_skip_start(found, before);
		rest = tail && *tail ? tail : found;
	}
	tail = name_skip_start(rest, known);
	if (name->gib)
		snprintf(memory, sizeof(memory), "%ug", name->gib);
	return tail && (!*tail || (*memory && !strcmp(tail, memory)));
}

static const struct name *find_exact(const struct name_index *name_index,
				     const char *vendor, const char *text)
{
	for (size_t i = 0; i < name_index->name_count; i++) {
		const struct name *name = &name_index->names[i];

		if (!strcasecmp(name->text, text) &&
		    (!vendor || !name->vendor || !strcmp(vendor, name->vendor)))
			return name;
	}
	return NULL;
}

/* A name in another spelling. */
static const struct name *find_like(const struct name_index *name_index,
				    const char *vendor, const char *text)
{
	for (size_t i = 0; i < name_index->name_count; i++) {
		const struct name *name = &name_index->names[i];

		if (vendor && name->vendor && strcmp(vendor, name->vendor) != 0)
			continue;
		if (name_match(name, text))
			return name;
	}
	return NULL;
}

/* By number, in the order of adding; NULL: past the last. */
static const void *name_index_at(const struct name_index *name_index,
				 size_t index)
{
	return index < name_index->count ? (const char *)name_index->items +
						   index * name_index->size
					 : NULL;
}

/* vendor: of the item; NULL: any. Returns NULL if there is none. */
static const void *name_index_find(const struct name_index *name_index,
				   const char *vendor, const char *text)
{
	const struct name *name = find_exact(name_index, vendor, text);

	if (!name)
		name = find_like(name_index, vendor, text);
	return name ? name_index_at(name_index, name->index) : NULL;
}

/* By the longest name that the text begins with, if a version follows: a '_' or
 * a digit.
 */
static const void *name_index_find_version(const struct name_index *name_index,
					   const char *text)
{
	const void *found = NULL;
	size_t longest = 0;

	for (size_t i = 0; i < name_index->name_count; i++) {
		const struct name *name = &name_index->names[i];
		size_t size = strlen(name->text);

		if (size > longest && !strncasecmp(text, name->text, size) &&
		    (text[size] == '_' ||
		     (text[size] >= '0' && text[size] <= '9'))) {
			longest = size;
			found = name_index_at(name_index, name->index);
		}
	}
	return found;
}

static int name_index_add_name(struct name_index *name_index, struct name name,
			       const struct value *place, struct error *err)
{
	struct name *names;

	if (find_exact(name_index, name.vendor, name.text))
		return value_error(place, err, "duplicate %s \"%.60s\"",
				   name_index->kind, name.text);
	names = LIST_ADD(name_index->names, name_index->name_count, err);
	if (!names)
		return -1;
	*names = name;
	return 0;
}

int name_index_add(struct name_index *name_index, const void *item,
		   struct name name, const struct value *entry,
		   struct error *err)
{
	const struct value *aliases = value_get(entry, "aliases");
	void *items = list_grow(name_index->items, name_index->count,
				name_index->size, err);

	if (!items)
		return -1;
	name_index->items = items;
	name.index = name_index->count;
	memcpy((char *)items + name_index->count++ * name_index->size, item,
	       name_index->size);
	if (name_index_add_name(name_index, name, entry, err) < 0)
		return -1;
	if (!aliases)
		return 0;
	if (value_expect(aliases, VALUE_LIST, err) < 0)
		return -1;
	for (size_t i = 0; i < value_count(aliases); i++) {
		const struct value *alias = value_at(aliases, i);

		if (value_string(alias, NAME_INDEX_NAME_BYTES, &name.text,
				 err) < 0 ||
		    name_index_add_name(name_index, name, alias, err) < 0)
			return -1;
	}
	return 0;
}

/* All names and aliases, for nearest_word(). */
static const char **name_list(const struct name_index *name_index)
{
	const char **names = calloc(name_index->name_count + 1, sizeof(*names));

	for (size_t i = 0; names && i < name_index->name_count; i++)
		names[i] = name_index->names[i].text;
	return names;
}

/* Is there a name that is similar to this one? */
static bool name_index_near(const struct name_index *name_index,
			    const char *text)
{
	owned_free const char **names = name_list(name_index);

	return names && nearest_word(text, names);
}

/* Remove all names of the item with this name. */
static void drop_names(const struct name_index *name_index, const char **names,
		       size_t *count, const char *name)
{
	const struct name *of = find_exact(name_index, NULL, name);
	size_t kept = 0;

	for (size_t i = 0; i < *count; i++)
		if (find_exact(name_index, NULL, names[i])->index != of->index)
			names[kept++] = names[i];
	names[kept] = NULL;
	*count = kept;
}

/* `; did you mean "a", "b"?`, or a list of all names. -1: ENOMEM. */
static int name_index_suggest(const struct name_index *name_index,
			      const char *text, char *out, size_t size)
{
	owned_free const char **names = name_list(name_index);
	size_t count = name_index->name_count, used = 0;
	const char *near;

	if (!names)
		return -1;
	for (int n = 0; n < NEAR_MAX && (near = nearest_word(text, names));
	     n++) {
		used += (size_t)snprintf(out + used, size - used, "%s\"%.40s\"",
					 n ? ", " : "; did you mean ", near);
		drop_names(name_index, names, &count, near);
	}
	if (used) {
		snprintf(out + used, size - used, "?");
		return 0;
	}
	used = (size_t)snprintf(out, size, "; expected %s",
				count ? "" : "(none is described)");
	for (size_t i = 0; i < count; i++) {
		if (used >= size - 60) {
			snprintf(out + used, size - used, ", ...");
			break;
		}
		used += (size_t)snprintf(out + used, size - used, "%s%.40s",
					 i ? ", " : "", names[i]);
	}
	return 0;
}

/* clang-format off */
static const struct name_index empty_indexes[] = {
	[CATALOG_MODEL] = { "model", sizeof(struct model) },
	[CATALOG_FRAMEWORK] = { "framework", sizeof(struct framework) },
	[CATALOG_VENDOR] = { "vendor", sizeof(struct vendor) },
	[CATALOG_CHIP] = { "chip", sizeof(struct chip) },
};
/* clang-format on */

void catalog_free(struct catalog *catalog)
{
	if (!catalog)
		return;
	for (size_t i = 0; i <= CATALOG_CHIP; i++)
		name_index_clear(&catalog->indexes[i]);
	for (size_t i = 0; i < catalog->document_count; i++)
		document_free(catalog->documents[i]);
	free(catalog->documents);
	profiles_clear(&catalog->profiles);
	free(catalog->published);
	free(catalog);
}

struct catalog *catalog_new(const struct catalog *base, struct error *err)
{
	struct catalog *catalog = calloc(1, sizeof(*catalog));

	if (!catalog)
		return error_null(error_nomem(err, "catalog"));
	catalog->base = base;
	memcpy(catalog->indexes, empty_indexes, sizeof(empty_indexes));
	return catalog;
}

const struct value *catalog_keep(struct catalog *catalog,
				 struct document *document, struct error *err)
{
	struct document **documents;

	if (!document)
		return NULL;
	documents = LIST_ADD(catalog->documents, catalog->document_count, err);
	if (!documents) {
		document_free(document);
		return NULL;
	}
	*documents = document;
	return document_root(document);
}

const struct value *catalog_flagperf(const struct catalog *catalog)
{
	return catalog->base ? catalog->base->flagperf : catalog->flagperf;
}

/* The catalog's own entries come before those of its base. */
static const void *catalog_find_entry(const struct catalog *catalog,
				      enum catalog_kind kind,
				      const char *vendor, const char *name)
{
	const void *found = NULL;

	for (; catalog && !found; catalog = catalog->base)
		found = name_index_find(&catalog->indexes[kind], vendor, name);
	return found;
}

const struct model *catalog_model(const struct catalog *catalog,
				  const char *name)
{
	return catalog_find_entry(catalog, CATALOG_MODEL, NULL, name);
}

const struct framework *catalog_framework(const struct catalog *catalog,
					  const char *name)
{
	const void *found =
		catalog_find_entry(catalog, CATALOG_FRAMEWORK, NULL, name);

	for (; catalog && !found; catalog = catalog->base)
		found = name_index_find_version(&catalog->indexes
							 [CATALOG_FRAMEWORK],
						name);
	return found;
}

/* Add the frameworks that this one is `like`, and then itself. */
static int framework_add_formats(const struct catalog *catalog,
				 const struct framework *framework,
				 const struct value *place,
				 struct formats *formats, size_t depth,
				 struct error *err)
{
	const struct value *like = value_get(framework->log, "like");

	if (depth == CATALOG_LOGS_MAX)
		return value_error(place, err,
				   "`like` forms a cycle, or is nested deeper "
				   "than %d",
				   CATALOG_LOGS_MAX);
	if (like && value_expect(like, VALUE_LIST, err) < 0)
		return -1;
	for (size_t i = 0; like && i < value_count(like); i++) {
		const struct value *name = value_at(like, i);
		const struct framework *other =
			catalog_find_entry(catalog, CATALOG_FRAMEWORK, NULL,
					   value_text(name));

		if (!other)
			return catalog_unknown(catalog, CATALOG_FRAMEWORK, name,
					       err);
		if (!other->log)
			return value_error(name, err,
					   "%s, which has no log rules",
					   other->name);
		if (framework_add_formats(catalog, other, name, formats,
					  depth + 1, err) < 0)
			return -1;
	}
	for (size_t i = 0; i < formats->count; i++)
		if (formats->list[i] == framework)
			return 0;
	if (formats->count == CATALOG_LOGS_MAX)
		return value_error(place, err, "more than %d logs",
				   CATALOG_LOGS_MAX);
	formats->list[formats->count++] = framework;
	return 0;
}

int catalog_formats(const struct catalog *catalog,
		    const struct framework *framework, struct formats *formats,
		    struct error *err)
{
	formats->count = 0;
	return framework_add_formats(catalog, framework, framework->log,
				     formats, 0, err);
}

int catalog_logs(const struct catalog *catalog,
		 const struct framework *framework,
		 const struct value *logs[CATALOG_LOGS_MAX], size_t *count,
		 struct error *err)
{
	struct formats formats;

	*count = 0;
	if (catalog_formats(catalog, framework, &formats, err) < 0)
		return -1;
	for (; *count < formats.count; ++*count)
		logs[*count] = formats.list[*count]->log;
	return 0;
}

void catalog_hash(const char *text, size_t size, char hex[65])
{
	unsigned char hash[crypto_hash_sha256_BYTES];

	crypto_hash_sha256(hash, (const unsigned char *)text, size);
	sodium_bin2hex(hex, 65, hash, sizeof(hash));
}

void catalog_rules_hash(const struct catalog *catalog,
			const struct framework *framework, char hex[65])
{
	struct formats formats;
	char hashes[64 * CATALOG_LOGS_MAX];

	*hex = 0;
	if (!framework->log ||
	    catalog_formats(catalog, framework, &formats, NULL) < 0)
		return;
	if (formats.count == 1) {
		snprintf(hex, 65, "%s", framework->hash);
		return;
	}
	for (size_t i = 0; i < formats.count; i++)
		memcpy(hashes + 64 * i, formats.list[i]->hash, 64);
	catalog_hash(hashes, 64 * formats.count, hex);
}

const struct vendor *catalog_vendor(const struct catalog *catalog,
				    const char *name)
{
	return catalog_find_entry(catalog, CATALOG_VENDOR, NULL, name);
}

const struct chip *catalog_chip(const struct catalog *catalog,
				const char *vendor, const char *name)
{
	return catalog_find_entry(catalog, CATALOG_CHIP, vendor, name);
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
	size_t own = catalog->indexes[CATALOG_FRAMEWORK].count;

	return index >= own && catalog->base
		       ? catalog_framework_at(catalog->base, index - own)
		       : name_index_at(&catalog->indexes[CATALOG_FRAMEWORK],
				       index);
}

bool catalog_near(const struct catalog *catalog, enum catalog_kind kind,
		  const char *text)
{
	return name_index_near(&catalog->indexes[kind], text) ||
	       (catalog->base && catalog_near(catalog->base, kind, text));
}

int catalog_unknown(const struct catalog *catalog, enum catalog_kind kind,
		    const struct value *found, struct error *err)
{
	/* Unless a known name is similar, the user may want to add a file. */
	bool own = kind == CATALOG_FRAMEWORK &&
		   !catalog_near(catalog, kind, value_text(found));
	char text[96], near[160];

	if (catalog->base)
		return catalog_unknown(catalog->base, kind, found, err);
	if (name_index_suggest(&catalog->indexes[kind], value_text(found), near,
			       own ? sizeof(near) - 60 : sizeof(near)) < 0)
		return error_nomem(err, value_file(found));
	value_found(found, text, sizeof(text));
	return value_error(found, err, "unknown %s %s%s%s",
			   catalog->indexes[kind].kind, text, near,
			   own ? "; to add one: frameworks/NAME.yaml in "
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
	if (name_index_suggest(&catalog->indexes[kind], name, near,
			       sizeof(near)) < 0)
		return error_nomem(err, where);
	return error_set(err, EINVAL, "%s: unknown %s \"%.60s\"%s", where,
			 catalog->indexes[kind].kind, name, near);
}

/* The key of a precision, in any case and by any name. Mixed precision is fp16.
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
		{ "mxfp8", "fp8" },     { "fp4", "fp4" },
		{ "nvfp4", "fp4" },     { "mxfp4", "fp4" },
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
