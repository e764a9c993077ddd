/* preflight.c - checks that fail a task before anything is fetched.
 */
#include "agent/task/preflight.h"
#include "agent/metrics/host_facts.h"
#include "agent/metrics/versions.h"
#include "protocol/base/clock.h"
#include "protocol/base/loop.h"
#include "protocol/base/subprocess.h"
#include "protocol/config/free_space.h"

#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define PORT_FIRST 20000
#define PORT_COUNT 10000
#define PORT_TRIES 200

static int preflight_check_disk(const char *folder, struct error *err)
{
	uint64_t free_bytes, bytes;

	if (free_space_of(folder, &free_bytes, &bytes, err) < 0)
		return -1;
	if (free_bytes >= PREFLIGHT_DISK_BYTES)
		return 0;
	return error_set(err, ENOSPC,
			 "%s: %" PRIu64 " MiB are free on the disk; expected "
			 "at least %llu",
			 folder, free_bytes >> 20, PREFLIGHT_DISK_BYTES >> 20);
}

/* The controller's clock less ours; false: not known, or no more than what the
 * exchange took.
 */
bool preflight_clock_apart(const struct preflight_services *services,
			   int64_t *apart_ms)
{
	struct exchange best;

	if (!services->clock || !services->clock(services->arg, &best))
		return false;
	*apart_ms = best.ahead_ms - clock_ahead_ms();
	return llabs(*apart_ms) > best.round_trip_ms;
}

static int check_clock(const struct preflight_services *services,
		       struct error *err)
{
	int64_t limit_ms = services->clock_limit_ms ? services->clock_limit_ms
						    : PREFLIGHT_CLOCK_FAIL_MS;
	int64_t apart_ms;

	if (!preflight_clock_apart(services, &apart_ms) ||
	    llabs(apart_ms) <= limit_ms)
		return 0;
	return error_set(err, ETIME,
			 "the clock is %.1f s %s the controller's; expected at "
			 "most %.1f s; set the clock, or raise --clock-limit",
			 (double)llabs(apart_ms) / 1000,
			 apart_ms > 0 ? "behind" : "ahead of",
			 (double)limit_ms / 1000);
}

/* Containers of an engine that remaps users cannot use the machine's network.
 * Those of an engine with its own network can connect to others, but others
 * cannot connect to them.
 */
static int check_network(const struct preflight_services *services,
			 const struct task_spec *spec, struct error *err)
{
	static const struct engine_features none;
	const char *network = spec->container.network;
	const struct engine_features *features =
		services->binding && services->binding->features
			? services->binding->features
			: &none;

	if (network && strcmp(network, "host") != 0)
		return 0;
	if (features->isolation && !strcmp(features->isolation, "userns-remap"))
		return error_set(err, ENOTSUP,
				 "the engine remaps users (userns-remap), so "
				 "its containers cannot use this machine's "
				 "network; set `network: bridge` or `network: "
				 "none` in the sweep, or run the engine "
				 "without userns-remap");
	if (!features->separate_network || spec->nodes < 2)
		return 0;
	return error_set(err, ENOTSUP,
			 "other nodes cannot reach containers here: the "
			 "engine's host network is its own, as that of "
			 "rootless Docker is; rootless Podman has this "
			 "machine's");
}

int preflight_check(const struct preflight_services *services,
		    const struct task_spec *spec, const char *folder,
		    struct error *err)
{
	const struct container_spec *container = &spec->container;
	struct stat st;

	for (size_t i = 0; i < container->mounts_count; i++)
		if (stat(container->mounts[i].host, &st) < 0)
			return error_errno(err, "mounts[%zu]: %s on this node",
					   i, container->mounts[i].host);
	for (size_t i = 0; i < container->needs.count; i++)
		if (stat(container->needs.items[i], &st) < 0)
			return error_errno(err,
					   "%s does not exist on this node "
					   "(`needs`)",
					   container->needs.items[i]);
	if (check_network(services, spec, err) < 0 ||
	    preflight_check_disk(folder, err) < 0)
		return -1;
	return check_clock(services, err);
}

/* Slow checks. */

struct preflight {
	const struct preflight_services *services;
	preflight_fn *done;
	void *arg;
	const struct task_spec *spec;
	struct foreign_processes *foreign;
	struct version_query *query;
	struct subprocess *tool;
	sd_event_source *timer;
	cJSON *warnings;
};

/* The last thing: it is freed. */
static void preflight_end(struct preflight *preflight, const struct error *err,
			  cJSON *facts)
{
	preflight->done(preflight->arg, err, facts);
	preflight_cancel(preflight);
}

static void warn_clock(struct preflight *preflight)
{
	int64_t apart_ms;
	char text[120];

	if (!preflight_clock_apart(preflight->services, &apart_ms) ||
	    llabs(apart_ms) <= PREFLIGHT_CLOCK_WARN_MS)
		return;
	snprintf(text, sizeof(text), "the clock is %.1f s %s the controller's",
		 (double)llabs(apart_ms) / 1000,
		 apart_ms > 0 ? "behind" : "ahead of");
	cJSON_AddItemToArray(preflight->warnings, cJSON_CreateString(text));
}

static cJSON *make_facts(struct preflight *preflight,
			 const struct versions *versions)
{
	const struct sysroot *roots = preflight->services->binding->roots;
	const struct host_facts_source source = {
		.sys = roots->sys,
		.proc = roots->proc,
	};
	cJSON *facts = host_facts_now(&source, NULL);

	if (!facts)
		return NULL;
	host_facts_versions(facts, versions);
	if (cJSON_GetArraySize(preflight->warnings))
		cJSON_AddItemToObject(facts, "warnings",
				      take(preflight->warnings));
	return facts;
}

static void preflight_finish(struct preflight *preflight,
			     const struct versions *versions)
{
	warn_clock(preflight);
	preflight_end(preflight, NULL, make_facts(preflight, versions));
}

static void preflight_versions_told(void *arg, const struct versions *versions)
{
	struct preflight *preflight = arg;

	preflight->query = NULL;
	if (preflight->services->versions)
		*preflight->services->versions = *versions;
	preflight_finish(preflight, versions);
}

static void ask_versions(struct preflight *preflight)
{
	static const struct versions none;
	const struct preflight_services *services = preflight->services;
	const struct profile *profile =
		inventory_profile(services->binding->inventory);

	if (versions_rules(profile))
		preflight->query =
			versions_ask(services->loop, profile,
				     services->binding->roots, services->cpus,
				     preflight_versions_told, preflight, NULL);
	if (!preflight->query)
		preflight_finish(preflight, &none);
}

static void foreign_told(void *arg, const char *text)
{
	struct preflight *preflight = arg;
	struct error err;

	preflight->foreign = NULL;
	if (text && !preflight->spec->foreign_allowed) {
		error_set(&err, EBUSY,
			  "the devices are in use: %s (foreign_processes: warn "
			  "runs the job nevertheless)",
			  text);
		preflight_end(preflight, &err, NULL);
		return;
	}
	if (text)
		cJSON_AddItemToArray(preflight->warnings,
				     cJSON_CreateString(text));
	ask_versions(preflight);
}

/* Bit i: the device of index i. */
static uint64_t wanted_devices(const struct task_spec *spec)
{
	uint64_t wanted = 0;

	for (size_t i = 0; i < spec->devices.count; i++) {
		unsigned long index = strtoul(spec->devices.items[i], NULL, 10);

		if (index < DEVICES_MAX)
			wanted |= UINT64_C(1) << index;
	}
	return wanted;
}

static int preflight_check_devices(const struct preflight_services *services,
				   struct error *err)
{
	const struct inventory *inventory = services->binding->inventory;

	if (!inventory_missing(inventory))
		return 0;
	return error_set(err, ENODEV,
			 "no %s device on %s; regatta vendors probe shows what "
			 "is missing",
			 inventory_vendor(inventory), services->node);
}

struct foreign_processes *
preflight_look_for_others(const struct preflight_services *services,
			  uint64_t wanted, foreign_processes_fn *done,
			  void *arg)
{
	const struct foreign_processes_source source = {
		.loop = services->loop,
		.engine = services->engine,
		.profile = inventory_profile(services->binding->inventory),
		.roots = services->binding->roots,
		.devices = inventory_devices(services->binding->inventory),
		.cpus = services->cpus,
		.cluster = services->cluster,
		.node = services->node,
	};

	return source.profile && source.devices->count
		       ? foreign_processes_look(&source, wanted, done, arg,
						NULL)
		       : NULL;
}

static int preflight_start(sd_event_source *timer, uint64_t usec, void *arg)
{
	struct preflight *preflight = arg;
	const struct preflight_services *services = preflight->services;
	struct error err;

	if (preflight_check_devices(services, &err) < 0) {
		preflight_end(preflight, &err, NULL);
		return 0;
	}
	preflight->foreign =
		preflight_look_for_others(services,
					  wanted_devices(preflight->spec),
					  foreign_told, preflight);
	if (!preflight->foreign)
		ask_versions(preflight);
	return 0;
}

static struct preflight *
preflight_new(const struct preflight_services *services,
	      const struct task_spec *spec, preflight_fn *done, void *arg,
	      struct error *err)
{
	struct preflight *preflight =
		error_calloc(sizeof(*preflight), "preflight", err);

	if (!preflight)
		return NULL;
	preflight->services = services;
	preflight->spec = spec;
	preflight->done = done;
	preflight->arg = arg;
	return preflight;
}

struct preflight *preflight_begin(const struct preflight_services *services,
				  const struct task_spec *spec,
				  preflight_fn *done, void *arg,
				  struct error *err)
{
	owned(preflight_cancel) struct preflight *preflight =
		preflight_new(services, spec, done, arg, err);

	if (!preflight)
		return NULL;
	preflight->warnings = cJSON_CreateArray();
	if (!preflight->warnings)
		return error_null(error_nomem(err, "preflight"));
	if (loop_timer(services->loop, &preflight->timer, 0, preflight_start,
		       preflight, err) < 0)
		return NULL;
	return take(preflight);
}

void preflight_cancel(struct preflight *preflight)
{
	if (!preflight)
		return;
	foreign_processes_cancel(preflight->foreign);
	versions_cancel(preflight->query);
	subprocess_cancel(preflight->tool);
	loop_source_free(&preflight->timer);
	cJSON_Delete(preflight->warnings);
	free(preflight);
}

/* Do the file systems of the paths answer? */

static void reached(void *arg, const struct error *err,
		    const struct subprocess_output *output)
{
	struct preflight *preflight = arg;
	const struct container_spec *container = &preflight->spec->container;
	struct error why;

	preflight->tool = NULL;
	if (err && (err->code == ETIMEDOUT || err->code == EBUSY)) {
		error_set(&why, ETIMEDOUT,
			  "the file system of a mount does not respond on this "
			  "node: %.100s%s; check its server",
			  container->mounts_count ? container->mounts[0].host
						  : container->needs.items[0],
			  container->mounts_count + container->needs.count > 1
				  ? " or another one"
				  : "");
		preflight_end(preflight, &why, NULL);
	} else {
		preflight_end(preflight, NULL, NULL);
	}
}

static int list_paths(const struct container_spec *container,
		      struct strings *argv, struct error *err)
{
	static const char *const words[] = { "stat", "-L", "-c", "", "--" };
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < sizeof(words) / sizeof(*words); i++)
		rc = strings_add(argv, words[i], err);
	for (size_t i = 0; rc == 0 && i < container->mounts_count; i++)
		rc = strings_add(argv, container->mounts[i].host, err);
	for (size_t i = 0; rc == 0 && i < container->needs.count; i++)
		rc = strings_add(argv, container->needs.items[i], err);
	return rc;
}

struct preflight *preflight_reach(const struct preflight_services *services,
				  const struct task_spec *spec,
				  preflight_fn *done, void *arg,
				  struct error *err)
{
	owned(preflight_cancel) struct preflight *preflight =
		preflight_new(services, spec, done, arg, err);
	owned(strings_clear) struct strings argv = { 0 };
	const struct subprocess_command command = {
		.argv = &argv,
		.bin = services->binding->roots->bin,
		.timeout_ms = services->paths_ms ? services->paths_ms
						 : PREFLIGHT_PATHS_MS,
		.output_max = 4096,
		.cpus = services->cpus,
	};

	if (!preflight || list_paths(&spec->container, &argv, err) < 0)
		return NULL;
	preflight->tool = subprocess_run(services->loop, &command, reached,
					 preflight, err);
	return preflight->tool ? take(preflight) : NULL;
}

/* Bind to the port on every address, IPv4 and IPv6. */
static int port_bind(uint32_t port)
{
	struct sockaddr_in6 address = { .sin6_family = AF_INET6,
					.sin6_port = htons((uint16_t)port) };
	struct sockaddr_in address4 = { .sin_family = AF_INET,
					.sin_port = htons((uint16_t)port) };
	int off = 0;
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0) {
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
		if (bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
			return fd;
		close(fd);
		if (errno == EADDRINUSE)
			return -1;
	}
	/* No IPv6 here. */
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 &&
	    bind(fd, (struct sockaddr *)&address4, sizeof(address4)) < 0) {
		close(fd);
		fd = -1;
	}
	return fd;
}

int preflight_port(int *fd, uint32_t *port, struct error *err)
{
	for (int i = 0; i < PORT_TRIES; i++) {
		uint32_t try = PORT_FIRST + randombytes_uniform(PORT_COUNT);
		int got = port_bind(try);

		if (got >= 0) {
			*fd = got;
			*port = try;
			return 0;
		}
	}
	return error_set(err, EADDRINUSE,
			 "no free TCP port from %d to %d for the rendezvous",
			 PORT_FIRST, PORT_FIRST + PORT_COUNT - 1);
}
