/* pump.c - spool files to byte streams: offsets, credit, starting over.
 */
#include "agent/tasks/pump.h"
#include "protocol/base/file.h"
#include "protocol/base/loop.h"
#include "protocol/message/stream_index.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/stat.h>

#define RUN_BYTES (4 << 20) /* sent before other sources get their turn */

struct pump_stream {
	struct pump *pump;
	struct task_id id;
	enum spool_writer writer;
	char name[STREAM_INDEX_NAME_MAX + 1];
	int fd;
	pump_look_fn *look;
	void *look_arg;
	uint64_t base; /* where in the stream the file begins */
	uint64_t kept; /* of the file, at most; what was cut off it counts */
	uint32_t cuts;
	uint64_t sent;  /* the next byte to send */
	uint64_t acked; /* the controller has what is before it */
	uint32_t turn;
	bool known; /* the controller's length was heard in this session */
	int64_t not_before_ms;
	TAILQ_ENTRY(pump_stream) next;
};

struct pump {
	sd_event *loop;
	struct spool *spool;
	pump_send_fn *send;
	void *arg;
	sd_event_source *timer, *poll;
	int64_t due_ms; /* when the timer runs; 0: not armed */
	uint64_t credit;
	uint64_t under_way; /* sum over streams of sent - acked */
	char *frame;
	TAILQ_HEAD(, pump_stream) streams; /* the next one to send is first */
	size_t count;
};

static int pump_run(sd_event_source *source, uint64_t usec, void *arg);

static void pump_arm(struct pump *pump, uint64_t delay_ms)
{
	int64_t due_ms = clock_mono_ms() + (int64_t)delay_ms;

	if (pump->due_ms && pump->due_ms <= due_ms)
		return;
	if (loop_timer(pump->loop, &pump->timer, delay_ms, pump_run, pump,
		       NULL) == 0)
		pump->due_ms = due_ms;
}

void pump_wake(struct pump *pump)
{
	pump_arm(pump, PUMP_DELAY_MS);
}

static int stream_open(struct pump_stream *stream)
{
	if (stream->fd < 0)
		stream->fd =
			spool_open_stream(stream->pump->spool, &stream->id,
					  stream->writer, stream->name, NULL);
	return stream->fd;
}

static void stream_rewind(struct pump_stream *stream, uint64_t length)
{
	stream->pump->under_way -= stream->sent - stream->acked;
	/* What was cut off the file before it had come is lost: what is in it
	 * now goes on where the controller stands. */
	if (length < stream->base)
		stream->base = length;
	stream->sent = length;
	stream->acked = length;
	stream->turn++;
	stream->known = true;
}

static void stream_look(struct pump_stream *stream)
{
	if (stream->look)
		stream->look(stream->look_arg);
}

/* Bytes in the file; a file that got shorter than what was sent of it begins
 * anew behind that.
 */
static uint64_t file_size(struct pump_stream *stream)
{
	uint64_t size;
	struct stat st;

	if (stream_open(stream) < 0 || fstat(stream->fd, &st) < 0)
		return 0;
	size = (uint64_t)st.st_size;
	if (stream->known && stream->base + size < stream->sent &&
	    stream->sent - stream->base < stream->kept) {
		stream->kept -= stream->sent - stream->base;
		stream->base = stream->sent;
		stream->cuts++;
	}
	return size < stream->kept ? size : stream->kept;
}

/* How many of `size` bytes from where we are belong to the stream. */
static size_t within(const struct pump_stream *stream, uint64_t end,
		     size_t size)
{
	uint64_t at = stream->sent - stream->base;

	if (at >= end)
		return 0;
	return size < end - at ? size : (size_t)(end - at);
}

/* Send the next frame: bytes sent, 0: nothing to send, -1: not now. */
static ssize_t stream_send(struct pump_stream *stream)
{
	struct pump *pump = stream->pump;
	struct message_log log = {
		.job = stream->id.job,
		.attempt = stream->id.attempt,
		.rank = stream->id.rank,
		.stream = stream->name,
		.offset = stream->sent,
		.turn = stream->turn,
	};
	size_t size = PUMP_FRAME_MAX;
	ssize_t got;

	if (pump->under_way >= pump->credit)
		return -1;
	if (size > pump->credit - pump->under_way)
		size = pump->credit - pump->under_way;
	size = within(stream, file_size(stream), size);
	log.offset = stream->sent;
	got = size ? pread(stream->fd, pump->frame, size,
			   (off_t)(stream->sent - stream->base))
		   : 0;
	if (got <= 0)
		return 0;
	/* It may have been cut meanwhile; what came behind is none of it. */
	stream_look(stream);
	got = (ssize_t)within(stream, stream->kept, (size_t)got);
	if (!got)
		return 0;
	if (pump->send(pump->arg, &log, pump->frame, (size_t)got) < 0)
		return -1;
	stream->sent += (uint64_t)got;
	pump->under_way += (uint64_t)got;
	return got;
}

static bool stream_may_send(struct pump_stream *stream, int64_t now)
{
	return stream->known && stream->not_before_ms <= now &&
	       stream_open(stream) >= 0;
}

static int pump_run(sd_event_source *source, uint64_t usec, void *arg)
{
	struct pump *pump = arg;
	int64_t now = clock_mono_ms();
	struct pump_stream *stream;
	size_t total = 0, idle = 0;

	pump->due_ms = 0;
	/* A frame of each in turn, and the next run goes on behind the last,
	 * so that no stream starves: also not when the credit is never enough
	 * for all of them. */
	while (idle < pump->count && total < RUN_BYTES) {
		ssize_t n = 0;

		stream = TAILQ_FIRST(&pump->streams);
		if (stream_may_send(stream, now))
			n = stream_send(stream);
		if (n < 0)
			return 0; /* the next ack wakes us */
		TAILQ_REMOVE(&pump->streams, stream, next);
		TAILQ_INSERT_TAIL(&pump->streams, stream, next);
		idle = n ? 0 : idle + 1;
		total += (size_t)n;
	}
	if (idle < pump->count)
		pump_arm(pump, 0);
	return 0;
}

/* Events of the file system are a hint; this look is what counts. */
static int poll_run(sd_event_source *source, uint64_t usec, void *arg)
{
	struct pump *pump = arg;
	struct pump_stream *stream;

	TAILQ_FOREACH(stream, &pump->streams, next)
	{
		stream_look(stream);
	}
	if (!TAILQ_EMPTY(&pump->streams))
		pump_wake(pump);
	loop_timer(pump->loop, &pump->poll, PUMP_POLL_MS, poll_run, pump, NULL);
	return 0;
}

struct pump *pump_new(sd_event *loop, struct spool *spool, pump_send_fn *send,
		      void *arg, struct error *err)
{
	owned(pump_free) struct pump *pump = calloc(1, sizeof(*pump));

	if (!pump) {
		error_nomem(err, "pump");
		return NULL;
	}
	TAILQ_INIT(&pump->streams);
	pump->frame = malloc(PUMP_FRAME_MAX);
	if (!pump->frame) {
		error_nomem(err, "pump");
		return NULL;
	}
	pump->loop = sd_event_ref(loop);
	pump->spool = spool;
	pump->send = send;
	pump->arg = arg;
	if (loop_timer(loop, &pump->poll, PUMP_POLL_MS, poll_run, pump, err) <
	    0)
		return NULL;
	return take(pump);
}

void pump_free(struct pump *pump)
{
	struct pump_stream *stream;

	if (!pump)
		return;
	while ((stream = TAILQ_FIRST(&pump->streams)))
		pump_remove(stream);
	loop_source_free(&pump->timer);
	loop_source_free(&pump->poll);
	sd_event_unref(pump->loop);
	free(pump->frame);
	free(pump);
}

void pump_session(struct pump *pump, uint64_t credit_bytes)
{
	struct pump_stream *stream;

	pump->credit = credit_bytes;
	TAILQ_FOREACH(stream, &pump->streams, next)
	{
		stream_rewind(stream, stream->acked);
		stream->known = false;
	}
}

struct pump_stream *pump_add(struct pump *pump, const struct task_id *id,
			     enum spool_writer writer, const char *name,
			     bool fresh, struct error *err)
{
	struct pump_stream *stream = calloc(1, sizeof(*stream));

	if (!stream) {
		error_nomem(err, "stream");
		return NULL;
	}
	stream->pump = pump;
	stream->id = *id;
	stream->writer = writer;
	stream->known = fresh && pump->credit;
	stream->turn = 1; /* 0 is the controller's own word */
	stream->fd = -1;
	stream->kept = UINT64_MAX;
	snprintf(stream->name, sizeof(stream->name), "%s", name);
	TAILQ_INSERT_TAIL(&pump->streams, stream, next);
	pump->count++;
	return stream;
}

void pump_remove(struct pump_stream *stream)
{
	if (!stream)
		return;
	stream->pump->under_way -= stream->sent - stream->acked;
	TAILQ_REMOVE(&stream->pump->streams, stream, next);
	stream->pump->count--;
	if (stream->fd >= 0)
		close(stream->fd);
	free(stream);
}

static struct pump_stream *stream_find(struct pump *pump,
				       const struct message_log_ack *ack)
{
	struct task_id id = { ack->job, ack->attempt, ack->rank };
	struct pump_stream *stream;

	TAILQ_FOREACH(stream, &pump->streams, next)
	{
		if (task_id_equal(&stream->id, &id) &&
		    !strcmp(stream->name, ack->stream))
			return stream;
	}
	return NULL;
}

void pump_ack(struct pump *pump, const struct message_log_ack *ack)
{
	struct pump_stream *stream = stream_find(pump, ack);

	/* Turn 0: the controller's length at the begin of a session. Acks of
	 * an earlier turn speak of bytes that are sent again anyway. */
	if (!stream || (ack->turn && ack->turn != stream->turn))
		return;
	if (!ack->turn || ack->refused) {
		stream_rewind(stream, ack->length);
		stream->not_before_ms = clock_mono_ms() + ack->retry_ms;
	} else if (ack->length >= stream->acked &&
		   ack->length <= stream->sent) {
		pump->under_way -= ack->length - stream->acked;
		stream->acked = ack->length;
	}
	pump_arm(pump, ack->retry_ms);
}

const char *pump_name(const struct pump_stream *stream)
{
	return stream->name;
}

void pump_set_look(struct pump_stream *stream, pump_look_fn *look, void *arg)
{
	stream->look = look;
	stream->look_arg = arg;
}

void pump_bound(struct pump_stream *stream, uint64_t kept)
{
	if (kept < stream->kept)
		stream->kept = kept;
}

uint64_t pump_size(struct pump_stream *stream)
{
	uint64_t size = file_size(stream);

	return stream->base + size;
}

uint32_t pump_cuts(const struct pump_stream *stream)
{
	return stream->cuts;
}
