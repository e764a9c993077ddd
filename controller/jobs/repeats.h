/* repeats.h - the repeats of cells that are repeated until their rate is known.
 *
 * The rate is that of protocol/message/rate.h. A
 * failed repeat has no rate, but counts. A cell is not repeated any more when
 * none of its repeats completed, or one was cancelled or skipped.
 */
#pragma once

#include "controller/cluster/active_job.h"
#include "protocol/message/result.h"

struct job_row;

/* The repeats of a cell. */
struct repeats {
	struct until_spec until;
	uint32_t count; /* in any state */
	uint32_t completed;
	bool given_up; /* cancelled or skipped */
	double *rates; /* of those that completed and have one */
	size_t rates_count;
};

/* A cell with repeats that are active, or have ended in this turn. Its rows in
 * the store were read when the first repeat joined. Later repeats are counted
 * here, because reads do not see rows that are not committed.
 */
struct trial {
	uint64_t sweep, cell_index;
	struct repeats repeats;
	uint32_t active;
	uint64_t last; /* the job that ended last */
	uint32_t last_attempt;
	bool ended; /* listed in jobs->ended */
	TAILQ_ENTRY(trial) by_end;
};

/* The trial of a cell; NULL: none. */
struct trial *trial_find(const struct jobs *jobs, uint64_t sweep,
			 uint64_t cell_index);
void trial_drop(struct jobs *jobs, struct trial *trial);

/* The job is active from now on. fresh: it is new, and the store has no repeats
 * of its cell yet. Jobs of cells without `until` are fine.
 */
int repeats_join(struct job *job, uint32_t repeat, bool fresh,
		 struct error *err);

/* The job has become final. */
void repeats_ended(struct job *job);

/* A repeat was taken over from another sweep's job. */
int repeats_taken(struct jobs *jobs, const struct job_row *row,
		  const struct job_spec *spec, struct error *err);

/* The submit of the cell's jobs was refused, and they are freed: forget the
 * cell, unless other jobs of it are active.
 */
void repeats_undo(struct jobs *jobs, uint64_t sweep, uint64_t cell_index);

/* The job is being freed. */
void repeats_leave(struct job *job);
void repeats_free_all(struct jobs *jobs);
