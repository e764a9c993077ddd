/* loop_test.c - sockets and work on the event loop: none stalls, none spins.
 */
#include "protocol/base/clock.h"
#include "protocol/base/loop.h"
#include "tests/tap.h"

#include <sys/epoll.h>
#include <zmq.h>

struct pair {
	sd_event *loop;
	void *zmq, *a, *b; /* what a sends, b gets */
	struct zmq_watch *watch;
	sd_event_source *timer;
	int got, turns, stop_at, in_turn, most_in_turn;
	bool free_at_once;
	int rang;
};

static void pair_init(struct pair *pair)
{
	*pair = (struct pair){ .zmq = zmq_ctx_new() };
	sd_event_new(&pair->loop);
	pair->a = zmq_socket(pair->zmq, ZMQ_PAIR);
	pair->b = zmq_socket(pair->zmq, ZMQ_PAIR);
	zmq_bind(pair->a, "inproc://pair");
	zmq_connect(pair->b, "inproc://pair");
}

static void pair_clear(struct pair *pair)
{
	zmq_watch_free(pair->watch);
	loop_source_free(&pair->timer);
	zmq_close(pair->a);
	zmq_close(pair->b);
	zmq_ctx_term(pair->zmq);
	sd_event_unref(pair->loop);
}
OWNED_VALUE(struct pair, pair_clear)

static int take_one(void *arg)
{
	struct pair *pair = arg;
	char text[8];

	if (zmq_recv(pair->b, text, sizeof(text), ZMQ_DONTWAIT) < 0)
		return 0;
	pair->got++;
	if (++pair->in_turn > pair->most_in_turn)
		pair->most_in_turn = pair->in_turn;
	if (pair->free_at_once) {
		zmq_watch_free(pair->watch);
		pair->watch = NULL;
		return 0;
	}
	if (pair->got == pair->stop_at)
		zmq_watch_pause(pair->watch, true);
	return 1;
}

static void send_some(struct pair *pair, int count)
{
	for (int i = 0; i < count; i++)
		zmq_send(pair->a, "x", 1, 0);
}

/* Turn the loop until b got as many, or limit_ms passed. */
static void run_until(struct pair *pair, int got, int limit_ms)
{
	int64_t end = clock_mono_ms() + limit_ms;

	while (pair->got < got && clock_mono_ms() < end) {
		pair->in_turn = 0;
		pair->turns++;
		sd_event_run(pair->loop, 20000);
	}
}

static void test_all_arrive(void)
{
	owned(pair_clear) struct pair pair;
	struct error err = { 0 };

	pair_init(&pair);
	pair.watch = zmq_watch_new(pair.loop, pair.b, 8, take_one, &pair, &err);
	ok(pair.watch != NULL, "a socket is watched");
	for (int round = 0; round < 20; round++) {
		send_some(&pair, 1000);
		run_until(&pair, 1000 * (round + 1), 5000);
	}
	is_int(pair.got, 20000, "20,000 messages in 20 bursts all arrive");
	ok(pair.most_in_turn == 8, "at most a burst of 8 per turn");
}

/* How often the loop wakes in `ms`. */
static int wakes(struct pair *pair, int ms)
{
	int64_t end = clock_mono_ms() + ms;
	int count = 0;

	while (clock_mono_ms() < end)
		count += sd_event_run(pair->loop, (uint64_t)ms * 1000) > 0;
	return count;
}

static void test_pause(void)
{
	owned(pair_clear) struct pair pair;

	pair_init(&pair);
	pair.watch = zmq_watch_new(pair.loop, pair.b, 8, take_one, &pair, NULL);
	pair.stop_at = 3;
	send_some(&pair, 100);
	run_until(&pair, 100, 200);
	is_int(pair.got, 3, "a pause takes effect in the middle of a burst");
	zmq_watch_pause(pair.watch, false);
	run_until(&pair, 100, 5000);
	is_int(pair.got, 100, "after the pause all arrive");
	ok(wakes(&pair, 200) < 10, "an idle socket does not spin the loop");
	zmq_watch_pause(pair.watch, true);
	send_some(&pair, 100);
	ok(wakes(&pair, 200) < 10, "nor does a paused one with input");
	is_int(pair.got, 100, "from which nothing is taken");
	zmq_watch_pause(pair.watch, false);
	run_until(&pair, 200, 5000);
	is_int(pair.got, 200, "until the pause ends");
	zmq_watch_pause(pair.watch, true);
	zmq_watch_pause(pair.watch, false);
	send_some(&pair, 1);
	run_until(&pair, 201, 5000);
	is_int(pair.got, 201, "a pause without messages changes nothing");
}

static void test_free_inside(void)
{
	owned(pair_clear) struct pair pair;

	pair_init(&pair);
	pair.watch = zmq_watch_new(pair.loop, pair.b, 8, take_one, &pair, NULL);
	pair.free_at_once = true;
	send_some(&pair, 10);
	run_until(&pair, 10, 200);
	is_int(pair.got, 1, "a watch may be freed from its callback");
}

static int take_and_refill(void *arg)
{
	struct pair *pair = arg;

	send_some(pair, 1);
	return take_one(pair);
}

static int see_byte(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct pair *pair = arg;
	char byte;

	if (read(fd, &byte, 1) == 1)
		pair->rang++;
	return 0;
}

static int see_time(sd_event_source *source, uint64_t usec, void *arg)
{
	struct pair *pair = arg;

	pair->rang++;
	return 0;
}

/* Sources of the loop itself, beside a socket that never runs dry. */
static void test_nobody_starves(void)
{
	owned(pair_clear) struct pair pair;
	sd_event_source *source = NULL;
	int fds[2];

	pair_init(&pair);
	if (pipe(fds) < 0)
		return;
	pair.watch = zmq_watch_new(pair.loop, pair.b, 8, take_and_refill, &pair,
				   NULL);
	send_some(&pair, 8);
	run_until(&pair, 100, 5000);
	ok(pair.got >= 100, "a socket has input all the time");
	sd_event_add_io(pair.loop, &source, fds[0], EPOLLIN, see_byte, &pair);
	if (write(fds[1], "x", 1) != 1)
		return;
	for (int turn = 0; turn < 20 && !pair.rang; turn++)
		sd_event_run(pair.loop, 0);
	is_int(pair.rang, 1, "a readable pipe has its turn beside it");
	loop_timer(pair.loop, &pair.timer, 0, see_time, &pair, NULL);
	for (int turn = 0; turn < 20 && pair.rang < 2; turn++)
		sd_event_run(pair.loop, 0);
	is_int(pair.rang, 2, "so has a timer");
	loop_source_free(&source);
	close(fds[0]);
	close(fds[1]);
}

/* Sending swallows the wake-up of what comes in meanwhile. */
static void test_both_ways(void)
{
	owned(pair_clear) struct pair pair;
	int sent = 0;

	pair_init(&pair);
	pair.watch = zmq_watch_new(pair.loop, pair.b, 8, take_one, &pair, NULL);
	while (sent < 2000) {
		char text[8];

		send_some(&pair, 1);
		sent++;
		/* This is where b hears of it, and forgets. */
		zmq_send(pair.b, "y", 1, 0);
		zmq_watch_touch(pair.watch);
		while (zmq_recv(pair.a, text, sizeof(text), ZMQ_DONTWAIT) > 0)
			;
		run_until(&pair, sent, 5000);
		if (pair.got < sent)
			break;
	}
	is_int(pair.got, 2000, "a socket that is sent from misses nothing");
}

static int ring(sd_event_source *source, uint64_t usec, void *arg)
{
	struct pair *pair = arg;

	pair->rang++;
	if (pair->rang < 3)
		loop_timer(pair->loop, &pair->timer, 5, ring, pair, NULL);
	return 0;
}

static void wait_ring(struct pair *pair, int rang, int limit_ms)
{
	int64_t end = clock_mono_ms() + limit_ms;

	while (pair->rang < rang && clock_mono_ms() < end)
		sd_event_run(pair->loop, 20000);
}

static void test_timer(void)
{
	owned(pair_clear) struct pair pair;
	struct error err = { 0 };
	int64_t since;

	pair_init(&pair);
	loop_timer_stop(NULL);
	ok(loop_timer(pair.loop, &pair.timer, 60000, ring, &pair, &err) == 0 &&
		   loop_timer(pair.loop, &pair.timer, 30, ring, &pair, &err) ==
			   0,
	   "a timer is set and moved");
	since = clock_mono_ms();
	wait_ring(&pair, 1, 5000);
	ok(pair.rang == 1 && clock_mono_ms() - since >= 29,
	   "it rings when it was moved to, not before");
	wait_ring(&pair, 3, 5000);
	is_int(pair.rang, 3, "it may set itself again");
	wait_ring(&pair, 4, 50);
	is_int(pair.rang, 3, "and rings once each time");
	loop_timer(pair.loop, &pair.timer, 10, ring, &pair, NULL);
	loop_timer_stop(pair.timer);
	wait_ring(&pair, 4, 50);
	is_int(pair.rang, 3, "a stopped timer does not ring");
	loop_timer(pair.loop, &pair.timer, 0, ring, &pair, NULL);
	wait_ring(&pair, 4, 5000);
	is_int(pair.rang, 4, "it can be set again, also to ring at once");
}

struct worker {
	struct deferral *work;
	int ran, more;
	bool last; /* frees itself */
};

static void work_once(void *arg)
{
	struct worker *worker = arg;

	worker->ran++;
	if (worker->more-- > 0)
		deferral_run(worker->work);
	else if (worker->last)
		deferral_free(take(worker->work));
}

static void test_deferrals(void)
{
	owned(pair_clear) struct pair pair;
	struct worker workers[3] = { { .more = 100 },
				     { .more = 9, .last = true } };
	struct worker *long_one = &workers[0], *other = &workers[1];
	struct worker *idle = &workers[2];

	pair_init(&pair);
	for (int i = 0; i < 3; i++) {
		workers[i].work = deferral_new(pair.loop, &workers[i] == idle,
					       work_once, &workers[i], NULL);
		deferral_run(workers[i].work);
	}
	loop_timer(pair.loop, &pair.timer, 0, see_time, &pair, NULL);
	for (int turn = 0; turn < 25; turn++)
		sd_event_run(pair.loop, 0);
	is_int(other->ran, 10, "work that goes on lets other work have turns");
	ok(!other->work, "which may free itself");
	is_int(pair.rang, 1, "and timers");
	is_int(idle->ran, 0, "idle work waits for all of them");
	deferral_stop(long_one->work);
	sd_event_run(pair.loop, 0);
	is_int(idle->ran, 1, "and then has its turn");
	is_int(sd_event_run(pair.loop, 0), 0, "what was stopped has none");
	deferral_free(long_one->work);
	deferral_free(idle->work);
}

int main(void)
{
	tap_begin(60);
	test_all_arrive();
	test_pause();
	test_free_inside();
	test_nobody_starves();
	test_deferrals();
	test_both_ways();
	test_timer();
	return tap_done();
}
