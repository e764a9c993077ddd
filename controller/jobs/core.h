/* core.h - the state that the modules of controller/jobs share.
 *
 * A comment names the one module that changes a field.
 */
#pragma once

#include "controller/cluster/effects.h"
#include "controller/cluster/active_job_internal.h"
#include "controller/cluster/changes.h"

struct catalog;
struct failure_patterns;
struct log_ingest;
struct log_reader;
struct nodes;
struct store;
struct sweep_images;
struct sweep_logins;

/* A failure of a sweep's job, for which a node may be blamed. */
struct blamed {
	uint64_t sweep; /* 0: none */
	struct node *node;
	enum failure failure;
	char text[160];
	bool own; /* it was the sweep's own fault */
};

#define BLAMED_SWEEPS 64

struct jobs {
	/* jobs.c: from its config, and the modules that it uses. */
	const struct job_effects *effects;
	struct store *store;
	struct changes *changes;
	const struct catalog *catalog;
	struct failure_patterns *failures;
	struct job_table *table;
	struct nodes *nodes;
	struct log_ingest *ingest;
	struct log_reader *reader;
	struct sweep_images *images;
	struct sweep_logins *logins;
	uint64_t node_lost_ms;
	bool pods;
	struct queue *queue;
	bool draining; /* no new attempt begins */
	/* dependencies.c: jobs whose dependencies must be checked. */
	TAILQ_HEAD(, job) due;
	/* adaptive_repeats.c: a tsearch(3) tree; cells that must be checked. */
	void *trials;
	TAILQ_HEAD(, trial) ended;
	/* race.c: a tsearch(3) tree; sweeps whose races must be judged. */
	void *races;
	TAILQ_HEAD(, race_sweep) races_due;
	/* blame.c: the last failure that counted against a node, by sweep. */
	struct blamed blamed[BLAMED_SWEEPS];
	/* gang.c */
	bool schedule_due;
	/* failure_budget.c: a tsearch(3) tree; one of them stops its sweep. */
	void *budgets;
	bool stops;
	/* gang.c */
	bool elsewhere; /* a job waits for nodes where it did not fail */
	/* node_commands.c */
	size_t waiting; /* tasks with `waits` */
};
