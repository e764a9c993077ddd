/* streams.h - the output streams of a task: its ranks', those that regatta-init
 * announces in the index of followed files, and the agent's samples.
 */
#pragma once

#include "agent/init/init.h"
#include "agent/logs/log_sender.h"
#include "protocol/message/stream_index.h"

struct streams {
	struct log_sender *sender;
	struct spool *spool;
	struct task_id id;
	uint64_t limit; /* of each, in bytes */
	uint64_t read;  /* bytes of the index */
	int index;      /* descriptor of the index, once it is sent */
	bool indexed;
	bool fresh; /* new streams are new to the controller, too */
	struct log_sender_stream
		*items[INIT_PROCESSES_MAX + 4 + STREAM_INDEX_MAX];
	size_t count;
};

/* Begin with the streams of the spec. fresh: as for log_sender_add(). The
 * struct must not move until streams_clear(), also on failure.
 */
int streams_open(struct streams *streams, struct log_sender *sender,
		 struct spool *spool, const struct task_spec *spec, bool fresh,
		 struct error *err);
void streams_clear(struct streams *streams); /* zero is fine */

/* Add the stream of evidence. Calling it again is success. */
int streams_add_evidence(struct streams *streams, struct error *err);

/* Read new lines of the index. The log sender also does so by itself. */
void streams_look(struct streams *streams);

/* Their names and sizes for a message; the caller frees the list. */
int streams_list(struct streams *streams, struct stream_size **list,
		 size_t *count);

/* Bytes of all ranks' output. */
uint64_t streams_size(struct streams *streams);

/* The name of a stream that the command truncated, or NULL. */
const char *streams_cut(const struct streams *streams);
