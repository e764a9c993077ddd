/* log_sender_test.c - bytes leave a spool in order, within the credit, none
 * twice.
 */
#include "agent/logs/log_sender.h"

#include "protocol/base/clock.h"
#include "protocol/base/file.h"
#include "protocol/base/loop.h"
#include "tests/tap.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define FRAMES 4096
#define STREAMS 8
#define FRAME ((uint64_t)LOG_SENDER_FRAME_MAX)

struct sent {
	int stream; /* the number in its name */
	uint64_t offset;
	size_t size;
	uint32_t turn;
};

/* A log sender, and in place of the controller what the test says. */
struct bed {
	sd_event *loop;
	struct spool *spool;
	struct log_sender *sender;
	struct log_sender_stream *streams[STREAMS];
	struct sent sent[FRAMES];
	size_t count;            /* frames sent */
	size_t refuse;           /* sends to refuse before the next goes out */
	size_t refused;          /* have been */
	bool wrong;              /* bytes were not those of the file */
	uint64_t begin[STREAMS]; /* what the controller had at first */
	uint64_t base[STREAMS];  /* where the file begins in the stream */
	int looks;
	bool expired;
};

static const struct task_id id = { 7, 2, 0 };

/* Byte n of stream s. */
static char byte_at(int stream, uint64_t n)
{
	return (char)(n * 31 + n / 251 + (uint64_t)stream);
}

static int fake_send(void *arg, const struct message_log *log, const void *data,
		     size_t size)
{
	struct bed *bed = arg;
	const char *bytes = data;
	int stream = log->stream[5] - '0';

	if (bed->refuse) {
		bed->refuse--;
		bed->refused++;
		return -1;
	}
	bed->wrong |= log->job != id.job || log->attempt != id.attempt ||
		      log->rank != id.rank || !size ||
		      size > LOG_SENDER_FRAME_MAX || bed->count == FRAMES;
	for (size_t i = 0; i < size; i++)
		bed->wrong |=
			bytes[i] !=
			byte_at(stream, log->offset - bed->base[stream] + i);
	if (bed->count < FRAMES)
		bed->sent[bed->count++] =
			(struct sent){ stream, log->offset, size, log->turn };
	return 0;
}

static const char *path_of(int stream)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "spool/7.2.0/out/rank-%d.log", stream);
	return path;
}

/* Let the stream's file have so many bytes. */
static void write_to(int stream, uint64_t size)
{
	owned_fd int fd = open(path_of(stream),
			       O_RDWR | O_CREAT | O_CLOEXEC | O_APPEND, 0600);
	struct stat st = { 0 };

	fstat(fd, &st);
	for (uint64_t at = (uint64_t)st.st_size; at < size;) {
		char bytes[4096];
		size_t n = 0;

		for (; n < sizeof(bytes) && at + n < size; n++)
			bytes[n] = byte_at(stream, at + n);
		if (write(fd, bytes, n) != (ssize_t)n)
			ok(false, "cannot write %s", path_of(stream));
		at += n;
	}
}

static struct bed *bed_new(void)
{
	struct bed *bed = calloc(1, sizeof(*bed));
	struct task_spec spec = {
		.job = id.job,
		.attempt = id.attempt,
		.rank = id.rank,
		.nodes = 1,
		.world_size = 1,
		.processes_per_node = 1,
		.container = { .image = (char *)"x" },
	};
	struct error err;

	if (sd_event_new(&bed->loop) < 0 ||
	    !(bed->spool = spool_new(".", &err)) ||
	    spool_create(bed->spool, &spec, &err) < 0 ||
	    !(bed->sender = log_sender_new(bed->loop, bed->spool, fake_send,
					   bed, &err)))
		abort();
	return bed;
}

static void bed_free(struct bed *bed)
{
	ok(!bed->wrong, "every byte was that of its file");
	log_sender_free(bed->sender);
	spool_remove(bed->spool, &id, NULL);
	spool_free(bed->spool);
	sd_event_unref(bed->loop);
	free(bed);
}

static void add(struct bed *bed, int stream, bool fresh)
{
	char name[16];

	snprintf(name, sizeof(name), "rank-%d", stream);
	bed->streams[stream] =
		log_sender_add(bed->sender, &id, SPOOL_OUT, name, fresh, NULL);
}

static void ack_turn(struct bed *bed, int stream, uint64_t length,
		     uint32_t turn, bool refused, uint32_t retry_ms)
{
	char name[16];
	struct message_log_ack ack = {
		.job = id.job,
		.attempt = id.attempt,
		.rank = id.rank,
		.stream = name,
		.length = length,
		.turn = turn,
		.refused = refused,
		.retry_ms = retry_ms,
	};

	snprintf(name, sizeof(name), "rank-%d", stream);
	log_sender_ack(bed->sender, &ack);
}

/* The controller's length at the begin of a session. */
static void tell_length(struct bed *bed, int stream, uint64_t length)
{
	bed->begin[stream] = length;
	ack_turn(bed, stream, length, 0, true, 0);
}

/* The frame was taken. */
static void ack_frame(struct bed *bed, size_t frame)
{
	const struct sent *sent = &bed->sent[frame];

	ack_turn(bed, sent->stream, sent->offset + sent->size, sent->turn,
		 false, 0);
}

static int expire(sd_event_source *source, uint64_t usec, void *arg)
{
	((struct bed *)arg)->expired = true;
	return 0;
}

/* Run the loop until so many frames are sent, for at most five seconds. */
static bool frames(struct bed *bed, size_t count)
{
	sd_event_source *limit = NULL;

	bed->expired = false;
	loop_timer(bed->loop, &limit, 5000, expire, bed, NULL);
	while (bed->count < count && !bed->expired)
		sd_event_run(bed->loop, UINT64_MAX);
	loop_source_free(&limit);
	return bed->count >= count;
}

static uint64_t bytes_of(const struct bed *bed, int stream)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < bed->count; i++)
		if (bed->sent[i].stream == stream)
			bytes += bed->sent[i].size;
	return bytes;
}

/* Where one looked at all streams and sent what there was: a stream of one
 * byte that is there for this only, number 7, was sent in the same run.
 */
static void all_looked_at(struct bed *bed)
{
	uint64_t had = bytes_of(bed, 7);

	if (!bed->streams[7])
		add(bed, 7, true);
	write_to(7, had + 1);
	log_sender_wake(bed->sender);
	for (size_t count = bed->count + 1; bytes_of(bed, 7) == had; count++)
		if (!frames(bed, count))
			break;
	ack_turn(bed, 7, had + 1, 1, false, 0);
}

static void length_first(void)
{
	struct bed *bed = bed_new();

	log_sender_session(bed->sender, 1000);
	add(bed, 0, false);
	write_to(0, 10);
	all_looked_at(bed);
	is_int((long long)bytes_of(bed, 0), 0,
	       "nothing is sent before the controller's length is heard");
	tell_length(bed, 0, 4);
	ok(frames(bed, bed->count + 1), "then it is");
	ok(bed->sent[bed->count - 1].offset == 4 &&
		   bed->sent[bed->count - 1].size == 6,
	   "from there to the end");
	is(log_sender_name(bed->streams[0]), "rank-0", "a stream has its name");
	is_int((long long)log_sender_size(bed->streams[0]), 10, "and its size");
	bed_free(bed);
}

static void contiguous(void)
{
	struct bed *bed = bed_new();
	uint64_t next = 0;
	size_t whole = 3000000 / FRAME + 1;
	bool good = true;

	log_sender_session(bed->sender, 8 << 20);
	add(bed, 0, true);
	write_to(0, 3000000);
	log_sender_wake(bed->sender);
	ok(frames(bed, whole), "a fresh stream is sent at once");
	write_to(0, 3000100);
	log_sender_wake(bed->sender);
	ok(frames(bed, whole + 1), "and what comes later, later");
	for (size_t i = 0; i < bed->count; i++) {
		good &= bed->sent[i].offset == next && bed->sent[i].turn == 1;
		next += bed->sent[i].size;
	}
	ok(good, "each frame begins where the one before ended");
	is_int((long long)next, 3000100, "up to the last byte");
	bed_free(bed);
}

/* What comes from one run of the loop to the next fits the credit. */
static void credit(void)
{
	struct bed *bed = bed_new();
	uint64_t sent[2] = { 0, 0 }, acked[2] = { 0, 0 };
	size_t acks = 0;
	bool within = true;

	log_sender_session(bed->sender, 100);
	add(bed, 0, true);
	add(bed, 1, true);
	write_to(0, 700);
	write_to(1, 333);
	log_sender_wake(bed->sender);
	while (acked[0] + acked[1] < 1033 && frames(bed, acks + 1)) {
		const struct sent *frame;

		sent[0] = bytes_of(bed, 0);
		sent[1] = bytes_of(bed, 1);
		within &= sent[0] + sent[1] - acked[0] - acked[1] <= 100;
		frame = &bed->sent[acks];
		acked[frame->stream] = frame->offset + frame->size;
		ack_frame(bed, acks++);
	}
	ok(within, "never more is under way than the credit");
	ok(acked[0] == 700 && acked[1] == 333, "and all arrives");
	bed_free(bed);
}

static void odd_acks(void)
{
	struct bed *bed = bed_new();

	log_sender_session(bed->sender, 100);
	add(bed, 0, true);
	write_to(0, 1000);
	log_sender_wake(bed->sender);
	frames(bed, 1);
	ack_turn(bed, 0, 101, 1, false, 0);
	ack_turn(bed, 0, UINT64_MAX, 1, false, 0);
	ack_turn(bed, 0, 100, 9, false, 0);
	ack_turn(bed, 3, 100, 1, false, 0);
	ack_turn(bed, 0, 60, 1, false, 0);
	ack_turn(bed, 0, 50, 1, false, 0);
	ok(frames(bed, 2), "an ack for a part makes room for that part");
	ok(bed->sent[1].offset == 100 && bed->sent[1].size == 60,
	   "acks of more than was sent, of less than before, of other turns "
	   "and streams change nothing");
	bed_free(bed);
}

static void refused(void)
{
	struct bed *bed = bed_new();
	int64_t begin;

	log_sender_session(bed->sender, 8 << 20);
	add(bed, 0, true);
	write_to(0, 5 * FRAME);
	log_sender_wake(bed->sender);
	frames(bed, 5);
	begin = clock_mono_ms();
	/* The controller took 1000 bytes of the second frame, and refuses all
	 * that are behind it. */
	ack_turn(bed, 0, FRAME, 1, false, 0);
	for (int i = 0; i < 4; i++)
		ack_turn(bed, 0, FRAME + 1000, 1, true, 50);
	ok(frames(bed, 9), "what is refused is sent again");
	ok(bed->sent[5].offset == FRAME + 1000 && bed->sent[5].turn == 2,
	   "from where the controller stands, in a new turn");
	ok(clock_mono_ms() - begin >= 50, "and not before it wants it");
	ack_turn(bed, 0, 2 * FRAME, 1, true, 0);
	ack_turn(bed, 0, 4 * FRAME, 1, false, 0);
	all_looked_at(bed);
	ok(bytes_of(bed, 0) == 9 * FRAME - 1000,
	   "once, however many frames were refused");
	ack_turn(bed, 0, 3 * FRAME, 2, true, 0);
	ok(frames(bed, bed->count + 1) &&
		   bed->sent[bed->count - 2].offset == 3 * FRAME &&
		   bed->sent[bed->count - 2].turn == 3,
	   "a refusal of the new turn begins another");
	bed_free(bed);
}

static void sessions(void)
{
	struct bed *bed = bed_new();

	add(bed, 0, true);
	write_to(0, 10);
	log_sender_session(bed->sender, 100);
	all_looked_at(bed);
	is_int((long long)bytes_of(bed, 0), 0,
	       "a stream made before the session waits for its length");
	tell_length(bed, 0, 0);
	frames(bed, bed->count + 1);
	is_int((long long)bytes_of(bed, 0), 10, "and is sent then");
	log_sender_session(bed->sender, 0);
	write_to(0, 20);
	log_sender_session(bed->sender, 100);
	ack_turn(bed, 0, 10, 1, false, 0);
	log_sender_remove(bed->streams[7]);
	bed->streams[7] = NULL;
	unlink(path_of(7));
	all_looked_at(bed);
	is_int((long long)bytes_of(bed, 0), 10,
	       "after a loss nothing is sent before the length is heard again, "
	       "whatever acks come late");
	tell_length(bed, 0, 6);
	frames(bed, bed->count + 1);
	ok(bed->sent[bed->count - 1].offset == 6 &&
		   bed->sent[bed->count - 1].size == 14,
	   "it goes on at the controller's length, if that is less");
	log_sender_session(bed->sender, 100);
	write_to(0, 30);
	tell_length(bed, 0, 25);
	frames(bed, bed->count + 1);
	ok(bed->sent[bed->count - 1].offset == 25 &&
		   bed->sent[bed->count - 1].size == 5,
	   "or more, than what it had heard of");
	bed_free(bed);
}

static void files_that_come_and_shrink(void)
{
	struct bed *bed = bed_new();

	log_sender_session(bed->sender, 1000);
	add(bed, 0, true);
	add(bed, 1, false);
	is_int((long long)log_sender_size(bed->streams[0]), 0,
	       "a file that is not there is empty");
	write_to(1, 10);
	bed->base[1] = 100;
	tell_length(bed, 1, 100);
	all_looked_at(bed);
	ok(!bytes_of(bed, 0), "a file that is not there is waited for");
	ok(bytes_of(bed, 1) == 10 && log_sender_cuts(bed->streams[1]) == 1,
	   "one shorter than the controller's was cut: what is in it is new");
	is_int((long long)log_sender_size(bed->streams[1]), 110,
	       "and goes on where the controller stands");
	write_to(0, 5);
	log_sender_wake(bed->sender);
	ok(frames(bed, bed->count + 1) && bytes_of(bed, 0) == 5,
	   "one that appears is sent");
	write_to(1, 103);
	all_looked_at(bed);
	is_int((long long)bytes_of(bed, 1), 103, "one that grows goes on");
	if (truncate(path_of(1), 0) < 0)
		ok(false, "cannot truncate");
	all_looked_at(bed);
	ok(bytes_of(bed, 1) == 103 && log_sender_cuts(bed->streams[1]) == 2,
	   "one that is cut to nothing is noticed");
	bed->base[1] = 203;
	write_to(1, 20);
	all_looked_at(bed);
	is_int((long long)bytes_of(bed, 1), 123,
	       "and what is written then is sent behind it");
	write_to(0, 6);
	ok(frames(bed, bed->count + 1) && bytes_of(bed, 0) == 6,
	   "what nobody wakes the pump for is found all the same");
	bed_free(bed);
}

/* The session ends with bytes under way that are not in the file any more. */
static void cut_under_way(void)
{
	struct bed *bed = bed_new();

	log_sender_session(bed->sender, 1000);
	add(bed, 0, true);
	write_to(0, 100);
	all_looked_at(bed);
	if (truncate(path_of(0), 0) < 0)
		ok(false, "cannot truncate");
	all_looked_at(bed);
	is_int(log_sender_cuts(bed->streams[0]), 1, "what was sent is cut off");
	log_sender_session(bed->sender, 1000);
	bed->base[0] = 40;
	tell_length(bed, 0, 40);
	write_to(0, 10);
	ok(frames(bed, bed->count + 1) &&
		   bed->sent[bed->count - 1].offset == 40 &&
		   bed->sent[bed->count - 1].size == 10,
	   "what comes then goes on behind what had come of it");
	is_int((long long)log_sender_size(bed->streams[0]), 50,
	       "and no more is promised");
	bed_free(bed);
}

/* log_sender_look_fn: the bound becomes known while the file is being read. */
static void bound_now(void *arg)
{
	struct bed *bed = arg;

	if (++bed->looks == 1)
		log_sender_bound(bed->streams[0], 12);
}

static void bounds(void)
{
	struct bed *bed = bed_new();

	log_sender_session(bed->sender, 1000);
	add(bed, 0, true);
	log_sender_bound(bed->streams[0], 100);
	log_sender_set_look(bed->streams[0], bound_now, bed);
	write_to(0, 30);
	all_looked_at(bed);
	ok(bytes_of(bed, 0) == 12 && bed->looks,
	   "a bound that comes while the file is read holds for what was read");
	log_sender_bound(bed->streams[0], 20);
	write_to(0, 40);
	all_looked_at(bed);
	is_int((long long)bytes_of(bed, 0), 12, "a larger one later does not");
	is_int((long long)log_sender_size(bed->streams[0]), 12,
	       "the stream ends there");
	if (truncate(path_of(0), 12) < 0)
		ok(false, "cannot truncate");
	all_looked_at(bed);
	ok(!log_sender_cuts(bed->streams[0]) && bytes_of(bed, 0) == 12,
	   "a file that is cut to its bound is not cut short");
	bed_free(bed);
}

static void bounds_of_what_is_cut(void)
{
	struct bed *bed = bed_new();

	log_sender_session(bed->sender, 1000);
	add(bed, 0, true);
	log_sender_bound(bed->streams[0], 30);
	for (uint64_t round = 0; round < 4; round++) {
		bed->base[0] = round * 20;
		write_to(0, 20);
		all_looked_at(bed);
		if (truncate(path_of(0), 0) < 0)
			ok(false, "cannot truncate");
		all_looked_at(bed);
	}
	ok(bytes_of(bed, 0) == 30 && log_sender_size(bed->streams[0]) <= 30,
	   "a file that is cut again and again is bounded over all of it");
	bed_free(bed);
}

/* Credit for three frames, seven streams with more than that. */
static void turns(void)
{
	struct bed *bed = bed_new();
	size_t acks = 0;
	uint64_t least = UINT64_MAX, most = 0;

	log_sender_session(bed->sender, 3 * FRAME);
	for (int i = 0; i < 7; i++) {
		add(bed, i, true);
		write_to(i, 10 * FRAME);
	}
	log_sender_wake(bed->sender);
	while (acks < 35 && frames(bed, acks + 1))
		ack_frame(bed, acks++);
	for (int i = 0; i < 7; i++) {
		uint64_t bytes = bytes_of(bed, i);

		least = bytes < least ? bytes : least;
		most = bytes > most ? bytes : most;
	}
	ok(least >= 4 * FRAME && most <= 6 * FRAME,
	   "streams take turns (%llu to %llu bytes after 35 frames)",
	   (unsigned long long)least, (unsigned long long)most);
	bed_free(bed);
}

static void not_now(void)
{
	struct bed *bed = bed_new();

	log_sender_session(bed->sender, 1000);
	add(bed, 0, true);
	write_to(0, 10);
	bed->refuse = 2;
	log_sender_wake(bed->sender);
	while (bed->refused < 1)
		sd_event_run(bed->loop, UINT64_MAX);
	log_sender_wake(bed->sender);
	while (bed->refused < 2)
		sd_event_run(bed->loop, UINT64_MAX);
	is_int((long long)bed->count, 0, "a send may fail");
	log_sender_wake(bed->sender);
	ok(frames(bed, 1), "it is tried again at the next wake");
	ok(bed->sent[0].offset == 0 && bed->sent[0].size == 10,
	   "with the same bytes");
	write_to(0, 20);
	bed->refuse = 1;
	log_sender_wake(bed->sender);
	ok(frames(bed, 2) && bed->refused == 3, "or a second later at most");
	bed_free(bed);
}

/* Nobody wakes the log sender here. */
static void polled(void)
{
	struct bed *bed = bed_new();
	sd_event_source *limit = NULL;

	log_sender_session(bed->sender, 1000);
	add(bed, 0, true);
	all_looked_at(bed);
	log_sender_set_poll(bed->sender, 60000);
	/* The last ack makes it look once more. */
	while (sd_event_run(bed->loop, 0) > 0)
		;
	write_to(0, 10);
	loop_timer(bed->loop, &limit, LOG_SENDER_POLL_MS * 3 / 2, expire, bed,
		   NULL);
	for (bed->expired = false; !bed->expired;)
		sd_event_run(bed->loop, UINT64_MAX);
	loop_source_free(&limit);
	is_int((long long)bytes_of(bed, 0), 0,
	       "files are not checked before it is time");
	log_sender_set_poll(bed->sender, 20);
	ok(frames(bed, bed->count + 1) && bytes_of(bed, 0) == 10,
	   "and are as soon as that is sooner");
	bed_free(bed);
}

/* Who writes at regular times needs no timer. */
static void joined(void)
{
	struct bed *bed = bed_new();
	size_t before;

	log_sender_session(bed->sender, 1000);
	add(bed, 0, true);
	all_looked_at(bed);
	log_sender_set_poll(bed->sender, 400);
	before = bed->count;
	write_to(0, 10);
	log_sender_join(bed->sender);
	is_int((long long)(bed->count - before), 1,
	       "who joins has its bytes sent at once");
	write_to(0, 20);
	log_sender_join(bed->sender);
	is_int((long long)(bed->count - before), 1,
	       "but not again before the next check is due");
	usleep(320000);
	log_sender_join(bed->sender);
	is_int((long long)(bed->count - before), 2, "then it does");
	bed_free(bed);
}

static void removed(void)
{
	struct bed *bed = bed_new();

	log_sender_session(bed->sender, 10);
	add(bed, 0, true);
	add(bed, 1, true);
	write_to(0, 10);
	log_sender_wake(bed->sender);
	frames(bed, 1);
	write_to(1, 10);
	log_sender_remove(bed->streams[0]);
	log_sender_remove(NULL);
	log_sender_wake(bed->sender);
	ok(frames(bed, 2) && bytes_of(bed, 1) == 10,
	   "a stream that goes leaves its credit to others");
	ack_frame(bed, 0);
	ok(true, "an ack for it is ignored");
	bed_free(bed);
}

int main(void)
{
	char folder[] = "/tmp/regatta-log-sender-XXXXXX";

	tap_begin(120);
	if (!mkdtemp(folder) || chdir(folder) < 0)
		return 1;
	length_first();
	contiguous();
	credit();
	odd_acks();
	refused();
	sessions();
	files_that_come_and_shrink();
	bounds();
	cut_under_way();
	bounds_of_what_is_cut();
	turns();
	not_now();
	polled();
	joined();
	removed();
	is_int(file_remove_tree(AT_FDCWD, folder, NULL), 0,
	       "the folder of the test is removed");
	return tap_done();
}
