/* server_test.c - requests that wait: how many of a key may, equal ones are
 * looked up once, and the time that this takes is their key's.
 */
#include "controller/api/server.h"

#include "controller/cluster/changes.h"
#include "protocol/message/reply_logs.h"
#include "protocol/wire/budget.h"
#include "tests/tap.h"
#include "tests/unit/wire_hall.h"

#include <errno.h>

#define JOB 7
#define ROUNDS_MAX 1000

/* Linked with -Wl,--wrap=clock_cpu_us: time that answers take. */
static int64_t cpu_us;

int64_t __wrap_clock_cpu_us(void);

int64_t __wrap_clock_cpu_us(void)
{
	return cpu_us;
}

/* The answers, in the place of api.c: a log, of which nothing is new. */
static struct {
	int looks; /* that were made */
	bool news;
	int64_t cost_us; /* of a look */
} log_state;

int api_answer(struct api_request *request, enum message_type type,
	       struct api_reply *reply, struct error *err)
{
	static struct reply_log_read nothing;

	log_state.looks++;
	cpu_us += log_state.cost_us;
	*reply = (struct api_reply){ &reply_log_read_schema, &nothing };
	return log_state.news ? buffer_append(request->bytes, "x", 1, err) : 0;
}

void api_reply_clear(struct api_reply *reply)
{
}

/* A server in a hall, with a session of bob, a viewer. */
struct desk {
	struct hall hall;
	struct changes changes;
	struct server *server;
	struct guest bob;
	struct wire_peer *peer;
};

static struct wire_peer *desk_join(struct desk *desk, struct guest *guest,
				   int key)
{
	guest_init(guest, &desk->hall, &desk->hall.keys[key], NULL);
	WAIT(&desk->hall, guest->welcomes);
	return desk->hall.peer;
}

static void desk_init(struct desk *desk)
{
	struct api api = { .changes = &desk->changes };

	log_state.looks = 0;
	log_state.news = false;
	log_state.cost_us = 0;
	desk->changes = (struct changes){ 0 };
	hall_init(&desk->hall, NULL, 0);
	desk->server = server_new(&api, NULL);
	desk->peer = desk_join(desk, &desk->bob, HALL_VIEWER);
}

static void desk_clear(struct desk *desk)
{
	server_free(desk->server);
	guest_clear(&desk->bob);
	hall_clear(&desk->hall);
}
OWNED_VALUE(struct desk, desk_clear)

static void desk_ask(struct desk *desk, struct wire_peer *peer, uint64_t offset)
{
	static uint64_t number;
	struct message_log_read read = { .request = ++number,
					 .job = JOB,
					 .stream = strdup("rank-0"),
					 .offset = offset,
					 .wait_ms = SERVER_WAIT_MS };

	server_request(desk->server, peer, MESSAGE_LOG_READ, &read, NULL, 0);
	free(read.stream);
}

/* The job said something. The result: turns, until all have been looked at. */
static int desk_wake(struct desk *desk)
{
	int turns = 1;

	changes_add_job(&desk->changes, JOB);
	while (server_wake(desk->server) && turns < ROUNDS_MAX)
		turns++;
	wire_server_flush(desk->hall.server);
	return turns;
}

static void test_count(void)
{
	owned(desk_clear) struct desk desk;

	desk_init(&desk);
	for (uint64_t i = 0; i < BUDGET_WAITS_MAX + 2; i++)
		desk_ask(&desk, desk.peer, i);
	wire_server_flush(desk.hall.server);
	WAIT(&desk.hall, desk.bob.messages == 2);
	is_int(desk.bob.messages, 2, "%d of a key wait, two more do not",
	       BUDGET_WAITS_MAX);
	is_int(desk.bob.code, EBUSY, "they are refused: %s", desk.bob.why);
	log_state.news = true;
	desk_wake(&desk);
	WAIT(&desk.hall, desk.bob.messages == 2 + BUDGET_WAITS_MAX);
	is_int(desk.bob.messages, 2 + BUDGET_WAITS_MAX,
	       "the others are answered");
}

static void test_equal(void)
{
	owned(desk_clear) struct desk desk;
	owned(guest_clear) struct guest second, other;
	struct wire_peer *peers[3];
	int before;

	desk_init(&desk);
	peers[0] = desk.peer;
	peers[1] = desk_join(&desk, &second, HALL_VIEWER);
	peers[2] = desk_join(&desk, &other, HALL_OPERATOR);
	for (int i = 0; i < 30; i++)
		desk_ask(&desk, peers[i % 3], 5);
	before = log_state.looks;
	desk_wake(&desk);
	is_int(log_state.looks - before, 2,
	       "equal ones that wait on are looked up once for each key");
	log_state.news = true;
	desk_wake(&desk);
	is_int(log_state.looks - before, 4, "so are those that are answered");
	WAIT(&desk.hall, desk.bob.messages == 10 && second.messages == 10 &&
				 other.messages == 10);
	ok(desk.bob.messages == 10 && second.messages == 10 &&
		   other.messages == 10,
	   "and each of them gets its answer");
}

static void test_time(void)
{
	owned(desk_clear) struct desk desk;
	int before, turns;

	desk_init(&desk);
	for (uint64_t i = 0; i < 64; i++)
		desk_ask(&desk, desk.peer, i);
	before = log_state.looks;
	log_state.cost_us = 1000;
	turns = desk_wake(&desk);
	ok(log_state.looks - before == 64 && turns > 20,
	   "a look at many is made in %d short turns", turns);
	before = log_state.looks;
	log_state.cost_us = BUDGET_VIEWER_CPU_BURST_US / 8;
	for (int i = 0; i < 4; i++)
		desk_wake(&desk);
	ok(log_state.looks - before < 16,
	   "who waits pays for the looks: %d of %d were made",
	   log_state.looks - before, 4 * 64);
}

int main(void)
{
	tap_begin(60);
	test_count();
	test_equal();
	test_time();
	return tap_done();
}
