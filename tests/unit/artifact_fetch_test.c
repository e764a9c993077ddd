/* artifact_fetch_test.c - what a node says of a task's files is held against
 * the order.
 */
#include "controller/blobs/artifact_fetch.h"

#include "controller/cluster/active_job_internal.h"
#include "controller/jobs/node_events.h"
#include "protocol/base/file.h"
#include "tests/tap.h"
#include "controller/nodes/node_internal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-event.h>

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
	*bed = (struct bed){ .node = { .view.name = "n1" },
			     .job = { .id = 7, .gang = &bed->gang },
			     .paths = { (char *)"/a", (char *)"/b" } };
	bed->gang.spec.container.collect = (struct strings){ bed->paths, 2 };
	bed->gang.spec.container.collect_limit_bytes = 1000;
	bed->task.hold.node = &bed->node;
	bed->task.job = &bed->job;
	bed->task.files = calloc(files, sizeof(*bed->task.files));
	bed->task.files_count = files;
	for (size_t i = 0; i < files; i++) {
		bed->task.files[i].path = strdup("/a");
		bed->task.files[i].content = strdup("a hash");
		bed->task.files[i].bytes = 500;
	}
}

/* A gang whose nodes all tell long words of what they could not collect. */
static void large_gang(void)
{
	enum { WORDS = 1000 };
	struct artifact_fetch_list list = { .items = cJSON_CreateArray() };
	char words[WORDS + 1], *text;
	const cJSON *last;
	struct bed bed;
	int ranks = 0;

	memset(words, 'w', WORDS);
	words[WORDS] = 0;
	bed_init(&bed, 1);
	free(bed.task.files[0].content);
	bed.task.files[0].content = NULL;
	bed.task.files[0].text = strdup(words);
	for (; ranks < 8192; ranks++) {
		bed.task.rank = (uint32_t)ranks;
		artifact_fetch_keep(NULL, &bed.task, &list, NULL);
	}
	artifact_fetch_tell(&list);
	text = cJSON_PrintUnformatted(list.items);
	ok(strlen(text) < MESSAGE_REPLY_MAX - (512 << 10) &&
		   list.left_out > 1000 &&
		   cJSON_GetArraySize(list.items) + (int)list.left_out ==
			   ranks + 1,
	   "what a large gang collected is listed as far as it fits");
	last = cJSON_GetArrayItem(list.items,
				  cJSON_GetArraySize(list.items) - 1);
	ok(strstr(cJSON_GetStringValue(
			  cJSON_GetObjectItemCaseSensitive(last, "text")),
		  "more collected files are not kept") != NULL,
	   "the rest is told");
	cJSON_free(text);
	cJSON_Delete(list.items);
	task_drop_files(&bed.task);
}

/* A blob that cannot be had is told once, then it is tried again. */
static void given_up(void)
{
	char folder[] = "/tmp/artifact-fetch-test-XXXXXX", hash[65];
	struct blob_service_config config = { 0 };
	struct artifact_fetches *fetches;
	struct blob_service *blobs;
	struct bed bed;
	struct error err = { 0 };

	bed_init(&bed, 0);
	bed.node.peer = (void *)&bed; /* it is not sent to */
	if (!mkdtemp(folder))
		return;
	sd_event_default(&config.loop);
	blobs = blob_service_new(&config, folder, &err);
	fetches = artifact_fetches_new(config.loop, blobs, &err);
	for (int i = 0; i < 2 * ARTIFACT_FETCH_MAX; i++) {
		snprintf(hash, sizeof(hash), "%064d", i);
		artifact_fetch_blob(fetches, &bed.node, hash, UINT64_MAX, &err);
	}
	ok(artifact_fetch_blob(fetches, &bed.node, hash, UINT64_MAX, &err) <
			   0 &&
		   strstr(err.text, "expected at most") &&
		   artifact_fetch_found(fetches),
	   "what cannot be had is told, however often: %s", err.text);
	artifact_fetches_free(fetches);
	blob_service_free(blobs);
	sd_event_unref(config.loop);
	file_remove_tree(AT_FDCWD, folder, NULL);
	task_drop_files(&bed.task);
}

int main(void)
{
	struct bed bed;

	tap_begin(61);
	bed_init(&bed, 2);
	output_limit_files(&bed.task);
	ok(bed.task.files_count == 2 && bed.task.files[0].content &&
		   bed.task.files[1].content && !bed.task.files[1].text,
	   "what was asked for, within its limit, is taken");
	bed.task.files[1].bytes = 501;
	output_limit_files(&bed.task);
	ok(bed.task.files[0].content && !bed.task.files[1].content,
	   "the file that goes beyond the limit of all is none");
	is(bed.task.files[1].text, "it is larger than collect_limit allows",
	   "and why is told");
	task_drop_files(&bed.task);
	bed_init(&bed, 3);
	output_limit_files(&bed.task);
	is_int((long long)bed.task.files_count, 0,
	       "of more files than were asked for none is taken");
	task_drop_files(&bed.task);
	large_gang();
	given_up();
	return tap_done();
}
