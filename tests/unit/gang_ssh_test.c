/* gang_ssh_test.c - what a container has sent to the controller is asked for,
 * and limited.
 */
#include "agent/task/gang_ssh.h"

#include "agent/init/init.h"
#include "protocol/base/file.h"
#include "tests/tap.h"

#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

#define ANSWERS 200
#define LIMIT (10 << 20) /* bytes in one tick, with the last one */

static const struct task_id id = { 7, 2, 0 };

struct sent {
	int count;
	size_t bytes;
};

static int note_sent(void *arg, enum message_type type, const void *body,
		     const void *data, size_t size)
{
	struct sent *sent = arg;

	sent->count++;
	sent->bytes += size;
	return 0;
}

/* The container writes answers, each as large as can be. */
static void write_answers(struct spool *spool, char names[][FILES_NAME_MAX])
{
	static char text[INIT_SSH_ANSWER_MAX];
	char path[PATH_MAX + FILES_NAME_MAX];

	for (int i = 0; i < ANSWERS; i++) {
		spool_path(spool, &id, SPOOL_OUT, path);
		snprintf(names[i], FILES_NAME_MAX, "ssh-1-%032x.answer",
			 (unsigned int)i);
		snprintf(path + strlen(path), FILES_NAME_MAX, "/%s", names[i]);
		file_write(AT_FDCWD, path, text, sizeof(text), 0644, 0, NULL);
	}
}

static void ask_all(struct gang_ssh *ssh)
{
	for (int i = 0; i < ANSWERS; i++) {
		char text[COMMAND_ID_SIZE];
		struct message_command command = { .id = text, .rank = 1 };

		snprintf(text, sizeof(text), "%032x", (unsigned int)i);
		gang_ssh_run(ssh, &command, "x", 1);
	}
}

int main(void)
{
	static char names[ANSWERS][FILES_NAME_MAX];
	char folder[] = "/tmp/gang_ssh_test.XXXXXX";
	const struct task_spec spec = {
		.job = id.job,
		.attempt = id.attempt,
		.rank = id.rank,
		.nodes = 1,
		.world_size = 1,
		.processes_per_node = 1,
		.container = { .image = (char *)"x" },
	};
	struct sent sent = { 0 };
	struct gang_ssh *ssh;
	struct spool *spool;
	struct error err;
	sd_event *loop;

	tap_begin(30);
	if (!mkdtemp(folder) || chdir(folder) < 0 || sd_event_new(&loop) < 0 ||
	    !(spool = spool_new(".", &err)) ||
	    spool_create(spool, &spec, &err) < 0 ||
	    !(ssh = gang_ssh_new(loop, spool, &id, note_sent, &sent, &err)))
		abort();
	write_answers(spool, names);
	for (int i = 0; i < ANSWERS; i++)
		gang_ssh_seen(ssh, names[i]);
	is_int(sent.count, 0, "an answer that nobody asked for is not sent");
	gang_ssh_free(ssh);
	spool_remove(spool, &id, NULL);
	spool_create(spool, &spec, NULL);
	ssh = gang_ssh_new(loop, spool, &id, note_sent, &sent, &err);
	if (!ssh)
		abort();
	ask_all(ssh);
	write_answers(spool, names);
	for (int i = 0; i < ANSWERS; i++)
		gang_ssh_seen(ssh, names[i]);
	ok(sent.count > 0 && sent.bytes < LIMIT,
	   "in one tick %d answers of %d are sent, %zu MiB", sent.count,
	   ANSWERS, sent.bytes >> 20);
	sent = (struct sent){ 0 };
	sd_event_run(loop, UINT64_MAX);
	ask_all(ssh);
	ok(sent.count > 0 && sent.bytes < LIMIT,
	   "and in the next one, for who asks again, %d", sent.count);
	gang_ssh_free(ssh);
	spool_remove(spool, &id, NULL);
	spool_free(spool);
	sd_event_unref(loop);
	file_remove_tree(AT_FDCWD, folder, NULL);
	return tap_done();
}
