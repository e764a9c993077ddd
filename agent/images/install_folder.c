/* install_folder.c - the folder that the container of an installation gets: a
 * copy of the build context.
 */
#include "agent/images/install_folder.h"

#include "agent/images/build_context.h"
#include "protocol/base/clock.h"
#include "protocol/base/file.h"
#include "protocol/base/log.h"
#include "protocol/base/loop.h"
#include "protocol/blob/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define COPIES "install"
#define PIECE (64 << 10)
#define TURN_MS 20

struct install_folder {
	struct install_folder_plan plan;
	char path[PATH_MAX];
	struct build_context *context;
	int tar;    /* a file without a name */
	int folder; /* at the path */
	struct unpack_owner owner;
	struct unpacking *unpacking;
	sd_event_source *turn;
	install_folder_fn *done;
	void *arg;
};

/* 1: there is more; 0: the whole context is in the file. */
static int copy_read(struct install_folder *copy, struct error *err)
{
	char piece[PIECE];
	ssize_t got =
		build_context_read(copy->context, piece, sizeof(piece), err);

	if (got < 0)
		return -1;
	if (got > 0)
		return file_write_all(copy->tar, copy->path, piece, (size_t)got,
				      err) < 0
			       ? -1
			       : 1;
	if (strcmp(tarball_hash(build_context_tarball(copy->context)),
		   copy->plan.hash) != 0)
		return error_set(err, EIO, "folder %s changed after the build",
				 copy->plan.folder);
	return 0;
}

static int copy_unpack(struct install_folder *copy, struct error *err)
{
	struct unpack_limits limits = { .entries = UINT64_MAX };

	limits.bytes = tarball_size(build_context_tarball(copy->context));
	if (lseek(copy->tar, 0, SEEK_SET) < 0)
		return error_errno(err, "%s", copy->path);
	copy->unpacking = unpacking_new(copy->tar, copy->folder, &limits,
					&copy->owner, err);
	return copy->unpacking ? 1 : -1;
}

static int copy_some(struct install_folder *copy, struct error *err)
{
	int rc;

	if (copy->unpacking)
		return unpacking_step(copy->unpacking, err);
	rc = copy_read(copy, err);
	return rc == 0 ? copy_unpack(copy, err) : rc;
}

static int install_folder_turn(sd_event_source *source, void *arg)
{
	struct install_folder *copy = arg;
	int64_t until = clock_mono_ms() + TURN_MS;
	struct error err;
	int rc;

	do {
		rc = copy_some(copy, &err);
	} while (rc > 0 && clock_mono_ms() < until);
	if (rc > 0)
		loop_defer_run(source);
	else
		copy->done(copy->arg, rc < 0 ? &err : NULL);
	return 0;
}

static int make_copy(struct install_folder *copy, struct error *err)
{
	const char *state = copy->plan.state;

	if (file_path(copy->path, err, "%s/" COPIES, state) < 0)
		return -1;
	if (mkdir(copy->path, 0711) < 0 && errno != EEXIST)
		return error_errno(err, "%s", copy->path);
	copy->tar = open(copy->path, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (copy->tar < 0)
		return error_errno(err, "%s", copy->path);
	if (file_path(copy->path, err, "%s/" COPIES "/%08" PRIx32, state,
		      randombytes_random()) < 0)
		return -1;
	if (mkdir(copy->path, 0755) < 0)
		return error_errno(err, "%s", copy->path);
	copy->folder = open(copy->path,
			    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return copy->folder < 0 ? error_errno(err, "%s", copy->path) : 0;
}

struct install_folder *
install_folder_new(const struct install_folder_plan *plan,
		   install_folder_fn *done, void *arg, struct error *err)
{
	owned(install_folder_free) struct install_folder *copy =
		error_calloc(sizeof(*copy), "install", err);

	if (!copy)
		return NULL;
	copy->plan = *plan;
	copy->tar = copy->folder = -1;
	copy->owner = (struct unpack_owner){ (uid_t)-1, (gid_t)-1, false };
	copy->done = done;
	copy->arg = arg;
	copy->context = build_context_new(plan->folder, err);
	if (!copy->context || make_copy(copy, err) < 0 ||
	    loop_defer(plan->loop, &copy->turn, install_folder_turn, copy,
		       err) < 0)
		return NULL;
	loop_defer_run(copy->turn);
	return take(copy);
}

static void remove_copies(const char *path)
{
	struct error err;

	if (*path && file_remove_tree(AT_FDCWD, path, &err) < 0)
		log_warning("%s: %s", path, err.text);
}

void install_folder_free(struct install_folder *copy)
{
	if (!copy)
		return;
	loop_source_free(&copy->turn);
	unpacking_free(copy->unpacking);
	build_context_free(copy->context);
	if (copy->tar >= 0)
		close(copy->tar);
	if (copy->folder >= 0) {
		close(copy->folder);
		remove_copies(copy->path);
	}
	free(copy);
}

const char *install_folder_path(const struct install_folder *copy)
{
	return copy->path;
}

void install_folder_forget(const char *state)
{
	char path[PATH_MAX];

	if (file_path(path, NULL, "%s/" COPIES, state) == 0)
		remove_copies(path);
}
