/* bare_engine.c - the engine of a benchmark: its options, and its API alone.
 */
#include "tests/bench/bare_engine.h"
#include "agent/docker/http.h"
#include "protocol/base/program.h"
#include "tests/bench/measure.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALL_MS 60000

void engine_options_read(struct engine_options *options, int argc, char **argv)
{
	/* clang-format off */
	static const struct option names[] = {
		{ "build", 1, NULL, 0 }, { "folder", 1, NULL, 0 },
		{ "engine", 1, NULL, 0 }, { "image", 1, NULL, 0 },
		{ NULL, 0, NULL, 0 },
	};
	/* clang-format on */
	const char **values[] = { &options->build, &options->folder,
				  &options->engine, &options->image };
	int option, at;

	*options = (struct engine_options){ .build = NULL };
	while ((option = getopt_long(argc, argv, "", names, &at)) != -1) {
		if (option)
			exit(EXIT_WRONG_REQUEST);
		*values[at] = optarg;
	}
	for (at = 0; names[at].name; at++)
		if (!*values[at]) {
			fprintf(stderr, "bench: missing option --%s\n",
				names[at].name);
			exit(EXIT_WRONG_REQUEST);
		}
}

struct api {
	struct http *http;
	sd_event *loop;
	char *body;
	struct bare_times *times;
	size_t ended;
	size_t left; /* not begun yet */
	size_t busy; /* lanes */
	struct error err;
};

enum call { CALL_CREATE, CALL_START, CALL_WAIT, CALL_REMOVE, CALLS };

struct lane {
	struct api *api;
	enum call call;
	char id[65];
	double began;
	struct bare_times times;
};

static void lane_send(struct lane *lane);

static void lane_stop(struct lane *lane)
{
	if (!--lane->api->busy)
		sd_event_exit(lane->api->loop, 0);
}

static void lane_begin(struct lane *lane)
{
	if (!lane->api->left || lane->api->err.code) {
		lane_stop(lane);
		return;
	}
	lane->api->left--;
	lane->call = CALL_CREATE;
	lane->began = clock_s();
	lane_send(lane);
}

static void take_id(struct lane *lane, const char *body)
{
	cJSON *object = cJSON_Parse(body);
	const char *id = cJSON_GetStringValue(
		cJSON_GetObjectItemCaseSensitive(object, "Id"));

	snprintf(lane->id, sizeof(lane->id), "%s", id ? id : "");
	cJSON_Delete(object);
}

static void lane_done(void *arg, const struct error *err,
		      const struct http_answer *answer)
{
	struct lane *lane = arg;
	struct api *api = lane->api;
	double passed_s = clock_s() - lane->began;

	if (err || answer->status >= 300) {
		if (err)
			api->err = *err;
		else
			error_set(&api->err, EIO, "engine: %d %s",
				  answer->status, answer->body);
		lane_stop(lane);
		return;
	}
	if (lane->call == CALL_CREATE) {
		lane->times.created_s = passed_s;
		take_id(lane, answer->body);
	} else if (lane->call == CALL_START) {
		lane->times.started_s = passed_s;
	} else if (lane->call == CALL_REMOVE) {
		lane->times.removed_s = passed_s;
		api->times[api->ended++] = lane->times;
		lane_begin(lane);
		return;
	}
	lane->call++;
	lane_send(lane);
}

static void lane_send(struct lane *lane)
{
	static const char *const ends[CALLS] = { "create", "start", "wait",
						 NULL };
	struct api *api = lane->api;
	enum call call = lane->call;
	char path[160];
	struct http_request request = {
		.method = call == CALL_REMOVE ? "DELETE" : "POST",
		.path = path,
		.body = call == CALL_CREATE ? api->body : NULL,
		.timeout_ms = CALL_MS,
		.done = lane_done,
		.arg = lane,
	};

	snprintf(path, sizeof(path), "/v1.41/containers/%s%s%s",
		 call == CALL_CREATE ? "" : lane->id,
		 call == CALL_CREATE || !ends[call] ? "" : "/",
		 ends[call] ? ends[call] : "");
	if (!http_send(api->http, &request, &api->err))
		lane_stop(lane);
}

static char *api_body(const char *image)
{
	cJSON *body = cJSON_CreateObject();
	cJSON *command = cJSON_AddArrayToObject(body, "Cmd");
	cJSON *host = cJSON_AddObjectToObject(body, "HostConfig");
	char *text;

	cJSON_AddStringToObject(body, "Image", image);
	cJSON_AddItemToArray(command, cJSON_CreateString("/tool"));
	cJSON_AddItemToArray(command, cJSON_CreateString("exit"));
	cJSON_AddItemToArray(command, cJSON_CreateString("0"));
	cJSON_AddStringToObject(host, "NetworkMode", "host");
	text = cJSON_PrintUnformatted(body);
	cJSON_Delete(body);
	return text;
}

int bare_engine_run(const struct engine_options *options, size_t count,
		    size_t width, struct bare_times *times, struct error *err)
{
	struct lane lanes[BARE_WIDTH_MAX] = { 0 };
	struct api api = { .times = times, .left = count, .busy = width };

	if (sd_event_new(&api.loop) < 0)
		return error_nomem(err, "event loop");
	api.body = api_body(options->image);
	api.http = http_new(api.loop, options->engine, NULL, err);
	if (!api.http)
		return -1;
	for (size_t i = 0; i < width; i++) {
		lanes[i].api = &api;
		lane_begin(&lanes[i]);
	}
	sd_event_loop(api.loop);
	http_free(api.http);
	sd_event_unref(api.loop);
	cJSON_free(api.body);
	if (api.err.code) {
		*err = api.err;
		return -1;
	}
	return 0;
}
