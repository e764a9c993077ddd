/* inside_tool.c - runs a stack tool of an image, in its container.
 */
#include "agent/evidence/inside_tool.h"
#include "agent/docker/create_body.h"
#include "protocol/base/buffer.h"
#include "protocol/message/json_get.h"

#include <arpa/inet.h>
#include <limits.h>
#include <string.h>

#define FRAME_HEAD 8

struct inside_tool {
	struct engine *engine;
	struct engine_call *call;
	uint32_t timeout_ms;
	inside_tool_fn *done;
	void *arg;
	size_t output_max;
	struct buffer frames; /* as received */
};

void inside_tool_cancel(struct inside_tool *tool)
{
	if (!tool)
		return;
	engine_call_cancel(tool->call);
	buffer_clear(&tool->frames);
	free(tool);
}

/* Put the bytes of the frames together, in place. */
static const char *inside_tool_output(struct buffer *frames)
{
	size_t at = 0, size = 0;

	while (frames->size - at > FRAME_HEAD) {
		uint32_t length;
		size_t left;

		memcpy(&length, frames->data + at + 4, sizeof(length));
		at += FRAME_HEAD;
		left = frames->size - at;
		length = ntohl(length) < left ? ntohl(length) : (uint32_t)left;
		memmove(frames->data + size, frames->data + at, length);
		size += length;
		at += length;
	}
	if (!size)
		return "";
	frames->data[size] = 0;
	return frames->data;
}

/* The program may print as much as it likes. */
static int inside_tool_data(void *arg, const void *data, size_t size,
			    struct error *err)
{
	struct inside_tool *tool = arg;
	size_t left = tool->output_max - tool->frames.size;

	return buffer_append(&tool->frames, data, size < left ? size : left,
			     err);
}

static void inside_tool_end(struct inside_tool *tool, const char *text)
{
	tool->call = NULL;
	tool->done(tool->arg, text);
	inside_tool_cancel(tool);
}

static void inside_tool_ended(void *arg, const struct error *err, cJSON *answer)
{
	struct inside_tool *tool = arg;

	inside_tool_end(tool, err ? "" : inside_tool_output(&tool->frames));
}

static void inside_tool_ready(void *arg, const struct error *err, cJSON *answer)
{
	struct inside_tool *tool = arg;

	tool->call =
		err ? NULL
		    : engine_exec_start(tool->engine,
					json_get_text_or_empty(answer, "Id"),
					tool->timeout_ms, inside_tool_data,
					inside_tool_ended, tool, NULL);
	if (!tool->call)
		inside_tool_end(tool, "");
}

/* Where the container has regatta-init, by the kernel's word. */
static bool init_path_read(pid_t init, char path[PATH_MAX])
{
	char name[40];
	ssize_t size;

	snprintf(name, sizeof(name), "/proc/%d/exe", (int)init);
	size = readlink(name, path, PATH_MAX - 1);
	if (size <= 0)
		return false;
	path[size] = 0;
	return !strncmp(path, CONTAINER_INIT_PREFIX,
			strlen(CONTAINER_INIT_PREFIX)) &&
	       strlen(path) < CONTAINER_INIT_SIZE;
}

struct inside_tool *inside_tool_run(const struct inside_place *place,
				    const struct strings *argv,
				    uint32_t timeout_ms, size_t output_max,
				    inside_tool_fn *done, void *arg)
{
	owned(strings_clear) struct strings words = { 0 };
	struct inside_tool *tool;
	char path[PATH_MAX];

	if (!init_path_read(place->init, path) ||
	    strings_add(&words, path, NULL) < 0 ||
	    strings_add(&words, CONTAINER_INIT_RUN, NULL) < 0)
		return NULL;
	for (size_t i = 0; i < argv->count; i++)
		if (strings_add(&words, argv->items[i], NULL) < 0)
			return NULL;
	tool = calloc(1, sizeof(*tool));
	if (!tool)
		return NULL;
	*tool = (struct inside_tool){ .engine = place->engine,
				      .timeout_ms = timeout_ms,
				      .done = done,
				      .arg = arg,
				      .output_max = output_max };
	buffer_init(&tool->frames, output_max + 1);
	tool->call =
		engine_exec_create(place->engine, place->container, &words,
				   timeout_ms, inside_tool_ready, tool, NULL);
	if (tool->call)
		return tool;
	inside_tool_cancel(tool);
	return NULL;
}
