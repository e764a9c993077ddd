/* command.h - a task's command and environment, as regatta-init reads them.
 */
#pragma once

#include "protocol/base/buffer.h"
#include "protocol/message/spec.h"

/* What is known only when the gang starts. */
struct rendezvous {
	const char *address;      /* MASTER_ADDR */
	uint32_t port;            /* MASTER_PORT */
	uint64_t time_ms;         /* START_TIME, since 1970 */
	struct strings addresses; /* of all nodes by rank, or none; borrowed */
	/* Of this node's own address; NULL: not known, or the job has one node.
	 */
	const char *interface;
};

#define COMMAND_HOSTFILE "/regatta/in/hostfile" /* in the container */

/* Append the lines of the hostfile, "address slots=N"; without addresses,
 * nothing.
 */
int command_hostfile(const struct task_spec *spec,
		     const struct rendezvous *rendezvous, struct buffer *out,
		     struct error *err);

/* Append the text with its placeholders filled, by the rules for argv. */
int command_text(const struct task_spec *spec, const char *text,
		 const struct rendezvous *rendezvous, struct buffer *out,
		 struct error *err);

/* Append the records of in/start (agent/init/init.h). argv: the image's
 * command, used when the spec has none.
 *
 * Placeholders (protocol/message/spec.h) in the spec's argv and env are filled;
 * other ${...} stay as they are. MASTER_ADDR, MASTER_PORT, NNODES, NODE_RANK,
 * NPROC_PER_NODE and WORLD_SIZE are also environment variables. A variable of
 * the spec that uses ${INTERFACE} is left out where the task is the only one of
 * its job, or not in the host's network.
 *
 * Unless the spec sets them, PYTHONUNBUFFERED and PYTHONFAULTHANDLER are 1,
 * GLOO_SOCKET_IFNAME is the interface, and PyTorch's flight recorder is
 * switched on; its files are followed.
 *
 * EINVAL: nothing to run, or an address of more than 255 bytes.
 */
int command_build(const struct task_spec *spec, const struct strings *argv,
		  const struct rendezvous *rendezvous, struct buffer *out,
		  struct error *err);
