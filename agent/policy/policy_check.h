/* policy_check.h - checks whether the policy of a node allows a container.
 * Pure, except that it resolves links.
 *
 * It checks the create request as the engine would get it. Each part of the
 * request has a rule; a part without a rule is refused. Parts that the node
 * itself adds are allowed: those that equal the same part of `own`, the request
 * of a task whose spec is empty except for ssh and the code tree.
 * policy_image.h has the rules for images.
 *
 * The error, EPERM, names the rule by its key in the policy file, what was
 * refused, and what is allowed: "mounts: /etc is not allowed;
 * /etc/regatta/policy.yaml allows /data (read-only)".
 */
#pragma once

#include "protocol/config/policy.h"
#include "protocol/message/spec.h"

#include <cjson/cJSON.h>

/* Resolve the links of a path into out, of PATH_MAX bytes. -1: it cannot be
 * resolved; then the path is checked as it is. No resolver (NULL): links are
 * not resolved.
 */
typedef int policy_check_resolve_fn(void *arg, const char *path, char *out);
struct policy_resolver {
	policy_check_resolve_fn *fn;
	void *arg;
};

/* Is the path the folder, or below it? Both must be resolved. */
bool policy_path_below(const char *path, const char *folder);

/* Check what the create request does not contain: owner, image, output limit.
 */
int policy_check_order(const struct policy *policy,
		       const struct task_spec *task, struct error *err);

/* May an image be built from this folder of the node? Its scripts read and
 * write the folder, so the rules for mounts apply. Folders below the images
 * folder are always allowed.
 */
int policy_check_folder(const struct policy *policy, const char *build,
			const struct policy_resolver *resolver,
			struct error *err);

/* May the node check that these paths exist? Only if the job could mount them.
 * The error does not depend on whether a path exists.
 */
int policy_check_needs(const struct policy *policy, const struct strings *needs,
		       const struct policy_resolver *resolver,
		       struct error *err);

/* May a container have this path, in which no links are left, as a mount? */
bool policy_check_may_mount(const struct policy *policy, const char *path,
			    bool write, const struct policy_resolver *resolver);

/* Check the create request. */
int policy_check_request(const struct policy *policy, const cJSON *request,
			 const cJSON *own,
			 const struct policy_resolver *resolver,
			 struct error *err);

/* Set the policy's limits where the container has none of its own. */
void policy_check_limit(const struct policy *policy,
			struct container_spec *container);
