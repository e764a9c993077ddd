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
#include "controller/controller.h"
#include "protocol/base/program.h"
#include "protocol/wire/wire.h"
#include "tests/bench/crowd.h"
#include "tests/bench/measure.h"

#include <getopt.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZES_MAX 8
#define SWEEP_S 600

struct options {
	struct crowd_place place;
	size_t sizes[SIZES_MAX];
	size_t sizes_count;
	uint32_t jobs; /* 0: by itself */
	uint32_t log_bytes;
};

/* What is measured. */

struct figures {
	double join_s;
	double join_cpu_s; /* of the controller */
	double join_agents_cpu_s;
	double rss_kib; /* of the controller, for each agent */
	double agent_kib;
	double idle_cpu; /* of one core */
	double p50_ms, p99_ms;
	double jobs;
	double jobs_per_s;
	double cpu_us;    /* of the controller, for each job */
	double agents_us; /* of all agents, for each job */
	double calls;     /* of engines, for each job */
	double rss_end_kib;
};

/* The time between heartbeats, where there are too many for the usual one. */
static unsigned int beat_s(size_t agents)
{
	size_t ms = agents * CONTROLLER_HEARTBEAT_EACH_MS;

	return ms > WIRE_HEARTBEAT_MS ? (unsigned int)(ms / 1000) : 0;
}

static int measure_join(struct crowd *crowd, struct person *person,
			struct figures *figures, struct error *err)
{
	const struct site *site = crowd->site;
	double agents = (double)site->agents_count;
	double rss = process_rss_kib(site->controller);
	double herd = crowd_rss_kib(crowd);
	double cpu = process_cpu_s(site->controller);
	double crowd_cpu = crowd_cpu_s(crowd);
	double begun = clock_s();

	if (crowd_join(crowd, person, err) < 0)
		return -1;
	figures->join_s = clock_s() - begun;
	figures->join_cpu_s = process_cpu_s(site->controller) - cpu;
	figures->join_agents_cpu_s = crowd_cpu_s(crowd) - crowd_cpu;
	cpu = process_cpu_s(site->controller);
	begun = clock_s();
	/* One heartbeat of every agent, and more. */
	person_idle(person, is_quick() ? 1 : 6 + beat_s(site->agents_count));
	figures->idle_cpu =
		(process_cpu_s(site->controller) - cpu) / (clock_s() - begun);
	figures->rss_kib = (process_rss_kib(site->controller) - rss) / agents;
	figures->agent_kib = (crowd_rss_kib(crowd) - herd) / agents;
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
	size_t count = is_quick() ? 10 : 200;
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
	figures->p50_ms = measure_quantile(ms, count, 0.5);
	figures->p99_ms = measure_quantile(ms, count, 0.99);
	return 0;
}

static uint32_t jobs_for(const struct options *options, size_t agents)
{
	if (options->jobs)
		return options->jobs;
	if (is_quick())
		return 1000;
	return agents < 1000 ? 10000 : 20000;
}

static int measure_sweep(const struct options *options, struct crowd *crowd,
			 struct person *person, struct figures *figures,
			 struct error *err)
{
	uint32_t jobs = jobs_for(options, crowd->site->agents_count);
	pid_t controller = crowd->site->controller;
	double cpu = process_cpu_s(controller);
	double crowd_cpu = crowd_cpu_s(crowd);
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
	figures->agents_us =
		(crowd_cpu_s(crowd) - crowd_cpu) * 1e6 / figures->jobs;
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
		{ "join_agents_cpu_s", figures->join_agents_cpu_s },
		{ "controller_kib_per_agent", figures->rss_kib },
		{ "agent_object_kib", figures->agent_kib },
		{ "idle_controller_cores", figures->idle_cpu },
		{ "submit_to_start_p50_ms", figures->p50_ms },
		{ "submit_to_start_p99_ms", figures->p99_ms },
		{ "jobs", figures->jobs },
		{ "jobs_per_s", figures->jobs_per_s },
		{ "controller_us_per_job", figures->cpu_us },
		{ "agents_us_per_job", figures->agents_us },
		{ "engine_calls_per_job", figures->calls },
		{ "controller_rss_end_kib", figures->rss_end_kib },
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		cJSON_AddNumberToObject(line, values[i].name, values[i].value);
	result_put(line);
	printf("%6zu %5u %8.2f %9.1f %9.1f %7.2f%% %8.2f %8.2f %8.0f %9.0f "
	       "%9.0f %9.0f %6.1f\n",
	       agents, log_bytes, figures->join_s, figures->rss_kib,
	       figures->agent_kib, figures->idle_cpu * 100, figures->p50_ms,
	       figures->p99_ms, figures->jobs_per_s, figures->cpu_us,
	       figures->cpu_us > 0 ? 1e6 / figures->cpu_us : 0,
	       figures->agents_us, figures->calls);
	fflush(stdout);
}

static int measure(const struct options *options, size_t agents,
		   struct error *err)
{
	struct crowd crowd = { .site = NULL };
	struct person *person = NULL;
	struct figures figures = { 0 };
	int rc = crowd_open(&crowd, &options->place, agents, options->log_bytes,
			    err);

	if (rc == 0 && !(person = person_new(crowd.site, err)))
		rc = -1;
	if (rc == 0)
		rc = measure_join(&crowd, person, &figures, err);
	if (rc == 0)
		rc = measure_latency(&crowd, person, &figures, err);
	if (rc == 0)
		rc = measure_sweep(options, &crowd, person, &figures, err);
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
			options->place.build = optarg;
		else if (option == 'f')
			options->place.folder = optarg;
		else if (option == 'm')
			options->place.fast = optarg;
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
	struct options options = { .place = { .build = "build",
					      .folder = "/tmp",
					      .fast = "/dev/shm" } };
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
		options.sizes[1] = 1000;
		options.sizes[2] = 10000;
		options.sizes_count = is_quick() ? 1 : 3;
		all = !is_quick();
	}
	printf("%6s %5s %8s %9s %9s %8s %8s %8s %8s %9s %9s %9s %6s\n",
	       "agents", "log B", "join s", "KiB each", "KiB there", "idle",
	       "p50 ms", "p99 ms", "jobs/s", "us/job", "alone/s", "agents us",
	       "calls");
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
