/* task.h - the life of one task: one container, from its image to its end.
 *
 * A task is a state machine in a table (task.c). Orders come from the
 * controller and may come twice; what the engine says comes from its answers.
 * An engine that is away fails nothing: calls are tried again until it is
 * back, and the exit record in the spool tells a command's end without it.
 * After ended, a task keeps its container and spool until it is discarded.
 */
#ifndef AGENT_TASK_TASK_H
#define AGENT_TASK_TASK_H

#include "agent/blobs/fetch.h"
#include "agent/devices/device_binding.h"
#include "agent/docker/engine.h"
#include "agent/images/image.h"
#include "agent/logs/log_sender.h"
#include "agent/metrics/monitor.h"
#include "agent/policy/node_policy.h"
#include "agent/spool/spool.h"
#include "agent/task/command.h"
#include "agent/task/gang_ssh.h"
#include "agent/task/preflight.h"
#include "protocol/message/message.h"
#include "protocol/message/state.h"

#include <systemd/sd-event.h>

struct task;

/* What all tasks of an agent share; borrowed, and so are its members. */
struct task_services {
	sd_event *loop;
	struct engine *engine;
	struct images *images;
	struct spool *spool;
	struct log_sender *sender;
	struct blob_store *contents;
	struct fetches *fetches;
	struct monitor *monitor; /* NULL: nothing is sampled */
	const char *cluster;
	const char *node;
	const char *address;      /* where other nodes reach this one */
	const char *init_program; /* regatta-init on the host */
	const char *folder;       /* of the spool: its free space counts */
	const struct device_binding_source *binding;
	const struct node_policy *node_policy; /* what this node allows */
	const struct registries *registries;
	const struct stack_tools *stack_tools;
	struct preflight_services preflight;
	/* What the task's status says has changed. */
	void (*changed)(void *arg, struct task *task);
	void (*progress)(void *arg, struct task *task,
			 const struct image_progress *progress);
	/* A message of the task's own, for the controller; may be lost. */
	gang_ssh_send_fn *say;
	/* Container and spool are gone. The task is freed after this. */
	void (*gone)(void *arg, struct task *task);
	void *arg;
};

/* A new task from its spec (copied): the spool is made and preparing begins.
 * changed() may be called from inside, when it fails at once.
 */
struct task *task_new(const struct task_services *services,
		      const struct task_spec *spec, struct error *err);

/* A task that an agent before us left in the spool. container: what the
 * engine says of its container (an element of the list answer), or NULL: it
 * has none.
 */
struct task *task_adopt(const struct task_services *services,
			const struct task_id *id, const cJSON *container,
			struct error *err);

/* Forget the task; its container and spool stay as they are. */
void task_free(struct task *task);
OWNED_POINTER(struct task, task_free)

const struct task_id *task_id(const struct task *task);

/* Orders. One that does not fit the state is ignored: it came late or twice.
 * What the rendezvous has is copied.
 */
void task_start(struct task *task, const struct rendezvous *rendezvous);
void task_stop(struct task *task, enum failure reason); /* none: it is done */
void task_observe(struct task *task, uint64_t round, bool stops);
void task_discard(struct task *task);

/* What the tasks of its job hand to each other (container_spec.ssh). */
void task_command(struct task *task, const struct message_command *command,
		  const void *data, size_t size);
void task_command_answer(struct task *task,
			 const struct message_command_answer *answer,
			 const void *data, size_t size);

/* The images that it has or is to have: fills needs[], whose texts are borrowed
 * until the loop goes on. Returns how many.
 */
#define TASK_NEEDS_MAX 4
size_t task_needs(const struct task *task,
		  struct image_need needs[TASK_NEEDS_MAX]);

/* Keep what it collected from being removed as unused. */
void task_touch(const struct task *task);

/* A copy for a message; the caller clears it with task_status_schema. */
int task_status(struct task *task, struct task_status *status,
		struct error *err);

#endif
