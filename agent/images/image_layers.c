/* image_layers.c - tells which layers of an image file the engine has
 * already.
 */
#include "agent/images/image_layers.h"

#include "protocol/base/log.h"
#include "protocol/message/json_get.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CALL_MS 30000
#define CONFIG_MAX (8 << 20)
#define ALGORITHM "sha256:"

/* The layers of one image of the file. */
struct chain {
	struct strings layers;
	size_t there; /* number of its lowest layers that the engine has */
};

struct image_layers_call {
	struct engine *engine;
	const struct image_bundle *bundle;
	struct chain *chains; /* of bundle->images */
	struct strings ids;   /* images of the engine */
	size_t next;
	struct engine_call *call;
	image_layers_done_fn *done;
	void *arg;
};

static int add_layers(const cJSON *list, struct strings *to, struct error *err)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, list)
	{
		if (!cJSON_IsString(item))
			return error_set(err, EPROTO, "a layer without a hash");
		if (strings_add(to, item->valuestring, err) < 0)
			return -1;
	}
	return 0;
}

static int image_layers_read_config(struct blob_store *contents, const char *id,
				    struct strings *layers, struct error *err)
{
	owned(buffer_clear) struct buffer text;
	cJSON *config;
	int rc;

	buffer_init(&text, CONFIG_MAX);
	if (blob_store_text(contents, id + strlen(ALGORITHM), &text, err) < 0)
		return -1;
	config = codec_parse(text.data, text.size, err);
	if (!config)
		return error_set(err, EPROTO, "%.20s: no config", id);
	rc = add_layers(json_get(json_get(config, "rootfs"), "diff_ids"),
			layers, err);
	cJSON_Delete(config);
	return rc;
}

/* Compare with the layers of an image of the engine, from the lowest. */
static void chain_compare_layers(struct chain *chain, const cJSON *layers)
{
	const cJSON *layer = layers ? layers->child : NULL;
	size_t same = 0;

	while (layer && same < chain->layers.count && cJSON_IsString(layer) &&
	       !strcmp(layer->valuestring, chain->layers.items[same])) {
		same++;
		layer = layer->next;
	}
	if (same > chain->there)
		chain->there = same;
}

/* Does the engine have this layer in each chain that contains it? */
static bool image_layer_is_spare(const struct image_layers_call *call,
				 const char *content)
{
	bool there = false;

	for (size_t i = 0; i < call->bundle->images_count; i++) {
		const struct chain *chain = &call->chains[i];

		for (size_t k = 0; k < chain->layers.count; k++) {
			const char *layer = chain->layers.items[k];

			if (strncmp(layer, ALGORITHM, strlen(ALGORITHM)) ||
			    strcmp(layer + strlen(ALGORITHM), content) != 0)
				continue;
			if (k >= chain->there)
				return false;
			there = true;
		}
	}
	return there;
}

static void image_layers_finish(struct image_layers_call *call,
				const struct error *failure)
{
	owned(strings_clear) struct strings spare = { 0 };

	if (failure)
		log_debug("the layers of the engine are unknown: %s",
			  failure->text);
	for (size_t i = 0; !failure && i < call->bundle->entries_count; i++) {
		const char *content = call->bundle->entries[i].content;

		if (content && image_layer_is_spare(call, content))
			strings_add(&spare, content, NULL);
	}
	call->done(call->arg, &spare);
	image_layers_cancel(call);
}

static void inspect_next(struct image_layers_call *call);

/* An image that was removed meanwhile has no layers. */
static void image_layers_inspected(void *arg, const struct error *err,
				   cJSON *answer)
{
	struct image_layers_call *call = arg;

	call->call = NULL;
	for (size_t i = 0; !err && i < call->bundle->images_count; i++)
		chain_compare_layers(&call->chains[i],
				     json_get(json_get(answer, "RootFS"),
					      "Layers"));
	inspect_next(call);
}

static void inspect_next(struct image_layers_call *call)
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
	inspect_next(call);
}

static void free_chains(struct image_layers_call *call)
{
	for (size_t i = 0; call->chains && i < call->bundle->images_count; i++)
		strings_clear(&call->chains[i].layers);
	free(call->chains);
}

struct image_layers_call *image_layers_begin(struct engine *engine,
					     struct blob_store *contents,
					     const struct image_bundle *bundle,
					     image_layers_done_fn *done,
					     void *arg, struct error *err)
{
	owned(image_layers_cancel) struct image_layers_call *call =
		calloc(1, sizeof(*call));

	if (call) {
		call->bundle = bundle;
		call->chains =
			calloc(bundle->images_count, sizeof(*call->chains));
	}
	if (!call || !call->chains)
		return error_null(error_nomem(err, "layers"));
	call->engine = engine;
	call->done = done;
	call->arg = arg;
	for (size_t i = 0; i < bundle->images_count; i++)
		if (image_layers_read_config(contents, bundle->images[i].id,
					     &call->chains[i].layers, err) < 0)
			return NULL;
	call->call = engine_image_list(engine, CALL_MS, image_layers_listed,
				       call, err);
	return call->call ? take(call) : NULL;
}

void image_layers_cancel(struct image_layers_call *call)
{
	if (!call)
		return;
	engine_call_cancel(call->call);
	free_chains(call);
	strings_clear(&call->ids);
	free(call);
}
