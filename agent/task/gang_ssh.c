/* gang_ssh.c - passes commands between the tasks of a job, through the
 * controller.
 */
#include "agent/task/gang_ssh.h"

#include "agent/init/init.h"
#include "protocol/base/file.h"
#include "protocol/base/log.h"
#include "protocol/base/loop.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOST_SIZE 256
/* What is sent in one tick: the container decides how much there is. */
#define AT_ONCE 64
#define AT_ONCE_BYTES (8 << 20)

struct gang_ssh {
	sd_event *loop;
	struct spool *spool;
	struct task_id id;
	gang_ssh_send_fn *send;
	void *arg;
	sd_event_source *tick;
	unsigned int sent; /* in this tick */
	size_t sent_bytes;
};

/* "ssh-<id>.request" or "ssh-<rank>-<id>.answer" */
struct name {
	bool request;
	uint32_t rank; /* of an answer: who asked */
	char id[COMMAND_ID_SIZE];
};

static bool name_parse(const char *text, struct name *name)
{
	char again[FILES_NAME_MAX];

	*name = (struct name){ 0 };
	if (sscanf(text, "ssh-%u-%32[0-9a-f]", &name->rank, name->id) == 2) {
		snprintf(again, sizeof(again), "ssh-%u-%s.answer", name->rank,
			 name->id);
	} else if (sscanf(text, "ssh-%32[0-9a-f]", name->id) == 1) {
		name->request = true;
		snprintf(again, sizeof(again), "ssh-%s.request", name->id);
	} else {
		return false;
	}
	return !strcmp(text, again);
}

/* What must wait is asked for again. */
static bool is_sendable(const struct gang_ssh *ssh)
{
	return ssh->sent < AT_ONCE && ssh->sent_bytes < AT_ONCE_BYTES;
}

static void gang_ssh_pass(struct gang_ssh *ssh, enum message_type type,
			  const void *message, const struct buffer *data)
{
	ssh->sent++;
	ssh->sent_bytes += data->size;
	ssh->send(ssh->arg, type, message, data->data, data->size);
}

static void send_request(struct gang_ssh *ssh, const struct name *name,
			 const char *file)
{
	struct message_command message = { .job = ssh->id.job,
					   .attempt = ssh->id.attempt,
					   .rank = ssh->id.rank,
					   .id = (char *)name->id };
	owned(buffer_clear) struct buffer request =
		BUFFER_INIT(INIT_SSH_REQUEST_MAX);
	char host[HOST_SIZE];

	if (!is_sendable(ssh) || spool_read(ssh->spool, &ssh->id, SPOOL_OUT,
					    file, &request, NULL) < 0)
		return;
	/* The container wrote the host: it is checked before it is sent. */
	*host = 0;
	if (request.size)
		sscanf(request.data, "host=%255[^\n]", host);
	if (!address_valid(host)) {
		gang_ssh_answered(ssh,
				  &(struct message_command_answer){
					  .id = (char *)name->id,
					  .text = (char *)"not a valid host "
							  "name" },
				  NULL, 0);
		return;
	}
	message.host = host;
	gang_ssh_pass(ssh, MESSAGE_COMMAND, &message, &request);
}

static void run_file(uint32_t rank, const char *id, char file[FILES_NAME_MAX])
{
	snprintf(file, FILES_NAME_MAX, "ssh-%u-%s.run", rank, id);
}

/* The container wrote the answer: without its question it goes nowhere. */
static void send_answer(struct gang_ssh *ssh, const struct name *name,
			const char *file)
{
	struct message_command_answer message = { .job = ssh->id.job,
						  .attempt = ssh->id.attempt,
						  .rank = name->rank,
						  .id = (char *)name->id };
	owned(buffer_clear) struct buffer answer =
		BUFFER_INIT(INIT_SSH_ANSWER_MAX);
	char run[FILES_NAME_MAX];

	run_file(name->rank, name->id, run);
	if (is_sendable(ssh) &&
	    spool_has(ssh->spool, &ssh->id, SPOOL_IN, run) &&
	    spool_read(ssh->spool, &ssh->id, SPOOL_OUT, file, &answer, NULL) ==
		    0)
		gang_ssh_pass(ssh, MESSAGE_COMMAND_ANSWER, &message, &answer);
}

/* The name of the answer to a request of this task. */
static void answer_file(const char *id, char file[FILES_NAME_MAX])
{
	snprintf(file, FILES_NAME_MAX, "ssh-%s.answer", id);
}

void gang_ssh_seen(struct gang_ssh *ssh, const char *file)
{
	char here[FILES_NAME_MAX];
	struct name name;

	if (!name_parse(file, &name))
		return;
	if (!name.request) {
		send_answer(ssh, &name, file);
		return;
	}
	answer_file(name.id, here);
	if (spool_age_ms(ssh->spool, &ssh->id, SPOOL_IN, here) < 0)
		send_request(ssh, &name, file);
}

/* spool_name_fn: send requests, and remove old answers. */
static void look_at_out(void *arg, const char *file)
{
	static const char *const outputs[] = { "stdout", "stderr", "answer" };
	struct gang_ssh *ssh = arg;
	char other[FILES_NAME_MAX];
	struct name name;

	if (!name_parse(file, &name))
		return;
	if (name.request) {
		gang_ssh_seen(ssh, file);
		return;
	}
	if (spool_age_ms(ssh->spool, &ssh->id, SPOOL_OUT, file) <
	    GANG_SSH_KEEP_MS)
		return;
	run_file(name.rank, name.id, other);
	spool_forget(ssh->spool, &ssh->id, SPOOL_IN, other);
	for (size_t i = 0; i < 3; i++) {
		snprintf(other, sizeof(other), "ssh-%u-%s.%s", name.rank,
			 name.id, outputs[i]);
		spool_forget(ssh->spool, &ssh->id, SPOOL_OUT, other);
	}
}

static void look_at_in(void *arg, const char *file)
{
	struct gang_ssh *ssh = arg;
	char request[FILES_NAME_MAX], again[FILES_NAME_MAX];
	char id[COMMAND_ID_SIZE];

	if (sscanf(file, "ssh-%32[0-9a-f]", id) != 1)
		return;
	answer_file(id, again);
	if (strcmp(file, again) != 0 ||
	    spool_age_ms(ssh->spool, &ssh->id, SPOOL_IN, file) <
		    GANG_SSH_KEEP_MS)
		return;
	snprintf(request, sizeof(request), "ssh-%s.request", id);
	spool_forget(ssh->spool, &ssh->id, SPOOL_OUT, request);
	spool_forget(ssh->spool, &ssh->id, SPOOL_IN, file);
}

static int gang_ssh_tick_run(sd_event_source *source, uint64_t usec, void *arg)
{
	struct gang_ssh *ssh = arg;

	ssh->sent = 0;
	ssh->sent_bytes = 0;
	spool_names(ssh->spool, &ssh->id, SPOOL_OUT, look_at_out, ssh);
	spool_names(ssh->spool, &ssh->id, SPOOL_IN, look_at_in, ssh);
	loop_timer(ssh->loop, &ssh->tick, GANG_SSH_TICK_MS, gang_ssh_tick_run,
		   ssh, NULL);
	return 0;
}

struct gang_ssh *gang_ssh_new(sd_event *loop, struct spool *spool,
			      const struct task_id *id, gang_ssh_send_fn *send,
			      void *arg, struct error *err)
{
	struct gang_ssh *ssh = error_calloc(sizeof(*ssh), "ssh", err);

	if (!ssh)
		return NULL;
	*ssh = (struct gang_ssh){ .loop = loop,
				  .spool = spool,
				  .id = *id,
				  .send = send,
				  .arg = arg };
	/* Look at once: files may have come before the watch was set. */
	if (loop_timer(loop, &ssh->tick, 0, gang_ssh_tick_run, ssh, err) < 0) {
		free(ssh);
		return NULL;
	}
	return ssh;
}

void gang_ssh_free(struct gang_ssh *ssh)
{
	if (!ssh)
		return;
	loop_source_free(&ssh->tick);
	free(ssh);
}

void gang_ssh_run(struct gang_ssh *ssh, const struct message_command *command,
		  const void *data, size_t size)
{
	char run[FILES_NAME_MAX], file[FILES_NAME_MAX];
	struct name name = { .rank = command->rank };
	struct error err;

	if (!command_id_valid(command->id) || size > INIT_SSH_REQUEST_MAX)
		return;
	snprintf(name.id, sizeof(name.id), "%s", command->id);
	snprintf(file, sizeof(file), "ssh-%u-%s.answer", name.rank, name.id);
	run_file(name.rank, name.id, run);
	if (spool_age_ms(ssh->spool, &ssh->id, SPOOL_OUT, file) >= 0)
		send_answer(ssh, &name, file);
	else if (spool_age_ms(ssh->spool, &ssh->id, SPOOL_IN, run) < 0 &&
		 spool_write(ssh->spool, &ssh->id, SPOOL_IN, run, data, size,
			     &err) < 0)
		log_warning("an ssh command of rank %u was not run job=%" PRIu64
			    " rank=%u: %s",
			    name.rank, ssh->id.job, ssh->id.rank, err.text);
}

void gang_ssh_answered(struct gang_ssh *ssh,
		       const struct message_command_answer *answer,
		       const void *data, size_t size)
{
	owned(buffer_clear) struct buffer refusal =
		BUFFER_INIT(INIT_SSH_ANSWER_MAX);
	char file[FILES_NAME_MAX];
	struct error err;

	if (!command_id_valid(answer->id) || size > INIT_SSH_ANSWER_MAX)
		return;
	answer_file(answer->id, file);
	if (answer->text &&
	    buffer_printf(&refusal, &err, "exit=255%cstdout=0%cssh: %.400s\n",
			  0, 0, answer->text) == 0) {
		data = refusal.data;
		size = refusal.size;
	}
	if (spool_age_ms(ssh->spool, &ssh->id, SPOOL_IN, file) < 0 &&
	    spool_write(ssh->spool, &ssh->id, SPOOL_IN, file, data, size,
			&err) < 0)
		log_warning("the answer to an ssh command was not stored "
			    "job=%" PRIu64 " rank=%u: %s",
			    ssh->id.job, ssh->id.rank, err.text);
}
