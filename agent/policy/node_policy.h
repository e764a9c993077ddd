/* node_policy.h - the policy of this node: read, reloaded, held against
 * tasks.
 */
#ifndef AGENT_POLICY_NODE_POLICY_H
#define AGENT_POLICY_NODE_POLICY_H

#include "agent/devices/device_binding.h"
#include "protocol/base/owned.h"
#include "protocol/config/policy.h"
#include "protocol/hardware/container.h"

struct node_policy;

/* path: the policy file (copied). NULL: whatever the engine allows. optional:
 * without a file the defaults count.
 */
struct node_policy *node_policy_new(const char *path, bool optional,
				    struct error *err);
void node_policy_free(struct node_policy *node_policy);
OWNED_POINTER(struct node_policy, node_policy_free)

/* Read the file again. On failure all stays as it was. */
int node_policy_reload(struct node_policy *node_policy, struct error *err);

/* The file, or words for what stands for it. */
const char *node_policy_name(const struct node_policy *node_policy);

/* The text of the file, "" where there is none, for who plans for this node;
 * NULL: nothing is judged, or it is longer than NODE_POLICY_TEXT_MAX bytes.
 */
#define NODE_POLICY_TEXT_MAX 16384
const char *node_policy_text(const struct node_policy *node_policy);

/* Put the policy's limits where an order has none; before it is kept. */
void node_policy_limit(const struct node_policy *node_policy,
		       struct container_spec *container);

/* Do containers get what the profile of the vendor gives them, unasked? */
bool node_policy_profile(const struct node_policy *node_policy);

/* What a container may write to its own disk (agent/task/disk_watch.h), in
 * bytes; 0: any amount.
 */
uint64_t node_policy_disk(const struct node_policy *node_policy);

/* Of a container, in all; 0: any number. */
uint32_t node_policy_pids(const struct node_policy *node_policy);

/* May an image come from a file; may this one leave the node, be built here, be
 * removed? EPERM.
 */
int node_policy_load(const struct node_policy *node_policy, struct error *err);
int node_policy_save(const struct node_policy *node_policy, const char *image,
		     struct error *err);
int node_policy_pull(const struct node_policy *node_policy, const char *image,
		     struct error *err);
int node_policy_build(const struct node_policy *node_policy, const char *image,
		      const char *build, struct error *err);
int node_policy_remove(const struct node_policy *node_policy, const char *image,
		       bool ours, struct error *err);

/* May one leave the node that Regatta did not bring and no job used? EPERM. */
int node_policy_save_any(const struct node_policy *node_policy,
			 const char *image, struct error *err);

/* May the engine reach this registry, HOST[:PORT], without TLS? EPERM. */
int node_policy_insecure(const struct node_policy *node_policy,
			 const char *registry, struct error *err);

/* Does the policy allow what a name means (name@sha256:... or an image's id),
 * as it allows the name?
 */
bool node_policy_pin_allowed(const struct node_policy *node_policy,
			     const char *name, const char *pin);

/* May this task, completed for its devices, run at that place? Room for its
 * output is looked for below place->out_folder. EPERM, ENOSPC
 * (protocol/config/policy_check.h) and others; all are of class `policy` but
 * ENOMEM.
 */
int node_policy_check(const struct node_policy *node_policy,
		      const struct device_binding_source *binding,
		      const struct task_spec *task,
		      const struct task_spec *completed,
		      const struct container_place *place, struct error *err);

/* May this task, that node_policy_check() let pass, set setuid and setgid bits
 * and make device nodes (agent/policy/rights_check.h)?
 */
bool node_policy_suid(const struct node_policy *node_policy,
		      const struct task_spec *completed,
		      const struct container_place *place);

#endif
