/* stacks.c - request for the call stacks of a running job. */
#include "controller/api/api.h"
#include "controller/cluster/active_job.h"
#include "controller/jobs/node_commands.h"
#include "protocol/message/reply_jobs.h"

#include <errno.h>
#include <inttypes.h>

int api_stacks(struct api_request *request, void *reply, struct error *err)
{
	const struct message_stacks *message = request->message;
	struct job *job = job_find(request->api->table, message->job);
	struct reply_stacks *to = reply;

	if (!job || job_state(job) != JOB_RUNNING)
		return error_set(err, ENOENT, "job %" PRIu64 " does not run",
				 message->job);
	to->attempt = job_attempt(job);
	to->round = node_commands_look(job_gang(job), false);
	return 0;
}
