/* agent.h - one node: its engine, its tasks, its session with the controller.
 *
 * The agent keeps no database. When it starts it asks the engine for the
 * containers of its labels and looks into its spool, takes up what is there,
 * removes containers that no spool folder knows, and only then speaks to the
 * controller. In every session it first reports all its tasks; what it should
 * have, it is then told.
 */
#ifndef AGENT_AGENT_H
#define AGENT_AGENT_H

#include "agent/policy/node_policy.h"
#include "protocol/base/error.h"
#include "protocol/base/owned.h"
#include "protocol/config/free_space.h"
#include "protocol/hardware/sysroot.h"
#include "protocol/wire/key.h"

#include <sched.h>
#include <stdbool.h>
#include <systemd/sd-event.h>

#define AGENT_CREDIT_MAX (64ULL << 20) /* log bytes under way, at most */

/* All borrowed until agent_free(). */
struct agent_config {
	const char *state;         /* folder for the spool, absolute */
	const char *images;        /* folder of build contexts, or NULL */
	const char *credentials;   /* for registries: a file as Docker's
				      config.json, 0600; or NULL */
	const char *init_program;  /* regatta-init, absolute */
	const char *controller;    /* endpoint, or the path of a file with it */
	const char *server_public; /* its key */
	const char *cluster;       /* label of our containers */
	const char *address;       /* where other nodes reach this one */
	const char *vendor;        /* as the next: agent/devices/inventory.h */
	uint32_t devices;
	const struct sysroot *roots; /* NULL: the machine's own */
	struct free_space
		image_floor; /* agent/images/disk_watermark.h; 0: off */
	uint32_t image_keep;
	uint32_t stall_ms;       /* of image pulls; 0: the default */
	uint32_t clock_limit_ms; /* 0: the default (agent/task/preflight.h) */
	int64_t refused_ms;      /* after that long its tasks end; 0: never */
	const char
		*only_devices; /* list of those that are offered; NULL: all */
	cpu_set_t only_set;    /* the same, read */
	const char *housekeeping;   /* list of processors where tools run */
	cpu_set_t housekeeping_set; /* the same, read */
	uint32_t peer_port;  /* where other agents get contents; 0: any */
	const char *metrics; /* ADDRESS:PORT of agent/exporter.h; NULL: none */
	bool ipmi;           /* sample the machine's power */
	const struct slurm_share *share;       /* that it is in; NULL: none */
	const struct node_policy *node_policy; /* the node's policy */
	struct key key;                        /* name and role of this node */
	void *zmq; /* ZeroMQ context to share, or NULL */
};

struct agent;
struct slurm_share; /* agent/slurm_share.h */
struct engine;      /* agent/docker/engine.h */

/* On any engine, which belongs to the agent from then on, also when that fails.
 */
struct agent *agent_new(sd_event *loop, const struct agent_config *config,
			struct engine *engine, struct error *err);

/* The policy was read again: the controller is told. */
void agent_policy_changed(struct agent *agent);

/* Its time is over: it ends the loop when it has given back its tasks. */
void agent_leave(struct agent *agent);

/* Tasks that it has. */
size_t agent_tasks(const struct agent *agent);

/* Containers and spools stay: the next agent goes on with them. */
void agent_free(struct agent *agent);
OWNED_POINTER(struct agent, agent_free)

#endif
