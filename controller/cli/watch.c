/* watch.c - a sweep shown until its end: live on a terminal, else in lines.
 */
#include "controller/cli/watch.h"
#include "controller/cli/display.h"
#include "controller/cli/render.h"
#include "protocol/base/file.h"
#include "protocol/base/loop.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define WAIT_MS 30000
#define REDRAW_MS 200
/* Between two questions: progress comes with every step of a training, and
 * asking must not disturb what is measured.
 */
#define PACE_MS 50
#define LIVE_MAX 200 /* lines at most, however large the screen is */
#define LINE_MAX_BYTES 600

struct watched {
	uint64_t id;
	enum job_state state;
	uint32_t attempt;
	bool removed;
	struct job_info *job; /* as last told; NULL once it ended */
};

struct watch {
	struct cli *cli;
	struct client *client;
	uint64_t sweep;
	struct watched *jobs; /* by id */
	size_t count;
	size_t room;
	size_t states[JOB_STATES];
	uint64_t since;      /* of the round that is finished */
	uint64_t next_since; /* of the round under way */
	uint64_t after;      /* last job of the page before */
	bool stopped;        /* watch_stop() */
	bool snapshot;       /* the first round is over */
	bool again;          /* the controller is back: look at all anew */
	size_t old;          /* had ended when we first looked */
	int64_t began_ms;
	struct display *display; /* NULL: plain lines */
	int64_t drawn_ms;
	sd_event_source *redraw;
	bool pausing;
	sd_event_source *pause;
};

static void draw(struct watch *watch);

static int redraw_run(sd_event_source *source, uint64_t usec, void *arg)
{
	struct watch *watch = arg;

	draw(watch);
	loop_timer(client_loop(watch->client), &watch->redraw, REDRAW_MS,
		   redraw_run, watch, NULL);
	return 0;
}

static void put_line(struct watch *watch, const char *line)
{
	if (watch->display) {
		display_line(watch->display, line);
		draw(watch);
	} else {
		fprintf(watch->cli->err, "%s\n", line);
		fflush(watch->cli->err);
	}
}

void watch_say(struct watch *watch, const char *fmt, ...)
{
	char text[LINE_MAX_BYTES], clean[2 * LINE_MAX_BYTES];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	put_line(watch, escape(text, clean, sizeof(clean)));
}

static void on_notice(void *arg, const char *text)
{
	struct watch *watch = arg;

	watch_say(watch, "%s", text);
	/* A controller that started anew may count its changes anew. */
	watch->again = true;
	client_interrupt(watch->client);
}

struct watch *watch_new(struct cli *cli, struct client *client, uint64_t sweep,
			struct error *err)
{
	owned(watch_free) struct watch *watch = calloc(1, sizeof(*watch));

	if (!watch) {
		error_nomem(err, "watch");
		return NULL;
	}
	watch->cli = cli;
	watch->client = client;
	watch->sweep = sweep;
	watch->began_ms = clock_mono_ms();
	if (cli->err_terminal) {
		watch->display = display_new(cli->err, err);
		if (!watch->display ||
		    loop_timer(client_loop(client), &watch->redraw, REDRAW_MS,
			       redraw_run, watch, err) < 0)
			return NULL;
	}
	client_set_patient(client, on_notice, watch);
	return take(watch);
}

static void quiet(void *arg, const char *text)
{
}

static void forget_job(struct watched *watched)
{
	if (watched->job)
		codec_clear(&job_info_schema, watched->job);
	free(take(watched->job));
}

void watch_free(struct watch *watch)
{
	if (!watch)
		return;
	client_set_patient(watch->client, quiet, NULL);
	loop_source_free(&watch->redraw);
	loop_source_free(&watch->pause);
	display_free(watch->display);
	for (size_t i = 0; i < watch->count; i++)
		forget_job(&watch->jobs[i]);
	free(watch->jobs);
	free(watch);
}

/* What is known of the jobs. */

/* The job of that id, or where it belongs. */
static size_t place_of(const struct watch *watch, uint64_t id)
{
	size_t low = 0, high = watch->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (watch->jobs[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Borrowed until the next call; NULL when memory runs out. */
static struct watched *watched(struct watch *watch, uint64_t id, bool *fresh)
{
	size_t place = place_of(watch, id);
	struct watched *jobs = watch->jobs;

	*fresh = place == watch->count || jobs[place].id != id;
	if (!*fresh)
		return &jobs[place];
	if (watch->count == watch->room) {
		size_t room = watch->room ? 2 * watch->room : 64;

		jobs = realloc(jobs, room * sizeof(*jobs));
		if (!jobs)
			return NULL;
		watch->jobs = jobs;
		watch->room = room;
	}
	memmove(&jobs[place + 1], &jobs[place],
		(watch->count - place) * sizeof(*jobs));
	jobs[place] = (struct watched){ .id = id };
	watch->count++;
	watch->states[JOB_NONE]++;
	return &jobs[place];
}

static int64_t job_elapsed_ms(const struct watch *watch,
			      const struct job_info *job)
{
	int64_t ended = job->ended_ms;

	if (!job->started_ms)
		return -1;
	return (ended ? ended : client_clock_ms(watch->client)) -
	       job->started_ms;
}

/* " (12s on n1,n2)", as far as it is known. */
static void time_and_place(const struct watch *watch,
			   const struct job_info *job, char *to, size_t size)
{
	int64_t elapsed = job_elapsed_ms(watch, job);
	bool placed = job->allocation.count > 0;
	char nodes[200], time[HUMAN_SIZE] = "";

	job_nodes(&job->allocation, nodes, sizeof(nodes));
	if (elapsed >= 0)
		human_time(elapsed, time);
	to[0] = 0;
	if (placed)
		snprintf(to, size, " (%s%son %s)", time, time[0] ? " " : "",
			 nodes);
	else if (time[0])
		snprintf(to, size, " (%s)", time);
}

/* "job 3 [nodes=2]: failed, exit: rank 1 exited 1 (12s on n1,n2)" */
static void announce(struct watch *watch, const struct job_info *job,
		     const struct watched *known, uint32_t old_attempt)
{
	bool colours = watch->display && cli_err_colour(watch->cli);
	enum colour colour = colour_of_job(known->state);
	char cell[300], detail[400], place[300], again[40] = "";
	char line[2 * LINE_MAX_BYTES];

	escape(job->cell ? job->cell : "", cell, sizeof(cell));
	job_detail(job, detail, sizeof(detail));
	time_and_place(watch, job, place, sizeof(place));
	if (known->attempt > 1 && known->attempt != old_attempt)
		snprintf(again, sizeof(again), ", attempt %u", known->attempt);
	snprintf(line, sizeof(line), "job %llu [%s]: %s%s%s%s%s%s%s",
		 (unsigned long long)known->id, cell,
		 colour_begin(colour, colours), job_state_name(known->state),
		 colour_end(colour, colours), again, detail[0] ? ", " : "",
		 detail, place);
	put_line(watch, line);
}

/* What a person wants to read of: on a terminal the live lines show the rest.
 */
static bool worth_a_line(const struct watch *watch, const struct watched *job,
			 uint32_t old_attempt, bool fresh)
{
	if (job_state_final(job->state))
		return true;
	if (watch->display)
		return job->attempt > 1 && !fresh &&
		       job->attempt != old_attempt;
	return !(fresh && job->state == JOB_QUEUED);
}

static int keep_job(struct watched *watched, const struct job_info *row,
		    struct error *err)
{
	watched->job = calloc(1, sizeof(*watched->job));
	if (!watched->job)
		return error_nomem(err, "watch");
	return codec_copy(&job_info_schema, row, watched->job, err);
}

static int take_job(struct watch *watch, const struct job_info *row,
		    struct error *err)
{
	uint64_t id = row->job;
	enum job_state state = job_state_from(row->state);
	bool fresh, changed;
	uint32_t old_attempt;
	struct watched *job;

	if (!id || state == JOB_NONE)
		return error_set(err, EPROTO,
				 "the controller's answer has a job that "
				 "cannot be read");
	job = watched(watch, id, &fresh);
	if (!job)
		return error_nomem(err, "watch");
	old_attempt = job->attempt;
	changed = state != job->state;
	watch->states[job->state]--;
	watch->states[state]++;
	job->state = state;
	job->attempt = row->attempt;
	job->removed = row->removed;
	forget_job(job);
	if (fresh && !watch->snapshot && job_state_final(state))
		watch->old++;
	else if ((changed || job->attempt != old_attempt) &&
		 worth_a_line(watch, job, old_attempt, fresh))
		announce(watch, row, job, old_attempt);
	/* An announcement may not move the array: the same job. */
	return job_state_final(state) ? 0 : keep_job(job, row, err);
}

/* The live lines. */

static double fraction_done(const struct watched *job)
{
	const struct progress_info *progress = job->job->progress;
	bool pull = job->state == JOB_PREPARING;
	uint64_t all, done;

	if (!progress)
		return -1;
	all = pull ? progress->total_bytes : progress->steps;
	done = pull ? progress->done_bytes : progress->step;

	return all && !progress->partial ? (double)done / (double)all : -1;
}

static void live_line(const struct watch *watch, const struct watched *job,
		      char line[LINE_MAX_BYTES])
{
	bool colours = cli_err_colour(watch->cli);
	enum colour colour = colour_of_job(job->state);
	char cell[300], detail[160], meter[BAR_SIZE], time[HUMAN_SIZE];
	int64_t elapsed = job_elapsed_ms(watch, job->job);

	bar_text(fraction_done(job), meter);
	escape(job->job->cell ? job->job->cell : "", cell, sizeof(cell));
	job_detail(job->job, detail, sizeof(detail));
	snprintf(line, LINE_MAX_BYTES, "%5llu %s%-10s%s %s %6s  %-36s  %s",
		 (unsigned long long)job->id, colour_begin(colour, colours),
		 job_state_name(job->state), colour_end(colour, colours), meter,
		 elapsed >= 0 ? human_time(elapsed, time) : "", detail, cell);
}

static void total_line(const struct watch *watch, char line[LINE_MAX_BYTES])
{
	const size_t *states = watch->states;
	size_t done = states[JOB_COMPLETED] + states[JOB_FAILED] +
		      states[JOB_CANCELLED];
	size_t waiting = states[JOB_QUEUED];
	char time[HUMAN_SIZE];

	snprintf(line, LINE_MAX_BYTES,
		 "sweep %llu: %zu of %zu jobs ended, %zu failed, %zu active, "
		 "%zu queued, %s",
		 (unsigned long long)watch->sweep, done, watch->count,
		 states[JOB_FAILED], watch->count - done - waiting, waiting,
		 human_time(clock_mono_ms() - watch->began_ms, time));
}

static void draw(struct watch *watch)
{
	char lines[LIVE_MAX + 1][LINE_MAX_BYTES];
	const char *pointers[LIVE_MAX + 1];
	size_t rows, count = 1;

	if (!watch->display || !watch->count)
		return;
	rows = display_rows(watch->display);
	total_line(watch, lines[0]);
	pointers[0] = lines[0];
	for (size_t i = 0;
	     i < watch->count && count < rows && count <= LIVE_MAX; i++) {
		const struct watched *job = &watch->jobs[i];

		if (!job->job || job->state == JOB_QUEUED)
			continue;
		live_line(watch, job, lines[count]);
		pointers[count] = lines[count];
		count++;
	}
	display_draw(watch->display, pointers, count);
	watch->drawn_ms = clock_mono_ms();
}

/* Asking. */

static void begin_round(struct watch *watch, bool anew)
{
	watch->since = anew ? 0 : watch->next_since;
	watch->next_since = 0;
	watch->after = 0;
}

/* Behind the last page of the first look; in a look at what changed, an answer
 * with more to come says where to go on.
 */
static int turn_page(struct watch *watch, uint64_t since, uint64_t last,
		     struct error *err)
{
	if (!watch->since && last > watch->after)
		watch->after = last;
	else if (watch->since && since > watch->since)
		watch->since = since;
	else
		return error_set(err, EPROTO,
				 "jobs: the controller's pages do not end");
	return 0;
}

/* Take one answer. *final: nothing is left to watch. */
static int take_page(struct watch *watch, const struct reply_jobs *reply,
		     bool *final, struct error *err)
{
	uint64_t last = 0;

	for (size_t i = 0; i < reply->jobs_count; i++) {
		if (take_job(watch, &reply->jobs[i], err) < 0)
			return -1;
		last = reply->jobs[i].job;
	}
	/* What changes while we turn pages comes again in the next round. */
	if (!watch->next_since || watch->since)
		watch->next_since = reply->since;
	if (reply->more)
		return turn_page(watch, reply->since, last, err);
	if (!watch->snapshot && watch->old)
		watch_say(watch, "%zu of %zu jobs had ended before", watch->old,
			  watch->count);
	watch->snapshot = true;
	*final = reply->final;
	begin_round(watch, false);
	return 0;
}

static int poll_once(struct watch *watch, bool *final, struct error *err)
{
	owned(answer_clear) struct answer answer = { 0 };
	struct message_query query = {
		.what = QUERY_JOBS,
		.id = watch->sweep,
		.after = watch->after,
		.since = watch->since,
		.wait_ms = watch->since ? WAIT_MS : 0,
	};

	if (client_query(watch->client, &query, &answer, err) < 0)
		return -1;
	return take_page(watch, answer.reply, final, err);
}

static int pause_ends(sd_event_source *source, uint64_t usec, void *arg)
{
	((struct watch *)arg)->pausing = false;
	return 0;
}

/* Wait a moment before the next question. */
static int pause_briefly(struct watch *watch, struct error *err)
{
	if (loop_timer(client_loop(watch->client), &watch->pause, PACE_MS,
		       pause_ends, watch, err) < 0)
		return -1;
	watch->pausing = true;
	while (watch->pausing)
		if (client_turn(watch->client, err) < 0)
			return -1;
	return 0;
}

static int look_once(struct watch *watch, bool *final, struct error *err)
{
	if (watch->again)
		begin_round(watch, true);
	watch->again = false;
	if (watch->since && pause_briefly(watch, err) < 0)
		return -1;
	return poll_once(watch, final, err);
}

int watch_run(struct watch *watch, struct error *err)
{
	bool final = false;

	while (!final) {
		if (look_once(watch, &final, err) < 0 &&
		    (err->code != EINTR || watch->stopped || !watch->again)) {
			watch->stopped = false;
			return -1;
		}
		if (clock_mono_ms() - watch->drawn_ms > REDRAW_MS / 2)
			draw(watch);
	}
	return 0;
}

void watch_stop(struct watch *watch)
{
	watch->stopped = true;
	client_interrupt(watch->client);
}

size_t watch_jobs(const struct watch *watch)
{
	return watch->count;
}

size_t watch_completed(const struct watch *watch)
{
	return watch->states[JOB_COMPLETED];
}

size_t watch_remaining(const struct watch *watch)
{
	size_t remaining = 0;

	for (size_t i = 0; i < watch->count; i++)
		remaining += !watch->jobs[i].removed;
	return remaining;
}
