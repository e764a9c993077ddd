/* guard.h - the policy of this node: read, read again, held against tasks.
 */
#ifndef AGENT_POLICY_GUARD_H
#define AGENT_POLICY_GUARD_H

#include "agent/devices/allot.h"
#include "protocol/config/policy.h"
#include "protocol/container.h"
#include "protocol/owned.h"

struct guard;

/* path: the policy file (copied). NULL: whatever the engine allows. optional:
 * without a file the defaults count.
 */
struct guard *guard_new(const char *path, bool optional, struct error *err);
void guard_free(struct guard *guard);
OWNED_POINTER(struct guard, guard_free)

/* Read the file again. On failure all stays as it was. */
int guard_reload(struct guard *guard, struct error *err);

/* The file, or words for what stands for it. */
const char *guard_name(const struct guard *guard);

/* Put the policy's limits where an order has none; before it is kept. */
void guard_limit(const struct guard *guard, struct container_spec *container);

/* What a container may write to its own disk (agent/tasks/disk.h), in bytes; 0:
 * any amount.
 */
uint64_t guard_disk(const struct guard *guard);

/* Of a container, in all; 0: any number. */
uint32_t guard_pids(const struct guard *guard);

/* May an image come from a file; may this one leave the node, be built here, be
 * removed? EPERM.
 */
int guard_load(const struct guard *guard, struct error *err);
int guard_save(const struct guard *guard, const char *image, struct error *err);
int guard_build(const struct guard *guard, const char *image, const char *build,
		struct error *err);
int guard_remove(const struct guard *guard, const char *image, bool ours,
		 struct error *err);

/* May the engine reach this registry, HOST[:PORT], without TLS? EPERM. */
int guard_insecure(const struct guard *guard, const char *registry,
		   struct error *err);

/* Does the policy allow what a name means (name@sha256:... or an image's id),
 * as it allows the name?
 */
bool guard_pin_allowed(const struct guard *guard, const char *name,
		       const char *pin);

/* May this task, completed for its devices, run at that place? Room for its
 * output is looked for below place->out_folder. EPERM, ENOSPC (agent/policy/
 * judge.h) and others; all are of class `policy` but ENOMEM.
 */
int guard_check(const struct guard *guard, const struct allot_source *allot,
		const struct task_spec *task, const struct task_spec *completed,
		const struct container_place *place, struct error *err);

/* May this task, that guard_check() let pass, set setuid and setgid bits and
 * make device nodes (agent/policy/judge_rights.h)?
 */
bool guard_suid(const struct guard *guard, const struct task_spec *completed,
		const struct container_place *place);

#endif
