/* exported.h - a job as a case of FlagPerf: its suite, its names.
 */
#ifndef CONTROLLER_CLI_COMMANDS_EXPORTED_H
#define CONTROLLER_CLI_COMMANDS_EXPORTED_H

#include "controller/catalog/catalog.h"
#include "controller/sweep/flagperf/names.h"
#include "protocol/message/reply_jobs.h"

/* What is known of a job's case. */
struct exported {
	const struct job_info *job;
	char name[256];    /* of its folder */
	const char *suite; /* of flagperf.yaml */
	struct names names;
	const struct value *log; /* what its output is called, or NULL */
	uint32_t processes;      /* streams per node */
	uint32_t nodes;
	cJSON *detail;      /* of base and operation, by host; else NULL */
	char log_name[160]; /* with it: where result lines stand */
};
void exported_clear(struct exported *exported);
OWNED_VALUE(struct exported, exported_clear)

/* Fill the rest by the job, which is borrowed. */
int exported_describe(struct exported *exported, const struct catalog *catalog,
		      struct error *err);

/* A name of one folder or file, whatever it was: never empty, ".", ".." or with
 * a slash in it.
 */
void export_name(const char *from, char *name, size_t size);

#endif
