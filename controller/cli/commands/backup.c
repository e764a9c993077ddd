/* backup.c - backup: saves the state of the controller to a file.
 */
#include "controller/cli/command.h"
#include "controller/cli/input.h"
#include "controller/view/render.h"
#include "protocol/base/file.h"
#include "protocol/base/program.h"
#include "protocol/message/reply_access.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <time.h>
#include <unistd.h>

#define POLL_NS 50000000

struct backup_options {
	struct options common;
	bool replace;
};

struct receiving {
	struct client *client;
	struct message_backup message;
	int fd;
	uint64_t bytes;
};

/* Ask once. 1: all bytes have arrived; 0: there are more. */
static int receiving_ask(struct receiving *receiving, struct error *err)
{
	static const struct timespec pause = { .tv_nsec = POLL_NS };
	owned(answer_clear) struct answer answer = { 0 };
	const struct reply_backup *reply;

	if (client_call(receiving->client, MESSAGE_BACKUP, &receiving->message,
			&answer, err) < 0)
		return -1;
	reply = answer.reply;
	if (!reply->ready) {
		nanosleep(&pause, NULL);
		return 0;
	}
	receiving->bytes = reply->bytes;
	if (receiving->message.offset >= receiving->bytes)
		return 1;
	if (!answer.size)
		return error_set(err, EPROTO,
				 "the controller sent fewer bytes than the "
				 "backup has");
	if (file_write_all(receiving->fd, "backup", answer.payload, answer.size,
			   err) < 0)
		return -1;
	receiving->message.offset += answer.size;
	return 0;
}

static int backup_file_receive(struct cli *cli, const char *part,
			       uint64_t *bytes, struct error *err)
{
	owned(client_free) struct client *client = cli_connect(cli, err);
	owned(interrupts_clear) struct interrupts interrupts = { 0 };
	owned_fd int fd = -1;
	char id[33];
	struct receiving receiving = { .client = client, .message.id = id };
	int rc = 0;

	/* Ctrl-C must not leave a part of the file behind. */
	if (!client || interrupts_client(&interrupts, client, err) < 0)
		return -1;
	fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_errno(err, "%s", part);
	receiving.fd = fd;
	token_make(id);
	while (rc == 0)
		rc = receiving_ask(&receiving, err);
	if (rc < 0)
		return -1;
	*bytes = receiving.bytes;
	return fsync(fd) < 0 ? error_errno(err, "%s", part) : 0;
}

static int backup_command(struct cli *cli, struct error *err)
{
	const struct backup_options *given = cli->given;
	const char *file = cli->args[0];
	char part[PATH_MAX];
	uint64_t bytes = 0;

	if (cli_check_output(file, given->replace, err) < 0 ||
	    file_path(part, err, "%s.part", file) < 0)
		return -1;
	if (backup_file_receive(cli, part, &bytes, err) < 0) {
		unlink(part);
		return -1;
	}
	if (rename(part, file) < 0)
		return error_errno(err, "%s", file);
	cli_say(cli,
		"wrote %s (%s); restore it with: "
		"regatta-controller restore %s",
		file, human_bytes(bytes).text, file);
	return EXIT_GOOD;
}

/* clang-format off */
static const struct option_rule rules[] = {
	OPTION_REPLACE(backup_options, "replace the file if it exists"),
	{ 0 },
};

const struct command command_backup = {
	.name = "backup",
	.args = "FILE",
	.min_args = 1,
	.max_args = 1,
	.connects = true,
	.rules = rules,
	.options_size = sizeof(struct backup_options),
	.summary = "save the state of the controller to a file",
	.help =
		"Saves a consistent snapshot of sweeps, jobs, results, logs, "
		  "blobs and users while the controller runs. The "
		  "controller's own keys are not saved. regatta-controller "
		  "restore creates a state folder from the file.",
	.example = "regatta backup monday.tar.gz",
	.fn = backup_command,
};
/* clang-format on */
