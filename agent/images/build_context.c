/* build_context.c - the build context of a folder, as a tar stream.
 */
#include "agent/images/build_context.h"

#include "protocol/base/clock.h"
#include "protocol/base/file.h"
#include "protocol/base/log.h"
#include "protocol/base/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define IGNORE_FILE ".dockerignore"
#define IGNORE_FILE_MAX (1 << 20)
#define TURN_MS 20
#define PIECE (64 << 10)

struct build_context {
	struct ignore *ignore;
	struct tarball *tarball;
	struct deferral *turn; /* of build_context_hash() */
	build_context_hash_fn *done;
	void *arg;
	uid_t user; /* whose rights read it */
	gid_t group;
};

/* Rights. */

static int find_owner(struct build_context *context, const char *folder,
		      struct error *err)
{
	char path[PATH_MAX];
	struct stat st;

	if (file_path(path, err, "%s/Dockerfile", folder) < 0)
		return -1;
	if (lstat(path, &st) < 0 && lstat(folder, &st) < 0)
		return error_set(err, EINVAL, "%s: %s", folder,
				 strerror(errno));
	context->user = st.st_uid;
	context->group = st.st_gid;
	return 0;
}

/* With or without the right to read what modes forbid, as far as we have it. */
static int override_modes(bool with, struct error *err)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3,
						 0 };
	struct __user_cap_data_struct caps[2];
	const uint32_t rights =
		1u << CAP_DAC_OVERRIDE | 1u << CAP_DAC_READ_SEARCH;

	if (syscall(SYS_capget, &head, caps) < 0)
		return error_errno(err, "capget");
	caps[0].effective &= ~rights;
	if (with)
		caps[0].effective |= rights & caps[0].permitted;
	return syscall(SYS_capset, &head, caps) < 0 ? error_errno(err, "capset")
						    : 0;
}

static int owner_begin(const struct build_context *context, struct error *err)
{
	if (geteuid() != 0)
		return 0;
	if (override_modes(false, err) < 0)
		return -1;
	setfsgid(context->group);
	setfsuid(context->user);
	return 0;
}

static void owner_end(void)
{
	struct error err;

	if (geteuid() != 0)
		return;
	setfsuid(0);
	setfsgid(getegid());
	if (override_modes(true, &err) < 0)
		log_error("%s", err.text);
}

static int read_ignore(struct ignore *ignore, const char *folder,
		       struct error *err)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(IGNORE_FILE_MAX);
	char path[PATH_MAX];
	struct error why;

	if (file_path(path, err, "%s/" IGNORE_FILE, folder) < 0)
		return -1;
	if (file_read(AT_FDCWD, path, &text, &why) < 0)
		return why.code == ENOENT
			       ? 0
			       : error_set(err, EINVAL, "%s", why.text);
	if (ignore_docker_lines(ignore, text.data, err) < 0)
		return error_prefix(err, IGNORE_FILE);
	return ignore_docker_lines(ignore, "!Dockerfile\n!" IGNORE_FILE "\n",
				   err);
}

struct build_context *build_context_new(const char *folder, struct error *err)
{
	owned(build_context_free) struct build_context *context =
		error_calloc(sizeof(*context), "context", err);

	if (!context)
		return NULL;
	context->ignore = ignore_new(err);
	if (!context->ignore || find_owner(context, folder, err) < 0 ||
	    owner_begin(context, err) < 0)
		return NULL;
	if (read_ignore(context->ignore, folder, err) == 0)
		context->tarball = tarball_new(folder, context->ignore, err);
	owner_end();
	return context->tarball ? take(context) : NULL;
}

ssize_t build_context_read(struct build_context *context, void *buffer,
			   size_t size, struct error *err)
{
	ssize_t got;

	if (owner_begin(context, err) < 0)
		return -1;
	got = tarball_read(context->tarball, buffer, size, err);
	owner_end();
	return got;
}

void build_context_free(struct build_context *context)
{
	if (!context)
		return;
	deferral_free(context->turn);
	tarball_free(context->tarball);
	ignore_free(context->ignore);
	free(context);
}

struct tarball *build_context_tarball(struct build_context *context)
{
	return context->tarball;
}

static void build_context_turn(void *arg)
{
	struct build_context *context = arg;
	int64_t until = clock_mono_ms() + TURN_MS;
	struct error err;
	char piece[PIECE];
	ssize_t got;

	do {
		got = build_context_read(context, piece, sizeof(piece), &err);
	} while (got > 0 && clock_mono_ms() < until);
	if (got > 0)
		deferral_run(context->turn);
	else if (got < 0)
		context->done(context->arg, &err, NULL, 0);
	else
		context->done(context->arg, NULL,
			      tarball_hash(context->tarball),
			      tarball_size(context->tarball));
}

int build_context_hash(struct build_context *context, sd_event *loop,
		       build_context_hash_fn *done, void *arg,
		       struct error *err)
{
	context->done = done;
	context->arg = arg;
	context->turn =
		deferral_new(loop, false, build_context_turn, context, err);
	if (!context->turn)
		return -1;
	deferral_run(context->turn);
	return 0;
}
