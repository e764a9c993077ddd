/* index.h - the lines that say which streams there are beside the ranks' logs.
 *
 * Their form stands in agent/init/init.h. The file is made with the first line;
 * a line is there as a whole or not at all.
 */
#ifndef AGENT_INIT_INDEX_H
#define AGENT_INIT_INDEX_H

#include "agent/init/start_error.h"

#include <stdint.h>

struct index {
	int out; /* the folder; borrowed */
	uint64_t node;
	int fd;
};

void index_init(struct index *index, int out, uint64_t node);
void index_clear(struct index *index);

/* A followed file: its bytes are in <stream>.log, which is made here; its
 * descriptor, or -1 with *why and nothing is there.
 */
int index_follow(struct index *index, const char *stream, const char *path,
		 unsigned part, struct start_error *why);

/* A rank's log ends at `kept` bytes, whatever is written to it. */
int index_kept(struct index *index, const char *stream, uint64_t kept,
	       struct start_error *why);

#endif
