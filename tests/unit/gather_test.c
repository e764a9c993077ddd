/* gather_test.c - what a node says of a task's files is held against the order.
 */
#include "controller/content/gather.h"

#include "controller/cluster/job.h"
#include "tests/tap.h"

#include <stdlib.h>
#include <string.h>

struct bed {
	struct gang gang;
	struct job job;
	struct node node;
	struct task task;
	char *paths[2];
};

/* Two paths of 1000 bytes at most were asked for; as many as that are told. */
static void bed_init(struct bed *bed, size_t files)
{
	*bed = (struct bed){ .node = { .name = "n1" },
			     .job = { .id = 7, .gang = &bed->gang },
			     .paths = { (char *)"/a", (char *)"/b" } };
	bed->gang.spec.container.collect = (struct strings){ bed->paths, 2 };
	bed->gang.spec.container.collect_limit_bytes = 1000;
	bed->task.node = &bed->node;
	bed->task.job = &bed->job;
	bed->task.files = calloc(files, sizeof(*bed->task.files));
	bed->task.files_count = files;
	for (size_t i = 0; i < files; i++) {
		bed->task.files[i].path = strdup("/a");
		bed->task.files[i].content = strdup("a hash");
		bed->task.files[i].bytes = 500;
	}
}

int main(void)
{
	struct bed bed;

	tap_begin(60);
	bed_init(&bed, 2);
	gather_check(&bed.task);
	ok(bed.task.files_count == 2 && bed.task.files[0].content &&
		   bed.task.files[1].content && !bed.task.files[1].text,
	   "what was asked for, within its limit, is taken");
	bed.task.files[1].bytes = 501;
	gather_check(&bed.task);
	ok(bed.task.files[0].content && !bed.task.files[1].content,
	   "the file that goes beyond the limit of all is none");
	is(bed.task.files[1].text,
	   "its node has more of it than collect_limit allows",
	   "and why is told");
	task_drop_files(&bed.task);
	bed_init(&bed, 3);
	gather_check(&bed.task);
	is_int((long long)bed.task.files_count, 0,
	       "of more files than were asked for none is taken");
	task_drop_files(&bed.task);
	return tap_done();
}
