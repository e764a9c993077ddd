/* log_sender.c - sends the files of a spool to the controller as byte
 * streams.
 */
#include "agent/logs/log_sender.h"
#include "protocol/base/clock.h"
#include "protocol/base/loop.h"
#include "protocol/message/stream_index.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/stat.h>

#define RUN_BYTES (1 << 20) /* bytes sent in one turn of the loop */

struct log_sender_stream {
	struct log_sender *sender;
	struct task_id id;
	enum spool_folder folder;
	char name[STREAM_INDEX_NAME_MAX + 1];
	int fd;
	log_sender_look_fn *look;
	void *look_arg;
	uint64_t base; /* offset of the file in the stream */
	uint64_t kept; /* limit of the file, with bytes that were cut off */
	uint32_t cuts;
	uint64_t sent;  /* offset of the next byte to send */
	uint64_t acked; /* offset up to which the controller has the stream */
	uint32_t turn;
	bool known; /* the controller reported its length in this session */
	int64_t not_before_ms;
	TAILQ_ENTRY(log_sender_stream) next;
};

struct log_sender {
	sd_event *loop;
	struct spool *spool;
	log_sender_send_fn *send;
	void *arg;
	sd_event_source *timer, *poll;
	struct deferral *soon; /* in place of a timer that is due */
	int64_t polled_ms;
	int64_t due_ms; /* when the timer runs; 0: not armed */
	uint32_t poll_ms;
	uint64_t credit;
	uint64_t under_way; /* unacknowledged bytes of all streams */
	char *frame;
	TAILQ_HEAD(, log_sender_stream)
	streams; /* the next one to send is first */
	size_t count;
};

static int log_sender_run(sd_event_source *source, uint64_t usec, void *arg);

static void log_sender_arm(struct log_sender *sender, uint64_t delay_ms)
{
	int64_t due_ms = clock_mono_ms() + (int64_t)delay_ms;

	if (!delay_ms) {
		deferral_run(sender->soon);
		return;
	}
	if (sender->due_ms && sender->due_ms <= due_ms)
		return;
	if (loop_timer(sender->loop, &sender->timer, delay_ms, log_sender_run,
		       sender, NULL) == 0)
		sender->due_ms = due_ms;
}

void log_sender_wake(struct log_sender *sender)
{
	log_sender_arm(sender, LOG_SENDER_DELAY_MS);
}

static int log_stream_open(struct log_sender_stream *stream)
{
	if (stream->fd < 0)
		stream->fd =
			spool_open_stream(stream->sender->spool, &stream->id,
					  stream->folder, stream->name, NULL);
	return stream->fd;
}

static void stream_rewind(struct log_sender_stream *stream, uint64_t length)
{
	stream->sender->under_way -= stream->sent - stream->acked;
	/* Bytes that were cut off before they were sent are lost. The file
	 * continues at the controller's length.
	 */
	if (length < stream->base)
		stream->base = length;
	stream->sent = length;
	stream->acked = length;
	stream->turn++;
	stream->known = true;
}

static void stream_look(struct log_sender_stream *stream)
{
	if (stream->look)
		stream->look(stream->look_arg);
}

/* Bytes in the file. If it is shorter than what was sent, its bytes are new and
 * continue the stream.
 */
static uint64_t file_size(struct log_sender_stream *stream)
{
	uint64_t size;
	struct stat st;

	if (log_stream_open(stream) < 0 || fstat(stream->fd, &st) < 0)
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

/* How many of the next `size` bytes belong to the stream. */
static size_t log_stream_clip(const struct log_sender_stream *stream,
			      uint64_t end, size_t size)
{
	uint64_t at = stream->sent - stream->base;

	if (at >= end)
		return 0;
	return size < end - at ? size : (size_t)(end - at);
}

/* Send the next frame: bytes sent, 0: nothing to send, -1: not now. */
static ssize_t stream_send(struct log_sender_stream *stream)
{
	struct log_sender *sender = stream->sender;
	struct message_log log = {
		.job = stream->id.job,
		.attempt = stream->id.attempt,
		.rank = stream->id.rank,
		.stream = stream->name,
		.offset = stream->sent,
		.turn = stream->turn,
	};
	size_t size = LOG_SENDER_FRAME_MAX;
	ssize_t got;

	if (sender->under_way >= sender->credit)
		return -1;
	if (size > sender->credit - sender->under_way)
		size = sender->credit - sender->under_way;
	size = log_stream_clip(stream, file_size(stream), size);
	log.offset = stream->sent;
	got = size ? pread(stream->fd, sender->frame, size,
			   (off_t)(stream->sent - stream->base))
		   : 0;
	if (got <= 0)
		return 0;
	/* The file may have been cut meanwhile: bytes behind its limit do not
	 * count.
	 */
	stream_look(stream);
	got = (ssize_t)log_stream_clip(stream, stream->kept, (size_t)got);
	if (!got)
		return 0;
	if (sender->send(sender->arg, &log, sender->frame, (size_t)got) < 0)
		return -1;
	stream->sent += (uint64_t)got;
	sender->under_way += (uint64_t)got;
	return got;
}

static bool stream_may_send(struct log_sender_stream *stream, int64_t now)
{
	return stream->known && stream->not_before_ms <= now &&
	       log_stream_open(stream) >= 0;
}

static int log_sender_run(sd_event_source *source, uint64_t usec, void *arg)
{
	struct log_sender *sender = arg;
	int64_t now = clock_mono_ms();
	struct log_sender_stream *stream;
	size_t total = 0, idle = 0;

	sender->due_ms = 0;
	/* One frame of each stream in turn. The next run continues behind the
	 * last stream, so none starves even if the credit is small.
	 */
	while (idle < sender->count && total < RUN_BYTES) {
		ssize_t n = 0;

		stream = TAILQ_FIRST(&sender->streams);
		if (stream_may_send(stream, now))
			n = stream_send(stream);
		if (n < 0)
			return 0; /* the next ack wakes us */
		TAILQ_REMOVE(&sender->streams, stream, next);
		TAILQ_INSERT_TAIL(&sender->streams, stream, next);
		idle = n ? 0 : idle + 1;
		total += (size_t)n;
	}
	if (idle < sender->count)
		log_sender_arm(sender, 0);
	return 0;
}

static void log_sender_run_soon(void *arg)
{
	log_sender_run(NULL, 0, arg);
}

static int log_sender_poll(sd_event_source *source, uint64_t usec, void *arg);

/* File system events are only a hint, so files are also polled. */
static void log_sender_check(struct log_sender *sender, uint32_t next_ms)
{
	struct log_sender_stream *stream;

	sender->polled_ms = clock_mono_ms();
	TAILQ_FOREACH(stream, &sender->streams, next)
		stream_look(stream);
	loop_timer(sender->loop, &sender->poll, next_ms, log_sender_poll,
		   sender, NULL);
	log_sender_run(NULL, 0, sender);
}

static int log_sender_poll(sd_event_source *source, uint64_t usec, void *arg)
{
	struct log_sender *sender = arg;

	log_sender_check(sender, sender->poll_ms);
	return 0;
}

/* Who joins regularly comes before the timer. */
void log_sender_join(struct log_sender *sender)
{
	uint32_t quarter_ms = sender->poll_ms / 4;

	if (clock_mono_ms() - sender->polled_ms >= 3 * (int64_t)quarter_ms)
		log_sender_check(sender, sender->poll_ms + quarter_ms);
}

void log_sender_set_poll(struct log_sender *sender, uint32_t poll_ms)
{
	sender->poll_ms = poll_ms;
	loop_timer(sender->loop, &sender->poll, poll_ms, log_sender_poll,
		   sender, NULL);
}

struct log_sender *log_sender_new(sd_event *loop, struct spool *spool,
				  log_sender_send_fn *send, void *arg,
				  struct error *err)
{
	owned(log_sender_free) struct log_sender *sender =
		error_calloc(sizeof(*sender), "log sender", err);

	if (!sender)
		return NULL;
	TAILQ_INIT(&sender->streams);
	sender->frame = malloc(LOG_SENDER_FRAME_MAX);
	if (!sender->frame)
		return error_null(error_nomem(err, "log sender"));
	sender->loop = sd_event_ref(loop);
	sender->poll_ms = LOG_SENDER_POLL_MS;
	sender->spool = spool;
	sender->send = send;
	sender->arg = arg;
	sender->soon =
		deferral_new(loop, false, log_sender_run_soon, sender, err);
	if (!sender->soon)
		return NULL;
	if (loop_timer(loop, &sender->poll, LOG_SENDER_POLL_MS, log_sender_poll,
		       sender, err) < 0)
		return NULL;
	return take(sender);
}

void log_sender_free(struct log_sender *sender)
{
	struct log_sender_stream *stream;

	if (!sender)
		return;
	while ((stream = TAILQ_FIRST(&sender->streams)))
		log_sender_remove(stream);
	loop_source_free(&sender->timer);
	deferral_free(sender->soon);
	loop_source_free(&sender->poll);
	sd_event_unref(sender->loop);
	free(sender->frame);
	free(sender);
}

void log_sender_session(struct log_sender *sender, uint64_t credit_bytes)
{
	struct log_sender_stream *stream;

	sender->credit = credit_bytes;
	TAILQ_FOREACH(stream, &sender->streams, next) {
		stream_rewind(stream, stream->acked);
		stream->known = false;
	}
}

struct log_sender_stream *log_sender_add(struct log_sender *sender,
					 const struct task_id *id,
					 enum spool_folder folder,
					 const char *name, bool fresh,
					 struct error *err)
{
	struct log_sender_stream *stream =
		error_calloc(sizeof(*stream), "stream", err);

	if (!stream)
		return NULL;
	stream->sender = sender;
	stream->id = *id;
	stream->folder = folder;
	stream->known = fresh && sender->credit;
	stream->turn = 1; /* 0 means the controller's length */
	stream->fd = -1;
	stream->kept = UINT64_MAX;
	snprintf(stream->name, sizeof(stream->name), "%s", name);
	TAILQ_INSERT_TAIL(&sender->streams, stream, next);
	sender->count++;
	return stream;
}

void log_sender_remove(struct log_sender_stream *stream)
{
	if (!stream)
		return;
	stream->sender->under_way -= stream->sent - stream->acked;
	TAILQ_REMOVE(&stream->sender->streams, stream, next);
	stream->sender->count--;
	if (stream->fd >= 0)
		close(stream->fd);
	free(stream);
}

static struct log_sender_stream *stream_find(struct log_sender *sender,
					     const struct message_log_ack *ack)
{
	struct task_id id = { ack->job, ack->attempt, ack->rank };
	struct log_sender_stream *stream;

	TAILQ_FOREACH(stream, &sender->streams, next)
		if (task_id_equal(&stream->id, &id) &&
		    !strcmp(stream->name, ack->stream))
			return stream;
	return NULL;
}

void log_sender_ack(struct log_sender *sender,
		    const struct message_log_ack *ack)
{
	struct log_sender_stream *stream = stream_find(sender, ack);

	/* Turn 0: the controller's length at the begin of a session. Acks of an
	 * earlier turn are about bytes that are sent again.
	 */
	if (!stream || (ack->turn && ack->turn != stream->turn))
		return;
	if (!ack->turn || ack->refused) {
		stream_rewind(stream, ack->length);
		stream->not_before_ms = clock_mono_ms() + ack->retry_ms;
	} else if (ack->length >= stream->acked &&
		   ack->length <= stream->sent) {
		sender->under_way -= ack->length - stream->acked;
		stream->acked = ack->length;
	}
	log_sender_arm(sender, ack->retry_ms);
}

const char *log_sender_name(const struct log_sender_stream *stream)
{
	return stream->name;
}

void log_sender_set_look(struct log_sender_stream *stream,
			 log_sender_look_fn *look, void *arg)
{
	stream->look = look;
	stream->look_arg = arg;
}

void log_sender_bound(struct log_sender_stream *stream, uint64_t kept)
{
	if (kept < stream->kept)
		stream->kept = kept;
}

uint64_t log_sender_size(struct log_sender_stream *stream)
{
	uint64_t size = file_size(stream);

	return stream->base + size;
}

uint32_t log_sender_cuts(const struct log_sender_stream *stream)
{
	return stream->cuts;
}
