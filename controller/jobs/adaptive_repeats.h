/* adaptive_repeats.h - repeats cells until their rate is known precisely
 * enough.
 *
 * When no repeat of such a cell is active any more, the cell is checked: its
 * rate is known well enough, its repeats are used up, or it is repeated once
 * more. The decision is stored in the same commit as the end of the last
 * repeat: a new job of the same sweep (JOB_EVENT_MORE), or the reason why there
 * is none (JOB_EVENT_ENOUGH). So a killed controller has stored both or
 * neither.
 *
 * The rate is token/p/s, else samples per second, else steps per second. A
 * failed repeat has no rate, but counts. A cell is not repeated any more when
 * none of its repeats completed, or one was cancelled or skipped.
 */
#ifndef CONTROLLER_JOBS_ADAPTIVE_REPEATS_H
#define CONTROLLER_JOBS_ADAPTIVE_REPEATS_H

#include "controller/cluster/active_job.h"

struct job_row;

/* The rate of a result (results/result.h); 0: it has none. */
double adaptive_repeats_rate(const cJSON *result);

/* The repeats of a cell. */
struct repeats {
	struct until_spec until;
	uint32_t count; /* in any state */
	uint32_t completed;
	bool given_up; /* cancelled or skipped */
	double *rates; /* of those that completed and have one */
	size_t rates_count;
};

/* Is one more repeat needed? text: why, or why not. */
bool repeats_more(const struct repeats *repeats, char *text, size_t size);

/* The job is active from now on. fresh: it is new, and the store has no repeats
 * of its cell yet. Jobs of cells without `until` are fine.
 */
int adaptive_repeats_join(struct job *job, uint32_t repeat, bool fresh,
			  struct error *err);

/* The job has become final. */
void adaptive_repeats_ended(struct job *job);

/* A repeat was taken over from another sweep's job. */
int adaptive_repeats_taken(struct jobs *jobs, const struct job_row *row,
			   const struct job_spec *spec, struct error *err);

/* Check a cell of which perhaps all repeats were taken over. */
int adaptive_repeats_resume(struct jobs *jobs, uint64_t sweep,
			    uint64_t cell_index, const struct job_spec *spec,
			    struct error *err);

/* Check the cells whose repeats have ended; before the commit. */
void adaptive_repeats_settle(struct jobs *jobs);

/* The submit of the cell's jobs was refused, and they are freed: forget the
 * cell, unless other jobs of it are active.
 */
void adaptive_repeats_undo(struct jobs *jobs, uint64_t sweep,
			   uint64_t cell_index);

/* The job is being freed. */
void adaptive_repeats_leave(struct job *job);
void adaptive_repeats_free_all(struct jobs *jobs);

#endif
