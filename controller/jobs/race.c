/* race.c - decides the races of a sweep: heats one after the other, then the
 * final.
 */
#include "controller/jobs/race.h"
#include "controller/cell/key.h"
#include "controller/jobs/core.h"
#include "controller/jobs/dependencies.h"
#include "controller/jobs/gang.h"
#include "controller/jobs/job.h"
#include "controller/jobs/race_rows.h"
#include "controller/logs/log_reader.h"
#include "controller/nodes/node.h"
#include "controller/race/race_words.h"
#include "controller/results/statistics.h"
#include "controller/store/store.h"
#include "protocol/base/log.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOPELESS_STEPS 3 /* steady ones, before a heat is given up */
#define HOPELESS_MARGINS 2

/* Deciding. */

/* The node of the race that cannot take jobs, and is not waited for; NULL:
 * there is none.
 */
static const struct node *pins_fail(const struct jobs *jobs,
				    const struct race *race)
{
	int64_t now = effects_mono_ms(jobs->effects);

	for (size_t i = 0; i < race->pins_count; i++) {
		const struct node *node = node_at(jobs->nodes, race->pins[i]);
		const struct node_view *view = node_view(node);

		if (view->drained || view->removed ||
		    (!node_peer(node) && now - node_lost_since_ms(node) >
						 (int64_t)jobs->node_lost_ms))
			return node;
	}
	return NULL;
}

static void race_pin_job(struct job *job, const struct race *race)
{
	uint32_t *pins = NULL;

	if (race->pins_count == job->shape.nodes && !pins_fail(job->jobs, race))
		pins = calloc(race->pins_count, sizeof(*pins));
	if (pins)
		memcpy(pins, race->pins, race->pins_count * sizeof(*pins));
	free((uint32_t *)job->shape.pins);
	job->shape.pins = pins;
	job->shape.pins_count = pins ? race->pins_count : 0;
}

static int race_start_heat(struct jobs *jobs, struct race_sweep *sweep,
			   struct race_entry *entry, struct error *err)
{
	struct job *job = job_find(jobs->table, entry->heat);

	if (!job || job->state != JOB_QUEUED) {
		entry->row.heat = RACE_FAILED; /* it cannot be */
		return 0;
	}
	race_pin_job(job, &sweep->races[entry->race]);
	if (job_enqueue(job, err) < 0)
		return -1;
	entry->row.heat = RACE_ACTIVE;
	return 0;
}

static int race_read_spec(const struct job_row *row, void *arg)
{
	return codec_decode(&job_spec_schema, row->spec, strlen(row->spec), arg,
			    NULL);
}

static int race_start_run(struct jobs *jobs, struct race_sweep *sweep,
			  struct race_entry *entry, uint32_t round,
			  struct error *err)
{
	struct store_mark mark = store_mark(jobs->store);
	size_t runs = entry->row.runs_count;
	uint64_t cell_index = entry->cell_index, id;
	size_t race = entry->race;
	struct job_spec spec = { 0 };
	char key[SPEC_KEY_SIZE], *owner;
	struct job *job;
	int rc;

	if (store_job(jobs->store, entry->heat, race_read_spec, &spec, err) < 0)
		return -1;
	spec.race.heat = false;
	spec.repeat = round;
	id = store_coming_job(jobs->store);
	/* It is what the cell without a race would run, for whomever. */
	owner = take(spec.owner);
	rc = spec_key(&spec, key, err);
	spec.owner = owner;
	if (rc == 0)
		rc = string_set(&spec.key, key, err);
	if (rc == 0)
		rc = job_submit(jobs, sweep->id, cell_index, &spec, err);
	codec_clear(&job_spec_schema, &spec);
	if (rc < 0) {
		store_undo(jobs->store, &mark);
		entry->row.runs_count = runs; /* it does not run */
		return -1;
	}
	job = job_find(jobs->table, id);
	if (job) {
		queue_remove(jobs->queue, &job->shape, job->id);
		race_pin_job(job, &sweep->races[race]);
		rc = job_enqueue(job, err);
	}
	return rc;
}

static int prune(struct jobs *jobs, struct race_entry *entry,
		 const struct race_entry *because, struct error *err)
{
	struct job *job = job_find(jobs->table, entry->heat);
	char text[RACE_TEXT_MAX];

	if (!job) {
		entry->row.heat = RACE_PRUNED;
		return 0;
	}
	race_say_pruned(because->heat, &because->row, &entry->row.needs, text,
			sizeof(text));
	return gang_exception(job, FAILURE_PRUNED, 0, text) == 0
		       ? 0
		       : error_set(err, EIO, "job %" PRIu64 " is not pruned",
				   entry->heat);
}

/* The verdict is an event of the job whose end led to it. */
static int race_put_verdict(struct jobs *jobs, const struct race *race,
			    const char *text, struct error *err)
{
	owned(cJSON_Delete) cJSON *data = cJSON_CreateObject();
	struct event_row row = {
		.job = race->last,
		.time_ms = effects_wall_ms(jobs->effects),
		.attempt = race->last_attempt,
		.kind = job_event_name(JOB_EVENT_ENOUGH),
	};
	char *printed;
	int rc;

	cJSON_AddStringToObject(data, "text", text);
	printed = cJSON_PrintUnformatted(data);
	row.data = printed;
	rc = store_put_event(jobs->store, &row, err);
	cJSON_free(printed);
	return rc;
}

static int end_race(struct jobs *jobs, struct race_sweep *sweep,
		    const struct race_judgement *verdict,
		    const struct race_entry *winner, struct error *err)
{
	struct race *race = &sweep->races[winner->race];
	char text[RACE_TEXT_MAX];

	if (race->over)
		return 0;
	race_say_verdict(&race->rules, verdict, winner->heat,
			 race->spec.own ? winner->row.needs.micro : 0, text,
			 sizeof(text));
	if (race->last && race_put_verdict(jobs, race, text, err) < 0)
		return -1;
	log_info("job=%" PRIu64 " race%s%s: %s", race->last,
		 *race->group ? " " : "", race->group, text);
	race->over = true;
	jobs->changes->events = true;
	dependencies_release(&sweep->followers);
	return 0;
}

/* 1: something changed, judge again; 0: nothing is to do. */
static int race_decide(struct jobs *jobs, struct race_sweep *sweep, size_t race,
		       struct error *err)
{
	owned_free size_t *at = calloc(sweep->count + 1, sizeof(*at));
	owned_free struct race_cell *rows = NULL;
	struct race_judgement to;
	struct race_entry *entry;
	size_t count;

	if (at)
		rows = race_rows_of(sweep, race, at, &count);
	if (!rows)
		return error_nomem(err, "race");
	if (!count || race_judge(&sweep->races[race].rules, rows, count, &to,
				 NULL, NULL, err) < 0)
		return count ? -1 : 0;
	entry = &sweep->entries[at[to.cell]];
	switch (to.action) {
	case RACE_WAIT:
		return 0;
	case RACE_PRUNE:
		return prune(jobs, entry, &sweep->entries[at[to.because]],
			     err) < 0
			       ? -1
			       : 1;
	case RACE_HEAT:
		sweep->races[race].over = false;
		return race_start_heat(jobs, sweep, entry, err) < 0 ? -1 : 1;
	case RACE_RUN:
		sweep->races[race].over = false;
		return race_start_run(jobs, sweep, entry, to.round, err) < 0
			       ? -1
			       : 1;
	case RACE_OVER:
		break;
	}
	return end_race(jobs, sweep, &to, entry, err);
}

/* Heats that never start: the race is over, and its budget spent. */
static int race_skip_rest(struct jobs *jobs, struct race_sweep *sweep)
{
	for (size_t i = 0; i < sweep->count; i++) {
		struct race_entry *entry = &sweep->entries[i];
		struct job *job;

		if (!sweep->races[entry->race].over ||
		    entry->row.heat != RACE_OPEN)
			continue;
		job = job_find(jobs->table, entry->heat);
		if (job && gang_exception(job, FAILURE_PRUNED, 0,
					  "not run: the budget of the race is "
					  "spent") < 0)
			return -1;
		entry->row.heat = RACE_PRUNED;
	}
	return 0;
}

static int race_sweep_settle(struct jobs *jobs, struct race_sweep *sweep,
			     struct error *err)
{
	race_sort_heats(sweep);
	for (size_t i = 0; i < sweep->races_count; i++) {
		int rc;

		while ((rc = race_decide(jobs, sweep, i, err)) > 0)
			;
		if (rc < 0)
			return -1;
	}
	return race_skip_rest(jobs, sweep);
}

void race_settle(struct jobs *jobs)
{
	struct race_sweep *sweep, *next;

	for (sweep = TAILQ_FIRST(&jobs->races_due); sweep && !jobs->draining;
	     sweep = next) {
		struct error err = { 0 };

		next = TAILQ_NEXT(sweep, by_due);
		if (race_sweep_settle(jobs, sweep, &err) < 0) {
			log_error("sweep=%" PRIu64 " race waits: %s", sweep->id,
				  err.text);
			break; /* tried again in the next turn */
		}
		race_sweep_due(jobs, sweep, false);
		if (!sweep->active)
			race_sweep_drop(jobs, sweep);
	}
}

/* Ending heats. */

static double best_heat(const struct race_sweep *sweep, size_t race)
{
	double best = 0;

	for (size_t i = 0; i < sweep->count; i++)
		if (sweep->entries[i].race == race &&
		    sweep->entries[i].row.heat == RACE_RAN)
			best = fmax(best, sweep->entries[i].row.rate);
	return best;
}

/* Steps from the first steady record on: some logs have every n-th one. */
static uint64_t steady_steps(const struct record *records, size_t count,
			     const struct statistics *figures)
{
	if (figures->first >= count || figures->iteration.n < HOPELESS_STEPS)
		return 0;
	return records[count - 1].step - records[figures->first].step + 1;
}

static int heat_figures(const struct gang *gang, const struct record *records,
			size_t count, struct statistics *figures,
			struct error *err)
{
	const struct extract *extract = log_reader_extract(gang);
	const struct result_input input = {
		.measure = &gang->spec.measure,
		.records = records,
		.record_count = count,
		.summary = extract_summary(extract),
		.extract = extract,
		.inputs = { .devices = gang_devices(gang) },
	};

	return statistics_compute(&input, figures, err);
}

static void heat_check(struct gang *gang, const struct race_sweep *sweep,
		       size_t race)
{
	const struct extract *extract = log_reader_extract(gang);
	struct statistics figures;
	const struct record *records;
	struct rate rate;
	size_t count = 0;
	char text[RACE_TEXT_MAX];
	double best = best_heat(sweep, race), possible;
	uint64_t steady;
	bool by_rate = !sweep->races[race].spec.figure &&
		       !sweep->races[race].spec.least;

	records = extract ? extract_records(extract, &count) : NULL;
	if (count <= HOPELESS_STEPS || count == gang->raced ||
	    heat_figures(gang, records, count, &figures, NULL) < 0)
		return;
	gang->raced = count;
	steady = steady_steps(records, count, &figures);
	rate = rate_of(figures.tokens_per_second / (double)gang_devices(gang),
		       figures.samples_per_second, gang_devices(gang),
		       1000 / figures.iteration.median);
	possible =
		rate.value * figures.iteration.median / figures.iteration.min;
	if (steady >= sweep->races[race].spec.steps)
		snprintf(text, sizeof(text),
			 "heat: ended after step %" PRIu64 ", %" PRIu64
			 " steady steps are enough",
			 records[count - 1].step, steady);
	else if (steady >= HOPELESS_STEPS && best > 0 && by_rate &&
		 log(best / possible) >
			 HOPELESS_MARGINS * sweep->races[race].rules.margin)
		snprintf(text, sizeof(text),
			 "heat: ended after step %" PRIu64
			 ", its fastest step is %.0f %% slower than the best "
			 "heat",
			 records[count - 1].step, (best / possible - 1) * 100);
	else
		return;
	gang_exception(gang->job, FAILURE_ENOUGH, 0, text);
}

/* Leaving nodes. */

struct race_leaving {
	const struct race_sweep *sweep;
	struct race *race;
};

/* A job of the race that waits for its nodes takes others. */
static void race_unpin_job(struct job *job, void *arg)
{
	const struct race_leaving *leaving = arg;
	const struct race_sweep *sweep = leaving->sweep;
	const struct race_entry *entry =
		job->racing && job->sweep == sweep->id && job->shape.pins &&
				job->state == JOB_QUEUED
			? race_entry_find(sweep, job->cell_index)
			: NULL;
	struct error err;

	if (!entry || &sweep->races[entry->race] != leaving->race)
		return;
	queue_remove(job->jobs->queue, &job->shape, job->id);
	race_pin_job(job, leaving->race);
	if (job_enqueue(job, &err) < 0)
		log_error("job=%" PRIu64 ": %s", job->id, err.text);
}

static void race_check_nodes(const void *place, VISIT visit, void *arg)
{
	const struct race_sweep *sweep = *(struct race_sweep *const *)place;
	struct jobs *jobs = arg;

	if (visit != postorder && visit != leaf)
		return;
	for (size_t i = 0; i < sweep->races_count; i++) {
		struct race *race = &sweep->races[i];
		struct race_leaving leaving = { sweep, race };
		const struct node *node =
			race->over ? NULL : pins_fail(jobs, race);

		if (!node)
			continue;
		log_warning("sweep=%" PRIu64 ": its race leaves %s, which is "
			    "%s",
			    sweep->id, node_name(node),
			    node_view(node)->drained ? "drained" : "down");
		race->pins_count = 0;
		job_each(jobs->table, race_unpin_job, &leaving);
	}
}

void race_tick(struct jobs *jobs)
{
	struct gang *gang, *next;

	twalk_r(jobs->races, race_check_nodes, jobs);
	for (gang = jobs->races ? gang_first(jobs->table) : NULL; gang;
	     gang = next) {
		const struct job *job = gang->job;
		const struct race_sweep *sweep;
		const struct race_entry *entry;

		next = gang_next(gang);
		if (!job->racing || !job->heat || job->state != JOB_RUNNING ||
		    job->failure)
			continue;
		sweep = race_sweep_find(jobs, job->sweep);
		entry = sweep ? race_entry_find(sweep, job->cell_index) : NULL;
		if (entry)
			heat_check(gang, sweep, entry->race);
	}
}

/* Telling. */

/* How many cells are where in the race. */
struct race_field {
	size_t heats;  /* that are over */
	size_t in;     /* of them, within the margin or in the final */
	size_t pruned; /* never run */
};

static struct race_field count_field(const struct race_cell *rows,
				     const enum race_place *places,
				     size_t count,
				     const struct race_judgement *to)
{
	struct race_field field = { 0 };
	double best = 0;

	for (size_t i = 0; i < count; i++)
		if (rows[i].heat == RACE_RAN)
			best = fmax(best, rows[i].rate);
	for (size_t i = 0; i < count; i++) {
		field.pruned += rows[i].heat == RACE_PRUNED;
		field.heats += rows[i].heat == RACE_RAN ||
			       rows[i].heat == RACE_OOM ||
			       rows[i].heat == RACE_FAILED;
		field.in += to->finalists ? places[i] == PLACE_EQUAL
					  : rows[i].heat == RACE_RAN &&
						    log(best / rows[i].rate) <=
							    to->width;
	}
	return field;
}

static const struct race_entry *race_best_entry(const struct race_sweep *sweep,
						const size_t *at, size_t count)
{
	const struct race_entry *best = NULL;

	for (size_t i = 0; i < count; i++) {
		const struct race_entry *entry = &sweep->entries[at[i]];

		if (entry->row.heat == RACE_RAN &&
		    (!best || entry->row.rate > best->row.rate))
			best = entry;
	}
	return best;
}

static void race_add_progress(const struct race_sweep *sweep, size_t race,
			      char *text, size_t size)
{
	owned_free size_t *at = calloc(sweep->count + 1, sizeof(*at));
	owned_free enum race_place *places =
		calloc(sweep->count + 1, sizeof(*places));
	owned_free struct race_cell *rows = NULL;
	const struct race_entry *best;
	struct race_judgement to;
	struct race_field field;
	size_t count = 0, used = strlen(text);

	if (at && places)
		rows = race_rows_of(sweep, race, at, &count);
	if (!rows || !count ||
	    race_judge(&sweep->races[race].rules, rows, count, &to, places,
		       NULL, NULL) < 0 ||
	    to.action == RACE_OVER)
		return;
	field = count_field(rows, places, count, &to);
	used += (size_t)snprintf(text + used, size - used, "%s%s%s",
				 used ? "; " : "", sweep->races[race].group,
				 *sweep->races[race].group ? ": " : "");
	if (used < size && to.finalists)
		used += (size_t)snprintf(text + used, size - used,
					 "final, %zu of %zu left after %u "
					 "round%s",
					 field.in, to.finalists, to.round,
					 to.round == 1 ? "" : "s");
	else if (used < size)
		used += (size_t)snprintf(text + used, size - used,
					 "%zu of %zu heats, %zu in",
					 field.heats, count - field.pruned,
					 field.in);
	if (used < size)
		used += (size_t)snprintf(text + used, size - used,
					 ", %zu out, %zu never run",
					 field.heats - field.in, field.pruned);
	best = race_best_entry(sweep, at, count);
	if (used < size && best)
		snprintf(text + used, size - used,
			 "; best heat %.100s: %.6g %s", best->cell,
			 race_shown(&sweep->races[race].spec, best->row.rate),
			 best->unit);
}

void race_progress(const struct jobs *jobs, uint64_t sweep_id, char *text,
		   size_t size)
{
	const struct race_sweep *sweep = race_sweep_find(jobs, sweep_id);

	*text = 0;
	for (size_t i = 0; sweep && i < sweep->races_count; i++)
		if (strlen(text) + 1 < size)
			race_add_progress(sweep, i, text, size);
}
