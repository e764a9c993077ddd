/* policy.c - any bytes as a node's policy: read and applied, or refused.
 */
#include "agent/policy/policy_check.h"
#include "agent/docker/create_body.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void judge(const struct policy *policy)
{
	static struct mount_spec mount = { .host = (char *)"/data",
					   .container = (char *)"/data" };
	static const struct task_spec task = {
		.owner = (char *)"me",
		.container = { .image = (char *)"r.example/x:1",
			       .mounts = &mount,
			       .mounts_count = 1,
			       .memory_bytes = 1 << 30 },
	};
	static const struct container_place place = {
		.cluster = "c",
		.node = "n",
		.init_program = "/init",
		.init_path = "/regatta-0",
		.in_folder = "/in",
		.out_folder = "/out",
		.image = "x",
	};
	struct error err = { 0 };
	cJSON *request = container_body(&task, &place, &err);

	if ((policy_check_order(policy, &task, &err) < 0 ||
	     policy_check_request(policy, request, NULL, NULL, &err) < 0) &&
	    (!err.code || !*err.text))
		abort();
	cJSON_Delete(request);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error err = { 0 };
	owned(policy_free) struct policy *policy =
		policy_parse((const char *)data, size, "fuzz", &err);

	/* A refusal has a sentence. */
	if (!policy && (!err.code || !*err.text))
		abort();
	if (policy)
		judge(policy);
	return 0;
}
