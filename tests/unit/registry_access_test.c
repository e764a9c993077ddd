/* registry_access_test.c - as whom, and how, registries are approached, against
 * a scripted engine.
 */
#include "agent/images/registry_access.h"

#include "agent/images/images.h"
#include "agent/policy/node_policy.h"
#include "protocol/base/file.h"
#include "protocol/registry/login.h"
#include "tests/tap.h"
#include "tests/unit/fake_engine.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sodium.h>
#include <sys/stat.h>

#define HOST "127.0.0.1:1" /* where nobody listens */
#define HEADER_MAX 4096

struct world {
	sd_event *loop;
	char folder[64];
	struct fake_engine *fake;
	struct engine *engine;
	struct registries registries;
	struct node_policy *node_policy;
	struct key node, controller;
	const char *info;  /* the engine's answer */
	int pulls, builds; /* it saw */
	char pull_auth[2][HEADER_MAX], build_auth[HEADER_MAX];
	struct fake_exchange *held; /* a pull that goes on */
	bool hold;                  /* the next one is to */
	bool present;
};

static const char *in_folder(const struct world *world, const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", world->folder, name);
	return path;
}

static void put(const struct world *world, const char *name, const char *text,
		mode_t mode)
{
	file_write(AT_FDCWD, in_folder(world, name), text, strlen(text), mode,
		   0, NULL);
}

/* What a header says, read from its base64. */
static void keep_header(const struct fake_request *request, const char *name,
			char *to)
{
	const char *at = strstr(request->headers, name);
	size_t size = 0;

	*to = 0;
	if (!at)
		return;
	at += strlen(name) + 2;
	if (sodium_base642bin((unsigned char *)to, HEADER_MAX - 1, at,
			      strcspn(at, "\r\n"), NULL, &size, NULL,
			      sodium_base64_VARIANT_URLSAFE) < 0)
		size = 0;
	to[size] = 0;
}

static void answer_pull(struct world *world, struct fake_exchange *exchange,
			const struct fake_request *request)
{
	char *auth = world->pull_auth[world->pulls % 2];

	keep_header(request, "X-Registry-Auth", auth);
	world->pulls++;
	if (strstr(auth, "wrong")) {
		fake_answer(exchange, 404,
			    "{\"message\":\"pull access denied\"}");
		return;
	}
	fake_begin(exchange, 200);
	if (world->hold) {
		fake_chunk(exchange, "{\"status\":\"Downloading\"}\n");
		world->held = exchange;
		world->hold = false;
		return;
	}
	world->present = true;
	fake_end(exchange);
}

static void script(void *arg, struct fake_exchange *exchange,
		   const struct fake_request *request)
{
	struct world *world = arg;
	const char *path = fake_path(request);

	if (fake_version(exchange, request))
		return;
	if (!strcmp(path, "/info")) {
		fake_answer(exchange, world->info ? 200 : 500,
			    world->info ? world->info : "{}");
	} else if (!strncmp(path, "/images/create", 14)) {
		answer_pull(world, exchange, request);
	} else if (!strncmp(path, "/build", 6)) {
		keep_header(request, "X-Registry-Config", world->build_auth);
		world->builds++;
		world->present = true;
		fake_begin(exchange, 200);
		fake_end(exchange);
	} else if (world->present) {
		fake_answer(exchange, 200, "{\"Id\":\"sha256:abc\"}");
	} else {
		fake_answer(exchange, 404, "{\"message\":\"No such image\"}");
	}
}

/* policy: its text; NULL: none. */
static void use_policy(struct world *world, const char *policy)
{
	node_policy_free(world->node_policy);
	if (policy)
		put(world, "policy.yaml", policy, 0600);
	world->node_policy =
		node_policy_new(policy ? in_folder(world, "policy.yaml") : NULL,
				false, NULL);
	world->registries.node_policy = world->node_policy;
}

static void open_world(struct world *world)
{
	char socket[96], host[112];
	sigset_t set;

	*world = (struct world){ 0 };
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	snprintf(world->folder, sizeof(world->folder),
		 "/tmp/approach-test-XXXXXX");
	if (!mkdtemp(world->folder) || sd_event_new(&world->loop) < 0)
		exit(1);
	snprintf(socket, sizeof(socket), "%s/s", world->folder);
	snprintf(host, sizeof(host), "unix://%s", socket);
	world->fake = fake_engine_new(world->loop, socket, script, world);
	world->engine = engine_new(world->loop, host, NULL, NULL);
	key_generate(&world->node, "n", ROLE_AGENT, NULL);
	key_generate(&world->controller, "c", ROLE_CONTROLLER, NULL);
	world->registries.key = &world->node;
	world->registries.controller = world->controller.public;
	use_policy(world, NULL);
}

static void close_world(struct world *world)
{
	node_policy_free(world->node_policy);
	engine_free(world->engine);
	fake_engine_free(world->fake);
	file_remove_tree(AT_FDCWD, world->folder, NULL);
	sd_event_unref(world->loop);
}

static struct registry_login sealed(const struct world *world,
				    const char *registry, const char *name)
{
	struct credential who = { .username = (char *)name,
				  .password = (char *)"pw" };
	struct registry_login login = { 0 };

	login_seal(registry, &who, world->controller.public, world->node.public,
		   &login, NULL);
	return login;
}

/* One approach. */

struct found {
	bool done, gone;
	char name[64];
	struct error err;
};

/* The user of "X-Registry-Auth: BASE64". */
static void read_name(const char *header, char name[64])
{
	const struct fake_request request = { .headers = header };
	char text[HEADER_MAX];

	keep_header(&request, "X-Registry-Auth", text);
	if (sscanf(text, "{\"username\":\"%60[^\"]", name) != 1)
		snprintf(name, 64, "not read: %.40s", text);
}

static void on_way(void *arg, const struct error *err,
		   const struct registry_access_way *way)
{
	struct found *found = arg;

	found->done = true;
	if (err) {
		found->err = *err;
		return;
	}
	found->gone = way->gone;
	if (way->header)
		read_name(way->header, found->name);
}

static struct found approach(struct world *world, const char *host,
			     const struct registry_login *login)
{
	struct found found = { 0 };

	registry_access_begin(world->loop, world->engine, &world->registries,
			      host, login, login ? 1 : 0, on_way, &found,
			      &found.err);
	while (!found.done)
		sd_event_run(world->loop, UINT64_MAX);
	return found;
}

static void who(struct world *world)
{
	struct registry_login login = sealed(world, "r:1", "job");
	struct registry_login other = sealed(world, "r:2", "job");
	struct registry_login gone = { .registry = (char *)"r:1" };
	char file[128];
	struct found found;

	put(world, "auth.json",
	    "{\"auths\":{\"r:1\":{\"username\":\"file\",\"password\":\"p\"}}}",
	    0600);
	snprintf(file, sizeof(file), "%s", in_folder(world, "auth.json"));
	world->registries.credentials = file;
	world->info = "{}";
	is(approach(world, "r:1", &login).name, "job",
	   "what came with a job goes before the node's own file");
	is(approach(world, "r:1", &other).name, "file",
	   "which counts where that is for another registry");
	found = approach(world, "r:1", &gone);
	ok(!strcmp(found.name, "file") && found.gone,
	   "and where it is gone, which is told");
	is(approach(world, "r:3", &login).name, "", "else nobody is anybody");
	world->registries.key = &world->controller;
	found = approach(world, "r:1", &login);
	is_int(found.err.code, EKEYREJECTED, "sealed for another key: %s",
	       found.err.text);
	world->registries.key = &world->node;
	world->registries.credentials = NULL;
	login_clear(&login);
	login_clear(&other);
}

/* How names are looked up: a program that prints this. */
static void names_lead_to(struct world *world, const char *address)
{
	char text[100];

	snprintf(text, sizeof(text), "#!/bin/sh\n%s\n", address);
	put(world, "getent", text, 0755);
}

static void plain(struct world *world)
{
	static const char networks[] =
		"{\"RegistryConfig\":{\"InsecureRegistryCIDRs\":"
		"[\"127.0.0.0/8\",\"10.0.0.0/8\"],\"IndexConfigs\":{"
		"\"listed:5000\":{\"Secure\":false},"
		"\"docker.io\":{\"Secure\":true}}}}";
	char path[4200];
	struct found found;

	snprintf(path, sizeof(path), "%s:%s", world->folder, getenv("PATH"));
	setenv("PATH", path, 1);
	use_policy(world, "{}");
	world->info = networks;
	found = approach(world, HOST, NULL);
	ok(!found.err.code, "the machine itself is reached without TLS");
	found = approach(world, "listed:5000", NULL);
	ok(found.err.code == EPERM,
	   "a registry that the engine lists is not: %s", found.err.text);
	found = approach(world, "docker.io", NULL);
	ok(!found.err.code, "one with TLS is nobody's matter");
	names_lead_to(world, "echo 10.0.0.7 STREAM r; echo 10.0.0.7 DGRAM");
	found = approach(world, "named:5000", NULL);
	ok(found.err.code == EPERM, "a name in such a network is one: %s",
	   found.err.text);
	names_lead_to(world, "echo 192.168.0.7 STREAM r");
	found = approach(world, "named:5000", NULL);
	ok(!found.err.code, "a name elsewhere is none");
	names_lead_to(world, "exit 2");
	ok(!approach(world, "named:5000", NULL).err.code,
	   "nor one that leads nowhere");
	names_lead_to(world, "exit 127");
	is_int(approach(world, "named:5000", NULL).err.code, EPERM,
	       "but what cannot be told may be one");
	use_policy(world, "insecure_registries: [\"*:5000\"]");
	ok(!approach(world, "listed:5000", NULL).err.code,
	   "what the policy names is allowed");
	is_int(approach(world, HOST, NULL).err.code, EPERM,
	       "and the machine itself no longer");
	world->info = "{\"RegistryConfig\":{\"Mirrors\":[\"http://m:80/\"]}}";
	found = approach(world, "docker.io", NULL);
	ok(found.err.code == EPERM && strstr(found.err.text, "m:80"),
	   "the Hub's mirrors count: %s", found.err.text);
	world->info = NULL;
	ok(approach(world, "docker.io", NULL).err.code,
	   "an engine that does not tell is not believed");
	use_policy(world, NULL);
}

/* Images. */

struct outcome {
	struct image_wait *wait;
	bool done;
	struct error err;
};

static void on_image(void *arg, const struct error *err,
		     const struct image *image)
{
	struct outcome *outcome = arg;

	outcome->done = true;
	if (err)
		outcome->err = *err;
}

static struct images *images_of(struct world *world)
{
	struct images *images =
		images_new(&(struct image_services){ .loop = world->loop,
						     .engine = world->engine,
						     .folder = world->folder,
						     .state = world->folder,
						     .registries =
							     &world->registries,
						     .stall_ms = 5000,
						     .retry_ms = 10 },
			   NULL);

	world->info = "{}";
	world->present = false;
	world->pulls = 0;
	return images;
}

static void want(struct images *images, struct outcome *outcome,
		 const char *build, const struct registry_login *logins,
		 size_t count)
{
	const struct image_wanted wanted = {
		.reference = build ? "built" : HOST "/a:1",
		.build = build,
		.logins = logins,
		.logins_count = count,
	};

	outcome->wait = image_ensure(images, &wanted, NULL, on_image, outcome,
				     &outcome->err);
}

static void shared_pulls(struct world *world)
{
	struct images *images = images_of(world);
	struct registry_login logins[] = {
		sealed(world, HOST, "right"),
		sealed(world, HOST, "right"),
		sealed(world, HOST, "wrong"),
		sealed(world, "other:1", "right"),
	};
	struct outcome outcomes[5] = { 0 };

	world->hold = true;
	want(images, &outcomes[0], NULL, &logins[0], 1);
	want(images, &outcomes[1], NULL, &logins[1], 1);
	while (!world->held)
		sd_event_run(world->loop, UINT64_MAX);
	want(images, &outcomes[2], NULL, &logins[2], 1);
	while (!outcomes[2].done)
		sd_event_run(world->loop, UINT64_MAX);
	ok(outcomes[2].err.code == ENOENT &&
		   !strstr(outcomes[2].err.text, "pw"),
	   "one with another password fails by itself: %s",
	   outcomes[2].err.text);
	ok(strstr(world->pull_auth[0], "\"username\":\"right\"") &&
		   strstr(world->pull_auth[0], "\"password\":\"pw\""),
	   "the engine is told who a job is");
	ok(!outcomes[0].done && !outcomes[1].done && world->pulls == 2,
	   "while those who are the same wait for one pull");
	want(images, &outcomes[3], NULL, &logins[3], 1);
	want(images, &outcomes[4], NULL, NULL, 0);
	while (!outcomes[3].done || !outcomes[4].done)
		sd_event_run(world->loop, UINT64_MAX);
	ok(!outcomes[3].err.code && !outcomes[4].err.code && world->pulls == 3,
	   "what is for other registries makes nobody somebody else");
	fake_end(world->held);
	while (!outcomes[0].done || !outcomes[1].done)
		sd_event_run(world->loop, UINT64_MAX);
	ok(!outcomes[0].err.code && !outcomes[1].err.code && world->pulls == 3,
	   "and all have the image");
	images_free(images);
	for (size_t i = 0; i < sizeof(logins) / sizeof(logins[0]); i++)
		login_clear(&logins[i]);
}

static void build_bases(struct world *world)
{
	struct images *images = images_of(world);
	struct registry_login logins[] = {
		sealed(world, HOST, "one"),
		sealed(world, "docker.io", "hub"),
	};
	struct outcome outcome = { 0 };
	char file[128];

	put(world, "auth.json",
	    "{\"auths\":{\"r:1\":{\"username\":\"file\",\"password\":\"p\"},"
	    "\"" HOST "\":{\"username\":\"other\",\"password\":\"p\"}},"
	    "\"credHelpers\":{\"lost:1\":\"no-such-helper\"}}",
	    0600);
	snprintf(file, sizeof(file), "%s", in_folder(world, "auth.json"));
	world->registries.credentials = file;

	mkdir(in_folder(world, "mine"), 0755);
	put(world, "mine/Dockerfile",
	    "FROM ubuntu:22.04 AS first\nFROM " HOST "/base\n"
	    "COPY --from=first /x /y\n",
	    0644);
	want(images, &outcome, "mine", logins, 2);
	while (!outcome.done)
		sd_event_run(world->loop, UINT64_MAX);
	ok(!outcome.err.code && world->builds == 1, "an image is built: %s",
	   outcome.err.text);
	is(world->build_auth,
	   "{\"" HOST "\":{\"username\":\"one\",\"password\":\"pw\"},"
	   "\"https://index.docker.io/v1/\":{\"username\":\"hub\","
	   "\"password\":\"pw\"},"
	   "\"r:1\":{\"username\":\"file\",\"password\":\"p\"}}",
	   "the engine is told all that we may be, what came with it first");
	world->registries.credentials = NULL;
	use_policy(world, "insecure_registries: [loopback]");
	images_free(images);
	images = images_of(world);
	world->info = "{\"RegistryConfig\":{\"InsecureRegistryCIDRs\":"
		      "[\"127.0.0.0/8\",\"10.0.0.0/8\"]}}";
	outcome = (struct outcome){ 0 };
	want(images, &outcome, "mine", NULL, 0);
	while (!outcome.done)
		sd_event_run(world->loop, UINT64_MAX);
	ok(outcome.err.code == EPERM && world->builds == 1,
	   "where bases may come from is judged before it is built: %s",
	   outcome.err.text);
	images_free(images);
	for (size_t i = 0; i < sizeof(logins) / sizeof(logins[0]); i++)
		login_clear(&logins[i]);
}

int main(void)
{
	struct world world;

	if (sodium_init() < 0)
		return 1;
	tap_begin(60);
	open_world(&world);
	who(&world);
	plain(&world);
	shared_pulls(&world);
	build_bases(&world);
	close_world(&world);
	return tap_done();
}
