/* task.h - the life of one task: one container, from its image to its end.
 *
 * A task is a state machine in a table (task.c). Its events are orders of the
 * controller, which may come twice, and answers of the engine. An engine that
 * cannot be reached fails no task: calls are repeated until it is back, and the
 * exit record in the spool shows the end of a command without it. A task that
 * has ended keeps its container and spool until it is discarded.
 */
#pragma once

#include "agent/blobs/fetch.h"
#include "agent/devices/device_binding.h"
#include "agent/docker/engine.h"
#include "agent/images/images.h"
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
	struct trash *trash; /* of the spool; NULL: it is not emptied */
	struct log_sender *sender;
	struct blob_store *blobs;
	struct fetches *fetches;
	struct monitor *monitor; /* NULL: nothing is sampled */
	const char *cluster;
	const char *node;
	const char *address;      /* where other nodes reach this one */
	const char *init_program; /* regatta-init on the host */
	const char *folder;       /* of the spool, for its free disk space */
	const struct device_binding_source *binding;
	const struct node_policy *node_policy; /* what this node allows */
	const struct registries *registries;
	const struct stack_tools *stack_tools;
	struct preflight_services preflight;
	/* The task's status has changed. */
	void (*changed)(void *arg, struct task *task);
	void (*progress)(void *arg, struct task *task,
			 const struct image_progress *progress);
	/* A message of the task's own, for the controller; may be lost. */
	gang_ssh_send_fn *say;
	/* Container and spool are removed. The task is freed after this. */
	void (*gone)(void *arg, struct task *task);
	void *arg;
};

/* Make a task from its spec (copied) and its spool, and begin to prepare it.
 * changed() may be called from inside, if it fails at once.
 */
struct task *task_new(const struct task_services *services,
		      const struct task_spec *spec, struct error *err);

/* Adopt a task that an earlier agent left in the spool. container: the element
 * of the engine's list of containers; NULL: it has none.
 */
struct task *task_adopt(const struct task_services *services,
			const struct task_id *id, const cJSON *container,
			struct error *err);

/* Free the task; its container and spool stay as they are. */
void task_free(struct task *task);
OWNED_POINTER(struct task, task_free)

const struct task_id *task_id(const struct task *task);

/* Orders. One that does not fit the state came late or twice, and is ignored.
 * The rendezvous is copied. reason FAILURE_NONE: the job is complete.
 */
void task_start(struct task *task, const struct rendezvous *rendezvous);
void task_stop(struct task *task, enum failure reason);
void task_observe(struct task *task, uint64_t round, bool stops);
void task_discard(struct task *task);

/* Commands that the tasks of its job send each other (container_spec.ssh). */
void task_command(struct task *task, const struct message_command *command,
		  const void *data, size_t size);
void task_command_answer(struct task *task,
			 const struct message_command_answer *answer,
			 const void *data, size_t size);

/* What identifies the image in all nodes: the reference of a built image, the
 * digest of a pulled one, else its content. Borrowed from both.
 */
const char *task_image_pin(const struct task_spec *spec,
			   const struct image *image);

/* Fill needs[] with the images that the task uses or will use; returns the
 * number. The texts are borrowed, until control returns to the loop.
 */
#define TASK_NEEDS_MAX 4
size_t task_needs(const struct task *task,
		  struct image_need needs[TASK_NEEDS_MAX]);

/* Mark its collected blobs as used, so that they are not removed. */
void task_touch(const struct task *task);

/* A copy for a message; the caller clears it with task_status_schema. */
int task_status(struct task *task, struct task_status *status,
		struct error *err);
