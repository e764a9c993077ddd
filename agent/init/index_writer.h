/* index_writer.h - the lines that say which streams there are beside the ranks'
 * logs.
 *
 * Their form stands in agent/init/init.h. The file is made with the first line;
 * a line is there as a whole or not at all.
 */
#ifndef AGENT_INIT_INDEX_WRITER_H
#define AGENT_INIT_INDEX_WRITER_H

#include "agent/init/start_error.h"

#include <stdint.h>

struct index_writer {
	int out; /* the folder; borrowed */
	uint64_t node;
	int fd;
};

void index_writer_init(struct index_writer *index, int out, uint64_t node);
void index_writer_clear(struct index_writer *index);

/* A followed file: its bytes are in <stream>.log, which is made here; its
 * descriptor, or -1 with *why and nothing is there.
 */
int index_writer_follow(struct index_writer *index, const char *stream,
			const char *path, unsigned part,
			struct start_error *why);

/* A rank's log ends at `kept` bytes, whatever is written to it. */
int index_writer_kept(struct index_writer *index, const char *stream,
		      uint64_t kept, struct start_error *why);

#endif
