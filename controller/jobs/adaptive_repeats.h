/* adaptive_repeats.h - repeats cells until their rate is known precisely
 * enough.
 *
 * When the last repeat of such a cell that is under way has ended, the cell is
 * judged: its rate is known, its repeats are used up, or it is repeated once
 * more. The consequence goes to the store in the same commit as that end: a new
 * job of the same sweep, or an event that says why there is none
 * (JOB_EVENT_MORE, JOB_EVENT_ENOUGH, of the job that ended last). So a killed
 * controller has done both or neither.
 *
 * The rate is token/p/s, else samples per second, else steps per second. A
 * repeat that failed has none, but counts. A cell is repeated no further when
 * none of its repeats completed, or one was cancelled or skipped.
 */
#ifndef CONTROLLER_JOBS_ADAPTIVE_REPEATS_H
#define CONTROLLER_JOBS_ADAPTIVE_REPEATS_H

#include "controller/cluster/active_job.h"

struct job_row;

/* The rate of a result (results/result.h); 0: it has none. */
double adaptive_repeats_rate(const cJSON *result);

/* What is known of a cell. */
struct repeats {
	struct until_spec until;
	uint32_t count; /* that there are, of every state */
	uint32_t completed;
	bool given_up; /* cancelled or skipped */
	double *rates; /* of those that completed and have one */
	size_t rates_count;
};

/* Is one more needed? text: why, or why not. */
bool repeats_more(const struct repeats *repeats, char *text, size_t size);

/* The job, of a cell that is repeated or of any other, is not final any more,
 * or is new: then `fresh`, and the store knows nothing of its cell yet.
 */
int adaptive_repeats_join(struct job *job, uint32_t repeat, bool fresh,
			  struct error *err);

/* The job has become final. */
void adaptive_repeats_ended(struct job *job);

/* A repeat was taken over from another sweep's job. */
int adaptive_repeats_taken(struct jobs *jobs, const struct job_row *row,
			   const struct job_spec *spec, struct error *err);

/* Judge a cell of which perhaps all repeats were taken over. */
int adaptive_repeats_resume(struct jobs *jobs, uint64_t sweep,
			    uint64_t cell_index, const struct job_spec *spec,
			    struct error *err);

/* Judge the cells whose repeats have ended; before the commit. */
void adaptive_repeats_settle(struct jobs *jobs);

/* What made the cell's repeats known was refused, and its jobs are forgotten:
 * so is the cell, unless others of it are under way.
 */
void adaptive_repeats_undo(struct jobs *jobs, uint64_t sweep,
			   uint64_t cell_index);

/* The job is forgotten. */
void adaptive_repeats_leave(struct job *job);
void adaptive_repeats_free_all(struct jobs *jobs);

#endif
