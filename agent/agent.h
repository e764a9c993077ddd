/* agent.h - one node: its engine, its tasks, its session with the controller.
 *
 * The agent keeps no database. At its start it lists the engine's containers
 * with its labels and the folders of its spool, adopts the tasks that it finds,
 * and removes containers without a spool folder. Only then does it connect to
 * the controller. In every session it first reports all its tasks; the
 * controller answers with the tasks that it should have.
 */
#ifndef AGENT_AGENT_H
#define AGENT_AGENT_H

#include "agent/devices/offered.h"
#include "agent/policy/node_policy.h"
#include "protocol/base/error.h"
#include "protocol/base/owned.h"
#include "protocol/config/agent.h"
#include "protocol/hardware/sysroot.h"
#include "protocol/wire/key.h"

#include <sched.h>
#include <stdbool.h>
#include <systemd/sd-event.h>

#define AGENT_CREDIT_MAX (64ULL << 20) /* unacknowledged log bytes */

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
	bool own_podman; /* the engine is a child of ours, without root */
	void *zmq;       /* ZeroMQ context to share, or NULL */
};

struct agent;
struct slurm_share; /* agent/slurm_share.h */
struct engine;      /* agent/docker/engine.h */

/* Takes over the engine, also on failure. */
struct agent *agent_new(sd_event *loop, const struct agent_config *config,
			struct engine *engine, struct error *err);

/* The policy was reloaded: report it to the controller. */
void agent_policy_changed(struct agent *agent);

/* Take no new tasks, have the controller move the present ones, and end the
 * loop once none is left.
 */
void agent_leave(struct agent *agent);

/* The number of its tasks. */
size_t agent_tasks(const struct agent *agent);

/* Containers and spools stay: the next agent adopts them. */
void agent_free(struct agent *agent);
OWNED_POINTER(struct agent, agent_free)

#endif
