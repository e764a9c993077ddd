/* pod_driver.c - the engine of an agent in a pod of Kubernetes: file operations
 * on the volume that it shares with the main container.
 */
#include "agent/docker/pod_driver.h"
#include "agent/docker/create_body.h"
#include "agent/docker/engine_internal.h"
#include "agent/init/init.h"
#include "protocol/base/file.h"
#include "protocol/base/loop.h"
#include "protocol/message/json_get.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define KILLED 137 /* the exit code of what left no record */

/* A call whose answer comes in a later turn. */
struct pod_call {
	struct engine_call base;
	struct pod_engine *engine;
	engine_done_fn *done;
	void *arg;
	cJSON *answer;
	struct error error; /* code 0: success */
	bool waits;         /* for the end of the main container */
	TAILQ_ENTRY(pod_call) next;
};

struct pod_engine {
	struct engine base;
	sd_event *loop;
	struct deferral *run;    /* answers */
	sd_event_source *watch;  /* of `main` */
	sd_event_source *killer; /* at the end of a stop's grace */
	char *host, *folder;
	pid_t main; /* regatta-init of the main container; 0: not seen yet */
	int main_fd;
	bool ended;   /* it is gone */
	char *name;   /* of the task's container; NULL: there is none */
	cJSON *body;  /* as it was created */
	bool started; /* its command was */
	TAILQ_HEAD(, pod_call) calls;
};

bool pod_engine_named(const char *host)
{
	return !strncmp(host, POD_ENGINE "/", strlen(POD_ENGINE) + 1);
}

void pod_engine_launcher(const char *host, char *path)
{
	snprintf(path, PATH_MAX, "%s/bin/" INIT_TOOL,
		 host + strlen(POD_ENGINE));
}

/* The main container. */

static int pod_main_ended(sd_event_source *source, int fd, uint32_t events,
			  void *arg)
{
	struct pod_engine *engine = arg;
	struct pod_call *call;

	engine->ended = true;
	loop_source_free(&engine->watch);
	loop_source_free(&engine->killer);
	TAILQ_FOREACH(call, &engine->calls, next)
		call->waits = false;
	deferral_run(engine->run);
	return 0;
}

/* Find the process that holds the lock (agent/init/init.h), and watch it. */
static int pod_main_find(struct pod_engine *engine, struct error *err)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	owned_fd int fd = -1;
	char path[PATH_MAX];
	int rc;

	if (engine->main)
		return 0;
	snprintf(path, sizeof(path), "%s/" INIT_POD_LOCK, engine->folder);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 || fcntl(fd, F_GETLK, &lock) < 0 || lock.l_type == F_UNLCK)
		return error_set(err, ECONNREFUSED,
				 "the main container has not started yet");
	if (lock.l_pid <= 1)
		return error_set(err, ECONNREFUSED,
				 "the processes of the main container are not "
				 "visible; the pod needs "
				 "shareProcessNamespace: true");
	engine->main_fd = (int)syscall(SYS_pidfd_open, lock.l_pid, 0);
	if (engine->main_fd < 0)
		return error_set(err, ECONNREFUSED, "process %d: %s",
				 (int)lock.l_pid, strerror(errno));
	rc = sd_event_add_io(engine->loop, &engine->watch, engine->main_fd,
			     EPOLLIN, pod_main_ended, engine);
	if (rc < 0)
		return error_set(err, -rc, "pod");
	engine->main = lock.l_pid;
	return 0;
}

static void pod_main_signal(const struct pod_engine *engine, int number)
{
	if (engine->main && !engine->ended)
		syscall(SYS_pidfd_send_signal, engine->main_fd, number, NULL,
			0);
}

/* What the engine does: 0, -1 with an error, 1: the answer comes at the end of
 * the main container. rest: the path behind the container's or image's name.
 */
typedef int pod_action_fn(struct pod_engine *engine, const char *name,
			  const struct call_plan *plan, cJSON *answer,
			  struct error *err);

static int pod_version(struct pod_engine *engine, const char *name,
		       const struct call_plan *plan, cJSON *answer,
		       struct error *err)
{
	cJSON_AddStringToObject(answer, "Version", "pod");
	cJSON_AddStringToObject(answer, "ApiVersion", "1.44");
	return pod_main_find(engine, err);
}

/* An image is known by its reference alone, because only the kubelet has it. */
static int pod_image(struct pod_engine *engine, const char *name,
		     const struct call_plan *plan, cJSON *answer,
		     struct error *err)
{
	char id[DIGEST_HEX_SIZE + 8] = "sha256:";
	struct digest digest;

	digest_init(&digest);
	digest_add(&digest, name, strlen(name));
	digest_hex(&digest, id + strlen(id));
	cJSON_AddStringToObject(answer, "Id", id);
	cJSON_AddItemToObject(answer, "RepoDigests",
			      cJSON_CreateStringArray(&name,
						      strstr(name,
							     "@sha256:") !=
							      NULL));
	cJSON_AddItemToObject(cJSON_AddObjectToObject(answer, "RootFS"),
			      "Layers", cJSON_CreateStringArray(&name, 1));
	return 0;
}

/* The host folder that the body mounts there; NULL: none. */
static const char *pod_mounted(const struct pod_engine *engine,
			       const char *target)
{
	const cJSON *mounts =
		json_get(json_get(engine->body, "HostConfig"), "Mounts");
	const cJSON *mount;

	cJSON_ArrayForEach(mount, mounts)
		if (!strcmp(json_get_text_or_empty(mount, "Target"), target))
			return json_get_text_or_empty(mount, "Source");
	return NULL;
}

/* The folder that holds `path`, and the one above it, let others pass. */
static int pod_open_way(const char *path, struct error *err)
{
	char folder[PATH_MAX], *slash;

	snprintf(folder, sizeof(folder), "%s", path);
	for (int i = 0; i < 2 && (slash = strrchr(folder, '/')); i++) {
		*slash = 0;
		if (chmod(folder, 0711) < 0)
			return error_errno(err, "%.150s", folder);
	}
	return 0;
}

static int pod_create(struct pod_engine *engine, const char *name,
		      const struct call_plan *plan, cJSON *answer,
		      struct error *err)
{
	const char *out;

	if (engine->name && !strcmp(engine->name, name))
		return error_set(err, EEXIST, "pod: %s exists", name);
	if (engine->name || engine->started)
		return error_set(err, EINVAL,
				 "a pod runs one task, and this one had its "
				 "task");
	engine->body = cJSON_Parse(plan->body);
	out = pod_mounted(engine, CONTAINER_OUT);
	engine->name = out ? strdup(name) : NULL;
	if (!engine->name)
		return error_set(err, EINVAL, "pod: no folder " CONTAINER_OUT);
	cJSON_AddStringToObject(answer, "Id", name);
	return pod_open_way(out, err);
}

/* What is in one folder goes to another one of the same file system. */
static int pod_move_all(const char *from, const char *to, struct error *err)
{
	owned_dir DIR *dir = opendir(from);
	const struct dirent *entry;
	owned_fd int there = open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (!dir || there < 0)
		return error_errno(err, "%.150s", dir ? to : from);
	while ((entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") != 0 &&
		    strcmp(entry->d_name, "..") != 0 &&
		    renameat(dirfd(dir), entry->d_name, there, entry->d_name) <
			    0)
			return error_errno(err, "%.150s/%.80s", to,
					   entry->d_name);
	return 0;
}

static int pod_link(const struct pod_engine *engine, const char *name,
		    const char *target, struct error *err)
{
	const char *to = pod_mounted(engine, target);
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", engine->folder, name);
	return to && (symlink(to, path) == 0 || errno == EEXIST)
		       ? 0
		       : error_errno(err, "%.150s", path);
}

/* The one mount whose source is the work folder of the spool: beside "out". */
static int pod_place_work(const struct pod_engine *engine, struct error *err)
{
	const char *out = pod_mounted(engine, CONTAINER_OUT);
	char work[PATH_MAX], place[PATH_MAX];

	snprintf(work, sizeof(work), "%.*s/work",
		 (int)(strrchr(out, '/') - out), out);
	snprintf(place, sizeof(place), "%s/work", engine->folder);
	return access(work, F_OK) < 0 ? 0 : pod_move_all(work, place, err);
}

static int pod_start(struct pod_engine *engine, const char *name,
		     const struct call_plan *plan, cJSON *answer,
		     struct error *err)
{
	if (engine->started)
		return 0;
	if (engine->ended)
		return error_set(err, EIO,
				 "the main container ended before the start");
	if (pod_place_work(engine, err) < 0 ||
	    pod_link(engine, "in", CONTAINER_IN, err) < 0 ||
	    pod_link(engine, "out", CONTAINER_OUT, err) < 0)
		return -1;
	engine->started = true;
	return 0;
}

static int pod_kill(sd_event_source *source, uint64_t usec, void *arg)
{
	pod_main_signal(arg, SIGKILL);
	return 0;
}

static int pod_wait(struct pod_engine *engine, const char *name,
		    const struct call_plan *plan, cJSON *answer,
		    struct error *err)
{
	cJSON_AddNumberToObject(answer, "StatusCode", KILLED);
	return engine->started && !engine->ended;
}

static int pod_stop(struct pod_engine *engine, const char *name,
		    const struct call_plan *plan, cJSON *answer,
		    struct error *err)
{
	const char *grace = strstr(plan->path, "t=");
	uint64_t grace_s = grace ? strtoull(grace + 2, NULL, 10) : 0;

	if (!engine->started || engine->ended)
		return 0;
	pod_main_signal(engine, SIGTERM);
	loop_timer(engine->loop, &engine->killer, grace_s * 1000, pod_kill,
		   engine, NULL);
	return 1;
}

/* The exit code is in the record, or there is none. */
static int pod_inspect(struct pod_engine *engine, const char *name,
		       const struct call_plan *plan, cJSON *answer,
		       struct error *err)
{
	cJSON *state = cJSON_AddObjectToObject(answer, "State");

	cJSON_AddStringToObject(state, "Status",
				!engine->started ? "created"
				: engine->ended  ? "exited"
						 : "running");
	cJSON_AddNumberToObject(state, "ExitCode", KILLED);
	if (engine->started && !engine->ended)
		cJSON_AddNumberToObject(state, "Pid", engine->main);
	cJSON_AddItemToObject(answer, "Config",
			      cJSON_Duplicate(engine->body,
					      true)); /* with its labels */
	return 0;
}

static int pod_remove(struct pod_engine *engine, const char *name,
		      const struct call_plan *plan, cJSON *answer,
		      struct error *err)
{
	if (engine->started)
		pod_main_signal(engine, SIGKILL);
	cJSON_Delete(take(engine->body));
	free(take(engine->name));
	return 0;
}

static const struct {
	const char *begin; /* of a request; then a name */
	const char *end;   /* behind the name, before a query */
	bool container;    /* the name is that of the container */
	bool list;         /* the answer is an empty one: no container outlives
			      its agent, and no image is this agent's */
	pod_action_fn *action;
} pod_requests[] = {
	{ "GET /_ping", "", .action = pod_version },
	{ "GET /version", "", .action = pod_version },
	{ "GET /info", "", .action = pod_version },
	{ "GET /images/", "/json", .action = pod_image },
	{ "POST /containers/create?name=", "", .action = pod_create },
	{ "POST /containers/", "/start", true, .action = pod_start },
	{ "POST /containers/", "/stop", true, .action = pod_stop },
	{ "POST /containers/", "/wait", true, .action = pod_wait },
	{ "GET /containers/", "/json", true, .action = pod_inspect },
	{ "DELETE /containers/", "", true, .action = pod_remove },
	{ "GET /containers/json", "", .list = true },
	{ "GET /images/json", "", .list = true },
};

static int pod_serve(struct pod_engine *engine, const struct call_plan *plan,
		     cJSON **answer, struct error *err)
{
	char request[1024];

	snprintf(request, sizeof(request), "%s %s", plan->method, plan->path);
	for (size_t i = 0; i < sizeof(pod_requests) / sizeof(pod_requests[0]);
	     i++) {
		size_t begin = strlen(pod_requests[i].begin);
		size_t tail = strlen(pod_requests[i].end), size;
		char *name = request + begin;

		if (strncmp(request, pod_requests[i].begin, begin) != 0)
			continue;
		size = strcspn(name, "?");
		if (size < tail ||
		    strncmp(name + size - tail, pod_requests[i].end, tail) != 0)
			continue;
		*answer = pod_requests[i].list ? cJSON_CreateArray()
					       : cJSON_CreateObject();
		if (pod_requests[i].list)
			return 0;
		name[size - tail] = 0;
		if (pod_requests[i].container &&
		    (!engine->name || strcmp(engine->name, name) != 0))
			return error_set(err, ENOENT, "pod: no %.80s", name);
		return pod_requests[i].action(engine, name, plan, *answer, err);
	}
	return error_set(err, EINVAL, "%.80s: a pod has no such call", request);
}

/* The driver. */

static void pod_call_free(struct pod_call *call)
{
	TAILQ_REMOVE(&call->engine->calls, call, next);
	cJSON_Delete(call->answer);
	free(call);
}

/* One a turn, so that a callback may cancel any other. */
static void pod_answer(void *arg)
{
	struct pod_engine *engine = arg;
	struct pod_call *call, copy;

	TAILQ_FOREACH(call, &engine->calls, next)
		if (!call->waits)
			break;
	if (!call)
		return;
	deferral_run(engine->run);
	copy = *call;
	call->answer = NULL;
	pod_call_free(call);
	copy.done(copy.arg, copy.error.code ? &copy.error : NULL, copy.answer);
	cJSON_Delete(copy.answer);
}

static struct engine_call *
pod_begin(struct engine *base, const struct call_plan *plan, struct error *err)
{
	struct pod_engine *engine = (struct pod_engine *)base;
	struct pod_call *call = calloc(1, sizeof(*call));
	int rc;

	if (!call)
		return error_null(error_nomem(err, "pod"));
	call->base.driver = base->driver;
	call->engine = engine;
	call->done = plan->done;
	call->arg = plan->arg;
	rc = pod_serve(engine, plan, &call->answer, &call->error);
	call->waits = rc > 0;
	if (rc >= 0)
		call->error.code = 0;
	TAILQ_INSERT_TAIL(&engine->calls, call, next);
	deferral_run(engine->run);
	return &call->base;
}

static void pod_cancel(struct engine_call *base)
{
	pod_call_free((struct pod_call *)base);
}

static void pod_free(struct engine *base)
{
	struct pod_engine *engine = (struct pod_engine *)base;
	struct pod_call *call;

	while ((call = TAILQ_FIRST(&engine->calls)))
		pod_call_free(call);
	deferral_free(engine->run);
	loop_source_free(&engine->watch);
	loop_source_free(&engine->killer);
	if (engine->main_fd >= 0)
		close(engine->main_fd);
	cJSON_Delete(engine->body);
	free(engine->name);
	free(engine->host);
	sd_event_unref(engine->loop);
	free(engine);
}

static const struct engine_driver pod_driver = {
	.begin = pod_begin,
	.cancel = pod_cancel,
	.free = pod_free,
};

/* The kubelet makes volumes that everybody may write in. The command may add to
 * it still, but no longer replace what the agent has there: the spool refuses a
 * folder where it could.
 */
static void pod_volume_protect(const char *folder)
{
	struct stat st;

	if (stat(folder, &st) == 0 && st.st_uid == geteuid() &&
	    (st.st_mode & S_IWOTH))
		chmod(folder, (st.st_mode & 07777) | S_ISVTX);
}

struct engine *pod_engine_new(sd_event *loop, const char *host,
			      struct error *err)
{
	struct pod_engine *engine = calloc(1, sizeof(*engine));
	owned(engine_free) struct engine *base = NULL;

	if (!engine)
		return error_null(error_nomem(err, "pod"));
	/* The command sees this process, as all of the pod. Nobody may look
	 * into it, nor through it at the files of its container: keys.
	 */
	prctl(PR_SET_DUMPABLE, 0);
	TAILQ_INIT(&engine->calls);
	base = &engine->base;
	base->driver = &pod_driver;
	engine->main_fd = -1;
	engine->loop = sd_event_ref(loop);
	engine->host = strdup(host);
	if (!engine->host)
		return error_null(error_nomem(err, "pod"));
	base->host = engine->host;
	engine->folder = engine->host + strlen(POD_ENGINE);
	pod_volume_protect(engine->folder);
	engine->run = deferral_new(loop, false, pod_answer, engine, err);
	return engine->run ? take(base) : NULL;
}
