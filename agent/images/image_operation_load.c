/* image_operation_load.c - images that come as blobs, from a file.
 *
 * The bundle is fetched, then its configs, then its layers one after another,
 * each also from nodes that are still getting it (fetch.h), and while it is
 * still being sent to the controller. Then the engine gets an archive of them.
 * What the engine has already is not fetched, neither images nor layers below
 * them; an engine that wants these all the same gets them.
 *
 * An image counts as brought by Regatta if its config came with this bundle,
 * and the engine then had it: a load that fails leaves no claim.
 */
#include "agent/images/image_inventory.h"
#include "agent/images/image_layers.h"
#include "agent/images/images_internal.h"

#include "protocol/base/file.h"
#include "protocol/base/log.h"
#include "protocol/message/json_get.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#define ID_SIZE (BLOB_HASH_SIZE + 8)

struct load {
	struct image_operation operation;
	struct fetch_wait *wait;
	struct image_bundle bundle;
	bool known;                 /* the bundle was read */
	struct image_chain *chains; /* of its images */
	size_t chains_count;
	size_t image, tag; /* image and tag of the next inspect */
	bool lacked;       /* the engine lacks the present image */
	bool lacks;        /* the engine lacks an image or a name */
	bool *claimed;     /* of its images: entered as coming */
	struct image_layers_call *layers;
	bool looked;               /* the engine's layers were compared */
	size_t blob;               /* index of the next one to fetch */
	uint64_t here;             /* bytes of the fetched blobs */
	struct assembly *assembly; /* the archive that the engine reads */
	bool less;                 /* layers are left out of it */
	bool loaded;    /* the engine has read it; its images are looked at */
	char said[120]; /* by the engine, last */
	char given[ID_SIZE]; /* the engine's id of an image without a name */
	struct error packed; /* why it has not unpacked an image; or no code */
};

static void load_id(const struct image_bundle_image *image, char id[ID_SIZE])
{
	snprintf(id, ID_SIZE, "sha256:%s", image->config);
}

/* Forget the entries of images that the engine did not get. */
static void load_unclaim(struct load *load, size_t at)
{
	char id[ID_SIZE];

	if (!load->claimed || !load->claimed[at])
		return;
	load_id(&load->bundle.images[at], id);
	image_usage_failed(load->operation.services->usage, id);
	load->claimed[at] = false;
}

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
	for (size_t i = 0; i < load->bundle.images_count; i++)
		load_unclaim(load, i);
	for (size_t i = 0; i < load->chains_count; i++)
		image_chain_clear(&load->chains[i]);
	free(load->chains);
	free(load->claimed);
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
	owned(buffer_clear) struct buffer text;
	char platform[80];

	buffer_init(&text, IMAGE_BUNDLE_BYTES_MAX);
	load_platform(platform, sizeof(platform));
	if (blob_store_text(load->operation.services->blobs,
			    load->operation.message.spec.id, &text, err) < 0 ||
	    image_bundle_parse(text.data, text.size, bundle, err) < 0 ||
	    image_bundle_choose(bundle, platform, err) < 0)
		return -1;
	load->chains = calloc(bundle->images_count, sizeof(*load->chains));
	load->claimed = calloc(bundle->images_count, sizeof(*load->claimed));
	if (!load->chains || !load->claimed)
		return error_nomem(err, "image file");
	load->known = true;
	load->operation.progress.total_bytes = image_bundle_bytes(bundle);
	return 0;
}

static int read_config(struct load *load, struct error *err)
{
	const struct image_bundle_image *image =
		&load->bundle.images[load->chains_count];

	return image_chain_read(load->operation.services->blobs, image->config,
				image->layers.count,
				&load->chains[load->chains_count++], err);
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
	if (rc < 0) {
		image_operation_fail(&load->operation, &err);
		return;
	}
	load->operation.progress.done_bytes = load->here;
	image_operation_step_in(&load->operation, 0);
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

/* What the engine has before. */

/* An engine may call the image by another id than that of its config. */
static bool load_is_image(struct load *load, const cJSON *answer)
{
	const char *id = json_get_text(answer, "Id");
	char want[ID_SIZE], content[IMAGE_CONTENT_SIZE];

	image_inspect_content(answer, content);
	if (!id || strcmp(content, load->chains[load->image].content) != 0)
		return false;
	load_id(&load->bundle.images[load->image], want);
	image_usage_came(load->operation.services->usage, want, id);
	return true;
}

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

/* Record an image that the engine lacks as loaded by Regatta. */
static int load_claim(struct load *load, struct error *err)
{
	char id[ID_SIZE];

	load_id(&load->bundle.images[load->image], id);
	load->claimed[load->image] = true;
	return image_usage_coming(load->operation.services->usage, id,
				  IMAGE_LOADED, err);
}

static void load_next_image(struct load *load)
{
	struct error err;

	if (load->lacked && load_claim(load, &err) < 0) {
		image_operation_fail(&load->operation, &err);
		return;
	}
	load->lacks |= load->lacked;
	load->lacked = false;
	load->tag = 0;
	load->image++;
	image_operation_step_in(&load->operation, 0);
}

/* Ask for each name, even if the engine lacks the image. */
static void load_next_tag(struct load *load)
{
	const struct image_bundle_image *image =
		&load->bundle.images[load->image];

	if (load->tag++ < image->tags.count)
		image_operation_step_in(&load->operation, 0);
	else
		load_next_image(load);
}

/* Answer to an inspect by the id, then by each name of the image. */
static void load_inspected(void *arg, const struct error *err, cJSON *answer)
{
	struct load *load = arg;
	const struct image_bundle_image *image =
		&load->bundle.images[load->image];
	bool same = !err && load_is_image(load, answer);

	load->operation.call = NULL;
	if (err && image_operation_retry(&load->operation, err))
		return;
	load->lacks |= load->tag && !same;
	load->lacked = !same && (!load->tag || load->lacked);
	if (load->tag && !same && !err &&
	    load_take_name(load, image->tags.items[load->tag - 1], answer) < 0)
		return;
	load_next_tag(load);
}

/* By the engine's id, or by the name before load->tag. */
static void load_inspect(struct load *load, engine_done_fn *done)
{
	const struct image_services *services = load->operation.services;
	const struct image_bundle_image *image =
		&load->bundle.images[load->image];
	const char *target =
		load->tag ? image->tags.items[load->tag - 1] : NULL;
	char id[ID_SIZE];
	struct error err;

	load_id(image, id);
	if (!target)
		target = *load->given ? load->given
				      : image_usage_id(services->usage, id);
	load->operation.call =
		engine_image_inspect(services->engine, target ? target : id,
				     IMAGE_OPERATION_CALL_MS, done, load, &err);
	if (!load->operation.call)
		image_operation_fail(&load->operation, &err);
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
	load->looked = true;
	load->less = false;
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

static void load_compared(void *arg)
{
	struct load *load = arg;

	load->layers = NULL;
	load_begin(load, true);
}

static void load_compare(struct load *load)
{
	struct error err;

	load->layers = image_layers_begin(load->operation.services->engine,
					  load->chains, load->chains_count,
					  load_compared, load, &err);
	if (load->layers)
		return;
	log_debug("layers are not compared: %s", err.text);
	load_begin(load, false);
}

/* Start again with all layers; fetched ones are kept. */
static void load_whole(struct load *load)
{
	assembly_free(take(load->assembly));
	load->loaded = false;
	load_begin(load, false);
}

/* What the engine has afterwards. */

static void load_lost(struct load *load)
{
	const struct image_bundle_image *image =
		&load->bundle.images[load->image];
	struct error err;

	if (load->less) {
		load_whole(load);
		return;
	}
	error_set(&err, EIO,
		  "the engine has read the images, but has no %.120s: %s",
		  image->tags.count ? image->tags.items[0] : image->config,
		  load->said);
	image_operation_fail(&load->operation, &err);
}

static void load_found(void *arg, const struct error *err, cJSON *answer)
{
	struct load *load = arg;
	const struct image_bundle_image *image =
		&load->bundle.images[load->image];

	load->operation.call = NULL;
	if (err && image_operation_retry(&load->operation, err))
		return;
	if (!err && load_is_image(load, answer)) {
		load->claimed[load->image] = false;
		load->tag = 0;
	} else if (load->tag < image->tags.count) {
		load->tag++;
	} else if (image->tags.count) {
		load_lost(load);
		return;
	} else {
		load_unclaim(load, load->image);
		load->tag = 0;
	}
	image_operation_step_in(&load->operation, 0);
}

static void load_check(struct load *load)
{
	while (load->image < load->bundle.images_count &&
	       !load->claimed[load->image])
		load->image++;
	if (load->image < load->bundle.images_count) {
		load_inspect(load, load_found);
		return;
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
	/* Docker's words; its containerd store gives ids of its own. */
	if (text)
		sscanf(text, "Loaded image ID: %71[:0-9a-fsh]", load->given);
	if (text)
		snprintf(load->said, sizeof(load->said), "%.*s",
			 (int)strcspn(text, "\r\n"), text);
}

static void loaded(void *arg, const struct error *err, cJSON *answer)
{
	struct load *load = arg;
	struct error full;

	load->operation.call = NULL;
	if (!err) {
		assembly_free(take(load->assembly));
		load->loaded = true;
		load->image = load->tag = 0;
		image_operation_step_in(&load->operation, 0);
	} else if (image_operation_retry(&load->operation, err)) {
		return;
	} else if (err->code == ENOSPC) {
		full = *err;
		error_prefix(&full, "disk full");
		image_operation_fail(&load->operation, &full);
	} else if (load->less) {
		load_whole(load);
	} else {
		image_operation_fail(&load->operation, err);
	}
}

static void load_upload(struct load *load)
{
	struct image_operation *operation = &load->operation;
	struct error err;

	operation->progress.phase = (char *)"loading";
	image_operation_tell(operation);
	load->packed = (struct error){ 0 };
	load->assembly =
		assembly_new(operation->services->blobs, &load->bundle, &err);
	if (load->assembly)
		operation->call =
			engine_image_load(operation->services->engine,
					  IMAGE_OPERATION_STALL_MS,
					  assembly_read, load->assembly,
					  load_said, loaded, load, &err);
	if (!operation->call)
		image_operation_fail(operation, &err);
}

static void load_blobs(struct load *load)
{
	const struct image_bundle *bundle = &load->bundle;

	while (load->blob < bundle->blobs_count &&
	       bundle->blobs[load->blob].spare)
		load->blob++;
	if (load->blob < bundle->blobs_count)
		load_fetch_part(load, bundle->blobs[load->blob].hash);
	else
		load_upload(load);
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
	else if (!load->loaded && load->image < bundle->images_count)
		load_inspect(load, load_inspected);
	else if (load->loaded || !load->lacks)
		load_check(load);
	else if (!load->looked)
		load_compare(load);
	else
		load_blobs(load);
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
	.again = load_again,
	.touch = load_touch,
	.clear = load_clear,
};
