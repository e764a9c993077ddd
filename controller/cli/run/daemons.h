/* daemons.h - a controller and agents of our own, as children.
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
 * In an allocation of Slurm, srun is the child in place of all agents, and an
 * agent whose pipe ends leaves (regatta-agent(8), --for-allocation). There srun
 * has the write end of pipe A, too. So if this process ends, the agents give
 * back their tasks while the controller runs; then the controller ends and
 * keeps its jobs for the next one.
 */
#ifndef CONTROLLER_CLI_RUN_DAEMONS_H
#define CONTROLLER_CLI_RUN_DAEMONS_H

#include "controller/cli/run/allocation.h"
#include "controller/cli/run/folder.h"

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#define DAEMONS_STARTS 6
#define DAEMONS_READY_MS 15000 /* for the controller to listen */
#define DAEMONS_STOP_MS 10000  /* from SIGTERM to SIGKILL */
#define DAEMONS_LEAVE_MS 30000 /* for agents of an allocation to end */

/* All borrowed until daemons_free(). */
struct daemons_config {
	const struct folder *folder;
	const char *controller; /* programs, absolute */
	const char *agent;      /* NULL: the controller alone, to read what is
				   stored; it ends with us and cancels nothing */
	const char *init;
	const char *images;
	const char *engine;
	const char *engine_tls;    /* NULL: none */
	const char *registry_auth; /* NULL: the agent's own */
	const char *vendor;
	uint32_t devices;
	/* NULL: one agent, on this machine. Else an agent on each node of the
	 * Slurm allocation that we are in, started by srun: the engine NULL is
	 * that of each node's user.
	 */
	const struct allocation *allocation;
	bool follows; /* the agents of it alone: another one leads */
	/* True: an interrupted wait ends (set by a signal's callback). */
	const bool *interrupted;
	/* A child died too often: what its log said last, line by line, then
	 * failed() once. Both from the loop.
	 */
	void (*say)(void *arg, const char *line);
	void (*failed)(void *arg, const struct error *why);
	/* In an allocation: all agents have left, and will not come back. */
	void (*left)(void *arg);
	void *arg;
};

struct daemons;

/* Start them and wait until the controller listens. Blocks SIGCHLD. ETIMEDOUT:
 * it does not; EINTR; what failed() is told.
 */
struct daemons *daemons_new(sd_event *loop, const struct daemons_config *config,
			    struct error *err);
const char *daemons_endpoint(const struct daemons *daemons);

/* Start the controller, too, and wait for it as daemons_new() does. */
int daemons_lead(struct daemons *daemons, struct error *err);

/* In an allocation: have the agents leave; left() follows. */
void daemons_leave(struct daemons *daemons);

/* SIGTERM to the agent, then to the controller, and wait for their end: good
 * when all jobs have ended and are removed.
 */
void daemons_stop(struct daemons *daemons);

/* Close the pipes: both children end once everything is removed. Wait at most
 * wait_ms for that. True: they have ended.
 */
bool daemons_release(struct daemons *daemons, uint64_t wait_ms);

/* Free the object, which closes the pipes. */
void daemons_free(struct daemons *daemons);
OWNED_POINTER(struct daemons, daemons_free)

#endif
