/* active_job.h - jobs that are not final, with their gangs and tasks.
 *
 * The modules of controller/jobs own the state of jobs. Other modules read it
 * through these functions. A function that changes something names the one
 * module that may call it.
 */
#pragma once

#include "controller/cluster/lifecycle.h"
#include "controller/scheduler/scheduler.h"
#include "protocol/message/message.h"
#include "protocol/message/spec.h"

#include <sys/queue.h>

/* Jobs that depend on another one, or on a race (dependencies.h). */
struct follow;
LIST_HEAD(follow_list, follow);

struct catalog;
struct extract_rules;
struct gang_output;
struct image_transfer;
struct jobs;
struct sweep_image;

/* A job that is not final, or whose containers are not all gone. */
struct job;

uint64_t job_id(const struct job *job);
uint64_t job_sweep(const struct job *job);
int64_t job_priority(const struct job *job);
enum job_state job_state(const struct job *job);
uint32_t job_attempt(const struct job *job);
/* The first failure of the present attempt. */
enum failure job_failure(const struct job *job);
/* Wall clock; 0: not yet. */
int64_t job_queued_ms(const struct job *job);
int64_t job_started_ms(const struct job *job);
const struct shape *job_shape(const struct job *job);
/* The image that it needs. */
struct sweep_image *job_image(const struct job *job);
/* Why it does not start, as who brings its nodes has said; NULL: nothing. */
const char *job_note(const struct job *job);
/* NULL while it is queued. */
struct gang *job_gang(const struct job *job);

/* The part of a job that exists while it holds nodes. */
struct gang;

struct job *gang_job(const struct gang *gang);
const struct job_spec *gang_spec(const struct gang *gang);
/* One per node, by rank: gang_nodes() of them. */
uint32_t gang_nodes(const struct gang *gang);
struct task *gang_task(const struct gang *gang, uint32_t rank);
/* Have all of several nodes told what they have by the image's name? */
bool gang_has_looked(const struct gang *gang);
/* Devices that it holds, over all nodes. */
uint64_t gang_devices(const struct gang *gang);
/* The descriptions that it uses. */
const struct catalog *gang_catalog(const struct gang *gang);
/* Does its sweep bring descriptions along? Then *rules are the rules for its
 * log; NULL: it has none.
 */
bool gang_own_rules(const struct gang *gang, struct extract_rules **rules);

/* The state of log_reader.h for the gang's output. */
struct gang_output *gang_output(const struct gang *gang);

/* A job's container on one node, as the controller knows it. */
struct task;

struct job *task_job(const struct task *task);
struct gang *task_gang(const struct task *task);
uint32_t task_rank(const struct task *task);
enum task_state task_state(const struct task *task);
/* Has its node told what it has by the image's name? */
bool task_has_looked(const struct task *task);
/* NULL: none yet. */
struct node *task_node(const struct task *task);
/* The devices of the node that it holds, one bit each. */
uint64_t task_devices(const struct task *task);
enum failure task_failure(const struct task *task);
const char *task_text(const struct task *task);
int64_t task_exit_code(const struct task *task);
/* Final sizes of its streams, once it has ended. */
const struct stream_size *task_streams(const struct task *task, size_t *count);
/* Its collected files, once it has ended. */
const struct collected_file *task_files(const struct task *task, size_t *count);
/* Are streams of it dropped, because the job has too many? */
bool task_crowded(const struct task *task);
/* The transfer of its image (image_progress.h); NULL: none is reported. */
const struct image_transfer *task_transfer(const struct task *task);

/* For node.c: the place of a task on its node. */
struct task_hold {
	struct task *task;
	struct node *node; /* NULL: none yet */
	uint64_t devices;  /* of the node, one bit each */
	bool held;         /* the task holds them */
	TAILQ_ENTRY(task_hold) by_node;
};
struct task_hold *task_hold(struct task *task);

/* The request of a job with this spec to the scheduler; borrows from the spec.
 */
struct shape spec_shape(const struct job_spec *spec);

/* All active jobs. */
struct job_table;
struct job_table *job_table_new(struct error *err);
void job_table_free(struct job_table *table);
OWNED_POINTER(struct job_table, job_table_free)

size_t job_count(const struct job_table *table);

/* An active job, or NULL. */
struct job *job_find(const struct job_table *table, uint64_t id);

/* Call fn for each active job; fn may free its job. */
typedef void job_fn(struct job *job, void *arg);
void job_each(struct job_table *table, job_fn *fn, void *arg);

/* The gangs of the jobs that are not queued, in order of their allocation;
 * NULL: no more.
 */
struct gang *gang_first(const struct job_table *table);
struct gang *gang_next(const struct gang *gang);

/* This task, if it is on the node and of the job's present attempt, or NULL. */
struct task *task_find(const struct job_table *table, const struct node *node,
		       uint64_t job, uint32_t attempt, uint32_t rank);
