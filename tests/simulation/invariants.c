/* invariants.c - what must be so after every event, and in the end.
 */
#include "tests/simulation/simulation.h"

#include "controller/jobs/job.h"
#include "controller/nodes/node.h"
#include "controller/race/race_rules.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIM_RACE_MAX 8      /* cells */
#define LARGE 32            /* nodes; with more not every event is followed */
#define LATE_HEARD_MS 20000 /* until a broken connection is seen */
#define SIM_REPEATS_MAX 16
#define LOST_MAX 2     /* attempts of 20 */
#define LARGE_EVERY 64 /* by a look at all of them */

/* Devices are held by the tasks that are told to be there, and by no others. */
static void check_node(struct world *world, const struct node *node)
{
	const struct slot *slot = node_slot(world->parts.nodes, node);
	struct task *task;
	uint64_t held = 0;
	bool exclusive = false;

	for (task = node_first_task(node); task; task = node_next_task(task)) {
		if (task->hold.node != node || !task->hold.held)
			world_wrong(world, "%s: a task that is not there",
				    node_name(node));
		if (task->hold.devices & held)
			world_wrong(world,
				    "%s: job %" PRIu64
				    " has devices of another",
				    node_name(node), task->job->id);
		held |= task->hold.devices;
		exclusive |= !task->job->shape.shared;
	}
	if (slot->busy != held)
		world_wrong(world,
			    "%s: devices %" PRIx64 " are busy, %" PRIx64
			    " are held",
			    node_name(node), slot->busy, held);
	if (slot->exclusive != exclusive)
		world_wrong(world, "%s: exclusive without a job, or not",
			    node_name(node));
}

void check_event(struct world *world)
{

	if (!world->alive || world->wrong[0] ||
	    (node_count(world->parts.nodes) > LARGE &&
	     world->events % LARGE_EVERY))
		return;
	for (size_t i = 0; i < node_count(world->parts.nodes); i++)
		check_node(world, node_at(world->parts.nodes, i));
}

/* Who ended long before the limit is not too late, however late that is heard.
 * A clock that was set may say otherwise.
 */
static void check_late(struct world *world, const struct job *job)
{
	uint64_t limit_ms = job->gang->spec.timeout_ms - LATE_HEARD_MS;

	if (world->wall_offset_ms || job->gang->spec.timeout_ms < LATE_HEARD_MS)
		return;
	for (uint32_t i = 0; i < job->gang->spec.nodes; i++) {
		const struct sim_truth *truth =
			world_truth(world, job->id, job->attempt, i);

		if (!truth->ended_well ||
		    SIM_WALL_MS + truth->ended_us / MS >
			    job->started_ms + (int64_t)limit_ms)
			return;
	}
	world_wrong(world, "job %" PRIu64 " ended in time, and is too late",
		    job->id);
}

/* It is final: what the result rests on must be true. */
void check_job_ended(struct world *world, const struct job *job)
{
	if (job->state == JOB_FAILED && job->failure == FAILURE_TIMEOUT)
		check_late(world, job);
	if (job->state == JOB_FAILED && job->failure == FAILURE_PREEMPTED)
		world_wrong(world, "job %" PRIu64 " failed as a node left",
			    job->id);
	if (job->state != JOB_COMPLETED)
		return;
	if (!job->gang) {
		if (job->failure != FAILURE_PRUNED)
			world_wrong(world, "job %" PRIu64 " never ran",
				    job->id);
		return;
	}
	for (uint32_t i = 0; i < job->gang->spec.nodes; i++) {
		const struct sim_truth *truth =
			world_truth(world, job->id, job->attempt, i);

		/* A heat may be ended, and may run out of memory. */
		if (truth->starts != 1 || (!truth->ended_well && !job->heat))
			world_wrong(world,
				    "job %" PRIu64 " is completed, rank %u is "
				    "not",
				    job->id, i);
		/* What was enough stays so if its node goes meanwhile. */
		if (truth->stored != truth->written &&
		    !(job->heat && job->text))
			world_wrong(world,
				    "job %" PRIu64
				    " is completed, with %" PRIu64
				    " of %" PRIu64 " bytes of rank %u",
				    job->id, truth->stored, truth->written, i);
	}
}

/* The figures are those of all output, of whatever attempt, on whatever way it
 * came. A last line that was torn tells nothing.
 */
void check_result(struct world *world, const struct result_row *row)
{
	const struct sim_truth *truth =
		world_truth(world, row->job, row->attempt, 0);
	uint64_t lines = truth->stored / SIM_LINE;
	cJSON *all = cJSON_Parse(row->json);
	const cJSON *result = cJSON_GetObjectItemCaseSensitive(all, "result");
	const cJSON *steps = cJSON_GetObjectItemCaseSensitive(result, "steps");
	double read = cJSON_IsNumber(steps) ? steps->valuedouble : 0;

	if (row->job < SIM_KINDS && (world->kinds[row->job] & KIND_MEASURED) &&
	    read != (double)lines)
		world_wrong(world,
			    "job %" PRIu64 ": %.0f steps are read of %" PRIu64,
			    row->job, read, lines);
	cJSON_Delete(all);
}

/* A cell that is repeated until its rate is known. */
struct cell {
	struct world *world;
	uint32_t repeats, max;
	uint64_t seen;                  /* bit per number of a repeat */
	uint64_t more[SIM_REPEATS_MAX]; /* jobs that events say were added */
	uint64_t added[SIM_REPEATS_MAX];
	uint32_t more_count, added_count, enough;
};

static int read_judgement(const struct event_row *row, void *arg)
{
	struct cell *cell = arg;
	cJSON *data;

	cell->enough += !strcmp(row->kind, "enough");
	if (strcmp(row->kind, "more") != 0 ||
	    cell->more_count == SIM_REPEATS_MAX)
		return 0;
	data = cJSON_Parse(row->data);
	cell->more[cell->more_count++] = (uint64_t)cJSON_GetNumberValue(
		cJSON_GetObjectItemCaseSensitive(data, "job"));
	cJSON_Delete(data);
	return 0;
}

static int read_repeat(const struct job_row *row, void *arg)
{
	struct cell *cell = arg;

	if (row->repeat >= SIM_REPEATS_MAX || cell->seen >> row->repeat & 1)
		world_wrong(cell->world,
			    "job %" PRIu64 ": repeat %u is there twice",
			    row->id, row->repeat);
	cell->seen |= UINT64_C(1) << row->repeat;
	if (cell->repeats++)
		cell->added[cell->added_count++] = row->id;
	return store_events(cell->world->store, row->id, 0, 0, read_judgement,
			    cell, NULL);
}

static int compare_ids(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Each repeat is there once, and an event says why; so is the end. */
static void check_cell(struct world *world, uint64_t index)
{
	struct cell cell = { .world = world };

	if (store_cell(world->store, SIM_SWEEP, index, read_repeat, &cell,
		       NULL) < 0)
		world_wrong(world, "cell %" PRIu64 " cannot be read", index);
	if (!cell.repeats)
		return; /* it was submitted, and never committed */
	qsort(cell.more, cell.more_count, sizeof(cell.more[0]), compare_ids);
	if (cell.more_count != cell.added_count ||
	    memcmp(cell.more, cell.added,
		   cell.added_count * sizeof(cell.added[0])) != 0)
		world_wrong(world,
			    "cell %" PRIu64 ": %u repeats were added, events "
			    "tell of %u",
			    index, cell.added_count, cell.more_count);
	if (cell.seen != (UINT64_C(1) << cell.repeats) - 1)
		world_wrong(world, "cell %" PRIu64 ": a repeat is missing",
			    index);
	if (!cell.enough)
		world_wrong(world, "cell %" PRIu64 " was never judged", index);
}

/* Races: as the store has them, in the order of their heats. */

struct race_seen {
	struct world *world;
	double number; /* of the race that is read */
	struct race_rules rules;
	struct race_cell cells[SIM_RACE_MAX];
	struct race_run runs[SIM_RACE_MAX][SIM_REPEATS_MAX];
	uint64_t index[SIM_RACE_MAX];
	double order[SIM_RACE_MAX];
	size_t count;
	uint32_t verdicts;
	uint64_t heats[SIM_RACE_MAX]; /* their jobs */
	uint32_t followers, again;    /* that completed; that were retried */
};

static int count_verdict(const struct event_row *row, void *arg)
{
	struct race_seen *race = arg;

	race->verdicts += !strcmp(row->kind, "enough");
	return 0;
}

static enum race_outcome outcome_seen(const struct job_row *row)
{
	if (row->failure == FAILURE_PRUNED)
		return RACE_PRUNED;
	if (row->failure == FAILURE_OOM)
		return RACE_OOM;
	return row->state == JOB_COMPLETED && row->rate.value > 0 ? RACE_RAN
								  : RACE_FAILED;
}

static void race_seen_heat(struct race_seen *race, const struct job_row *row,
			   const struct job_spec *spec)
{
	size_t at = race->count++;

	race->rules = (struct race_rules){
		.margin = spec->race.margin,
		.tie = spec->race.tie,
		.confidence = spec->race.confidence,
		.max = spec->race.max,
		.repeat = spec->race.repeat,
	};
	for (; at && race->order[at - 1] > spec->race.order; at--) {
		race->order[at] = race->order[at - 1];
		race->index[at] = race->index[at - 1];
		race->cells[at] = race->cells[at - 1];
	}
	race->order[at] = spec->race.order;
	race->index[at] = row->cell_index;
	race->heats[race->count - 1] = row->id;
	race->cells[at] = (struct race_cell){
		.needs = { .micro = spec->measure.micro_batch, .rest = "" },
		.heat = outcome_seen(row),
		.rate = row->rate.value,
	};
}

static void race_seen_run(struct race_seen *race, const struct job_row *row)
{
	for (size_t i = 0; i < race->count; i++) {
		struct race_cell *cell = &race->cells[i];

		if (race->index[i] != row->cell_index ||
		    cell->runs_count == SIM_REPEATS_MAX)
			continue;
		cell->runs = race->runs[row->cell_index % SIM_RACE_MAX];
		for (size_t k = 0; k < cell->runs_count; k++)
			if (cell->runs[k].round == row->repeat)
				world_wrong(race->world,
					    "job %" PRIu64 ": round %u is run "
					    "twice",
					    row->id, row->repeat);
		cell->runs[cell->runs_count++] =
			(struct race_run){ .round = row->repeat,
					   .outcome = outcome_seen(row),
					   .rate = row->rate.value };
	}
}

/* A job behind a heat of the race that is read. */
static void race_seen_follower(struct race_seen *race,
			       const struct job_row *row, uint64_t before)
{
	for (size_t i = 0; i < race->count; i++)
		if (race->heats[i] == before) {
			race->again += row->first_attempt > 1;
			race->followers += row->state == JOB_COMPLETED &&
					   row->failure != FAILURE_PRUNED;
		}
}

static int race_seen_row(const struct job_row *row, void *arg)
{
	struct race_seen *race = arg;
	struct job_spec spec;

	if (codec_decode(&job_spec_schema, row->spec, strlen(row->spec), &spec,
			 NULL) < 0)
		return -1;
	if (spec.race.steps &&
	    cJSON_GetNumberValue(cJSON_GetObjectItem(spec.values, "race")) ==
		    race->number) {
		if (spec.race.heat && race->count < SIM_RACE_MAX)
			race_seen_heat(race, row, &spec);
		else
			race_seen_run(race, row);
		store_events(race->world->store, row->id, 0, 0, count_verdict,
			     race, NULL);
	}
	if (!spec.race.steps && spec.after_count == 1)
		race_seen_follower(race, row, spec.after[0].job);
	codec_clear(&job_spec_schema, &spec);
	return 0;
}

/* It is over by its rules, and what ran is what they ask for. */
static void check_race(struct world *world, uint64_t number)
{
	struct race_seen race = { .world = world, .number = (double)number };
	struct race_judgement to;
	size_t ran = 0;

	store_jobs(world->store, SIM_SWEEP, number - 1, 0, race_seen_row, &race,
		   NULL);
	if (!race.count)
		return; /* it was submitted, and never committed */
	race_judge(&race.rules, race.cells, race.count, &to, NULL, NULL, NULL);
	/* The error of a heat is not in these rows: the margin is as given. */
	for (size_t i = 0; i < race.count; i++)
		ran += race.cells[i].heat == RACE_RAN;
	if (to.action == RACE_PRUNE || to.action == RACE_HEAT ||
	    (ran == 1 && to.action != RACE_OVER))
		world_wrong(world, "race %" PRIu64 " is not over", number);
	/* A person's retry may let another one win. */
	if (race.followers > 1 && !race.again)
		world_wrong(world, "race %" PRIu64 ": %u followers ran", number,
			    race.followers);
	if (!race.verdicts)
		world_wrong(world, "race %" PRIu64 " has no verdict", number);
}

static void blame(struct world *world, const struct job *job)
{
	world_wrong(world, "job %" PRIu64 " is %s and never ends", job->id,
		    job_state_name(job->state));
}

/* One that holds nodes is to blame rather than those that wait for them. */
static void find_holding(struct job *job, void *arg)
{
	if (job->gang)
		blame(arg, job);
}

static void find_active(struct job *job, void *arg)
{
	blame(arg, job);
}

/* Few attempts are lost on the node that is broken. */
static void check_plain_end(struct world *world)
{
	uint64_t counts[JOB_STATES] = { 0 };

	store_sweep_counts(world->store, SIM_SWEEP, counts, NULL);
	if (counts[JOB_COMPLETED] != world->plan.jobs)
		world_wrong(world, "%" PRIu64 " of %u jobs are completed",
			    counts[JOB_COMPLETED], world->plan.jobs);
	if (!world->lost || world->lost > LOST_MAX)
		world_wrong(world,
			    "%" PRIu64 " attempts were lost on a broken node",
			    world->lost);
}

void check_end(struct world *world)
{
	uint64_t counts[JOB_STATES] = { 0 };

	if (world->plan.plain) {
		check_plain_end(world);
		return;
	}
	if (!world->alive || world->stalled) {
		world_wrong(world, "the controller does not work in the end");
		return;
	}
	job_each(world->parts.table, find_holding, world);
	job_each(world->parts.table, find_active, world);
	for (size_t i = 0; i < node_count(world->parts.nodes); i++)
		if (node_discards(node_at(world->parts.nodes, i)))
			world_wrong(world, "%s never discards what it should",
				    node_name(node_at(world->parts.nodes, i)));
	for (uint32_t i = 0; i < world->plan.nodes; i++) {
		const struct sim_task *task = world->agents[i].tasks;

		if (task)
			world_wrong(world,
				    "%s keeps a task of job %" PRIu64
				    " for good",
				    world->agents[i].name, task->job);
	}
	for (uint64_t i = 1; i < SIM_KINDS; i++)
		if (world->kinds[i] & KIND_UNTIL)
			check_cell(world, i);
		else if (world->kinds[i] & KIND_RACE)
			check_race(world, i);
	store_sweep_counts(world->store, SIM_SWEEP, counts, NULL);
	for (int i = 0; i < JOB_STATES; i++)
		if (counts[i] && !job_state_final((enum job_state)i))
			world_wrong(world,
				    "the store has %" PRIu64
				    " jobs that are %s "
				    "for good",
				    counts[i], job_state_name(i));
}

/* Replaying the store gives the same state: one line for each active job. */

struct snapshot {
	char *text;
	size_t size;
	FILE *stream;
};

static void print_gang(FILE *to, const struct job *job)
{
	const struct gang *gang = job->gang;

	if (job->state != JOB_PREPARING)
		fprintf(to, " at %s:%u", gang->address ? gang->address : "-",
			gang->port);
	for (uint32_t i = 0; i < gang->spec.nodes; i++)
		fprintf(to, " %s:%" PRIx64,
			gang->tasks[i].hold.node
				? node_name(gang->tasks[i].hold.node)
				: "-",
			gang->tasks[i].hold.devices);
}

static void print_job(struct job *job, void *arg)
{
	FILE *to = arg;
	/* What was chosen becomes true with "prepare". */
	enum job_state state =
		job->state == JOB_ALLOCATED ? JOB_QUEUED : job->state;

	if (job_state_final(state))
		return;
	fprintf(to,
		"job %" PRIu64 " %s attempt %u since %u at %" PRId64 " %" PRId64
		" %" PRId64,
		job->id, job_state_name(state), job->attempt,
		job->first_attempt, job->queued_ms, job->started_ms,
		job->ended_ms);
	if (state == JOB_COLLECTING)
		fprintf(to, " %s: %s",
			job->failure ? failure_name(job->failure) : "good",
			job->text ? job->text : "-");
	if (state != JOB_QUEUED)
		print_gang(to, job);
	fprintf(to, "\n");
}

static void find_unstored(struct job *job, void *arg)
{
	*(bool *)arg |= job->unstored;
}

bool snapshot_is_early(struct world *world)
{
	bool early = false;

	job_each(world->parts.table, find_unstored, &early);
	return early;
}

struct snapshot *snapshot_take(struct world *world)
{
	struct snapshot *snapshot = calloc(1, sizeof(*snapshot));

	if (!snapshot)
		abort();
	snapshot->stream = open_memstream(&snapshot->text, &snapshot->size);
	if (!snapshot->stream)
		abort();
	job_each(world->parts.table, print_job, snapshot->stream);
	for (uint32_t i = 0; i < world->plan.nodes; i++) {
		const struct node *node =
			node_find(world->parts.nodes, world->agents[i].name);

		if (node && world->agents[i].stored)
			fprintf(snapshot->stream,
				"node %s%s, %" PRIu64 " failures%s\n",
				node_name(node),
				node_view(node)->drain ? " drained" : "",
				node_health_failures(&node_view(node)->health),
				node_view(node)->health.probation_ms
					? ", on probation"
					: "");
	}
	fclose(snapshot->stream);
	return snapshot;
}

static void snapshot_free(struct snapshot *snapshot)
{
	free(snapshot->text);
	free(snapshot);
}

/* The first line that differs. */
static void name_difference(struct world *world, const char *a, const char *b)
{
	const char *line_a = a, *line_b = b;

	while (*a && *a == *b) {
		if (*a == '\n') {
			line_a = a + 1;
			line_b = b + 1;
		}
		a++;
		b++;
	}
	world_wrong(world, "replay: '%.*s' was '%.*s'",
		    (int)strcspn(line_b, "\n"), line_b,
		    (int)strcspn(line_a, "\n"), line_a);
}

void snapshot_compare(struct world *world, struct snapshot *before)
{
	struct snapshot *after = snapshot_take(world);

	if (strcmp(before->text, after->text) != 0)
		name_difference(world, before->text, after->text);
	snapshot_free(after);
	snapshot_free(before);
}
