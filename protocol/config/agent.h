/* agent.h - the settings of regatta-agent: regatta-agent(8).
 */
#pragma once

#include "protocol/config/config.h"
#include "protocol/config/free_space.h"

/* A text is NULL if it was not given and has no default. */
struct agent_settings {
	struct config_common common;
	const char *controller;
	const char *controller_key;
	const char *key;
	const char *state;
	const char *policy; /* a file, or AGENT_POLICY_ANY */
	const char *engine;
	const char *engine_tls;
	const char *images;
	struct free_space image_floor;
	const char *registry_auth;
	const char *init;
	const char *address;
	const char *vendor;
	const char *device_root;
	const char *sysfs_root;
	const char *proc_root;
	const char *file_root;
	const char *tools;
	const char *cluster;
	const char *only_devices; /* NULL: all */
	const char *housekeeping_cpus;
	const char *metrics; /* NULL: none */
	const char *metrics_name;
	uint64_t devices;
	uint64_t image_keep;
	uint64_t peer_port;     /* 0: any */
	uint64_t stall;         /* s */
	uint64_t clock_limit;   /* s */
	uint64_t refused_limit; /* s */
	bool ipmi;
	bool for_allocation;
};

/* Defaults. Inside a Slurm allocation other values replace them. */
#define AGENT_STATE "/var/lib/regatta-agent"
#define AGENT_ADDRESS "127.0.0.1"
#define AGENT_CLUSTER "regatta"

#define AGENT_POLICY_ANY "any" /* --policy: allow what the engine allows */

extern const struct config_program agent_program;
