/* relay_names.c - the names of relays that are over leave the engine again.
 */
#include "agent/registry/relay_internal.h"

#include "protocol/log.h"
#include "protocol/loop.h"
#include "protocol/registry/reference.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CALL_MS 30000
#define AGAIN_MS 60000 /* after an engine that could not */
#define ENDED_MS 2000  /* an engine may still be ending what was given up */

static int soon_run(sd_event_source *source, uint64_t usec, void *arg);

static void look_in(struct relays *relays, uint64_t delay_ms)
{
	struct error err;

	/* At the agent's end they are left to the next one. */
	if (sd_event_get_state(relays->loop) == SD_EVENT_FINISHED)
		return;
	if (loop_timer(relays->loop, &relays->soon, delay_ms, soon_run, relays,
		       &err) < 0)
		log_warning("names of relays stay: %s", err.text);
}

void relays_ended(struct relays *relays)
{
	relays->open--;
	look_in(relays, ENDED_MS);
}

/* 127.0.0.1:<port>/regatta/<owner>/<secret>@<digest> */
static bool is_ours(const struct relays *relays, const char *name)
{
	const char *at = strstr(name, "/" RELAY_PLACE "/");
	size_t size = strlen(relays->owner);

	if (strncmp(name, RELAY_HOST ":", strlen(RELAY_HOST ":")) != 0 || !at ||
	    strcspn(name, "/") != (size_t)(at - name))
		return false;
	at += strlen("/" RELAY_PLACE "/");
	return !strncmp(at, relays->owner, size) && at[size] == '/';
}

static void remove_next(struct relays *relays);

static void removed(void *arg, const struct error *err, cJSON *answer)
{
	struct relays *relays = arg;
	char *name = relays->names.items[--relays->names.count];

	relays->call = NULL;
	if (err && err->code != ENOENT) {
		log_warning("the engine keeps the name %s: %s", name,
			    err->text);
		look_in(relays, AGAIN_MS);
	}
	free(name);
	remove_next(relays);
}

/* The last of the list. A relay that is opened meanwhile ends it: what is left
 * is found again when that one is over.
 */
static void remove_next(struct relays *relays)
{
	struct strings *names = &relays->names;
	struct error err;

	if (!relays->open && names->count) {
		relays->call =
			engine_image_remove(relays->engine,
					    names->items[names->count - 1],
					    false, CALL_MS, removed, relays,
					    &err);
		if (!relays->call)
			look_in(relays, AGAIN_MS);
	}
	if (!relays->call)
		strings_clear(names);
}

static void listed(void *arg, const struct error *err, cJSON *answer)
{
	struct relays *relays = arg;
	const cJSON *image, *name;

	relays->call = NULL;
	if (err) {
		look_in(relays, AGAIN_MS);
		return;
	}
	cJSON_ArrayForEach(image, answer)
	{
		cJSON_ArrayForEach(name, cJSON_GetObjectItemCaseSensitive(
						 image, "RepoDigests"))
		{
			if (cJSON_IsString(name) &&
			    is_ours(relays, name->valuestring))
				strings_add(&relays->names, name->valuestring,
					    NULL);
		}
	}
	remove_next(relays);
}

static int soon_run(sd_event_source *source, uint64_t usec, void *arg)
{
	struct relays *relays = arg;

	if (relays->open)
		return 0;
	/* What it is about may be older than what is looked for. */
	if (relays->call) {
		look_in(relays, ENDED_MS);
		return 0;
	}
	relays->call = engine_image_list(relays->engine, CALL_MS, listed,
					 relays, NULL);
	if (!relays->call)
		look_in(relays, AGAIN_MS);
	return 0;
}

struct relays *relays_new(sd_event *loop, struct engine *engine,
			  const char *owner, struct error *err)
{
	struct relays *relays = calloc(1, sizeof(*relays));

	if (!relays) {
		error_nomem(err, "relay");
		return NULL;
	}
	relays->loop = sd_event_ref(loop);
	relays->engine = engine;
	snprintf(relays->owner, sizeof(relays->owner), "%s", owner);
	look_in(relays, 0);
	return relays;
}

void relays_free(struct relays *relays)
{
	if (!relays)
		return;
	engine_call_cancel(relays->call);
	loop_source_free(&relays->soon);
	strings_clear(&relays->names);
	sd_event_unref(relays->loop);
	free(relays);
}
