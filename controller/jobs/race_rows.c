/* race_rows.c - what is known of the races of a sweep, by cell.
 */
#include "controller/jobs/race_rows.h"
#include "controller/jobs/allocation.h"
#include "controller/jobs/core.h"
#include "controller/nodes/node.h"
#include "controller/race/race_words.h"
#include "controller/store/store.h"
#include "protocol/base/list.h"
#include "protocol/base/log.h"

#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GROUP_BYTES 400

static int compare_race_sweeps(const void *a, const void *b)
{
	const struct race_sweep *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

struct race_sweep *race_sweep_find(const struct jobs *jobs, uint64_t id)
{
	struct race_sweep key = { .id = id };
	void *found = tfind(&key, &jobs->races, compare_race_sweeps);

	return found ? *(struct race_sweep **)found : NULL;
}

static void race_sweep_free(struct race_sweep *sweep)
{
	struct follow *follow;

	if (!sweep)
		return;
	while ((follow = LIST_FIRST(&sweep->followers))) {
		LIST_REMOVE(follow, by_before);
		follow->listed = false;
	}
	for (size_t i = 0; i < sweep->count; i++) {
		free(sweep->entries[i].cell);
		free(sweep->entries[i].rest);
		free(sweep->entries[i].row.runs);
	}
	for (size_t i = 0; i < sweep->races_count; i++) {
		free(sweep->races[i].group);
		free(sweep->races[i].pins);
	}
	free(sweep->entries);
	free(sweep->races);
	free(sweep);
}
OWNED_POINTER(struct race_sweep, race_sweep_free)

static struct race_sweep *race_sweep_add(struct jobs *jobs, uint64_t id,
					 struct error *err)
{
	owned(race_sweep_free) struct race_sweep *sweep =
		calloc(1, sizeof(*sweep));

	if (!sweep)
		return error_null(error_nomem(err, "race"));
	sweep->id = id;
	if (!tsearch(sweep, &jobs->races, compare_race_sweeps))
		return error_null(error_nomem(err, "race"));
	return take(sweep);
}

void race_sweep_due(struct jobs *jobs, struct race_sweep *sweep, bool due)
{
	if (sweep->due == due)
		return;
	sweep->due = due;
	if (due)
		TAILQ_INSERT_TAIL(&jobs->races_due, sweep, by_due);
	else
		TAILQ_REMOVE(&jobs->races_due, sweep, by_due);
}

void race_sweep_drop(struct jobs *jobs, struct race_sweep *sweep)
{
	race_sweep_due(jobs, sweep, false);
	tdelete(sweep, &jobs->races, compare_race_sweeps);
	race_sweep_free(sweep);
}

/* Entries. */

struct race_entry *race_entry_find(const struct race_sweep *sweep,
				   uint64_t cell_index)
{
	for (size_t i = 0; i < sweep->count; i++)
		if (sweep->entries[i].cell_index == cell_index)
			return &sweep->entries[i];
	return NULL;
}

static int race_find_group(struct race_sweep *sweep,
			   const struct job_spec *spec, size_t *race,
			   struct error *err)
{
	char group[GROUP_BYTES];
	struct race *added;

	race_group(&spec->race, spec->values, spec->cell ? spec->cell : "",
		   group, sizeof(group));
	for (*race = 0; *race < sweep->races_count; ++*race)
		if (!strcmp(sweep->races[*race].group, group))
			return 0;
	if (sweep->races_count == RACES_MAX)
		return error_set(err, E2BIG,
				 "race: `per` makes more than %d races, which "
				 "is the limit",
				 RACES_MAX);
	added = LIST_ADD(sweep->races, sweep->races_count, err);
	if (!added)
		return -1;
	*added = (struct race){
		.group = strdup(group),
		.spec = spec->race,
		.rules = race_rules_of(&spec->race),
	};
	added->spec.per = (struct strings){ 0 };
	if (added->group)
		return 0;
	sweep->races_count--;
	return error_nomem(err, "race");
}

static int compare_heats(const void *one, const void *other)
{
	const struct race_entry *a = one, *b = other;

	if (a->order < b->order || a->order > b->order)
		return a->order < b->order ? -1 : 1;
	return a->cell_index < b->cell_index ? -1
					     : a->cell_index > b->cell_index;
}

void race_sort_heats(struct race_sweep *sweep)
{
	if (!sweep->sorted && sweep->count)
		qsort(sweep->entries, sweep->count, sizeof(*sweep->entries),
		      compare_heats);
	sweep->sorted = true;
}

static int entry_add(struct race_sweep *sweep, uint64_t cell_index,
		     uint64_t heat, const struct job_spec *spec,
		     struct error *err)
{
	struct race_entry entry = { .cell_index = cell_index,
				    .heat = heat,
				    .order = spec->race.order };
	struct race_entry *grown =
		reallocarray(sweep->entries, sweep->count + 1, sizeof(*grown));

	if (!grown)
		return error_nomem(err, "race");
	sweep->entries = grown;
	if (sweep->count == RACE_CELLS_MAX)
		return error_set(err, E2BIG,
				 "race: more than %d cells, which is the limit",
				 RACE_CELLS_MAX);
	if (race_find_group(sweep, spec, &entry.race, err) < 0)
		return -1;
	entry.rest = race_rest(spec->values);
	entry.cell = strdup(spec->cell ? spec->cell : "");
	if (!entry.rest || !entry.cell) {
		free(entry.rest);
		free(entry.cell);
		return error_nomem(err, "race");
	}
	entry.row.needs =
		race_needs_of(&spec->race, &spec->measure, &spec->layout);
	entry.row.needs.rest = entry.rest;
	grown[sweep->count++] = entry;
	sweep->sorted = false;
	return 0;
}

static struct race_run *run_add(struct race_entry *entry, uint32_t round,
				struct error *err)
{
	struct race_cell *row = &entry->row;
	struct race_run *run;

	for (size_t i = 0; i < row->runs_count; i++)
		if (row->runs[i].round == round)
			return &row->runs[i];
	run = LIST_ADD(row->runs, row->runs_count, err);
	if (run)
		run->round = round;
	return run;
}

/* How a job ended, for its race. */
struct race_end_seen {
	enum race_outcome outcome;
	double score, error, cost_s;
	const char *unit;
};

static enum race_outcome outcome_of(enum job_state state, enum failure failure,
				    double score)
{
	if (failure == FAILURE_PRUNED)
		return RACE_PRUNED;
	if (failure == FAILURE_OOM)
		return RACE_OOM;
	if (state != JOB_COMPLETED)
		return RACE_FAILED;
	return score > 0 ? RACE_RAN : RACE_FAILED;
}

static int race_note(struct race_sweep *sweep, uint64_t cell_index, bool heat,
		     uint32_t round, const struct race_end_seen *seen,
		     struct error *err)
{
	struct race_entry *entry = race_entry_find(sweep, cell_index);
	struct race_run *run;

	if (!entry)
		return 0;
	if (seen->outcome == RACE_RAN)
		entry->unit = seen->unit;
	if (heat) {
		entry->row.heat = seen->outcome;
		entry->row.rate = seen->score;
		entry->row.error = seen->error;
		entry->row.cost_s = seen->cost_s;
		return 0;
	}
	run = run_add(entry, round, err);
	if (!run)
		return -1;
	run->outcome = seen->outcome;
	run->rate = seen->score;
	run->cost_s = seen->cost_s;
	return 0;
}

static double device_seconds(int64_t started_ms, int64_t ended_ms,
			     uint64_t devices)
{
	if (!started_ms || ended_ms < started_ms)
		return 0;
	return (double)(ended_ms - started_ms) / 1000 *
	       (double)(devices ? devices : 1);
}

/* Rows of the store. */

struct race_reading {
	struct jobs *jobs;
	struct race_sweep **sweep;
	struct error *err;
};

struct race_figures_read {
	const struct race_spec *race;
	struct race_end_seen *seen;
};

static int race_read_figures(const struct result_row *row, void *arg)
{
	const struct race_figures_read *read = arg;
	struct stored_result stored;

	if (codec_decode_other(&stored_figures_schema, row->json,
			       strlen(row->json), &stored, NULL) == 0) {
		read->seen->error = race_rate_error(stored.result);
		if (read->race->figure || read->race->least)
			read->seen->score =
				race_score(read->race, stored.result);
	}
	codec_clear(&stored_figures_schema, &stored);
	return 0;
}

static uint64_t row_devices(const struct job_row *row)
{
	struct job_allocation allocation;
	uint64_t count = 0;

	if (allocation_read(row->allocation, &allocation, NULL) < 0)
		return 0;
	for (size_t i = 0; i < allocation.tasks_count; i++)
		count += (uint64_t)__builtin_popcountll(
			allocation_devices(&allocation.tasks[i]));
	codec_clear(&job_allocation_schema, &allocation);
	return count;
}

static struct race_end_seen race_read_end(struct jobs *jobs,
					  const struct job_row *row,
					  const struct race_spec *race)
{
	struct race_end_seen seen = {
		.score = row->rate.value,
		.unit = race_unit(race, row->rate.unit),
		.cost_s = device_seconds(row->started_ms, row->ended_ms,
					 row_devices(row)),
	};
	struct race_figures_read read = { race, &seen };

	if (!job_state_final(row->state)) {
		seen.outcome = race->heat && row->state == JOB_QUEUED
				       ? RACE_OPEN
				       : RACE_ACTIVE;
		return seen;
	}
	store_result(jobs->store, row->origin ? row->origin : row->id,
		     race_read_figures, &read, NULL);
	seen.outcome = outcome_of(row->state, row->failure, seen.score);
	return seen;
}

/* The nodes of a job are those of its race. */
static void race_pin(struct race *race, const uint32_t *slots, size_t count)
{
	uint32_t *pins = calloc(count + 1, sizeof(*pins));

	if (!pins)
		return;
	memcpy(pins, slots, count * sizeof(*pins));
	free(race->pins);
	race->pins = pins;
	race->pins_count = count;
}

static void race_pin_row(struct jobs *jobs, struct race *race,
			 const struct job_row *row)
{
	struct job_allocation allocation;
	owned_free uint32_t *slots = NULL;
	size_t count = 0;

	if (allocation_read(row->allocation, &allocation, NULL) < 0)
		return;
	slots = calloc(allocation.tasks_count + 1, sizeof(*slots));
	for (size_t i = 0; slots && i < allocation.tasks_count; i++) {
		const struct node *node =
			node_get(jobs->nodes, allocation.tasks[i].node, NULL);

		if (node)
			slots[count++] = (uint32_t)node_index(node);
	}
	if (slots && count && count == allocation.tasks_count)
		race_pin(race, slots, count);
	codec_clear(&job_allocation_schema, &allocation);
}

static int race_read_row(const struct job_row *row, void *arg)
{
	struct race_reading *reading = arg;
	struct race_end_seen seen;
	struct job_spec spec;
	struct race_entry *entry;
	int rc = 0;

	if (codec_decode(&job_spec_schema, row->spec, strlen(row->spec), &spec,
			 reading->err) < 0)
		return -1;
	if (spec.race.steps && !*reading->sweep)
		*reading->sweep =
			race_sweep_add(reading->jobs, row->sweep, reading->err);
	if (spec.race.steps && !*reading->sweep)
		rc = -1;
	if (rc == 0 && spec.race.steps && spec.race.heat)
		rc = entry_add(*reading->sweep, row->cell_index, row->id, &spec,
			       reading->err);
	if (rc == 0 && spec.race.steps) {
		seen = race_read_end(reading->jobs, row, &spec.race);
		rc = race_note(*reading->sweep, row->cell_index, spec.race.heat,
			       row->repeat, &seen, reading->err);
		entry = race_entry_find(*reading->sweep, row->cell_index);
		if (entry && !row->origin)
			race_pin_row(reading->jobs,
				     &(*reading->sweep)->races[entry->race],
				     row);
	}
	codec_clear(&job_spec_schema, &spec);
	return rc;
}

/* Joining and leaving. */

static int race_join_new(struct job *job, const struct job_spec *spec,
			 struct error *err)
{
	struct race_sweep *sweep = race_sweep_find(job->jobs, job->sweep);
	const struct race_end_seen runs = { .outcome = RACE_ACTIVE };

	if (!sweep)
		sweep = race_sweep_add(job->jobs, job->sweep, err);
	if (!sweep)
		return -1;
	if (spec->race.heat)
		return entry_add(sweep, job->cell_index, job->id, spec, err);
	return race_note(sweep, job->cell_index, false, spec->repeat, &runs,
			 err);
}

/* The sweep, from the store if it is not here; *sweep NULL: it has no race. */
static int race_sweep_load(struct jobs *jobs, uint64_t id,
			   struct race_sweep **sweep, struct error *err)
{
	struct race_reading reading = { jobs, sweep, err };

	*sweep = race_sweep_find(jobs, id);
	return *sweep ? 0
		      : store_jobs(jobs->store, id, 0, 0, race_read_row,
				   &reading, err);
}

static int race_join_stored(struct job *job, struct error *err)
{
	struct race_sweep *sweep;
	struct race_end_seen seen = { .outcome = RACE_ACTIVE };

	if (race_sweep_load(job->jobs, job->sweep, &sweep, err) < 0)
		return -1;
	if (!sweep)
		return 0;
	/* It is queued again, perhaps by a person. */
	if (job->heat &&
	    (job->state == JOB_QUEUED || job_state_final(job->state)))
		seen.outcome = RACE_OPEN;
	return race_note(sweep, job->cell_index, job->heat, job->repeat, &seen,
			 err);
}

int race_join(struct job *job, const struct job_spec *spec, struct error *err)
{
	struct race_sweep *sweep;

	if (!job->races || job->racing)
		return 0;
	if ((spec ? race_join_new(job, spec, err)
		  : race_join_stored(job, err)) < 0)
		return -1;
	sweep = race_sweep_find(job->jobs, job->sweep);
	if (!sweep)
		return 0;
	job->racing = true;
	sweep->active++;
	race_sweep_due(job->jobs, sweep, true);
	return 0;
}

int race_taken(struct jobs *jobs, const struct job_row *row,
	       const struct job_spec *spec, struct error *err)
{
	struct race_sweep *sweep;
	struct race_end_seen seen;

	if (!spec->race.steps)
		return 0;
	sweep = race_sweep_find(jobs, row->sweep);
	if (!sweep)
		sweep = race_sweep_add(jobs, row->sweep, err);
	if (!sweep || entry_add(sweep, row->cell_index, row->id, spec, err) < 0)
		return -1;
	seen = race_read_end(jobs, row, &spec->race);
	seen.cost_s = 0; /* this race did not pay for it */
	race_sweep_due(jobs, sweep, true);
	return race_note(sweep, row->cell_index, true, 0, &seen, err);
}

struct race_cell *race_rows_of(const struct race_sweep *sweep, size_t race,
			       size_t *at, size_t *count)
{
	struct race_cell *rows = calloc(sweep->count + 1, sizeof(*rows));

	*count = 0;
	for (size_t i = 0; rows && i < sweep->count; i++) {
		if (sweep->entries[i].race != race)
			continue;
		at[*count] = i;
		rows[(*count)++] = sweep->entries[i].row;
	}
	return rows;
}

static enum race_standing entry_standing(const struct race_sweep *sweep,
					 const struct race_entry *entry,
					 char *why, size_t size)
{
	owned_free size_t *at = calloc(sweep->count + 1, sizeof(*at));
	owned_free struct race_cell *rows = NULL;
	const struct race_entry *winner;
	struct race_judgement to;
	size_t count;

	if (at)
		rows = race_rows_of(sweep, entry->race, at, &count);
	if (!rows || race_judge(&sweep->races[entry->race].rules, rows, count,
				&to, NULL, NULL, NULL) < 0)
		return RACE_STANDING_UNREAD;
	if (to.action != RACE_OVER)
		return RACE_STANDING_OPEN;
	if (to.end == RACE_EMPTY || to.end == RACE_NOISY) {
		snprintf(why, size, "the race before it has no winner");
		return RACE_STANDING_LOST;
	}
	winner = &sweep->entries[at[to.cell]];
	if (winner == entry)
		return RACE_STANDING_WON;
	snprintf(why, size,
		 "lost the race, which was won by job %" PRIu64 " (%.160s)",
		 winner->heat, winner->cell);
	return RACE_STANDING_LOST;
}

enum race_standing race_standing(struct jobs *jobs, uint64_t id,
				 struct follow *follow, char *why, size_t size)
{
	enum race_standing standing = RACE_STANDING_UNREAD;
	struct race_sweep *sweep;
	struct error err = { 0 };

	if (race_sweep_load(jobs, id, &sweep, &err) < 0)
		log_error("sweep=%" PRIu64 ": %s", id, err.text);
	if (sweep)
		race_sort_heats(sweep);
	for (size_t i = 0; sweep && i < sweep->count; i++)
		if (sweep->entries[i].heat == follow->before)
			standing = entry_standing(sweep, &sweep->entries[i],
						  why, size);
	if (standing == RACE_STANDING_OPEN) {
		race_sweep_due(jobs, sweep, sweep->due || !sweep->active);
		if (!follow->listed)
			LIST_INSERT_HEAD(&sweep->followers, follow, by_before);
		follow->listed = true;
	}
	follow->raced = standing == RACE_STANDING_OPEN;
	if (sweep && !sweep->active && !sweep->due)
		race_sweep_drop(jobs, sweep);
	return standing;
}

bool race_holds(const struct job *job)
{
	const struct race_sweep *sweep;
	const struct race_entry *entry;

	if (!job->racing || !job->heat)
		return false;
	sweep = race_sweep_find(job->jobs, job->sweep);
	entry = sweep ? race_entry_find(sweep, job->cell_index) : NULL;
	return entry && entry->row.heat == RACE_OPEN;
}

bool race_accepts(const struct job *job)
{
	return job->heat &&
	       (job->failure == FAILURE_ENOUGH || job->failure == FAILURE_OOM);
}

static void race_pin_gang(struct race *race, const struct gang *gang)
{
	owned_free uint32_t *slots = calloc(gang->spec.nodes, sizeof(*slots));

	for (uint32_t i = 0; slots && i < gang->spec.nodes; i++) {
		if (!task_node(&gang->tasks[i]))
			return;
		slots[i] = (uint32_t)node_index(task_node(&gang->tasks[i]));
	}
	if (slots)
		race_pin(race, slots, gang->spec.nodes);
}

void race_ended(struct job *job)
{
	struct race_sweep *sweep = race_sweep_find(job->jobs, job->sweep);
	struct race_entry *entry =
		sweep ? race_entry_find(sweep, job->cell_index) : NULL;
	struct race_end_seen seen = {
		.outcome = outcome_of(job->state, job->failure, job->score),
		.score = job->score,
		.error = job->rate_error,
	};
	struct error err = { 0 };

	if (!job->racing || !entry)
		return;
	seen.unit = race_unit(&sweep->races[entry->race].spec, job->rate.unit);
	if (job->gang && job->started_ms) {
		seen.cost_s = device_seconds(job->started_ms, job->ended_ms,
					     gang_devices(job->gang));
		race_pin_gang(&sweep->races[entry->race], job->gang);
	}
	if (race_note(sweep, job->cell_index, job->heat, job->repeat, &seen,
		      &err) < 0)
		log_error("job=%" PRIu64 ": %s", job->id, err.text);
	sweep->races[entry->race].last = job->id;
	sweep->races[entry->race].last_attempt = job->attempt;
	race_sweep_due(job->jobs, sweep, true);
}

void race_leave(struct job *job)
{
	struct race_sweep *sweep;

	if (!job->racing)
		return;
	job->racing = false;
	sweep = race_sweep_find(job->jobs, job->sweep);
	if (sweep && !--sweep->active)
		race_sweep_due(job->jobs, sweep, true);
}

void race_undo_submit(struct jobs *jobs, uint64_t sweep_id, uint64_t cell_index)
{
	struct race_sweep *sweep = race_sweep_find(jobs, sweep_id);
	struct race_entry *entry =
		sweep ? race_entry_find(sweep, cell_index) : NULL;

	if (!entry)
		return;
	free(entry->cell);
	free(entry->rest);
	free(entry->row.runs);
	sweep->count--;
	memmove(entry, entry + 1,
		(size_t)(sweep->entries + sweep->count - entry) *
			sizeof(*entry));
	if (!sweep->count)
		race_sweep_drop(jobs, sweep);
}

void race_undo_retry(struct jobs *jobs, uint64_t sweep_id, uint64_t cell_index)
{
	struct race_sweep *sweep = race_sweep_find(jobs, sweep_id);
	struct race_entry *entry =
		sweep ? race_entry_find(sweep, cell_index) : NULL;

	if (!entry)
		return;
	if (!sweep->active) {
		race_sweep_drop(jobs, sweep);
		return;
	}
	if (entry->row.heat == RACE_OPEN)
		entry->row.heat = RACE_FAILED;
	for (size_t i = 0; i < entry->row.runs_count; i++)
		if (entry->row.runs[i].outcome == RACE_ACTIVE)
			entry->row.runs[i].outcome = RACE_FAILED;
}

static void race_free_one(void *sweep)
{
	race_sweep_free(sweep);
}

void race_free_all(struct jobs *jobs)
{
	tdestroy(jobs->races, race_free_one);
	jobs->races = NULL;
	TAILQ_INIT(&jobs->races_due);
}
