/* index_writer.h - the lines that say which streams there are beside the ranks'
 * logs.
 *
 * agent/init/init.h has their form. The file is made with the first line. A
 * line is written completely or not at all.
 */
#pragma once

#include "protocol/base/error.h"

#include <stdint.h>

struct index_writer {
	int out; /* the folder; borrowed */
	uint64_t node;
	int fd;
};

void index_writer_init(struct index_writer *index, int out, uint64_t node);
void index_writer_clear(struct index_writer *index);

/* Announce a followed file and make its <stream>.log. Returns the descriptor of
 * that, or -1 with *why; then nothing was made.
 */
int index_writer_follow(struct index_writer *index, const char *stream,
			const char *path, unsigned part, struct error *why);

/* Announce that a rank's log was cut, and ends at `kept` bytes. */
int index_writer_kept(struct index_writer *index, const char *stream,
		      uint64_t kept, struct error *why);
