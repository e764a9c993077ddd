/* preflight_test.c - what is missing on a node is named before anything runs.
 */
#include "agent/task/preflight.h"

#include "protocol/base/clock.h"
#include "protocol/base/loop.h"
#include "protocol/base/program.h"
#include "tests/tap.h"
#include "tests/unit/hardware_lab.h"

#include <errno.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

static const struct preflight_services services;

static void mounts(void)
{
	struct mount_spec list[] = {
		{ .host = (char *)"/", .container = (char *)"/a" },
		{ .host = (char *)"/proc/self", .container = (char *)"/b" },
	};
	struct task_spec spec = { .container = { .mounts = list } };
	struct error err = { 0 };

	is_int(preflight_check(&services, &spec, "/tmp", &err), 0,
	       "nothing is asked for");
	spec.container.mounts_count = 2;
	is_int(preflight_check(&services, &spec, "/tmp", &err), 0,
	       "all paths are there");
	list[1].host = (char *)"/no/such/path";
	is_int(preflight_check(&services, &spec, "/tmp", &err), -1,
	       "one is not");
	is_int(err.code, ENOENT, "with its code");
	is(err.text,
	   "mounts[1]: /no/such/path on this node: No such file or directory",
	   "and the sentence says which one, and where");
	spec.container.mounts_count = 0;
	strings_add(&spec.container.needs, "/", NULL);
	is_int(preflight_check(&services, &spec, "/tmp", &err), 0,
	       "a path that is needed, and there");
	strings_add(&spec.container.needs, "/no/such/file", NULL);
	is_int(preflight_check(&services, &spec, "/tmp", &err), -1,
	       "and one that is not");
	is(err.text,
	   "/no/such/file does not exist on this node (`needs`): No such file "
	   "or directory",
	   "is named");
	strings_clear(&spec.container.needs);
	is_int(preflight_check(&services, &spec, "/no/such/folder", &err), -1,
	       "a folder for output that is not there");
	ok(err.code == ENOENT && strstr(err.text, "/no/such/folder"),
	   "is named: %s", err.text);
}

/* Rootless Docker: nobody reaches what runs there. */
static void networks(void)
{
	struct engine_features features = { .separate_network = true };
	const struct device_binding_source binding = { .features = &features };
	const struct preflight_services here = { .binding = &binding };
	struct task_spec spec = { .nodes = 1 };
	struct error err = { 0 };

	is_int(preflight_check(&here, &spec, "/tmp", &err), 0,
	       "a job of one node may run in a network of the engine's own");
	spec.nodes = 2;
	is_int(preflight_check(&here, &spec, "/tmp", &err), -1,
	       "one of two may not");
	ok(err.code == ENOTSUP && strstr(err.text, "rootless Podman has"),
	   "and is told where it may: %s", err.text);
	spec.container.network = (char *)"bridge";
	is_int(preflight_check(&here, &spec, "/tmp", &err), 0,
	       "but for a network that it chose itself");
	features.separate_network = false;
	spec.container.network = NULL;
	is_int(preflight_check(&here, &spec, "/tmp", &err), 0,
	       "in this machine's network it may");
	features.isolation = (char *)"userns-remap";
	ok(preflight_check(&here, &spec, "/tmp", &err) < 0 &&
		   err.code == ENOTSUP && strstr(err.text, "network: bridge"),
	   "an engine that remaps users has none of it: %s", err.text);
	spec.container.network = (char *)"none";
	is_int(preflight_check(&here, &spec, "/tmp", &err), 0,
	       "which a job without it does not need");
}

/* A small file system of our own, in a child's mount namespace. */
static void small_disk(void)
{
	struct error err = { 0 };
	int status = -1;
	pid_t child = fork();

	if (child == 0) {
		struct task_spec spec = { 0 };

		if (unshare(CLONE_NEWNS) < 0 ||
		    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
		    mount("none", "/tmp", "tmpfs", 0, "size=63m") < 0)
			_exit(77);
		if (preflight_check(&services, &spec, "/tmp", &err) == 0)
			_exit(1);
		if (err.code != ENOSPC ||
		    strcmp(err.text, "/tmp: 63 MiB are free on the disk; "
				     "expected at least 64"))
			_exit(2);
		if (mount("none", "/tmp", "tmpfs", 0, "size=65m") < 0)
			_exit(77);
		_exit(preflight_check(&services, &spec, "/tmp", &err) == 0 ? 0
									   : 3);
	}
	waitpid(child, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		ok(true, "a full disk # SKIP no mount namespaces");
	else
		is_int(status, 0,
		       "too little disk is refused, with both numbers");
}

static bool can_bind(int family, uint32_t port)
{
	struct sockaddr_in6 six = { .sin6_family = AF_INET6,
				    .sin6_port = htons((uint16_t)port) };
	struct sockaddr_in four = { .sin_family = AF_INET,
				    .sin_port = htons((uint16_t)port) };
	owned_fd int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return false;
	return family == AF_INET6
		       ? bind(fd, (struct sockaddr *)&six, sizeof(six)) == 0
		       : bind(fd, (struct sockaddr *)&four, sizeof(four)) == 0;
}

static void ports(void)
{
	enum { COUNT = 50 };
	struct error err = { 0 };
	uint32_t ports[COUNT];
	bool good = true, held = true, differ = true;
	int fds[COUNT];

	for (int i = 0; i < COUNT; i++) {
		fds[i] = -1;
		good &= preflight_port(&fds[i], &ports[i], &err) == 0 &&
			ports[i] >= 20000 && ports[i] <= 29999;
		held &= !can_bind(AF_INET, ports[i]) &&
			!can_bind(AF_INET6, ports[i]);
		for (int j = 0; j < i; j++)
			differ &= ports[i] != ports[j];
	}
	ok(good, "ports are found between 20000 and 29999");
	ok(held, "they are held, for IPv4 and IPv6");
	ok(differ, "so no two are the same");
	for (int i = 0; i < COUNT; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	ok(can_bind(AF_INET, ports[0]), "and are free at once when let go");
}

/* Every port of the range, bound; in a network namespace of a child. */
static int bind_all(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	struct rlimit many = { 20000, 20000 };
	struct error err = { 0 };
	uint32_t port = 0;
	int fd = -1;

	/* Of root, the hard limit may be raised; or it is high enough. */
	if (unshare(CLONE_NEWNET) < 0 ||
	    (setrlimit(RLIMIT_NOFILE, &many) < 0 &&
	     (getrlimit(RLIMIT_NOFILE, &many) < 0 || many.rlim_cur < 11000)))
		return 77;
	for (uint16_t i = 20000; i < 30000; i++) {
		int held = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

		address.sin_port = htons(i);
		if (held < 0 || bind(held, (struct sockaddr *)&address,
				     sizeof(address)) < 0)
			return 2;
	}
	return preflight_port(&fd, &port, &err) < 0 && err.code == EADDRINUSE &&
			       strstr(err.text, "20000 to 29999")
		       ? 0
		       : 3;
}

static void none_free(void)
{
	int status = -1;
	pid_t child = fork();

	if (child == 0)
		_exit(bind_all());
	waitpid(child, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		ok(true, "no port is free # SKIP no namespace or descriptors");
	else
		is_int(status, 0, "when no port is free, that is an error");
}

/* The controller's clock is this far ahead of ours. */
static bool clock_ahead(void *arg, struct exchange *best)
{
	*best = (struct exchange){ clock_ahead_ms() + *(int64_t *)arg, 2 };
	return true;
}

static void clocks(void)
{
	int64_t ahead_ms = 0;
	struct preflight_services there = { .clock = clock_ahead,
					    .arg = &ahead_ms };
	struct task_spec spec = { 0 };
	struct error err = { 0 };

	ahead_ms = 59500;
	is_int(preflight_check(&there, &spec, "/tmp", &err), 0,
	       "a clock that is less than a minute apart does");
	ahead_ms = 61040;
	is_int(preflight_check(&there, &spec, "/tmp", &err), -1,
	       "more is refused");
	is(err.text,
	   "the clock is 61.0 s behind the controller's; expected at most 60.0 "
	   "s; set the clock, or raise --clock-limit",
	   "with the figure, and what to do");
	ahead_ms = -3040;
	there.clock_limit_ms = 3000;
	is_int(preflight_check(&there, &spec, "/tmp", &err), -1,
	       "a limit of one's own");
	ok(strstr(err.text, "3.0 s ahead of the controller's") != NULL,
	   "to both sides");
}

/* What takes its time, on a machine of the lab. */

struct bed {
	struct lab lab;
	sd_event *loop;
	struct inventory *inventory;
	struct engine_features features;
	struct device_binding_source binding;
	struct preflight_services services;
	int64_t ahead_ms;
	bool ready; /* the inventory */
	bool told;
	char error[240];
	cJSON *facts;
};

static void ready(void *arg)
{
	struct bed *bed = arg;

	bed->ready = true;
}

static void checked(void *arg, const struct error *err, cJSON *facts)
{
	struct bed *bed = arg;

	bed->told = true;
	snprintf(bed->error, sizeof(bed->error), "%s", err ? err->text : "");
	cJSON_Delete(bed->facts);
	bed->facts = facts;
}

static void bed_init(struct bed *bed, const char *profile)
{
	char images[100];

	*bed = (struct bed){ .loop = program_begin(NULL) };
	lab_begin(&bed->lab);
	lab_file(&bed->lab, "/images/vendors/lab/profile.yaml", "%s", profile);
	snprintf(images, sizeof(images), "%s/images", bed->lab.folder);
	bed->inventory = inventory_new(bed->loop,
				       &(struct inventory_config){
					       .roots = &bed->lab.roots,
					       .vendor = "lab",
					       .images = images,
					       .state = bed->lab.folder },
				       ready, bed, NULL);
	while (!bed->ready)
		sd_event_run(bed->loop, UINT64_MAX);
	bed->binding =
		(struct device_binding_source){ bed->inventory, &bed->lab.roots,
						&bed->features };
	bed->services = (struct preflight_services){ .loop = bed->loop,
						     .binding = &bed->binding,
						     .clock = clock_ahead,
						     .arg = &bed->ahead_ms };
}

static void bed_clear(struct bed *bed)
{
	inventory_free(bed->inventory);
	cJSON_Delete(bed->facts);
	lab_end(&bed->lab);
	sd_event_unref(bed->loop);
}

static void check(struct bed *bed, const struct task_spec *spec)
{
	struct error err;

	bed->told = false;
	if (!preflight_begin(&bed->services, spec, checked, bed, &err))
		abort();
	while (!bed->told)
		sd_event_run(bed->loop, UINT64_MAX);
}

static const char *fact(const struct bed *bed, const char *name)
{
	const char *text = cJSON_GetStringValue(
		cJSON_GetObjectItemCaseSensitive(bed->facts, name));

	return text ? text : "";
}

static const char *warning(const struct bed *bed, int i)
{
	const char *text = cJSON_GetStringValue(
		cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(bed->facts,
								    "warnings"),
				   i));

	return text ? text : "";
}

static void facts(void)
{
	const struct task_spec spec = { 0 };
	struct preflight *given_up;
	struct bed bed;

	bed_init(&bed,
		 "vendor: lab\n"
		 "versions: {driver: [{file: /sys/module/lab/version}]}\n");
	lab_file(&bed.lab, "/sys/module/lab/version", "1.2\n");
	lab_file(&bed.lab, "/proc/meminfo", "MemAvailable: 4 kB\n");
	check(&bed, &spec);
	is(fact(&bed, "driver"), "1.2", "the driver as it is now");
	is_int((long long)cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(
		       bed.facts, "memory_available_bytes")),
	       4096, "what memory is free now");
	ok(cJSON_IsObject(
		   cJSON_GetObjectItemCaseSensitive(bed.facts, "clock")) &&
		   !*warning(&bed, 0) && !*bed.error,
	   "the clock, and no warning");
	lab_file(&bed.lab, "/sys/module/lab/version", "1.3\n");
	bed.ahead_ms = 1540;
	check(&bed, &spec);
	is(fact(&bed, "driver"), "1.3", "another driver is told anew");
	is(warning(&bed, 0), "the clock is 1.5 s behind the controller's",
	   "a clock that is more than a second apart is a warning");
	bed.told = false;
	given_up = preflight_begin(&bed.services, &spec, checked, &bed, NULL);
	sd_event_run(bed.loop, 0);
	preflight_cancel(given_up);
	ok(!bed.told, "one that is given up tells nothing");
	bed_clear(&bed);
}

static void reach(struct bed *bed, const struct task_spec *spec)
{
	bed->told = false;
	if (!preflight_reach(&bed->services, spec, checked, bed, NULL))
		abort();
	while (!bed->told)
		sd_event_run(bed->loop, UINT64_MAX);
}

static void dead_mounts(void)
{
	struct mount_spec list[] = {
		{ .host = (char *)"/", .container = (char *)"/a" },
		{ .host = (char *)"/no/such/path", .container = (char *)"/b" },
	};
	const struct task_spec spec = {
		.container = { .mounts = list, .mounts_count = 2 },
	};
	char path[160];
	struct bed bed;

	bed_init(&bed, "vendor: lab\n");
	reach(&bed, &spec);
	is(bed.error, "", "mounts that answer, also that one is not there");
	lab_file(&bed.lab, "/bin/stat", "#!/bin/sh\nexec sleep 1000\n");
	snprintf(path, sizeof(path), "%s/stat", bed.lab.bin);
	chmod(path, 0755);
	bed.services.paths_ms = 100;
	reach(&bed, &spec);
	is(bed.error,
	   "the file system of a mount does not respond on this node: / or "
	   "another one; check its server",
	   "one that hangs is told, and nobody waits for it");
	bed_clear(&bed);
}

int main(void)
{
	tap_begin(63);
	mounts();
	networks();
	clocks();
	facts();
	dead_mounts();
	small_disk();
	ports();
	none_free();
	return tap_done();
}
