/* site.h - a controller with agents of its own, for the time of a benchmark.
 *
 * Everything lies below one folder: keys, the controller's state and log, the
 * agents' states and logs. Programs are those of the build.
 */
#pragma once

#include "protocol/base/error.h"
#include "protocol/base/owned.h"
#include "protocol/wire/key.h"

#include <limits.h>
#include <stddef.h>
#include <sys/types.h>

struct site {
	char folder[PATH_MAX / 2];
	const char *build; /* borrowed: folder of the programs */
	struct key controller_key, person_key;
	struct key *agent_keys; /* of the agents n00000, n00001 ... */
	size_t agents_count;
	const char *web; /* borrowed: where pages are served; NULL: nowhere */
	pid_t controller;
	pid_t *agents; /* 0: not started by us */
	char endpoint[256];
};

/* Make the folder and the keys. Nothing is started yet. */
struct site *site_new(const char *folder, const char *build, size_t agents,
		      struct error *err);

/* Ends what it started; the folder stays. */
void site_free(struct site *site);
OWNED_POINTER(struct site, site_free)

/* Start the controller and wait until it listens; one that was killed comes
 * back where it was.
 */
int site_start_controller(struct site *site, struct error *err);

/* Start all agents as processes, on one engine. */
int site_start_agents(struct site *site, const char *engine, struct error *err);

/* Path of a file in the folder; cut to fit. */
void site_path(const struct site *site, const char *name, char path[PATH_MAX]);
