/* schedule_simulation.h - simulates which nodes would run which jobs of a
 * sweep, and when.
 *
 * Pure. The jobs are queued as by a submit, behind the jobs that are queued
 * already, and the real scheduler places them. A job takes as long as earlier
 * jobs of its cell, then its nodes are free again. Jobs that start at the same
 * time are a wave. Jobs that follow others start after these have ended, on
 * their nodes. A cell that never ran, and another job without a known time,
 * gets the median time of the cells that did run; if none did, all get the same
 * time and only the order is meaningful.
 */
#pragma once

#include "controller/jobs/unschedulable.h"
#include "controller/sweep/sweep.h"

/* Limit of a simulation's work: about a quarter of a second. */
#define SCHEDULE_SIMULATION_WORK 100000000u

/* A job of another sweep. One that holds nodes: each of its tasks. */
struct schedule_other {
	const struct shape *shape; /* of a queued job; NULL: it holds this: */
	struct placement held;
	int64_t priority;
	uint64_t time_ms; /* that it still takes; 0: unknown */
	uint64_t job;     /* for the caller */
};

/* The request of cells to the scheduler; borrows from it. */
struct shape schedule_shape(const struct sweep_kind *kind);

struct schedule_simulation_cell {
	enum unschedulable shortage;
	const char *lacks;   /* what the cell waits for; NULL: nothing */
	uint32_t first_wave; /* wave of its first job, from 1; 0: none starts */
	uint32_t last_wave;
	uint64_t
		start_ms; /* of its first job, from now; 0: times are unknown */
	const uint32_t *slots; /* of its first job, by rank */
	uint32_t slots_count;
};

struct schedule_simulation {
	struct schedule_simulation_cell *cells; /* by kept cell */
	size_t count;
	size_t lacking; /* cells that cannot run at present */
	size_t unknown; /* cells that can run and never did */
	size_t known;   /* cells that can run and did before */
	uint32_t waves;
	uint64_t end_ms; /* of the last job; 0: unknown */
	bool cut;        /* reached the work limit: later waves are missing */
	void *memory;    /* private */
};

/* slots: as the other jobs hold them; changed by the call. others: borrowed for
 * the call, the queued ones in the order of their numbers. times: the duration
 * of a job of each kept cell in ms, 0: unknown.
 */
struct schedule_simulation *
schedule_simulation_new(struct sweep *sweep, struct slot *slots, size_t count,
			const struct schedule_other *others,
			size_t others_count, const uint64_t *times,
			struct error *err);

/* When others[index], a queued job, starts, in ms from now; 0: unknown, because
 * no job has a known time, the limit was reached, or it does not start.
 */
int schedule_start(struct slot *slots, size_t count,
		   const struct schedule_other *others, size_t others_count,
		   size_t index, uint64_t *start_ms, struct error *err);
void schedule_simulation_free(struct schedule_simulation *simulation);
OWNED_POINTER(struct schedule_simulation, schedule_simulation_free)

/* The active jobs as a simulation of the schedule takes them. */

struct job;
struct job_table;

struct other_jobs {
	struct schedule_other *items; /* jobs in the order of their numbers */
	size_t count, room;
	size_t jobs; /* that wait, or hold nodes */
	/* Private: */
	size_t timed;
	int64_t now_ms;
	struct error *err;
	int rc;
};

/* All active jobs of the table, whose shapes are borrowed. The caller clears
 * *others, which was zero, also after a failure: ENOMEM. Only of some hundred
 * jobs it is looked up how long they still take, 0.1 ms for each.
 */
int other_jobs_read(struct other_jobs *others, struct job_table *table,
		    struct error *err);
void other_jobs_clear(struct other_jobs *others);
OWNED_VALUE(struct other_jobs, other_jobs_clear)
