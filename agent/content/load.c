/* load.c - images that come as contents, from a file, and go as contents.
 */
#include "agent/content/load.h"

#include "protocol/content/recipe.h"
#include "protocol/file.h"
#include "protocol/log.h"
#include "protocol/loop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#define CALL_MS 30000
#define STALL_MS 600000 /* the engine unpacks a layer without a byte */
#define TELL_MS 500
#define RETRY_MS 2000
#define RETRIES_MAX 60 /* while the engine is away */

enum phase { PHASE_FETCHING, PHASE_LOADING, PHASE_SAVING };
static const char *const phases[] = { "fetching", "loading", "saving" };

struct load {
	struct loads *loads;
	char order[CONTENT_HASH_SIZE];
	enum phase phase;
	struct fetch_wait *wait;
	struct engine_call *call;
	sd_event_source *timer;
	unsigned int retries;
	int64_t told_ms;
	uint64_t done, total; /* bytes of the contents that are here, of all */
	uint64_t coming;      /* of the one that is on its way */
	/* to load */
	struct recipe recipe;
	bool known;        /* the recipe is */
	size_t image, tag; /* that the engine is asked for */
	size_t entry;      /* that is fetched */
	struct assembly *assembly;
	/* to save */
	char *reference;
	struct incoming *incoming;
	bool checking;
	TAILQ_ENTRY(load) next;
};

struct loads {
	const struct load_config *config;
	TAILQ_HEAD(, load) list;
};

static void next_step(struct load *load);

static void load_free(struct load *load)
{
	TAILQ_REMOVE(&load->loads->list, load, next);
	if (load->wait)
		fetch_release(load->wait);
	if (load->call)
		engine_call_cancel(load->call);
	loop_source_free(&load->timer);
	assembly_free(load->assembly);
	incoming_free(load->incoming);
	recipe_clear(&load->recipe);
	free(load->reference);
	free(load);
}

static void say(struct load *load, const char *phase, const char *content,
		const struct error *err)
{
	struct message_image_state state = {
		.order = load->order,
		.phase = (char *)phase,
		.done_bytes = load->done + load->coming,
		.total_bytes = load->total,
		.content = (char *)content,
		.code = err ? err->code : 0,
		.text = err ? (char *)err->text : NULL,
	};

	load->told_ms = clock_mono_ms();
	load->loads->config->tell(load->loads->config->arg, &state);
}

static void tell(struct load *load)
{
	say(load, phases[load->phase], NULL, NULL);
}

static void tell_sometimes(struct load *load)
{
	if (clock_mono_ms() - load->told_ms >= TELL_MS)
		tell(load);
}

static void fail(struct load *load, const struct error *err)
{
	log_warning("image order=%.12s failed: %s", load->order, err->text);
	say(load, "failed", NULL, err);
	load_free(load);
}

static void succeed(struct load *load, const char *content)
{
	log_info("image order=%.12s done", load->order);
	say(load, "ready", content, NULL);
	load_free(load);
}

static int timer_run(sd_event_source *source, uint64_t usec, void *arg)
{
	next_step(arg);
	return 0;
}

static void step_in(struct load *load, uint64_t delay_ms)
{
	loop_timer(load->loads->config->loop, &load->timer, delay_ms, timer_run,
		   load, NULL);
}

/* The engine is away: it is tried again. False: that was often enough. */
static bool retry(struct load *load, const struct error *err)
{
	if ((err->code != ECONNREFUSED && err->code != ECONNRESET &&
	     err->code != ETIMEDOUT) ||
	    load->retries++ >= RETRIES_MAX)
		return false;
	assembly_free(take(load->assembly));
	incoming_free(take(load->incoming));
	step_in(load, RETRY_MS);
	return true;
}

/* Loading: the recipe, what the engine has, the parts, the engine. */

static int read_recipe(struct load *load, struct error *err)
{
	owned_fd int fd =
		contents_open(load->loads->config->contents, load->order, err);
	owned(buffer_clear) struct buffer text;
	ssize_t got = 1;

	buffer_init(&text, RECIPE_BYTES_MAX);
	if (fd < 0)
		return -1;
	while (got > 0) {
		if (buffer_reserve(&text, 65536, err) < 0)
			return -1;
		got = read(fd, text.data + text.size, 65536);
		if (got > 0)
			text.size += (size_t)got;
	}
	if (got < 0)
		return error_errno(err, "recipe");
	if (recipe_parse(text.data, text.size, &load->recipe, err) < 0)
		return -1;
	load->known = true;
	load->total = recipe_bytes(&load->recipe);
	return 0;
}

static void on_progress(void *arg, uint64_t bytes, uint64_t total)
{
	struct load *load = arg;

	load->coming = load->known ? bytes : 0;
	tell_sometimes(load);
}

static void on_fetched(void *arg, const struct error *err)
{
	struct load *load = arg;
	struct error why;

	load->wait = NULL;
	load->coming = 0;
	if (err) {
		fail(load, err);
		return;
	}
	if (!load->known) {
		if (read_recipe(load, &why) < 0) {
			fail(load, &why);
			return;
		}
	} else {
		load->done += load->recipe.entries[load->entry++].bytes;
	}
	step_in(load, 0);
}

static void fetch(struct load *load, const char *hash)
{
	struct error err;

	tell_sometimes(load);
	load->wait = fetch_begin(load->loads->config->fetches, hash,
				 on_progress, on_fetched, load, &err);
	if (!load->wait)
		fail(load, &err);
}

/* The engine says whether it has the image under this name. */
static void inspected(void *arg, const struct error *err, cJSON *answer)
{
	struct load *load = arg;
	const struct recipe_image *image = &load->recipe.images[load->image];
	const char *id = cJSON_GetStringValue(
		cJSON_GetObjectItemCaseSensitive(answer, "Id"));

	load->call = NULL;
	if (err && retry(load, err))
		return;
	if (err || !id || strcmp(id, image->id) != 0) {
		/* Not all of it is there: none of it need be asked for. */
		load->image = load->recipe.images_count;
		step_in(load, 0);
		return;
	}
	if (++load->tag >= image->tags.count) {
		load->tag = 0;
		load->image++;
	}
	if (load->image == load->recipe.images_count) {
		load->done = load->total;
		succeed(load, NULL);
	} else {
		step_in(load, 0);
	}
}

static void inspect(struct load *load)
{
	const struct recipe_image *image = &load->recipe.images[load->image];
	struct error err;

	load->call = engine_image_inspect(load->loads->config->engine,
					  image->tags.count
						  ? image->tags.items[load->tag]
						  : image->id,
					  CALL_MS, inspected, load, &err);
	if (!load->call)
		fail(load, &err);
}

static void on_object(void *arg, const cJSON *object)
{
}

static void loaded(void *arg, const struct error *err, cJSON *answer)
{
	struct load *load = arg;

	load->call = NULL;
	if (!err)
		succeed(load, NULL);
	else if (!retry(load, err))
		fail(load, err);
}

static void give_engine(struct load *load)
{
	struct error err;

	load->phase = PHASE_LOADING;
	tell(load);
	load->assembly = assembly_new(load->loads->config->contents,
				      &load->recipe, &err);
	if (load->assembly)
		load->call =
			engine_image_load(load->loads->config->engine, STALL_MS,
					  assembly_read, load->assembly,
					  on_object, loaded, load, &err);
	if (!load->call)
		fail(load, &err);
}

static void load_step(struct load *load)
{
	const struct recipe *recipe = &load->recipe;

	if (!load->known) {
		fetch(load, load->order);
		return;
	}
	if (load->image < recipe->images_count) {
		inspect(load);
		return;
	}
	while (load->entry < recipe->entries_count &&
	       (!recipe->entries[load->entry].content ||
		recipe_repeats(recipe, load->entry)))
		load->entry++;
	if (load->entry < recipe->entries_count)
		fetch(load, recipe->entries[load->entry].content);
	else
		give_engine(load);
}

/* Saving. */

static void check_saved(struct load *load)
{
	char hash[CONTENT_HASH_SIZE];
	struct error err = { 0 };
	int rc = incoming_finish(load->incoming, hash, &err);

	if (rc > 0) {
		step_in(load, 0);
	} else if (rc < 0) {
		fail(load, &err);
	} else {
		load->done = load->total = incoming_length(load->incoming);
		succeed(load, hash);
	}
}

static int take_data(void *arg, const void *data, size_t size,
		     struct error *err)
{
	struct load *load = arg;

	load->done += size;
	tell_sometimes(load);
	return incoming_write(load->incoming, data, size, err);
}

static void saved(void *arg, const struct error *err, cJSON *answer)
{
	struct load *load = arg;

	load->call = NULL;
	if (err && !retry(load, err)) {
		fail(load, err);
	} else if (!err) {
		load->checking = true;
		check_saved(load);
	}
}

static void save_step(struct load *load)
{
	struct error err;

	if (load->checking) {
		check_saved(load);
		return;
	}
	load->done = 0;
	load->incoming = incoming_new(load->loads->config->contents, NULL,
				      CONTENT_BYTES_MAX, &err);
	if (load->incoming)
		load->call = engine_image_save(load->loads->config->engine,
					       load->reference, STALL_MS,
					       take_data, saved, load, &err);
	if (!load->call)
		fail(load, &err);
}

/* The policy may be another since the last step. */
static void next_step(struct load *load)
{
	const struct guard *guard = load->loads->config->guard;
	struct error err;

	if ((load->phase == PHASE_SAVING
		     ? guard_save(guard, load->reference, &err)
		     : guard_load(guard, &err)) < 0) {
		fail(load, &err);
		return;
	}
	if (load->phase == PHASE_SAVING)
		save_step(load);
	else
		load_step(load);
}

/* Orders. */

/* NULL: it is under way, or cannot be; that is told. */
static struct load *load_new(struct loads *loads, const char *order,
			     enum phase phase)
{
	struct message_image_state state = { .order = (char *)order,
					     .phase = (char *)"failed" };
	struct load *load;

	TAILQ_FOREACH(load, &loads->list, next)
	{
		if (!strcmp(load->order, order)) {
			tell(load);
			return NULL;
		}
	}
	load = content_hash_valid(order) ? calloc(1, sizeof(*load)) : NULL;
	if (!load) {
		state.code = EPROTO;
		state.text = (char *)"not the name of an order";
		loads->config->tell(loads->config->arg, &state);
		return NULL;
	}
	load->loads = loads;
	load->phase = phase;
	memcpy(load->order, order, sizeof(load->order));
	TAILQ_INSERT_TAIL(&loads->list, load, next);
	return load;
}

void loads_load(struct loads *loads, const struct message_image_load *order)
{
	struct load *load = load_new(loads, order->recipe, PHASE_FETCHING);

	if (load)
		step_in(load, 0);
}

void loads_save(struct loads *loads, const struct message_image_save *order)
{
	struct load *load = load_new(loads, order->order, PHASE_SAVING);
	struct error err;

	if (!load)
		return;
	load->reference = strdup(order->reference);
	if (load->reference) {
		step_in(load, 0);
	} else {
		error_nomem(&err, "image");
		fail(load, &err);
	}
}

static void touch(struct loads *loads, const char *hash)
{
	int fd = contents_open(loads->config->contents, hash, NULL);

	if (fd >= 0)
		close(fd);
}

void loads_touch(struct loads *loads)
{
	const struct load *load;

	TAILQ_FOREACH(load, &loads->list, next)
	{
		for (size_t i = 0; i < load->recipe.entries_count; i++)
			if (load->recipe.entries[i].content)
				touch(loads, load->recipe.entries[i].content);
	}
}

struct loads *loads_new(const struct load_config *config, struct error *err)
{
	struct loads *loads = calloc(1, sizeof(*loads));

	if (!loads) {
		error_nomem(err, "images");
		return NULL;
	}
	TAILQ_INIT(&loads->list);
	loads->config = config;
	return loads;
}

void loads_free(struct loads *loads)
{
	if (!loads)
		return;
	while (!TAILQ_EMPTY(&loads->list))
		load_free(TAILQ_FIRST(&loads->list));
	free(loads);
}
