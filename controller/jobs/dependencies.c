/* dependencies.c - holds jobs that depend on others until those have ended.
 */
#include "controller/jobs/dependencies.h"
#include "controller/jobs/allocation.h"
#include "controller/jobs/core.h"
#include "controller/jobs/race_rows.h"
#include "controller/nodes/node.h"
#include "controller/store/store.h"
#include "protocol/base/log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_SHOWN 3 /* nodes in one reason */

int dependencies_init(struct job *job, const struct job_spec *spec,
		      struct error *err)
{
	if (!spec->after_count)
		return 0;
	job->follows = calloc(spec->after_count, sizeof(*job->follows));
	if (!job->follows)
		return error_nomem(err, "job");
	job->follows_count = spec->after_count;
	job->same_nodes = spec->same_nodes;
	for (size_t i = 0; i < spec->after_count; i++) {
		job->follows[i].before = spec->after[i].job;
		job->follows[i].job = job;
	}
	return 0;
}

void dependencies_due(struct job *job)
{
	if (job->due)
		return;
	job->due = true;
	TAILQ_INSERT_TAIL(&job->jobs->due, job, by_due);
}

bool dependencies_hold(struct job *job)
{
	if (job->follows_count)
		dependencies_due(job);
	return job->follows_count;
}

static void follow_unlist(struct follow *follow)
{
	if (follow->listed)
		LIST_REMOVE(follow, by_before);
	follow->listed = false;
}

static bool is_listed(const struct job *job)
{
	for (size_t i = 0; i < job->follows_count; i++)
		if (job->follows[i].listed)
			return true;
	return false;
}

void dependencies_ended(const struct job *job)
{
	struct follow *follow;

	while ((follow = LIST_FIRST(&job->followers))) {
		struct job *behind = follow->job;

		follow_unlist(follow);
		/* Reads do not see the reason before the commit. */
		if (job->failure == FAILURE_SKIPPED && job->text &&
		    !behind->skip)
			behind->skip = strdup(job->text);
		if (job->state != JOB_COMPLETED || !is_listed(behind))
			dependencies_due(behind);
	}
}

void dependencies_clear(struct job *job)
{
	struct follow *follow;

	for (size_t i = 0; i < job->follows_count; i++)
		follow_unlist(&job->follows[i]);
	while ((follow = LIST_FIRST(&job->followers)))
		follow_unlist(follow);
	if (job->due)
		TAILQ_REMOVE(&job->jobs->due, job, by_due);
	job->due = false;
}

void dependencies_release(struct follow_list *followers)
{
	struct follow *follow;

	while ((follow = LIST_FIRST(followers))) {
		follow_unlist(follow);
		dependencies_due(follow->job);
	}
}

/* A read of a job that another one depends on. */
struct look {
	struct jobs *jobs;
	uint64_t sweep;
	enum job_state state;
	bool heat;   /* of a race */
	bool pruned; /* it was not needed */
	bool want_pins;
	uint32_t *pins;
	size_t pins_count;
	char why[DEPENDENCIES_WHY]; /* the reason, if the other one is skipped
				     */
};

static void describe_end(const struct job_row *row, char *text, size_t size)
{
	cJSON *spec = codec_parse(row->spec, strlen(row->spec), NULL);
	const char *cell = cJSON_GetStringValue(
		cJSON_GetObjectItemCaseSensitive(spec, "cell"));
	const char *class = failure_name(row->failure);

	if (row->failure == FAILURE_SKIPPED && row->text)
		snprintf(text, size, "%s", row->text);
	else
		snprintf(text, size, "job %" PRIu64 "%s%.160s%s %s%s", row->id,
			 cell && *cell ? " (" : "", cell ? cell : "",
			 cell && *cell ? ")" : "",
			 row->state == JOB_CANCELLED ? "was " : "failed: ",
			 class ? class : "cancelled");
	cJSON_Delete(spec);
}

static int read_pins(struct look *look, const char *text)
{
	struct job_allocation allocation;
	int rc = 0;

	if (allocation_read(text, &allocation, NULL) < 0)
		return -1;
	look->pins = calloc(allocation.tasks_count + 1, sizeof(*look->pins));
	for (size_t i = 0; look->pins && i < allocation.tasks_count; i++) {
		const struct node *node =
			node_get(look->jobs->nodes, allocation.tasks[i].node,
				 NULL);

		if (node)
			look->pins[look->pins_count++] =
				(uint32_t)node_index(node);
		else
			rc = -1;
	}
	codec_clear(&job_allocation_schema, &allocation);
	return look->pins ? rc : -1;
}

static bool is_heat(const char *text)
{
	cJSON *spec = codec_parse(text, strlen(text), NULL);
	bool heat = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(
		cJSON_GetObjectItemCaseSensitive(spec, "race"), "heat"));

	cJSON_Delete(spec);
	return heat;
}

static int look_read_row(const struct job_row *row, void *arg)
{
	struct look *look = arg;

	look->sweep = row->sweep;
	look->state = row->state;
	look->heat = is_heat(row->spec);
	look->pruned = row->failure == FAILURE_PRUNED;
	if (look->pruned)
		snprintf(look->why, sizeof(look->why), "%s",
			 row->text ? row->text : "");
	if (row->state == JOB_FAILED || row->state == JOB_CANCELLED)
		describe_end(row, look->why, sizeof(look->why));
	if (row->state == JOB_COMPLETED && !look->pruned && look->want_pins)
		return read_pins(look, row->allocation);
	return 0;
}

/* The other one is the heat of a race, and final. */
static enum dependencies look_at_race(struct look *look, struct follow *follow)
{
	char why[DEPENDENCIES_WHY - 20] = "";

	switch (race_standing(look->jobs, look->sweep, follow, why,
			      sizeof(why))) {
	case RACE_STANDING_OPEN:
		return DEPENDENCIES_ACTIVE;
	case RACE_STANDING_WON:
		return DEPENDENCIES_COMPLETED;
	case RACE_STANDING_LOST:
		snprintf(look->why, sizeof(look->why), "not run: %s", why);
		return DEPENDENCIES_LOST;
	default:
		return DEPENDENCIES_UNREAD;
	}
}

static enum dependencies look_at(struct jobs *jobs, struct follow *follow,
				 struct look *look)
{
	struct job *before = job_find(jobs->table, follow->before);
	struct error err = { 0 };

	if (before && !job_state_final(before->state)) {
		if (!follow->listed)
			LIST_INSERT_HEAD(&before->followers, follow, by_before);
		follow->listed = true;
		return DEPENDENCIES_ACTIVE;
	}
	if (store_job(jobs->store, follow->before, look_read_row, look, &err) <
	    0) {
		if (err.code != ENOENT) {
			log_error("job=%" PRIu64 ": %s", follow->job->id,
				  err.text);
			return DEPENDENCIES_UNREAD;
		}
		snprintf(look->why, sizeof(look->why),
			 "job %" PRIu64 " does not exist", follow->before);
		return DEPENDENCIES_FAILED;
	}
	if (!job_state_final(look->state))
		return DEPENDENCIES_UNREAD;
	if (look->heat)
		return look_at_race(look, follow);
	if (look->pruned)
		return DEPENDENCIES_LOST;
	return look->state == JOB_COMPLETED ? DEPENDENCIES_COMPLETED
					    : DEPENDENCIES_FAILED;
}

/* Of several heats it suffices that one won. */
static enum dependencies job_look_at_all(struct job *job, struct look *look)
{
	enum dependencies worst = DEPENDENCIES_COMPLETED;
	bool lost = false, won = false;

	for (size_t i = 0; i < job->follows_count; i++) {
		enum dependencies found;

		look->want_pins = job->same_nodes && !look->pins;
		found = look_at(job->jobs, &job->follows[i], look);
		if (found == DEPENDENCIES_FAILED)
			return found;
		lost |= found == DEPENDENCIES_LOST;
		won |= found == DEPENDENCIES_COMPLETED && look->heat;
		if (look->want_pins && found != DEPENDENCIES_COMPLETED) {
			free(take(look->pins));
			look->pins_count = 0;
		}
		if (found < worst)
			worst = found;
	}
	if (worst == DEPENDENCIES_COMPLETED && lost && !won)
		return DEPENDENCIES_LOST;
	return worst;
}

static void take_pins(struct job *job, struct look *look)
{
	free((uint32_t *)job->shape.pins);
	job->shape.pins = take(look->pins);
	job->shape.pins_count = look->pins_count;
}

struct job *dependencies_next(struct jobs *jobs, enum dependencies *found,
			      char why[DEPENDENCIES_WHY])
{
	struct job *job = TAILQ_FIRST(&jobs->due);
	struct look look = { .jobs = jobs };

	if (!job)
		return NULL;
	TAILQ_REMOVE(&jobs->due, job, by_due);
	job->due = false;
	*found = job->skip ? DEPENDENCIES_FAILED : job_look_at_all(job, &look);
	if (*found == DEPENDENCIES_COMPLETED)
		take_pins(job, &look);
	snprintf(why, DEPENDENCIES_WHY, "%s", job->skip ? job->skip : look.why);
	free(take(job->skip));
	free(look.pins);
	return job;
}

/* Sentences. */

static bool held_for(const struct job *job, char *text, size_t size)
{
	uint64_t first = 0;
	size_t count = 0;
	bool raced = false;

	for (size_t i = 0; i < job->follows_count; i++) {
		if (!job->follows[i].listed)
			continue;
		if (!count++) {
			first = job->follows[i].before;
			raced = job->follows[i].raced;
		}
	}
	if (!count)
		return false;
	snprintf(text, size, "waits for %sjob %" PRIu64,
		 raced ? "the race of " : "", first);
	if (count > 1)
		snprintf(text + strlen(text), size - strlen(text),
			 " and %zu more", count - 1);
	return true;
}

static const char *unfit(const struct jobs *jobs, const struct shape *shape,
			 const struct node *node)
{
	if (slot_suits(node_slot(jobs->nodes, node), shape))
		return NULL;
	if (!node_peer(node))
		return "is down";
	if (node_view(node)->drained)
		return "is drained";
	return node_slot(jobs->nodes, node)->usable ? "lacks devices"
						    : "is not ready";
}

static void add_unfit(const struct job *job, char *text, size_t size)
{
	size_t shown = 0, used = strlen(text);

	for (size_t i = 0; i < job->shape.pins_count && shown < NAMES_SHOWN;
	     i++) {
		const struct node *node =
			node_at(job->jobs->nodes, job->shape.pins[i]);
		const char *why = unfit(job->jobs, &job->shape, node);

		if (!why)
			continue;
		used += (size_t)snprintf(text + used, size - used, "%s%s %s",
					 shown++ ? ", " : ": ", node_name(node),
					 why);
		if (used >= size)
			return;
	}
}

bool dependencies_waits(const struct job *job, char *text, size_t size)
{
	const struct shape *shape = &job->shape;

	if (job->state != JOB_QUEUED)
		return false;
	if (held_for(job, text, size))
		return true;
	if (!shape->pins || shape_suiting(shape, node_slots(job->jobs->nodes),
					  node_count(job->jobs->nodes),
					  shape->nodes) >= shape->nodes)
		return false;
	if (job->follows_count)
		snprintf(text, size,
			 "needs %u node%s that job %" PRIu64 " ran on",
			 shape->nodes, shape->nodes == 1 ? "" : "s",
			 job->follows[0].before);
	else
		snprintf(text, size, "needs the %u node%s of its race",
			 shape->nodes, shape->nodes == 1 ? "" : "s");
	add_unfit(job, text, size);
	return true;
}
