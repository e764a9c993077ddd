/* restart_bench.c - many running jobs, and a controller that is killed; one
 * gang over many nodes, and its first failure.
 *
 *	restart_bench --build DIR --folder DIR --fast-folder DIR [--agents N]
 *
 * Agents and controller are those of cluster_bench. Their stand-in engines let
 * commands run on (standin.h). Told are: from the first failure of a gang of
 * 1,024 nodes to the last node that is told to stop; then, with a job on each
 * node, from the start of a new controller after kill -9 until it knows all
 * jobs as running, and until all nodes are back.
 */
#include "protocol/base/program.h"
#include "tests/bench/crowd.h"
#include "tests/bench/measure.h"

#include <errno.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define GANG_NODES 1024
#define LIMIT_S 300
#define LOOK_US 5000
#define WAVES 10

/* A sweep for each wave, of as many jobs. */
struct each {
	uint64_t sweeps[WAVES];
	double jobs;
};

struct figures {
	size_t gang;
	double told_ms;
	double told_cpu_ms; /* of the controller, meanwhile */
	double known_s, back_s;
	double cpu_s; /* of the new controller, until all are back */
	double agents_cpu_s;
};

/* Until the counter has the value. */
static int wait_count(const _Atomic uint64_t *counter, uint64_t value,
		      const char *what, struct error *err)
{
	double until = clock_s() + LIMIT_S;

	while (*counter < value) {
		if (clock_s() > until)
			return error_set(err, ETIMEDOUT, "%llu of %llu %s",
					 (unsigned long long)*counter,
					 (unsigned long long)value, what);
		usleep(LOOK_US);
	}
	return 0;
}

static int measure_gang(struct crowd *crowd, struct person *person,
			struct figures *figures, struct error *err)
{
	struct standin *standin = crowd->standin;
	struct submitted submitted;
	char text[300];
	double cpu;

	figures->gang = crowd->site->agents_count < GANG_NODES
				? crowd->site->agents_count
				: GANG_NODES;
	snprintf(text, sizeof(text),
		 "sweep: gang\nimage: bench/none:1\nnetwork: none\n"
		 "command: [/tool]\nretries: 0\nnodes: %zu\n",
		 figures->gang);
	standin->holds = standin->may_fail = true;
	if (person_submit(person, text, &submitted, err) < 0 ||
	    wait_count(&standin->started, figures->gang, "ranks started", err) <
		    0)
		return -1;
	/* All say that they run. */
	usleep(500000);
	cpu = process_cpu_s(crowd->site->controller);
	standin->fails = true;
	if (wait_count(&standin->stopped, figures->gang - 1, "ranks stopped",
		       err) < 0)
		return -1;
	figures->told_cpu_ms =
		(process_cpu_s(crowd->site->controller) - cpu) * 1e3;
	figures->told_ms =
		(double)(standin->stopped_ns - standin->failed_ns) / 1e6;
	standin->fails = standin->may_fail = false;
	return wait_count(&standin->removed, figures->gang, "ranks removed",
			  err);
}

static double running(struct person *person, uint64_t sweep, struct error *err)
{
	cJSON *answer = person_ask(person, QUERY_SWEEP, sweep, 0, err);
	const cJSON *counts = cJSON_GetObjectItemCaseSensitive(
		cJSON_GetObjectItemCaseSensitive(answer, "sweep"), "counts");
	const cJSON *count =
		cJSON_GetObjectItemCaseSensitive(counts, "running");
	double value = cJSON_IsNumber(count) ? count->valuedouble : 0;

	if (!answer)
		value = -1;
	cJSON_Delete(answer);
	return value;
}

static int wait_running(struct person *person, uint64_t sweep, double count,
			struct error *err)
{
	double until = clock_s() + LIMIT_S;
	double now;

	while ((now = running(person, sweep, err)) < count) {
		if (now < 0)
			return -1;
		if (clock_s() > until)
			return error_set(err, ETIMEDOUT,
					 "%.0f of %.0f jobs run", now, count);
		usleep(LOOK_US);
	}
	return 0;
}

/* A job for each node: in waves, since the agents share the cores, and an agent
 * whose neighbours start their jobs does not come to say that it lives.
 */
static int run_one_each(struct crowd *crowd, struct person *person,
			struct each *each, struct error *err)
{
	size_t agents = crowd->site->agents_count;
	struct submitted submitted;
	char text[300];

	each->jobs = (double)agents / WAVES;
	snprintf(text, sizeof(text),
		 "sweep: each\nimage: bench/none:1\nnetwork: none\n"
		 "command: [/tool, \"${i}\"]\nrepeat: %zu\n"
		 "matrix:\n  i: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]\n",
		 agents / WAVES / 10);
	for (size_t i = 0; i < WAVES; i++) {
		if (person_submit(person, text, &submitted, err) < 0 ||
		    wait_running(person, submitted.sweep, each->jobs, err) < 0)
			return -1;
		each->sweeps[i] = submitted.sweep;
	}
	return 0;
}

static int wait_each(struct person *person, const struct each *each,
		     struct error *err)
{
	for (size_t i = 0; i < WAVES; i++)
		if (wait_running(person, each->sweeps[i], each->jobs, err) < 0)
			return -1;
	return 0;
}

static int restart(struct crowd *crowd, const struct each *each,
		   struct figures *figures, struct error *err)
{
	struct site *site = crowd->site;
	owned(person_free) struct person *person = NULL;
	double begun, agents_cpu = crowd_cpu_s(crowd);

	kill(site->controller, SIGKILL);
	waitpid(site->controller, NULL, 0);
	begun = clock_s();
	if (site_start_controller(site, err) < 0 ||
	    !(person = person_new(site, err)) ||
	    wait_each(person, each, err) < 0)
		return -1;
	figures->known_s = clock_s() - begun;
	if (person_wait_nodes(person, site->agents_count, LIMIT_S, err) < 0)
		return -1;
	figures->back_s = clock_s() - begun;
	figures->cpu_s = process_cpu_s(site->controller);
	figures->agents_cpu_s = crowd_cpu_s(crowd) - agents_cpu;
	return wait_each(person, each, err);
}

static int measure_all(struct crowd *crowd, struct figures *figures,
		       struct error *err)
{
	owned(person_free) struct person *person = person_new(crowd->site, err);
	struct each each;

	if (!person || crowd_join(crowd, person, err) < 0 ||
	    measure_gang(crowd, person, figures, err) < 0 ||
	    run_one_each(crowd, person, &each, err) < 0)
		return -1;
	return restart(crowd, &each, figures, err);
}

static void report(size_t agents, const struct figures *figures)
{
	cJSON *line = result_new("restart", "regatta");

	cJSON_AddNumberToObject(line, "agents", (double)agents);
	cJSON_AddNumberToObject(line, "gang_nodes", (double)figures->gang);
	cJSON_AddNumberToObject(line, "gang_told_ms", figures->told_ms);
	cJSON_AddNumberToObject(line, "gang_controller_ms",
				figures->told_cpu_ms);
	cJSON_AddNumberToObject(line, "known_s", figures->known_s);
	cJSON_AddNumberToObject(line, "back_s", figures->back_s);
	cJSON_AddNumberToObject(line, "controller_cpu_s", figures->cpu_s);
	cJSON_AddNumberToObject(line, "agents_cpu_s", figures->agents_cpu_s);
	result_put(line);
	printf("%6zu %6zu %8.1f %8.1f %8.2f %8.2f %8.2f %8.2f\n", agents,
	       figures->gang, figures->told_ms, figures->told_cpu_ms,
	       figures->known_s, figures->back_s, figures->cpu_s,
	       figures->agents_cpu_s);
}

int main(int argc, char **argv)
{
	struct crowd_place place = { .web = NULL };
	struct crowd crowd = { .site = NULL };
	struct figures figures = { 0 };
	struct error err = { 0 };
	size_t agents = is_quick() ? 100 : 10000;
	int rc;

	crowd_options(argc, argv, &place, &agents);
	signal(SIGPIPE, SIG_IGN);
	if (sodium_init() < 0)
		return EXIT_WORK_FAILED;
	printf("%6s %6s %8s %8s %8s %8s %8s %8s\n", "agents", "gang", "told ms",
	       "CPU ms", "known s", "back s", "CPU s", "theirs");
	fflush(stdout);
	rc = crowd_open(&crowd, &place, agents, 0, &err);
	if (rc == 0)
		rc = measure_all(&crowd, &figures, &err);
	crowd_close(&crowd);
	if (rc < 0)
		fail(&err);
	report(agents, &figures);
	return EXIT_GOOD;
}
