/* backups.c - makes a backup and sends it to its client in pieces. */
#include "controller/api/backups.h"
#include "protocol/base/file.h"
#include "protocol/base/log.h"
#include "protocol/base/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define IDLE_MS 60000 /* without a request the backup is removed */
#define FILE_NAME "backup.tar.gz"

struct backups {
	sd_event *loop;
	char state[PATH_MAX];
	char file[PATH_MAX + 32];
	char id[33]; /* "": there is none */
	pid_t child; /* 0: it has ended */
	int status;
	int fd; /* of the file, when it is ready; -1 */
	uint64_t bytes;
	sd_event_source *ended, *idle;
};

static void forget(struct backups *backups)
{
	if (backups->child)
		kill(backups->child, SIGKILL);
	loop_source_free(&backups->ended);
	if (backups->child)
		waitpid(backups->child, NULL, 0);
	loop_timer_stop(backups->idle);
	if (backups->fd >= 0)
		close(backups->fd);
	backups->fd = -1;
	backups->child = 0;
	backups->id[0] = 0;
}

static void remove_files(const struct backups *backups)
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

	if (!backups) {
		error_nomem(err, "backups");
		return NULL;
	}
	backups->fd = -1;
	backups->loop = sd_event_ref(loop);
	snprintf(backups->state, sizeof(backups->state), "%s", state);
	snprintf(backups->file, sizeof(backups->file), "%s/" FILE_NAME, state);
	remove_files(backups);
	return take(backups);
}

void backups_free(struct backups *backups)
{
	if (!backups)
		return;
	forget(backups);
	loop_source_free(&backups->idle);
	sd_event_unref(backups->loop);
	free(backups);
}

static int on_idle(sd_event_source *source, uint64_t usec, void *arg)
{
	struct backups *backups = arg;

	forget(backups);
	remove_files(backups);
	return 0;
}

static int on_ended(sd_event_source *source, const siginfo_t *info, void *arg)
{
	struct backups *backups = arg;
	struct stat st;

	backups->child = 0;
	backups->status = info->si_code == CLD_EXITED ? info->si_status : 255;
	if (backups->status == 0)
		backups->fd = open(backups->file, O_RDONLY | O_CLOEXEC);
	if (backups->fd >= 0 && fstat(backups->fd, &st) == 0)
		backups->bytes = (uint64_t)st.st_size;
	/* The open file needs no name, and nobody else should read it. */
	remove_files(backups);
	return 0;
}

static int begin(struct backups *backups, const char *id, struct error *err)
{
	char *const argv[] = { (char *)"regatta-controller",
			       (char *)"backup",
			       backups->file,
			       (char *)"--state",
			       backups->state,
			       NULL };
	posix_spawnattr_t attributes;
	sigset_t none;
	int rc;

	sigemptyset(&none);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	rc = posix_spawn(&backups->child, "/proc/self/exe", NULL, &attributes,
			 argv, environ);
	posix_spawnattr_destroy(&attributes);
	if (rc) {
		backups->child = 0;
		return error_set(err, rc, "backup: %s", strerror(rc));
	}
	rc = sd_event_add_child(backups->loop, &backups->ended, backups->child,
				WEXITED, on_ended, backups);
	if (rc < 0) {
		forget(backups);
		return error_set(err, -rc, "backup: cannot watch its process");
	}
	snprintf(backups->id, sizeof(backups->id), "%s", id);
	return 0;
}

static int read_piece(struct backups *backups, uint64_t offset,
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
	if (!same && begin(backups, message->id, err) < 0)
		return -1;
	*begun = !same;
	loop_timer(backups->loop, &backups->idle, IDLE_MS, on_idle, backups,
		   NULL);
	if (!backups->child && backups->fd < 0) {
		forget(backups);
		return error_set(err, EIO,
				 "the backup failed (exit %d); see the "
				 "controller's log",
				 backups->status);
	}
	reply->ready = !backups->child;
	if (backups->child)
		return 0;
	reply->bytes = backups->bytes;
	if (message->offset > INT64_MAX)
		return error_set(err, EINVAL, "offset: out of range");
	if (message->offset < backups->bytes)
		return read_piece(backups, message->offset, bytes, err);
	forget(backups); /* all of it was read */
	return 0;
}
