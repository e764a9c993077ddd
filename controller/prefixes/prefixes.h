/* prefixes.h - removes what collectors and launchers put before each line.
 *
 * Everything that reads the output of programs reads it through this, so that a
 * log means the same whoever collected it: docker logs -t, the files of Docker
 * and CRI, kubectl --prefix, compose, stern, journald, syslog, a date, Ray,
 * pdsh, srun, mpirun, torchrun, grep -n, the blanks before a quoted text.
 * Prefixes may stand one behind the other. line_prefix.h has those that one
 * line shows, and those that the first lines of a log show.
 *
 * A log without them passes through unchanged, in pieces of any size; a prefix
 * costs a call. The result does not depend on the pieces that come in.
 */
#pragma once

#include "controller/prefixes/line_prefix.h"
#include "protocol/base/buffer.h"

/* A part of the output, without prefixes. */
struct prefix_run {
	const char *text; /* valid during the call */
	size_t size;
	bool begins;          /* a line begins here; else one is continued */
	uint64_t offset;      /* of the text in the output, in bytes */
	uint64_t line_offset; /* of the first line, with its prefixes */
	uint64_t line;        /* number of the first line, from 1 */
	struct line_origin origin; /* of the first line */
	const char *prefix;        /* of the first line; NULL: none */
	size_t prefix_size;
};

/* -1: out of memory, or the function gives up. */
typedef int prefix_fn(const struct prefix_run *run, void *arg);

struct prefixes;

/* fn gets the runs. NULL: ENOMEM. */
struct prefixes *prefixes_new(prefix_fn *fn, void *arg, struct error *err);
void prefixes_free(struct prefixes *prefixes);
OWNED_POINTER(struct prefixes, prefixes_free)

/* The next bytes of the output. -1: out of memory, or fn returned -1. */
int prefixes_feed(struct prefixes *prefixes, const void *data, size_t size);

/* The output ends here. */
int prefixes_finish(struct prefixes *prefixes);

/* Append a whole text without its prefixes to a buffer. E2BIG, ENOMEM. */
int prefixes_remove(const char *text, size_t size, struct buffer *to,
		    struct error *err);
