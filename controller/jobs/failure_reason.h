/* failure_reason.h - why a job failed: by how its ranks ended, what its nodes
 * observed, and what it printed.
 */
#pragma once

#include "controller/cluster/active_job.h"
#include "controller/jobs/job_reason.h"
#include "protocol/message/result.h"

/* Put the ends of the job's ranks into *to, and if it failed its reason, which
 * is *reason, too: 1. 0: it did not fail, or nothing tells.
 */
int failure_reason_find(const struct job *job, struct stored_result *to,
			struct reason *reason, struct error *err);

/* Continue the job's sentence with the reason, once that is stored. That memory
 * ran out is a failure of its own.
 */
void failure_reason_tell(struct job *job, const struct reason *reason);
