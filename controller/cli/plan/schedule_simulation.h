/* schedule_simulation.h - the scheduler played forward: which nodes would run
 * what, when.
 *
 * Pure. The jobs of a sweep are queued as a submit would, and the real
 * scheduler places them on empty nodes; each takes as long as its cell took
 * before, and gives its nodes back. Jobs that start at the same time are a
 * wave. What goes after others starts when these have ended, on their nodes. A
 * cell that never ran is taken to last as long as the median of those
 * that did; when none did, all last equally long and only the order is known.
 */
#ifndef CONTROLLER_CLI_PLAN_SCHEDULE_SIMULATION_H
#define CONTROLLER_CLI_PLAN_SCHEDULE_SIMULATION_H

#include "controller/jobs/unschedulable.h"
#include "controller/sweep/sweep.h"

/* Steps of work after which a simulation ends: about a second. */
#define SCHEDULE_SIMULATION_WORK 400000000u

struct schedule_simulation_cell {
	enum unschedulable shortage;
	const char *lacks;   /* what the cell waits for; NULL: nothing */
	uint32_t first_wave; /* of its jobs, from 1; 0: none starts */
	uint32_t last_wave;
	uint64_t start_ms;     /* of its first job; 0 when times are unknown */
	const uint32_t *slots; /* of its first job, by rank */
	uint32_t slots_count;
};

struct schedule_simulation {
	struct schedule_simulation_cell
		*cells; /* the kept ones, in their order */
	size_t count;
	size_t lacking; /* cells that cannot run at present */
	size_t unknown; /* cells that can and never ran */
	size_t known;   /* cells that can and did */
	uint32_t waves;
	uint64_t end_ms; /* of the last job; 0: unknown */
	bool cut;        /* too much work: later waves are missing */
	void *memory;    /* its own */
};

/* slots are taken and given back. times: how long a job of each kept cell
 * takes, 0: unknown.
 */
struct schedule_simulation *
schedule_simulation_new(struct sweep *sweep, struct slot *slots, size_t count,
			const uint64_t *times, struct error *err);
void schedule_simulation_free(struct schedule_simulation *simulation);
OWNED_POINTER(struct schedule_simulation, schedule_simulation_free)

#endif
