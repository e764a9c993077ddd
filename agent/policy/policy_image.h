/* policy_image.h - checks whether the policy of a node allows an image. Pure.
 *
 * Errors as in policy_check.h: EPERM names the rule, what was refused, and what
 * is allowed.
 */
#pragma once

#include "protocol/config/policy.h"

/* Does the text match one of the patterns? */
bool policy_matches(const struct strings *patterns, const char *text);

/* EPERM: "RULE: FOUND is not allowed; FILE allows ALLOWED". Returns -1. The
 * second one: what is allowed are the entries of the list.
 */
int policy_refuse(const struct policy *policy, const char *rule,
		  const char *found, const char *allowed, struct error *err);
int policy_refuse_listed(const struct policy *policy, enum policy_list list,
			 const char *found, struct error *err);
#define POLICY_WORDS_BYTES 120 /* of a list of entries in an error text */

/* May the image with this reference run here? */
int policy_image_check(const struct policy *policy, const char *image,
		       struct error *err);

/* May `pin` be used for the image `name`, because the policy allows the name?
 * False if the name is an image id (an id says nothing about the origin), if
 * the pin is of another repository, or if the policy's patterns need a tag,
 * which a digest does not have.
 */
bool policy_image_check_pin(const struct policy *policy, const char *name,
			    const char *pin);

/* May images be loaded from files, under names of the operator's choice? */
int policy_image_check_load(const struct policy *policy, struct error *err);

/* May this image be built from this folder? */
int policy_image_check_build(const struct policy *policy, const char *image,
			     const char *build, struct error *err);

/* May an image with this reference come from elsewhere than a build on this
 * node? False for a name without tag and digest: a build adds the hash of its
 * files as the tag (agent/images/images.h).
 */
bool policy_image_may_be_found(const char *image);

/* May the image be removed? ours: Regatta pulled, built or loaded it. */
int policy_image_check_remove(const struct policy *policy, const char *image,
			      bool ours, struct error *err);

/* May this image be saved, although Regatta did not pull, build or load it and
 * no job used it?
 */
int policy_image_check_save(const struct policy *policy, const char *image,
			    struct error *err);

/* May a registry, HOST[:PORT], be reached without TLS, or with an unchecked
 * certificate?
 */
int policy_image_check_insecure(const struct policy *policy,
				const char *registry, struct error *err);
