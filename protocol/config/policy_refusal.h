/* policy_refusal.h - matches patterns and writes the refusals of a policy.
 */
#ifndef PROTOCOL_CONFIG_POLICY_REFUSAL_H
#define PROTOCOL_CONFIG_POLICY_REFUSAL_H

#include "protocol/config/policy.h"

/* Does the text match one of the fnmatch(3) patterns? */
bool policy_matches(const struct strings *patterns, const char *text);

#define POLICY_WORDS_BYTES 120 /* of a list of entries in an error text */

/* EPERM: "RULE: FOUND is not allowed; FILE allows ALLOWED". Returns -1. */
int policy_refuse(const struct policy *policy, const char *rule,
		  const char *found, const char *allowed, struct error *err);
/* The same; what is allowed is the list's entries. */
int policy_refuse_listed(const struct policy *policy, enum policy_list list,
			 const char *found, struct error *err);

#endif
