/* active_job.h - jobs that are not over: what is known of them, and of their
 * gangs and tasks.
 *
 * Plain data, which the modules of the core read, and the table by which it is
 * found. Each field is changed by the life of jobs (controller/jobs) alone, but
 * for those that name another owner.
 */
#ifndef CONTROLLER_CLUSTER_ACTIVE_JOB_H
#define CONTROLLER_CLUSTER_ACTIVE_JOB_H

#include "controller/cluster/lifecycle.h"
#include "controller/scheduler/scheduler.h"
#include "protocol/message/message.h"
#include "protocol/message/spec.h"

#include <sys/queue.h>

struct gang_output;
struct hang_watch;
struct image_reference;
struct job_life;
struct jobs;
struct trial;

/* A job's container on one node, as the controller knows it. */
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
	/* Of the jobs and of log_ingest.h, which finds out: */
	bool collected; /* its streams and files are here, all of them */
	/* Of log_ingest.h: */
	bool crowded; /* the store has no place for one of its streams */
	/* Of image_digest.h: */
	bool waits; /* to be told to prepare */
	/* Of node.h: */
	bool held; /* of the node's devices */
	uint64_t devices;
	struct node *node; /* NULL: none yet */
	TAILQ_ENTRY(task) by_node;
	/* Of the jobs and of artifact_fetch.h, which checks them: */
	struct collected_file *files; /* once it ended */
	size_t files_count;
	/* Of image_progress.h: */
	struct message_progress *transfer; /* of its image; NULL: none told */
	int64_t transfer_ms;               /* monotonic, when that began */
	int64_t transfer_moved_ms;         /* and when it last went on */
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
	double rate;           /* of its result; 0: none */
	uint64_t progress_seq; /* news.h: of the last change that is no event */
	struct jobs *jobs;     /* whose it is */
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
	/* Of image_references.h: */
	struct image_reference *need; /* its image */
	bool needs;                   /* it is counted there */
};

/* What a job of this spec asks of the scheduler; borrows from the spec. */
struct shape job_shape(const struct job_spec *spec);

/* All active jobs. */
struct job_table;
struct job_table *job_table_new(struct error *err);
void job_table_free(struct job_table *table);
OWNED_POINTER(struct job_table, job_table_free)

size_t job_count(const struct job_table *table);

/* An active job, or NULL. */
struct job *job_find(const struct job_table *table, uint64_t id);

/* Into the table, and out of it. ENOMEM. */
int job_list(struct job_table *table, struct job *job, struct error *err);
void job_unlist(struct job_table *table, struct job *job);

/* Call fn for each active job; it may forget the job it is given. */
typedef void job_fn(struct job *job, void *arg);
void job_each(struct job_table *table, job_fn *fn, void *arg);

/* The gangs of the jobs that are not queued, in the order in which they came;
 * NULL: no more.
 */
struct gang *gang_first(const struct job_table *table);
struct gang *gang_next(const struct gang *gang);
void gang_list(struct job_table *table, struct gang *gang);
void gang_unlist(struct job_table *table, struct gang *gang);

/* The first failure of an attempt counts; text is copied. */
void job_set_failure(struct job *job, enum failure failure, int64_t code,
		     const char *text);
void job_clear_failure(struct job *job);

/* The task of this name if it is on the node and of the present attempt. */
struct task *task_find(const struct job_table *table, const struct node *node,
		       uint64_t job, uint32_t attempt, uint32_t rank);

/* Release what its task collected. */
void task_drop_files(struct task *task);

#endif
