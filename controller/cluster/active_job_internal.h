/* active_job_internal.h - the fields of jobs, gangs and tasks.
 *
 * Only controller/jobs includes it. A comment names the owner of a field that
 * belongs to another module, which uses it through active_job.h.
 */
#pragma once

#include "controller/cluster/active_job.h"
#include "protocol/message/rate.h"

struct failure_budget;
struct hang_watch;
struct sweep_image;
struct trial;

struct task {
	struct job *job;
	uint32_t rank;
	enum task_state state;
	enum failure failure;
	uint32_t port;
	char *text;
	char *image_id;
	char *image_pin;  /* what its image name resolves to on the node */
	char *image_look; /* what the node has by it, before a registry is
			     asked; "": nothing; NULL: it has not told */
	int64_t exit_code;
	int64_t started_ms, ended_ms;
	uint64_t memory_peak_bytes;
	struct strings ulimits; /* of its command, once it ended */
	cJSON *facts; /* of its node, when it was checked; NULL: as the node's
		       */
	struct rank_end *ends; /* of its processes, once it ended */
	size_t ends_count;
	struct stream_size *streams; /* final sizes, once it ended */
	size_t streams_count;
	bool collecting; /* its agent is still collecting files */
	bool discarding; /* the node was told to discard it */
	bool reported;   /* by the report that is being handled */
	bool collected;  /* all its streams and files are here */
	bool crowded;    /* it has too many streams; some are dropped */
	bool waits;      /* to prepare, until the image's name is resolved */
	bool pin_learnt; /* image_pin was compared with the sweep's */
	struct collected_file *files; /* once it ended */
	size_t files_count;
	struct task_hold hold;           /* of node.c */
	struct image_transfer *transfer; /* of image_progress.h; NULL: none */
};

/* The part of a job that exists while it holds nodes. */
struct gang {
	struct job_spec spec;
	struct task *tasks; /* spec.nodes of them, by rank */
	uint32_t port;      /* of the rendezvous, from "ready" on */
	char *address;      /* of the rendezvous; NULL before */
	struct strings
		addresses; /* all nodes', when the container wants them */
	const struct catalog *catalog;   /* own_catalog, or that of the jobs */
	struct catalog *own_catalog;     /* of spec.measure.described; NULL */
	struct extract_rules *own_rules; /* rules of own_catalog for its log */
	struct gang_output *output;      /* of log_reader.h */
	/* Steps of its end that are done: */
	bool synced;   /* its output is durable */
	bool kept;     /* its collected files are durable and an event */
	bool measured; /* its result is stored */
	uint64_t step; /* of the result; as in job_row (store.h) */
	double loss;
	bool suspect;
	TAILQ_ENTRY(gang) by_table;
	int64_t deadline_ms;     /* monotonic; 0: none */
	int64_t heard_ms;        /* monotonic; the last sign of life */
	struct hang_watch *hang; /* hang.c; NULL: not watched yet */
	size_t raced;            /* race.c: records that were looked at */
	struct job *job;
};

/* A dependency of a job on another one (dependencies.h). */
struct follow {
	uint64_t before; /* the other one */
	struct job *job;
	bool listed; /* with the other one, which is not final, */
	bool raced;  /* or with the race of which the other one is a heat */
	LIST_ENTRY(follow) by_before;
};

/* A node where a job failed (blame.h). */
struct job_tried {
	struct node *node;
	enum failure failure;
	bool counted; /* against the node */
};
#define JOB_TRIED_MAX 8 /* nodes */

/* A job that is not final, or whose containers are not all gone. */
struct job {
	uint64_t id;
	uint64_t sweep;
	int64_t priority;
	enum job_state state;
	enum job_state stored; /* in its row of the store, which may lag */
	uint32_t attempt;
	uint32_t first_attempt; /* since its submit or retry by a person */
	enum failure failure;   /* the first one of the present attempt */
	bool unstored;          /* its event must be repeated */
	char *text;             /* of failure */
	char *note;             /* job_note(); until it is allocated */
	int64_t code;           /* errno value of failure */
	int64_t queued_ms, started_ms, ended_ms;
	struct shape shape; /* its texts and pins are owned */
	struct gang *gang;  /* NULL while queued */
	/* Of blame.h: where it failed, the last one last. */
	struct job_tried tried[JOB_TRIED_MAX];
	size_t tried_count;
	int64_t elsewhere_ms; /* monotonic; it waits for other nodes until */
	uint64_t cell_index;
	struct until_spec until;
	struct rate rate;  /* of its result */
	struct jobs *jobs; /* that it belongs to */
	/* Of adaptive_repeats.h: */
	struct trial *trial; /* NULL: its cell is not repeated, or it ended */
	/* Of race.h: */
	bool races;  /* its cell is in a race, */
	bool heat;   /* of which this is the heat */
	bool racing; /* it was counted there */
	uint32_t repeat;
	double score; /* race_score() of its result, and race_rate_error() */
	double rate_error;
	/* Of dependencies.h: */
	struct follow *follows;
	size_t follows_count;
	bool same_nodes; /* as the first one that it depends on */
	char *skip;      /* why it will never run, or NULL */
	struct follow_list followers;
	bool due; /* in jobs->due */
	TAILQ_ENTRY(job) by_due;
	struct failure_budget *budget; /* of its sweep */
	struct sweep_image *image;     /* that it needs */
	bool image_needed;             /* it is counted in image */
};

/* Add it to the table; remove it. ENOMEM. */
int job_list(struct job_table *table, struct job *job, struct error *err);
void job_unlist(struct job_table *table, struct job *job);

void gang_list(struct job_table *table, struct gang *gang);
void gang_unlist(struct job_table *table, struct gang *gang);

/* Set the failure, unless the attempt has one already. text is copied. */
void job_set_failure(struct job *job, enum failure failure, int64_t code,
		     const char *text);
/* The text becomes the job's, as its sentence; NULL: it keeps what it has. */
void job_set_text(struct job *job, char *text);
void job_clear_failure(struct job *job);

/* Forget the files that a task collected. */
void task_drop_files(struct task *task);
