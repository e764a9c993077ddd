/* least_policy.h - the least that a node must allow for jobs.
 *
 * Pure. The lines of a policy file that allow what the jobs ask for and no
 * more, beside what a node allows by default.
 */
#ifndef CONTROLLER_CLI_PLAN_LEAST_POLICY_H
#define CONTROLLER_CLI_PLAN_LEAST_POLICY_H

#include "protocol/base/owned.h"
#include "protocol/config/policy.h"
#include "protocol/message/spec.h"

#include <cjson/cJSON.h>
#include <stdio.h>

/* What the jobs ask for; each list begins with what a node allows anyway. */
struct least_policy {
	struct policy *policy; /* the defaults, and what is missing there */
	bool longer[POLICY_LISTS];
	bool more_ulimits;
};

int least_policy_init(struct least_policy *least, struct error *err);
void least_policy_clear(struct least_policy *least);
OWNED_VALUE(struct least_policy, least_policy_clear)

int least_policy_add(struct least_policy *least,
		     const struct container_spec *job, struct error *err);

/* The lines, and above each what it opens. false: there are none. */
bool least_policy_print(const struct least_policy *least, FILE *out);

/* The same as an object; NULL: no memory. */
cJSON *least_policy_json(const struct least_policy *least);

#endif
