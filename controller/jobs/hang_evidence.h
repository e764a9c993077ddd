/* hang_evidence.h - what the nodes observed of a job that hangs.
 */
#pragma once

#include "controller/cluster/active_job.h"
#include "controller/jobs/job_reason.h"
#include "controller/stacks/flight_recorder.h"

/* Have all nodes completed this round? */
bool evidence_complete(const struct gang *gang, uint64_t round);

/* Did the job's processes write to files between the two rounds? */
bool evidence_writes(const struct gang *gang, uint64_t first, uint64_t last);

/* Whom the ranks of a job wait for, from the evidence of its nodes and the last
 * output of its ranks. False: there is no evidence.
 */
bool evidence_reason(const struct job *job, struct reason *reason);

/* Who did not enter the collective that the others wait in, from what PyTorch's
 * flight recorder wrote when it timed out or was asked. False: no dump tells.
 */
bool recorder_reason(const struct job *job, struct reason *reason);

/* Who enters most collectives last while the job runs, the same way. */
bool recorder_last(const struct job *job, char text[FLIGHT_TEXT_SIZE]);
