/* gang_ssh.h - passes commands between the tasks of a job, by way of the
 * controller.
 *
 * What lies in the task's spool, as agent/init/init.h says, is all that this
 * knows: a request without an answer is sent, and again every GANG_SSH_TICK_MS
 * until its answer is there; one that comes twice is run once, and answered
 * again. So nothing is lost when an agent or the controller starts again. An
 * answer, and what belongs to it, is removed GANG_SSH_KEEP_MS later.
 */
#ifndef AGENT_TASK_GANG_SSH_H
#define AGENT_TASK_GANG_SSH_H

#include "agent/spool/spool.h"
#include "protocol/message/message.h"

#include <systemd/sd-event.h>

#define GANG_SSH_TICK_MS 2000
#define GANG_SSH_KEEP_MS 300000

struct gang_ssh;

/* Send to the controller; one that cannot be sent is sent again later. */
typedef void gang_ssh_send_fn(void *arg, enum message_type type,
			      const void *body, const void *data, size_t size);

/* Of a task whose spec has container.ssh, while its command runs. All but id is
 * borrowed.
 */
struct gang_ssh *gang_ssh_new(sd_event *loop, struct spool *spool,
			      const struct task_id *id, gang_ssh_send_fn *send,
			      void *arg, struct error *err);
void gang_ssh_free(struct gang_ssh *ssh); /* NULL is fine */

/* A file of that name has come into the container's folder. */
void gang_ssh_seen(struct gang_ssh *ssh, const char *name);

/* From the controller: to be run here; and the answer of another task. */
void gang_ssh_run(struct gang_ssh *ssh, const struct message_command *command,
		  const void *data, size_t size);
void gang_ssh_answered(struct gang_ssh *ssh,
		       const struct message_command_answer *answer,
		       const void *data, size_t size);

#endif
