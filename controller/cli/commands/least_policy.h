/* least_policy.h - computes the least permissive policy that allows given jobs.
 *
 * Pure. The result are the lines of a policy file that, added to the defaults,
 * allow the jobs and no more.
 */
#pragma once

#include "protocol/base/owned.h"
#include "protocol/config/policy.h"
#include "protocol/message/spec.h"

#include <cjson/cJSON.h>
#include <stdio.h>

/* The needs of the jobs. Each list begins with its default entries. */
struct least_policy {
	struct policy *policy; /* the defaults and the additions */
	bool longer[POLICY_LISTS];
	bool more_ulimits;
};

int least_policy_init(struct least_policy *least, struct error *err);
void least_policy_clear(struct least_policy *least);
OWNED_VALUE(struct least_policy, least_policy_clear)

int least_policy_add(struct least_policy *least,
		     const struct container_spec *job, struct error *err);

/* Print the lines, each after a comment. False: the defaults are enough. */
bool least_policy_print(const struct least_policy *least, FILE *out);

/* The same as an object; NULL: no memory. */
cJSON *least_policy_json(const struct least_policy *least);
