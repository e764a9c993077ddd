/* secrets.h - the sealed variables and files of a task's container.
 *
 * They go through a pipe, in/secrets, from which regatta-init reads them when
 * its command is released. The node's disk has them only as the task's spec
 * does, sealed; the engine's view of the container has none.
 */
#pragma once

#include "agent/images/registry_access.h"
#include "protocol/base/buffer.h"
#include "protocol/message/spec.h"

/* ENOKEY: the controller has removed one of them since the sweep was submitted.
 */
int task_secrets_check(const struct task_spec *spec, struct error *err);

/* Has it any? Is one of them a file of the container? */
bool task_secrets_any(const struct task_spec *spec);
bool task_secrets_files(const struct task_spec *spec);

/* Append a record env=NAME=VALUE for each, or secret=NAME=VALUE for a file
 * (agent/init/init.h), and the empty record that ends them. EKEYREJECTED: it is
 * not sealed for this node. The caller overwrites the buffer after use.
 */
int task_secrets_add(const struct task_spec *spec,
		     const struct registries *registries, struct buffer *out,
		     struct error *err);
