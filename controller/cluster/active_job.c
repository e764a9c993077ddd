/* active_job.c - jobs that are not final, with their gangs and tasks.
 */
#include "controller/cluster/active_job_internal.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

struct job_table {
	void *jobs; /* tsearch(3) tree by id */
	size_t count;
	TAILQ_HEAD(, gang) gangs;
};

struct job_table *job_table_new(struct error *err)
{
	struct job_table *table = calloc(1, sizeof(*table));

	if (!table)
		return error_null(error_nomem(err, "jobs"));
	TAILQ_INIT(&table->gangs);
	return table;
}

void job_table_free(struct job_table *table)
{
	free(table);
}

size_t job_count(const struct job_table *table)
{
	return table->count;
}

struct gang *gang_first(const struct job_table *table)
{
	return TAILQ_FIRST(&table->gangs);
}

struct gang *gang_next(const struct gang *gang)
{
	return TAILQ_NEXT(gang, by_table);
}

void gang_list(struct job_table *table, struct gang *gang)
{
	TAILQ_INSERT_TAIL(&table->gangs, gang, by_table);
}

void gang_unlist(struct job_table *table, struct gang *gang)
{
	TAILQ_REMOVE(&table->gangs, gang, by_table);
}

static int compare_jobs(const void *a, const void *b)
{
	const struct job *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

struct job *job_find(const struct job_table *table, uint64_t id)
{
	struct job key = { .id = id };
	void *found = tfind(&key, &table->jobs, compare_jobs);

	return found ? *(struct job **)found : NULL;
}

int job_list(struct job_table *table, struct job *job, struct error *err)
{
	if (!tsearch(job, &table->jobs, compare_jobs))
		return error_nomem(err, "job");
	table->count++;
	return 0;
}

void job_unlist(struct job_table *table, struct job *job)
{
	tdelete(job, &table->jobs, compare_jobs);
	table->count--;
}

struct shape spec_shape(const struct job_spec *spec)
{
	return (struct shape){
		.vendor = spec->vendor,
		.chip = spec->measure.chip,
		.labels = spec->labels,
		.nodes = spec->nodes,
		.devices = spec->devices,
		.shared = spec->shared,
	};
}

/* Reading, and the parts of other modules. */

uint64_t job_id(const struct job *job)
{
	return job->id;
}

uint64_t job_sweep(const struct job *job)
{
	return job->sweep;
}

const char *job_note(const struct job *job)
{
	return job->note;
}

enum job_state job_state(const struct job *job)
{
	return job->state;
}

uint32_t job_attempt(const struct job *job)
{
	return job->attempt;
}

enum failure job_failure(const struct job *job)
{
	return job->failure;
}

int64_t job_queued_ms(const struct job *job)
{
	return job->queued_ms;
}

int64_t job_started_ms(const struct job *job)
{
	return job->started_ms;
}

int64_t job_priority(const struct job *job)
{
	return job->priority;
}

const struct shape *job_shape(const struct job *job)
{
	return &job->shape;
}

struct sweep_image *job_image(const struct job *job)
{
	return job->image;
}

struct gang *job_gang(const struct job *job)
{
	return job->gang;
}

struct job *gang_job(const struct gang *gang)
{
	return gang->job;
}

const struct job_spec *gang_spec(const struct gang *gang)
{
	return &gang->spec;
}

uint32_t gang_nodes(const struct gang *gang)
{
	return gang->spec.nodes;
}

uint64_t gang_devices(const struct gang *gang)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < gang->spec.nodes; i++)
		count += (uint64_t)__builtin_popcountll(
			task_devices(&gang->tasks[i]));
	return count;
}

struct task *gang_task(const struct gang *gang, uint32_t rank)
{
	return &gang->tasks[rank];
}

bool gang_has_looked(const struct gang *gang)
{
	for (uint32_t i = 0; gang->spec.nodes > 1 && i < gang->spec.nodes; i++)
		if (!gang->tasks[i].image_look)
			return false;
	return true;
}

const struct catalog *gang_catalog(const struct gang *gang)
{
	return gang->catalog;
}

bool gang_own_rules(const struct gang *gang, struct extract_rules **rules)
{
	*rules = gang->own_rules;
	return gang->own_catalog;
}

struct gang_output *gang_output(const struct gang *gang)
{
	return gang->output;
}

struct job *task_job(const struct task *task)
{
	return task->job;
}

struct gang *task_gang(const struct task *task)
{
	return task->job->gang;
}

uint32_t task_rank(const struct task *task)
{
	return task->rank;
}

enum task_state task_state(const struct task *task)
{
	return task->state;
}

bool task_has_looked(const struct task *task)
{
	return task->image_look;
}

struct node *task_node(const struct task *task)
{
	return task->hold.node;
}

uint64_t task_devices(const struct task *task)
{
	return task->hold.devices;
}

enum failure task_failure(const struct task *task)
{
	return task->failure;
}

const char *task_text(const struct task *task)
{
	return task->text;
}

int64_t task_exit_code(const struct task *task)
{
	return task->exit_code;
}

const struct stream_size *task_streams(const struct task *task, size_t *count)
{
	*count = task->streams_count;
	return task->streams;
}

const struct collected_file *task_files(const struct task *task, size_t *count)
{
	*count = task->files_count;
	return task->files;
}

bool task_crowded(const struct task *task)
{
	return task->crowded;
}

const struct image_transfer *task_transfer(const struct task *task)
{
	return task->transfer;
}

struct task_hold *task_hold(struct task *task)
{
	return &task->hold;
}

/* Walking: the tree may change under the callback, so ids are copied first. */

struct walk {
	uint64_t *ids;
	size_t count;
};

static void walk_one(const void *at, VISIT visit, void *arg)
{
	struct walk *walk = arg;

	if (visit == postorder || visit == leaf)
		walk->ids[walk->count++] = (*(struct job *const *)at)->id;
}

void job_each(struct job_table *table, job_fn *fn, void *arg)
{
	owned_free uint64_t *ids = calloc(table->count + 1, sizeof(*ids));
	struct walk walk = { ids, 0 };

	if (!ids)
		return;
	twalk_r(table->jobs, walk_one, &walk);
	for (size_t i = 0; i < walk.count; i++) {
		struct job *job = job_find(table, ids[i]);

		if (job)
			fn(job, arg);
	}
}

void job_set_failure(struct job *job, enum failure failure, int64_t code,
		     const char *text)
{
	if (job->failure)
		return;
	job->failure = failure;
	job->code = code;
	free(job->text);
	job->text = text ? strdup(text) : NULL;
}

void job_set_text(struct job *job, char *text)
{
	if (!text)
		return;
	free(job->text);
	job->text = text;
}

void job_clear_failure(struct job *job)
{
	job->failure = FAILURE_NONE;
	job->code = 0;
	free(job->text);
	job->text = NULL;
}

void task_drop_files(struct task *task)
{
	for (size_t i = 0; i < task->files_count; i++)
		codec_clear(&collected_file_schema, &task->files[i]);
	free(task->files);
	task->files = NULL;
	task->files_count = 0;
}

struct task *task_find(const struct job_table *table, const struct node *node,
		       uint64_t id, uint32_t attempt, uint32_t rank)
{
	struct job *job = job_find(table, id);

	if (!job || !job->gang || job->attempt != attempt ||
	    rank >= job->gang->spec.nodes ||
	    job->gang->tasks[rank].hold.node != node)
		return NULL;
	return &job->gang->tasks[rank];
}
