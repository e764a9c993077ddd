/* image_operation_load.c - images that come as blobs, from a file.
 *
 * The bundle is fetched, then its configs, then its layers one after another,
 * each also from nodes that are still getting it (fetch.h), and while it is
 * still being sent to the controller. Meanwhile the engine gets an archive of
 * those that are here, whole and checked. What the engine has already is not
 * fetched, neither images nor layers below them; an engine that wants these all
 * the same gets them.
 *
 * An image counts as brought by Regatta if its config came with this bundle,
 * and the engine then had it: a load that fails leaves no claim.
 */
#include "agent/images/image_chain.h"
#include "agent/images/image_disk.h"
#include "agent/images/image_inventory.h"
#include "agent/images/images_internal.h"

#include "protocol/base/log.h"
#include "protocol/base/file.h"
#include "protocol/message/json_get.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#define ID_SIZE (BLOB_HASH_SIZE + 8)
#define IMAGES_MAX 500 /* of the engine that are looked at */

struct load {
	struct image_operation operation;
	struct fetch_wait *wait;
	struct image_bundle bundle;
	bool known;                 /* the bundle was read */
	struct image_chain *chains; /* of its images */
	size_t chains_count;
	struct strings words; /* images of the engine to look at: ids and names
				 of ours, then all that it has */
	size_t word;          /* the next one */
	bool listed;          /* all are among them */
	bool looked;          /* what it lacks is known */
	size_t blob;          /* index of the next one to fetch */
	uint64_t here;        /* bytes of the fetched blobs */
	struct assembly *assembly; /* the archive that the engine reads; NULL:
				      it has not begun */
	bool less;                 /* layers are left out of it */
	bool loaded;    /* the engine has read it; its images are looked at */
	char said[120]; /* by the engine, last */
	struct error packed; /* why it has not unpacked an image; or no code */
};

static void load_id(const struct image_bundle_image *image, char id[ID_SIZE])
{
	snprintf(id, ID_SIZE, "sha256:%s", image->config);
}

/* Record an image that the engine lacks as loaded by Regatta. */
static int load_claim(struct load *load, size_t at, struct error *err)
{
	char id[ID_SIZE];

	load_id(&load->bundle.images[at], id);
	load->chains[at].claimed = true;
	return image_usage_coming(load->operation.services->usage, id,
				  IMAGE_LOADED, err);
}

/* The engine did not get it. */
static void load_unclaim(struct load *load, size_t at)
{
	char id[ID_SIZE];

	if (!load->chains[at].claimed)
		return;
	load_id(&load->bundle.images[at], id);
	image_usage_failed(load->operation.services->usage, id);
	load->chains[at].claimed = false;
}

static void load_stop_fetching(struct load *load)
{
	if (load->wait)
		fetch_release(take(load->wait));
}

static void load_clear(struct image_operation *operation)
{
	struct load *load = (struct load *)operation;

	load_stop_fetching(load);
	assembly_free(load->assembly);
	for (size_t i = 0; i < load->chains_count; i++) {
		load_unclaim(load, i);
		free(load->chains[i].id);
		image_chain_clear(&load->chains[i]);
	}
	free(load->chains);
	strings_clear(&load->words);
	image_bundle_clear(&load->bundle);
}

/* This machine, as images call it. */
static void load_platform(char *to, size_t size)
{
	/* clang-format off */
	static const char *const names[][2] = {
		{ "x86_64", "amd64" }, { "aarch64", "arm64" },
		{ "armv7l", "arm" }, { "i686", "386" },
		{ "loongarch64", "loong64" },
	};
	/* clang-format on */
	struct utsname machine;
	const char *name = machine.machine;

	uname(&machine);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(machine.machine, names[i][0]))
			name = names[i][1];
	snprintf(to, size, "linux/%s", name);
}

static int read_bundle(struct load *load, struct error *err)
{
	struct image_bundle *bundle = &load->bundle;
	owned(buffer_clear) struct buffer text =
		BUFFER_INIT(IMAGE_BUNDLE_BYTES_MAX);
	char platform[80];

	load_platform(platform, sizeof(platform));
	if (blob_store_text(load->operation.services->blobs,
			    load->operation.message.spec.id, &text, err) < 0 ||
	    image_bundle_parse(text.data, text.size, bundle, err) < 0 ||
	    image_bundle_choose(bundle, platform, err) < 0)
		return -1;
	load->chains = calloc(bundle->images_count, sizeof(*load->chains));
	if (!load->chains)
		return error_nomem(err, "image file");
	load->known = true;
	load->operation.progress.total_bytes = image_bundle_bytes(bundle);
	return 0;
}

/* An engine may call an image by another id than that of its config. */
static int load_begin_look(struct load *load, struct error *err)
{
	load->looked = load->listed = false;
	load->word = 0;
	strings_clear(&load->words);
	for (size_t i = 0; i < load->chains_count; i++) {
		const struct image_bundle_image *image =
			&load->bundle.images[i];
		const char *known;
		char id[ID_SIZE];

		string_set(&load->chains[i].id, NULL, NULL);
		load->chains[i].names = 0;
		load_id(image, id);
		known = image_usage_id(load->operation.services->usage, id);
		if (strings_add(&load->words, known ? known : id, err) < 0)
			return -1;
		for (size_t k = 0; k < image->tags.count; k++)
			if (strings_add(&load->words, image->tags.items[k],
					err) < 0)
				return -1;
	}
	return 0;
}

static int read_config(struct load *load, struct error *err)
{
	const struct image_bundle_image *image =
		&load->bundle.images[load->chains_count];

	if (image_chain_read(load->operation.services->blobs, image->config,
			     image->layers.count,
			     &load->chains[load->chains_count++], err) < 0)
		return -1;
	return load->chains_count == load->bundle.images_count
		       ? load_begin_look(load, err)
		       : 0;
}

/* Fetching. */

static void load_take_progress(void *arg, uint64_t bytes, uint64_t total)
{
	struct load *load = arg;

	load->operation.progress.done_bytes =
		load->here + (load->looked ? bytes : 0);
	image_operation_tell_sometimes(&load->operation);
}

static void load_fetched(void *arg, const struct error *given)
{
	struct load *load = arg;
	struct error err;
	int rc = 0;

	load->wait = NULL;
	if (given)
		rc = error_set(&err, given->code, "%s", given->text);
	else if (!load->known)
		rc = read_bundle(load, &err);
	else if (load->chains_count < load->bundle.images_count)
		rc = read_config(load, &err);
	else
		load->here += load->bundle.blobs[load->blob++].bytes;
	load->operation.progress.done_bytes = load->here;
	image_operation_go_on(&load->operation, rc, &err);
}

static void load_fetch_part(struct load *load, const char *hash)
{
	struct error err;

	image_operation_tell_sometimes(&load->operation);
	load->wait = fetch_begin(load->operation.services->fetches, hash,
				 load->known, load_take_progress, load_fetched,
				 load, &err);
	if (!load->wait)
		image_operation_fail(&load->operation, &err);
}

/* What the engine has, before it gets the images and after. */

/* The engine has another image of that name. -1: the load has failed. */
static int load_take_name(struct load *load, const char *name,
			  const cJSON *other)
{
	const struct image_services *services = load->operation.services;
	const struct policy *policy = registries_policy(services->registries);
	const char *id = json_get_text(other, "Id");
	struct error err;

	if (image_is_ours(services->usage, other, false))
		return 0;
	if (!load->operation.message.spec.replace)
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

/* Take in an image of the engine, found by this word. -1: the load has failed.
 */
static int load_take_image(struct load *load, const char *word,
			   const cJSON *answer)
{
	const char *id = json_get_text(answer, "Id");

	for (size_t i = 0; i < load->chains_count; i++) {
		const struct image_bundle_image *image =
			&load->bundle.images[i];
		struct image_chain *chain = &load->chains[i];
		bool same = image_chain_compare(chain, answer);
		bool named = strings_has(&image->tags, word);
		char want[ID_SIZE];

		load_id(image, want);
		/* One that others named may only look the same. */
		if (same && id && (!load->listed || !image->tags.count)) {
			string_set(&chain->id, id, NULL);
			image_usage_came(load->operation.services->usage, want,
					 id);
		}
		chain->names += same && named;
		if (named && !same && !load->loaded &&
		    load_take_name(load, word, answer) < 0)
			return -1;
	}
	return 0;
}

/* Does it lack an image, or a name? Names are only looked at before. */
static bool load_lacks(const struct load *load, size_t at)
{
	const struct image_chain *chain = &load->chains[at];

	return !chain->id ||
	       (!load->loaded &&
		chain->names < load->bundle.images[at].tags.count);
}

static bool load_lacks_any(const struct load *load)
{
	for (size_t i = 0; i < load->chains_count; i++)
		if (load_lacks(load, i))
			return true;
	return false;
}

static void load_inspected(void *arg, const struct error *err, cJSON *answer)
{
	struct load *load = arg;

	if (!image_operation_answered(&load->operation, err))
		return;
	if (!err &&
	    load_take_image(load, load->words.items[load->word], answer) < 0)
		return;
	load->word++;
	image_operation_step_in(&load->operation, 0);
}

static void load_listed(void *arg, const struct error *err, cJSON *answer)
{
	struct load *load = arg;
	size_t limit = load->words.count + IMAGES_MAX;
	const cJSON *item;

	if (!image_operation_answered(&load->operation, err))
		return;
	if (err)
		log_warning("all layers are loaded, also those that the engine "
			    "has: %s",
			    err->text);
	load->listed = true;
	cJSON_ArrayForEach(item, answer) {
		const char *id = json_get_text(item, "Id");

		if (id && load->words.count < limit)
			strings_add(&load->words, id, NULL);
	}
	image_operation_step_in(&load->operation, 0);
}

static void load_look(struct load *load)
{
	struct engine *engine = load->operation.services->engine;
	struct error err;

	image_operation_await(
		&load->operation,
		load->word < load->words.count
			? engine_image_inspect(engine,
					       load->words.items[load->word],
					       IMAGE_OPERATION_CALL_MS,
					       load_inspected, load, &err)
			: engine_image_list(engine, IMAGE_OPERATION_CALL_MS,
					    load_listed, load, &err),
		&err);
}

/* Layers that the engine need not get. */

/* Does the engine have this layer in each image that contains it? */
static bool load_blob_is_spare(const struct load *load, const char *hash)
{
	bool there = false;

	for (size_t i = 0; i < load->bundle.images_count; i++) {
		const struct image_bundle_image *image =
			&load->bundle.images[i];

		if (!strcmp(image->config, hash))
			return false;
		for (size_t k = 0; k < image->layers.count; k++) {
			if (strcmp(image->layers.items[k], hash) != 0)
				continue;
			if (k >= load->chains[i].there)
				return false;
			there = true;
		}
	}
	return there;
}

/* Layers of images of another platform are in none of them. */
static bool load_blob_is_used(const struct load *load, const char *hash)
{
	for (size_t i = 0; i < load->bundle.images_count; i++)
		if (!strcmp(load->bundle.images[i].config, hash) ||
		    strings_has(&load->bundle.images[i].layers, hash))
			return true;
	return false;
}

/* less: without the layers that the engine has. */
static void load_begin(struct load *load, bool less)
{
	assembly_free(take(load->assembly));
	load->looked = true;
	load->loaded = load->less = false;
	load->blob = 0;
	load->here = 0;
	for (size_t i = 0; i < load->bundle.blobs_count; i++) {
		struct image_bundle_blob *blob = &load->bundle.blobs[i];
		bool has = less && load_blob_is_spare(load, blob->hash);

		load->less |= has;
		blob->spare = has || !load_blob_is_used(load, blob->hash);
	}
	load->operation.progress.phase = (char *)"fetching";
	load->operation.progress.done_bytes = 0;
	load->operation.progress.total_bytes =
		image_bundle_bytes(&load->bundle);
	image_operation_step_in(&load->operation, 0);
}

/* One with containerd's store wants each packed blob; Podman reads each layer.
 */
static void load_informed(void *arg, const struct error *err, cJSON *answer)
{
	struct load *load = arg;

	if (image_operation_answered(&load->operation, err))
		load_begin(load,
			   !err && !image_disk_is_containerd(answer) &&
				   !engine_podman(
					   load->operation.services->engine));
}

/* The engine lacks an image. */
static void load_begin_fetching(struct load *load)
{
	struct error err;

	for (size_t i = 0; i < load->chains_count; i++) {
		if (load->chains[i].id || load_claim(load, i, &err) == 0)
			continue;
		image_operation_fail(&load->operation, &err);
		return;
	}
	load->operation.call =
		engine_info(load->operation.services->engine,
			    IMAGE_OPERATION_CALL_MS, load_informed, load, &err);
	if (!load->operation.call)
		image_operation_fail(&load->operation, &err);
}

/* What the engine has afterwards. */

static void load_lost(struct load *load, const struct image_bundle_image *image)
{
	struct error err;

	/* Start again with all layers; fetched ones are kept. */
	if (load->less) {
		load_begin(load, false);
		return;
	}
	error_set(&err, EIO,
		  "the engine has read the images, but has no %.120s: %s",
		  image->tags.items[0], load->said);
	image_operation_fail(&load->operation, &err);
}

/* The look has ended. An image without a name may be one that the engine does
 * not list.
 */
static void load_end(struct load *load)
{
	for (size_t i = 0; i < load->chains_count; i++) {
		if (load->chains[i].id) {
			load->chains[i].claimed = false;
		} else if (load->bundle.images[i].tags.count) {
			load_lost(load, &load->bundle.images[i]);
			return;
		}
	}
	if (load->packed.code) {
		if (load->packed.code == ENOSPC)
			error_prefix(&load->packed, "disk full");
		image_operation_fail(&load->operation, &load->packed);
		return;
	}
	load->operation.progress.done_bytes =
		load->operation.progress.total_bytes;
	image_operation_succeed(&load->operation, NULL);
}

/* The upload. */

static void load_said(void *arg, const cJSON *object)
{
	struct load *load = arg;
	const char *text = json_get_text(object, "stream");

	/* Of an image that it has, but could not unpack. */
	if (text && !strncmp(text, "Error unpacking image ", 22))
		engine_error(&load->packed, EIO, text);
	if (text)
		snprintf(load->said, sizeof(load->said), "%.*s",
			 (int)strcspn(text, "\r\n"), text);
}

static void loaded(void *arg, const struct error *err, cJSON *answer)
{
	struct load *load = arg;
	struct error failure = { 0 };

	/* An engine that was away begins anew when all is here. */
	if (!image_operation_answered(&load->operation, err))
		return;
	load_stop_fetching(load);
	load->loaded = true;
	if (err)
		failure = *err;
	else
		load_begin_look(load, &failure);
	if (failure.code == ENOSPC)
		error_prefix(&failure, "disk full");
	if (failure.code && failure.code != ENOSPC && load->less)
		load_begin(load, false);
	else
		image_operation_go_on(&load->operation, failure.code ? -1 : 0,
				      &failure);
}

static int load_upload(struct load *load, struct error *err)
{
	struct image_operation *operation = &load->operation;

	load->packed = (struct error){ 0 };
	assembly_free(load->assembly);
	load->assembly =
		assembly_new(operation->services->blobs, &load->bundle, err);
	if (!load->assembly)
		return -1;
	operation->call =
		engine_image_load(operation->services->engine,
				  IMAGE_OPERATION_STALL_MS, assembly_read,
				  load->assembly, load_said, loaded, load, err);
	return operation->call ? 0 : -1;
}

static void load_blobs(struct load *load)
{
	const struct image_bundle *bundle = &load->bundle;
	struct image_operation *operation = &load->operation;
	struct error err;
	bool all;

	while (load->blob < bundle->blobs_count &&
	       bundle->blobs[load->blob].spare)
		load->blob++;
	all = load->blob == bundle->blobs_count;
	if (!operation->call && (all || !load->assembly) &&
	    load_upload(load, &err) < 0) {
		image_operation_fail(operation, &err);
		return;
	}
	assembly_grow(load->assembly, load->blob);
	engine_call_resume(operation->call);
	if (!all && !load->wait)
		load_fetch_part(load, bundle->blobs[load->blob].hash);
	if (!all)
		return;
	operation->progress.phase = (char *)"loading";
	image_operation_tell(operation);
}

static void load_step(struct image_operation *operation)
{
	struct load *load = (struct load *)operation;
	const struct image_bundle *bundle = &load->bundle;

	if (!load->known)
		load_fetch_part(load, operation->message.spec.id);
	else if (load->chains_count < bundle->images_count)
		load_fetch_part(load,
				bundle->images[load->chains_count].config);
	else if (load->looked)
		load_blobs(load);
	else if (load_lacks_any(load) &&
		 (load->word < load->words.count || !load->listed))
		load_look(load);
	else if (!load->loaded && load_lacks_any(load))
		load_begin_fetching(load);
	else
		load_end(load);
}

static void load_touch(struct image_operation *operation)
{
	const struct load *load = (struct load *)operation;

	blob_store_touch(operation->services->blobs,
			 operation->message.spec.id);
	for (size_t i = 0; i < load->bundle.blobs_count; i++)
		blob_store_touch(operation->services->blobs,
				 load->bundle.blobs[i].hash);
}

static int load_allowed(const struct image_operation *operation,
			struct error *err)
{
	const struct policy *policy =
		registries_policy(operation->services->registries);

	return policy_image_check_load(policy, err);
}

const struct image_operation_kind image_operation_load = {
	.phase = "fetching",
	.size = sizeof(struct load),
	.allowed = load_allowed,
	.step = load_step,
	.touch = load_touch,
	.clear = load_clear,
};
