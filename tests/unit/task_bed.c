/* task_bed.c - an agent with one task, and the scripted engine that it asks.
 */
#include "tests/unit/task_bed.h"

#include "agent/task/task.h"
#include "protocol/base/file.h"
#include "protocol/base/program.h"

#include <fcntl.h>
#include <unistd.h>

#define ID "1111111111111111111111111111111111111111111111111111111111111111"
#define EXIT                                                                   \
	"{\"version\":1,\"exit_code\":%d,\"signal\":0,\"started_ms\":5,"       \
	"\"ended_ms\":6,\"oom_kills\":0,\"memory_peak_bytes\":0}"

const struct task_id world_task = { 3, 1, 0 };

static void inventory_changed(void *arg)
{
}

void world_start(struct world *world, const char *address, uint32_t port)
{
	const struct rendezvous rendezvous = { .address = address,
					       .port = port };

	task_start(world->task, &rendezvous);
}

/* Looks in a row are one: the agent looks again when the record appears. */
static void asked(struct world *world, char what)
{
	size_t n = strlen(world->asked);

	if (what == LOOK && n && world->asked[n - 1] == LOOK)
		return;
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

/* What regatta-init does first. A lock of the open file has no process, as one
 * of another PID namespace, so the agent cannot look at it.
 */
void world_init_begins(struct world *world)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	char path[PATH_MAX];

	if (world->lock)
		return;
	spool_path(world->spool, &world_task, SPOOL_OUT, path);
	strncat(path, "/started", sizeof(path) - strlen(path) - 1);
	world->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (world->lock < 0 || fcntl(world->lock, F_OFD_SETLK, &lock) < 0 ||
	    write(world->lock, "", 1) < 0)
		abort();
}

void world_init_ends(struct world *world)
{
	if (world->lock)
		close(world->lock);
	world->lock = 0;
}

static void wait_is_gone(void *arg)
{
	((struct world *)arg)->waiting = NULL;
}

/* Do what is asked, and answer. */
void world_carry_out(struct world *world, struct fake_exchange *exchange,
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
		fake_answer(exchange, world->status ? 204 : 404,
			    world->status ? NULL : "{\"message\":\"none\"}");
		world->status = world->status ? "running" : NULL;
		if (world->status)
			world_init_begins(world);
		break;
	case STOP:
		if (world->status && !strcmp(world->status, "running"))
			world->status = "exited";
		world_init_ends(world);
		fake_answer(exchange, world->status ? 204 : 404,
			    world->status ? NULL : "{\"message\":\"none\"}");
		break;
	case REMOVE:
		fake_answer(exchange, world->status ? 204 : 404,
			    world->status ? NULL : "{\"message\":\"none\"}");
		world->status = NULL;
		world_init_ends(world);
		break;
	case WAIT:
		if (world->status && !strcmp(world->status, "exited")) {
			fake_answer(exchange, 200, "{\"StatusCode\":0}");
			break;
		}
		world->waiting = exchange; /* until world_ends() */
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
		if (what == START) {
			world->status = "running";
			world_init_begins(world);
		}
		if (what == REMOVE)
			world->status = NULL;
		fake_close(exchange);
	} else if (world->code && (what == CREATE || what == START)) {
		fake_answer(exchange, world->code, "{\"message\":\"no!\"}");
	} else {
		world_carry_out(world, exchange, what);
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

struct task_spec world_spec(void)
{
	static char *argv[] = { (char *)"x" };

	return (struct task_spec){
		.job = world_task.job,
		.attempt = world_task.attempt,
		.rank = world_task.rank,
		.nodes = 1,
		.world_size = 1,
		.processes_per_node = 1,
		.container = { .image = (char *)"image:1",
			       .argv = { argv, 1 } },
	};
}

struct world *world_new(void)
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
		images_new(&(struct image_services){ .loop = world->loop,
						     .engine = world->engine,
						     .state = world->folder,
						     .registries =
							     &world->registries,
						     .retry_ms = 10 },
			   &err);
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

void world_free(struct world *world)
{
	task_free(world->task);
	node_policy_free(world->node_policy);
	inventory_free(world->inventory);
	log_sender_free(world->sender);
	images_free(world->images);
	engine_free(world->engine);
	fake_engine_free(world->fake);
	world_init_ends(world);
	spool_free(world->spool);
	sd_event_unref(world->loop);
	file_remove_tree(AT_FDCWD, world->folder, NULL);
	free(world->label);
	free(world);
}

void world_begin_with(struct world *world, struct mount_spec *mount)
{
	struct task_spec spec = world_spec();
	struct error err;

	if (mount) {
		spec.container.mounts = mount;
		spec.container.mounts_count = 1;
	}

	world->task = task_new(&world->services, &spec, &err);
	if (!world->task)
		printf("# %s\n", err.text);
}

void world_begin(struct world *world)
{
	world_begin_with(world, NULL);
}

struct world *world_running(void)
{
	struct world *world = world_new();

	world_begin(world);
	UNTIL(world, world_state_is(world, "ready"));
	world_start(world, "10.0.0.1", 20001);
	UNTIL(world, world->waiting && world_state_is(world, "running"));
	return world;
}

bool world_state_is(const struct world *world, const char *state)
{
	const char *last = strrchr(world->states, ' ');

	return !strcmp(last ? last + 1 : world->states, state);
}

/* The record of this code, in the file that lies there for it or another. */
void world_record(const struct world *world, int code, bool other)
{
	char path[PATH_MAX], from[PATH_MAX + 16], to[PATH_MAX + 16], text[256];
	int fd;

	spool_path(world->spool, &world_task, SPOOL_OUT, path);
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
void world_ends(struct world *world, int code)
{
	world->status = "exited";
	world->exit_code = code;
	world_init_ends(world);
	if (world->waiting)
		fake_answer(world->waiting, 200, "{\"StatusCode\":0}");
}

void world_exits(struct world *world, int code)
{
	world_record(world, code, false);
	world_ends(world, code);
}

bool world_nothing_left(const struct world *world)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/spool/3.1.0", world->folder);
	return !world->status && access(path, F_OK) < 0;
}

static int expire(sd_event_source *source, uint64_t usec, void *arg)
{
	*(bool *)arg = true;
	return 0;
}

sd_event_source *world_time_limit(struct world *world, bool *expired)
{
	sd_event_source *limit = NULL;

	*expired = false;
	loop_timer(world->loop, &limit, 10000, expire, expired, NULL);
	return limit;
}
