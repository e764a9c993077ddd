/* daemons.h - runs a controller and agents as child processes.
 *
 * They run in sessions of their own, so that Ctrl-C reaches only this process.
 * Pipes (--parent-fd) tell them when this process has ended, even by kill -9.
 * The controller reads pipe A, and only this process has its write end; at its
 * end the controller cancels all jobs, waits until everything is removed, and
 * exits. The agent reads pipe B, and this process and the controller have its
 * write end; at its end the agent exits.
 *
 * A child that dies is started again, DAEMONS_STARTS times in all.
 *
 * In a Slurm allocation the child is srun instead of an agent, and an agent
 * whose pipe ends leaves the cluster (regatta-agent(8), --for-allocation). srun
 * also has the write end of pipe A. So if this process ends, first the agents
 * return their tasks to the running controller; then the controller ends and
 * keeps its jobs for the next allocation.
 */
#pragma once

#include "controller/cli/run/folder.h"
#include "protocol/base/strings.h"

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

/* Reads the present Slurm allocation, and starts agents on its
 * nodes.
 *
 * Inside an allocation (salloc, or the script of sbatch) the controller runs on
 * the present node, and one srun starts an agent on each node. An agent offers
 * only the resources of its Slurm step (agent/slurm_share.h). Its key is in the
 * folder of the run, readable only by the owner; arguments and environment
 * contain no secrets. On the node it only uses a folder below TMPDIR, which it
 * removes at its end.
 *
 * Source: sbatch(1) and srun(1) of Slurm 22.05, sections on environment
 * variables; srun sends its standard input to all tasks.
 */

#define ALLOCATION_NODES_MAX 4096

struct allocation {
	struct strings nodes; /* their names in Slurm, in its order */
	char address[64];     /* numeric, of the present node */
	uint32_t cpus;        /* of the node with the fewest; 0: unknown */
};

/* Read the environment and ask scontrol. EINVAL: not inside an allocation;
 * ENOENT: scontrol is not installed, or does not know the present node.
 */
int allocation_read(struct allocation *allocation, struct error *err);
void allocation_clear(struct allocation *allocation);

/* The first words of the srun command, with the shell script that starts an
 * agent. The caller appends the script's arguments: agent, file with the
 * endpoint, controller's public key, folder with NODE.key, images, init,
 * vendor, devices, cluster, engine ("": the user's own). Ends in NULL.
 */
extern const char *const allocation_srun[];

#define DAEMONS_STARTS 6
#define DAEMONS_READY_MS 15000 /* until the controller listens */
#define DAEMONS_STOP_MS 10000  /* from SIGTERM to SIGKILL */
#define DAEMONS_GUEST_MS 90000 /* the same, until all pods are gone */
#define DAEMONS_LEAVE_MS 30000 /* until the agents of an allocation ended */

/* All borrowed until daemons_free(). */
struct daemons_config {
	const struct folder *folder;
	const char *controller; /* programs, absolute */
	const char *agent; /* NULL: only a controller, to read stored data; it
			      ends with this process and cancels nothing */
	const char *init;
	const char *images;
	const char *engine;
	const char *engine_tls;    /* NULL: none */
	const char *registry_auth; /* NULL: the agent's own */
	const char *vendor;
	uint32_t devices;
	const char *only_devices; /* as of the agent's option; NULL: all */
	/* NULL: one agent, on this machine. Else srun starts an agent on each
	 * node of this Slurm allocation; engine NULL is then the engine of the
	 * user on each node.
	 */
	const struct allocation *allocation;
	/* NULL: no. Else the child is this program, as the guest of Kubernetes
	 * (controller/cli/k8s/pods.h), instead of an agent.
	 */
	const char *guest;
	const char *address; /* of the controller; NULL: the folder's socket, or
				the allocation's */
	bool follows;        /* only agents: another allocation leads */
	/* If it becomes true (in a signal's callback), waiting ends. */
	const bool *interrupted;
	/* If a child dies too often, say() gets the last lines of its log, then
	 * failed() is called once. Both run from the loop.
	 */
	void (*say)(void *arg, const char *line);
	void (*failed)(void *arg, const struct error *why);
	/* In an allocation: all agents have left for good. */
	void (*left)(void *arg);
	void *arg;
};

struct daemons;

/* Start the children and wait until the controller listens. Blocks SIGCHLD.
 * ETIMEDOUT: it does not listen; EINTR; or the error of failed().
 */
struct daemons *daemons_new(sd_event *loop, const struct daemons_config *config,
			    struct error *err);
const char *daemons_endpoint(const struct daemons *daemons);

/* After `follows`: start the controller, too, and wait for it. */
int daemons_lead(struct daemons *daemons, struct error *err);

/* In an allocation: tell the agents to leave; left() is called later. */
void daemons_leave(struct daemons *daemons);

/* Send SIGTERM to the agent, then to the controller, and wait for their end.
 * Use it after all jobs have ended and are removed.
 */
void daemons_stop(struct daemons *daemons);

/* Close the pipes, so that both children end after they have removed
 * everything. Wait at most wait_ms for it. True: they have ended.
 */
bool daemons_release(struct daemons *daemons, uint64_t wait_ms);

/* Also closes the pipes. */
void daemons_free(struct daemons *daemons);
OWNED_POINTER(struct daemons, daemons_free)
