/* image_layers.c - tells which layers of some images the engine has already.
 */
#include "agent/images/image_layers.h"

#include "agent/images/image_disk.h"
#include "protocol/base/log.h"
#include "protocol/blob/image_bundle.h"
#include "protocol/message/json_get.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CALL_MS 30000

struct image_layers_call {
	struct engine *engine;
	struct image_chain *chains;
	size_t count;
	struct strings ids; /* images of the engine */
	size_t next;
	struct engine_call *call;
	image_layers_done_fn *done;
	void *arg;
};

/* Chains. */

void image_chain_clear(struct image_chain *chain)
{
	strings_clear(&chain->diff_ids);
}

int image_chain_read(struct blob_store *blobs, const char *config,
		     size_t layers, struct image_chain *chain,
		     struct error *err)
{
	owned(buffer_clear) struct buffer text;
	owned(cJSON_Delete) cJSON *tree = NULL;
	const cJSON *list, *item;

	buffer_init(&text, IMAGE_BUNDLE_CONFIG_MAX);
	if (blob_store_text(blobs, config, &text, err) < 0)
		return -1;
	tree = codec_parse(text.data, text.size, err);
	list = json_get(json_get(tree, "rootfs"), "diff_ids");
	cJSON_ArrayForEach(item, list)
	{
		if (!cJSON_IsString(item))
			return error_set(err, EPROTO,
					 "config %.12s: a layer without a hash",
					 config);
		if (strings_add(&chain->diff_ids, item->valuestring, err) < 0)
			return -1;
	}
	if (!tree || chain->diff_ids.count != layers)
		return error_set(err, EPROTO,
				 "%.12s is not the config of an image of %zu "
				 "layers",
				 config, layers);
	image_content(json_get(tree, "config"), list, chain->content);
	return 0;
}

/* How many layers are the same, from the lowest? */
static size_t chain_common(const struct image_chain *chain, const cJSON *layers)
{
	const cJSON *layer = layers ? layers->child : NULL;
	size_t same = 0;

	while (layer && same < chain->diff_ids.count && cJSON_IsString(layer) &&
	       !strcmp(layer->valuestring, chain->diff_ids.items[same])) {
		same++;
		layer = layer->next;
	}
	return same;
}

/* The engine. */

static void image_layers_finish(struct image_layers_call *call,
				const struct error *failure)
{
	if (failure)
		log_debug("the layers of the engine are unknown: %s",
			  failure->text);
	for (size_t i = 0; failure && i < call->count; i++)
		call->chains[i].there = 0;
	call->done(call->arg);
	image_layers_cancel(call);
}

static void image_layers_next(struct image_layers_call *call);

/* An image that was removed meanwhile has no layers. */
static void image_layers_inspected(void *arg, const struct error *err,
				   cJSON *answer)
{
	struct image_layers_call *call = arg;
	const cJSON *layers = json_get(json_get(answer, "RootFS"), "Layers");

	call->call = NULL;
	for (size_t i = 0; !err && i < call->count; i++) {
		size_t same = chain_common(&call->chains[i], layers);

		if (same > call->chains[i].there)
			call->chains[i].there = same;
	}
	image_layers_next(call);
}

static void image_layers_next(struct image_layers_call *call)
{
	struct error err;

	if (call->next == call->ids.count) {
		image_layers_finish(call, NULL);
		return;
	}
	call->call =
		engine_image_inspect(call->engine,
				     call->ids.items[call->next++], CALL_MS,
				     image_layers_inspected, call, &err);
	if (!call->call)
		image_layers_finish(call, &err);
}

static void image_layers_listed(void *arg, const struct error *err,
				cJSON *answer)
{
	struct image_layers_call *call = arg;
	const cJSON *item;

	call->call = NULL;
	if (err) {
		image_layers_finish(call, err);
		return;
	}
	cJSON_ArrayForEach(item, answer)
	{
		const char *id = json_get_text(item, "Id");

		if (id && call->ids.count < IMAGE_LAYERS_IMAGES_MAX)
			strings_add(&call->ids, id, NULL);
	}
	image_layers_next(call);
}

static void image_layers_informed(void *arg, const struct error *err,
				  cJSON *answer)
{
	struct image_layers_call *call = arg;
	struct error why;

	call->call = NULL;
	if (!err && image_disk_is_containerd(answer)) {
		image_layers_finish(call, NULL);
		return;
	}
	if (!err)
		call->call = engine_image_list(call->engine, CALL_MS,
					       image_layers_listed, call, &why);
	if (!call->call)
		image_layers_finish(call, err ? err : &why);
}

struct image_layers_call *image_layers_begin(struct engine *engine,
					     struct image_chain *chains,
					     size_t count,
					     image_layers_done_fn *done,
					     void *arg, struct error *err)
{
	owned(image_layers_cancel) struct image_layers_call *call =
		error_calloc(sizeof(*call), "layers", err);

	if (!call)
		return NULL;
	call->engine = engine;
	call->chains = chains;
	call->count = count;
	call->done = done;
	call->arg = arg;
	call->call =
		engine_info(engine, CALL_MS, image_layers_informed, call, err);
	return call->call ? take(call) : NULL;
}

void image_layers_cancel(struct image_layers_call *call)
{
	if (!call)
		return;
	engine_call_cancel(call->call);
	strings_clear(&call->ids);
	free(call);
}
