/* streams.c - the output streams of a task: its ranks', those that regatta-init
 * announces in the index of followed files, and the agent's samples.
 */
#include "agent/task/streams.h"
#include "protocol/hardware/sample_format.h"
#include "protocol/message/evidence.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PIECE (2 * STREAM_INDEX_LINE_MAX)
#define INDEX_MAX (8 << 20) /* bytes of the index that are read at most */
#define EVIDENCE_MAX (64 << 20)

static void streams_look_due(void *arg)
{
	streams_look(arg);
}

static struct log_sender_stream *stream_add(struct streams *streams,
					    enum spool_folder folder,
					    const char *name, uint64_t limit,
					    struct error *err)
{
	struct log_sender_stream *stream =
		log_sender_add(streams->sender, &streams->id, folder, name,
			       streams->fresh, err);

	if (!stream)
		return NULL;
	log_sender_bound(stream, limit);
	log_sender_set_look(stream, streams_look_due, streams);
	streams->items[streams->count++] = stream;
	return stream;
}

static struct log_sender_stream *streams_find(const struct streams *streams,
					      const char *name)
{
	for (size_t i = 0; i < streams->count; i++)
		if (!strcmp(log_sender_name(streams->items[i]), name))
			return streams->items[i];
	return NULL;
}

static bool has_evidence(const struct streams *streams)
{
	char name[EVIDENCE_STREAM_SIZE];
	int fd;

	evidence_stream(streams->id.rank, name);
	fd = spool_open_stream(streams->spool, &streams->id, SPOOL_HOST, name,
			       NULL);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

int streams_add_evidence(struct streams *streams, struct error *err)
{
	char name[EVIDENCE_STREAM_SIZE];

	evidence_stream(streams->id.rank, name);
	return streams_find(streams, name) ||
			       stream_add(streams, SPOOL_HOST, name,
					  EVIDENCE_MAX, err)
		       ? 0
		       : -1;
}

int streams_open(struct streams *streams, struct log_sender *sender,
		 struct spool *spool, const struct task_spec *spec, bool fresh,
		 struct error *err)
{
	uint32_t count = spec->container.processes;
	uint64_t limit = spec->container.log_limit_bytes;
	char name[32];

	*streams = (struct streams){
		.sender = sender,
		.spool = spool,
		.id = task_spec_id(spec),
		.limit = limit ? limit : LOG_LIMIT_DEFAULT,
		.fresh = fresh,
	};
	if (count > INIT_PROCESSES_MAX)
		return error_set(err, EINVAL,
				 "processes: %u is not valid here; expected 0 "
				 "to %d",
				 count, INIT_PROCESSES_MAX);
	for (uint32_t i = 0; i < (count ? count : 1); i++) {
		snprintf(name, sizeof(name), "rank-%u", spec->first_rank + i);
		if (!stream_add(streams, SPOOL_OUT, name, streams->limit, err))
			return -1;
	}
	sample_format_stream(spec->rank, name);
	if (!stream_add(streams, SPOOL_HOST, name, LOG_LIMIT_DEFAULT, err))
		return -1;
	build_stream(spec->rank, name);
	if (spec->container.build &&
	    !stream_add(streams, SPOOL_HOST, name, LOG_LIMIT_DEFAULT, err))
		return -1;
	if (has_evidence(streams) && streams_add_evidence(streams, err) < 0)
		return -1;
	/* Of streams that exist by now, the controller may have a part. */
	streams_look(streams);
	streams->fresh = true;
	return 0;
}

void streams_clear(struct streams *streams)
{
	for (size_t i = 0; i < streams->count; i++)
		log_sender_remove(streams->items[i]);
	streams->count = 0;
	if (streams->indexed)
		close(streams->index);
	streams->indexed = false;
}

/* stream_index_line_fn: invalid lines are skipped. */
static void streams_take_line(void *arg, const char *line, size_t size)
{
	struct streams *streams = arg;
	owned(stream_index_clear) struct stream_index followed = { 0 };
	size_t room = sizeof(streams->items) / sizeof(streams->items[0]);
	struct log_sender_stream *stream;

	if (stream_index_parse(line, size, streams->id.rank, &followed, NULL) <
	    0)
		return;
	stream = streams_find(streams, followed.stream);
	if (stream && !followed.path)
		log_sender_bound(stream, followed.kept);
	else if (!stream && followed.path && streams->count < room)
		stream_add(streams, SPOOL_OUT, followed.stream, streams->limit,
			   NULL);
}

/* Add the index as a stream as soon as it exists. */
static bool open_index(struct streams *streams)
{
	char name[STREAM_INDEX_NAME_MAX + 1];
	struct log_sender_stream *stream;
	int fd;

	if (streams->indexed)
		return true;
	stream_index_index(streams->id.rank, name);
	fd = spool_open_stream(streams->spool, &streams->id, SPOOL_OUT, name,
			       NULL);
	if (fd < 0)
		return false;
	stream = stream_add(streams, SPOOL_OUT, name, INDEX_MAX, NULL);
	if (!stream) {
		close(fd);
		return false;
	}
	streams->index = fd;
	streams->indexed = true;
	return true;
}

void streams_look(struct streams *streams)
{
	char piece[PIECE];
	ssize_t got;

	if (!open_index(streams))
		return;
	while (streams->read < INDEX_MAX &&
	       (got = pread(streams->index, piece, sizeof(piece),
			    (off_t)streams->read)) > 0) {
		size_t done = stream_index_lines(piece, (size_t)got,
						 streams_take_line, streams);

		if (!done && (size_t)got < sizeof(piece))
			return; /* a line whose end has not come */
		streams->read += done ? done : (size_t)got;
	}
}

int streams_list(struct streams *streams, struct stream_size **list,
		 size_t *count)
{
	*count = 0;
	*list = calloc(streams->count + 1, sizeof(**list));
	if (!*list)
		return -1;
	for (size_t i = 0; i < streams->count; i++) {
		struct stream_size *to = &(*list)[*count];

		to->size = log_sender_size(streams->items[i]);
		to->name = strdup(log_sender_name(streams->items[i]));
		if (!to->name)
			return -1;
		(*count)++;
	}
	return 0;
}

uint64_t streams_size(struct streams *streams)
{
	uint64_t size = 0;

	for (size_t i = 0; i < streams->count; i++)
		if (!strncmp(log_sender_name(streams->items[i]), "rank-", 5))
			size += log_sender_size(streams->items[i]);
	return size;
}

const char *streams_cut(const struct streams *streams)
{
	for (size_t i = 0; i < streams->count; i++)
		if (log_sender_cuts(streams->items[i]))
			return log_sender_name(streams->items[i]);
	return NULL;
}
