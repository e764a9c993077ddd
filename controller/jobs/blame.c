/* blame.c - says whose fault a failed attempt was: the node's, where it failed,
 * or the job's.
 */
#include "controller/jobs/blame.h"
#include "controller/jobs/core.h"
#include "controller/nodes/node.h"
#include "controller/scheduler/scheduler.h"

#include <errno.h>
#include <string.h>

static struct job_tried *tried_find(struct job *job, const struct node *node)
{
	for (size_t i = 0; i < job->tried_count; i++)
		if (job->tried[i].node == node)
			return &job->tried[i];
	return NULL;
}

void blame_avoid(struct job *job, struct node *node, enum failure failure)
{
	struct job_tried *last = tried_find(job, node);

	/* The newest stands last; the oldest is forgotten. */
	if (!last && job->tried_count == JOB_TRIED_MAX)
		last = job->tried;
	if (last) {
		job->tried_count--;
		memmove(last, last + 1,
			(size_t)(job->tried + job->tried_count - last) *
				sizeof(*last));
	}
	job->tried[job->tried_count++] = (struct job_tried){
		.node = node,
		.failure = failure,
	};
	job->elsewhere_ms = effects_mono_ms(job->jobs->effects) + BLAME_WAIT_MS;
}

/* Did the job fail so elsewhere? Then it counts against no node. */
static bool job_is_at_fault(struct job *job, const struct node *node,
			    enum failure failure)
{
	bool found = false;

	for (size_t i = 0; i < job->tried_count; i++) {
		struct job_tried *tried = &job->tried[i];

		if (tried->node == node || tried->failure != failure)
			continue;
		found = true;
		if (tried->counted)
			node_forgiven(job->jobs->nodes, tried->node, failure);
		tried->counted = false;
	}
	return found;
}

static const char *without_node(const char *text, const char *name)
{
	size_t length = strlen(name);

	return !strncmp(text, name, length) && text[length] == ':'
		       ? text + length + 1
		       : text;
}

/* Did another job of the sweep fail with the same words on another node, and
 * none of them begin since? Then it is the sweep's fault.
 */
static bool sweep_is_at_fault(struct job *job, struct node *node,
			      enum failure failure, const char *text)
{
	struct blamed *last = &job->jobs->blamed[job->sweep % BLAMED_SWEEPS];
	struct blamed now = { .sweep = job->sweep,
			      .node = node,
			      .failure = failure };

	snprintf(now.text, sizeof(now.text), "%s",
		 without_node(text ? text : "", node_name(node)));
	if (last->sweep != now.sweep || last->failure != now.failure ||
	    strcmp(last->text, now.text) != 0) {
		*last = now;
		return false;
	}
	if (last->node != node && !last->own) {
		node_forgiven(job->jobs->nodes, last->node, failure);
		last->own = true;
	}
	return last->own;
}

void blame_node(struct job *job, struct node *node, enum failure failure,
		int64_t code, const char *text)
{
	/* A name that no registry knows is the job's. */
	bool own = code == ENOENT && failure != FAILURE_PREFLIGHT;

	if (job->failure || !failure_infrastructure(failure))
		return;
	own |= job_is_at_fault(job, node, failure);
	own |= failure != FAILURE_NODE_LOST &&
	       sweep_is_at_fault(job, node, failure, text);
	if (!own)
		node_failed(job->jobs->nodes, node, failure, text);
	blame_avoid(job, node, failure);
	job->tried[job->tried_count - 1].counted = !own;
}

void blame_task(const struct task *task, int64_t code, const char *text)
{
	struct job *job = task->job;
	struct node *node = task_node(task);

	if (job->failure || task->failure != FAILURE_NODE_LOST ||
	    node_lost_task(node, job->sweep))
		blame_node(job, node, task->failure, code, text);
	else
		blame_avoid(job, node, task->failure);
}

void blame_none(const struct task *task, bool ended)
{
	struct blamed *last =
		&task->job->jobs->blamed[task->job->sweep % BLAMED_SWEEPS];

	if (last->sweep == task->job->sweep)
		last->sweep = 0;
	node_succeeded(task->job->jobs->nodes, task_node(task), ended);
}

enum avoided blame_avoids(const struct job *job, const struct node *node)
{
	if (!tried_find((struct job *)job, node))
		return AVOIDED_NOT;
	return blame_waits_until(job) ? AVOIDED_WAIT : AVOIDED_LAST;
}

int64_t blame_waits_until(const struct job *job)
{
	return job->tried_count && effects_mono_ms(job->jobs->effects) <
					   job->elsewhere_ms
		       ? job->elsewhere_ms
		       : 0;
}

bool blame_leaves_others(const struct job *job)
{
	const struct nodes *nodes = job->jobs->nodes;
	size_t suiting = shape_suiting(&job->shape, node_slots(nodes),
				       node_count(nodes), SIZE_MAX);

	for (size_t i = 0; i < job->tried_count; i++)
		suiting -= slot_suits(node_slot(nodes, job->tried[i].node),
				      &job->shape);
	return suiting >= job->shape.nodes;
}

const struct node *blame_last(const struct job *job)
{
	return job->tried_count ? job->tried[job->tried_count - 1].node : NULL;
}

void blame_forget(struct job *job)
{
	job->tried_count = 0;
}
