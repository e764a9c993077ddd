/* reply_sweeps.h - replies about sweeps.
 *
 * Times are milliseconds of the controller's wall clock, 0: not yet. `since` is
 * the number of the last event that the reply includes; a query that waits for
 * changes repeats it.
 */
#pragma once

#include "protocol/message/codec.h"
#include "protocol/message/state.h"

/* How many jobs are in each state: a field per job_state_name(). */
struct state_counts {
	uint64_t of[JOB_STATES];
};

struct sweep_info {
	uint64_t id;
	char *name;
	char *client; /* name of the key that submitted it */
	int64_t submitted_ms;
	uint64_t jobs;
	struct state_counts counts; /* a state without jobs is left out */
	bool final;   /* all jobs have ended, and nothing of them is left on any
			 node */
	char *race;   /* how far its races are; NULL: none is under way */
	char *paused; /* why its queued jobs wait for a person; NULL: no */
};
extern const struct schema sweep_info_schema;

struct reply_sweeps {
	uint64_t since;
	struct sweep_info *sweeps; /* by id */
	size_t sweeps_count;
	bool more; /* ask again, after the last one */
};

struct reply_sweep {
	uint64_t since;
	struct sweep_info sweep;
};

struct reply_text {
	uint64_t since;
	char *text; /* of the sweep file */
};

/* The controller's own descriptions of the names in the query's keys. */
struct reply_descriptions {
	uint64_t since;
	struct strings hashes; /* in the order of the keys; "": it has none */
};
extern const struct schema reply_descriptions_schema;

/* A cell that is dropped, or cannot run at present, and why. */
struct cell_note {
	char *cell;
	char *reason;
};

struct reply_submit {
	uint64_t since;
	uint64_t sweep;
	char *name;
	uint64_t jobs;
	uint64_t taken;            /* of them, from sweeps before */
	struct cell_note *dropped; /* the first 1,000 of them */
	size_t dropped_count;
	struct cell_note *waiting; /* for nodes that could run them; so many */
	size_t waiting_count;
};

struct reply_cancel {
	uint64_t since;
	uint64_t cancelled; /* jobs */
};

struct reply_retry {
	uint64_t since;
	uint64_t retried;    /* jobs */
	uint64_t ending;     /* jobs that fail or are cancelled right now */
	struct strings gone; /* registries whose credentials are gone */
};

/* The forecast of a cell that would run. */
struct plan_cell {
	bool fits;   /* nodes could run it now or when jobs have ended */
	char *lacks; /* what it waits for; NULL: nothing */
	uint32_t
		runs; /* completed jobs of this cell, in any sweep; 8 at most */
	double time_ms;    /* their median duration; NAN: it never ran */
	double wave;       /* of its first job, from 1; NAN: none starts */
	double last_wave;  /* of its last one */
	double start_ms;   /* of its first job, from now; NAN: not known */
	struct strings on; /* nodes of its first job, by rank */
};
extern const struct schema plan_cell_schema;

/* The policy file of nodes that have the same one. */
struct plan_policy {
	char *vendor; /* of the nodes */
	char *text;
	struct strings nodes;
};

/* An image of the sweep, and the nodes that could run its cells now. */
struct plan_image {
	char *image;
	char *build; /* its folder; NULL: it is pulled */
	struct strings nodes;
};

struct reply_plan {
	uint64_t cells_total; /* that would run */
	uint64_t jobs;        /* of them */
	uint32_t nodes;
	uint32_t usable; /* of them */
	uint32_t others; /* jobs that run or are queued already */
	uint32_t waves;
	double time_ms; /* until the last job ends; NAN: not known */
	uint64_t known; /* cells that can run and ran before */
	uint64_t
		unknown; /* cells that can run, and are not known to have run */
	uint64_t lacking; /* cells that cannot run at present */
	uint64_t timed; /* cells whose earlier runs were looked up: the first */
	bool cut;       /* the forecast ends before the sweep does */
	struct plan_cell *cells; /* the first ones */
	size_t cells_count;
	struct plan_policy *policies;
	size_t policies_count;
	struct plan_image *images; /* if asked for */
	size_t images_count;
};

extern const struct schema reply_sweeps_schema, reply_sweep_schema,
	reply_text_schema, reply_submit_schema, reply_plan_schema,
	reply_cancel_schema, reply_retry_schema;
