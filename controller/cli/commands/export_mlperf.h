/* export_mlperf.h - writes results as the lines of an MLPerf log.
 *
 *	:::MLLOG {"namespace": "", "time_ms": 1, "event_type": "POINT_IN_TIME",
 *	 "key": "global_batch_size", "value": 8, "metadata": {...}}
 *
 * They say what a result has: who and what ran, its batch, its last loss and
 * its rate. They are no submission: a benchmark's own program must log what the
 * rules require (`regatta verify --mlperf`).
 * Source: MLCommons, "mlperf_logging", mllog.
 */
#ifndef CONTROLLER_CLI_COMMANDS_EXPORT_MLPERF_H
#define CONTROLLER_CLI_COMMANDS_EXPORT_MLPERF_H

#include "controller/cli/cli.h"
#include "protocol/message/reply_jobs.h"

/* Append the lines of a row with a result. */
int mllog_write(const struct result_info *row, struct buffer *out,
		struct error *err);

/* `regatta export mlperf SWEEP [DIR]`: a file result_JOB.txt for each completed
 * job.
 */
int export_mlperf(struct cli *cli, struct error *err);

#endif
