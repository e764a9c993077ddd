/* cluster_bench.c - one controller and many agents that have no engine.
 *
 *	cluster_bench --build DIR --folder DIR --fast-folder DIR
 *		[--agents N]... [--jobs N] [--log-bytes N]
 *
 * Agents are the real objects, a few thousand in a process, with real
 * sessions (CURVE) and real spools (in the fast folder, which should be in
 * memory); the controller is the real program with its store in the folder. For
 * each number of agents: the time until all have joined, memory, idle CPU, from
 * submit to the engine's start call when nothing else is going on, and how many
 * one-node jobs a second go through. The agents need the same cores as the
 * controller, so the controller's own CPU time per job is told too.
 */
#include "agent/agent.h"
#include "protocol/base/file.h"
#include "protocol/base/log.h"
#include "protocol/base/program.h"
#include "tests/bench/measure.h"
#include "tests/bench/person.h"
#include "tests/bench/process.h"
#include "tests/bench/standin.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zmq.h>

#define PER_PROCESS 2000
#define PROCESSES_MAX 64
#define FILES_EACH                                                             \
	22             /* descriptors that an agent has open, with its loop's  \
			*/
#define FILES_ELSE 200 /* what else its process has open */
#define PER_LOOP 8
#define SIZES_MAX 8
#define SOCKETS_EACH 4 /* a dealer, both ends of its monitor, one to spare */
#define JOIN_S 300
#define SWEEP_S 600
#define JOBS_MAX 400000 /* job ids, over all sweeps of a site */

struct options {
	const char *build, *folder, *fast;
	size_t sizes[SIZES_MAX];
	size_t sizes_count;
	uint32_t jobs; /* 0: by itself */
	uint32_t log_bytes;
};

/* One controller with its agents. */
struct crowd {
	const struct options *options;
	struct site *site;
	struct standin *standin;
	char spools[PATH_MAX / 2];
	pid_t processes[PROCESSES_MAX];
	size_t processes_count;
	int gates[PROCESSES_MAX]; /* write ends: the endpoint opens them */
};

/* In a child process: agents from..to of the site, until it is killed.
 *
 * A loop asks each of its sockets before every sleep, so one loop for thousands
 * of agents would do little else: a handful of agents share one, and the loops
 * that have something to do are told by epoll.
 */

struct herd {
	struct node_policy *node_policy;
	void *zmq;
	int epoll;
	sd_event *loop; /* the one that is being filled */
	struct agent_config *configs;
	struct agent **agents;
	size_t count;
};

/* Until it would sleep: what it then waits for, its descriptor tells. */
static void loop_drain(sd_event *loop)
{
	while (sd_event_run(loop, 0) > 0)
		;
}

static int herd_loop(struct herd *herd, struct error *err)
{
	struct epoll_event event = { .events = EPOLLIN };

	if (sd_event_new(&herd->loop) < 0)
		return error_nomem(err, "agents");
	event.data.ptr = herd->loop;
	if (epoll_ctl(herd->epoll, EPOLL_CTL_ADD, sd_event_get_fd(herd->loop),
		      &event) < 0)
		return error_errno(err, "agents: epoll");
	return 0;
}

static int herd_add(struct herd *herd, const struct crowd *crowd, size_t i,
		    const char *endpoint, struct error *err)
{
	const struct site *site = crowd->site;
	struct engine *engine;
	char *state;

	if (herd->count % PER_LOOP == 0 && herd_loop(herd, err) < 0)
		return -1;
	if (asprintf(&state, "%s/%zu", crowd->spools, i) < 0)
		return error_nomem(err, "agents");
	herd->configs[herd->count] = (struct agent_config){
		.state = state,
		.init_program = "/regatta-init",
		.controller = endpoint,
		.server_public = site->controller_key.public,
		.cluster = "bench",
		.address = "127.0.0.1",
		.vendor = "cpu",
		.devices = 1,
		.node_policy = herd->node_policy,
		.key = site->agent_keys[i],
		.zmq = herd->zmq,
	};
	engine = standin_engine(herd->loop, crowd->standin, err);
	if (!engine)
		return -1;
	herd->agents[herd->count] =
		agent_new(herd->loop, &herd->configs[herd->count], engine, err);
	if (!herd->agents[herd->count])
		return -1;
	herd->count++;
	if (herd->count % PER_LOOP == 0)
		loop_drain(herd->loop);
	return 0;
}

static int herd_run(const struct crowd *crowd, size_t from, size_t to,
		    const char *endpoint, struct error *err)
{
	struct herd herd = { .epoll = epoll_create1(EPOLL_CLOEXEC) };
	herd.configs = calloc(to - from, sizeof(*herd.configs));
	herd.agents = calloc(to - from, sizeof(struct agent *));
	herd.zmq = zmq_ctx_new();
	herd.node_policy = node_policy_new(NULL, false, err);
	if (herd.epoll < 0 || !herd.configs || !herd.agents || !herd.zmq ||
	    !herd.node_policy)
		return error_nomem(err, "agents");
	zmq_ctx_set(herd.zmq, ZMQ_MAX_SOCKETS, (int)(to - from) * SOCKETS_EACH);
	for (size_t i = from; i < to; i++)
		if (herd_add(&herd, crowd, i, endpoint, err) < 0)
			return -1;
	loop_drain(herd.loop);
	for (;;) {
		struct epoll_event events[64];
		int count = epoll_wait(herd.epoll, events, 64, -1);

		for (int i = 0; i < count; i++)
			loop_drain(events[i].data.ptr);
	}
}

__attribute__((noreturn)) static void
herd_child(const struct crowd *crowd, size_t from, size_t to, int gate)
{
	char endpoint[256] = "";
	struct error err = { 0 };
	int rc = 0;
	sd_event *loop = program_begin(&err);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	log_set_level(LOG_ERROR);
	/* Only the limit of open files was wanted. */
	sd_event_unref(loop);
	if (read(gate, endpoint, sizeof(endpoint) - 1) > 0)
		rc = herd_run(crowd, from, to, endpoint, &err);
	if (rc < 0)
		fprintf(stderr, "bench: agents: %s\n", err.text);
	/* The agents' memory goes with the process, at once. */
	_exit(rc < 0 ? 1 : 0);
}

/* In the parent. */

/* Agents that the limit of open files lets one process have. */
static size_t per_process(void)
{
	struct rlimit limit;
	size_t fit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 ||
	    limit.rlim_max <= FILES_ELSE + FILES_EACH)
		return 1;
	fit = (limit.rlim_max - FILES_ELSE) / FILES_EACH;
	return fit < PER_PROCESS ? fit : PER_PROCESS;
}

/* Before any thread of ZeroMQ is there: the children are forks. */
static int crowd_fork(struct crowd *crowd, struct error *err)
{
	size_t count = crowd->site->agents_count;
	size_t step = per_process();

	if (count > step * PROCESSES_MAX)
		return error_set(err, EMFILE,
				 "the limit of open files allows %zu agents",
				 step * PROCESSES_MAX);
	for (size_t from = 0; from < count; from += step) {
		size_t to = from + step < count ? from + step : count;
		int gate[2];
		pid_t pid;

		if (pipe(gate) < 0)
			return error_errno(err, "pipe");
		pid = fork();
		if (pid < 0)
			return error_errno(err, "fork");
		if (!pid) {
			close(gate[1]);
			herd_child(crowd, from, to, gate[0]);
		}
		close(gate[0]);
		crowd->gates[crowd->processes_count] = gate[1];
		crowd->processes[crowd->processes_count++] = pid;
	}
	return 0;
}

static int crowd_open(struct crowd *crowd, size_t agents, struct error *err)
{
	const struct options *options = crowd->options;
	char folder[PATH_MAX / 2];

	snprintf(folder, sizeof(folder), "%s/cluster-%zu-%u", options->folder,
		 agents, options->log_bytes);
	snprintf(crowd->spools, sizeof(crowd->spools), "%s/cluster-%zu-%u",
		 options->fast, agents, options->log_bytes);
	crowd->standin = standin_new(JOBS_MAX);
	if (!crowd->standin)
		return error_nomem(err, "stand-in");
	crowd->standin->log_bytes = options->log_bytes;
	crowd->site = site_new(folder, options->build, agents, err);
	if (!crowd->site || crowd_fork(crowd, err) < 0)
		return -1;
	return site_start_controller(crowd->site, err);
}

static void crowd_close(struct crowd *crowd)
{
	for (size_t i = 0; i < crowd->processes_count; i++) {
		close(crowd->gates[i]);
		kill(crowd->processes[i], SIGKILL);
		waitpid(crowd->processes[i], NULL, 0);
	}
	site_free(crowd->site);
	standin_free(crowd->standin);
	file_remove_tree(AT_FDCWD, crowd->spools, NULL);
}

static double herd_rss_kib(const struct crowd *crowd)
{
	double sum = 0;

	for (size_t i = 0; i < crowd->processes_count; i++)
		sum += process_rss_kib(crowd->processes[i]);
	return sum;
}

/* What is measured. */

struct figures {
	double join_s;
	double join_cpu_s; /* of the controller */
	double rss_kib;    /* of the controller, for each agent */
	double agent_kib;
	double idle_cpu; /* of one core */
	double p50_ms, p99_ms;
	double jobs;
	double jobs_per_s;
	double cpu_us; /* of the controller, for each job */
	double calls;  /* of engines, for each job */
	double rss_end_kib;
};

static int measure_join(struct crowd *crowd, struct person *person,
			struct figures *figures, struct error *err)
{
	const struct site *site = crowd->site;
	double agents = (double)site->agents_count;
	double rss = process_rss_kib(site->controller);
	double herd = herd_rss_kib(crowd);
	double cpu = process_cpu_s(site->controller);
	double begun = clock_s();

	for (size_t i = 0; i < crowd->processes_count; i++)
		if (write(crowd->gates[i], site->endpoint,
			  strlen(site->endpoint)) < 0)
			return error_errno(err, "agents");
	if (person_wait_nodes(person, site->agents_count, JOIN_S, err) < 0)
		return -1;
	figures->join_s = clock_s() - begun;
	figures->join_cpu_s = process_cpu_s(site->controller) - cpu;
	cpu = process_cpu_s(site->controller);
	begun = clock_s();
	/* One heartbeat of every agent, and more. */
	sleep(is_quick() ? 2 : 6);
	figures->idle_cpu =
		(process_cpu_s(site->controller) - cpu) / (clock_s() - begun);
	figures->rss_kib = (process_rss_kib(site->controller) - rss) / agents;
	figures->agent_kib = (herd_rss_kib(crowd) - herd) / agents;
	return 0;
}

static void sweep_text(char *text, size_t size, uint32_t jobs)
{
	uint32_t repeat = jobs < 1000 ? jobs : 1000;
	int at = snprintf(text, size,
			  "sweep: bench\nimage: bench/none:1\n"
			  "network: none\n"
			  "command: [/tool, exit, \"0\", \"${i}\"]\n"
			  "repeat: %u\nmatrix:\n  i: [0",
			  repeat);

	for (uint32_t i = 1; i < jobs / repeat; i++)
		at += snprintf(text + at, size - (size_t)at, ", %u", i);
	snprintf(text + at, size - (size_t)at, "]\n");
}

static int measure_latency(struct crowd *crowd, struct person *person,
			   struct figures *figures, struct error *err)
{
	size_t count = is_quick() ? 50 : 200;
	double ms[200];
	char text[400];

	sweep_text(text, sizeof(text), 1);
	for (size_t i = 0; i < count; i++) {
		struct submitted submitted;

		if (person_submit(person, text, &submitted, err) < 0 ||
		    person_wait(person, &submitted, 30, err) < 0)
			return -1;
		/* Job ids count from 1, and there is one a sweep so far. */
		ms[i] = (double)(crowd->standin->started_ns[i + 1] -
				 submitted.begun_ns) /
			1e6;
	}
	figures->p50_ms = quantile(ms, count, 0.5);
	figures->p99_ms = quantile(ms, count, 0.99);
	return 0;
}

static uint32_t jobs_for(const struct options *options, size_t agents)
{
	if (options->jobs)
		return options->jobs;
	if (is_quick())
		return 3000;
	return agents < 1000 ? 10000 : 20000;
}

static int measure_sweep(struct crowd *crowd, struct person *person,
			 struct figures *figures, struct error *err)
{
	uint32_t jobs = jobs_for(crowd->options, crowd->site->agents_count);
	pid_t controller = crowd->site->controller;
	double cpu = process_cpu_s(controller);
	uint64_t calls = crowd->standin->calls;
	struct submitted submitted;
	char text[4000];

	sweep_text(text, sizeof(text), jobs);
	if (person_submit(person, text, &submitted, err) < 0 ||
	    person_wait(person, &submitted, SWEEP_S, err) < 0)
		return -1;
	figures->jobs = (double)submitted.jobs;
	figures->jobs_per_s =
		figures->jobs /
		((double)(crowd->standin->removed_ns - submitted.begun_ns) /
		 1e9);
	figures->cpu_us =
		(process_cpu_s(controller) - cpu) * 1e6 / figures->jobs;
	figures->calls =
		(double)(crowd->standin->calls - calls) / figures->jobs;
	figures->rss_end_kib = process_rss_kib(controller);
	return 0;
}

static void report(size_t agents, uint32_t log_bytes,
		   const struct figures *figures)
{
	cJSON *line = result_new("cluster", "regatta");

	/* clang-format off */
	const struct { const char *name; double value; } values[] = {
		{ "agents", (double)agents },
		{ "log_bytes", log_bytes },
		{ "join_s", figures->join_s },
		{ "join_controller_cpu_s", figures->join_cpu_s },
		{ "controller_kib_per_agent", figures->rss_kib },
		{ "agent_object_kib", figures->agent_kib },
		{ "idle_controller_cores", figures->idle_cpu },
		{ "submit_to_start_p50_ms", figures->p50_ms },
		{ "submit_to_start_p99_ms", figures->p99_ms },
		{ "jobs", figures->jobs },
		{ "jobs_per_s", figures->jobs_per_s },
		{ "controller_us_per_job", figures->cpu_us },
		{ "engine_calls_per_job", figures->calls },
		{ "controller_rss_end_kib", figures->rss_end_kib },
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		cJSON_AddNumberToObject(line, values[i].name, values[i].value);
	result_put(line);
	printf("%6zu %5u %8.2f %9.1f %9.1f %7.2f%% %8.2f %8.2f %8.0f %9.0f "
	       "%9.0f %6.1f\n",
	       agents, log_bytes, figures->join_s, figures->rss_kib,
	       figures->agent_kib, figures->idle_cpu * 100, figures->p50_ms,
	       figures->p99_ms, figures->jobs_per_s, figures->cpu_us,
	       figures->cpu_us > 0 ? 1e6 / figures->cpu_us : 0, figures->calls);
	fflush(stdout);
}

static int measure(const struct options *options, size_t agents,
		   struct error *err)
{
	struct crowd crowd = { .options = options };
	struct person *person = NULL;
	struct figures figures = { 0 };
	int rc = crowd_open(&crowd, agents, err);

	if (rc == 0 && !(person = person_new(crowd.site, err)))
		rc = -1;
	if (rc == 0)
		rc = measure_join(&crowd, person, &figures, err);
	if (rc == 0)
		rc = measure_latency(&crowd, person, &figures, err);
	if (rc == 0)
		rc = measure_sweep(&crowd, person, &figures, err);
	person_free(person);
	crowd_close(&crowd);
	if (rc == 0)
		report(agents, options->log_bytes, &figures);
	return rc < 0 ? error_prefix(err, "%zu agents", agents) : 0;
}

static void read_options(int argc, char **argv, struct options *options)
{
	/* clang-format off */
	static const struct option names[] = {
		{ "build", 1, NULL, 'b' }, { "folder", 1, NULL, 'f' },
		{ "fast-folder", 1, NULL, 'm' }, { "agents", 1, NULL, 'a' },
		{ "jobs", 1, NULL, 'j' }, { "log-bytes", 1, NULL, 'l' },
		{ NULL, 0, NULL, 0 },
	};
	/* clang-format on */
	int option;

	while ((option = getopt_long(argc, argv, "", names, NULL)) != -1) {
		if (option == 'b')
			options->build = optarg;
		else if (option == 'f')
			options->folder = optarg;
		else if (option == 'm')
			options->fast = optarg;
		else if (option == 'j')
			options->jobs = (uint32_t)strtoul(optarg, NULL, 10);
		else if (option == 'l')
			options->log_bytes =
				(uint32_t)strtoul(optarg, NULL, 10);
		else if (option == 'a' && options->sizes_count < SIZES_MAX)
			options->sizes[options->sizes_count++] =
				strtoul(optarg, NULL, 10);
		else
			exit(EXIT_WRONG_REQUEST);
	}
}

int main(int argc, char **argv)
{
	struct options options = { .build = "build",
				   .folder = "/tmp",
				   .fast = "/dev/shm" };
	struct error err = { 0 };
	bool all = false;

	read_options(argc, argv, &options);
	signal(SIGPIPE, SIG_IGN);
	if (sodium_init() < 0)
		return EXIT_WORK_FAILED;
	if (!options.sizes_count) {
		/* Other tests run beside a quick one, and a user may have 128
		 * inotify descriptors in all: one for each loop of agents.
		 */
		options.sizes[0] = 100;
		options.sizes[1] = is_quick() ? 400 : 1000;
		options.sizes[2] = 10000;
		options.sizes_count = is_quick() ? 2 : 3;
		all = !is_quick();
	}
	printf("%6s %5s %8s %9s %9s %8s %8s %8s %8s %9s %9s %6s\n", "agents",
	       "log B", "join s", "KiB each", "KiB there", "idle", "p50 ms",
	       "p99 ms", "jobs/s", "us/job", "alone/s", "calls");
	fflush(stdout);
	for (size_t i = 0; i < options.sizes_count; i++)
		if (measure(&options, options.sizes[i], &err) < 0)
			fail(&err);
	/* What each job writes must be safe on the disk before it is over. */
	options.log_bytes = 100;
	if (all && measure(&options, 1000, &err) < 0)
		fail(&err);
	return EXIT_GOOD;
}
