/* agent_config.h - what an agent is told at its start.
 */
#pragma once

#include "agent/devices/offered.h"
#include "agent/policy/node_policy.h"
#include "protocol/config/agent.h"
#include "protocol/hardware/sysroot.h"
#include "protocol/wire/key.h"

#include <sched.h>
#include <stdbool.h>

#define AGENT_CREDIT_MAX (64ULL << 20) /* unacknowledged log bytes */
#define AGENT_CALL_MS 30000            /* of the engine */

struct slurm_share; /* agent/slurm_share.h */

/* All borrowed until agent_free(). */
struct agent_config {
	struct agent_settings settings;  /* controller may be the path of a file
					    with the endpoint; state is absolute;
					    its files and keys are not read */
	const char *credentials;         /* for registries: a file as Docker's
					    config.json, 0600; or NULL */
	const char *server_public;       /* the controller's key */
	const struct sysroot *roots;     /* NULL: the machine's own */
	struct offered offered;          /* settings.only_devices, read */
	cpu_set_t housekeeping_set;      /* settings.housekeeping_cpus, read */
	const struct slurm_share *share; /* its Slurm allocation, or NULL */
	const struct node_policy *node_policy; /* the node's policy */
	struct key key;                        /* name and role of this node */
	bool pod;        /* it runs in a pod, for one task */
	bool own_podman; /* the engine is a child of ours, without root */
	void *zmq;       /* ZeroMQ context to share, or NULL */
};
