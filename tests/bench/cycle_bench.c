/* cycle_bench.c - a container that does nothing, from create to removal.
 *
 *	cycle_bench --build DIR --folder DIR --engine unix://SOCKET
 *		--image REFERENCE
 *
 * In turns, so that all ways see the same machine: a sweep through controller
 * and agents (as many agents as containers at a time, one engine), `docker run
 * --rm` as many at a time, and the bare Engine API: create, start, wait,
 * remove. All on the host's network, the engine's default log driver.
 */
#include "protocol/base/program.h"
#include "tests/bench/bare_engine.h"
#include "tests/bench/measure.h"
#include "tests/bench/person.h"
#include "tests/bench/process.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODES_S 30
#define SWEEP_S 120
#define COUNT_MAX 4000 /* cycles of one way */

/* All cycles of one way at one width. */
struct tally {
	double seconds[COUNT_MAX];
	double create_s[COUNT_MAX]; /* of the bare API */
	size_t count;
	double wall_s;
	double machine_s; /* CPU time of everything on the machine */
	double agent_s, controller_s; /* of it, ours */
};

/* The bare API. */

static int run_api(const struct engine_options *options, size_t count,
		   size_t width, struct tally *tally, struct error *err)
{
	owned_free struct bare_times *times = calloc(count, sizeof(*times));
	double began = clock_s();

	if (!times)
		return error_nomem(err, "times");
	if (bare_engine_run(options, count, width, times, err) < 0)
		return -1;
	tally->wall_s += clock_s() - began;
	for (size_t i = 0; i < count; i++) {
		tally->create_s[tally->count] = times[i].created_s;
		tally->seconds[tally->count++] = times[i].removed_s;
	}
	return 0;
}

/* docker run. */

static int run_docker(const struct engine_options *options, size_t count,
		      size_t width, struct tally *tally, struct error *err)
{
	/* clang-format off */
	const char *const argv[] = {
		"docker", "-H", options->engine, "run", "--rm", "--network",
		"host", options->image, "/tool", "exit", "0", NULL,
	};
	/* clang-format on */
	double began = clock_s();

	if (process_run_many(argv, count, width, tally->seconds + tally->count,
			     err) < 0)
		return -1;
	tally->count += count;
	tally->wall_s += clock_s() - began;
	return 0;
}

/* Regatta. */

struct place {
	struct site *site;
	struct person *person;
};

static int place_open(struct place *place, const struct engine_options *options,
		      size_t width, struct error *err)
{
	char folder[PATH_MAX / 2];

	snprintf(folder, sizeof(folder), "%s/cycle-%zu", options->folder,
		 width);
	place->site = site_new(folder, options->build, width, err);
	if (!place->site || site_start_controller(place->site, err) < 0 ||
	    site_start_agents(place->site, options->engine, err) < 0)
		return -1;
	place->person = person_new(place->site, err);
	return place->person && person_wait_nodes(place->person, width, NODES_S,
						  err) == 0
		       ? 0
		       : -1;
}

static void place_close(struct place *place)
{
	person_free(place->person);
	site_free(place->site);
}

/* Who is silent while other ways take their turns is cut: come anew. */
static int place_meet(struct place *place, struct error *err)
{
	person_free(place->person);
	place->person = person_new(place->site, err);
	return place->person ? 0 : -1;
}

static double agents_cpu_s(const struct site *site)
{
	double sum = 0;

	for (size_t i = 0; i < site->agents_count; i++)
		sum += process_cpu_s(site->agents[i]);
	return sum;
}

static int run_regatta(struct place *place,
		       const struct engine_options *options, size_t count,
		       struct tally *tally, struct error *err)
{
	double spans_ms[COUNT_MAX];
	struct submitted submitted;
	double agents = agents_cpu_s(place->site);
	double controller = process_cpu_s(place->site->controller);
	char text[400];
	size_t got;

	snprintf(text, sizeof(text),
		 "sweep: bench-cycle\nimage: %s\nretries: 0\n"
		 "command: [/tool, exit, \"0\"]\nrepeat: %zu\n",
		 options->image, count);
	if (place_meet(place, err) < 0 ||
	    person_submit(place->person, text, &submitted, err) < 0 ||
	    person_wait(place->person, &submitted, SWEEP_S, err) < 0)
		return -1;
	tally->wall_s += (double)(clock_ns() - submitted.begun_ns) / 1e9;
	tally->agent_s += agents_cpu_s(place->site) - agents;
	tally->controller_s +=
		process_cpu_s(place->site->controller) - controller;
	got = person_spans(place->person, submitted.since, "alloc", "removed",
			   spans_ms, COUNT_MAX, err);
	for (size_t i = 0; i < got && tally->count < COUNT_MAX; i++)
		tally->seconds[tally->count++] = spans_ms[i] / 1e3;
	return got ? 0 : error_set(err, EIO, "no events of the sweep");
}

/* From submit to the order to start, when nothing else is going on: the
 * engine's create is in it.
 */
static int measure_latency(struct place *place,
			   const struct engine_options *options,
			   struct tally *api, struct error *err)
{
	size_t count = is_quick() ? 3 : 40;
	double ms[40];
	double create_ms =
		measure_quantile(api->create_s, api->count, 0.5) * 1e3;
	struct submitted submitted;
	char text[400];
	cJSON *line;

	snprintf(text, sizeof(text),
		 "sweep: bench-start\nimage: %s\nretries: 0\n"
		 "command: [/tool, exit, \"0\"]\n",
		 options->image);
	if (place_meet(place, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		if (person_submit(place->person, text, &submitted, err) < 0 ||
		    person_wait(place->person, &submitted, SWEEP_S, err) < 0 ||
		    person_spans(place->person, submitted.since, "submit",
				 "ready", &ms[i], 1, err) != 1)
			return -1;
	}
	line = result_new("submit-to-start-order", "regatta");
	cJSON_AddNumberToObject(line, "p50_ms",
				measure_quantile(ms, count, 0.5));
	cJSON_AddNumberToObject(line, "p99_ms",
				measure_quantile(ms, count, 0.99));
	cJSON_AddNumberToObject(line, "create_p50_ms", create_ms);
	result_put(line);
	printf("submit to the order to start: p50 %.0f ms, p99 %.0f ms (n=%zu, "
	       "in "
	       "whole ms); the engine's create is in it, alone p50 %.1f ms\n",
	       measure_quantile(ms, count, 0.5),
	       measure_quantile(ms, count, 0.99), count, create_ms);
	return 0;
}

/* Reporting. */

static void report(const char *way, size_t width, struct tally *tally,
		   double base_rate)
{
	double p50_ms =
		measure_quantile(tally->seconds, tally->count, 0.5) * 1e3;
	double p90_ms =
		measure_quantile(tally->seconds, tally->count, 0.9) * 1e3;
	double rate = (double)tally->count / tally->wall_s;
	double per_ms = 1e3 / (double)tally->count;
	double machine_ms = tally->machine_s * per_ms;
	cJSON *line = result_new("cycle", way);

	cJSON_AddNumberToObject(line, "concurrency", (double)width);
	cJSON_AddNumberToObject(line, "count", (double)tally->count);
	cJSON_AddNumberToObject(line, "p50_ms", p50_ms);
	cJSON_AddNumberToObject(line, "p90_ms", p90_ms);
	cJSON_AddNumberToObject(line, "per_s", rate);
	cJSON_AddNumberToObject(line, "rate_ratio_to_api", rate / base_rate);
	cJSON_AddNumberToObject(line, "machine_cpu_ms", machine_ms);
	if (tally->agent_s > 0) {
		cJSON_AddNumberToObject(line, "agent_cpu_ms",
					tally->agent_s * per_ms);
		cJSON_AddNumberToObject(line, "controller_cpu_ms",
					tally->controller_s * per_ms);
	}
	result_put(line);
	printf("%11zu  %-16s %8.1f %8.1f %8.2f %8.2f %8.1f\n", width, way,
	       p50_ms, p90_ms, rate, rate / base_rate, machine_ms);
	if (tally->agent_s > 0)
		printf("%11s  of which the agent %.1f, the controller %.1f\n",
		       "", tally->agent_s * per_ms,
		       tally->controller_s * per_ms);
	fflush(stdout);
}

static void report_memory(const struct site *site)
{
	double agent = process_rss_kib(site->agents[0]);
	double own = process_own_kib(site->agents[0]);
	double controller = process_rss_kib(site->controller);
	cJSON *line = result_new("memory", "regatta");

	cJSON_AddNumberToObject(line, "agent_rss_kib", agent);
	cJSON_AddNumberToObject(line, "agent_own_kib", own);
	cJSON_AddNumberToObject(line, "controller_rss_kib", controller);
	result_put(line);
	printf("memory after that: agent %.1f MiB, %.1f without programs and "
	       "libraries; controller %.1f MiB\n",
	       agent / 1024, own / 1024, controller / 1024);
}

/* In turns, so that what else the machine does meets all three. */
static int run_rounds(struct place *place, const struct engine_options *options,
		      size_t width, struct tally tallies[3], struct error *err)
{
	size_t rounds = is_quick() ? 1 : 4;
	size_t count = is_quick() ? 3 : 25;

	if (width > 1)
		count = 2 * (count > width ? count : width);
	/* The first container of an engine takes longer. */
	if (run_docker(options, 2, 1, &tallies[1], err) < 0)
		return -1;
	tallies[1] = (struct tally){ .count = 0 };
	for (size_t i = 0; i < rounds * 3; i++) {
		struct tally *tally = &tallies[i % 3];
		double busy = machine_busy_s();

		if ((i % 3 == 0 ? run_regatta(place, options, count, tally, err)
		     : i % 3 == 1
			     ? run_docker(options, count, width, tally, err)
			     : run_api(options, count, width, tally, err)) < 0)
			return -1;
		tally->machine_s += machine_busy_s() - busy;
	}
	return 0;
}

static int run_place(struct place *place, const struct engine_options *options,
		     size_t width, struct error *err)
{
	owned_free struct tally *tallies = calloc(3, sizeof(*tallies));
	double base;

	if (!tallies)
		return error_nomem(err, "cycles");
	if (run_rounds(place, options, width, tallies, err) < 0)
		return -1;
	base = (double)tallies[2].count / tallies[2].wall_s;
	report("regatta", width, &tallies[0], base);
	report("docker run --rm", width, &tallies[1], base);
	report("Engine API", width, &tallies[2], base);
	if (width > 1)
		return 0;
	if (measure_latency(place, options, &tallies[2], err) < 0)
		return -1;
	report_memory(place->site);
	return 0;
}

static int measure(const struct engine_options *options, size_t width,
		   struct error *err)
{
	struct place place = { 0 };
	int rc = place_open(&place, options, width, err);

	if (rc == 0)
		rc = run_place(&place, options, width, err);
	place_close(&place);
	return rc;
}

int main(int argc, char **argv)
{
	struct engine_options options;
	struct error err = { 0 };

	engine_options_read(&options, argc, argv);
	if (sodium_init() < 0)
		return EXIT_WORK_FAILED;
	printf("%11s  %-16s %8s %8s %8s %8s %8s\n", "concurrency", "way",
	       "p50 ms", "p90 ms", "per s", "to API", "CPU ms");
	fflush(stdout);
	for (size_t width = 1; width <= BARE_WIDTH_MAX; width *= 4)
		if (measure(&options, width, &err) < 0)
			fail(&err);
	return EXIT_GOOD;
}
