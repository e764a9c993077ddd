/* active_job_internal.h - the fields of jobs, gangs and tasks.
 *
 * For the life of jobs (controller/jobs) alone, which changes them. The parts
 * that another module owns are named with it; that module reaches them by
 * active_job.h.
 */
#ifndef CONTROLLER_CLUSTER_ACTIVE_JOB_INTERNAL_H
#define CONTROLLER_CLUSTER_ACTIVE_JOB_INTERNAL_H

#include "controller/cluster/active_job.h"

struct hang_watch;
struct image_reference;
struct trial;

struct task {
	struct job *job;
	uint32_t rank;
	enum task_state state;
	enum failure failure;
	uint32_t port;
	char *text;
	char *image_id;
	char *image_pin; /* what its name means, as its node has it */
	int64_t exit_code;
	int64_t started_ms, ended_ms;
	uint64_t memory_peak_bytes;
	cJSON *facts; /* of its node, when it was checked; NULL: as the node's
		       */
	struct rank_end *ends; /* of its processes, once it ended */
	size_t ends_count;
	struct stream_size *streams; /* final sizes, once it ended */
	size_t streams_count;
	bool collecting; /* its files are not known yet */
	bool discarding; /* told to discard */
	bool reported;   /* in the report that is being read */
	bool collected;  /* its streams and files are here, all of them */
	bool crowded;    /* of log_ingest.c */
	bool waits;      /* of image_digest.c */
	struct collected_file *files; /* once it ended */
	size_t files_count;
	struct task_hold hold;           /* of node.c */
	struct image_transfer *transfer; /* of image_progress.c */
};

/* What only a job that holds nodes has. */
struct gang {
	struct job_spec spec;
	struct task *tasks; /* spec.nodes of them, by rank */
	uint32_t port;      /* the rendezvous, from "ready" on */
	char *address;      /* and the host's; NULL before */
	struct strings
		addresses; /* all nodes', when the container wants them */
	const struct catalog *catalog;   /* own_catalog, or that of the jobs */
	struct catalog *own_catalog;     /* of spec.measure.described; NULL */
	struct extract_rules *own_rules; /* by which it has its log read */
	struct gang_output *output;      /* what was read of it: log_reader.h */
	bool synced;                     /* its output is safe on disk, */
	bool kept;     /* and so is what it collected, which an event tells, */
	bool measured; /* and its result is stored: what ends it is done once */
	TAILQ_ENTRY(gang) by_table;
	int64_t deadline_ms; /* monotonic; 0: none */
	int64_t heard_ms; /* the same, when life was shown last: log_ingest.c,
			     log_reader.c */
	struct hang_watch *hang; /* hang.c; NULL: not watched yet */
	struct job *job;
};

/* That a job goes after another one (dependencies.h). */
struct follow {
	uint64_t before; /* the other one */
	struct job *job;
	bool listed; /* behind the other one, which is not final */
	LIST_ENTRY(follow) by_before;
};

/* A job that is not final, or whose containers are not all gone. */
struct job {
	uint64_t id;
	uint64_t sweep;
	int64_t priority;
	enum job_state state;
	enum job_state stored; /* in the row of its state, which may lag */
	uint32_t attempt;
	uint32_t first_attempt; /* since it was asked for: retries begin here */
	enum failure failure; /* of the present attempt: the first one counts */
	char *text;
	int64_t code; /* errno value behind it */
	int64_t queued_ms, started_ms, ended_ms;
	struct shape shape; /* its texts and pins are owned */
	struct gang *gang;  /* NULL while queued */
	struct node *avoid; /* failed it in the last attempt */
	uint64_t cell_index;
	struct until_spec until;
	double rate;       /* of its result; 0: none */
	struct jobs *jobs; /* whose it is */
	const struct job_life *life;
	/* Of adaptive_repeats.h: */
	struct trial *trial; /* NULL: its cell is not repeated, or it ended */
	/* Of dependencies.h: */
	struct follow *follows;
	size_t follows_count;
	bool same_nodes; /* as the first one that it goes after */
	char *skip;      /* why it will never run; NULL */
	LIST_HEAD(, follow) followers;
	bool due; /* listed */
	TAILQ_ENTRY(job) by_due;
	struct image_reference *image; /* that it needs */
	bool image_needed;             /* it is counted there */
};

/* Into the table, and out of it. ENOMEM. */
int job_list(struct job_table *table, struct job *job, struct error *err);
void job_unlist(struct job_table *table, struct job *job);

void gang_list(struct job_table *table, struct gang *gang);
void gang_unlist(struct job_table *table, struct gang *gang);

/* The first failure of an attempt counts; text is copied. */
void job_set_failure(struct job *job, enum failure failure, int64_t code,
		     const char *text);
void job_clear_failure(struct job *job);

#endif
