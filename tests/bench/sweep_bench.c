/* sweep_bench.c - how long it takes to span, check and place a large sweep.
 *
 *	sweep_bench
 *
 * Of each size: reading the file and checking every cell, as plan and submit
 * do; making all specs, as a submit does; and placing all jobs on a hundred
 * nodes, as a plan does. No processes, no network. The folder images must be
 * in the current one, or where $REGATTA_IMAGES says.
 */
#include "controller/api/schedule_simulation.h"
#include "protocol/base/program.h"
#include "tests/bench/measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define NODES 100

struct figures {
	size_t cells, kept;
	double check_s, specs_s, place_s;
	double peak_mib; /* of the sizes so far */
};

/* Model x layout x batch x nodes, and as many steps as the size asks for. */
static void write_sweep(struct buffer *text, size_t cells)
{
	struct error err;
	int rc = buffer_text(text,
			     "sweep: large\nframework: cpu\ndevices: 8\n"
			     "timeout: 5m\nmatrix:\n"
			     "  model: [gpt-nano, gpt-micro]\n"
			     "  parallel: [{tp: 1}, {tp: 1, sharding: 8},\n"
			     "    {cp: 2}, {pp: 3}]\n"
			     "  nodes: [1, 2, 4, 8, 16]\n"
			     "  batch: [{micro: 1, sequence: 128},\n"
			     "    {micro: 2, sequence: 128},\n"
			     "    {micro: 4, accumulate: 4, sequence: 128},\n"
			     "    {micro: 1, global: 4096, sequence: 64}]\n"
			     "  steps: [",
			     &err);

	for (size_t i = 0; rc == 0 && i < cells / 160; i++)
		rc = buffer_printf(text, &err, "%s%zu", i ? ", " : "", i + 1);
	if (rc < 0 || buffer_text(text, "]\n", &err) < 0)
		fail(&err);
}

static void place(struct sweep *sweep)
{
	struct slot slots[NODES];
	uint64_t *times = calloc(sweep_totals(sweep)->kept + 1, sizeof(*times));
	struct schedule_simulation *forecast;
	struct error err;

	for (size_t i = 0; i < NODES; i++)
		slots[i] = (struct slot){ .vendor = "cpu",
					  .devices = 8,
					  .usable = true };
	for (size_t i = 0; times && i < sweep_totals(sweep)->kept; i++)
		times[i] = 60000 + i * 7919 % 600000;
	forecast = times ? schedule_simulation_new(sweep, slots, NODES, NULL, 0,
						   times, &err)
			 : NULL;
	if (!forecast)
		fail(&err);
	schedule_simulation_free(forecast);
	free(times);
}

static void measure(const struct catalog *catalog, size_t cells,
		    struct figures *figures)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(1 << 20);
	owned(sweep_free) struct sweep *sweep = NULL;
	struct rusage usage;
	struct error err;
	double start = clock_s();

	write_sweep(&text, cells);
	sweep = sweep_parse(text.data, text.size, "large", catalog, &err);
	if (!sweep)
		fail(&err);
	figures->check_s = clock_s() - start;
	figures->cells = sweep_totals(sweep)->cells;
	figures->kept = sweep_totals(sweep)->kept;
	start = clock_s();
	for (size_t i = 0; i < sweep_totals(sweep)->jobs; i++) {
		struct job_spec spec;

		if (sweep_job(sweep, i, &spec, &err) < 0)
			fail(&err);
		codec_clear(&job_spec_schema, &spec);
	}
	figures->specs_s = clock_s() - start;
	start = clock_s();
	place(sweep);
	figures->place_s = clock_s() - start;
	getrusage(RUSAGE_SELF, &usage);
	figures->peak_mib = (double)usage.ru_maxrss / 1024;
}

static void tell(const struct figures *figures)
{
	cJSON *result = result_new("sweep", "regatta");

	printf("%10zu %10zu %10.2f %10.2f %10.2f %10.0f\n", figures->cells,
	       figures->kept, figures->check_s, figures->specs_s,
	       figures->place_s, figures->peak_mib);
	cJSON_AddNumberToObject(result, "cells", (double)figures->cells);
	cJSON_AddNumberToObject(result, "kept", (double)figures->kept);
	cJSON_AddNumberToObject(result, "check_s", figures->check_s);
	cJSON_AddNumberToObject(result, "specs_s", figures->specs_s);
	cJSON_AddNumberToObject(result, "place_s", figures->place_s);
	cJSON_AddNumberToObject(result, "peak_mib", figures->peak_mib);
	result_put(result);
}

int main(void)
{
	static const size_t sizes[] = { 10000, 100000, 1000000 };
	const char *images = getenv("REGATTA_IMAGES");
	owned(catalog_free) struct catalog *catalog = NULL;
	struct error err;

	catalog = catalog_load(images ? images : "images", &err);
	if (!catalog)
		fail(&err);
	printf("%10s %10s %10s %10s %10s %10s\n", "cells", "kept", "check s",
	       "specs s", "place s", "peak MiB");
	for (size_t i = 0; i < (is_quick() ? 1 : 3); i++) {
		struct figures figures;

		measure(catalog, sizes[i], &figures);
		tell(&figures);
	}
	return EXIT_GOOD;
}
