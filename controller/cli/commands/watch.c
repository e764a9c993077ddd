/* watch.c - watch: a sweep on the whole terminal, until it ends.
 */
#include "controller/cli/command.h"
#include "controller/cli/render.h"
#include "controller/cli/run/session.h"
#include "controller/cli/screen.h"
#include "controller/cli/watch.h"
#include "protocol/base/file.h"
#include "protocol/base/loop.h"
#include "protocol/base/program.h"
#include "protocol/base/utf8.h"
#include "protocol/message/query.h"
#include "protocol/message/reply_jobs.h"
#include "protocol/message/reply_logs.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#define ASK_MS 1000
#define LOOK_MS 200 /* at the size of the screen */
#define LOG_BYTES 65536
#define HEAD_ROWS 2
#define SPARKS 12

typedef unsigned long long ull;

/* The last losses of a job, for its line. */
struct spark {
	uint64_t job;
	double values[SPARKS];
	size_t count;
};

struct watch_view {
	struct cli *cli;
	struct client *client;
	struct screen *screen;
	uint64_t sweep;
	uint64_t chosen; /* job; 0: none yet */
	sd_event_source *keys, *timer;
	int64_t ask_at_ms;
	bool asking, log_shown, ended, left;
	bool cancels;            /* asks whether to cancel the chosen job */
	struct reply_jobs *jobs; /* owned; NULL: not heard yet */
	struct buffer log;       /* the end of the chosen job's output */
	struct spark *sparks;
	size_t sparks_count;
	char words[240]; /* at the bottom */
	struct error err;
};

static void draw(struct watch_view *view);

/* What is known. */

static const struct job_info *job_at(const struct watch_view *view, size_t i)
{
	return view->jobs && i < view->jobs->jobs_count ? &view->jobs->jobs[i]
							: NULL;
}

static size_t chosen_place(const struct watch_view *view)
{
	const struct job_info *job;
	size_t i = 0;

	while ((job = job_at(view, i)) && job->job != view->chosen)
		i++;
	return job ? i : 0;
}

static void choose(struct watch_view *view, size_t place)
{
	const struct job_info *job = job_at(view, place);

	if (!job || job->job == view->chosen)
		return;
	view->chosen = job->job;
	buffer_consume(&view->log, view->log.size);
	view->ask_at_ms = 0;
}

/* At first the first job that runs. */
static void choose_first(struct watch_view *view)
{
	const struct job_info *job;

	for (size_t i = 0; (job = job_at(view, i)); i++)
		if (!strcmp(job->state, "running")) {
			choose(view, i);
			return;
		}
	choose(view, 0);
}

static struct spark *spark_of(struct watch_view *view, uint64_t job)
{
	struct spark *sparks = view->sparks;

	for (size_t i = 0; i < view->sparks_count; i++)
		if (sparks[i].job == job)
			return &sparks[i];
	sparks = realloc(sparks, (view->sparks_count + 1) * sizeof(*sparks));
	if (!sparks)
		return NULL;
	view->sparks = sparks;
	sparks[view->sparks_count] = (struct spark){ .job = job };
	return &sparks[view->sparks_count++];
}

static void take_sparks(struct watch_view *view)
{
	const struct job_info *job;

	for (size_t i = 0; (job = job_at(view, i)); i++) {
		struct spark *spark;

		if (!job->progress || isnan(job->progress->loss) ||
		    !(spark = spark_of(view, job->job)))
			continue;
		if (spark->count == SPARKS)
			memmove(spark->values, spark->values + 1,
				(SPARKS - 1) * sizeof(double));
		spark->count -= spark->count == SPARKS;
		spark->values[spark->count++] = job->progress->loss;
	}
}

/* Drawing. */

/* Low to high, in eighths of a line. */
static void spark_text(struct watch_view *view, uint64_t job,
		       char to[4 * SPARKS + 1])
{
	const struct spark *spark = NULL;
	double low = (double)INFINITY, high = -(double)INFINITY;
	size_t used = 0;

	for (size_t i = 0; i < view->sparks_count; i++)
		if (view->sparks[i].job == job)
			spark = &view->sparks[i];
	for (size_t i = 0; spark && i < spark->count; i++) {
		low = fmin(low, spark->values[i]);
		high = fmax(high, spark->values[i]);
	}
	for (size_t i = 0; spark && i < spark->count; i++) {
		double part = high > low
				      ? (spark->values[i] - low) / (high - low)
				      : 0;

		used += utf8_encode(0x2581 + (uint32_t)(part * 7), to + used);
	}
	to[used] = 0;
}

static void job_line(struct watch_view *view, int row,
		     const struct job_info *job)
{
	enum job_state state = job_state_from(job->state);
	const struct progress_info *progress = job->progress;
	double part = progress && progress->steps
			      ? (double)progress->step / (double)progress->steps
			      : -1;
	int64_t end =
		job->ended_ms ? job->ended_ms : client_clock_ms(view->client);
	char meter[BAR_SIZE], time[HUMAN_SIZE] = "", nodes[100];
	char detail[300], sparks[4 * SPARKS + 1], line[900];

	bar_text(part, meter);
	job_nodes(&job->allocation, nodes, sizeof(nodes));
	job_detail(job, detail, sizeof(detail));
	spark_text(view, job->job, sparks);
	if (job->started_ms)
		human_time(end - job->started_ms, time);
	/* What matters most stands first: narrow screens cut the rest. */
	snprintf(line, sizeof(line), "%5llu %-10s %s %6s %s %s  %s  [%s]",
		 (ull)job->job, job->state, meter, time, sparks, detail, nodes,
		 job->cell ? job->cell : "");
	screen_line(view->screen, row, colour_of_job(state),
		    job->job == view->chosen, line);
}

/* How long it takes yet, by how long those took that completed; -1: none did.
 */
static int64_t time_left(const struct watch_view *view)
{
	size_t completed = 0, waiting = 0, active = 0;
	const struct job_info *job;
	int64_t took_ms = 0;

	for (size_t i = 0; (job = job_at(view, i)); i++) {
		enum job_state state = job_state_from(job->state);

		if (state == JOB_COMPLETED && job->started_ms) {
			completed++;
			took_ms += job->ended_ms - job->started_ms;
		}
		waiting += state == JOB_QUEUED;
		active += !job_state_final(state) && state != JOB_QUEUED;
	}
	if (!completed || !(waiting + active))
		return -1;
	took_ms /= (int64_t)completed;
	return took_ms * (int64_t)(waiting / (active ? active : 1)) +
	       took_ms / 2;
}

static void head_lines(struct watch_view *view)
{
	size_t states[JOB_STATES] = { 0 }, ended;
	char line[300], left[HUMAN_SIZE], meter[BAR_SIZE];
	int64_t left_ms = time_left(view);
	const struct job_info *job;
	size_t count = 0;

	for (; (job = job_at(view, count)); count++)
		states[job_state_from(job->state)]++;
	ended = states[JOB_COMPLETED] + states[JOB_FAILED] +
		states[JOB_CANCELLED];
	bar_text(count ? (double)ended / (double)count : -1, meter);
	snprintf(line, sizeof(line),
		 "sweep %llu %s %zu of %zu jobs ended, %zu failed, %zu active"
		 "%s%s%s",
		 (ull)view->sweep, meter, ended, count, states[JOB_FAILED],
		 count - ended - states[JOB_QUEUED],
		 left_ms >= 0 ? ", about " : "",
		 left_ms >= 0 ? human_time(left_ms, left) : "",
		 left_ms >= 0 ? " left" : "");
	screen_line(view->screen, 0, PLAIN, false, line);
	screen_line(view->screen, 1, PLAIN, false,
		    view->jobs && view->jobs->more ? "the first 1,000 jobs:"
						   : "");
}

/* The last lines of the log that fit from `row` on. */
static void log_lines(struct watch_view *view, int row, int rows)
{
	const char *text = view->log.data;
	size_t at = view->log.size, lines = 0;

	if (at && text[at - 1] == '\n')
		at--;
	while (at && (text[at - 1] != '\n' || ++lines < (size_t)rows))
		at--;
	for (int i = 0; i < rows; i++) {
		size_t size = strcspn(text + at, "\n");
		char line[600];

		snprintf(line, sizeof(line), "%.*s", (int)size, text + at);
		line[strcspn(line, "\r")] = 0;
		screen_line(view->screen, row + i, PLAIN, false, line);
		at += size + (text[at + size] == '\n');
	}
}

static void bottom_line(struct watch_view *view, int row)
{
	char line[200];

	if (view->cancels)
		snprintf(line, sizeof(line), "cancel job %llu? y: yes",
			 (ull)view->chosen);
	else
		snprintf(line, sizeof(line),
			 "%.100s%sarrows  l log  c cancel  "
			 "q quit (the sweep runs on)",
			 view->words, *view->words ? "  " : "");
	screen_line(view->screen, row, view->cancels ? YELLOW : CYAN, false,
		    line);
}

static void draw(struct watch_view *view)
{
	int rows = screen_rows(view->screen);
	int log = view->log_shown ? rows / 2 : 0;
	int room = rows - HEAD_ROWS - log - 1;
	size_t chosen = chosen_place(view), first;
	int row = HEAD_ROWS;

	if (room < 1)
		room = 1;
	first = chosen >= (size_t)room ? chosen - (size_t)room + 1 : 0;
	head_lines(view);
	for (int i = 0; i < room; i++) {
		const struct job_info *job = job_at(view, first + (size_t)i);

		if (job)
			job_line(view, row + i, job);
		else
			screen_line(view->screen, row + i, PLAIN, false, "");
	}
	if (log)
		log_lines(view, rows - 1 - log, log);
	bottom_line(view, rows - 1);
	screen_show(view->screen, rows);
}

/* Asking. */

static void stop(struct watch_view *view, const struct error *err)
{
	if (err)
		view->err = *err;
	view->left = true;
	client_interrupt(view->client);
}

static void forget_jobs(struct watch_view *view)
{
	if (view->jobs)
		codec_clear(&reply_jobs_schema, view->jobs);
	free(take(view->jobs));
}

static void on_jobs(void *arg, struct answer *answer, const struct error *err)
{
	struct watch_view *view = arg;

	view->asking = false;
	if (err) {
		stop(view, err);
		return;
	}
	forget_jobs(view);
	view->jobs = take(answer->reply);
	if (!view->chosen)
		choose_first(view);
	take_sparks(view);
	draw(view);
	view->ended = view->jobs->final;
	if (view->ended)
		stop(view, NULL);
}

static void on_log(void *arg, struct answer *answer, const struct error *err)
{
	struct watch_view *view = arg;
	const char *bytes = answer ? answer->payload : NULL;
	size_t size = answer ? answer->size : 0;

	if (err || !size)
		return;
	if (size > LOG_BYTES) {
		bytes += size - LOG_BYTES;
		size = LOG_BYTES;
	}
	buffer_consume(&view->log, view->log.size);
	buffer_append(&view->log, bytes, size, NULL);
	draw(view);
}

static void on_cancelled(void *arg, struct answer *answer,
			 const struct error *err)
{
	struct watch_view *view = arg;

	if (err)
		snprintf(view->words, sizeof(view->words), "%s", err->text);
	view->ask_at_ms = 0;
	draw(view);
}

static void ask(struct watch_view *view)
{
	struct message_query query = { .what = QUERY_JOBS, .id = view->sweep };
	struct message_log_read read = {
		.job = view->chosen,
		.stream = (char *)"rank-0",
		.tail_lines = (uint64_t)screen_rows(view->screen),
	};
	uint64_t number;

	view->ask_at_ms = clock_mono_ms() + ASK_MS;
	view->asking = client_send(view->client, MESSAGE_QUERY, &query, NULL, 0,
				   0, on_jobs, view, &number, &view->err) == 0;
	if (view->asking && view->log_shown && view->chosen)
		client_send(view->client, MESSAGE_LOG_READ, &read, NULL, 0, 0,
			    on_log, view, &number, NULL);
	if (!view->asking)
		stop(view, NULL);
}

static void cancel_chosen(struct watch_view *view)
{
	struct message_cancel cancel = { .kind = (char *)"job",
					 .id = view->chosen };
	uint64_t number;

	client_send(view->client, MESSAGE_CANCEL, &cancel, NULL, 0, 0,
		    on_cancelled, view, &number, NULL);
}

/* Keys and time. */

static void on_key(struct watch_view *view, int key)
{
	size_t place = chosen_place(view);
	bool cancels = view->cancels;

	view->cancels = false;
	if (cancels) {
		if (key == 'y')
			cancel_chosen(view);
	} else if (key == SCREEN_UP && place) {
		choose(view, place - 1);
	} else if (key == SCREEN_DOWN) {
		choose(view, place + 1);
	} else if (key == 'l') {
		view->log_shown = !view->log_shown;
		view->ask_at_ms = 0;
	} else if (key == 'c' && view->chosen) {
		view->cancels = true;
	} else if (key == 'q') {
		stop(view, NULL);
	}
}

static int keys_run(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct watch_view *view = arg;
	int key;

	if (events & (EPOLLHUP | EPOLLERR))
		stop(view, NULL);
	while ((key = screen_key(view->screen)) != SCREEN_NONE)
		on_key(view, key);
	draw(view);
	return 0;
}

static int timer_run(sd_event_source *source, uint64_t usec, void *arg)
{
	struct watch_view *view = arg;

	if (screen_resize(view->screen))
		draw(view);
	if (!view->asking && clock_mono_ms() >= view->ask_at_ms)
		ask(view);
	loop_timer(client_loop(view->client), &view->timer, LOOK_MS, timer_run,
		   view, NULL);
	return 0;
}

static void on_notice(void *arg, const char *text)
{
	struct watch_view *view = arg;

	snprintf(view->words, sizeof(view->words), "%s", text);
}

static void view_clear(struct watch_view *view)
{
	loop_source_free(&view->keys);
	loop_source_free(&view->timer);
	screen_free(take(view->screen));
	forget_jobs(view);
	buffer_clear(&view->log);
	free(view->sparks);
}
OWNED_VALUE(struct watch_view, view_clear)

static int show(struct watch_view *view, struct error *err)
{
	sd_event *loop = client_loop(view->client);

	if (sd_event_add_io(loop, &view->keys, fileno(stdin), EPOLLIN, keys_run,
			    view) < 0 ||
	    loop_timer(loop, &view->timer, 0, timer_run, view, err) < 0)
		return error_set(err, EIO, "event loop: no keys");
	client_set_patient(view->client, on_notice, view);
	while (!view->left)
		if (client_turn(view->client, err) < 0 && err->code != EINTR)
			return -1;
	if (view->err.code)
		return error_set(err, view->err.code, "%s", view->err.text);
	return 0;
}

/* With what is said of a sweep that ended. */
static int say_end(struct watch_view *view)
{
	const struct job_info *job;
	size_t completed = 0, count = 0;

	for (; (job = job_at(view, count)); count++)
		completed += !strcmp(job->state, "completed");
	if (!view->ended) {
		cli_say(view->cli, "sweep %llu runs on", (ull)view->sweep);
		return EXIT_GOOD;
	}
	cli_say(view->cli, "sweep %llu: %zu of %zu jobs completed",
		(ull)view->sweep, completed, count);
	return completed == count ? EXIT_GOOD : EXIT_WORK_FAILED;
}

static int watch_on_screen(struct watch_view *view, struct error *err)
{
	int rc = show(view, err);

	screen_free(take(view->screen));
	return rc < 0 ? -1 : say_end(view);
}

/* Where there is no terminal. */
static int watch_in_lines(struct watch_view *view, struct error *err)
{
	owned(watch_free) struct watch *watch =
		watch_new(view->cli, view->client, view->sweep, err);

	if (!watch || watch_run(watch, err) < 0)
		return -1;
	return watch_completed(watch) == watch_jobs(watch) ? EXIT_GOOD
							   : EXIT_WORK_FAILED;
}

/* `[SWEEP | job ID]`: the last sweep, that one, or that of the job. */
static int find_sweep(struct watch_view *view, struct error *err)
{
	const struct cli *cli = view->cli;
	bool job = cli->arg_count && !strcmp(cli->args[0], "job");
	struct message_query query = { .what = job ? QUERY_JOB : QUERY_SWEEP };
	owned(answer_clear) struct answer answer = { 0 };

	if (job && cli->arg_count < 2)
		return error_set(err, EINVAL,
				 "watch: the number of a job is missing");
	if (cli->arg_count &&
	    cli_id(cli->args[job], job ? "job" : "sweep", &query.id, err) < 0)
		return -1;
	if (client_query(view->client, &query, &answer, err) < 0)
		return -1;
	view->chosen = job ? query.id : 0;
	view->sweep =
		job ? ((const struct reply_job *)answer.reply)->job.sweep
		    : ((const struct reply_sweep *)answer.reply)->sweep.id;
	return 0;
}

static int run_command(struct cli *cli, struct error *err)
{
	owned(session_clear) struct session session = { 0 };
	owned(view_clear) struct watch_view view = { .cli = cli };

	buffer_init(&view.log, LOG_BYTES);
	if (session_open(&session, cli, err) < 0)
		return -1;
	view.client = session.client;
	if (find_sweep(&view, err) < 0)
		return -1;
	if (cli->out_terminal && isatty(STDIN_FILENO))
		view.screen =
			screen_new(stdin, cli->out, cli_err_colour(cli), NULL);
	return view.screen ? watch_on_screen(&view, err)
			   : watch_in_lines(&view, err);
}

/* clang-format off */
static const struct option_rule rules[] = {
	OPTION_STATE,
	{ 0 },
};

const struct command command_watch = {
	.name = "watch",
	.args = "[SWEEP | job ID]",
	.max_args = 2,
	.connects = true,
	.rules = rules,
	.summary = "show a sweep on the whole terminal until it ends",
	.help =
		"The last sweep, or the one named, or that of the job. Arrows "
		"choose a job, l\nshows the end of its output, c cancels it, q "
		"leaves; the sweep runs on. Where\nthere is no terminal, a line "
		"for each change.",
	.example = "regatta watch 3",
	.fn = run_command,
};
/* clang-format on */
