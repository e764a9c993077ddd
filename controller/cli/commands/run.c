/* run.c - run: runs a sweep with a controller and agents of its own.
 */
#include "controller/cli/commands/run.h"
#include "controller/cli/command.h"
#include "controller/cli/commands/fetch.h"
#include "controller/cli/commands/gate.h"
#include "controller/cli/commands/preflight.h"
#include "controller/cli/commands/results.h"
#include "controller/cli/logins.h"
#include "controller/cli/notify.h"
#include "controller/view/render.h"
#include "controller/cli/run/session.h"
#include "controller/cli/run/setup.h"
#include "controller/cli/secrets.h"
#include "controller/cli/watch.h"
#include "controller/report/races.h"
#include "protocol/base/clock.h"
#include "protocol/base/file.h"
#include "protocol/base/loop.h"
#include "protocol/base/program.h"
#include "protocol/config/own_engine.h"
#include "protocol/message/reply_jobs.h"
#include "protocol/message/reply_access.h"
#include "protocol/message/reply_nodes.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>

#define RELEASE_MS 60000 /* for containers to be removed after a failure */
#define NODE_MS 10000    /* for the report of the agent */
#define NODES_MS 60000   /* the same, if Slurm or Podman starts first */
#define SILENT_MS 3000   /* until a silent engine is looked for */
#define LATE_MS 5000     /* between checks for late jobs */
#define LATE_LOOKS 2     /* that must agree: a node may be away for a moment */

static const struct run_options *run_options_given(const struct cli *cli)
{
	return cli->given;
}

struct run {
	struct cli *cli;
	struct run_setup setup;
	sd_event *loop;
	struct daemons *daemons;
	struct client *client;
	struct watch *watch;
	uint64_t sweep;
	unsigned interrupts;
	bool interrupted;      /* at least once */
	bool failed;           /* a daemon died too often */
	bool left;             /* the agents of the allocation did */
	sd_event_source *late; /* in an allocation */
	bool look;             /* it is time for that */
	unsigned late_looks;   /* that found nothing to wait for */
	struct error why;
};

static void run_clear(struct run *run)
{
	loop_source_free(&run->late);
	watch_free(run->watch);
	client_free(run->client);
	daemons_free(run->daemons);
	run_setup_clear(&run->setup);
	sd_event_unref(run->loop);
}
OWNED_VALUE(struct run, run_clear)

/* Callbacks: they only note what happened and end the present wait. */

static void end_wait(struct run *run)
{
	if (run->watch)
		watch_stop(run->watch);
	else if (run->client)
		client_interrupt(run->client);
}

static int run_interrupt(sd_event_source *source,
			 const struct signalfd_siginfo *info, void *arg)
{
	struct run *run = arg;

	/* Slurm may send SIGTERM several times; that is no second Ctrl-C. */
	if (run->setup.config.allocation && info->ssi_signo == SIGTERM &&
	    run->interrupts)
		return 0;
	run->interrupts++;
	run->interrupted = true;
	end_wait(run);
	return 0;
}

static void run_say_line(void *arg, const char *line)
{
	struct run *run = arg;

	if (run->watch)
		watch_say(run->watch, "%s", line);
	else
		cli_say(run->cli, "%s", line);
}

static void run_note_failure(void *arg, const struct error *why)
{
	struct run *run = arg;

	run->failed = true;
	run->why = *why;
	end_wait(run);
}

static void on_left(void *arg)
{
	struct run *run = arg;

	run->left = true;
	end_wait(run);
}

/* With running daemons. */

static int connect_own(struct run *run, struct error *err)
{
	run->client = session_client(run->loop, &run->setup.folder,
				     daemons_endpoint(run->daemons), err);
	return run->client ? 0 : -1;
}

/* Report once what all jobs will lack. */
static int tell_lacks(struct run *run, struct error *err)
{
	owned(answer_clear) struct answer answer = { 0 };
	struct message_query query = { .what = QUERY_NODE,
				       .name = run->setup.folder.agent.name };
	const struct reply_node *reply;
	const cJSON *item, *unlimited;
	const char *missing;

	if (client_query(run->client, &query, &answer, err) < 0)
		return -1;
	reply = answer.reply;
	unlimited = cJSON_GetObjectItem(reply->node.facts, "engine_unlimited");
	cJSON_ArrayForEach(item, unlimited)
		cli_say(run->cli,
			"the engine cannot limit %s, because its user is not "
			"permitted to; limits of jobs are ignored",
			cJSON_GetStringValue(item));
	missing = cJSON_GetStringValue(
		cJSON_GetObjectItem(reply->node.facts, "devices_missing"));
	if (missing)
		cli_say(run->cli, "%s", missing);
	else if (strcmp(run->setup.vendor, "cpu") != 0 &&
		 !reply->node.inventory_count)
		cli_say(run->cli,
			"no device of %s was found on this machine; regatta "
			"vendors probe shows what is missing",
			run->setup.vendor);
	return 0;
}

static size_t count_up(const struct reply_nodes *reply)
{
	size_t count = 0;

	for (size_t i = 0; i < reply->nodes_count; i++)
		count += !strcmp(reply->nodes[i].state, "up");
	return count;
}

static void tell_silence(struct run *run)
{
	const char *engine = run->setup.config.engine;

	if (probe_is_silent(engine))
		cli_say(run->cli,
			"the engine %s takes connections, but does not answer; "
			"the sweep waits for it",
			engine);
}

/* Wait for the report of each agent: a sweep that is submitted earlier would
 * find no nodes. After the time limit it is submitted anyway.
 */
static int await_node(struct run *run, struct error *err)
{
	const struct allocation *allocation = run->setup.config.allocation;
	bool slow = allocation || !strcmp(run->setup.config.engine, OWN_ENGINE);
	int64_t begin = clock_mono_ms();
	int64_t end = begin + (slow ? NODES_MS : NODE_MS);
	size_t wanted = allocation ? allocation->nodes.count : 1;
	uint64_t since = 0;
	bool looked = allocation;

	if (run->setup.config.guest)
		return 0; /* a node comes with its job */

	while (clock_mono_ms() < end) {
		owned(answer_clear) struct answer answer = { 0 };
		struct message_query query = { .what = QUERY_NODES,
					       .since = since,
					       .wait_ms = since ? 1000 : 0 };
		const struct reply_nodes *reply;

		if (client_query(run->client, &query, &answer, err) < 0)
			return -1;
		reply = answer.reply;
		if (count_up(reply) >= wanted)
			return allocation ? 0 : tell_lacks(run, err);
		since = reply->since;
		if (!looked && clock_mono_ms() - begin >= SILENT_MS) {
			looked = true;
			tell_silence(run);
		}
	}
	return 0;
}

/* Print the address of the web pages. */
static int tell_pages(struct run *run, struct error *err)
{
	owned(answer_clear) struct answer answer = { 0 };
	struct message_query query = { .what = QUERY_WEB };

	if (client_query(run->client, &query, &answer, err) < 0)
		return -1;
	cli_say(run->cli, "live pages, for one browser: %s",
		((const struct reply_web *)answer.reply)->address);
	return 0;
}

/* Sweeps of a preflight that was cut short: it measures again. */
static int drop_preflight(struct run *run, const struct reply_sweeps *reply,
			  struct error *err)
{
	for (size_t i = 0; i < reply->sweeps_count; i++) {
		owned(answer_clear) struct answer answer = { 0 };
		struct message_cancel cancel = { .kind = (char *)"sweep",
						 .id = reply->sweeps[i].id };

		if (!reply->sweeps[i].final &&
		    client_call(run->client, MESSAGE_CANCEL, &cancel, &answer,
				err) < 0)
			return -1;
	}
	return 0;
}

/* The sweep that the controller of this folder has already; 0: none. Those of
 * its preflight came before it.
 */
static int known_sweep(struct run *run, uint64_t *sweep, struct error *err)
{
	owned(answer_clear) struct answer answer = { 0 };
	struct message_query query = { .what = QUERY_SWEEPS };
	const struct reply_sweeps *reply;

	if (client_query(run->client, &query, &answer, err) < 0)
		return -1;
	reply = answer.reply;
	*sweep = 0;
	for (size_t i = 0; i < reply->sweeps_count; i++)
		if (!strcmp(reply->sweeps[i].name,
			    sweep_name(run->setup.input.sweep)))
			*sweep = reply->sweeps[i].id;
	return *sweep ? 0 : drop_preflight(run, reply, err);
}

static int retry_sweep(struct run *run, struct error *err)
{
	owned(answer_clear) struct answer answer = { 0 };
	struct logins *logins = &run->setup.input.logins;
	struct message_retry retry = { .sweep = run->sweep };

	if (secrets_collect_again(run->cli, run->client, run->sweep, logins,
				  err) < 0)
		return -1;
	retry.logins = logins->items;
	retry.logins_count = logins->count;
	if (client_call(run->client, MESSAGE_RETRY, &retry, &answer, err) < 0)
		return -1;
	cli_say(run->cli, "sweep %llu continues: %s run again",
		(unsigned long long)run->sweep,
		human_jobs(((const struct reply_retry *)answer.reply)->retried)
			.text);
	return 0;
}

static int begin_sweep(struct run *run, struct error *err)
{
	owned(answer_clear) struct answer answer = { 0 };

	if (known_sweep(run, &run->sweep, err) < 0)
		return -1;
	/* The next allocation of a run repeats failed jobs only if the user
	 * asked for that.
	 */
	if (run->sweep && run_options_given(run->cli)->join &&
	    !folder_take_again(&run->setup.folder))
		return 0;
	if (run->sweep)
		return retry_sweep(run, err);
	if (secrets_collect(run->cli, run->client, run->setup.input.sweep,
			    &run->setup.input.logins, err) < 0 ||
	    preflight_run(run->cli, run->client, &run->setup.input, err) < 0)
		return -1;
	/* The label is random and unique to this folder: a good token. */
	if (input_submit(&run->setup.input, run->cli, run->client,
			 run->setup.folder.cluster, &answer, err) < 0)
		return -1;
	run->sweep = ((const struct reply_submit *)answer.reply)->sweep;
	return 0;
}

static int cancel_sweep(struct run *run, struct error *err)
{
	owned(answer_clear) struct answer answer = { 0 };
	struct message_cancel cancel = { .kind = (char *)"sweep",
					 .id = run->sweep };

	watch_say(run->watch, "cancelling: containers are stopped and "
			      "removed; a second Ctrl-C does not wait for "
			      "that");
	return client_call(run->client, MESSAGE_CANCEL, &cancel, &answer, err);
}

/* Running jobs are queued again, and the next allocation runs them. */
static int leave_allocation(struct run *run)
{
	watch_say(run->watch, "the allocation ends: running jobs are "
			      "stopped and queued again");
	daemons_leave(run->daemons);
	return 0;
}

static int run_look_late(sd_event_source *source, uint64_t usec, void *arg)
{
	struct run *run = arg;

	if (run->watch && watch_rests(run->watch)) {
		run->look = true;
		watch_stop(run->watch);
	} else {
		run->late_looks = 0;
	}
	loop_timer(run->loop, &run->late, LATE_MS, run_look_late, run, NULL);
	return 0;
}

/* Can no job of the sweep end within the allocation? That is so if no job runs,
 * and a waiting job does not start because its nodes leave too soon.
 */
static int find_late(struct run *run, bool *all, struct error *err)
{
	owned(rows_clear) struct rows jobs = { 0 };
	size_t open = 0, waiting = 0, late = 0;

	if (client_rows(run->client, QUERY_JOBS, run->sweep, "job", &jobs,
			err) < 0)
		return -1;
	for (size_t i = 0; i < jobs.count; i++) {
		const struct job_info *job = rows_at(&jobs, i);

		if (job_state_final(job_state_from(job->state)))
			continue;
		open++;
		waiting += !strcmp(job->state, "queued") && job->waits;
		late += job->late;
	}
	*all = late && waiting == open;
	return 0;
}

/* The wait was ended: by a person, or to look for late jobs. */
static int run_look_up(struct run *run, struct error *err)
{
	bool all = false;

	if (!run->look) {
		if (!run->interrupts)
			watch_say(run->watch, "the sweep continues; Ctrl-C "
					      "cancels it");
		return 0;
	}
	run->look = false;
	if (find_late(run, &all, err) < 0)
		return err->code == EINTR ? 0 : -1;
	run->late_looks = all ? run->late_looks + 1 : 0;
	if (run->late_looks != LATE_LOOKS)
		return 0;
	watch_say(run->watch, "no remaining job would end before the "
			      "allocation");
	daemons_leave(run->daemons);
	return 0;
}

/* Follow until all jobs have ended and are removed, or until the allocation
 * ends. EINTR: a second Ctrl-C.
 */
static int follow_sweep(struct run *run, struct error *err)
{
	bool slurm = run->setup.config.allocation;
	bool told = false;

	run->watch = watch_new(run->cli, run->client, run->sweep, err);
	if (!run->watch || (slurm && loop_timer(run->loop, &run->late, LATE_MS,
						run_look_late, run, err) < 0))
		return -1;
	watch_notify(run->watch, run_options_given(run->cli)->notify);
	for (;;) {
		if (run->interrupts && !told) {
			told = true;
			if ((slurm ? leave_allocation(run)
				   : cancel_sweep(run, err)) < 0)
				return -1;
		}
		if (watch_run(run->watch, err) == 0 || run->left)
			return 0;
		if (run->failed || err->code != EINTR || run->interrupts > 1)
			return -1;
		if (run_look_up(run, err) < 0)
			return -1;
	}
}

static int write_report(struct run *run, const struct results_about *about,
			const struct report_rows *rows, const char *format,
			const char *file, struct error *err)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(RESULTS_MAX);
	struct results_form form = { .format = format, .about = &about->about };
	char path[PATH_MAX];

	if (results_format(rows, &form, &text, err) < 0)
		return -1;
	return file_write(AT_FDCWD, folder_file(&run->setup.folder, file, path),
			  text.data, text.size, 0644, 0, err);
}

/* Copy the collected files now, while the controller runs. */
static int fetch_files(struct run *run, struct error *err)
{
	owned(rows_clear) struct rows jobs = { 0 };
	size_t files, refused, sum = 0;
	char name[40], path[PATH_MAX];

	if (client_rows(run->client, QUERY_JOBS, run->sweep, "job", &jobs,
			err) < 0)
		return -1;
	for (size_t i = 0; i < jobs.count; i++) {
		const struct job_info *job = rows_at(&jobs, i);
		struct files_wanted wanted = {
			.job = job->job,
			.rank = OPTION_NONE,
			.folder = path,
		};

		snprintf(name, sizeof(name), "files/%llu",
			 (unsigned long long)wanted.job);
		folder_file(&run->setup.folder, name, path);
		if (files_fetch(run->cli, run->client, &wanted, &files,
				&refused, err) < 0)
			return -1;
		sum += files;
	}
	if (sum)
		cli_say(run->cli, "files: %s/files/JOB",
			run->setup.folder.path);
	return 0;
}

/* 1: a requirement of the sweep is not met. */
static int run_report(struct run *run, struct sweep_end *end, struct error *err)
{
	owned(report_rows_clear) struct report_rows rows = { 0 };
	owned(report_rows_clear) struct report_rows curves = { 0 }; /* page */
	owned(results_about_clear) struct results_about about = { 0 };
	struct results_form form = { .format = run->cli->options->format,
				     .about = &about.about };
	const struct gate gate = {
		.notify = run_options_given(run->cli)->notify,
	};
	int passed;

	if (results_fetch(run->client, run->sweep, false, &rows, err) < 0 ||
	    races_count_empty(&rows, &end->lost, err) < 0 ||
	    results_fetch(run->client, run->sweep, true, &curves, err) < 0 ||
	    results_about_read(&about, run->client, run->sweep, true, err) <
		    0 ||
	    results_add_tails(run->client, &curves, err) < 0 ||
	    write_report(run, &about, &rows, "markdown", "report.md", err) <
		    0 ||
	    write_report(run, &about, &rows, "csv", "report.csv", err) < 0 ||
	    write_report(run, &about, &rows, "json", "report.json", err) < 0 ||
	    write_report(run, &about, &curves, "html", "report.html", err) <
		    0 ||
	    results_show(run->cli,
			 cli_format(run->cli, "html") ? &curves : &rows, &form,
			 err) < 0)
		return -1;
	fflush(run->cli->out);
	passed = gate_judge(run->cli, &gate, &about.about, &rows, err);
	cli_say(run->cli,
		"report: %s/report.html, report.md, report.csv, report.json",
		run->setup.folder.path);
	cli_say(run->cli, "logs: %s/controller/logs/JOB/ATTEMPT/rank-N.log",
		run->setup.folder.path);
	return passed < 0 || fetch_files(run, err) < 0 ? -1 : !passed;
}

/* --keep: keep the daemons running until a signal comes. */
static int keep_serving(struct run *run, struct error *err)
{
	const char *folder = run->setup.folder.path;

	cli_say(run->cli, "controller and agent run until Ctrl-C; to "
			  "use them from another terminal:");
	cli_say(run->cli, "  export REGATTA_CONTROLLER=%s",
		daemons_endpoint(run->daemons));
	cli_say(run->cli,
		"  export REGATTA_CONTROLLER_KEY=%s/keys/controller.key",
		folder);
	cli_say(run->cli, "  export REGATTA_KEY=%s/keys/operator.key", folder);
	while (!run->interrupts && !run->failed)
		if (client_turn(run->client, err) < 0 && err->code != EINTR)
			return -1;
	return run->failed ? error_set(err, run->why.code, "%s", run->why.text)
			   : 0;
}

static void tell_how_on(const struct run *run)
{
	cli_say(run->cli, "continue with: regatta %s --resume %s",
		run->setup.config.guest        ? "k8s"
		: run->setup.config.allocation ? "slurm"
					       : "run",
		run->setup.folder.path);
}

/* The outcome also ends other allocations of the run, and later ones. */
static int note_outcome(const struct run *run, int code, struct error *err)
{
	if (run_options_given(run->cli)->join &&
	    folder_set_outcome(&run->setup.folder, code, err) < 0)
		return -1;
	return code;
}

/* All jobs have ended, or the sweep is paused: print the results, and stop the
 * daemons. */
static int run_finish(struct run *run, struct error *err)
{
	struct sweep_end end = watch_end(run->watch);
	bool cancelled = run->interrupts > 0 || run->left;
	bool paused = watch_tell_pause(run->watch);
	const char *notify = run_options_given(run->cli)->notify;
	int unmet, code;

	watch_free(take(run->watch));
	unmet = run_report(run, &end, err);
	if (unmet < 0)
		return -1;
	code = sweep_end_tell(run->cli, &end, unmet ? NULL : notify);
	if (run_options_given(run->cli)->keep && !cancelled &&
	    keep_serving(run, err) < 0)
		return -1;
	daemons_stop(run->daemons);
	if (paused)
		tell_how_on(run);
	if (!cancelled || end.completed == end.jobs)
		return note_outcome(run, unmet ? EXIT_WORK_FAILED : code, err);
	cli_say(run->cli, "stopped; nothing is running any more");
	tell_how_on(run);
	return EXIT_INTERRUPTED;
}

/* End after a failure or a second Ctrl-C. The daemons clean up by themselves;
 * after a second Ctrl-C nothing waits for them.
 */
static void cut_short(struct run *run)
{
	bool hurry = run->interrupts > 1;
	struct error why;

	watch_free(take(run->watch));
	client_free(take(run->client));
	if (run->daemons && !hurry)
		cli_say(run->cli, "removing the containers");
	if (run->daemons &&
	    !daemons_release(run->daemons, hurry ? 0 : RELEASE_MS))
		cli_say(run->cli,
			"some containers are still being removed; "
			"docker ps -a --filter "
			"label=regatta.cluster=%s lists them",
			run->setup.folder.cluster);
	/* On a full disk the controller cannot record the end of a job, so jobs
	 * go on.
	 */
	if (folder_check_room(&run->setup.folder, &why) < 0)
		cli_say(run->cli, "%s", why.text);
	if (run->sweep || run->interrupted)
		tell_how_on(run);
}

static int run_sweep(struct run *run, struct error *err)
{
	if (connect_own(run, err) < 0 || await_node(run, err) < 0 ||
	    tell_pages(run, err) < 0 || begin_sweep(run, err) < 0 ||
	    follow_sweep(run, err) < 0)
		return -1;
	return run_finish(run, err);
}

/* Another allocation leads, until it ends. */
static int run_follow(struct run *run, struct error *err)
{
	const struct follower follow = {
		.setup = &run->setup,
		.daemons = run->daemons,
		.loop = run->loop,
		.interrupted = &run->interrupted,
		.left = &run->left,
	};
	int code, rc = follow_run(&follow, &code, err);

	if (rc <= 0)
		return rc < 0 ? -1 : code;
	cli_say(run->cli, "this allocation leads the run from now on");
	return daemons_lead(run->daemons, err) < 0 ? -1 : run_sweep(run, err);
}

static int run_begin(struct run *run, struct error *err)
{
	if (run->setup.outcome >= 0) {
		cli_say(run->cli, "the sweep has ended: %s",
			run->setup.folder.path);
		return run->setup.outcome;
	}
	cli_say(run->cli, "state, logs and results: %s",
		run->setup.folder.path);
	run->daemons = daemons_new(run->loop, &run->setup.config, err);
	if (!run->daemons)
		return -1;
	return run->setup.follows ? run_follow(run, err) : run_sweep(run, err);
}

int run_command(struct cli *cli, struct error *err)
{
	owned(run_clear) struct run run = { .cli = cli };
	owned(interrupts_clear) struct interrupts interrupts = { 0 };
	int rc;

	if (run_setup_open(&run.setup, cli, err) < 0)
		return -1;
	rc = sd_event_new(&run.loop);
	if (rc < 0)
		return error_set(err, -rc, "cannot create the event loop");
	/* A closed pipe must not end this process before the containers are
	 * removed.
	 */
	signal(SIGPIPE, SIG_IGN);
	if (interrupts_init(&interrupts, run.loop, run_interrupt, &run, err) <
	    0)
		return -1;
	run.setup.config.folder = &run.setup.folder;
	run.setup.config.interrupted = &run.interrupted;
	run.setup.config.say = run_say_line;
	run.setup.config.failed = run_note_failure;
	run.setup.config.left = on_left;
	run.setup.config.arg = &run;
	rc = run_begin(&run, err);
	if (rc < 0) {
		if (run.failed)
			*err = run.why;
		cut_short(&run);
	}
	return rc;
}

/* clang-format off */
static const struct option_rule rules[] = {
	{ OPTION(options, "state", 0, OPTION_TEXT, state, "DIR"),
	  .help = "new folder for the files of the run "
		  "(./regatta-run-SWEEP-DATE-TIME)" },
	{ OPTION(run_options, "resume", 0, OPTION_TEXT, resume, "DIR"),
	  .help = "continue the run of that folder" },
	{ OPTION(run_options, "engine", 0, OPTION_TEXT, engine, "HOST"),
	  .help = "container engine (DOCKER_HOST, the machine's Docker, else "
		  "the user's own Docker or Podman)" },
	{ OPTION(run_options, "engine-tls", 0, OPTION_TEXT, engine_tls, "DIR"),
	  .help = "ca.pem, cert.pem, key.pem for a tcp:// engine "
		  "(DOCKER_CERT_PATH)" },
	{ OPTION(run_options, "devices", 0, OPTION_NUMBER, devices, "N"),
	  .min = 1,
	  .max = 1024, .help = "number of devices of this machine (as many as "
		  "the sweep needs)" },
	{ OPTION(run_options, "only-devices", 0, OPTION_TEXT, only_devices,
		 "LIST"),
	  .help = "use only these devices of this machine, such as 0,2-3, or "
		  "by their UUIDs" },
	{ OPTION(run_options, "keep", 0, OPTION_FLAG, keep, NULL),
	  .help = "keep the controller and agent running until Ctrl-C" },
	{ OPTION(run_options, "join", 0, OPTION_FLAG, join, NULL),
	  .help = "with --slurm and --state: start the run of that folder, go "
		  "on with it, or join the allocation that leads it" },
	{ OPTION(run_options, "slurm", 0, OPTION_FLAG, slurm, NULL),
	  .help = "run inside a Slurm allocation, with an agent on each of "
		  "its nodes" },
	OPTION_NOTIFY(run_options),
	OPTION_REGISTRY_AUTH("registry credentials (~/.docker/config.json)"),
	OPTIONS_SWEEP,
	OPTION_IMAGES,
	OPTION_FORMAT(formats_report, "format of the result table: markdown, "
		  "csv, json or html"),
	{ 0 },
};

const struct command command_run = {
	.name = "run",
	.args = "SWEEP | --resume DIR",
	.max_args = 1,
	.rules = rules,
	.options_size = sizeof(struct run_options),
	.summary = "run a sweep on this machine, without setup",
	.help =
		"Starts a controller and an agent on the local container "
		  "engine, runs the sweep, prints the result table and stops "
		  "both. One folder holds logs, results and the state that "
		  "--resume needs to run the remaining cells. Ctrl-C cancels "
		  "the sweep, removes its containers and exits; a second "
		  "Ctrl-C does not wait.",
	.example = "regatta run first.yaml",
	.fn = run_command,
};
/* clang-format on */
