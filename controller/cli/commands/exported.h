/* exported.h - describes a job as a case of FlagPerf, for export.
 */
#pragma once

#include "controller/catalog/catalog.h"
#include "controller/cli/cli.h"
#include "controller/sweep/flagperf/names.h"
#include "protocol/message/reply_jobs.h"

#include <limits.h>

/* Writes results as the lines of an MLPerf log.
 *
 *	:::MLLOG {"namespace": "", "time_ms": 1, "event_type": "POINT_IN_TIME",
 *	 "key": "global_batch_size", "value": 8, "metadata": {...}}
 *
 * They say what a result has: who and what ran, its batch, its last loss and
 * its rate. They are no submission: a benchmark's own program must log what the
 * rules require (`regatta verify --mlperf`).
 * Source: MLCommons, "mlperf_logging", mllog.
 */

/* Append the lines of a row with a result. */
int mllog_write(const struct result_info *row, struct buffer *out,
		struct error *err);

/* `regatta export mlperf SWEEP [DIR]`: a file result_JOB.txt for each completed
 * job.
 */
int export_mlperf(struct cli *cli, struct error *err);

/* The FlagPerf case of a job. */
struct exported {
	const struct job_info *job;
	char name[256];    /* of its folder */
	const char *suite; /* of flagperf.yaml */
	struct names names;
	const struct value *log; /* the names of its output files, or NULL */
	uint32_t processes;      /* streams per node */
	uint32_t nodes;
	cJSON *detail;      /* base and operation: results by host; else NULL */
	char log_name[160]; /* with detail: the file of the result lines */
};
void exported_clear(struct exported *exported);
OWNED_VALUE(struct exported, exported_clear)

/* Fill all members from `job`, which is borrowed. */
int exported_describe(struct exported *exported, const struct catalog *catalog,
		      struct error *err);

/* Convert any text to a name of a folder or file: not empty, not "." or "..",
 * without slashes.
 */
void export_name(const char *from, char *name, size_t size);

/* Write a time in UTC as strftime(3) does. */
#define EXPORT_TIME_SIZE 32
void export_time(int64_t ms, const char *form, char text[EXPORT_TIME_SIZE]);

/* Open the file of that name in the folder to write it; path gets its path. */
FILE *export_open(const char *folder, const char *name, char path[PATH_MAX],
		  struct error *err);
