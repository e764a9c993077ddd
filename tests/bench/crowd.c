/* crowd.c - one controller, and many agents that have no engine.
 */
#include "tests/bench/crowd.h"
#include "agent/agent.h"
#include "protocol/base/file.h"
#include "protocol/base/log.h"
#include "protocol/base/program.h"
#include "tests/bench/measure.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zmq.h>

#define PER_PROCESS 2000
/* Descriptors that an agent with a task has open, with its loop's, and what
 * else its process has.
 */
#define FILES_EACH 32
#define FILES_ELSE 200
#define PER_LOOP 8
#define SOCKETS_EACH 4 /* a dealer, both ends of its monitor, one to spare */
#define JOIN_S 300
#define JOBS_MAX 400000 /* job ids, over all sweeps of a site */

/* In a child process: agents from..to of the site, until it is killed.
 *
 * A loop asks each of its sockets before every sleep, so one loop for thousands
 * of agents would do little else: a handful of agents share one, and the loops
 * that have something to do are told by epoll.
 */

struct herd {
	struct node_policy *node_policy;
	void *zmq;
	int epoll;
	sd_event *loop; /* the one that is being filled */
	struct agent_config *configs;
	struct agent **agents;
	size_t count;
};

/* Until it would sleep: what it then waits for, its descriptor tells. */
static void loop_drain(sd_event *loop)
{
	while (sd_event_run(loop, 0) > 0)
		;
}

static int herd_loop(struct herd *herd, struct error *err)
{
	struct epoll_event event = { .events = EPOLLIN };

	if (sd_event_new(&herd->loop) < 0)
		return error_nomem(err, "agents");
	event.data.ptr = herd->loop;
	if (epoll_ctl(herd->epoll, EPOLL_CTL_ADD, sd_event_get_fd(herd->loop),
		      &event) < 0)
		return error_errno(err, "agents: epoll");
	return 0;
}

/* Each real agent reads /proc of its own machine once a second while it has a
 * task: thousands on one machine would read nothing else.
 */
static const struct sysroot no_machine = {
	.dev = "/dev",
	.sys = "/nonexistent",
	.proc = "/nonexistent",
};

static int herd_add(struct herd *herd, const struct crowd *crowd, size_t i,
		    const char *endpoint, struct error *err)
{
	const struct site *site = crowd->site;
	struct engine *engine;
	char *state;

	if (herd->count % PER_LOOP == 0 && herd_loop(herd, err) < 0)
		return -1;
	if (asprintf(&state, "%s/%zu", crowd->spools, i) < 0)
		return error_nomem(err, "agents");
	herd->configs[herd->count] = (struct agent_config){
		.settings = {
			.state = state,
			.init = "/regatta-init",
			.controller = endpoint,
			.cluster = "bench",
			.address = "127.0.0.1",
			.vendor = "cpu",
			.devices = 1,
		},
		.server_public = site->controller_key.public,
		.roots = &no_machine,
		.node_policy = herd->node_policy,
		.key = site->agent_keys[i],
		.zmq = herd->zmq,
	};
	engine = standin_engine(herd->loop, crowd->standin, err);
	if (!engine)
		return -1;
	herd->agents[herd->count] =
		agent_new(herd->loop, &herd->configs[herd->count], engine, err);
	if (!herd->agents[herd->count])
		return -1;
	herd->count++;
	if (herd->count % PER_LOOP == 0)
		loop_drain(herd->loop);
	return 0;
}

static int herd_run(const struct crowd *crowd, size_t from, size_t to,
		    const char *endpoint, struct error *err)
{
	struct herd herd = { .epoll = epoll_create1(EPOLL_CLOEXEC) };
	herd.configs = calloc(to - from, sizeof(*herd.configs));
	herd.agents = calloc(to - from, sizeof(struct agent *));
	herd.zmq = zmq_ctx_new();
	herd.node_policy = node_policy_new(NULL, false, err);
	if (herd.epoll < 0 || !herd.configs || !herd.agents || !herd.zmq ||
	    !herd.node_policy)
		return error_nomem(err, "agents");
	zmq_ctx_set(herd.zmq, ZMQ_MAX_SOCKETS, (int)(to - from) * SOCKETS_EACH);
	for (size_t i = from; i < to; i++)
		if (herd_add(&herd, crowd, i, endpoint, err) < 0)
			return -1;
	loop_drain(herd.loop);
	for (;;) {
		struct epoll_event events[64];
		int count = epoll_wait(herd.epoll, events, 64, -1);

		for (int i = 0; i < count; i++)
			loop_drain(events[i].data.ptr);
	}
}

__attribute__((noreturn)) static void
herd_child(const struct crowd *crowd, size_t from, size_t to, int gate)
{
	char endpoint[256] = "";
	struct error err = { 0 };
	int rc = 0;
	sd_event *loop = program_begin(&err);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	log_set_level(LOG_ERROR);
	/* Only the limit of open files was wanted. */
	sd_event_unref(loop);
	if (read(gate, endpoint, sizeof(endpoint) - 1) > 0)
		rc = herd_run(crowd, from, to, endpoint, &err);
	if (rc < 0)
		fprintf(stderr, "bench: agents: %s\n", err.text);
	/* The agents' memory goes with the process, at once. */
	_exit(rc < 0 ? 1 : 0);
}

/* In the parent. */

/* Agents that the limit of open files lets one process have. */
static size_t per_process(void)
{
	struct rlimit limit;
	size_t fit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 ||
	    limit.rlim_max <= FILES_ELSE + FILES_EACH)
		return 1;
	fit = (limit.rlim_max - FILES_ELSE) / FILES_EACH;
	return fit < PER_PROCESS ? fit : PER_PROCESS;
}

/* Before any thread of ZeroMQ is there: the children are forks. */
static int crowd_fork(struct crowd *crowd, struct error *err)
{
	size_t count = crowd->site->agents_count;
	size_t step = per_process();

	if (count > step * CROWD_PROCESSES_MAX)
		return error_set(err, EMFILE,
				 "the limit of open files allows %zu agents",
				 step * CROWD_PROCESSES_MAX);
	for (size_t from = 0; from < count; from += step) {
		size_t to = from + step < count ? from + step : count;
		int gate[2];
		pid_t pid;

		if (pipe(gate) < 0)
			return error_errno(err, "pipe");
		pid = fork();
		if (pid < 0)
			return error_errno(err, "fork");
		if (!pid) {
			close(gate[1]);
			herd_child(crowd, from, to, gate[0]);
		}
		close(gate[0]);
		crowd->gates[crowd->processes_count] = gate[1];
		crowd->processes[crowd->processes_count++] = pid;
	}
	return 0;
}

void crowd_options(int argc, char **argv, struct crowd_place *place,
		   size_t *agents)
{
	/* clang-format off */
	static const struct option names[] = {
		{ "build", 1, NULL, 'b' }, { "folder", 1, NULL, 'f' },
		{ "fast-folder", 1, NULL, 'm' }, { "agents", 1, NULL, 'a' },
		{ NULL, 0, NULL, 0 },
	};
	/* clang-format on */
	int option;

	place->build = "build";
	place->folder = "/tmp";
	place->fast = "/dev/shm";
	while ((option = getopt_long(argc, argv, "", names, NULL)) != -1) {
		if (option == 'b')
			place->build = optarg;
		else if (option == 'f')
			place->folder = optarg;
		else if (option == 'm')
			place->fast = optarg;
		else if (option == 'a' && agents)
			*agents = strtoul(optarg, NULL, 10);
		else
			exit(EXIT_WRONG_REQUEST);
	}
}

int crowd_open(struct crowd *crowd, const struct crowd_place *place,
	       size_t agents, uint32_t log_bytes, struct error *err)
{
	char folder[PATH_MAX / 2];

	snprintf(folder, sizeof(folder), "%s/cluster-%zu-%u", place->folder,
		 agents, log_bytes);
	snprintf(crowd->spools, sizeof(crowd->spools), "%s/cluster-%zu-%u",
		 place->fast, agents, log_bytes);
	crowd->standin = standin_new(JOBS_MAX);
	if (!crowd->standin)
		return error_nomem(err, "stand-in");
	crowd->standin->log_bytes = log_bytes;
	crowd->site = site_new(folder, place->build, agents, err);
	if (!crowd->site || crowd_fork(crowd, err) < 0)
		return -1;
	crowd->site->web = place->web;
	return site_start_controller(crowd->site, err);
}

void crowd_close(struct crowd *crowd)
{
	for (size_t i = 0; i < crowd->processes_count; i++) {
		close(crowd->gates[i]);
		kill(crowd->processes[i], SIGKILL);
		waitpid(crowd->processes[i], NULL, 0);
	}
	site_free(crowd->site);
	standin_free(crowd->standin);
	file_remove_tree(AT_FDCWD, crowd->spools, NULL);
}

double crowd_rss_kib(const struct crowd *crowd)
{
	double sum = 0;

	for (size_t i = 0; i < crowd->processes_count; i++)
		sum += process_rss_kib(crowd->processes[i]);
	return sum;
}

double crowd_cpu_s(const struct crowd *crowd)
{
	double sum = 0;

	for (size_t i = 0; i < crowd->processes_count; i++)
		sum += process_cpu_s(crowd->processes[i]);
	return sum;
}

int crowd_join(struct crowd *crowd, struct person *person, struct error *err)
{
	const struct site *site = crowd->site;

	for (size_t i = 0; i < crowd->processes_count; i++)
		if (write(crowd->gates[i], site->endpoint,
			  strlen(site->endpoint)) < 0)
			return error_errno(err, "agents");
	return person_wait_nodes(person, site->agents_count, JOIN_S, err);
}
