/* gang_ssh.h - passes commands between the tasks of a job, through the
 * controller.
 *
 * Its whole state are files in the task's spool (agent/init/init.h), so nothing
 * is lost when an agent or the controller restarts. A request is sent every
 * GANG_SSH_TICK_MS until its answer is there. A request that comes twice is run
 * once and answered twice. Request and answer are removed GANG_SSH_KEEP_MS
 * after the answer.
 */
#pragma once

#include "agent/spool/spool.h"
#include "protocol/message/message.h"

#include <systemd/sd-event.h>

#define GANG_SSH_TICK_MS 2000
#define GANG_SSH_KEEP_MS 300000

struct gang_ssh;

/* Send to the controller. A message that is lost is sent again, so the result
 * is not used.
 */
typedef int gang_ssh_send_fn(void *arg, enum message_type type,
			     const void *body, const void *data, size_t size);

/* For a task whose spec has container.ssh, while its command runs. id is
 * copied, the rest is borrowed.
 */
struct gang_ssh *gang_ssh_new(sd_event *loop, struct spool *spool,
			      const struct task_id *id, gang_ssh_send_fn *send,
			      void *arg, struct error *err);
void gang_ssh_free(struct gang_ssh *ssh); /* NULL is fine */

/* A file with that name has appeared in the container's folder. */
void gang_ssh_seen(struct gang_ssh *ssh, const char *name);

/* From the controller: a command to run here, and the answer of another task.
 */
void gang_ssh_run(struct gang_ssh *ssh, const struct message_command *command,
		  const void *data, size_t size);
void gang_ssh_answered(struct gang_ssh *ssh,
		       const struct message_command_answer *answer,
		       const void *data, size_t size);
