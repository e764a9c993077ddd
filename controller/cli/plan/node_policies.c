/* node_policies.c - checks the cells of a sweep against the policies of the
 * nodes.
 */
#include "controller/cli/plan/node_policies.h"

#include "protocol/config/policy_check.h"
#include "protocol/config/policy_image.h"
#include "protocol/hardware/container.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct known_policy {
	const struct plan_policy *of; /* borrowed */
	struct policy *policy;
};

void node_policies_clear(struct node_policies *policies)
{
	for (size_t i = 0; i < policies->count; i++)
		policy_free(policies->items[i].policy);
	free(policies->items);
	*policies = (struct node_policies){ 0 };
}

int node_policies_add(struct node_policies *policies,
		      const struct plan_policy *policy, struct error *err)
{
	struct known_policy *items =
		reallocarray(policies->items, policies->count + 1,
			     sizeof(*items));
	struct error unreadable;

	if (!items)
		return error_nomem(err, "policies");
	policies->items = items;
	items[policies->count++] = (struct known_policy){
		policy, policy_parse(policy->text, strlen(policy->text),
				     "the node's policy", &unreadable)
	};
	return 0;
}

static int known_policy_check(const struct policy *policy,
			      const struct container_spec *job,
			      struct error *err)
{
	/* Borrowed: neither is cleared. */
	struct task_spec task = { .nodes = 1, .container = *job };
	const struct task_spec bare = { .nodes = 1,
					.container = { .image = job->image,
						       .ssh = job->ssh } };
	const struct container_place place = {
		.cluster = "plan",
		.node = "plan",
		.init_program = "/",
		.in_folder = "/",
		.out_folder = "/",
		.image = job->image,
		.pids = (uint32_t)policy->limits.pids,
	};
	cJSON *request, *own;
	int rc;

	policy_check_limit(policy, &task.container);
	if ((job->build ? policy_image_check_build(policy, job->image,
						   job->build, err)
			: policy_image_check(policy, job->image, err)) < 0 ||
	    policy_check_needs(policy, &job->needs, NULL, err) < 0 ||
	    policy_check_folder(policy, job->build, NULL, err) < 0)
		return -1;
	request = container_body(&task, &place, err);
	own = container_body(&bare, &place, err);
	rc = request && own
		     ? policy_check_request(policy, request, own, NULL, err)
		     : -1;
	cJSON_Delete(request);
	cJSON_Delete(own);
	return rc;
}

static bool add_refusal(cJSON *to, const struct known_policy *known,
			const char *why)
{
	cJSON *refusal = cJSON_CreateObject();

	cJSON_AddItemToObject(refusal, "nodes",
			      cJSON_CreateStringArray((const char *const *)known
							      ->of->nodes.items,
						      (int)known->of->nodes
							      .count));
	return cJSON_AddStringToObject(refusal, "text", why) &&
	       cJSON_AddItemToArray(to, refusal);
}

cJSON *node_policies_refusals(const struct node_policies *policies,
			      const char *vendor,
			      const struct container_spec *job,
			      struct error *err)
{
	cJSON *refusals = cJSON_CreateArray();
	bool good = refusals;

	for (size_t i = 0; i < policies->count && good; i++) {
		const struct known_policy *known = &policies->items[i];
		struct error why;

		if (known->policy && !strcmp(known->of->vendor, vendor) &&
		    known_policy_check(known->policy, job, &why) < 0 &&
		    why.code == EPERM)
			good = add_refusal(refusals, known, why.text);
	}
	if (good)
		return refusals;
	cJSON_Delete(refusals);
	error_nomem(err, "plan");
	return NULL;
}
