/* scontrol.h - what Slurm says of a job or a node.
 *
 * Calls that run scontrol wait for it, for at most SCONTROL_MS.
 * Source: scontrol(1) of Slurm 22.05, "show" with --oneliner: NAME=VALUE
 * between blanks.
 */
#pragma once

#include "protocol/base/strings.h"

#include <stdint.h>

#define SCONTROL_MS 20000
#define SCONTROL_VALUE_SIZE 256

/* One field of `scontrol show KIND NAME`. ENOENT: there is no scontrol, or no
 * such field; EIO: it failed, say because the name is not known.
 */
int scontrol_field(const char *kind, const char *name, const char *field,
		   char value[SCONTROL_VALUE_SIZE], struct error *err);

/* When the job is to end, wall clock; 0: it has no limit. */
int scontrol_job_end(const char *job, int64_t *end_ms, struct error *err);

/* For callers that do not wait: the words and the environment of `scontrol show
 * KIND NAME`, and the end of a job according to its output.
 */
int scontrol_command(const char *kind, const char *name, struct strings *argv,
		     struct strings *env, struct error *err);
int scontrol_read_end(const char *job, const char *text, int64_t *end_ms,
		      struct error *err);

/* The names in a list such as "n[1-3]". E2BIG: more than most. */
int scontrol_hostnames(const char *list, size_t most, struct strings *names,
		       struct error *err);
