/* policy_check.h - decides whether this node may run a container. Pure, but
 * for links.
 *
 * What is judged is the create request as the engine would get it. Each part of
 * it has a rule; a part that no rule knows is refused. What the node itself put
 * into the request is not the order's: a part is let pass when the same stands
 * in `own`, the request that an order without any wish but ssh would give.
 *
 * The error, EPERM, names the rule by its key in the policy file, what was
 * refused, and what is allowed: "mounts: /etc is not allowed;
 * /etc/regatta/policy.yaml allows /data (read-only)".
 */
#ifndef PROTOCOL_CONFIG_POLICY_CHECK_H
#define PROTOCOL_CONFIG_POLICY_CHECK_H

#include "protocol/config/policy.h"
#include "protocol/message/spec.h"

#include <cjson/cJSON.h>

/* Where a path leads, without links, in PATH_MAX bytes; -1: it cannot be told,
 * and the path is judged as it is.
 */
typedef int policy_check_resolve_fn(const char *path, char *out);

/* Is a path that folder, or below it? Both as resolved. */
bool policy_path_below(const char *path, const char *folder);

/* Who asks, and for which image: what the request does not say. */
int policy_check_order(const struct policy *policy,
		       const struct task_spec *task, struct error *err);

/* An image by this reference: may it run here? */
int policy_check_image(const struct policy *policy, const char *image,
		       struct error *err);

/* May images come from files, under names of the operator's choice? */
int policy_check_load(const struct policy *policy, struct error *err);

/* May an image be built from this folder, to be found by that name? */
int policy_check_build(const struct policy *policy, const char *image,
		       const char *build, struct error *err);

/* May a folder of the node be what an image is built from? The scripts in it
 * see and change it, so it is judged as a mount; a folder of images is not.
 */
int policy_check_folder(const struct policy *policy, const char *build,
			policy_check_resolve_fn *resolve, struct error *err);

/* May an image be removed that Regatta brought, or (not ours) that it did not?
 */
int policy_check_remove(const struct policy *policy, const char *image,
			bool ours, struct error *err);

/* Paths that a job wants to be there: only below what it could mount is looked
 * for them. What lies elsewhere is refused in the same words, there or not.
 */
int policy_check_needs(const struct policy *policy, const struct strings *needs,
		       policy_check_resolve_fn *resolve, struct error *err);

/* May an image leave the node that Regatta did not bring and no job used? */
int policy_check_save(const struct policy *policy, const char *image,
		      struct error *err);

/* May `pin` be taken for the image `name`? Not when it is an id, which could be
 * that of any image here, or of another name, or a pattern holds on to a tag,
 * which a digest does not show.
 */
bool policy_check_pin(const struct policy *policy, const char *name,
		      const char *pin);

/* May a registry, HOST[:PORT], be reached without TLS, or with a certificate
 * that nobody checks?
 */
int policy_check_insecure(const struct policy *policy, const char *registry,
			  struct error *err);

/* The create request itself. */
int policy_check_request(const struct policy *policy, const cJSON *request,
			 const cJSON *own, policy_check_resolve_fn *resolve,
			 struct error *err);

/* Put the policy's limits where the container asks for none. */
void policy_check_limit(const struct policy *policy,
			struct container_spec *container);

#endif
