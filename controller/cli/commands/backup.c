/* backup.c - backup and gc: what the controller keeps, as a whole.
 */
#include "controller/cli/commands/commands.h"
#include "controller/cli/input.h"
#include "controller/cli/json.h"
#include "controller/cli/render.h"
#include "protocol/file.h"
#include "protocol/program.h"
#include "protocol/value.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define POLL_NS 50000000

struct receiving {
	struct client *client;
	struct message_backup message;
	int fd;
	uint64_t bytes;
};

/* Ask once. 1: all is here; 0: there is more. */
static int ask(struct receiving *receiving, struct error *err)
{
	static const struct timespec pause = { .tv_nsec = POLL_NS };
	owned(answer_clear) struct answer answer = { 0 };

	if (client_call(receiving->client, MESSAGE_BACKUP, &receiving->message,
			NULL, 0, 0, &answer, err) < 0)
		return -1;
	if (!json_bool(answer.body, "ready")) {
		nanosleep(&pause, NULL);
		return 0;
	}
	receiving->bytes = json_u64(answer.body, "bytes");
	if (receiving->message.offset >= receiving->bytes)
		return 1;
	if (!answer.size)
		return error_set(err, EPROTO, "the backup has no more bytes");
	if (write(receiving->fd, answer.payload, answer.size) !=
	    (ssize_t)answer.size)
		return error_errno(err, "backup");
	receiving->message.offset += answer.size;
	return 0;
}

static int on_interrupt(sd_event_source *source,
			const struct signalfd_siginfo *info, void *client)
{
	client_interrupt(client);
	return 0;
}

static int receive(struct cli *cli, const char *part, uint64_t *bytes,
		   struct error *err)
{
	owned(client_free) struct client *client = cli_connect(cli, err);
	owned(interrupts_clear) struct interrupts interrupts = { 0 };
	owned_fd int fd = -1;
	char id[33];
	struct receiving receiving = { .client = client, .message.id = id };
	int rc = 0;

	/* Ctrl-C leaves no part of it behind. */
	if (!client || interrupts_init(&interrupts, client_loop(client),
				       on_interrupt, client, err) < 0)
		return -1;
	fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_errno(err, "%s", part);
	receiving.fd = fd;
	token_make(id);
	while (rc == 0)
		rc = ask(&receiving, err);
	if (rc < 0)
		return -1;
	*bytes = receiving.bytes;
	return fsync(fd) < 0 ? error_errno(err, "%s", part) : 0;
}

int command_backup(struct cli *cli, struct error *err)
{
	const char *file = cli->args[0];
	char part[PATH_MAX], size[HUMAN_SIZE];
	uint64_t bytes = 0;

	if (snprintf(part, sizeof(part), "%s.part", file) >= (int)sizeof(part))
		return error_set(err, ENAMETOOLONG, "%.80s...: too long", file);
	if (receive(cli, part, &bytes, err) < 0) {
		unlink(part);
		return -1;
	}
	if (rename(part, file) < 0)
		return error_errno(err, "%s", file);
	cli_say(cli, "%s: %s; back with: regatta-controller restore %s", file,
		human_bytes(bytes, size), file);
	return EXIT_GOOD;
}

/* gc */

static int read_limits(const struct options *options,
		       struct message_gc *message, struct error *err)
{
	const char *older = options->older ? options->older : "30d";
	const char *keep = options->keep_bytes ? options->keep_bytes : "1M";

	if (duration_parse(older, 0, UINT64_C(100) * 366 * 86400000,
			   &message->older_ms, err) < 0)
		return error_prefix(err, "--older");
	if (size_parse(keep, 0, 64 << 20, &message->keep_bytes, err) < 0)
		return error_prefix(err, "--keep");
	return 0;
}

int command_gc(struct cli *cli, struct error *err)
{
	owned(client_free) struct client *client = NULL;
	struct message_gc message = { 0 };
	uint64_t jobs = 0, bytes = 0;
	char size[HUMAN_SIZE], words[HUMAN_SIZE];
	bool more = true;

	if (read_limits(&cli->options, &message, err) < 0)
		return -1;
	client = cli_connect(cli, err);
	if (!client)
		return -1;
	while (more) {
		owned(answer_clear) struct answer answer = { 0 };

		if (client_call(client, MESSAGE_GC, &message, NULL, 0, 0,
				&answer, err) < 0)
			return -1;
		jobs += json_u64(answer.body, "jobs");
		bytes += json_u64(answer.body, "bytes");
		message.after = json_u64(answer.body, "after");
		more = json_bool(answer.body, "more");
	}
	if (cli_format(cli, "json"))
		fprintf(cli->out, "{\"jobs\":%llu,\"bytes\":%llu}\n",
			(unsigned long long)jobs, (unsigned long long)bytes);
	cli_say(cli, "%s of %s removed", human_bytes(bytes, size),
		human_jobs(jobs, words));
	return EXIT_GOOD;
}
