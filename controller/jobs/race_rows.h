/* race_rows.h - what is known of the races of a sweep, by cell.
 *
 * Every cell is submitted with one job, its heat, which stays out of the queue
 * until the race starts it. Full runs are further jobs of the same cell; their
 * repeat is the round. The rows are read from the store when the first job of
 * the sweep joins, and kept up from then on, because reads do not see rows that
 * are not committed.
 */
#pragma once

#include "controller/cluster/active_job.h"
#include "controller/race/race_rules.h"

struct job_row;

/* A cell. */
struct race_entry {
	uint64_t cell_index;
	uint64_t heat; /* its job */
	size_t race;
	double order;
	char *cell;       /* its label */
	const char *unit; /* of its figures */
	char *rest;       /* of row.needs */
	struct race_cell row;
};

/* One race of a sweep: the cells that `per` does not separate. */
struct race {
	char *group;           /* "vendor=nvidia", or "" */
	struct race_spec spec; /* without `per` */
	struct race_rules rules;
	uint32_t *pins; /* the slots of its nodes; NULL: none yet */
	size_t pins_count;
	uint64_t last; /* the job that ended last, since this process began */
	uint32_t last_attempt;
	bool over;
};

struct race_sweep {
	uint64_t id;
	struct race *races;
	size_t races_count;
	struct race_entry *entries; /* in the order of their heats */
	size_t count;
	uint32_t active; /* jobs */
	bool sorted;     /* the entries stand in the order of their heats */
	struct follow_list followers; /* dependencies.h: of heats that ended */
	bool due;
	TAILQ_ENTRY(race_sweep) by_due;
};

#define RACE_CELLS_MAX 10000 /* of a sweep */
#define RACES_MAX 100        /* of a sweep */

/* NULL: the sweep has no race, or no job of it is active. */
struct race_sweep *race_sweep_find(const struct jobs *jobs, uint64_t id);
void race_sort_heats(struct race_sweep *sweep);

/* List it in jobs->races_due, or take it off; forget it. */
void race_sweep_due(struct jobs *jobs, struct race_sweep *sweep, bool due);
void race_sweep_drop(struct jobs *jobs, struct race_sweep *sweep);
struct race_entry *race_entry_find(const struct race_sweep *sweep,
				   uint64_t cell_index);

/* The job is active from now on. spec: it is new; NULL: it was loaded from the
 * store, with all others of its sweep. Jobs of cells that do not race are fine.
 */
int race_join(struct job *job, const struct job_spec *spec, struct error *err);

/* A heat was taken over from another sweep's job: row is its own. */
int race_taken(struct jobs *jobs, const struct job_row *row,
	       const struct job_spec *spec, struct error *err);

/* The rows of one race, in the order of its heats; at[i] is the entry of row i
 * (room for all of the sweep). NULL: ENOMEM.
 */
struct race_cell *race_rows_of(const struct race_sweep *sweep, size_t race,
			       size_t *at, size_t *count);

/* What a job knows of the race before it, whose heat of its own cell is `heat`,
 * a job that is final.
 */
enum race_standing {
	RACE_STANDING_UNREAD, /* it cannot be read now */
	RACE_STANDING_OPEN,   /* the race goes on: `follow` is listed there */
	RACE_STANDING_WON,
	RACE_STANDING_LOST, /* why: "the race was won by job 3 (tp=2)" */
};
enum race_standing race_standing(struct jobs *jobs, uint64_t sweep,
				 struct follow *follow, char *why, size_t size);

/* Must the job wait until the race starts it? */
bool race_holds(const struct job *job);

/* The job has become final. */
void race_ended(struct job *job);

/* The cell's submit was refused, and its jobs are freed: forget it. */
void race_undo_submit(struct jobs *jobs, uint64_t sweep, uint64_t cell_index);
/* The retry of a job of the cell was; it is as it was before. */
void race_undo_retry(struct jobs *jobs, uint64_t sweep, uint64_t cell_index);

/* The job is being freed; all are. */
void race_leave(struct job *job);
void race_free_all(struct jobs *jobs);

/* Was the job's end, however it failed, what the race asked for? A heat that
 * was ended early, or ran out of device memory.
 */
bool race_accepts(const struct job *job);
