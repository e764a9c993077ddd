/* command.h - a task's command and environment, as regatta-init reads them.
 */
#ifndef AGENT_TASK_COMMAND_H
#define AGENT_TASK_COMMAND_H

#include "protocol/base/buffer.h"
#include "protocol/message/spec.h"

/* What only the start of the gang can say. */
struct rendezvous {
	const char *address;      /* MASTER_ADDR */
	uint32_t port;            /* MASTER_PORT */
	uint64_t time_ms;         /* START_TIME, since 1970 */
	struct strings addresses; /* of all nodes by rank, or none; borrowed */
	const char *interface; /* of this node's own address; NULL: not known */
};

#define COMMAND_HOSTFILE "/regatta/in/hostfile" /* in the container */

/* Append the lines of the hostfile, "address slots=N"; nothing without
 * addresses.
 */
int command_hostfile(const struct task_spec *spec,
		     const struct rendezvous *rendezvous, struct buffer *out,
		     struct error *err);

/* Append the text with its placeholders filled, as those of argv are. */
int command_text(const struct task_spec *spec, const char *text,
		 const struct rendezvous *rendezvous, struct buffer *out,
		 struct error *err);

/* Append the records of in/start (agent/init/init.h). argv: the command to use
 * when the spec has none. ${MASTER_ADDR}, ${MASTER_PORT}, ${NNODES},
 * ${NODE_RANK}, ${NPROC_PER_NODE} and ${WORLD_SIZE} are filled in the spec's
 * argv and env, and each is a variable of the environment too; variables of
 * the spec win over them. ${ROUND} and ${START_TIME} are filled as well, and
 * with addresses ${NODE_ADDRESSES}, ${NODE_ENDPOINTS_JSON}, ${HOSTFILE} and
 * ${NODE_ADDRESS} (protocol/message/spec.h), which are no variables by
 * themselves. ${INTERFACE} is the network interface by which the nodes reach
 * each other; a variable of the spec that names it is left out where the task
 * is alone, or not in the host's network. PYTHONUNBUFFERED and
 * PYTHONFAULTHANDLER are 1, GLOO_SOCKET_IFNAME is the interface, and PyTorch's
 * flight recorder is switched on unless the spec sets them; what the recorder
 * writes is followed. Other ${...} are left as they are. EINVAL: nothing to
 * run, or an address longer than 255 bytes.
 */
int command_build(const struct task_spec *spec, const struct strings *argv,
		  const struct rendezvous *rendezvous, struct buffer *out,
		  struct error *err);

#endif
