/* stacks_test.c - which rank of a job stands apart, by what was seen of all.
 */
#include "controller/stacks/stacks.h"

#include "tests/tap.h"

#include <stdio.h>
#include <string.h>

#define TRUNK                                                                  \
	"  File \"/opt/lib/python3.11/site-packages/torch/dist.py\", line 9 "  \
	"in all_reduce\n"                                                      \
	"  File \"/w/train.py\", line 92 in backward\n"

static const char *where(const char *text)
{
	static char found[CALL_STACK_SIZE];
	struct call_stack frames = { 0 };

	for (const char *at = text; *at; at += *at == '\n') {
		size_t size = strcspn(at, "\n");

		call_stack_take(&frames, at, size);
		at += size;
	}
	call_stack_where(&frames, found);
	return found;
}

static void frames(void)
{
	is(where("Current thread 0x7f01 (most recent call first):\n" TRUNK),
	   "all_reduce < backward train.py:92",
	   "faulthandler: the innermost call, and the program's own");
	is(where("Thread 0x7f02 (most recent call first):\n"
		 "  File \"/w/pin.py\", line 3 in pin\n\n"
		 "Current thread 0x7f01 (most recent call first):\n"
		 "  File \"/w/train.py\", line 57 in load_batch\n\n"
		 "Thread 0x7f03 (most recent call first):\n"
		 "  File \"/w/watch.py\", line 1 in watch\n"),
	   "load_batch train.py:57", "of several threads the current one");
	is(where("Process 7: python3 train.py\n"
		 "Thread 9 (idle): \"Thread-1\"\n    wait (threading.py:324)\n"
		 "Thread 7 (active): \"MainThread\"\n"
		 "    all_reduce (torch/distributed.py:1)\n"
		 "    step (train.py:41)\n"),
	   "all_reduce < step train.py:41", "py-spy: the main thread");
	is(where("Thread 2 (LWP 8):\n#0  0x0000 in poll () from /lib/c.so\n"
		 "Thread 1 (LWP 7):\n#0  0x00007f in ncclGroupEnd () from "
		 "/lib/n.so\n#1  main (argc=1) at train.c:9\n"),
	   "ncclGroupEnd", "gdb: the first thread");
	is(where("step 3 | loss (nan: 1)\n"), "", "other lines are no stack");
}

/* A process's line. */
static void see(struct stacks *stacks, const char *node, int rank,
		const char *state, const char *waits)
{
	char text[400];
	int size = snprintf(text, sizeof(text),
			    "{\"round\":7,\"pid\":%d,\"rank\":%d,\"leads\":"
			    "true,\"state\":\"%s\",\"waits\":\"%s\","
			    "\"written_bytes\":10}\n"
			    "{\"round\":7,\"rank\":-1,\"end\":true}\n",
			    100 + rank, rank, state, waits);

	stacks_take(stacks, node, 0, text, (size_t)size, NULL);
}

static const char *verdict(struct stacks *stacks, int64_t *rank)
{
	static char text[STACKS_TEXT_SIZE];
	const char *node;

	stacks_verdict(stacks, text, &node, rank, NULL);
	return text;
}

static void kernel(void)
{
	owned(stacks_free) struct stacks *stacks = stacks_new(NULL);
	int64_t rank;

	is(verdict(stacks, &rank), "no process of a rank was found", "nothing");
	see(stacks, "n1", 0, "S", "poll_schedule_timeout");
	see(stacks, "n1", 1, "S", "poll_schedule_timeout");
	is(verdict(stacks, &rank),
	   "no rank differs: 2 ranks: waiting for the network "
	   "(poll_schedule_timeout)",
	   "all alike");
	is_int(rank, -1, "nobody is blamed");
	see(stacks, "n2", 2, "S", "hrtimer_nanosleep");
	is(verdict(stacks, &rank),
	   "n2: rank 2 sleeping (hrtimer_nanosleep); 2 ranks: waiting for the "
	   "network (poll_schedule_timeout)",
	   "who sleeps while others wait");
	is_int(rank, 2, "is named");
	see(stacks, "n2", 3, "R", "");
	see(stacks, "n2", 4, "R", "");
	verdict(stacks, &rank);
	is_int(rank, 2, "of those that wait for nobody, the fewest");
	is_int((long long)stacks_written(stacks), 50, "bytes are summed up");
}

static void rounds(void)
{
	static const char text[] =
		"{\"round\":1,\"pid\":5,\"leads\":true,\"state\":\"R\"}\n"
		"{\"round\":1,\"rank\":-1,\"end\":true}\n"
		"no line of ours\n"
		"{\"round\":2,\"pid\":5,\"leads\":true,\"state\":\"S\"}\n";
	owned(stacks_free) struct stacks *stacks = stacks_new(NULL);
	int64_t rank;

	ok(stacks_ended(text, sizeof(text) - 1, 1) &&
		   !stacks_ended(text, sizeof(text) - 1, 2) &&
		   !stacks_ended(text, 20, 1),
	   "a round has ended where its last line is there");
	stacks_take(stacks, "n1", 0, text, sizeof(text) - 1, NULL);
	is(verdict(stacks, &rank), "no rank differs: 1 rank: computing",
	   "the last whole round counts");
}

/* Two ranks of a launcher, that print one after the other, and one of another
 * node; of a single stack of the first node it is not known whose it is.
 */
static void output(void)
{
	static const char shared[] =
		"step 19\nFatal Python error: Aborted\n\nCurrent thread 0x1 "
		"(most recent call first):\n" TRUNK
		"Fatal Python error: Aborted\n\nCurrent thread 0x1 (most "
		"recent call first):\n" TRUNK
		"\nExtension modules: numpy (total: 1)\n"
		"Traceback (most recent call last):\n"
		"  File \"/usr/bin/torchrun\", line 33, in <module>\n";
	static const char alone[] =
		"Fatal Python error: Aborted\n\nCurrent thread 0x1 (most "
		"recent call first):\n"
		"  File \"/w/train.py\", line 57 in load_batch\n";
	owned(stacks_free) struct stacks *stacks = stacks_new(NULL);
	cJSON *all;
	int64_t rank;

	see(stacks, "n1", 0, "S", "futex_wait_queue");
	see(stacks, "n1", 1, "S", "futex_wait_queue");
	see(stacks, "n2", 2, "S", "futex_wait_queue");
	stacks_take_output(stacks, "n1", -1, alone, sizeof(alone) - 1);
	stacks_take_output(stacks, "n1", -1, shared, sizeof(shared) - 1);
	stacks_take_output(stacks, "n2", -1, alone, sizeof(alone) - 1);
	is(verdict(stacks, &rank),
	   "n2: rank 2 load_batch train.py:57; 2 ranks: all_reduce < backward "
	   "train.py:92",
	   "the stacks of Python say more than the kernel");
	is_int(rank, 2, "who is not in a collective is named");
	all = stacks_json(stacks);
	is_int(cJSON_GetArraySize(
		       cJSON_GetObjectItemCaseSensitive(all, "groups")),
	       2, "as JSON: groups");
	is_int(cJSON_GetArraySize(
		       cJSON_GetObjectItemCaseSensitive(all, "ranks")),
	       3, "and ranks");
	cJSON_Delete(all);
}

/* To print its stack a rank is ended; then calls of the others fail. */
static void followers(void)
{
	static const char waiting[] =
		"Fatal Python error: Aborted\n\nCurrent thread 0x1 (most "
		"recent call first):\n" TRUNK;
	static const char failing[] =
		"Fatal Python error: Aborted\n\nCurrent thread 0x1 (most "
		"recent call first):\n"
		"  File \"/usr/lib/python3.11/linecache.py\", line 37 in "
		"updatecache\n"
		"  File \"/w/train.py\", line 113 in <module>\n";
	owned(stacks_free) struct stacks *stacks = stacks_new(NULL);
	int64_t rank;

	see(stacks, "n1", 0, "S", "futex_wait_queue");
	see(stacks, "n2", 1, "S", "futex_wait_queue");
	see(stacks, "n3", 2, "S", "futex_wait_queue");
	stacks_take_output(stacks, "n1", -1, waiting, sizeof(waiting) - 1);
	stacks_take_output(stacks, "n2", -1, failing, sizeof(failing) - 1);
	stacks_take_output(stacks, "n3", -1, waiting, sizeof(waiting) - 1);
	is(verdict(stacks, &rank),
	   "no rank differs: 2 ranks: all_reduce < backward train.py:92",
	   "who prints an exception meanwhile does not stand apart");
}

int main(void)
{
	tap_begin(20);
	frames();
	kernel();
	rounds();
	output();
	followers();
	return tap_done();
}
