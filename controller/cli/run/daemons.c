/* daemons.c - runs a controller and agents as child processes.
 */
#include "controller/cli/run/daemons.h"
#include "protocol/base/file.h"
#include "protocol/base/loop.h"
#include "protocol/base/program.h"
#include "protocol/slurm/scontrol.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* The script of each task of the step. The shell ignores the SIGTERM of Slurm,
 * because it must outlive its agent. A killed agent is started again, and
 * continues its tasks.
 */
static const char agent_script[] =
	"exec 3<&0 </dev/null\n"
	"umask 077\n"
	"trap : TERM\n"
	"while :; do\n"
	"	\"$0\" --for-allocation --config /dev/null --policy any \\\n"
	"		--controller \"$1\" --controller-key \"$2\" --key "
	"\"$3\" \\\n"
	"		--images \"$4\" --init \"$5\" --vendor \"$6\" \\\n"
	"		--devices \"$7\" --cluster \"$8\" \\\n"
	"		--engine \"${9:-${DOCKER_HOST:-own}}\" --parent-fd 3\n"
	"	rc=$?\n"
	"	[ $rc -gt 128 ] || exit $rc\n"
	"	sleep 1\n"
	"done\n";

/* --overlap: the step takes no resources from other steps. --cpu-bind=none: it
 * may use all processors of the job.
 */
const char *const allocation_srun[] = {
	"srun",
	"--ntasks-per-node=1",
	"--overlap",
	"--wait=0",
	"--kill-on-bad-exit=0",
	"--cpu-bind=none",
	"--label",
	"/bin/sh",
	"-c",
	agent_script,
	NULL,
};

/* The numeric address of a name of this machine. */
static int host_name_resolve(const char *name, char address[64],
			     struct error *err)
{
	struct addrinfo hints = { .ai_family = AF_INET,
				  .ai_socktype = SOCK_STREAM };
	struct addrinfo *found = NULL;
	int rc = getaddrinfo(name, NULL, &hints, &found);

	if (rc != 0)
		return error_set(err, ENOENT, "%.100s: %s", name,
				 gai_strerror(rc));
	rc = getnameinfo(found->ai_addr, found->ai_addrlen, address, 64, NULL,
			 0, NI_NUMERICHOST);
	freeaddrinfo(found);
	return rc == 0 ? 0
		       : error_set(err, ENOENT, "%.100s: %s", name,
				   gai_strerror(rc));
}

/* By the name that Slurm has for this node; on a login node by the host name.
 */
static int find_address(char address[64], struct error *err)
{
	const char *node = getenv("SLURMD_NODENAME");
	char name[SCONTROL_VALUE_SIZE] = "";

	if (node && scontrol_field("node", node, "NodeAddr", name, err) < 0)
		return -1;
	if (!node && gethostname(name, sizeof(name) - 1) < 0)
		return error_errno(err, "host name");
	return host_name_resolve(name, address, err);
}

/* The least number of "8(x3),4". */
static uint32_t least_cpus(const char *text)
{
	unsigned long least = 0;

	while (text && isdigit((unsigned char)*text)) {
		unsigned long cpus = strtoul(text, NULL, 10);

		least = !least || cpus < least ? cpus : least;
		text = strchr(text, ',');
		text += text != NULL;
	}
	return (uint32_t)least;
}

int allocation_read(struct allocation *allocation, struct error *err)
{
	const char *list = getenv("SLURM_JOB_NODELIST");

	if (!list || !*list)
		return error_set(err, EINVAL,
				 "--slurm: SLURM_JOB_NODELIST is not set; "
				 "expected a shell of salloc or a script of "
				 "sbatch, or regatta slurm to submit one");
	if (scontrol_hostnames(list, ALLOCATION_NODES_MAX, &allocation->nodes,
			       err) < 0)
		return -1;
	if (!allocation->nodes.count)
		return error_set(err, EINVAL, "the allocation has no nodes");
	allocation->cpus = least_cpus(getenv("SLURM_JOB_CPUS_PER_NODE"));
	return find_address(allocation->address, err);
}

void allocation_clear(struct allocation *allocation)
{
	strings_clear(&allocation->nodes);
}

#define ARGS_MAX 40
#define AGAIN_MS 300 /* pause before a dead child is started again */
#define TAIL_LINES 5 /* of the log of a child that failed */
#define TAIL_BYTES 2000

struct child {
	struct daemons *daemons;
	const char *name;
	const char *log; /* file in the folder */
	void (*args)(struct daemons *daemons, char **args);
	pid_t pid; /* 0: not running */
	unsigned starts;
	sd_event_source *source;
	sd_event_source *again;
};

struct daemons {
	sd_event *loop;
	struct daemons_config config;
	struct child controller;
	struct child agent;
	int a[2]; /* pipes A and B: read, write */
	int b[2];
	char endpoint[256]; /* "": it does not listen yet */
	sd_event_source *inotify;
	sd_event_source *timer;
	bool timed_out;
	bool leaving;  /* the agents were told to leave */
	bool stopping; /* children are expected to end */
	bool broken;
	struct error why;
	/* Texts for the arguments. */
	char listen[256];
	char paths[8][PATH_MAX];
	char numbers[3][16];
};

/* The arguments, as agent/main.c and controller/main.c know them. */

#define OPTIONS(list) (list), sizeof(list) / sizeof((list)[0])

/* Append the options that have a value. Returns the number of arguments. */
static size_t daemon_options_append(char **args, size_t n,
				    const char *const (*list)[2], size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!list[i][1])
			continue;
		args[n++] = (char *)list[i][0];
		args[n++] = (char *)list[i][1];
	}
	return n;
}

static void controller_args(struct daemons *daemons, char **args)
{
	const struct daemons_config *config = &daemons->config;
	const struct allocation *allocation = config->allocation;
	const struct folder *folder = config->folder;
	/* /dev/null: the settings of this machine's services do not count. A
	 * controller that is started again listens at its address before.
	 */
	const char *const options[][2] = {
		{ "--config", "/dev/null" },
		{ "--state",
		  folder_file(folder, "controller", daemons->paths[0]) },
		{ "--listen",
		  daemons->endpoint[0] ? daemons->endpoint : daemons->listen },
		{ "--key", folder_file(folder, "keys/controller.key",
				       daemons->paths[1]) },
		{ "--keys",
		  folder_file(folder, "keys/authorized", daemons->paths[2]) },
		{ "--images", config->images },
		{ "--endpoint-file",
		  folder_file(folder, "endpoint", daemons->paths[3]) },
		{ "--parent-fd", config->agent ? daemons->numbers[0] : NULL },
		{ "--web", config->agent ? "127.0.0.1:0" : NULL },
	};
	size_t n = 1;

	if (config->address || allocation || config->guest ||
	    !folder_socket(folder, daemons->listen))
		snprintf(daemons->listen, sizeof(daemons->listen), "tcp://%s:*",
			 config->address ? config->address
			 : allocation    ? allocation->address
					 : "127.0.0.1");
	snprintf(daemons->numbers[0], 16, "%d", daemons->a[0]);
	args[0] = (char *)config->controller;
	n = daemon_options_append(args, n, OPTIONS(options));
	if (allocation)
		args[n++] = (char *)"--keep-jobs";
	if (config->guest)
		args[n++] = (char *)"--pods";
	args[n] = NULL;
}

/* One srun for all agents; their parent pipe is its standard input. */
static void srun_args(struct daemons *daemons, char **args)
{
	const struct daemons_config *config = &daemons->config;
	const struct folder *folder = config->folder;
	const char *const words[] = {
		config->agent,
		folder_file(folder, "endpoint", daemons->paths[4]),
		folder->controller.public,
		folder_file(folder, "keys", daemons->paths[5]),
		config->images,
		config->init,
		config->vendor,
		daemons->numbers[2],
		folder->cluster,
		config->engine ? config->engine : "",
	};
	size_t n = 0;

	for (size_t i = 0; allocation_srun[i]; i++)
		args[n++] = (char *)allocation_srun[i];
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		args[n++] = (char *)words[i];
	args[n] = NULL;
}

static void guest_args(struct daemons *daemons, char **args)
{
	const char *const words[] = {
		daemons->config.guest, "k8s",     "--serve",
		daemons->numbers[1],   "--state", daemons->config.folder->path,
	};
	size_t n = 0;

	for (; n < sizeof(words) / sizeof(words[0]); n++)
		args[n] = (char *)words[n];
	args[n] = NULL;
}

static void agent_args(struct daemons *daemons, char **args)
{
	const struct daemons_config *config = &daemons->config;
	const struct folder *folder = config->folder;
	/* Any policy: the user of the run owns the agent. */
	const char *const options[][2] = {
		{ "--config", "/dev/null" },
		{ "--policy", "any" },
		{ "--controller", daemons->endpoint },
		{ "--controller-key", folder->controller.public },
		{ "--key",
		  folder_file(folder, "keys/agent.key", daemons->paths[4]) },
		{ "--state", folder_file(folder, "agent", daemons->paths[5]) },
		{ "--engine", config->engine },
		{ "--engine-tls", config->engine_tls },
		{ "--registry-auth", config->registry_auth },
		{ "--images", config->images },
		{ "--init", config->init },
		{ "--vendor", config->vendor },
		{ "--devices", daemons->numbers[2] },
		{ "--only-devices", config->only_devices },
		{ "--cluster", folder->cluster },
		{ "--parent-fd", daemons->numbers[1] },
	};

	snprintf(daemons->numbers[1], 16, "%d", daemons->b[0]);
	snprintf(daemons->numbers[2], 16, "%u", config->devices);
	if (config->allocation) {
		srun_args(daemons, args);
		return;
	}
	if (config->guest) {
		guest_args(daemons, args);
		return;
	}
	args[0] = (char *)config->agent;
	args[daemon_options_append(args, 1, OPTIONS(options))] = NULL;
}

/* Starting. */

/* Between fork and exec: only calls that a signal handler may make. */
static void child_become(const struct daemons *daemons,
			 const struct child *child, int log, char *const *args)
{
	bool controller = child == &daemons->controller;
	bool slurm = daemons->config.allocation;
	int inherited[] = { controller ? daemons->a[0] : daemons->b[0],
			    controller ? (slurm ? -1 : daemons->b[1])
			    : slurm    ? daemons->a[1]
				       : -1,
			    daemons->config.folder->daemons_lock };
	sigset_t none;
	int null;

	setsid();
	if (!daemons->config.agent)
		prctl(PR_SET_PDEATHSIG, SIGTERM);
	signal(SIGPIPE, SIG_DFL);
	/* Slurm sends SIGTERM to all processes of a job at once. But srun must
	 * end after the agents, and the controller last.
	 */
	if (slurm)
		signal(SIGTERM, SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (slurm && !controller)
		null = daemons->b[0];
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 ||
	    dup2(log, STDOUT_FILENO) < 0 || dup2(log, STDERR_FILENO) < 0)
		_exit(EXIT_WORK_FAILED);
	for (size_t i = 0; i < sizeof(inherited) / sizeof(int); i++)
		if (inherited[i] > 0)
			fcntl(inherited[i], F_SETFD, 0);
	execvp(args[0], args);
	_exit(127);
}

static int child_note_end(sd_event_source *source, const siginfo_t *info,
			  void *arg);

static int child_start(struct child *child, struct error *err)
{
	struct daemons *daemons = child->daemons;
	char *args[ARGS_MAX], path[PATH_MAX];
	owned_fd int log = -1;
	pid_t pid;
	int rc;

	child->args(daemons, args);
	folder_file(daemons->config.folder, child->log, path);
	log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW,
		   0644);
	if (log < 0)
		return error_errno(err, "%s", path);
	pid = fork();
	if (pid < 0)
		return error_errno(err, "%s", child->name);
	if (pid == 0)
		child_become(daemons, child, log, args);
	child->starts++;
	child->pid = pid;
	loop_source_free(&child->source);
	rc = sd_event_add_child(daemons->loop, &child->source, pid, WEXITED,
				child_note_end, child);
	return rc < 0 ? error_set(err, -rc, "cannot watch the process %s",
				  child->name)
		      : 0;
}

static void tell_tail(const struct child *child)
{
	const struct daemons *daemons = child->daemons;
	char path[PATH_MAX], tail[TAIL_BYTES + 1];
	owned_fd int log = -1;
	const char *at;
	ssize_t size;
	off_t end;
	int lines = 0;

	log = open(folder_file(daemons->config.folder, child->log, path),
		   O_RDONLY | O_CLOEXEC);
	end = log < 0 ? 0 : lseek(log, 0, SEEK_END);
	size = end <= 0 ? 0
			: pread(log, tail, TAIL_BYTES,
				end > TAIL_BYTES ? end - TAIL_BYTES : 0);
	tail[size > 0 ? size : 0] = 0;
	while (size > 0 && tail[size - 1] == '\n')
		tail[--size] = 0;
	for (at = tail + (size > 0 ? size : 0); at > tail; at--)
		if (at[-1] == '\n' && ++lines == TAIL_LINES)
			break;
	while (*at) {
		size_t length = strcspn(at, "\n");
		char line[500];

		snprintf(line, sizeof(line), "%s: %.*s", child->name,
			 (int)(length < 400 ? length : 400), at);
		daemons->config.say(daemons->config.arg, line);
		at += length + (at[length] == '\n');
	}
}

static void child_give_up(struct child *child, const char *how)
{
	struct daemons *daemons = child->daemons;

	if (daemons->broken)
		return;
	daemons->broken = true;
	tell_tail(child);
	error_set(&daemons->why, ECHILD, "%s %s; its log: %.120s/%s",
		  child->name, how, daemons->config.folder->path, child->log);
	daemons->config.failed(daemons->config.arg, &daemons->why);
}

static int child_restart(sd_event_source *source, uint64_t usec, void *arg)
{
	struct child *child = arg;
	struct error err;

	if (!child->daemons->stopping && child_start(child, &err) < 0)
		child_give_up(child, err.text);
	return 0;
}

static int child_note_end(sd_event_source *source, const siginfo_t *info,
			  void *arg)
{
	struct child *child = arg;
	struct daemons *daemons = child->daemons;
	bool exited = info->si_code == CLD_EXITED;
	char how[60];

	child->pid = 0;
	if (daemons->stopping)
		return 0;
	if (child == &daemons->agent && daemons->config.allocation &&
	    (daemons->leaving || (exited && !info->si_status))) {
		daemons->config.left(daemons->config.arg);
		return 0;
	}
	snprintf(how, sizeof(how),
		 exited ? "ended with code %d" : "was killed by signal %d",
		 info->si_status);
	if (exited && info->si_status == 127)
		child_give_up(child, "cannot be started");
	else if (child->starts >= DAEMONS_STARTS ||
		 (exited && info->si_status == EXIT_WRONG_REQUEST) ||
		 loop_timer(daemons->loop, &child->again, AGAIN_MS,
			    child_restart, child, NULL) < 0)
		child_give_up(child, how);
	return 0;
}

/* The address of the controller: a file that appears as a whole. */

static void look_for_endpoint(struct daemons *daemons)
{
	owned(buffer_clear) struct buffer text;
	char path[PATH_MAX];

	buffer_init(&text, sizeof(daemons->endpoint) - 1);
	folder_file(daemons->config.folder, "endpoint", path);
	if (daemons->endpoint[0] || file_read(AT_FDCWD, path, &text, NULL) < 0)
		return;
	while (text.size && text.data[text.size - 1] == '\n')
		text.data[--text.size] = 0;
	snprintf(daemons->endpoint, sizeof(daemons->endpoint), "%s", text.data);
}

static int on_file(sd_event_source *source, const struct inotify_event *event,
		   void *arg)
{
	look_for_endpoint(arg);
	return 0;
}

static int daemons_time_out(sd_event_source *source, uint64_t usec, void *arg)
{
	((struct daemons *)arg)->timed_out = true;
	return 0;
}

static int wait_for_endpoint(struct daemons *daemons, struct error *err)
{
	if (loop_timer(daemons->loop, &daemons->timer, DAEMONS_READY_MS,
		       daemons_time_out, daemons, err) < 0)
		return -1;
	look_for_endpoint(daemons);
	while (!daemons->endpoint[0]) {
		int rc = sd_event_run(daemons->loop, UINT64_MAX);

		if (rc < 0)
			return error_set(err, -rc, "event loop");
		if (daemons->broken)
			return error_set(err, daemons->why.code, "%s",
					 daemons->why.text);
		if (*daemons->config.interrupted)
			return error_set(err, EINTR, "interrupted");
		if (daemons->timed_out)
			return error_set(err, ETIMEDOUT,
					 "the run's controller did not start "
					 "within "
					 "%d s; its log: %.100s/controller.log",
					 DAEMONS_READY_MS / 1000,
					 daemons->config.folder->path);
	}
	loop_timer_stop(daemons->timer);
	return 0;
}

/* Above the standard streams, so that a child can inherit it by number. */
static int make_parent_pipe(int ends[2], struct error *err)
{
	int pair[2];

	if (pipe2(pair, O_CLOEXEC) < 0)
		return error_errno(err, "parent-fd");
	for (int i = 0; i < 2; i++) {
		ends[i] = fcntl(pair[i], F_DUPFD_CLOEXEC, 3);
		close(pair[i]);
	}
	return ends[0] < 0 || ends[1] < 0 ? error_errno(err, "parent-fd") : 0;
}

static void close_end(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static int daemons_begin(struct daemons *daemons, struct error *err)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (make_parent_pipe(daemons->a, err) < 0 ||
	    make_parent_pipe(daemons->b, err) < 0)
		return -1;
	if (daemons->config.follows)
		return child_start(&daemons->agent, err);
	if (daemons_lead(daemons, err) < 0)
		return -1;
	return daemons->config.agent ? child_start(&daemons->agent, err) : 0;
}

int daemons_lead(struct daemons *daemons, struct error *err)
{
	int rc;

	rc = sd_event_add_inotify(daemons->loop, &daemons->inotify,
				  daemons->config.folder->path,
				  IN_MOVED_TO | IN_CLOSE_WRITE, on_file,
				  daemons);
	if (rc < 0)
		return error_set(err, -rc, "cannot watch the folder %.90s: %s",
				 daemons->config.folder->path,
				 rc == -EMFILE
					 ? "this user has too many inotify "
					   "instances; raise "
					   "fs.inotify.max_user_instances"
					 : strerror(-rc));
	if (child_start(&daemons->controller, err) < 0 ||
	    wait_for_endpoint(daemons, err) < 0)
		return -1;
	loop_source_free(&daemons->inotify);
	return 0;
}

struct daemons *daemons_new(sd_event *loop, const struct daemons_config *config,
			    struct error *err)
{
	owned(daemons_free) struct daemons *daemons =
		calloc(1, sizeof(*daemons));

	if (!daemons) {
		error_nomem(err, "daemons");
		return NULL;
	}
	daemons->loop = sd_event_ref(loop);
	daemons->config = *config;
	daemons->a[0] = daemons->a[1] = daemons->b[0] = daemons->b[1] = -1;
	daemons->controller = (struct child){
		.daemons = daemons,
		.name = "regatta-controller",
		.log = "controller.log",
		.args = controller_args,
	};
	daemons->agent = (struct child){
		.daemons = daemons,
		.name = config->guest ? "regatta k8s" : "regatta-agent",
		.log = config->guest ? "k8s.log" : "agent.log",
		.args = agent_args,
	};
	if (daemons_begin(daemons, err) < 0)
		return NULL;
	return take(daemons);
}

const char *daemons_endpoint(const struct daemons *daemons)
{
	return daemons->endpoint;
}

/* Ending. */

/* Run the loop until the child has ended; false: it has not in that time. */
static bool wait_for_end(struct daemons *daemons, const struct child *child,
			 uint64_t wait_ms)
{
	daemons->timed_out = false;
	if (loop_timer(daemons->loop, &daemons->timer, wait_ms,
		       daemons_time_out, daemons, NULL) < 0)
		return !child->pid;
	while (child->pid && !daemons->timed_out)
		if (sd_event_run(daemons->loop, UINT64_MAX) < 0)
			break;
	loop_timer_stop(daemons->timer);
	return !child->pid;
}

static void end_child(struct daemons *daemons, struct child *child)
{
	if (!child->pid)
		return;
	kill(child->pid, SIGTERM);
	if (wait_for_end(daemons, child,
			 daemons->config.guest ? DAEMONS_GUEST_MS
					       : DAEMONS_STOP_MS))
		return;
	kill(child->pid, SIGKILL);
	wait_for_end(daemons, child, DAEMONS_STOP_MS);
}

void daemons_leave(struct daemons *daemons)
{
	daemons->leaving = true;
	close_end(&daemons->b[1]);
}

bool daemons_release(struct daemons *daemons, uint64_t wait_ms)
{
	daemons->stopping = true;
	close_end(&daemons->b[1]);
	close_end(&daemons->a[1]);
	return wait_for_end(daemons, &daemons->controller, wait_ms) &&
	       wait_for_end(daemons, &daemons->agent, wait_ms);
}

void daemons_stop(struct daemons *daemons)
{
	/* With Slurm they end by their parent pipes alone (child_become()). */
	if (daemons->config.allocation &&
	    daemons_release(daemons, DAEMONS_LEAVE_MS))
		return;
	daemons->stopping = true;
	end_child(daemons, &daemons->agent);
	end_child(daemons, &daemons->controller);
}

void daemons_free(struct daemons *daemons)
{
	if (!daemons)
		return;
	loop_source_free(&daemons->inotify);
	loop_source_free(&daemons->timer);
	loop_source_free(&daemons->controller.source);
	loop_source_free(&daemons->controller.again);
	loop_source_free(&daemons->agent.source);
	loop_source_free(&daemons->agent.again);
	for (int i = 0; i < 2; i++) {
		close_end(&daemons->a[i]);
		close_end(&daemons->b[i]);
	}
	sd_event_unref(daemons->loop);
	free(daemons);
}
