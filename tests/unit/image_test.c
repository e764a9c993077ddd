/* image_test.c - bringing images to a node, against a scripted engine.
 */
#include "agent/images/images.h"

#include "agent/docker/create_body.h"
#include "agent/images/registry_access.h"

#include "protocol/base/clock.h"
#include "protocol/base/file.h"
#include "protocol/base/loop.h"
#include "tests/tap.h"
#include "tests/unit/fake_engine.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#define PULLS_MAX 4

#define PODMAN_PING                                                            \
	"HTTP/1.1 200 OK\r\nApi-Version: 1.41\r\nLibpod-Api-Version: 4.3.1"    \
	"\r\nContent-Length: 2\r\n\r\nOK"

#define LONG                                                                   \
	"application/vnd.docker.image.rootfs.diff.tar.gzip sha256:"            \
	"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

struct world {
	sd_event *loop;
	char folder[64];
	char socket[96];
	char host[112];
	struct fake_engine *fake;
	struct engine *engine;
	struct registries registries;
	struct images *images;
	/* the scripted engine */
	bool present;       /* it has the image */
	const char *label;  /* of the image it has */
	const char *config; /* its answer to inspect, instead of ours */
	int status;         /* of a pull or build */
	const char *text[PULLS_MAX]; /* what the nth pull or build prints */
	bool silent;                 /* and then nothing more */
	bool repeats;                /* but the same again and again */
	sd_event_source *again;
	struct fake_exchange *pull;
	bool touch;    /* an inspect changes the build folder */
	int exit_code; /* of a container */
	bool podman;   /* it is Podman; a pull leaves the image as it is */
	/* what it saw */
	int inspects, pulls, builds, asked;
	const char *confirms; /* its registry's answer; NULL: 404 */
	char seen[600];       /* the last path but /version */
	char pulled[600];     /* of the last pull */
	char steps[800]; /* methods and paths of containers, without queries */
	char body[1000]; /* of the last one that was created */
	size_t context;
	bool gone; /* a connection was closed */
};

struct outcome {
	struct world *world;
	struct image_wait *wait;
	struct image_wait *victim; /* to release in a callback */
	int done;
	int told; /* the extracting */
	struct error err;
	struct image_progress last;
	char id[100], reference[200], digest[200], user[40], workdir[40];
	char *entrypoint, *command, *env;
	uint64_t size_bytes;
};

static void on_gone(void *arg)
{
	struct world *world = arg;

	world->gone = true;
	loop_source_free(&world->again);
}

static void write_file(const char *folder, const char *name, const char *text)
{
	char path[300];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0644);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		exit(1);
	close(fd);
}

static void answer_inspect(struct world *world, struct fake_exchange *exchange)
{
	char text[1000];

	world->inspects++;
	if (world->touch)
		write_file(world->folder, "cpu/data", "changed");
	if (!world->present) {
		fake_answer(exchange, 404,
			    "{\"message\":\"No such image: x\"}");
		return;
	}
	snprintf(text, sizeof(text),
		 "{\"Id\":\"sha256:abc\",\"Size\":1234,\"RepoDigests\":"
		 "[\"other@sha256:1\",\"busybox@sha256:2\"],\"Config\":{"
		 "\"Entrypoint\":[\"/bin/e\",\"x\"],\"Cmd\":[\"c\"],"
		 "\"Env\":[\"A=b\"],\"User\":\"7\",\"WorkingDir\":\"/w\","
		 "\"Labels\":{\"regatta.context\":\"%s\"}}}",
		 world->label ? world->label : "");
	fake_answer(exchange, 200, world->config ? world->config : text);
}

static int repeat(sd_event_source *source, uint64_t usec, void *arg)
{
	struct world *world = arg;

	fake_chunk(world->pull, world->text[0]);
	loop_timer(world->loop, &world->again, 5, repeat, world, NULL);
	return 0;
}

static void answer_work(struct world *world, struct fake_exchange *exchange,
			int n)
{
	const char *text = world->text[n < PULLS_MAX ? n : PULLS_MAX - 1];

	if (world->status != 200) {
		fake_answer(exchange, world->status, text);
		return;
	}
	fake_begin(exchange, 200);
	if (text)
		fake_chunk(exchange, text);
	world->pull = exchange;
	if (world->repeats)
		loop_timer(world->loop, &world->again, 5, repeat, world, NULL);
	if (world->silent)
		return;
	fake_end(exchange);
	world->present = world->podman || !text || !strstr(text, "error");
}

/* A container, and what is made of it. */
static void answer_container(struct world *world,
			     struct fake_exchange *exchange,
			     const struct fake_request *request)
{
	static const char frame[] = { 1,   0, 0, 0, 0, 0, 0, 4, 'h', 'a', 'l',
				      'f', 2, 0, 0, 0, 0, 0, 0, 1,   '\n' };
	const char *path = fake_path(request);
	size_t used = strlen(world->steps);
	char code[40];

	snprintf(world->steps + used, sizeof(world->steps) - used, "%s%s ",
		 used ? "\n" : "", request->method);
	used = strlen(world->steps);
	/* Names are random: eight digits. */
	for (const char *at = path;
	     *at && *at != '?' && used < sizeof(world->steps) - 1; at++) {
		world->steps[used++] = *at;
		if ((at[0] == '-' || at[0] == ':') &&
		    strspn(at + 1, "0123456789abcdef") == 8)
			at += 8;
	}
	world->steps[used] = 0;
	if (strstr(path, "/logs?")) {
		fake_begin(exchange, 200);
		fake_bytes(exchange, frame, 5); /* broken anywhere */
		fake_bytes(exchange, frame + 5, sizeof(frame) - 5);
		fake_end(exchange);
	} else if (strstr(path, "/wait?")) {
		snprintf(code, sizeof(code), "{\"StatusCode\":%d}",
			 world->exit_code);
		fake_answer(exchange, 200, code);
	} else if (strstr(path, "/create?")) {
		snprintf(world->body, sizeof(world->body), "%s", request->body);
		fake_answer(exchange, 201, "{\"Id\":\"abc\"}");
	} else {
		world->present |= !strncmp(path, "/commit", 7);
		fake_answer(exchange, 200, "{}");
	}
}

static void script(void *arg, struct fake_exchange *exchange,
		   const struct fake_request *request)
{
	struct world *world = arg;
	const char *path = fake_path(request);

	fake_on_gone(exchange, on_gone, world);
	if (world->podman && !strcmp(path, "/_ping")) {
		fake_raw(exchange, PODMAN_PING, strlen(PODMAN_PING));
		return;
	}
	if (fake_version(exchange, request))
		return;
	if (!strcmp(path, "/info")) {
		fake_answer(exchange, 200, "{}");
		return;
	}
	if (!strncmp(path, "/distribution/", 14)) {
		world->asked++;
		fake_answer(exchange, world->confirms ? 200 : 404,
			    world->confirms ? world->confirms
					    : "{\"message\":\"not found\"}");
		return;
	}
	snprintf(world->seen, sizeof(world->seen), "%s", path);
	if (!strncmp(path, "/images/create", 14)) {
		snprintf(world->pulled, sizeof(world->pulled), "%s", path);
		answer_work(world, exchange, world->pulls++);
	} else if (!strncmp(path, "/build", 6)) {
		world->context = request->size;
		answer_work(world, exchange, world->builds++);
		/* The image by the name that was asked for is another one. */
		world->present &= !strstr(path, "regatta-build");
	} else if (!strncmp(path, "/containers/", 12) ||
		   !strncmp(path, "/commit", 7) ||
		   !strcmp(request->method, "DELETE")) {
		answer_container(world, exchange, request);
	} else {
		answer_inspect(world, exchange);
	}
}

static void on_news(void *arg, const struct image_news *news)
{
	struct outcome *outcome = arg;

	outcome->last = news->progress;
	if (strcmp(outcome->last.phase, "extracting") != 0)
		return;
	outcome->told++;
}

static void done(void *arg, const struct error *err, const struct image *image)
{
	struct outcome *outcome = arg;

	outcome->done++;
	outcome->wait = NULL;
	if (err)
		outcome->err = *err;
	if (image) {
		snprintf(outcome->id, sizeof(outcome->id), "%s", image->id);
		snprintf(outcome->reference, sizeof(outcome->reference), "%s",
			 image->reference);
		snprintf(outcome->digest, sizeof(outcome->digest), "%s",
			 image->digest ? image->digest : "(NULL)");
		snprintf(outcome->user, sizeof(outcome->user), "%s",
			 image->user);
		snprintf(outcome->workdir, sizeof(outcome->workdir), "%s",
			 image->workdir);
		if (image->entrypoint)
			outcome->entrypoint =
				cJSON_PrintUnformatted(image->entrypoint);
		if (image->command)
			outcome->command =
				cJSON_PrintUnformatted(image->command);
		if (image->env)
			outcome->env = cJSON_PrintUnformatted(image->env);
		outcome->size_bytes = image->size_bytes;
	}
	image_release(outcome->victim);
	outcome->victim = NULL;
}

static void reset(struct outcome *outcome)
{
	free(outcome->entrypoint);
	free(outcome->command);
	free(outcome->env);
	*outcome = (struct outcome){ 0 };
}

static void begin(struct world *world, struct outcome *outcome,
		  const char *reference, const char *build)
{
	const struct image_wanted wanted = { .reference = reference,
					     .build = build };

	reset(outcome);
	outcome->world = world;
	outcome->wait = image_ensure(world->images, &wanted, on_news, done,
				     outcome, &outcome->err);
	if (!outcome->wait) {
		printf("Bail out! %s\n", outcome->err.text);
		exit(1);
	}
}

static void wait_done(struct world *world, struct outcome *outcome)
{
	while (!outcome->done)
		sd_event_run(world->loop, UINT64_MAX);
}

static void ensure(struct world *world, struct outcome *outcome,
		   const char *reference, const char *build)
{
	begin(world, outcome, reference, build);
	wait_done(world, outcome);
}

static void wait_gone(struct world *world)
{
	while (!world->gone)
		sd_event_run(world->loop, UINT64_MAX);
}

/* An engine without the image, whose first pull or build prints text. */
static void engine_with(struct world *world, int status, const char *text)
{
	for (int i = 0; i < PULLS_MAX; i++)
		world->text[i] = text;
	world->status = status;
	world->present = world->silent = world->touch = world->gone = false;
	world->repeats = false;
	loop_source_free(&world->again);
	world->label = world->config = NULL;
	world->inspects = world->pulls = world->builds = 0;
}

/* image_devices_fn */
static int devices(void *arg, cJSON *list, struct error *err)
{
	return container_add_device(list, "/dev/zero:/dev/x:r", NULL, err);
}

static void new_images(struct world *world, uint32_t stall_ms,
		       uint32_t retry_ms)
{
	images_free(world->images);
	world->images =
		images_new(&(struct image_services){ .loop = world->loop,
						     .engine = world->engine,
						     .registries =
							     &world->registries,
						     .folder = world->folder,
						     .state = world->folder,
						     .stall_ms = stall_ms,
						     .retry_ms = retry_ms,
						     .owner = "c/n/1",
						     .devices = devices },
			   NULL);
}

static void new_engine(struct world *world)
{
	struct error err;

	images_free(take(world->images));
	engine_free(world->engine);
	world->engine = engine_new(world->loop, world->host, NULL, &err);
	if (!world->engine)
		exit(1);
	new_images(world, 20000, 10);
}

static void open_world(struct world *world)
{
	char path[128];

	*world = (struct world){ 0 };
	snprintf(world->folder, sizeof(world->folder),
		 "/tmp/image-test-XXXXXX");
	if (!mkdtemp(world->folder) || sd_event_new(&world->loop) < 0)
		exit(1);
	snprintf(path, sizeof(path), "%s/cpu", world->folder);
	if (mkdir(path, 0755) < 0)
		exit(1);
	write_file(path, "Dockerfile", "FROM scratch\n");
	write_file(path, "data", "data");
	snprintf(world->socket, sizeof(world->socket), "%s/s", world->folder);
	snprintf(world->host, sizeof(world->host), "unix://%s", world->socket);
	world->fake =
		fake_engine_new(world->loop, world->socket, script, world);
	new_engine(world);
}

static void close_world(struct world *world)
{
	images_free(world->images);
	engine_free(world->engine);
	fake_engine_free(world->fake);
	file_remove_tree(AT_FDCWD, world->folder, NULL);
	sd_event_unref(world->loop);
}

static void present(struct world *world)
{
	struct outcome outcome = { 0 };

	engine_with(world, 200, NULL);
	world->present = true;
	ensure(world, &outcome, "busybox", NULL);
	ok(world->inspects == 1 && !world->pulls,
	   "an image that is there is not pulled");
	is(world->seen, "/images/busybox/json", "only looked at");
	is(outcome.id, "sha256:abc", "its id");
	is(outcome.reference, "busybox", "its reference");
	is(outcome.digest, "busybox@sha256:2", "the digest of its own name");
	is(outcome.entrypoint, "[\"/bin/e\",\"x\"]", "its entry point");
	is(outcome.command, "[\"c\"]", "its command");
	is(outcome.env, "[\"A=b\"]", "its environment");
	is(outcome.user, "7", "its user");
	is(outcome.workdir, "/w", "its working folder");
	is_int((long long)outcome.size_bytes, 1234, "its size");
	world->config = "{\"Id\":\"sha256:1\",\"Config\":{\"Cmd\":null,"
			"\"Entrypoint\":[],\"Env\":[1]}}";
	ensure(world, &outcome, "busybox", NULL);
	ok(!outcome.command && !outcome.entrypoint && !outcome.env &&
		   !outcome.user[0] && !outcome.workdir[0],
	   "what it lacks is NULL or empty");
	is(outcome.digest, "(NULL)", "also its digest");
	world->config = "{}";
	ensure(world, &outcome, "busybox", NULL);
	is_int(outcome.err.code, EPROTO, "one without id: %s",
	       outcome.err.text);
	reset(&outcome);
}

#define OWN                                                                    \
	"sha256:"                                                              \
	"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define CONFIRMS(digest) "{\"Descriptor\":{\"digest\":\"" digest "\"}}"

/* Engines with containerd's store give each image a digest. */
static void confirmed(struct world *world)
{
	struct outcome outcome = { 0 };

	engine_with(world, 200, NULL);
	world->present = true;
	world->asked = 0;
	world->config = "{\"Id\":\"" OWN "\",\"RepoDigests\":[\"x@" OWN "\"]}";
	ensure(world, &outcome, "x", NULL);
	ensure(world, &outcome, "x:1", NULL);
	is(outcome.digest, "(NULL)", "what no registry has has no digest");
	is_int(world->asked, 1, "for which it was asked once");
	new_images(world, 20000, 10);
	world->confirms = CONFIRMS(OWN);
	ensure(world, &outcome, "x", NULL);
	ensure(world, &outcome, "x:1", NULL);
	is(outcome.digest, "x@" OWN, "what it has is pinned to it");
	is_int(world->asked, 2, "which was asked once, too");
	new_images(world, 20000, 10);
	world->confirms = NULL;
	ensure(world, &outcome, "x@" OWN, NULL);
	is(outcome.digest, "x@" OWN, "whoever names a digest need not ask");
	is_int(world->asked + world->pulls, 2, "anyone");
	reset(&outcome);
}

/* Podman gives one to each image, too, and tells none of a registry. */
static void confirmed_by_podman(struct world *world)
{
	static const char lacks[] = "{\"error\":\"manifest unknown\"}\n";
	struct outcome outcome = { 0 };

	engine_with(world, 200, lacks);
	world->present = world->podman = true;
	world->config = "{\"Id\":\"sha256:1\",\"RepoDigests\":[\"x@" OWN "\"]}";
	new_engine(world);
	ensure(world, &outcome, "x", NULL);
	ensure(world, &outcome, "x:1", NULL);
	is(outcome.digest, "(NULL)", "a digest of Podman's own is no digest");
	is_int(world->pulls, 1, "its registry was asked once");
	new_images(world, 20000, 10);
	world->text[1] = NULL;
	ensure(world, &outcome, "x", NULL);
	is(outcome.digest, "x@" OWN, "one that the registry has, is");
	ok(strstr(world->pulled, OWN + 7) && world->pulls == 2,
	   "a pull by it tells: %s", world->pulled);
	world->podman = false;
	new_engine(world);
	reset(&outcome);
}

static const char words[] =
	"{\"status\":\"Pulling from library/busybox\",\"id\":\"latest\"}\n"
	"{\"status\":\"Already exists\",\"progressDetail\":{},\"id\":\"a\"}\n"
	"{\"status\":\"Pulling fs layer\",\"progressDetail\":{},\"id\":\"b\"}\n"
	"{\"status\":\"Pulling fs layer\",\"progressDetail\":{},\"id\":\"c\"}\n"
	"{\"status\":\"Downloading\",\"progressDetail\":"
	"{\"current\":50,\"total\":100},\"id\":\"b\"}\n"
	"{\"status\":\"Download complete\",\"progressDetail\":{},"
	"\"id\":\"b\"}\n"
	"{\"status\":\"Downloading\",\"progressDetail\":"
	"{\"current\":10,\"total\":1000},\"id\":\"c\"}\n"
	"{\"status\":\"Extracting\",\"progressDetail\":"
	"{\"current\":5,\"total\":100},\"id\":\"b\"}\n"
	"{\"status\":\"Verifying Checksum\",\"progressDetail\":{},"
	"\"id\":\"c\"}\n"
	"{\"status\":\"Pull complete\",\"progressDetail\":{},\"id\":\"b\"}\n"
	"{\"status\":\"Digest: sha256:2\"}\n";

static void single_flight(struct world *world)
{
	struct outcome one = { 0 }, two = { 0 }, three = { 0 }, other = { 0 };

	engine_with(world, 200, words);
	begin(world, &one, "busybox", NULL);
	begin(world, &two, "busybox", NULL);
	begin(world, &three, "busybox", NULL);
	image_release(three.wait);
	ok(!one.done && !two.done, "nothing is done inside the call");
	wait_done(world, &one);
	wait_done(world, &two);
	ok(world->pulls == 1 && world->inspects == 2,
	   "many who wait cost one pull");
	is(two.id, "sha256:abc", "and each gets the image");
	ok(one.told >= 1 && two.told == one.told, "and the progress");
	ok(!three.done && !three.told, "but not who has left");
	ok(!strcmp(one.last.phase, "extracting") &&
		   one.last.done_bytes == 100 && one.last.total_bytes == 1100 &&
		   one.last.layers == 2 && one.last.layers_total == 3,
	   "the last progress sums all layers: %s %llu/%llu "
	   "%u/%u",
	   one.last.phase, (unsigned long long)one.last.done_bytes,
	   (unsigned long long)one.last.total_bytes, one.last.layers,
	   one.last.layers_total);
	engine_with(world, 200, NULL);
	begin(world, &one, "busybox", NULL);
	begin(world, &other, "alpine", NULL);
	wait_done(world, &one);
	wait_done(world, &other);
	is_int(world->pulls, 2, "two images are two pulls");
	reset(&one);
	reset(&two);
	reset(&other);
}

static void retries(struct world *world)
{
	struct outcome outcome = { 0 };
	int64_t began;

	engine_with(world, 200, NULL);
	world->text[0] = world->text[1] =
		"{\"error\":\"dial tcp: connection refused\"}\n";
	ensure(world, &outcome, "busybox", NULL);
	ok(!outcome.err.code && world->pulls == 3,
	   "a pull is tried three times");
	engine_with(world, 200, "{\"error\":\"net/http: TLS timeout\"}\n");
	ensure(world, &outcome, "busybox", NULL);
	ok(outcome.err.code == EIO && world->pulls == 3, "and no more: %s",
	   outcome.err.text);
	engine_with(world, 200, NULL);
	world->text[0] = world->text[1] =
		"{\"error\":\"toomanyrequests: rate limit\"}\n";
	began = clock_mono_ms();
	ensure(world, &outcome, "busybox", NULL);
	ok(!outcome.err.code && clock_mono_ms() - began >= 750,
	   "a registry with too many requests is left alone for longer");
	engine_with(world, 500, "{\"message\":\"unexpected EOF\"}");
	ensure(world, &outcome, "busybox", NULL);
	ok(outcome.err.code == EIO && world->pulls == 3,
	   "also when the engine refuses: %s", outcome.err.text);
	engine_with(world, 200, "{\"id\":\"a\",\"status\":\"Downloading\"}\n");
	world->silent = true;
	new_images(world, 60, 10);
	ensure(world, &outcome, "busybox", NULL);
	ok(outcome.err.code == ETIMEDOUT && world->pulls == 3, "or stalls: %s",
	   outcome.err.text);
	is_int(outcome.last.tries, 3, "the progress counts the tries");
	engine_with(world, 200, "{\"id\":\"a\",\"status\":\"Downloading\"}\n");
	world->silent = world->repeats = true;
	ensure(world, &outcome, "busybox", NULL);
	ok(outcome.err.code == ETIMEDOUT && world->pulls == 3,
	   "or goes on saying the same: %s", outcome.err.text);
	engine_with(world, 200, NULL);
	new_images(world, 20000, 10);
	reset(&outcome);
}

static void final_errors(struct world *world)
{
	static const struct {
		const char *text;
		int status;
		int code;
	} cases[] = {
		{ "{\"message\":\"manifest for x not found: manifest "
		  "unknown\"}",
		  404, ENOENT },
		{ "{\"message\":\"pull access denied for x, repository does "
		  "not exist\"}",
		  500, ENOENT },
		{ "{\"message\":\"Get https://r/: unauthorized\"}", 500,
		  ENOENT },
		{ "{\"error\":\"manifest unknown\"}\n", 200, ENOENT },
		{ "{\"error\":\"failed to register layer: write /x: no space "
		  "left on device\"}\n",
		  200, ENOSPC },
		{ "{\"error\":\"failed to extract layer (" LONG LONG
		  "): no space left on device\"}\n",
		  200, ENOSPC },
		{ "{\"message\":\"invalid reference format\"}", 400, EINVAL },
		{ "{\"message\":\"no matching manifest for linux/amd64 in the "
		  "manifest list entries\"}",
		  404, ENOENT },
		{ "{\"message\":\"Get https://r/v2/: x509: certificate signed "
		  "by unknown authority\"}",
		  500, EACCES },
	};
	struct outcome outcome = { 0 };
	struct error err;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		engine_with(world, cases[i].status, cases[i].text);
		ensure(world, &outcome, "x", NULL);
		ok(outcome.err.code == cases[i].code && world->pulls == 1,
		   "final at once: %s", outcome.err.text);
	}
	ok(!image_ensure(world->images,
			 &(struct image_wanted){ .reference = "A" }, NULL, done,
			 NULL, &err) &&
		   err.code == EINVAL,
	   "no reference: %s", err.text);
	fake_engine_free(world->fake);
	ensure(world, &outcome, "x", NULL);
	ok(outcome.err.code == ECONNREFUSED, "no engine: %s", outcome.err.text);
	world->fake =
		fake_engine_new(world->loop, world->socket, script, world);
	reset(&outcome);
}

static void leaving(struct world *world)
{
	struct outcome one = { 0 }, two = { 0 };

	engine_with(world, 200, words);
	world->silent = true;
	begin(world, &one, "busybox", NULL);
	begin(world, &two, "busybox", NULL);
	while (!world->pulls)
		sd_event_run(world->loop, UINT64_MAX);
	image_release(one.wait);
	while (!two.told)
		sd_event_run(world->loop, UINT64_MAX);
	ok(!world->gone, "who leaves does not end it for the others");
	image_release(two.wait);
	wait_gone(world);
	ok(!one.done && !two.done, "the last one who leaves ends the transfer");
	engine_with(world, 200, "{\"error\":\"try again\"}\n");
	new_images(world, 20000, 60000);
	begin(world, &one, "busybox", NULL);
	while (!world->pulls || sd_event_run(world->loop, 20000) > 0)
		if (!world->pulls)
			sd_event_run(world->loop, UINT64_MAX);
	image_release(one.wait);
	new_images(world, 20000, 10);
	engine_with(world, 200, NULL);
	ensure(world, &two, "busybox", NULL);
	ok(!one.done && two.done == 1,
	   "who leaves in the pause between two tries is not heard of again");
	reset(&one);
	reset(&two);
}

static void inside_callbacks(struct world *world)
{
	struct outcome one = { 0 }, two = { 0 }, three = { 0 };

	engine_with(world, 200, NULL);
	begin(world, &one, "busybox", NULL);
	begin(world, &two, "busybox", NULL);
	one.victim = two.wait;
	wait_done(world, &one);
	ensure(world, &three, "busybox", NULL);
	ok(!two.done && three.done == 1, "done() may release another one");
	reset(&one);
	reset(&two);
	reset(&three);
}

static void builds(struct world *world)
{
	struct outcome outcome = { 0 };
	char tag[100], first[200];

	engine_with(world, 200, "{\"stream\":\"Step 2/3 : COPY . /\"}\n");
	ensure(world, &outcome, "regatta/cpu", "cpu");
	ok(!outcome.err.code && world->builds == 1 && !world->pulls,
	   "an image that is not there is built: %s", outcome.err.text);
	ok(!strncmp(outcome.reference, "regatta/cpu:", 12) &&
		   strspn(outcome.reference + 12, "0123456789abcdef") == 12 &&
		   strlen(outcome.reference) == 24,
	   "its tag is the hash of the context: %s", outcome.reference);
	ok(world->context >= 3072 && world->context % 512 == 0,
	   "the context was sent");
	ok(!strcmp(outcome.last.phase, "building") &&
		   outcome.last.layers == 1 && outcome.last.layers_total == 3 &&
		   outcome.last.done_bytes == world->context &&
		   outcome.last.total_bytes == world->context,
	   "the progress counts steps and bytes of the context");
	snprintf(tag, sizeof(tag), "%.12s", outcome.reference + 12);
	world->builds = 0;
	ensure(world, &outcome, "regatta/cpu", "cpu");
	snprintf(first, sizeof(first), "/images/regatta/cpu:%s/json", tag);
	is(world->seen, first, "the second time it is looked for by that tag");
	is_int(world->builds, 0, "and not built again");
	write_file(world->folder, "cpu/data", "other");
	world->present = false;
	ensure(world, &outcome, "regatta/cpu", "cpu");
	ok(world->builds == 1 && strcmp(outcome.reference + 12, tag) != 0,
	   "other content has another tag: %s", outcome.reference);
	reset(&outcome);
}

static void tagged_builds(struct world *world)
{
	struct outcome outcome = { 0 };

	engine_with(world, 200, NULL);
	world->present = true;
	ensure(world, &outcome, "regatta/cpu:1", "cpu");
	ok(!world->builds && !strcmp(outcome.reference, "regatta/cpu:1"),
	   "an image by that tag that is not of us is taken");
	world->label = "0123";
	ensure(world, &outcome, "regatta/cpu:1", "cpu");
	ok(world->builds == 1 && !outcome.err.code,
	   "one of us, but of other content, is built anew");
	ok(strstr(world->seen, "/images/regatta/cpu:1/json") != NULL,
	   "by the same name");
	reset(&outcome);
}

static void bad_builds(struct world *world)
{
	static const char *const bad[] = { "",     "..",       "/cpu", "cpu/",
					   "a//b", "cpu/../x", ".git", "none" };
	struct outcome outcome = { 0 };
	struct images *without =
		images_new(&(struct image_services){ .loop = world->loop,
						     .engine = world->engine,
						     .state = world->folder },
			   NULL);
	struct error err;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ok(!image_ensure(world->images,
				 &(struct image_wanted){ .reference = "x",
							 .build = bad[i] },
				 NULL, done, &outcome, &err) &&
			   err.code == EINVAL,
		   "build \"%s\": %s", bad[i], err.text);
	ok(!image_ensure(without,
			 &(struct image_wanted){ .reference = "x",
						 .build = "cpu" },
			 NULL, done, &outcome, &err),
	   "%s", err.text);
	images_free(without);
	engine_with(world, 200,
		    "{\"stream\":\"Step 1/1 : RUN false\\n\"}\n"
		    "{\"stream\":\"gcc: no such file\\n\"}\n"
		    "{\"stream\":\" ---> Running in 12\\n\"}\n"
		    "{\"errorDetail\":{\"code\":1,\"message\":\"The command "
		    "'false' returned a non-zero code: "
		    "1\"},\"error\":\"x\"}\n");
	ensure(world, &outcome, "regatta/cpu", "cpu");
	ok(outcome.err.code == EIO && world->builds == 1,
	   "a build that fails is not tried again: %s", outcome.err.text);
	ok(strstr(outcome.err.text, "its output: \"gcc: no such file\"") !=
		   NULL,
	   "and says what it printed last");
	engine_with(world, 200, NULL);
	world->touch = true;
	ensure(world, &outcome, "regatta/cpu", "cpu");
	ok(outcome.err.code == EIO && world->builds == 0,
	   "a context that changes under our hands is not built: %s",
	   outcome.err.text);
	reset(&outcome);
}

/* A folder of the node, as those of a FlagPerf tree. */
static void folder_builds(struct world *world)
{
	static const char steps[] = "POST /containers/create\n"
				    "POST /containers/regatta-install-/start\n"
				    "GET /containers/regatta-install-/logs\n"
				    "POST /containers/regatta-install-/wait\n"
				    "POST /commit\n"
				    "DELETE /containers/regatta-install-\n"
				    "DELETE /images/regatta-build:";
	struct outcome outcome = { 0 };
	char folder[100], mount[300];

	snprintf(folder, sizeof(folder), "%s/cpu", world->folder);
	write_file(world->folder, "cpu/cpu_install.sh", "exit");
	engine_with(world, 200, NULL);
	ensure(world, &outcome, "flagperf-x-f:t_v0.1", folder);
	ok(!outcome.err.code && world->builds == 1 && !world->pulls &&
		   !strcmp(outcome.reference, "flagperf-x-f:t_v0.1"),
	   "an image is made from a folder of the node: %s", outcome.err.text);
	is(world->steps, steps, "in a container of what was built");
	snprintf(mount, sizeof(mount), "\"Source\":\"%s/install/",
		 world->folder);
	ok(strstr(world->body, mount) &&
		   strstr(world->body, "[\"bash\",\"/workspace/docker_image/"
				       "cpu_install.sh\"]") &&
		   strstr(world->body, "\"PathOnHost\":\"/dev/zero\"") &&
		   strstr(world->body, "\"regatta.install\":\"c/n/1\""),
	   "whose script runs there: %s", world->body);
	world->builds = 0;
	ensure(world, &outcome, "flagperf-x-f:t_v0.1", folder);
	is_int(world->builds, 0, "one that is there is taken");
	engine_with(world, 200, NULL);
	world->exit_code = 3;
	world->steps[0] = 0;
	ensure(world, &outcome, "flagperf-x-f:t_v0.1", folder);
	ok(strstr(outcome.err.text,
		  "cpu_install.sh exited with code 3; its output: \"half\"") &&
		   !strstr(world->steps, "/commit") &&
		   strstr(world->steps, "DELETE /images/"),
	   "a script that fails says why, and nothing is kept: %s",
	   outcome.err.text);
	engine_with(world, 200,
		    "{\"stream\":\"Step 1/2 : ARG A=some/base:1\\n\"}\n"
		    "{\"stream\":\"Step 2/2 : FROM  ${A}\\n\"}\n"
		    "{\"errorDetail\":{\"message\":\"denied\"},"
		    "\"error\":\"denied\"}\n");
	ensure(world, &outcome, "flagperf-x-f:t_v0.1", folder);
	ok(strstr(outcome.err.text, "no base image some/base:1") != NULL,
	   "a base image that is not to be had is named: %s", outcome.err.text);
	snprintf(folder, sizeof(folder), "%s/none", world->folder);
	engine_with(world, 200, NULL);
	ensure(world, &outcome, "flagperf-x-f:t_v0.1", folder);
	ok(outcome.err.code == EINVAL &&
		   strstr(outcome.err.text, "none/Dockerfile"),
	   "so is a folder that is not there: %s", outcome.err.text);
	reset(&outcome);
}

int main(void)
{
	struct world world;

	signal(SIGPIPE, SIG_IGN);
	tap_begin(66);
	open_world(&world);
	present(&world);
	confirmed(&world);
	confirmed_by_podman(&world);
	single_flight(&world);
	retries(&world);
	final_errors(&world);
	leaving(&world);
	inside_callbacks(&world);
	builds(&world);
	tagged_builds(&world);
	bad_builds(&world);
	folder_builds(&world);
	close_world(&world);
	return tap_done();
}
