/* node_policy.h - the policy of this node: read, reloaded, applied to tasks.
 */
#pragma once

#include "agent/devices/device_binding.h"
#include "protocol/base/owned.h"
#include "agent/policy/policy_image.h"
#include "agent/policy/resolved_paths.h"
#include "agent/docker/create_body.h"

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

/* The rules that apply now. Borrowed until the next reload. */
const struct policy *node_policy_rules(const struct node_policy *node_policy);

/* The text of the file, for `regatta plan`; "": there is no file. NULL:
 * everything is allowed, or it is longer than NODE_POLICY_TEXT_MAX bytes.
 */
#define NODE_POLICY_TEXT_MAX 16384
const char *node_policy_text(const struct node_policy *node_policy);

/* policy_image_check_build() and policy_check_folder() on this machine. EPERM.
 */
int node_policy_build(const struct node_policy *node_policy, const char *image,
		      const char *build, struct error *err);

/* May this task, completed for its devices, run at that place? The disk of
 * place->out_folder must have space for its output. paths: what is resolved for
 * the answer. EPERM, ENOSPC (agent/policy/policy_check.h) and others. All but
 * ENOMEM are of class `policy`.
 */
int node_policy_check(const struct node_policy *node_policy,
		      const struct device_binding_source *binding,
		      const struct task_spec *task,
		      const struct task_spec *completed,
		      const struct container_place *place,
		      struct resolved_paths *paths, struct error *err);

/* May this task, which node_policy_check() allowed, set setuid and setgid bits
 * and make device nodes (agent/policy/rights_check.h)?
 */
bool node_policy_suid(const struct node_policy *node_policy,
		      const struct task_spec *completed,
		      const struct container_place *place,
		      struct resolved_paths *paths);
