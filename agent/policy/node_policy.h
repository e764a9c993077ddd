/* node_policy.h - the policy of this node: read, reloaded, applied to tasks.
 */
#ifndef AGENT_POLICY_NODE_POLICY_H
#define AGENT_POLICY_NODE_POLICY_H

#include "agent/devices/device_binding.h"
#include "protocol/base/owned.h"
#include "protocol/config/policy.h"
#include "protocol/hardware/container.h"

struct node_policy;

/* path: the policy file (copied). NULL: allow everything that the engine
 * allows. optional: if there is no file, use the defaults.
 */
struct node_policy *node_policy_new(const char *path, bool optional,
				    struct error *err);
void node_policy_free(struct node_policy *node_policy);
OWNED_POINTER(struct node_policy, node_policy_free)

/* Read the file again. On failure the old policy stays. */
int node_policy_reload(struct node_policy *node_policy, struct error *err);

/* The path of the file, or a text for people that says where the policy comes
 * from.
 */
const char *node_policy_name(const struct node_policy *node_policy);

/* The text of the file, for `regatta plan`; "": there is no file. NULL:
 * everything is allowed, or it is longer than NODE_POLICY_TEXT_MAX bytes.
 */
#define NODE_POLICY_TEXT_MAX 16384
const char *node_policy_text(const struct node_policy *node_policy);

/* Set the policy's limits where the container has none. Call it before the spec
 * is stored.
 */
void node_policy_limit(const struct node_policy *node_policy,
		       struct container_spec *container);

/* May containers get what the vendor's profile gives them, without a rule of
 * their own?
 */
bool node_policy_profile(const struct node_policy *node_policy);

/* Bytes that a container may write to its own disk (agent/task/disk_watch.h);
 * 0: no limit.
 */
uint64_t node_policy_disk(const struct node_policy *node_policy);

/* Processes that a container may have; 0: no limit. */
uint32_t node_policy_pids(const struct node_policy *node_policy);

/* May images be loaded from files? May this image be saved to a file, pulled,
 * built, removed? ours: Regatta pulled, built or loaded it. EPERM.
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

/* May an image be saved that Regatta did not pull, build or load, and no job
 * used? EPERM.
 */
int node_policy_save_any(const struct node_policy *node_policy,
			 const char *image, struct error *err);

/* May the engine reach this registry, HOST[:PORT], without TLS? EPERM. */
int node_policy_insecure(const struct node_policy *node_policy,
			 const char *registry, struct error *err);

/* Does the policy that allows the name also allow the image that it resolves to
 * (pin: name@sha256:... or an image's id)?
 */
bool node_policy_pin_allowed(const struct node_policy *node_policy,
			     const char *name, const char *pin);

/* May this task, completed for its devices, run at that place? The disk of
 * place->out_folder must have space for its output. EPERM, ENOSPC
 * (protocol/config/policy_check.h) and others. All but ENOMEM are of class
 * `policy`.
 */
int node_policy_check(const struct node_policy *node_policy,
		      const struct device_binding_source *binding,
		      const struct task_spec *task,
		      const struct task_spec *completed,
		      const struct container_place *place, struct error *err);

/* May this task, which node_policy_check() allowed, set setuid and setgid bits
 * and make device nodes (agent/policy/rights_check.h)?
 */
bool node_policy_suid(const struct node_policy *node_policy,
		      const struct task_spec *completed,
		      const struct container_place *place);

#endif
