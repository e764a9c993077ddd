/* watch.c - follows a sweep until its end, on the whole terminal or in lines.
 */
#include "controller/cli/watch.h"
#include "controller/cli/notify.h"
#include "controller/view/render.h"
#include "controller/cli/watch_screen.h"
#include "protocol/base/clock.h"
#include "protocol/base/list.h"
#include "protocol/base/loop.h"
#include "protocol/base/program.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WAIT_MS 30000
/* The pause between two queries: more of them would disturb the measured
 * training.
 */
#define PACE_MS 50
#define SCREEN_PACE_MS 200 /* a person reads no faster */
#define SCREEN_WAIT_MS 1000
#define WHOLE_MAX 1000 /* jobs; larger sweeps are not queried whole */
#define LINE_MAX_BYTES 600
#define IDLE_MAX 10000 /* jobs that do not run, kept for the screen */
#define SAID_MAX 4096  /* bytes of messages during the screen */

struct watch {
	struct cli *cli;
	struct client *client;
	struct watched_sweep known;
	size_t idle;         /* jobs that do not run and are remembered */
	uint64_t since;      /* of the round that is finished */
	uint64_t next_since; /* of the round under way */
	uint64_t after;      /* the last job of the page before */
	bool stopped;        /* watch_stop() */
	bool left;           /* watch_leave() */
	bool snapshot;       /* the first round has ended */
	bool again;          /* the controller is back: query all jobs again */
	size_t old;          /* jobs that had ended before the first query */
	const char *notify;  /* who is told of failure and end; NULL: nobody */
	bool told;           /* the first failure is */
	struct watch_screen *screen; /* NULL: plain lines */
	struct buffer said;          /* to be printed after the screen */
	int64_t whole_ms;            /* of the last query of all jobs */
	bool pausing;
	sd_event_source *pause;
};

static void watch_put_line(struct watch *watch, const char *line)
{
	if (watch->screen) {
		buffer_printf(&watch->said, NULL, "%s\n", line);
		watch_screen_say(watch->screen, line);
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
	watch_put_line(watch, escape(text, clean, sizeof(clean)));
}

static void watch_take_notice(void *arg, const char *text)
{
	struct watch *watch = arg;

	watch_say(watch, "%s", text);
	/* A restarted controller may number its changes from the start. */
	watch->again = true;
	client_interrupt(watch->client);
}

/* End the running watch_run(), and use no screen from then on. */
static void watch_leave(void *arg)
{
	struct watch *watch = arg;

	watch->left = true;
	watch_stop(watch);
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
	watch->known.id = sweep;
	buffer_init(&watch->said, SAID_MAX);
	/* A terminal that cannot show a screen gets lines. */
	if (cli->err_terminal && isatty(STDIN_FILENO))
		watch->screen = watch_screen_new(cli, client, &watch->known,
						 watch_leave, watch);
	client_set_patient(client, watch_take_notice, watch);
	return take(watch);
}

void watch_notify(struct watch *watch, const char *target)
{
	watch->notify = target;
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

/* Continue in lines, and print the messages of the screen again. */
static void leave_screen(struct watch *watch)
{
	if (!watch->screen)
		return;
	watch_screen_free(take(watch->screen));
	fwrite(watch->said.data, 1, watch->said.size, watch->cli->err);
	fflush(watch->cli->err);
	buffer_clear(&watch->said);
}

void watch_free(struct watch *watch)
{
	if (!watch)
		return;
	leave_screen(watch);
	client_set_patient(watch->client, quiet, NULL);
	loop_source_free(&watch->pause);
	for (size_t i = 0; i < watch->known.count; i++)
		forget_job(&watch->known.jobs[i]);
	free(watch->known.race);
	free(watch->known.paused);
	free(watch->known.probation);
	free(watch->known.jobs);
	free(watch);
}

/* The known jobs. */

/* The job of that id, or where it belongs. */
static size_t watch_find_place(const struct watch *watch, uint64_t id)
{
	size_t low = 0, high = watch->known.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (watch->known.jobs[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Borrowed until the next call; NULL when memory runs out. */
static struct watched *watched(struct watch *watch, uint64_t id, bool *fresh)
{
	size_t place = watch_find_place(watch, id);
	struct watched *jobs = watch->known.jobs;

	*fresh = place == watch->known.count || jobs[place].id != id;
	if (!*fresh)
		return &jobs[place];
	if (!LIST_ADD(watch->known.jobs, watch->known.count, NULL))
		return NULL;
	jobs = watch->known.jobs;
	memmove(&jobs[place + 1], &jobs[place],
		(watch->known.count - 1 - place) * sizeof(*jobs));
	jobs[place] = (struct watched){ .id = id };
	watch->known.states[JOB_NONE]++;
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

/* " (12s on n1,n2)"; "" for a job that has not started. */
static void time_and_place(const struct watch *watch,
			   const struct job_info *job, char *to, size_t size)
{
	int64_t elapsed = job_elapsed_ms(watch, job);
	struct human time = { "" };
	char nodes[200];

	job_nodes(&job->allocation, nodes, sizeof(nodes));
	if (elapsed >= 0)
		time = human_time(elapsed);
	to[0] = 0;
	if (job->allocation.count)
		snprintf(to, size, " (%s%son %s)", time.text,
			 elapsed >= 0 ? " " : "", nodes);
	else if (elapsed >= 0)
		snprintf(to, size, " (%s)", time.text);
}

/* "job 3 [nodes=2]: failed, exit: rank 1 exited 1 (12s on n1,n2)" */
static void announce(struct watch *watch, const struct job_info *job,
		     const struct watched *known, uint32_t old_attempt)
{
	bool colours = !watch->screen && cli_err_colour(watch->cli);
	enum colour colour = colour_of_job(known->state);
	char cell[300], detail[400], place[300], again[40] = "";
	char line[2 * LINE_MAX_BYTES];

	job_cell_words(job, cell, sizeof(cell));
	job_detail(job, detail, sizeof(detail));
	time_and_place(watch, job, place, sizeof(place));
	if (known->attempt > 1 && known->attempt != old_attempt)
		snprintf(again, sizeof(again), ", attempt %u", known->attempt);
	snprintf(line, sizeof(line), "job %llu [%s]: %s%s%s%s%s%s%s",
		 (unsigned long long)known->id, cell,
		 colour_begin(colour, colours), job_state_name(known->state),
		 colour_end(colour, colours), again, detail[0] ? ", " : "",
		 detail, place);
	watch_put_line(watch, line);
}

/* Is the change printed as a line? A screen shows the other changes. */
static bool worth_a_line(const struct watch *watch, const struct watched *job,
			 uint32_t old_attempt, bool fresh)
{
	if (job_state_final(job->state))
		return !watch->screen || job->state != JOB_COMPLETED;
	if (watch->screen)
		return job->attempt > 1 && !fresh &&
		       job->attempt != old_attempt;
	return !(fresh && job->state == JOB_QUEUED);
}

static void take_loss(struct watched *job, const struct progress_info *progress)
{
	const struct progress_info *before =
		job->job ? job->job->progress : NULL;

	if (!progress || isnan(progress->loss) ||
	    (before && before->step == progress->step))
		return;
	if (job->losses_count == WATCHED_LOSSES)
		memmove(job->losses, job->losses + 1,
			(WATCHED_LOSSES - 1) * sizeof(*job->losses));
	job->losses_count -= job->losses_count == WATCHED_LOSSES;
	job->losses[job->losses_count++] = (float)progress->loss;
}

static bool idle(enum job_state state)
{
	return state == JOB_QUEUED || job_state_final(state);
}

static int keep_job(struct watch *watch, struct watched *watched,
		    const struct job_info *row, struct error *err)
{
	bool rests = idle(watched->state);

	if (rests && (!watch->screen || watch->idle >= IDLE_MAX))
		return 0;
	watched->job = calloc(1, sizeof(*watched->job));
	if (!watched->job)
		return error_nomem(err, "watch");
	watch->idle += rests;
	return codec_copy(&job_info_schema, row, watched->job, err);
}

/* Tell the first failure. */
static void tell_failure(struct watch *watch, const struct job_info *job)
{
	char detail[400], text[600];

	if (watch->told)
		return;
	watch->told = true;
	snprintf(text, sizeof(text), "job %llu [%.100s]: failed, %s",
		 (unsigned long long)job->job, job->cell ? job->cell : "",
		 job_detail(job, detail, sizeof(detail)));
	notify_send(watch->cli, watch->notify, NOTICE_FAILURE, watch->known.id,
		    NULL, text);
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
	take_loss(job, row->progress);
	watch->idle -= job->job && idle(job->state);
	forget_job(job);
	watch->known.states[job->state]--;
	watch->known.states[state]++;
	job->state = state;
	job->attempt = row->attempt;
	if (fresh && !watch->snapshot && job_state_final(state))
		watch->old++;
	else if ((changed || job->attempt != old_attempt) &&
		 worth_a_line(watch, job, old_attempt, fresh))
		announce(watch, row, job, old_attempt);
	if (changed && state == JOB_FAILED && !(fresh && !watch->snapshot))
		tell_failure(watch, row);
	/* announce() does not move the array: job is still valid. */
	return keep_job(watch, job, row, err);
}

/* Queries. */

static void begin_round(struct watch *watch, bool anew)
{
	watch->since = anew ? 0 : watch->next_since;
	watch->next_since = 0;
	watch->after = 0;
}

/* Set where the next page begins: in the first round behind the last job, later
 * at the last change.
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
				 "jobs: the controller's pages do not advance");
	return 0;
}

/* What is new is told, as a line where there is no screen. */
static int take_words(struct watch *watch, char **known, const char *what,
		      const char *words, struct error *err)
{
	if (words && !watch->screen && (!*known || strcmp(*known, words) != 0))
		watch_say(watch, "%s: %s", what, words);
	return string_set(known, words, err);
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
	/* Changes between two pages come again in the next round. */
	if (!watch->next_since || watch->since)
		watch->next_since = reply->since;
	if (reply->more)
		return turn_page(watch, reply->since, last, err);
	if (!watch->snapshot && watch->old)
		watch_say(watch, "%zu of %zu jobs had ended before", watch->old,
			  watch->known.count);
	watch->snapshot = true;
	*final = reply->final;
	if (take_words(watch, &watch->known.race, "race", reply->race, err) <
		    0 ||
	    take_words(watch, &watch->known.probation, "on probation",
		       reply->probation, err) < 0 ||
	    string_set(&watch->known.paused, reply->paused, err) < 0)
		return -1;
	*final |= reply->paused && watch_rests(watch);
	begin_round(watch, false);
	return 0;
}

static int poll_once(struct watch *watch, bool *final, struct error *err)
{
	owned(answer_clear) struct answer answer = { 0 };
	struct message_query query = {
		.what = QUERY_JOBS,
		.id = watch->known.id,
		.after = watch->after,
		.since = watch->since,
		.wait_ms = !watch->since   ? 0
			   : watch->screen ? SCREEN_WAIT_MS
					   : WAIT_MS,
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

/* Wait a moment before the next query. */
static int pause_briefly(struct watch *watch, struct error *err)
{
	if (loop_timer(client_loop(watch->client), &watch->pause,
		       watch->screen ? SCREEN_PACE_MS : PACE_MS, pause_ends,
		       watch, err) < 0)
		return -1;
	watch->pausing = true;
	while (watch->pausing)
		if (client_turn(watch->client, err) < 0)
			return -1;
	return 0;
}

/* Is it time to query all jobs? Power, temperature and steps change without a
 * change of the job.
 */
static bool is_stale(struct watch *watch)
{
	int64_t now_ms = clock_mono_ms();

	if (!watch->screen || !watch->snapshot || watch->after ||
	    watch->known.count > WHOLE_MAX ||
	    now_ms - watch->whole_ms < SCREEN_WAIT_MS)
		return false;
	watch->whole_ms = now_ms;
	return true;
}

static int look_once(struct watch *watch, bool *final, struct error *err)
{
	if (watch->again || is_stale(watch))
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
			if (watch->left)
				leave_screen(watch);
			return -1;
		}
		if (watch->screen)
			watch_screen_draw(watch->screen);
	}
	leave_screen(watch);
	return 0;
}

void watch_stop(struct watch *watch)
{
	watch->stopped = true;
	client_interrupt(watch->client);
}

static int watch_interrupt(sd_event_source *source,
			   const struct signalfd_siginfo *info, void *arg)
{
	watch_leave(arg);
	return 0;
}

int watch_run_until_interrupt(struct watch *watch, struct error *err)
{
	owned(interrupts_clear) struct interrupts interrupts = { 0 };

	return interrupts_init(&interrupts, client_loop(watch->client),
			       watch_interrupt, watch, err) < 0
		       ? -1
		       : watch_run(watch, err);
}

void watch_choose(struct watch *watch, uint64_t job)
{
	if (watch->screen)
		watch_screen_choose(watch->screen, job);
}

bool watch_rests(const struct watch *watch)
{
	size_t resting = 0;

	for (int state = 0; state < JOB_STATES; state++)
		if (idle((enum job_state)state))
			resting += watch->known.states[state];
	return watch->snapshot && watch->known.states[JOB_QUEUED] &&
	       resting == watch->known.count;
}

bool watch_tell_pause(const struct watch *watch)
{
	const char *paused = watch->known.paused;

	if (paused)
		cli_say(watch->cli, "sweep %llu is paused: %s",
			(unsigned long long)watch->known.id, paused);
	return paused;
}

struct sweep_end watch_end(const struct watch *watch)
{
	return (struct sweep_end){
		.sweep = watch->known.id,
		.jobs = watch->known.count,
		.completed = watch->known.states[JOB_COMPLETED],
	};
}

int sweep_end_tell(struct cli *cli, const struct sweep_end *end,
		   const char *notify)
{
	char text[120];

	snprintf(text, sizeof(text), "%zu of %zu jobs completed",
		 end->completed, end->jobs);
	if (end->lost)
		text_append(text, sizeof(text), ", and no cell won %s",
			    end->lost == 1 ? "the race" : "in a race");
	cli_say(cli, "sweep %llu: %s", (unsigned long long)end->sweep, text);
	notify_send(cli, notify, NOTICE_END, end->sweep, NULL, text);
	return end->completed == end->jobs && !end->lost ? EXIT_GOOD
							 : EXIT_WORK_FAILED;
}
