/* adaptive_repeats.c - repeats cells until their rate is known precisely
 * enough.
 */
#include "controller/jobs/adaptive_repeats.h"
#include "controller/jobs/core.h"
#include "controller/jobs/job.h"
#include "controller/jobs/repeats.h"
#include "controller/results/t_quantile.h"
#include "controller/store/store.h"
#include "protocol/base/log.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

bool repeats_more(const struct repeats *repeats, char *text, size_t size)
{
	const struct until_spec *until = &repeats->until;
	struct mean_known known =
		mean_known(repeats->rates, repeats->rates_count,
			   until->confidence);
	char words[120];

	if (repeats->given_up || !repeats->completed) {
		snprintf(text, size, "not repeated further: %s",
			 repeats->given_up ? "a repeat was cancelled or skipped"
					   : "no repeat completed");
		return false;
	}
	if (!repeats->rates_count) {
		snprintf(text, size,
			 "not repeated further: the runs have no rate");
		return false;
	}
	if (isfinite(known.half))
		snprintf(words, sizeof(words),
			 "mean %.6g +- %.2f %% (%g %% confidence, n %zu)",
			 known.mean, known.half * 100, until->confidence * 100,
			 known.n);
	else
		snprintf(words, sizeof(words), "one rate is not enough");
	if (known.half <= until->width) {
		snprintf(text, size, "known within %g %%: %s",
			 until->width * 100, words);
		return false;
	}
	if (repeats->count >= until->max) {
		snprintf(text, size,
			 "not known within %g %% after %u repeats, the most "
			 "that are allowed: %s",
			 until->width * 100, repeats->count, words);
		return false;
	}
	snprintf(text, size, "not known within %g %%: %s", until->width * 100,
		 words);
	return true;
}

/* Judging. */

static int trial_put_event(struct jobs *jobs, const struct trial *trial,
			   uint64_t next, const char *why, struct error *err)
{
	cJSON *data = cJSON_CreateObject();
	struct event_row row = {
		.job = trial->last,
		.attempt = trial->last_attempt,
		.time_ms = effects_wall_ms(jobs->effects),
		.kind = job_event_name(next ? JOB_EVENT_MORE
					    : JOB_EVENT_ENOUGH),
	};
	char *text;
	int rc;

	if (next)
		cJSON_AddNumberToObject(data, "job", (double)next);
	cJSON_AddStringToObject(data, "text", why);
	text = cJSON_PrintUnformatted(data);
	row.data = text;
	rc = store_put_event(jobs->store, &row, err);
	cJSON_Delete(data);
	cJSON_free(text);
	return rc;
}

static int trial_read_spec(const struct job_row *row, void *arg)
{
	return codec_decode(&job_spec_schema, row->spec, strlen(row->spec), arg,
			    NULL);
}

/* One more job of the cell; only the number of the repeat differs. */
static int trial_submit(struct jobs *jobs, const struct trial *trial,
			const struct job_spec *like, struct error *err)
{
	struct job_spec spec = { 0 };
	uint32_t repeat;
	int rc;

	if (like)
		spec = *like;
	else if (store_job(jobs->store, trial->last, trial_read_spec, &spec,
			   err) < 0)
		return -1;
	repeat = spec.repeat;
	spec.repeat = trial->repeats.count;
	rc = job_submit(jobs, trial->sweep, trial->cell_index, &spec, err);
	spec.repeat = repeat;
	if (!like)
		codec_clear(&job_spec_schema, &spec);
	return rc;
}

static int trial_decide(struct jobs *jobs, struct trial *trial,
			const struct job_spec *like, struct error *err)
{
	struct store_mark mark = store_mark(jobs->store);
	uint32_t count = trial->repeats.count;
	uint64_t next = 0;
	char why[240];

	/* Jobs that end because the controller stops say nothing of the cell.
	 */
	if (jobs->draining) {
		trial_drop(jobs, trial);
		return 0;
	}
	if (repeats_more(&trial->repeats, why, sizeof(why)))
		next = store_coming_job(jobs->store);
	if (trial_put_event(jobs, trial, next, why, err) < 0)
		return -1;
	if (next && trial_submit(jobs, trial, like, err) < 0) {
		store_undo(jobs->store, &mark);
		trial->repeats.count = count;
		return -1;
	}
	log_info("job=%" PRIu64 " %s%s", trial->last, why,
		 next ? ": one more" : "");
	jobs->changes->events = true;
	if (!next)
		trial_drop(jobs, trial);
	return 0;
}

int adaptive_repeats_resume(struct jobs *jobs, uint64_t sweep,
			    uint64_t cell_index, const struct job_spec *spec,
			    struct error *err)
{
	struct trial *trial = trial_find(jobs, sweep, cell_index);

	return trial && !trial->active ? trial_decide(jobs, trial, spec, err)
				       : 0;
}

void adaptive_repeats_settle(struct jobs *jobs)
{
	struct trial *trial, *next;

	for (trial = TAILQ_FIRST(&jobs->ended); trial; trial = next) {
		struct error err = { 0 };

		next = TAILQ_NEXT(trial, by_end);
		if (trial_decide(jobs, trial, NULL, &err) == 0)
			continue;
		log_error("job=%" PRIu64 " not repeated: %s", trial->last,
			  err.text);
		if (err.code != ENOENT)
			break; /* tried again in the next turn */
		trial_drop(jobs, trial);
	}
}
