/* task_test.c - the life of a task, against a scripted engine: lost answers,
 * orders at any time, and nothing left behind.
 */
#include "protocol/base/clock.h"
#include "protocol/base/file.h"
#include "tests/tap.h"
#include "tests/unit/task_bed.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

static void from_begin_to_end(void)
{
	struct world *world = world_new();

	world_begin(world);
	ok(UNTIL(world, world_state_is(world, "ready")), "a task gets ready");
	world_start(world, "10.0.0.1", 20001);
	world_start(world, "10.0.0.2", 20002);
	ok(UNTIL(world, world_state_is(world, "running")), "runs when told to");
	world_exits(world, 0);
	ok(UNTIL(world, world_state_is(world, "ended")), "and has ended well");
	task_stop(world->task, FAILURE_CANCELLED);
	task_discard(world->task);
	task_discard(world->task);
	ok(UNTIL(world, world->gone) && world_nothing_left(world),
	   "then it goes, with container and spool");
	is(world->states, "preparing ready starting running ended",
	   "orders that come twice or late change nothing");
	is(world->asked, "icswlr", "the engine is asked once for each");
	world_free(world);
}

/* Podman says only after most of a second that a container has ended. */
static void slow_to_tell_the_end(void)
{
	struct world *world = world_running();
	int64_t begun = clock_mono_ms();

	world->status = "running";
	world_record(world, 0, false);
	world_init_ends(world);
	UNTIL(world, strstr(world->asked, "wlw"));
	ok(world->waiting && world_state_is(world, "running"),
	   "an engine that does not know of the end yet is waited for again");
	world->status = "exited";
	world->exit_code = 0;
	ok(UNTIL(world, world_state_is(world, "ended")) &&
		   clock_mono_ms() - begun < 2000,
	   "and is asked again, before it says so by itself");
	world_free(world);
}

/* The engine does what it is asked, and the answer is lost. libcurl may ask
 * again by itself, on a new connection.
 */
static void lost_answers(void)
{
	static const char what[] = { CREATE, START };

	for (size_t i = 0; i < sizeof(what); i++) {
		struct world *world = world_new();

		world->lose = what[i];
		world_begin(world);
		UNTIL(world, world_state_is(world, "ready"));
		world_start(world, "10.0.0.1", 20001);
		ok(UNTIL(world, world_state_is(world, "running")),
		   "an answer to '%c' that is lost is made good: %s", what[i],
		   world->asked);
		is(world->states, "preparing ready starting running",
		   "and the task goes its way");
		world->lose = REMOVE;
		world_exits(world, 0);
		UNTIL(world, world_state_is(world, "ended"));
		task_discard(world->task);
		ok(UNTIL(world, world->gone) && world_nothing_left(world),
		   "a lost answer to its removal leaves nothing");
		world_free(world);
	}
}

/* The engine finishes what it has begun, whether we hang up or not. */
static void discarded_while_created(void)
{
	for (int stopped = 0; stopped < 2; stopped++) {
		struct world *world = world_new();

		world->hold = CREATE;
		world_begin(world);
		UNTIL(world, world->held);
		if (stopped) {
			task_stop(world->task, FAILURE_CANCELLED);
			is(world->states, "preparing ended:cancelled",
			   "a task that is stopped ends at once");
		}
		task_discard(world->task);
		world->hold = 0;
		ok(!world->gone, "it does not go while the engine makes its "
				 "container");
		world_carry_out(world, world->held, CREATE);
		ok(UNTIL(world, world->gone) && world_nothing_left(world),
		   "but when that is made and removed");
		world_free(world);
	}
}

static void created_after_a_stop(void)
{
	struct world *world = world_new();

	world->hold = CREATE;
	world_begin(world);
	UNTIL(world, world->held);
	task_stop(world->task, FAILURE_TIMEOUT);
	world->hold = 0;
	world_carry_out(world, world->held, CREATE);
	/* The answer has been heard when the next question is answered. */
	task_discard(world->task);
	ok(UNTIL(world, world->gone) && world_nothing_left(world),
	   "a container that is made after the stop is removed");
	is(world->asked, "icr", "with one question");
	world_free(world);
}

static void ways_to_fail(void)
{
	struct world *world = world_new();

	world->code = 400;
	world_begin(world);
	ok(UNTIL(world, world_state_is(world, "ended:create")),
	   "an engine that will not create it: class create");
	world_free(world);

	world = world_new();
	world_begin(world);
	UNTIL(world, world_state_is(world, "ready"));
	world->code = 500;
	world_start(world, "10.0.0.1", 20001);
	ok(UNTIL(world, world_state_is(world, "ended:create")),
	   "nor start it: the same");
	world_free(world);

	world = world_new();
	world_begin(world);
	UNTIL(world, world_state_is(world, "ready"));
	world_start(world, "10.0.0.1", 20001);
	UNTIL(world, world_state_is(world, "running"));
	world_exits(world, 3);
	ok(UNTIL(world, world_state_is(world, "ended:exit")),
	   "a command that exits with 3: class exit");
	world_free(world);

	world = world_new();
	world->status = "created";
	world_begin(world);
	ok(UNTIL(world, world_state_is(world, "ended:create")),
	   "a stranger's container of its name: class create");
	task_discard(world->task);
	world_free(world);
}

static void stopped(void)
{
	struct world *world = world_new();

	world_begin(world);
	UNTIL(world, world_state_is(world, "ready"));
	world_start(world, "10.0.0.1", 20001);
	UNTIL(world, world_state_is(world, "running"));
	task_stop(world->task, FAILURE_TIMEOUT);
	task_stop(world->task, FAILURE_CANCELLED);
	ok(UNTIL(world, world_state_is(world, "ended:timeout")),
	   "a running task is stopped, for the first reason given");
	ok(strchr(world->asked, STOP), "by the engine");
	world_free(world);

	world = world_new();
	world_begin(world);
	UNTIL(world, world_state_is(world, "ready"));
	task_stop(world->task, FAILURE_CANCELLED);
	is(world->states, "preparing ready ended:cancelled",
	   "one that is ready ends at once");
	world_start(world, "10.0.0.1", 20001);
	task_discard(world->task);
	ok(UNTIL(world, world->gone) && !strchr(world->asked, START),
	   "and is not started any more");
	world_free(world);
}

/* Between the ready and the start another job writes to the folder. */
static void link_swapped_before_start(void)
{
	struct world *world = world_new();
	char allowed[100], inside[120], policy[100], text[200];
	struct mount_spec mount = { inside, (char *)"/data", false };

	snprintf(allowed, sizeof(allowed), "%s/data", world->folder);
	snprintf(inside, sizeof(inside), "%s/x", allowed);
	snprintf(policy, sizeof(policy), "%s/policy.yaml", world->folder);
	snprintf(text, sizeof(text), "mounts: [{host: %s, write: true}]\n",
		 allowed);
	file_make_folders(inside, 0700, NULL);
	file_write(AT_FDCWD, policy, text, strlen(text), 0600, 0, NULL);
	node_policy_free(world->node_policy);
	world->node_policy = node_policy_new(policy, false, NULL);
	world->services.node_policy = world->node_policy;
	world_begin_with(world, &mount);
	ok(UNTIL(world, world_state_is(world, "ready")),
	   "a mount that is allowed is ready");
	rmdir(inside);
	if (symlink("/etc", inside) < 0)
		ok(false, "no link");
	world_start(world, "10.0.0.1", 20000);
	ok(UNTIL(world, world_state_is(world, "ended:policy")) &&
		   !strchr(world->asked, START),
	   "one that leads elsewhere by then is never started");
	world_free(world);
}

/* Somebody removes the image after it was found here. */
static void image_taken_away(void)
{
	struct world *world = world_new();

	world->lacks = 2;
	world_begin(world);
	ok(UNTIL(world, world_state_is(world, "ready")),
	   "an image that is taken away is brought again");
	is(world->states, "preparing ready", "and nothing is told of it");
	world_free(world);
	world = world_new();
	world->lacks = 100;
	world_begin(world);
	ok(UNTIL(world, world_state_is(world, "ended:create")),
	   "but not for ever");
	world_free(world);
}

/* Somebody prunes containers while the task waits for its start. */
static void pruned_before_start(void)
{
	struct world *world = world_new();

	world_begin(world);
	UNTIL(world, world_state_is(world, "ready"));
	world->status = NULL;
	world_start(world, "10.0.0.1", 20001);
	ok(UNTIL(world, world_state_is(world, "running")),
	   "a container that was pruned is created again, and starts");
	is(world->states, "preparing ready starting running",
	   "and nothing is told of it");
	world_free(world);
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	tap_begin(120);
	from_begin_to_end();
	slow_to_tell_the_end();
	lost_answers();
	discarded_while_created();
	created_after_a_stop();
	ways_to_fail();
	stopped();
	link_swapped_before_start();
	image_taken_away();
	pruned_before_start();
	return tap_done();
}
