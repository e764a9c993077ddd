/* secrets.h - the sealed variables and files of a task's container.
 *
 * They go into in/start alone, which regatta-init reads and only root may: the
 * engine, its inspection of the container and the task's spec know none.
 */
#ifndef AGENT_TASK_SECRETS_H
#define AGENT_TASK_SECRETS_H

#include "agent/docker/registries.h"
#include "protocol/base/buffer.h"
#include "protocol/message/spec.h"

/* ENOKEY: one of them was forgotten since the sweep was submitted. */
int task_secrets_check(const struct task_spec *spec, struct error *err);

/* Is one of them a file of the container? */
bool task_secrets_files(const struct task_spec *spec);

/* Append a record env=NAME=VALUE, or secret=NAME=VALUE for a file, for each
 * (agent/init/init.h). EKEYREJECTED: it
 * cannot be opened here. The caller overwrites the buffer.
 */
int task_secrets_add(const struct task_spec *spec,
		     const struct registries *registries, struct buffer *out,
		     struct error *err);

#endif
