/* boot.h - finds engine and tasks when the agent starts.
 *
 * Once the devices are known, it asks the tools for their versions and the
 * engine for its version, features and containers, until the engine answers.
 * Then it adopts the tasks that an earlier agent left.
 */
#pragma once

#include "agent/agent_config.h"
#include "agent/devices/inventory.h"
#include "agent/metrics/versions.h"
#include "agent/task_table.h"

struct boot;

/* All is borrowed. */
struct boot_config {
	sd_event *loop;
	const struct agent_config *config;
	const cpu_set_t *cpus; /* where tools run; NULL: anywhere */
	const struct sysroot *roots;
	const char *owner; /* of containers that install */
	struct engine *engine;
	struct inventory *inventory;
	struct spool *spool;
	struct task_table *tasks;
	const struct task_services *services; /* for tasks that are adopted */
	void (*done)(void *arg);              /* the tasks are known */
	void *arg;
};

struct boot *boot_new(const struct boot_config *config, struct error *err);

/* Free it before the engine, which drops the call that runs. */
void boot_free(struct boot *boot);
OWNED_POINTER(struct boot, boot_free)

/* The devices are known: begin, unless it has begun. */
void boot_start(struct boot *boot);

/* What it found; empty before. They live as long as the boot. */
const struct engine_features *boot_features(const struct boot *boot);
struct versions *boot_versions(struct boot *boot);

/* The answer to GET /version; NULL: not yet known. */
const cJSON *boot_engine_version(const struct boot *boot);
