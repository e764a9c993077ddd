/* policy_image.h - which images the policy of a node allows. Pure.
 *
 * Errors as in policy_check.h: EPERM names the rule, what was refused, and what
 * is allowed.
 */
#ifndef PROTOCOL_CONFIG_POLICY_IMAGE_H
#define PROTOCOL_CONFIG_POLICY_IMAGE_H

#include "protocol/config/policy.h"

/* May the image with this reference run here? */
int policy_image_check(const struct policy *policy, const char *image,
		       struct error *err);

/* May `pin` be used for the image `name`, because the policy allows the name?
 * False for an id, which any image may have, for another repository, and where
 * the policy's patterns need a tag, which a digest does not have.
 */
bool policy_image_check_pin(const struct policy *policy, const char *name,
			    const char *pin);

/* May images be loaded from files, under names of the operator's choice? */
int policy_image_check_load(const struct policy *policy, struct error *err);

/* May this image be built from this folder? */
int policy_image_check_build(const struct policy *policy, const char *image,
			     const char *build, struct error *err);

/* May an image of this name be one that was not built here? Without a tag the
 * name of a built image has the hash of its files (agent/images/image.h).
 */
bool policy_image_may_be_found(const char *image);

/* May the image be removed? ours: Regatta pulled, built or loaded it. */
int policy_image_check_remove(const struct policy *policy, const char *image,
			      bool ours, struct error *err);

/* May an image be saved that Regatta did not pull, build or load, and no job
 * used?
 */
int policy_image_check_save(const struct policy *policy, const char *image,
			    struct error *err);

/* May a registry, HOST[:PORT], be reached without TLS, or with a certificate
 * that nobody checks?
 */
int policy_image_check_insecure(const struct policy *policy,
				const char *registry, struct error *err);

#endif
