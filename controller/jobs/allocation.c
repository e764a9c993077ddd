/* allocation.c - the nodes and devices of a job, as the store keeps them.
 */
#include "controller/jobs/allocation.h"

#include <stdlib.h>
#include <string.h>

/* clang-format off */
static const struct schema allocated_task_schema = SCHEMA(allocated_task,
	FIELD(allocated_task, node),
	FIELD(allocated_task, devices));

const struct schema job_allocation_schema = SCHEMA(job_allocation,
	FIELD_OPTIONAL(job_allocation, port),
	FIELD_OPTIONAL(job_allocation, address),
	FIELD_OPTIONAL(job_allocation, addresses),
	FIELD_MANY(job_allocation, tasks, allocated_task_schema));
/* clang-format on */

int allocation_read(const char *text, struct job_allocation *to,
		    struct error *err)
{
	owned(cJSON_Delete) cJSON *tree = NULL;

	*to = (struct job_allocation){ 0 };
	if (!text)
		return 0;
	tree = codec_parse(text, strlen(text), err);
	return tree ? codec_from_other(&job_allocation_schema, tree, to, err)
		    : -1;
}

uint64_t allocation_devices(const struct allocated_task *task)
{
	return strtoull(task->devices, NULL, 16);
}
