/* task_recovery_test.c - a task whose end is not what the engine says, and a
 * task that the next agent finds.
 */
#include "agent/docker/create_body.h"
#include "tests/tap.h"
#include "tests/unit/task_bed.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define FORGED "the exit record is forged or damaged: "

/* A process that lives in the task's folder as regatta-init does, once it was
 * released.
 */
static pid_t hidden_new(const struct world *world)
{
	const struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	char path[PATH_MAX], ready;
	int said[2], fd;
	pid_t pid;

	if (spool_write(world->spool, &world_task, SPOOL_IN, "start", "", 0,
			NULL) < 0)
		abort();
	spool_path(world->spool, &world_task, SPOOL_OUT, path);
	strncat(path, "/started", sizeof(path) - strlen(path) - 1);
	if (pipe(said) < 0)
		abort();
	pid = fork();
	if (pid == 0) {
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);
		signal(SIGTERM, SIG_DFL);
		sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
		if (fcntl(fd, F_SETLK, &lock) < 0 || write(said[1], "", 1) < 0)
			_exit(1);
		for (;;)
			pause();
	}
	close(said[1]);
	if (pid < 0 || read(said[0], &ready, 1) != 1)
		abort();
	close(said[0]);
	if (spool_note_init(world->spool, &world_task, pid, NULL) < 0)
		abort();
	return pid;
}

/* What ended it, once it has ended. */
static bool ended_by(pid_t pid, int number)
{
	int status = 0;

	return waitpid(pid, &status, WNOHANG) == pid && WIFSIGNALED(status) &&
	       WTERMSIG(status) == number;
}

/* An engine that was killed while it started the container: it runs, and the
 * engine knows nothing of it.
 */
static void hidden(void)
{
	struct world *world = world_new();
	pid_t pid;

	world_begin(world);
	UNTIL(world, world_state_is(world, "ready"));
	world->code = 500;
	pid = hidden_new(world);
	world_start(world, "10.0.0.1", 20001);
	ok(UNTIL(world, world_state_is(world, "running")),
	   "what runs is running, though the engine refuses to start it");
	UNTIL(world, world->waiting);
	fake_answer(world->waiting, 200, "{\"StatusCode\":0}");
	ok(UNTIL(world, strstr(world->asked, "wl")) &&
		   world_state_is(world, "running"),
	   "and stays so while it lives");
	task_stop(world->task, FAILURE_CANCELLED);
	ok(UNTIL(world, ended_by(pid, SIGTERM)), "it is told to stop");
	world->status = "exited";
	ok(UNTIL(world, world_state_is(world, "ended:cancelled")),
	   "and ends then");
	world_free(world);

	world = world_new();
	world_begin(world);
	UNTIL(world, world_state_is(world, "ready"));
	world->code = 500;
	pid = hidden_new(world);
	world_start(world, "10.0.0.1", 20001);
	UNTIL(world, world_state_is(world, "running"));
	task_discard(world->task);
	ok(UNTIL(world, ended_by(pid, SIGKILL)) && !world->gone,
	   "discarded, it is killed, too");
	ok(UNTIL(world, world->gone) && world_nothing_left(world),
	   "and then nothing is left");
	world_free(world);
}

static void text_is(struct world *world, const char *want, const char *what)
{
	struct task_status status;

	if (task_status(world->task, &status, NULL) < 0)
		abort();
	is(status.text, want, "%s", what);
	codec_clear(&task_status_schema, &status);
}

/* A command that writes its own record, and the agent that comes next. */
static void forged(void)
{
	struct world *world = world_running();
	cJSON *list = cJSON_Parse("{\"State\":\"exited\"}");

	world_record(world, 0, true);
	world_ends(world, 0);
	ok(UNTIL(world, world_state_is(world, "ended:exit")),
	   "a record in another file: class exit");
	text_is(world, FORGED "another file is in its place", "says so");
	task_free(take(world->task));
	memset(world->states, 0, sizeof(world->states));
	world->task = task_adopt(&world->services, &world_task, list, NULL);
	text_is(world, FORGED "another file is in its place",
		"to the next agent, too");
	cJSON_Delete(list);
	world_free(world);

	world = world_running();
	world_record(world, 0, false);
	world_ends(world, 137);
	ok(UNTIL(world, world_state_is(world, "ended:exit")),
	   "one that says another code than the engine: class exit");
	text_is(world, FORGED "its exit code is 0, the engine's 137",
		"names both");
	world_free(world);
}

/* The true record takes the place of the false one in the end. */
static void forged_early(void)
{
	struct world *world = world_running();

	world_record(world, 0, true);
	/* What the agent sees of it comes at once, or with the end. */
	while (sd_event_run(world->loop, 0) > 0)
		;
	is(world->states, "preparing ready starting running",
	   "a record before the end ends nothing");
	world_exits(world, 0);
	ok(UNTIL(world, world_state_is(world, "ended:exit")),
	   "and is not forgotten at the end");
	text_is(world,
		FORGED "another file was in its place while the command ran",
		"says so");
	world_free(world);
}

/* An agent that was killed, and the next one. */
static void adopted(void)
{
	static const struct {
		const char *status, *list;
		int exit_code; /* -1: no record */
		const char *state, *what;
	} cases[] = {
		{ "running", "{\"State\":\"running\"}", -1, "",
		  "one that runs goes on" },
		{ "exited", "{\"State\":\"exited\"}", 3, "ended:exit",
		  "one that ended has its record" },
		{ "exited", "{\"State\":\"exited\"}", -1, "ended:node-lost",
		  "one that was killed without a record is lost" },
		{ "created", "{\"State\":\"created\"}", -1, "ready",
		  "one that was created gets ready" },
		{ NULL, NULL, -1, "ready", "one without a container too" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct world *world = world_new();
		cJSON *list = cases[i].list ? cJSON_Parse(cases[i].list) : NULL;
		struct task_spec spec = world_spec();
		struct task_status status;
		char hash[65];

		spool_create(world->spool, &spec, NULL);
		container_spec_hash(&spec, hash, NULL);
		world->label = strdup(hash);
		world->status = cases[i].status;
		if (!i) {
			spool_write(world->spool, &world_task, SPOOL_IN,
				    "start", "", 0, NULL);
			world_init_begins(world);
		}
		if (cases[i].exit_code >= 0)
			world_exits(world, cases[i].exit_code);
		world->task =
			task_adopt(&world->services, &world_task, list, NULL);
		ok(world->task &&
			   UNTIL(world, world_state_is(world, cases[i].state)),
		   "%s", cases[i].what);
		if (world->task &&
		    task_status(world->task, &status, NULL) == 0) {
			if (cases[i].exit_code >= 0)
				is(status.failure, "exit", "with its class");
			codec_clear(&task_status_schema, &status);
		}
		if (!i) {
			UNTIL(world, strchr(world->asked, WAIT));
			world_exits(world, 0);
			ok(UNTIL(world, world_state_is(world, "ended")),
			   "to its end");
		}
		ok(!strchr(world->asked, START), "and nothing is started");
		task_discard(world->task);
		ok(UNTIL(world, world->gone) && world_nothing_left(world),
		   "and it can be discarded");
		cJSON_Delete(list);
		world_free(world);
	}
}

/* An agent that was killed when regatta-init had begun, and waited for its
 * release, while the start was still under way to the engine.
 */
static void adopted_before_release(void)
{
	struct world *world = world_new();
	cJSON *list = cJSON_Parse("{\"State\":\"created\"}");
	struct task_spec spec = world_spec();
	char hash[65];

	spool_create(world->spool, &spec, NULL);
	container_spec_hash(&spec, hash, NULL);
	world->label = strdup(hash);
	world->status = "created";
	spool_write(world->spool, &world_task, SPOOL_IN, "start.new", "", 0,
		    NULL);
	world_init_begins(world);
	world->task = task_adopt(&world->services, &world_task, list, NULL);
	ok(world->task && UNTIL(world, world_state_is(world, "running")) &&
		   spool_has(world->spool, &world_task, SPOOL_IN, "start"),
	   "one that waits for its release gets it from the next agent");
	UNTIL(world, world->waiting);
	world_exits(world, 0);
	ok(UNTIL(world, world_state_is(world, "ended")), "and ends well");
	cJSON_Delete(list);
	world_free(world);
}

/* An agent that was killed after it had asked the engine to start it. */
static void adopted_at_start(void)
{
	struct world *world = world_new();
	cJSON *list = cJSON_Parse("{\"State\":\"created\"}");

	world_begin(world);
	UNTIL(world, world_state_is(world, "ready"));
	world->hold = START;
	world_start(world, "10.0.0.1", 20001);
	UNTIL(world, world->held);
	task_free(take(world->task));
	world->hold = 0;
	memset(world->asked, 0, sizeof(world->asked));
	memset(world->states, 0, sizeof(world->states));
	world->task = task_adopt(&world->services, &world_task, list, NULL);
	ok(world->task && UNTIL(world, world_state_is(world, "running")),
	   "one that was told to start goes on with that");
	ok(!strchr(world->asked, CREATE) && !strchr(world->asked, INSPECT),
	   "and is not prepared again: it may run already");
	UNTIL(world, world->waiting);
	world_exits(world, 0);
	ok(UNTIL(world, world_state_is(world, "ended")), "to its end");
	cJSON_Delete(list);
	world_free(world);
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	tap_begin(120);
	hidden();
	forged();
	forged_early();
	adopted();
	adopted_before_release();
	adopted_at_start();
	return tap_done();
}
