/* queue_bench.c - what placing costs when queue and cluster are large.
 *
 *	queue_bench
 *
 * The scheduler alone, in processor time: no processes, no network, no disk.
 * What should not grow with the queue is told per job.
 */
#include "controller/scheduler/scheduler.h"
#include "protocol/base/program.h"
#include "tests/bench/measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct bed {
	struct queue *queue;
	struct slot *slots;
	size_t nodes, placed;
};

static void bed_init(struct bed *bed, size_t nodes)
{
	struct error err;

	*bed = (struct bed){ .queue = queue_new(&err), .nodes = nodes };
	if (!bed->queue)
		fail(&err);
	bed->slots = calloc(nodes, sizeof(*bed->slots));
	if (!bed->slots) {
		error_nomem(&err, "slots");
		fail(&err);
	}
	for (size_t i = 0; i < nodes; i++)
		bed->slots[i] = (struct slot){ .vendor = "cpu",
					       .devices = 1,
					       .usable = true };
}

static void bed_clear(struct bed *bed)
{
	queue_free(bed->queue);
	free(bed->slots);
}
OWNED_VALUE(struct bed, bed_clear)

static void add(struct bed *bed, uint64_t job, struct shape shape)
{
	struct error err;

	shape.vendor = "cpu";
	if (queue_add(bed->queue, &shape, job, 0, &err) < 0)
		fail(&err);
}

static bool count(void *arg, uint64_t job, const struct shape *shape,
		  const struct placement *placements)
{
	((struct bed *)arg)->placed++;
	return true;
}

static size_t run(struct bed *bed)
{
	size_t before = bed->placed;
	struct error err;

	if (scheduler_run(bed->queue, bed->slots, bed->nodes, NULL, NULL, count,
			  bed, &err) < 0)
		fail(&err);
	return bed->placed - before;
}

/* Gangs of one to four on 64 nodes, until none is left. */
static void drained(size_t jobs)
{
	owned(bed_clear) struct bed bed;

	bed_init(&bed, 64);
	for (size_t job = 0; job < jobs; job++)
		add(&bed, job + 1,
		    (struct shape){ .nodes = 1 + (uint32_t)job % 4 });
	while (run(&bed))
		for (size_t i = 0; i < bed.nodes; i++)
			slot_release(&bed.slots[i], 1);
}

/* As many nodes as jobs, then as many jobs again that have to wait. */
static void filled(size_t jobs)
{
	owned(bed_clear) struct bed bed;

	bed_init(&bed, jobs / 2);
	for (size_t job = 0; job < jobs; job++)
		add(&bed, job + 1, (struct shape){ .nodes = 1 });
	run(&bed);
}

/* Jobs of chains: each can have one node only, of 4000 at most. */
static void pinned(size_t jobs)
{
	owned(bed_clear) struct bed bed;

	bed_init(&bed, jobs / 2 < 4000 ? jobs / 2 : 4000);
	for (size_t job = 0; job < jobs; job++) {
		uint32_t pin = (uint32_t)(job % bed.nodes);

		add(&bed, job + 1,
		    (struct shape){
			    .nodes = 1, .pins = &pin, .pins_count = 1 });
	}
	run(&bed);
	run(&bed);
}

static void cancelled(size_t jobs)
{
	const struct shape shape = { .vendor = "cpu", .nodes = 1 };
	owned(bed_clear) struct bed bed;

	bed_init(&bed, 1);
	for (size_t job = 0; job < jobs; job++)
		add(&bed, job + 1, shape);
	for (size_t job = jobs; job; job--)
		queue_remove(bed.queue, &shape, job);
}

int main(void)
{
	static const struct {
		const char *name;
		void (*run)(size_t jobs);
	} cases[] = {
		{ "gangs on 64 nodes, to the last", drained },
		{ "half on a node each, half wait", filled },
		{ "each on the node it is pinned to", pinned },
		{ "queued and cancelled, last first", cancelled },
	};
	static const size_t sizes[] = { 1000, 10000, 100000 };

	printf("%-34s %10s %10s %12s\n", "jobs", "number", "s", "us per job");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		for (size_t j = 0; j < sizeof(sizes) / sizeof(*sizes); j++) {
			cJSON *result = result_new("queue", "regatta");
			clock_t start = clock();
			double used;

			cases[i].run(sizes[j]);
			used = (double)(clock() - start) / CLOCKS_PER_SEC;
			printf("%-34s %10zu %10.2f %12.2f\n", cases[i].name,
			       sizes[j], used, used * 1e6 / (double)sizes[j]);
			cJSON_AddStringToObject(result, "case", cases[i].name);
			cJSON_AddNumberToObject(result, "jobs",
						(double)sizes[j]);
			cJSON_AddNumberToObject(result, "cpu_s", used);
			result_put(result);
		}
	}
	return EXIT_GOOD;
}
