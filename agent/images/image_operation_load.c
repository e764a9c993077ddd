/* image_operation_load.c - images that come as contents, from a file.
 *
 * The bundle is fetched, then its parts one after another, each also from nodes
 * that are still getting it (fetch.h), and while it is still being sent to the
 * controller. The engine gets them as one tar file, each as soon as it is here
 * and its hash is checked. What it has already is not fetched, neither images
 * nor layers below them; an engine that wants these all the same gets them.
 */
#include "agent/images/image_inventory.h"
#include "agent/images/image_layers.h"
#include "agent/images/image_names.h"
#include "agent/images/image_operations_internal.h"

#include "protocol/base/file.h"
#include "protocol/base/log.h"
#include "protocol/message/json_get.h"

#include <errno.h>
#include <string.h>

struct load {
	struct image_operation operation;
	struct fetch_wait *wait;
	uint64_t here; /* bytes of the fetched contents */
	struct image_bundle bundle;
	bool known;        /* the bundle was read */
	size_t image, tag; /* image and tag of the next inspect */
	bool lacked;       /* the engine lacks the present image */
	bool lacks;        /* the engine lacks an image or a name */
	size_t config;     /* index of the next config to fetch */
	struct image_layers_call *layers;
	bool looked;               /* the engine's layers were compared */
	bool less;                 /* layers were dropped from the bundle */
	size_t entry;              /* index of the next entry to fetch */
	struct assembly *assembly; /* the tar file that the engine reads */
	bool late; /* the engine gets it only when all is fetched */
};

static void load_again(struct image_operation *operation)
{
	struct load *load = (struct load *)operation;

	assembly_free(take(load->assembly));
}

static void load_clear(struct image_operation *operation)
{
	struct load *load = (struct load *)operation;

	if (load->wait)
		fetch_release(load->wait);
	image_layers_cancel(load->layers);
	assembly_free(load->assembly);
	image_bundle_clear(&load->bundle);
}

static int read_bundle(struct load *load, struct error *err)
{
	owned(buffer_clear) struct buffer text;

	buffer_init(&text, IMAGE_BUNDLE_BYTES_MAX);
	if (blob_store_text(load->operation.config->contents,
			    load->operation.order.order, &text, err) < 0 ||
	    image_bundle_parse(text.data, text.size, &load->bundle, err) < 0 ||
	    image_names_reduce(&load->bundle, err) < 0)
		return -1;
	load->known = true;
	load->operation.total = image_bundle_bytes(&load->bundle);
	return 0;
}

static void load_take_progress(void *arg, uint64_t bytes, uint64_t total)
{
	struct load *load = arg;

	load->operation.done = load->here + (load->looked ? bytes : 0);
	image_operation_tell_sometimes(&load->operation);
}

/* The next entry was fetched, or has no content. -1: the load has failed. */
static int pass_entry(struct load *load)
{
	struct error err;

	if (image_names_check(load->operation.config->contents, &load->bundle,
			      load->entry, &err) < 0) {
		image_operation_fail(&load->operation, &err);
		return -1;
	}
	load->entry++;
	return 0;
}

static void on_fetched(void *arg, const struct error *err)
{
	struct load *load = arg;
	struct error why;

	load->wait = NULL;
	if (err) {
		image_operation_fail(&load->operation, err);
		return;
	}
	if (!load->known) {
		if (read_bundle(load, &why) < 0) {
			image_operation_fail(&load->operation, &why);
			return;
		}
	} else if (!load->looked) {
		load->config++;
	} else {
		load->here += load->bundle.entries[load->entry].bytes;
		if (pass_entry(load) < 0)
			return;
	}
	load->operation.done = load->here;
	image_operation_step_in(&load->operation, 0);
}

static void load_fetch_part(struct load *load, const char *hash)
{
	struct error err;

	image_operation_tell_sometimes(&load->operation);
	load->wait =
		fetch_begin(load->operation.config->fetches, hash, load->known,
			    load_take_progress, on_fetched, load, &err);
	if (!load->wait)
		image_operation_fail(&load->operation, &err);
}

/* Go to the next image. An image that the engine lacks is recorded as loaded by
 * Regatta.
 */
static void next_image(struct load *load, bool lacked)
{
	const struct image_bundle_image *image =
		&load->bundle.images[load->image];
	struct error err;

	load->lacks |= lacked;
	if (lacked && image_usage_coming(load->operation.config->usage,
					 image->id, IMAGE_LOADED, &err) < 0) {
		image_operation_fail(&load->operation, &err);
		return;
	}
	load->tag = 0;
	load->lacked = false;
	if (++load->image < load->bundle.images_count || load->lacks) {
		image_operation_step_in(&load->operation, 0);
		return;
	}
	load->operation.done = load->operation.total;
	image_operation_succeed(&load->operation, NULL);
}

/* The engine has another image of that name. -1: the load has failed. */
static int load_take_name(struct load *load, const char *name,
			  const cJSON *other)
{
	const struct image_operations_config *config = load->operation.config;
	const struct policy *policy = node_policy_rules(config->node_policy);
	const char *id = json_get_text(other, "Id");
	struct error err;

	if (image_is_ours(config->usage, other, false))
		return 0;
	if (!load->operation.order.replace)
		error_set(&err, EEXIST,
			  "%.120s is another image on this node (%.19s), which "
			  "Regatta did not bring; --replace moves the name if "
			  "the node's policy says remove: true",
			  name, id ? id : "");
	else if (policy_image_check_remove(policy, name, false, &err) == 0)
		return 0;
	image_operation_fail(&load->operation, &err);
	return -1;
}

/* Ask for each name, even if the engine lacks the image. */
static void next_tag(struct load *load, const struct image_bundle_image *image)
{
	if (load->tag >= image->tags.count) {
		next_image(load, load->lacked);
		return;
	}
	load->tag++;
	image_operation_step_in(&load->operation, 0);
}

/* Answer to an inspect by the id, then by each name of the image. */
static void load_inspected(void *arg, const struct error *err, cJSON *answer)
{
	struct load *load = arg;
	const struct image_bundle_image *image =
		&load->bundle.images[load->image];
	const char *id = json_get_text(answer, "Id");
	bool same = !err && id && !strcmp(id, image->id);

	load->operation.call = NULL;
	if (err && image_operation_retry(&load->operation, err))
		return;
	if (!same && load->tag) {
		load->lacks = true; /* the engine lacks only a name */
		if (!err &&
		    load_take_name(load, image->tags.items[load->tag - 1],
				   answer) < 0)
			return;
		next_tag(load, image);
	} else {
		load->lacked |= !same;
		next_tag(load, image);
	}
}

static void load_inspect_image(struct load *load)
{
	const struct image_bundle_image *image =
		&load->bundle.images[load->image];
	struct error err;

	load->operation.call =
		engine_image_inspect(load->operation.config->engine,
				     load->tag
					     ? image->tags.items[load->tag - 1]
					     : image->id,
				     IMAGE_OPERATION_CALL_MS, load_inspected,
				     load, &err);
	if (!load->operation.call)
		image_operation_fail(&load->operation, &err);
}

static bool load_entry_is_spare(const struct image_bundle_entry *entry,
				const void *spare)
{
	return entry->content && strings_has(spare, entry->content);
}

/* Drop the layers that the engine has from the bundle. */
static void on_layers(void *arg, const struct strings *spare)
{
	struct load *load = arg;

	load->layers = NULL;
	load->looked = true;
	load->less = image_bundle_drop(&load->bundle, load_entry_is_spare,
				       spare) > 0;
	load->operation.total = image_bundle_bytes(&load->bundle);
	image_operation_step_in(&load->operation, 0);
}

static bool is_part(const struct image_bundle *bundle, const char *hash)
{
	for (size_t i = 0; i < bundle->entries_count; i++)
		if (bundle->entries[i].content &&
		    !strcmp(bundle->entries[i].content, hash))
			return true;
	return false;
}

/* Fetch the configs first: they list the layers. */
static void load_fetch_configs(struct load *load)
{
	const struct image_bundle *bundle = &load->bundle;
	struct error err;

	while (load->config < bundle->images_count) {
		const char *hash =
			strchr(bundle->images[load->config].id, ':') + 1;

		if (is_part(bundle, hash)) {
			load_fetch_part(load, hash);
			return;
		}
		load->config++;
	}
	load->layers = image_layers_begin(load->operation.config->engine,
					  load->operation.config->contents,
					  &load->bundle, on_layers, load, &err);
	if (load->layers)
		return;
	log_debug("layers are not compared: %s", err.text);
	load->looked = true;
	image_operation_step_in(&load->operation, 0);
}

/* Start again with the whole bundle; fetched contents are kept. */
static void load_whole(struct load *load)
{
	struct error err;

	if (load->wait)
		fetch_release(take(load->wait));
	assembly_free(take(load->assembly));
	image_bundle_clear(&load->bundle);
	load->less = load->late = false;
	load->entry = 0;
	load->here = 0;
	load->operation.phase = "fetching";
	if (read_bundle(load, &err) < 0)
		image_operation_fail(&load->operation, &err);
	else
		image_operation_step_in(&load->operation, 0);
}

static void on_object(void *arg, const cJSON *object)
{
}

static bool load_has_all(const struct load *load)
{
	return load->entry == load->bundle.entries_count;
}

/* If the engine ended the upload before all was fetched, it gets all of it
 * again at the end.
 */
static void loaded(void *arg, const struct error *err, cJSON *answer)
{
	struct load *load = arg;
	struct error full;

	load->operation.call = NULL;
	if (!load_has_all(load) && (!err || engine_away(err))) {
		assembly_free(take(load->assembly));
		load->late = true;
	} else if (!err) {
		image_operation_succeed(&load->operation, NULL);
	} else if (image_operation_retry(&load->operation, err)) {
		return;
	} else if (strstr(err->text, "no space left on device")) {
		full = *err;
		error_prefix(&full, "disk full");
		image_operation_fail(&load->operation, &full);
	} else if (load->less) {
		load_whole(load);
	} else {
		image_operation_fail(&load->operation, err);
	}
}

/* Begin the upload, or continue it. -1: the load has failed. */
static int give_engine(struct load *load)
{
	struct error err;

	if (load->assembly) {
		assembly_let(load->assembly, load->entry);
		engine_call_resume(load->operation.call);
		return 0;
	}
	load->assembly = assembly_new(load->operation.config->contents,
				      &load->bundle, &err);
	if (load->assembly) {
		assembly_let(load->assembly, load->entry);
		load->operation.call =
			engine_image_load(load->operation.config->engine,
					  IMAGE_OPERATION_STALL_MS,
					  assembly_read, load->assembly,
					  on_object, loaded, load, &err);
	}
	if (load->operation.call)
		return 0;
	image_operation_fail(&load->operation, &err);
	return -1;
}

static void load_step(struct image_operation *operation)
{
	struct load *load = (struct load *)operation;
	const struct image_bundle *bundle = &load->bundle;

	if (!load->known) {
		load_fetch_part(load, operation->order.order);
		return;
	}
	if (load->image < bundle->images_count) {
		load_inspect_image(load);
		return;
	}
	if (!load->looked) {
		load_fetch_configs(load);
		return;
	}
	while (!load_has_all(load) &&
	       (!bundle->entries[load->entry].content ||
		image_bundle_repeats(bundle, load->entry)))
		if (pass_entry(load) < 0)
			return;
	if (load_has_all(load)) {
		load->operation.phase = "loading";
		image_operation_tell(&load->operation);
	}
	if ((load_has_all(load) || (load->here && !load->late)) &&
	    give_engine(load) < 0)
		return;
	if (!load_has_all(load))
		load_fetch_part(load, bundle->entries[load->entry].content);
}

static void load_touch(struct image_operation *operation)
{
	const struct load *load = (struct load *)operation;

	blob_store_touch(operation->config->contents, operation->order.order);
	for (size_t i = 0; i < load->bundle.entries_count; i++)
		blob_store_touch(operation->config->contents,
				 load->bundle.entries[i].content);
}

static int load_allowed(const struct image_operation *operation,
			struct error *err)
{
	const struct policy *policy =
		node_policy_rules(operation->config->node_policy);

	return policy_image_check_load(policy, err);
}

const struct image_operation_kind image_operation_load = {
	.name = "load",
	.phase = "fetching",
	.size = sizeof(struct load),
	.allowed = load_allowed,
	.step = load_step,
	.again = load_again,
	.touch = load_touch,
	.clear = load_clear,
};
