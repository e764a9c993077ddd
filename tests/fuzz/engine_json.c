/* engine_json.c - any bytes as the engine's answers, through the whole client:
 * every call must end, once, with an answer or with an error.
 */
#include "agent/docker/engine.h"
#include "agent/images/registry_access.h"
#include "agent/images/images.h"
#include "protocol/base/file.h"
/* Fuzz programs are linked without the helpers of the tests. */
#include "tests/unit/fake_engine.c" /* NOLINT(bugprone-suspicious-include) */

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What the input is; its first byte modulo their number. */
enum part {
	PART_VERSION, /* the body of the answer to /version */
	PART_ANSWER,  /* the body of a call's answer */
	PART_ERROR,   /* the body of a refusal, its status by the next byte */
	PART_IMAGE,   /* the body of an image's description */
	PART_RAW,     /* all that comes over the wire for a pull */
	PARTS
};

struct world {
	sd_event *loop;
	struct fake_engine *fake;
	char host[80];
	enum part part;
	const uint8_t *data;
	size_t size;
	int done;
};

static void check(bool good)
{
	if (!good)
		abort();
}

static void answer_body(struct fake_exchange *exchange, int status,
			const struct world *world)
{
	print(exchange, "HTTP/1.1 %d X\r\nContent-Length: %zu\r\n\r\n", status,
	      world->size);
	fake_raw(exchange, world->data, world->size);
}

static void answer_any(void *arg, struct fake_exchange *exchange,
		       const struct fake_request *request)
{
	static const int statuses[] = { 204, 301, 304, 400, 401, 404,
					409, 418, 500, 503, 999 };
	struct world *world = arg;
	size_t count = sizeof(statuses) / sizeof(statuses[0]);

	if (!strcmp(request->path, "/_ping")) {
		fake_version(exchange, request);
		return;
	}
	if (!strcmp(request->path, "/version")) {
		if (world->part == PART_VERSION)
			answer_body(exchange, 200, world);
		else
			fake_version(exchange, request);
		return;
	}
	switch (world->part) {
	case PART_RAW:
		fake_raw(exchange, world->data, world->size);
		fake_close(exchange);
		return;
	case PART_ERROR:
		if (!world->size)
			break;
		answer_body(exchange, statuses[world->data[0] % count], world);
		fake_close(exchange); /* some of these may have no body */
		return;
	case PART_VERSION:
		break;
	default:
		if (strncmp(request->method, "GET", 3))
			break; /* a pull of what was not found */
		answer_body(exchange, 200, world);
		return;
	}
	fake_answer(exchange, 404, "{\"message\":\"not found\"}");
}

static void on_done(void *arg, const struct error *err, cJSON *answer)
{
	struct world *world = arg;

	check(!err || (err->code && err->text[0] && !answer));
	world->done++;
}

static void on_object(void *arg, const cJSON *object)
{
	check(cJSON_IsObject(object));
}

static void on_image(void *arg, const struct error *err,
		     const struct image *image)
{
	struct world *world = arg;

	check(!err == !!image);
	if (image)
		check(image->id[0] && image->reference && image->user &&
		      image->workdir);
	world->done++;
}

static char folder[48], path[64]; /* of the socket */

static void remove_folder(void)
{
	file_remove_tree(AT_FDCWD, folder, NULL);
}

static void world_init(struct world *world)
{
	signal(SIGPIPE, SIG_IGN);
	snprintf(folder, sizeof(folder), "/tmp/fuzz-engine-%d", (int)getpid());
	check(mkdir(folder, 0700) == 0);
	snprintf(path, sizeof(path), "%s/s", folder);
	check(atexit(remove_folder) == 0);
	snprintf(world->host, sizeof(world->host), "unix://%s", path);
	check(sd_event_new(&world->loop) >= 0);
	world->fake = fake_engine_new(world->loop, path, answer_any, world);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct world world;
	static const struct registries registries;
	struct images *images = NULL;
	struct engine *engine;

	if (!world.loop)
		world_init(&world);
	if (!size)
		return 0;
	world.part = data[0] % PARTS;
	world.data = data + 1;
	world.size = size - 1;
	world.done = 0;
	engine = engine_new(world.loop, world.host, NULL, NULL);
	check(engine != NULL);
	if (world.part == PART_IMAGE) {
		images = images_new(
			&(struct image_services){ .loop = world.loop,
						  .engine = engine,
						  .state = folder,
						  .registries = &registries,
						  .retry_ms = 1 },
			NULL);
		check(image_ensure(images,
				   &(struct image_wanted){ .reference = "x" },
				   NULL, on_image, &world, NULL) != NULL);
	} else if (world.part == PART_RAW) {
		check(engine_image_pull(engine, "x", NULL, 5000, on_object,
					on_done, &world, NULL) != NULL);
	} else {
		check(engine_container_inspect(engine, "x", 5000, on_done,
					       &world, NULL) != NULL);
	}
	while (!world.done)
		sd_event_run(world.loop, UINT64_MAX);
	images_free(images);
	engine_free(engine);
	while (fake_engine_connections(world.fake))
		sd_event_run(world.loop, UINT64_MAX);
	check(world.done == 1);
	return 0;
}
