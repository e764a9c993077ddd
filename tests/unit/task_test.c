/* task_test.c - the life of a task, against a scripted engine: lost answers,
 * orders at any time, and nothing left behind.
 */
#include "agent/task/task.h"

#include "protocol/hardware/container.h"

#include "protocol/base/clock.h"
#include "protocol/base/file.h"
#include "protocol/base/loop.h"
#include "protocol/base/program.h"
#include "tests/tap.h"
#include "tests/unit/fake_engine.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#define ID "1111111111111111111111111111111111111111111111111111111111111111"
#define EXIT                                                                   \
	"{\"version\":1,\"exit_code\":%d,\"signal\":0,\"started_ms\":5,"       \
	"\"ended_ms\":6,\"oom_kills\":0,\"memory_peak_bytes\":0}"

/* What the engine is asked, by a letter: what one sees in world.asked. */
enum {
	INSPECT = 'i',
	CREATE = 'c',
	START = 's',
	WAIT = 'w',
	STOP = 'p',
	REMOVE = 'r',
	LOOK = 'l'
};

struct world {
	struct node_policy *node_policy;
	sd_event *loop;
	char folder[64];
	struct fake_engine *fake;
	struct engine *engine;
	struct images *images;
	struct spool *spool;
	struct log_sender *sender;
	struct task_services services;
	struct inventory *inventory;
	struct engine_features features;
	struct device_binding_source binding;
	struct task *task;
	char cluster[16];
	/* the engine */
	const char *status;            /* of the container; NULL: none */
	int exit_code;                 /* of its end */
	char *label;                   /* its regatta.spec */
	char hold;                     /* leave this question unanswered ... */
	struct fake_exchange *held;    /* ... which is here then */
	struct fake_exchange *waiting; /* for the container's end */
	char lose; /* do it, and close without an answer, once */
	int code;  /* answer to create and start; 0: success */
	int lacks; /* times that the image is gone when a container is made */
	char asked[64];
	/* the agent */
	char states[128];
	bool gone;
};

static const struct task_id id = { 3, 1, 0 };

static void inventory_changed(void *arg)
{
}

static void start(struct world *world, const char *address, uint32_t port)
{
	const struct rendezvous rendezvous = { .address = address,
					       .port = port };

	task_start(world->task, &rendezvous);
}

static void asked(struct world *world, char what)
{
	size_t n = strlen(world->asked);

	if (n + 1 < sizeof(world->asked))
		world->asked[n] = what;
}

static void keep_label(struct world *world, const struct fake_request *request)
{
	cJSON *body = cJSON_Parse(request->body);
	const cJSON *labels = cJSON_GetObjectItemCaseSensitive(body, "Labels");
	const char *label = cJSON_GetStringValue(
		cJSON_GetObjectItemCaseSensitive(labels, "regatta.spec"));

	free(world->label);
	world->label = label ? strdup(label) : NULL;
	cJSON_Delete(body);
}

static char what_is_asked(const struct fake_request *request)
{
	const char *path = fake_path(request);

	return !strncmp(path, "/images/", 8)              ? INSPECT
	       : !strncmp(path, "/containers/create", 18) ? CREATE
	       : strstr(path, "/start")                   ? START
	       : strstr(path, "/wait")                    ? WAIT
	       : strstr(path, "/stop")                    ? STOP
	       : !strcmp(request->method, "DELETE")       ? REMOVE
							  : LOOK;
}

static void answer_look(struct world *world, struct fake_exchange *exchange)
{
	char text[512];

	if (!world->status) {
		fake_answer(exchange, 404, "{\"message\":\"none\"}");
		return;
	}
	snprintf(text, sizeof(text),
		 "{\"Id\":\"" ID "\",\"State\":{\"Status\":\"%s\",\"ExitCode\":"
		 "%d,\"StartedAt\":\"1970-01-01T00:00:00.004Z\","
		 "\"FinishedAt\":\"1970-01-01T00:00:00.007Z\"},"
		 "\"Config\":{\"Labels\":{\"regatta.spec\":\"%s\"}}}",
		 world->status, world->exit_code,
		 world->label ? world->label : "");
	fake_answer(exchange, 200, text);
}

static void wait_is_gone(void *arg)
{
	((struct world *)arg)->waiting = NULL;
}

/* Do what is asked, and answer. */
static void carry_out(struct world *world, struct fake_exchange *exchange,
		      char what)
{
	switch (what) {
	case INSPECT:
		fake_answer(exchange, 200,
			    "{\"Id\":\"sha256:abc\",\"Config\":{}}");
		break;
	case CREATE:
		if (world->lacks) {
			world->lacks--;
			fake_answer(exchange, 404,
				    "{\"message\":\"No such image\"}");
			return;
		}
		if (world->status)
			fake_answer(exchange, 409, "{\"message\":\"in use\"}");
		else
			fake_answer(exchange, 201, "{\"Id\":\"" ID "\"}");
		world->status = world->status ? world->status : "created";
		break;
	case START:
		world->status = "running";
		fake_answer(exchange, 204, NULL);
		break;
	case STOP:
		if (world->status && !strcmp(world->status, "running"))
			world->status = "exited";
		fake_answer(exchange, world->status ? 204 : 404,
			    world->status ? NULL : "{\"message\":\"none\"}");
		break;
	case REMOVE:
		fake_answer(exchange, world->status ? 204 : 404,
			    world->status ? NULL : "{\"message\":\"none\"}");
		world->status = NULL;
		break;
	case WAIT:
		if (world->status && !strcmp(world->status, "exited")) {
			fake_answer(exchange, 200, "{\"StatusCode\":0}");
			break;
		}
		world->waiting = exchange; /* until ends() */
		fake_on_gone(exchange, wait_is_gone, world);
		break;
	default:
		answer_look(world, exchange);
	}
}

static void script(void *arg, struct fake_exchange *exchange,
		   const struct fake_request *request)
{
	struct world *world = arg;
	char what;

	if (fake_version(exchange, request))
		return;
	what = what_is_asked(request);
	asked(world, what);
	if (what == CREATE && !world->status)
		keep_label(world, request);
	if (what == world->hold) {
		world->held = exchange;
	} else if (what == world->lose) {
		world->lose = 0;
		if (what == CREATE)
			world->status = "created";
		if (what == START)
			world->status = "running";
		if (what == REMOVE)
			world->status = NULL;
		fake_close(exchange);
	} else if (world->code && (what == CREATE || what == START)) {
		fake_answer(exchange, world->code, "{\"message\":\"no!\"}");
	} else {
		carry_out(world, exchange, what);
	}
}

static void changed(void *arg, struct task *task)
{
	struct world *world = arg;
	struct task_status status;
	size_t n = strlen(world->states);

	if (task_status(task, &status, NULL) < 0)
		abort();
	snprintf(world->states + n, sizeof(world->states) - n, "%s%s%s%s",
		 n ? " " : "", status.state, status.failure ? ":" : "",
		 status.failure ? status.failure : "");
	codec_clear(&task_status_schema, &status);
}

static void progress(void *arg, struct task *task,
		     const struct image_progress *image)
{
}

static void gone(void *arg, struct task *task)
{
	struct world *world = arg;

	world->gone = true;
	world->task = NULL;
}

static int no_send(void *arg, const struct message_log *log, const void *data,
		   size_t size)
{
	return -1;
}

static struct task_spec spec_of(void)
{
	static char *argv[] = { (char *)"x" };

	return (struct task_spec){
		.job = id.job,
		.attempt = id.attempt,
		.rank = id.rank,
		.nodes = 1,
		.world_size = 1,
		.processes_per_node = 1,
		.container = { .image = (char *)"image:1",
			       .argv = { argv, 1 } },
	};
}

static struct world *world_new(void)
{
	struct world *world = calloc(1, sizeof(*world));
	char path[128], host[160];
	struct error err;

	snprintf(world->folder, sizeof(world->folder),
		 "/tmp/regatta-task-XXXXXX");
	world->loop = program_begin(NULL);
	if (!mkdtemp(world->folder) || !world->loop)
		abort();
	snprintf(path, sizeof(path), "%s/engine", world->folder);
	snprintf(host, sizeof(host), "unix://%s", path);
	world->fake = fake_engine_new(world->loop, path, script, world);
	world->engine = engine_new(world->loop, host, NULL, &err);
	world->images =
		images_new(world->loop, world->engine, NULL, 0, 10, &err);
	world->spool = spool_new(world->folder, &err);
	world->sender =
		log_sender_new(world->loop, world->spool, no_send, world, &err);
	if (!world->engine || !world->images || !world->spool || !world->sender)
		abort();
	world->inventory = inventory_new(world->loop,
					 &(struct inventory_config){
						 .roots = &real_roots,
						 .vendor = "cpu",
						 .state = world->folder },
					 inventory_changed, NULL, NULL);
	world->binding =
		(struct device_binding_source){ world->inventory, &real_roots,
						&world->features };
	world->node_policy = node_policy_new(NULL, false, &err);
	world->exit_code = 137;
	world->services = (struct task_services){
		.address = "127.0.0.1",
		.loop = world->loop,
		.engine = world->engine,
		.images = world->images,
		.spool = world->spool,
		.sender = world->sender,
		.cluster = "c",
		.node = "n",
		.init_program = "/init",
		.folder = world->folder,
		.binding = &world->binding,
		.node_policy = world->node_policy,
		.preflight = { .loop = world->loop,
			       .binding = &world->binding },
		.changed = changed,
		.progress = progress,
		.gone = gone,
		.arg = world,
	};
	return world;
}

static void world_free(struct world *world)
{
	task_free(world->task);
	node_policy_free(world->node_policy);
	inventory_free(world->inventory);
	log_sender_free(world->sender);
	images_free(world->images);
	engine_free(world->engine);
	fake_engine_free(world->fake);
	spool_free(world->spool);
	sd_event_unref(world->loop);
	file_remove_tree(AT_FDCWD, world->folder, NULL);
	free(world->label);
	free(world);
}

static void begin_with(struct world *world, struct mount_spec *mount)
{
	struct task_spec spec = spec_of();
	struct error err;

	if (mount) {
		spec.container.mounts = mount;
		spec.container.mounts_count = 1;
	}

	world->task = task_new(&world->services, &spec, &err);
	if (!world->task)
		printf("# %s\n", err.text);
}

static void begin(struct world *world)
{
	begin_with(world, NULL);
}

static int expire(sd_event_source *source, uint64_t usec, void *arg)
{
	*(bool *)arg = true;
	return 0;
}

/* Run the loop until this is so; for at most ten seconds. */
#define UNTIL(world, condition)                                                \
	({                                                                     \
		sd_event_source *limit_ = NULL;                                \
		bool expired_ = false, met_;                                   \
		loop_timer((world)->loop, &limit_, 10000, expire, &expired_,   \
			   NULL);                                              \
		while (!(met_ = (condition)) && !expired_)                     \
			sd_event_run((world)->loop, UINT64_MAX);               \
		loop_source_free(&limit_);                                     \
		met_;                                                          \
	})

static bool state_is(const struct world *world, const char *state)
{
	const char *last = strrchr(world->states, ' ');

	return !strcmp(last ? last + 1 : world->states, state);
}

/* The record of this code, in the file that lies there for it or another. */
static void record(const struct world *world, int code, bool other)
{
	char path[PATH_MAX], from[PATH_MAX + 16], to[PATH_MAX + 16], text[256];
	int fd;

	spool_out_path(world->spool, &id, path);
	snprintf(from, sizeof(from), "%s/%s", path,
		 other ? "other" : "exit.json.new");
	snprintf(to, sizeof(to), "%s/exit.json", path);
	snprintf(text, sizeof(text), EXIT, code);
	fd = open(from, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (fd < 0 || write(fd, text, strlen(text)) < 0 || rename(from, to) < 0)
		abort();
	close(fd);
}

/* The engine sees the container end. */
static void ends(struct world *world, int code)
{
	world->status = "exited";
	world->exit_code = code;
	if (world->waiting)
		fake_answer(world->waiting, 200, "{\"StatusCode\":0}");
}

static void exits(struct world *world, int code)
{
	record(world, code, false);
	ends(world, code);
}

static bool nothing_left(const struct world *world)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/spool/3.1.0", world->folder);
	return !world->status && access(path, F_OK) < 0;
}

static void from_begin_to_end(void)
{
	struct world *world = world_new();

	begin(world);
	ok(UNTIL(world, state_is(world, "ready")), "a task gets ready");
	start(world, "10.0.0.1", 20001);
	start(world, "10.0.0.2", 20002);
	ok(UNTIL(world, state_is(world, "running")), "runs when told to");
	exits(world, 0);
	ok(UNTIL(world, state_is(world, "ended")), "and has ended well");
	task_stop(world->task, FAILURE_CANCELLED);
	task_discard(world->task);
	task_discard(world->task);
	ok(UNTIL(world, world->gone) && nothing_left(world),
	   "then it goes, with container and spool");
	is(world->states, "preparing ready starting running ended",
	   "orders that come twice or late change nothing");
	is(world->asked, "icswlr", "the engine is asked once for each");
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
		begin(world);
		UNTIL(world, state_is(world, "ready"));
		start(world, "10.0.0.1", 20001);
		ok(UNTIL(world, state_is(world, "running")),
		   "an answer to '%c' that is lost is made good: %s", what[i],
		   world->asked);
		is(world->states, "preparing ready starting running",
		   "and the task goes its way");
		world->lose = REMOVE;
		exits(world, 0);
		UNTIL(world, state_is(world, "ended"));
		task_discard(world->task);
		ok(UNTIL(world, world->gone) && nothing_left(world),
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
		begin(world);
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
		carry_out(world, world->held, CREATE);
		ok(UNTIL(world, world->gone) && nothing_left(world),
		   "but when that is made and removed");
		world_free(world);
	}
}

static void created_after_a_stop(void)
{
	struct world *world = world_new();

	world->hold = CREATE;
	begin(world);
	UNTIL(world, world->held);
	task_stop(world->task, FAILURE_TIMEOUT);
	world->hold = 0;
	carry_out(world, world->held, CREATE);
	/* The answer has been heard when the next question is answered. */
	task_discard(world->task);
	ok(UNTIL(world, world->gone) && nothing_left(world),
	   "a container that is made after the stop is removed");
	is(world->asked, "icr", "with one question");
	world_free(world);
}

static void ways_to_fail(void)
{
	struct world *world = world_new();

	world->code = 400;
	begin(world);
	ok(UNTIL(world, state_is(world, "ended:create")),
	   "an engine that will not create it: class create");
	world_free(world);

	world = world_new();
	begin(world);
	UNTIL(world, state_is(world, "ready"));
	world->code = 500;
	start(world, "10.0.0.1", 20001);
	ok(UNTIL(world, state_is(world, "ended:create")),
	   "nor start it: the same");
	world_free(world);

	world = world_new();
	begin(world);
	UNTIL(world, state_is(world, "ready"));
	start(world, "10.0.0.1", 20001);
	UNTIL(world, state_is(world, "running"));
	exits(world, 3);
	ok(UNTIL(world, state_is(world, "ended:exit")),
	   "a command that exits with 3: class exit");
	world_free(world);

	world = world_new();
	world->status = "created";
	begin(world);
	ok(UNTIL(world, state_is(world, "ended:create")),
	   "a stranger's container of its name: class create");
	task_discard(world->task);
	world_free(world);
}

static void stopped(void)
{
	struct world *world = world_new();

	begin(world);
	UNTIL(world, state_is(world, "ready"));
	start(world, "10.0.0.1", 20001);
	UNTIL(world, state_is(world, "running"));
	task_stop(world->task, FAILURE_TIMEOUT);
	task_stop(world->task, FAILURE_CANCELLED);
	ok(UNTIL(world, state_is(world, "ended:timeout")),
	   "a running task is stopped, for the first reason given");
	ok(strchr(world->asked, STOP), "by the engine");
	world_free(world);

	world = world_new();
	begin(world);
	UNTIL(world, state_is(world, "ready"));
	task_stop(world->task, FAILURE_CANCELLED);
	is(world->states, "preparing ready ended:cancelled",
	   "one that is ready ends at once");
	start(world, "10.0.0.1", 20001);
	task_discard(world->task);
	ok(UNTIL(world, world->gone) && !strchr(world->asked, START),
	   "and is not started any more");
	world_free(world);
}

/* A process that lives in the task's folder as regatta-init does. */
static pid_t hidden_new(const struct world *world)
{
	const struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	char path[PATH_MAX], ready;
	int said[2], fd;
	pid_t pid;

	spool_out_path(world->spool, &id, path);
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

	begin(world);
	UNTIL(world, state_is(world, "ready"));
	world->code = 500;
	pid = hidden_new(world);
	start(world, "10.0.0.1", 20001);
	ok(UNTIL(world, state_is(world, "running")),
	   "what runs is running, though the engine refuses to start it");
	UNTIL(world, world->waiting);
	fake_answer(world->waiting, 200, "{\"StatusCode\":0}");
	ok(UNTIL(world, strstr(world->asked, "wl")) &&
		   state_is(world, "running"),
	   "and stays so while it lives");
	task_stop(world->task, FAILURE_CANCELLED);
	ok(UNTIL(world, ended_by(pid, SIGTERM)), "it is told to stop");
	world->status = "exited";
	ok(UNTIL(world, state_is(world, "ended:cancelled")), "and ends then");
	world_free(world);

	world = world_new();
	begin(world);
	UNTIL(world, state_is(world, "ready"));
	world->code = 500;
	pid = hidden_new(world);
	start(world, "10.0.0.1", 20001);
	UNTIL(world, state_is(world, "running"));
	task_discard(world->task);
	ok(UNTIL(world, ended_by(pid, SIGKILL)) && !world->gone,
	   "discarded, it is killed, too");
	ok(UNTIL(world, world->gone) && nothing_left(world),
	   "and then nothing is left");
	world_free(world);
}

static struct world *world_running(void)
{
	struct world *world = world_new();

	begin(world);
	UNTIL(world, state_is(world, "ready"));
	start(world, "10.0.0.1", 20001);
	UNTIL(world, world->waiting && state_is(world, "running"));
	return world;
}

static void text_is(struct world *world, const char *want, const char *what)
{
	struct task_status status;

	if (task_status(world->task, &status, NULL) < 0)
		abort();
	is(status.text, want, "%s", what);
	codec_clear(&task_status_schema, &status);
}

/* Podman says only after most of a second that a container has ended. */
static void slow_to_tell_the_end(void)
{
	struct world *world = world_running();
	int64_t begun = clock_mono_ms();

	world->status = "running";
	record(world, 0, false);
	UNTIL(world, strstr(world->asked, "wlw"));
	ok(world->waiting && state_is(world, "running"),
	   "an engine that does not know of the end yet is waited for again");
	world->status = "exited";
	world->exit_code = 0;
	ok(UNTIL(world, state_is(world, "ended")) &&
		   clock_mono_ms() - begun < 2000,
	   "and is asked again, before it says so by itself");
	world_free(world);
}

#define FORGED "the exit record is forged or damaged: "

/* A command that writes its own record, and the agent that comes next. */
static void forged(void)
{
	struct world *world = world_running();
	cJSON *list = cJSON_Parse("{\"State\":\"exited\"}");

	record(world, 0, true);
	ends(world, 0);
	ok(UNTIL(world, state_is(world, "ended:exit")),
	   "a record in another file: class exit");
	text_is(world, FORGED "another file is in its place", "says so");
	task_free(take(world->task));
	memset(world->states, 0, sizeof(world->states));
	world->task = task_adopt(&world->services, &id, list, NULL);
	text_is(world, FORGED "another file is in its place",
		"to the next agent, too");
	cJSON_Delete(list);
	world_free(world);

	world = world_running();
	record(world, 0, false);
	ends(world, 137);
	ok(UNTIL(world, state_is(world, "ended:exit")),
	   "one that says another code than the engine: class exit");
	text_is(world, FORGED "its exit code is 0, the engine's 137",
		"names both");
	world_free(world);
}

/* The true record takes the place of the false one in the end. */
static void forged_early(void)
{
	struct world *world = world_running();

	record(world, 0, true);
	/* What the agent sees of it comes at once, or with the end. */
	while (sd_event_run(world->loop, 0) > 0)
		;
	is(world->states, "preparing ready starting running",
	   "a record before the end ends nothing");
	exits(world, 0);
	ok(UNTIL(world, state_is(world, "ended:exit")),
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
		struct task_spec spec = spec_of();
		struct task_status status;
		char hash[65];

		spool_create(world->spool, &spec, NULL);
		container_spec_hash(&spec, hash, NULL);
		world->label = strdup(hash);
		world->status = cases[i].status;
		if (cases[i].exit_code >= 0)
			exits(world, cases[i].exit_code);
		world->task = task_adopt(&world->services, &id, list, NULL);
		ok(world->task && UNTIL(world, state_is(world, cases[i].state)),
		   "%s", cases[i].what);
		if (world->task &&
		    task_status(world->task, &status, NULL) == 0) {
			if (cases[i].exit_code >= 0)
				is(status.failure, "exit", "with its class");
			codec_clear(&task_status_schema, &status);
		}
		if (!i) {
			UNTIL(world, strchr(world->asked, WAIT));
			exits(world, 0);
			ok(UNTIL(world, state_is(world, "ended")),
			   "to its end");
		}
		ok(!strchr(world->asked, START), "and nothing is started");
		task_discard(world->task);
		ok(UNTIL(world, world->gone) && nothing_left(world),
		   "and it can be discarded");
		cJSON_Delete(list);
		world_free(world);
	}
}

/* An agent that was killed after it had asked the engine to start it. */
static void adopted_at_start(void)
{
	struct world *world = world_new();
	cJSON *list = cJSON_Parse("{\"State\":\"created\"}");

	begin(world);
	UNTIL(world, state_is(world, "ready"));
	world->hold = START;
	start(world, "10.0.0.1", 20001);
	UNTIL(world, world->held);
	task_free(take(world->task));
	world->hold = 0;
	memset(world->asked, 0, sizeof(world->asked));
	memset(world->states, 0, sizeof(world->states));
	world->task = task_adopt(&world->services, &id, list, NULL);
	ok(world->task && UNTIL(world, state_is(world, "running")),
	   "one that was told to start goes on with that");
	ok(!strchr(world->asked, CREATE) && !strchr(world->asked, INSPECT),
	   "and is not prepared again: it may run already");
	UNTIL(world, world->waiting);
	exits(world, 0);
	ok(UNTIL(world, state_is(world, "ended")), "to its end");
	cJSON_Delete(list);
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
	begin_with(world, &mount);
	ok(UNTIL(world, state_is(world, "ready")),
	   "a mount that is allowed is ready");
	rmdir(inside);
	if (symlink("/etc", inside) < 0)
		ok(false, "no link");
	start(world, "10.0.0.1", 20000);
	ok(UNTIL(world, state_is(world, "ended:policy")) &&
		   !strchr(world->asked, START),
	   "one that leads elsewhere by then is never started");
	world_free(world);
}

/* Somebody removes the image after it was found here. */
static void image_taken_away(void)
{
	struct world *world = world_new();

	world->lacks = 2;
	begin(world);
	ok(UNTIL(world, state_is(world, "ready")),
	   "an image that is taken away is brought again");
	is(world->states, "preparing ready", "and nothing is told of it");
	world_free(world);
	world = world_new();
	world->lacks = 100;
	begin(world);
	ok(UNTIL(world, state_is(world, "ended:create")), "but not for ever");
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
	forged();
	forged_early();
	hidden();
	adopted();
	adopted_at_start();
	link_swapped_before_start();
	image_taken_away();
	return tap_done();
}
