/* foreign_processes_test.c - who else uses the devices, and who only seems to.
 */
#include "agent/metrics/foreign_processes.h"

#include "protocol/base/file.h"
#include "protocol/base/loop.h"
#include "protocol/base/program.h"
#include "tests/tap.h"
#include "tests/unit/fake_engine.h"
#include "tests/unit/hardware_lab.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define PROFILE                                                                \
	"vendor: lab\n"                                                        \
	"discover: {nodes: '/dev/lab{index}'}\n"                               \
	"container: {nodes: {device: ['/dev/lab{index}']}}\n"
#define TOOL                                                                   \
	"processes:\n"                                                         \
	"  command: [smi]\n"                                                   \
	"  row: 'uses (?<uuid>\\S+) (?<pid>\\d+) (?<name>\\S+)'\n"             \
	"  ignore: [watchd]\n"
#define OURS                                                                   \
	"{\"Id\":\"o1\",\"Names\":[\"/regatta-c-1-1-0\"],"                     \
	"\"Labels\":{\"regatta.cluster\":\"c\",\"regatta.node\":\"n\"}}"

struct bed {
	struct lab lab;
	sd_event *loop;
	struct fake_engine *fake;
	struct engine *engine;
	struct profile *profile;
	struct devices devices;
	struct foreign_processes_source source;
	const char *list;  /* what the engine says runs */
	char inspect[400]; /* and of each but ours */
	int lists, inspects;
	bool told;
	char text[240];
};

static void script(void *arg, struct fake_exchange *exchange,
		   const struct fake_request *request)
{
	struct bed *bed = arg;
	bool list = strstr(request->path, "/containers/json");

	if (fake_version(exchange, request))
		return;
	bed->lists += list;
	bed->inspects += !list;
	fake_answer(exchange, list || *bed->inspect ? 200 : 404,
		    list            ? bed->list
		    : *bed->inspect ? bed->inspect
				    : "{\"message\":\"none\"}");
}

static void bed_init(struct bed *bed, const char *profile)
{
	char path[100], host[120], why[200];

	*bed = (struct bed){ .loop = program_begin(NULL), .list = "[]" };
	lab_begin(&bed->lab);
	snprintf(path, sizeof(path), "%s/engine", bed->lab.folder);
	snprintf(host, sizeof(host), "unix://%s", path);
	bed->fake = fake_engine_new(bed->loop, path, script, bed);
	bed->engine = engine_new(bed->loop, host, NULL, NULL);
	bed->profile = lab_profile_text(profile);
	lab_node(&bed->lab, "/dev/lab0");
	lab_node(&bed->lab, "/dev/lab1");
	if (!bed->profile ||
	    devices_find(bed->profile, &bed->lab.roots, NULL, NULL, NULL,
			 &bed->devices, why, sizeof(why), NULL) < 0 ||
	    bed->devices.count != 2)
		abort();
	bed->devices.list[0].uuid = strdup("U0");
	bed->devices.list[1].uuid = strdup("U1");
	bed->source = (struct foreign_processes_source){
		.loop = bed->loop,
		.engine = bed->engine,
		.profile = bed->profile,
		.roots = &bed->lab.roots,
		.devices = &bed->devices,
		.cluster = "c",
		.node = "n",
		.pause_ms = 20,
	};
}

static void bed_clear(struct bed *bed)
{
	engine_free(bed->engine);
	fake_engine_free(bed->fake);
	devices_clear(&bed->devices);
	profile_free(bed->profile);
	lab_end(&bed->lab);
	sd_event_unref(bed->loop);
}

static void told(void *arg, const char *text)
{
	struct bed *bed = arg;

	bed->told = true;
	snprintf(bed->text, sizeof(bed->text), "%s", text ? text : "nobody");
}

/* Who uses these of the two devices? */
static const char *look(struct bed *bed, uint64_t wanted)
{
	bed->told = false;
	if (!foreign_processes_look(&bed->source, wanted, told, bed, NULL))
		abort();
	while (!bed->told)
		sd_event_run(bed->loop, UINT64_MAX);
	return bed->text;
}

/* A process of its own, no child of ours, that has the file open and is called
 * so. It lives until the file descriptor is closed.
 */
static pid_t stranger(const char *path, const char *name, int *hold)
{
	int life[2], tell[2];
	pid_t pid, mine = 0;

	if (pipe2(life, O_CLOEXEC) < 0 || pipe2(tell, O_CLOEXEC) < 0)
		abort();
	pid = fork();
	if (pid == 0) {
		char byte;

		if (fork())
			_exit(0);
		setsid();
		prctl(PR_SET_NAME, name);
		close(life[1]);
		mine = open(path, O_RDONLY | O_CLOEXEC) < 0 ? -1 : getpid();
		if (write(tell[1], &mine, sizeof(mine)) != sizeof(mine) ||
		    read(life[0], &byte, 1) < 0)
			_exit(1);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	if (read(tell[0], &mine, sizeof(mine)) != sizeof(mine) || mine < 0)
		abort();
	close(tell[0]);
	close(tell[1]);
	close(life[0]);
	*hold = life[1];
	return mine;
}

static void open_files(void)
{
	char path[120], want[160];
	struct bed bed;
	int hold, own;
	pid_t pid;

	bed_init(&bed, PROFILE);
	snprintf(path, sizeof(path), "%s/lab1", bed.lab.dev);
	is(look(&bed, 3), "nobody", "nobody uses the devices");
	own = open(path, O_RDONLY | O_CLOEXEC);
	is(look(&bed, 3), "nobody", "we ourselves are no stranger");
	close(own);
	pid = stranger(path, "train me", &hold);
	snprintf(want, sizeof(want), "train me (pid %d) uses device 1", pid);
	is(look(&bed, 3), want, "a process that has a node open is named");
	is(look(&bed, 1), "nobody", "not on another device");
	bed.list = "{\"message\":\"x\"}";
	is(look(&bed, 3), "nobody",
	   "nor while it is unknown which containers are ours");
	bed.list = "[]";
	close(hold);
	/* Its end is seen where its pid is. */
	while (kill(pid, 0) == 0)
		sd_event_run(bed.loop, 1000);
	is(look(&bed, 3), "nobody", "and no more when it ended");
	bed_clear(&bed);
}

static void containers(void)
{
	char want[200];
	struct bed bed;

	bed_init(&bed, PROFILE);
	bed.list = "[" OURS "]";
	is(look(&bed, 3), "nobody", "our own container is no stranger");
	is_int(bed.inspects, 0, "and is not looked into");
	bed.list = "[{\"Id\":\"x1\",\"Names\":[\"/x\"],\"Labels\":{"
		   "\"regatta.cluster\":\"c\",\"regatta.node\":\"n\"}}]";
	look(&bed, 3);
	is_int(bed.inspects, 1, "one that has our labels from its image is");
	bed.list = "[" OURS ",{\"Id\":\"x1\",\"Labels\":null}]";
	is(look(&bed, 3), "nobody", "one that is gone by then neither");
	snprintf(bed.inspect, sizeof(bed.inspect),
		 "{\"Name\":\"/theirs\",\"HostConfig\":{\"Devices\":["
		 "{\"PathOnHost\":\"/dev/fuse\"},{\"PathOnHost\":\"%s/"
		 "lab1\"}]}}",
		 bed.lab.dev);
	snprintf(want, sizeof(want), "container theirs holds %s/lab1",
		 bed.lab.dev);
	is(look(&bed, 3), want, "one that was given a node is named");
	is(look(&bed, 1), "nobody", "but not for another device");
	snprintf(bed.inspect, sizeof(bed.inspect),
		 "{\"Name\":\"/theirs\",\"HostConfig\":{\"Devices\":["
		 "{\"PathOnHost\":\"%s\"}]}}",
		 bed.lab.dev);
	snprintf(want, sizeof(want), "container theirs holds %s/lab0",
		 bed.lab.dev);
	is(look(&bed, 3), want, "one with the whole folder has each");
	bed.list = "garbage";
	is(look(&bed, 3), "nobody", "an engine that says nonsense is no proof");
	bed_clear(&bed);
}

static void smi(struct bed *bed, const char *body)
{
	char path[160];

	lab_file(&bed->lab, "/bin/smi", "#!/bin/sh\n%s\n", body);
	snprintf(path, sizeof(path), "%s/smi", bed->lab.bin);
	chmod(path, 0755);
}

static void tables(void)
{
	char path[120];
	struct bed bed;
	int hold;

	bed_init(&bed, PROFILE TOOL);
	snprintf(path, sizeof(path), "%s/lab0", bed.lab.dev);
	stranger(path, "idle", &hold);
	smi(&bed, "echo 'uses U1 4194309 python3'");
	is(look(&bed, 2), "python3 (pid 4194309) uses device 1",
	   "the tool names a process");
	is(look(&bed, 1), "nobody",
	   "where there is a tool, open files are not looked at");
	smi(&bed, "echo uses U1 4194309 /usr/sbin/watchd");
	is(look(&bed, 3), "nobody", "who only watches is none");
	smi(&bed, "echo uses U0 $$ x; echo uses U0 $PPID x");
	is(look(&bed, 3), "nobody", "nor the tool itself, nor we");
	smi(&bed, "echo 'uses U0 4194309 x'; exit 1");
	is(look(&bed, 3), "nobody", "a tool that fails tells nothing");
	smi(&bed, "n=$(cat $0.n 2>/dev/null); echo x$n >$0.n\n"
		  "echo uses U0 41943${#n} x");
	bed.lists = 0;
	is(look(&bed, 3), "nobody", "others at each look are passers-by");
	is_int(bed.lists, 3, "after three looks");
	close(hold);
	bed_clear(&bed);
}

static void given_up(void)
{
	struct bed bed;
	bool quiet = true;

	bed_init(&bed, PROFILE);
	for (int turns = 0; turns < 12; turns++) {
		struct foreign_processes *foreign =
			foreign_processes_look(&bed.source, 3, told, &bed,
					       NULL);

		bed.told = false;
		for (int i = 0; i < turns && !bed.told; i++)
			sd_event_run(bed.loop, 1000);
		if (bed.told)
			break;
		foreign_processes_cancel(foreign);
		sd_event_run(bed.loop, 1000);
		quiet &= !bed.told;
	}
	ok(quiet, "given up in any step, nothing is told");
	bed_clear(&bed);
}

int main(void)
{
	tap_begin(60);
	if (lab_nodes()) {
		open_files();
		containers();
		tables();
		given_up();
	} else {
		ok(true,
		   "processes of others # SKIP no right to make device nodes");
	}
	return tap_done();
}
