/* streams_test.c - a task's streams: its ranks', and what the index announces.
 */
#include "agent/task/streams.h"

#include "protocol/base/file.h"
#include "tests/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <systemd/sd-event.h>

struct bed {
	char root[64];
	sd_event *loop;
	struct spool *spool;
	struct log_sender *sender;
	struct task_spec spec;
	struct streams streams;
};

static int no_send(void *arg, const struct message_log *log, const void *data,
		   size_t size)
{
	return -1;
}

static void bed_init(struct bed *bed)
{
	struct error err;

	memset(bed, 0, sizeof(*bed));
	snprintf(bed->root, sizeof(bed->root), "/tmp/streams_test.XXXXXX");
	bed->spec = (struct task_spec){
		.job = 7,
		.attempt = 1,
		.rank = 3,
		.nodes = 4,
		.first_rank = 6,
		.world_size = 8,
		.processes_per_node = 2,
		.container = { .image = (char *)"x",
			       .processes = 2,
			       .log_limit_bytes = 100 },
	};
	if (!mkdtemp(bed->root) || sd_event_new(&bed->loop) < 0 ||
	    !(bed->spool = spool_new(bed->root, &err)) ||
	    spool_create(bed->spool, &bed->spec, &err) < 0 ||
	    !(bed->sender = log_sender_new(bed->loop, bed->spool, no_send, bed,
					   &err)))
		abort();
}

static void bed_clear(struct bed *bed)
{
	streams_clear(&bed->streams);
	log_sender_free(bed->sender);
	spool_free(bed->spool);
	sd_event_unref(bed->loop);
	file_remove_tree(AT_FDCWD, bed->root, NULL);
}

/* Append to a file of the container. */
static void put(struct bed *bed, const char *stream, const char *text)
{
	char path[PATH_MAX];
	owned_file FILE *file = NULL;

	snprintf(path, sizeof(path), "%s/spool/7.1.3/out/%s.log", bed->root,
		 stream);
	file = fopen(path, "ae");
	if (!file || fputs(text, file) < 0)
		ok(false, "cannot write %s", path);
}

/* "name:size name:size" */
static const char *listed(struct bed *bed)
{
	static char text[4096];
	struct stream_size *list = NULL;
	size_t count = 0, used = 0;

	text[0] = 0;
	if (streams_list(&bed->streams, &list, &count) < 0)
		return "no memory";
	for (size_t i = 0; i < count && used < sizeof(text); i++) {
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "%s%s:%llu", i ? " " : "",
					 list[i].name,
					 (unsigned long long)list[i].size);
		free(list[i].name);
	}
	free(list);
	return text;
}

static void test_announced(void)
{
	struct bed bed;
	struct error err;

	bed_init(&bed);
	is_int(streams_open(&bed.streams, bed.sender, bed.spool, &bed.spec,
			    true, &err),
	       0, "a task has the streams of its ranks");
	is(listed(&bed), "rank-6:0 rank-7:0 samples-3:0", "which are empty");
	put(&bed, "rank-6", "12345");
	put(&bed, "node-3", "{\"stream\": \"node-3.a\", \"path\": \"/a\", ");
	put(&bed, "node-3.a", "abc");
	streams_look(&bed.streams);
	is(listed(&bed), "rank-6:5 rank-7:0 samples-3:0 node-3:37",
	   "a line without its end announces nothing");
	put(&bed, "node-3",
	    "\"part\": 1}\n{\"stream\": \"node-4.b\", "
	    "\"path\": \"/b\"}\nnonsense\n");
	put(&bed, "node-3", "{\"stream\": \"node-3.b\", \"path\": \"/b\"}\n");
	streams_look(&bed.streams);
	is(listed(&bed),
	   "rank-6:5 rank-7:0 samples-3:0 node-3:131 node-3.a:3 node-3.b:0",
	   "whole ones do, those that are none are passed over");
	is_int((long long)streams_size(&bed.streams), 5,
	       "the ranks' output is counted apart");
	put(&bed, "node-3", "{\"stream\": \"rank-6\", \"kept\": 4}\n");
	streams_look(&bed.streams);
	is_int((long long)streams_size(&bed.streams), 4,
	       "what is kept of a rank's output bounds it");
	ok(!streams_cut(&bed.streams), "which is no cut");
	bed_clear(&bed);
}

static void test_adopted(void)
{
	struct bed bed;
	struct error err;
	char line[100], many[200];

	bed_init(&bed);
	put(&bed, "node-3", "{\"stream\": \"node-3.a\", \"path\": \"/a\"}\n");
	put(&bed, "node-3.a", "abc");
	snprintf(many, sizeof(many), "%0150d", 7);
	put(&bed, "rank-7", many);
	is_int(streams_open(&bed.streams, bed.sender, bed.spool, &bed.spec,
			    false, &err),
	       0, "a task that was there has what the index says");
	is(listed(&bed), "rank-6:0 rank-7:100 samples-3:0 node-3:37 node-3.a:3",
	   "and no stream is longer than the limit");
	for (int i = 0; i < 2 * STREAM_INDEX_MAX; i++) {
		snprintf(line, sizeof(line),
			 "{\"stream\": \"node-3.f%d\", \"path\": \"/f\"}\n", i);
		put(&bed, "node-3", line);
	}
	streams_look(&bed.streams);
	ok(bed.streams.count <= INIT_PROCESSES_MAX + 4 + STREAM_INDEX_MAX,
	   "there are never more streams than there may be: %zu",
	   bed.streams.count);
	bed_clear(&bed);
}

static void test_refused(void)
{
	struct bed bed;
	struct error err;

	bed_init(&bed);
	bed.spec.container.processes = INIT_PROCESSES_MAX + 1;
	is_int(streams_open(&bed.streams, bed.sender, bed.spool, &bed.spec,
			    true, &err),
	       -1, "more processes than there may be are refused");
	is_int(err.code, EINVAL, "%s", err.text);
	bed_clear(&bed);
}

int main(void)
{
	tap_begin(60);
	test_announced();
	test_adopted();
	test_refused();
	return tap_done();
}
