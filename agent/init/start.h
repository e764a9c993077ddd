/* start.h - reads the start file: what regatta-init is to run, and how.
 *
 * agent/init/init.h describes the format and its limits. An unknown record is
 * an error, and so is a second one where only one is allowed.
 */
#pragma once

#include "protocol/base/buffer.h"

#include <stddef.h>
#include <stdint.h>

#define START_RANK_MAX 100000000

/* The values of all records of one name; items ends in NULL. */
struct start_list {
	char **items;
	size_t count;
};

struct start {
	char *bytes; /* the file; the lists point into it */
	uint64_t processes;
	uint64_t first_rank; /* at most START_RANK_MAX */
	uint64_t rank_env;   /* 0 or 1 */
	uint64_t grace_ms;
	uint64_t node;             /* at most START_RANK_MAX */
	uint64_t log_limit;        /* bytes, at most INT64_MAX; 0: none */
	uint64_t open_files;       /* 0: leave the limit */
	uint64_t suid;             /* 0 or 1 */
	uint64_t ssh;              /* 0 or 1 */
	uint64_t secrets;          /* 0 or 1 */
	uint64_t collect_limit;    /* bytes */
	struct start_list collect; /* absolute paths and patterns */
	struct start_list follow;  /* patterns */
	struct start_list env;     /* NAME=VALUE */
	struct start_list secret;  /* NAME=VALUE */
	struct start_list prepare; /* the prepare command; count 0: none */
	struct start_list arg;     /* the command */
	char *path; /* PATH=... of environment_prepend(), or NULL */
};

/* Read and check the file at path, and the records that follow it (NULL: none),
 * which are a run of NUL-terminated texts. On failure *start is empty and *err
 * says which record is wrong, what was found and what is allowed.
 */
int start_read(const char *path, const struct buffer *more, struct start *start,
	       struct error *err);
void start_clear(struct start *start);
