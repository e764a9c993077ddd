/* crowd.h - one controller, and many agents that have no engine.
 *
 * The agents are the real objects in processes of their own, a few thousand in
 * each, with stand-in engines (standin.h). They join when they are let.
 */
#pragma once

#include "tests/bench/person.h"
#include "tests/bench/site.h"
#include "tests/bench/standin.h"

#define CROWD_PROCESSES_MAX 64

/* Where it is: programs, state, and the agents' spools, which should be in
 * memory.
 */
struct crowd_place {
	const char *build, *folder, *fast;
	const char *web; /* where the controller serves pages; NULL: nowhere */
};

/* Fill *place from --build, --folder and --fast-folder; agents, if not NULL,
 * from --agents. Other options end the program.
 */
void crowd_options(int argc, char **argv, struct crowd_place *place,
		   size_t *agents);

struct crowd {
	struct site *site;
	struct standin *standin;
	char spools[PATH_MAX / 2];
	pid_t processes[CROWD_PROCESSES_MAX];
	size_t processes_count;
	int gates[CROWD_PROCESSES_MAX]; /* write ends: the endpoint opens them
					 */
};

/* Before any thread of ZeroMQ is there. *crowd was zero; crowd_close() it, on
 * failure too. log_bytes: that each command prints.
 */
int crowd_open(struct crowd *crowd, const struct crowd_place *place,
	       size_t agents, uint32_t log_bytes, struct error *err);
void crowd_close(struct crowd *crowd);

/* All agents join; returns when they are up. */
int crowd_join(struct crowd *crowd, struct person *person, struct error *err);

/* Memory and processor time of all its agents. */
double crowd_rss_kib(const struct crowd *crowd);
double crowd_cpu_s(const struct crowd *crowd);
