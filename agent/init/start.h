/* start.h - reads the start file: what regatta-init is to run, and how.
 *
 * agent/init/init.h describes the format and its limits. An unknown record is
 * an error, and so is a second one where only one is allowed.
 */
#ifndef AGENT_INIT_START_H
#define AGENT_INIT_START_H

#include "agent/init/start_error.h"

#include <stddef.h>
#include <stdint.h>

#define START_RANK_MAX 100000000

struct start {
	char *bytes; /* the file; the strings below point into it */
	uint64_t processes;
	uint64_t first_rank; /* at most START_RANK_MAX */
	uint64_t rank_env;   /* 0 or 1 */
	uint64_t grace_ms;
	uint64_t node;      /* at most START_RANK_MAX */
	uint64_t log_limit; /* bytes, at most INT64_MAX; 0: none */
	uint64_t suid;      /* 0 or 1 */
	uint64_t ssh;       /* 0 or 1 */
	char **follow;      /* patterns, follow_count of them */
	size_t follow_count;
	char **env; /* NAME=VALUE, env_count of them, then NULL */
	size_t env_count;
	char **secrets; /* NAME=VALUE, secret_count of them */
	size_t secret_count;
	char **prepare; /* the prepare command, as args; count 0: none */
	size_t prepare_count;
	char **args; /* the command, arg_count of them, then NULL */
	size_t arg_count;
	char *path; /* PATH=... of environment_prepend(), or NULL */
};

/* Read and check the file at path. On failure *start is empty and *why says
 * which record is wrong, what was found and what is allowed.
 */
int start_read(const char *path, struct start *start, struct start_error *why);
void start_clear(struct start *start);

#endif
