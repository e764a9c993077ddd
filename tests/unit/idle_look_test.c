/* idle_look_test.c - who uses the devices of a node without tasks. */
#include "agent/idle_look.h"

#include "agent/devices/inventory.h"
#include "protocol/base/program.h"
#include "tests/tap.h"
#include "tests/unit/hardware_lab.h"

#include <signal.h>
#include <stdlib.h>

#define PROFILE                                                                \
	"vendor: lab\n"                                                        \
	"discover: {nodes: '/dev/lab{index}'}\n"                               \
	"container: {nodes: {device: ['/dev/lab{index}']}}\n"

struct bed {
	struct lab lab;
	sd_event *loop;
	struct inventory *inventory;
	struct task_table *tasks;
	struct device_binding_source binding;
	struct preflight_services services;
	bool ready; /* the inventory */
	int changes;
};

static void bed_ready(void *arg)
{
	struct bed *bed = arg;

	bed->ready = true;
}

static void bed_changed(void *arg)
{
	struct bed *bed = arg;

	bed->changes++;
}

static void tasks_changed(void *arg)
{
}

static void bed_init(struct bed *bed)
{
	char images[100];

	*bed = (struct bed){ .loop = program_begin(NULL) };
	lab_begin(&bed->lab);
	lab_file(&bed->lab, "/images/vendors/lab/profile.yaml", PROFILE);
	lab_node(&bed->lab, "/dev/lab0");
	snprintf(images, sizeof(images), "%s/images", bed->lab.folder);
	bed->tasks = task_table_new(tasks_changed, NULL, NULL);
	bed->inventory = inventory_new(bed->loop,
				       &(struct inventory_config){
					       .roots = &bed->lab.roots,
					       .vendor = "lab",
					       .images = images,
					       .state = bed->lab.folder },
				       bed_ready, bed, NULL);
	while (!bed->ready)
		sd_event_run(bed->loop, UINT64_MAX);
	bed->binding =
		(struct device_binding_source){ .inventory = bed->inventory,
						.roots = &bed->lab.roots };
	bed->services = (struct preflight_services){ .loop = bed->loop,
						     .binding = &bed->binding };
}

static void bed_clear(struct bed *bed)
{
	inventory_free(bed->inventory);
	task_table_free(bed->tasks);
	lab_end(&bed->lab);
	sd_event_unref(bed->loop);
}

/* A process that is no child of ours and holds the device. */
static pid_t stranger(const struct bed *bed)
{
	char command[200];
	FILE *said;
	int pid;

	snprintf(command, sizeof(command),
		 "setsid -f sh -c 'echo $$; exec sleep 300 >/dev/null' "
		 "<%s/lab0",
		 bed->lab.dev);
	said = popen(command, "re");
	if (!said || fscanf(said, "%d", &pid) != 1)
		abort();
	pclose(said);
	return pid;
}

static void used(void)
{
	owned(idle_look_free) struct idle_look *look = NULL;
	char want[80];
	struct bed bed;
	pid_t pid;

	bed_init(&bed);
	pid = stranger(&bed);
	look = idle_look_new(bed.loop, &bed.services, bed.tasks, 10,
			     bed_changed, &bed, NULL);
	while (!bed.changes)
		sd_event_run(bed.loop, UINT64_MAX);
	snprintf(want, sizeof(want), "sleep (pid %d) uses device 0", pid);
	is(idle_look_found(look), want, "who uses a device is named");
	kill(pid, SIGKILL);
	while (bed.changes < 2)
		sd_event_run(bed.loop, UINT64_MAX);
	ok(!idle_look_found(look), "and no more when it ended");
	idle_look_free(take(look));
	bed_clear(&bed);
}

int main(void)
{
	tap_begin(60);
	if (lab_nodes())
		used();
	else
		ok(true,
		   "processes of others # SKIP no right to make device nodes");
	return tap_done();
}
