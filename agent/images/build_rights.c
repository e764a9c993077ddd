/* build_rights.c - what the programs of a build may do, by the node's policy.
 */
#include "agent/images/build_rights.h"

#include "agent/docker/create_body.h"

#include <math.h>
#include <string.h>

static bool build_rights_open(const struct policy *policy)
{
	return !policy || policy->any;
}

/* The first of these networks that the policy allows. */
static const char *build_rights_network(const struct policy *policy,
					const char *first, const char *second)
{
	const struct strings *networks = &policy->lists[POLICY_NETWORK];

	return strings_has(networks, first)    ? first
	       : strings_has(networks, second) ? second
					       : "none";
}

struct engine_build_limits build_rights_limits(const struct policy *policy)
{
	struct engine_build_limits limits = { 0 };

	if (build_rights_open(policy))
		return limits;
	limits.memory_bytes = policy->limits.memory_bytes;
	limits.cpus = policy->limits.cpus;
	limits.network = build_rights_network(policy, "bridge", "host");
	/* The network that the engine takes by itself may have any name. */
	if (!strcmp(limits.network, "bridge"))
		limits.network = NULL;
	return limits;
}

/* 0 is no limit. */
static bool build_rights_limit(cJSON *host, const char *name, double value)
{
	return !(value > 0) || cJSON_AddNumberToObject(host, name, value);
}

bool build_rights_apply(const struct policy *policy, cJSON *request)
{
	cJSON *host = cJSON_GetObjectItemCaseSensitive(request, "HostConfig");
	char *all[] = { (char *)"ALL" };
	char *safe[] = { (char *)"no-new-privileges" };
	const struct strings drop = { all, 1 }, security = { safe, 1 };

	if (build_rights_open(policy))
		return cJSON_AddStringToObject(host, "NetworkMode", "host");
	return container_add_texts(cJSON_AddArrayToObject(host, "CapDrop"),
				   &drop) &&
	       container_add_texts(cJSON_AddArrayToObject(host, "CapAdd"),
				   &policy->lists[POLICY_CAPABILITIES]) &&
	       container_add_texts(cJSON_AddArrayToObject(host, "SecurityOpt"),
				   &security) &&
	       cJSON_AddStringToObject(request, "User", "0") &&
	       cJSON_AddStringToObject(host, "NetworkMode",
				       build_rights_network(policy, "host",
							    "bridge")) &&
	       build_rights_limit(host, "PidsLimit",
				  (double)policy->limits.pids) &&
	       build_rights_limit(host, "Memory",
				  (double)policy->limits.memory_bytes) &&
	       build_rights_limit(host, "MemorySwap",
				  (double)policy->limits.memory_bytes) &&
	       build_rights_limit(host, "NanoCpus",
				  round(policy->limits.cpus * 1e9));
}
