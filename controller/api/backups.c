/* backups.c - makes a backup and sends it to its client in pieces. */
#include "controller/api/backups.h"
#include "protocol/base/file.h"
#include "protocol/base/log.h"
#include "protocol/base/loop.h"
#include "protocol/base/subprocess.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define IDLE_MS 60000 /* without a request the backup is removed */
#define TIMEOUT_MS (24 * 3600 * 1000U)
#define OUTPUT_MAX 4096 /* of a program that prints nothing */
#define FILE_NAME "backup.tar.gz"

struct backups {
	sd_event *loop;
	char state[PATH_MAX];
	char file[PATH_MAX + 32];
	char id[33];              /* "": there is none */
	struct subprocess *child; /* NULL: it has ended */
	struct error failure;     /* code 0: none */
	int fd;                   /* of the file, when it is ready; -1 */
	uint64_t bytes;
	sd_event_source *idle;
};

static void backups_forget(struct backups *backups)
{
	subprocess_cancel(backups->child);
	loop_timer_stop(backups->idle);
	if (backups->fd >= 0)
		close(backups->fd);
	backups->fd = -1;
	backups->child = NULL;
	backups->id[0] = 0;
}

static void backups_remove_files(const struct backups *backups)
{
	static const char *const ends[] = { "", ".db", ".part" };
	char path[PATH_MAX + 64];

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		snprintf(path, sizeof(path), "%s%s", backups->file, ends[i]);
		unlink(path);
	}
}

struct backups *backups_new(sd_event *loop, const char *state,
			    struct error *err)
{
	owned(backups_free) struct backups *backups =
		calloc(1, sizeof(*backups));

	if (!backups)
		return error_null(error_nomem(err, "backups"));
	backups->fd = -1;
	backups->loop = sd_event_ref(loop);
	snprintf(backups->state, sizeof(backups->state), "%s", state);
	snprintf(backups->file, sizeof(backups->file), "%s/" FILE_NAME, state);
	backups_remove_files(backups);
	return take(backups);
}

void backups_free(struct backups *backups)
{
	if (!backups)
		return;
	backups_forget(backups);
	loop_source_free(&backups->idle);
	sd_event_unref(backups->loop);
	free(backups);
}

static int on_idle(sd_event_source *source, uint64_t usec, void *arg)
{
	struct backups *backups = arg;

	backups_forget(backups);
	backups_remove_files(backups);
	return 0;
}

static void on_ended(void *arg, const struct error *err,
		     const struct subprocess_output *output)
{
	struct backups *backups = arg;
	struct error *failure = &backups->failure;
	struct stat st = { 0 };

	backups->child = NULL;
	if (err)
		*failure = *err;
	else if (output->exit_code)
		error_set(failure, EIO, "%s (exit %d)", output->complaint,
			  output->exit_code);
	else
		backups->fd = open(backups->file, O_RDONLY | O_CLOEXEC);
	if (!failure->code && (backups->fd < 0 || fstat(backups->fd, &st) < 0))
		error_errno(failure, "%s", backups->file);
	if (failure->code)
		log_error("backup: %s", failure->text);
	else
		backups->bytes = (uint64_t)st.st_size;
	/* The open file needs no name, and nobody else should read it. */
	backups_remove_files(backups);
}

static int backups_begin(struct backups *backups, const char *id,
			 struct error *err)
{
	char *words[] = { (char *)"/proc/self/exe", (char *)"backup",
			  backups->file, (char *)"--state", backups->state };
	const struct strings argv = { words, sizeof(words) / sizeof(*words) };
	const struct subprocess_command command = {
		.argv = &argv,
		.timeout_ms = TIMEOUT_MS,
		.output_max = OUTPUT_MAX,
	};

	backups->failure = (struct error){ 0 };
	backups->child =
		subprocess_run(backups->loop, &command, on_ended, backups, err);
	if (!backups->child)
		return error_prefix(err, "backup");
	snprintf(backups->id, sizeof(backups->id), "%s", id);
	return 0;
}

static int backups_read_piece(struct backups *backups, uint64_t offset,
			      struct buffer *bytes, struct error *err)
{
	owned_free char *piece = malloc(BACKUP_PIECE);
	ssize_t got;

	if (!piece)
		return error_nomem(err, "backup");
	got = pread(backups->fd, piece, BACKUP_PIECE, (off_t)offset);
	if (got < 0)
		return error_errno(err, "backup");
	return buffer_append(bytes, piece, (size_t)got, err);
}

int backups_answer(struct backups *backups,
		   const struct message_backup *message,
		   struct reply_backup *reply, struct buffer *bytes,
		   bool *begun, struct error *err)
{
	bool same = !strcmp(backups->id, message->id);

	if (strlen(message->id) != sizeof(backups->id) - 1)
		return error_set(err, EINVAL, "id: expected 32 characters");
	if (backups->id[0] && !same)
		return error_set(err, EBUSY, "another backup is in progress");
	if (!same && message->offset)
		return error_set(err, ENOENT,
				 "the backup no longer exists; start again");
	if (!same && backups_begin(backups, message->id, err) < 0)
		return -1;
	*begun = !same;
	loop_timer(backups->loop, &backups->idle, IDLE_MS, on_idle, backups,
		   NULL);
	if (backups->failure.code) {
		backups_forget(backups);
		return error_set(err, backups->failure.code,
				 "the backup failed: %s",
				 backups->failure.text);
	}
	reply->ready = !backups->child;
	if (backups->child)
		return 0;
	reply->bytes = backups->bytes;
	if (message->offset > INT64_MAX)
		return error_set(err, EINVAL, "offset: out of range");
	if (message->offset < backups->bytes)
		return backups_read_piece(backups, message->offset, bytes, err);
	backups_forget(backups); /* all of it was read */
	return 0;
}
