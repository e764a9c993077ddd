/* followed.h - the index of a task's streams beside the ranks' own.
 *
 * regatta-init writes it (agent/init/init.h), one line of JSON for each, into
 * the stream node-<N> of the task with node rank N; agent and controller read
 * it. It is written inside the container: anything may stand there.
 */
#ifndef PROTOCOL_FOLLOWED_H
#define PROTOCOL_FOLLOWED_H

#include "protocol/codec.h"

#define FOLLOWED_MAX 128        /* followed files of a task */
#define FOLLOWED_LINE_MAX 32768 /* bytes in a line of the index */
#define FOLLOWED_NAME_MAX 64    /* bytes in a stream's name */

/* A followed file has a path; a rank's log that was cut has what is kept. */
struct followed {
	char *stream;
	char *path;    /* in the container; NULL: a rank's log */
	uint32_t part; /* from 1; files of one path follow each other */
	uint64_t kept; /* bytes */
};

void followed_clear(struct followed *followed);
OWNED_VALUE(struct followed, followed_clear)

/* Read a line, without its newline. EPROTO says what is wrong. The stream's
 * name is one that the node may use: rank-..., or node-<node>.<name> with a
 * path.
 */
int followed_parse(const char *line, size_t size, uint32_t node,
		   struct followed *followed, struct error *err);

/* The name of the index; and is it that, or of a followed file, of the node? */
void followed_index(uint32_t node, char name[FOLLOWED_NAME_MAX + 1]);
bool followed_belongs(uint32_t node, const char *stream);

/* Is it any node's index? */
bool followed_is_index(const char *stream);

/* Call fn for each whole line of text, and return how many bytes they are. A
 * line of more than FOLLOWED_LINE_MAX bytes is left out.
 */
typedef void followed_line_fn(void *arg, const char *line, size_t size);
size_t followed_lines(const char *text, size_t size, followed_line_fn *fn,
		      void *arg);

#endif
