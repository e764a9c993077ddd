/* agent.h - one node: its engine, its tasks, its session with the controller.
 *
 * The agent keeps no database. At its start it lists the engine's containers
 * with its labels and the folders of its spool, adopts the tasks that it finds,
 * and removes containers without a spool folder. Only then does it connect to
 * the controller. In every session it first reports all its tasks; the
 * controller answers with the tasks that it should have.
 */
#pragma once

#include "agent/agent_config.h"
#include "protocol/base/error.h"
#include "protocol/base/owned.h"

#include <systemd/sd-event.h>

struct agent;
struct engine; /* agent/docker/engine.h */

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
