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
 */
#include "protocol/base/program.h"
#include "tests/bench/measure.h"
#include "tests/bench/person.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STREAMS 10
#define RESULTS 2
#define AGENTS (STREAMS + RESULTS + 1)
#define ROUNDS 3
#define EACH 25 /* jobs of a round */
#define NODES_S 30
#define SWEEP_S 120
#define LOOK_US 100000
#define BYTES "1000000000"
#define STEPS "10000000" /* lines of 100 bytes */
#define QUICK_BYTES "20000000"
#define QUICK_STEPS "200000"

struct options {
	const char *build, *folder, *engine, *image;
};

struct place {
	const struct options *options;
	struct site *site;
	struct person *person;
};

/* Jobs one after another, with the twelve beside them or without. */
struct tally {
	double ready_ms[ROUNDS * EACH];   /* submit to the order to start */
	double prepare_ms[ROUNDS * EACH]; /* submit to the order to prepare */
	size_t count;
	double wall_s, controller_s, agents_s, machine_s;
};

static int submit(struct place *place, const char *name, const char *command,
		  int repeat, struct submitted *submitted, struct error *err)
{
	char text[400];

	snprintf(text, sizeof(text),
		 "sweep: %s\nimage: %s\nretries: 0\nnetwork: host\n"
		 "command: [/tool, %s]\nrepeat: %d\n",
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
	size_t jobs = is_quick() ? 2 : EACH;

	count_cpu(place, tally, -1);
	for (size_t i = 0; i < jobs; i++) {
		struct submitted submitted;
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
		tally->count++;
	}
	count_cpu(place, tally, 1);
	return 0;
}

/* Until so many jobs were started since then. */
static int wait_started(struct place *place, uint64_t since, size_t count,
			struct error *err)
{
	double until = clock_s() + SWEEP_S;
	double spans_ms[STREAMS + RESULTS];

	while (person_spans(place->person, since, "submit", "start", spans_ms,
			    STREAMS + RESULTS, err) < count) {
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
	const char *print = is_quick() ? "print, \"" QUICK_BYTES "\""
				       : "print, \"" BYTES "\"";
	const char *steps = is_quick() ? "steps, \"" QUICK_STEPS "\", \"0\""
				       : "steps, \"" STEPS "\", \"0\"";

	if (submit(place, "bench-streams", print, STREAMS, &streams, err) < 0 ||
	    submit(place, "bench-results", steps, RESULTS, &results, err) < 0 ||
	    wait_started(place, streams.since, STREAMS + RESULTS, err) < 0 ||
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
	double p50_ms = quantile(tally->ready_ms, tally->count, 0.5);
	double p99_ms = quantile(tally->ready_ms, tally->count, 0.99);
	double own_ms = quantile(tally->prepare_ms, tally->count, 0.99);
	double rest_s =
		tally->machine_s - tally->controller_s - tally->agents_s;
	/* clang-format off */
	const struct { const char *name; double value; } values[] = {
		{ "count", (double)tally->count },
		{ "p50_ms", p50_ms },
		{ "p99_ms", p99_ms },
		{ "p99_of_alone", p99_ms / (alone_ms > 0 ? alone_ms : p99_ms) },
		{ "prepare_p99_ms", own_ms },
		{ "controller_cores", tally->controller_s / tally->wall_s },
		{ "agents_cores", tally->agents_s / tally->wall_s },
		{ "other_cores", rest_s / tally->wall_s },
	};
	/* clang-format on */
	cJSON *line = result_new("streams", way);

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		cJSON_AddNumberToObject(line, values[i].name, values[i].value);
	result_put(line);
	printf("%-8s %5zu %8.0f %8.0f %8.0f %11.2f %8.2f %8.2f\n", way,
	       tally->count, p50_ms, p99_ms, own_ms,
	       tally->controller_s / tally->wall_s,
	       tally->agents_s / tally->wall_s, rest_s / tally->wall_s);
	fflush(stdout);
}

static int run_rounds(struct place *place, struct error *err)
{
	owned_free struct tally *tallies = calloc(2, sizeof(*tallies));

	if (!tallies)
		return error_nomem(err, "times");
	for (int i = 0; i < (is_quick() ? 1 : ROUNDS); i++)
		if (run_jobs(place, &tallies[0], err) < 0 ||
		    run_beside(place, &tallies[1], err) < 0)
			return -1;
	printf("%-8s %5s %8s %8s %8s %11s %8s %8s\n", "beside", "jobs",
	       "p50 ms", "p99 ms", "own p99", "controller", "agents", "others");
	report("none", &tallies[0], 0);
	report("twelve", &tallies[1],
	       quantile(tallies[0].ready_ms, tallies[0].count, 0.99));
	return 0;
}

static int measure(const struct options *options, struct error *err)
{
	struct place place = { .options = options };
	char folder[PATH_MAX / 2];
	int rc = -1;

	snprintf(folder, sizeof(folder), "%s/streams", options->folder);
	place.site = site_new(folder, options->build, AGENTS, err);
	if (place.site && site_start_controller(place.site, err) == 0 &&
	    site_start_agents(place.site, options->engine, err) == 0)
		place.person = person_new(place.site, err);
	if (place.person &&
	    person_wait_nodes(place.person, AGENTS, NODES_S, err) == 0)
		rc = run_rounds(&place, err);
	person_free(place.person);
	site_free(place.site);
	return rc;
}

static void read_options(int argc, char **argv, struct options *options)
{
	/* clang-format off */
	static const struct option names[] = {
		{ "build", 1, NULL, 'b' }, { "folder", 1, NULL, 'f' },
		{ "engine", 1, NULL, 'e' }, { "image", 1, NULL, 'i' },
		{ NULL, 0, NULL, 0 },
	};
	/* clang-format on */
	int option;

	while ((option = getopt_long(argc, argv, "", names, NULL)) != -1) {
		if (option == 'b')
			options->build = optarg;
		else if (option == 'f')
			options->folder = optarg;
		else if (option == 'e')
			options->engine = optarg;
		else if (option == 'i')
			options->image = optarg;
		else
			exit(EXIT_WRONG_REQUEST);
	}
	if (!options->build || !options->folder || !options->engine ||
	    !options->image)
		exit(EXIT_WRONG_REQUEST);
}

int main(int argc, char **argv)
{
	struct options options = { .build = NULL };
	struct error err = { 0 };

	read_options(argc, argv, &options);
	signal(SIGPIPE, SIG_IGN);
	if (sodium_init() < 0)
		return EXIT_WORK_FAILED;
	if (measure(&options, &err) < 0)
		fail(&err);
	return EXIT_GOOD;
}
