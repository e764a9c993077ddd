/* active_job.c - jobs that are not over: what is known of them, and of their
 * gangs and tasks.
 */
#include "controller/cluster/active_job.h"

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

	if (!table) {
		error_nomem(err, "jobs");
		return NULL;
	}
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

struct shape job_shape(const struct job_spec *spec)
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
	    job->gang->tasks[rank].node != node)
		return NULL;
	return &job->gang->tasks[rank];
}
