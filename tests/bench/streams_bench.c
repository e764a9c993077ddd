/* streams_bench.c - how long a job waits for its start while others print.
 *
 *	streams_bench --build DIR --folder DIR --engine unix://SOCKET
 *		--image REFERENCE
 *
 * Thirteen agents on one engine. On ten nodes jobs print as fast as they can,
 * on two more they print steps of which results are computed, 1 GB each; on the
 * last one jobs that do nothing come one after another. Told is the time from
 * submit to the order to start, in which the engine's create is, beside the
 * same without the twelve, in turns; and who had the processors meanwhile.
 *
 * After each of these jobs the same container is created through the bare
 * Engine API: what the engine itself needs beside those that print, which no
 * program that uses it can undercut. It mounts and unmounts an overlay for each
 * create, and the kernel then syncs the whole file system below it, with all of
 * the logs that are not on the disk yet. All processes have the same priority.
 */
#include "protocol/base/program.h"
#include "tests/bench/bare_engine.h"
#include "tests/bench/measure.h"
#include "tests/bench/person.h"

#include <errno.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROUNDS 3
#define EACH 25 /* jobs of a round */
#define NODES_S 30
#define SWEEP_S 120
#define LOOK_US 100000
#define PRINTING_MAX 12

struct load {
	unsigned int streams, results; /* jobs */
	const char *print, *steps;
	size_t rounds, jobs;
};

/* Bytes, and lines of 100 bytes. */
static const struct load loads[] = {
	{ 10, 2, "print, \"1000000000\"", "steps, \"10000000\", \"0\"", ROUNDS,
	  EACH },
	{ 2, 1, "print, \"20000000\"", "steps, \"200000\", \"0\"", 1, 2 },
};

struct place {
	const struct load *load;
	const struct engine_options *options;
	struct site *site;
	struct person *person;
};

/* Jobs one after another, with the twelve beside them or without. */
struct tally {
	double ready_ms[ROUNDS * EACH];   /* submit to the order to start */
	double prepare_ms[ROUNDS * EACH]; /* submit to the order to prepare */
	double create_ms[ROUNDS * EACH];  /* the bare API's */
	size_t count;
	double wall_s, controller_s, agents_s, machine_s;
};

static int submit(struct place *place, const char *name, const char *command,
		  unsigned int repeat, struct submitted *submitted,
		  struct error *err)
{
	char text[400];

	snprintf(text, sizeof(text),
		 "sweep: %s\nimage: %s\nretries: 0\nnetwork: host\n"
		 "command: [/tool, %s]\nrepeat: %u\n",
		 name, place->options->image, command, repeat);
	return person_submit(place->person, text, submitted, err);
}

static double agents_cpu_s(const struct site *site)
{
	double sum = 0;

	for (size_t i = 0; i < site->agents_count; i++)
		sum += process_cpu_s(site->agents[i]);
	return sum;
}

static void count_cpu(const struct place *place, struct tally *tally, int sign)
{
	tally->wall_s += sign * clock_s();
	tally->controller_s += sign * process_cpu_s(place->site->controller);
	tally->agents_s += sign * agents_cpu_s(place->site);
	tally->machine_s += sign * machine_busy_s();
}

static int run_jobs(struct place *place, struct tally *tally, struct error *err)
{
	count_cpu(place, tally, -1);
	for (size_t i = 0; i < place->load->jobs; i++) {
		struct submitted submitted;
		struct bare_times bare;
		size_t at = tally->count;

		if (submit(place, "bench-start", "exit, \"0\"", 1, &submitted,
			   err) < 0 ||
		    person_wait(place->person, &submitted, SWEEP_S, err) < 0)
			return -1;
		if (person_spans(place->person, submitted.since, "submit",
				 "ready", &tally->ready_ms[at], 1, err) != 1 ||
		    person_spans(place->person, submitted.since, "submit",
				 "prepare", &tally->prepare_ms[at], 1,
				 err) != 1)
			return error_set(err, EIO, "no events of a job");
		if (bare_engine_run(place->options, 1, 1, &bare, err) < 0)
			return -1;
		tally->create_ms[at] = bare.created_s * 1e3;
		tally->count++;
	}
	count_cpu(place, tally, 1);
	return 0;
}

/* Until all jobs that print were started. */
static int wait_started(struct place *place, uint64_t since, struct error *err)
{
	size_t count = place->load->streams + place->load->results;
	double until = clock_s() + SWEEP_S;
	double spans_ms[PRINTING_MAX];

	while (person_spans(place->person, since, "submit", "start", spans_ms,
			    PRINTING_MAX, err) < count) {
		if (clock_s() > until)
			return error_set(err, ETIMEDOUT,
					 "the jobs that print do not start");
		usleep(LOOK_US);
	}
	return 0;
}

static int run_beside(struct place *place, struct tally *tally,
		      struct error *err)
{
	struct submitted streams, results;
	const struct load *load = place->load;

	if (submit(place, "bench-streams", load->print, load->streams, &streams,
		   err) < 0 ||
	    submit(place, "bench-results", load->steps, load->results, &results,
		   err) < 0 ||
	    wait_started(place, streams.since, err) < 0 ||
	    run_jobs(place, tally, err) < 0)
		return -1;
	if (person_cancel(place->person, streams.sweep, err) < 0 ||
	    person_cancel(place->person, results.sweep, err) < 0)
		return -1;
	return person_wait_end(place->person, &streams, SWEEP_S, err) < 0 ||
			       person_wait_end(place->person, &results, SWEEP_S,
					       err) < 0
		       ? -1
		       : 0;
}

static void report(const char *way, struct tally *tally, double alone_ms)
{
	double p50_ms = measure_quantile(tally->ready_ms, tally->count, 0.5);
	double p99_ms = measure_quantile(tally->ready_ms, tally->count, 0.99);
	double own_ms = measure_quantile(tally->prepare_ms, tally->count, 0.99);
	double bare_ms = measure_quantile(tally->create_ms, tally->count, 0.99);
	double rest_s =
		tally->machine_s - tally->controller_s - tally->agents_s;
	/* clang-format off */
	const struct { const char *name; double value; } values[] = {
		{ "count", (double)tally->count },
		{ "p50_ms", p50_ms },
		{ "p99_ms", p99_ms },
		{ "p99_of_alone", p99_ms / (alone_ms > 0 ? alone_ms : p99_ms) },
		{ "prepare_p99_ms", own_ms },
		{ "create_p50_ms", measure_quantile(tally->create_ms, tally->count, 0.5) },
		{ "create_p99_ms", bare_ms },
		{ "p99_of_create", p99_ms / bare_ms },
		{ "controller_cores", tally->controller_s / tally->wall_s },
		{ "agents_cores", tally->agents_s / tally->wall_s },
		{ "other_cores", rest_s / tally->wall_s },
	};
	/* clang-format on */
	cJSON *line = result_new("streams", way);

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		cJSON_AddNumberToObject(line, values[i].name, values[i].value);
	result_put(line);
	printf("%-8s %5zu %8.0f %8.0f %8.0f %8.0f %11.2f %8.2f %8.2f\n", way,
	       tally->count, p50_ms, p99_ms, own_ms, bare_ms,
	       tally->controller_s / tally->wall_s,
	       tally->agents_s / tally->wall_s, rest_s / tally->wall_s);
	fflush(stdout);
}

static int run_rounds(struct place *place, struct error *err)
{
	owned_free struct tally *tallies = calloc(2, sizeof(*tallies));

	if (!tallies)
		return error_nomem(err, "times");
	for (size_t i = 0; i < place->load->rounds; i++)
		if (run_jobs(place, &tallies[0], err) < 0 ||
		    run_beside(place, &tallies[1], err) < 0)
			return -1;
	printf("%-8s %5s %8s %8s %8s %8s %11s %8s %8s\n", "beside", "jobs",
	       "p50 ms", "p99 ms", "own p99", "API p99", "controller", "agents",
	       "others");
	report("none", &tallies[0], 0);
	report("printing", &tallies[1],
	       measure_quantile(tallies[0].ready_ms, tallies[0].count, 0.99));
	return 0;
}

static int measure(const struct engine_options *options, struct error *err)
{
	struct place place = { .options = options, .load = &loads[is_quick()] };
	size_t agents = (size_t)(place.load->streams + place.load->results) + 1;
	char folder[PATH_MAX / 2];
	int rc = -1;

	snprintf(folder, sizeof(folder), "%s/streams", options->folder);
	place.site = site_new(folder, options->build, agents, err);
	if (place.site && site_start_controller(place.site, err) == 0 &&
	    site_start_agents(place.site, options->engine, err) == 0)
		place.person = person_new(place.site, err);
	if (place.person &&
	    person_wait_nodes(place.person, agents, NODES_S, err) == 0)
		rc = run_rounds(&place, err);
	person_free(place.person);
	site_free(place.site);
	return rc;
}

int main(int argc, char **argv)
{
	struct engine_options options;
	struct error err = { 0 };

	engine_options_read(&options, argc, argv);
	signal(SIGPIPE, SIG_IGN);
	if (sodium_init() < 0)
		return EXIT_WORK_FAILED;
	if (measure(&options, &err) < 0)
		fail(&err);
	return EXIT_GOOD;
}
