/* folder_build.c - makes an image from a folder: its Dockerfile, then its
 * script.
 */
#include "agent/images/folder_build.h"

#include "agent/images/install.h"
#include "protocol/base/log.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct folder_build {
	const struct pull_services *services;
	struct folder_plan plan;
	pull_progress_fn *progress;
	build_done_fn *done;
	void *arg;
	char base[40]; /* what the Dockerfile gives, before the script */
	struct build *building;
	struct install *installing;
};

static void on_progress(void *arg, const struct image_progress *progress)
{
	struct folder_build *build = arg;

	build->progress(build->arg, progress);
}

static void ended(void *arg, const struct error *err)
{
	struct folder_build *build = arg;

	build->building = NULL;
	build->installing = NULL;
	build->done(build->arg, err);
}

/* NAME_install.sh of a folder NAME, where there is one. */
static bool has_script(const struct folder_plan *plan, char *script,
		       size_t size)
{
	const char *name = strrchr(plan->folder, '/') + 1;
	owned_free char *path = NULL;

	snprintf(script, size, "%.200s_install.sh", name);
	if (asprintf(&path, "%s/%s", plan->folder, script) < 0)
		path = NULL;
	return path && access(path, F_OK) == 0;
}

static int start_install(struct folder_build *build, struct error *err)
{
	const struct folder_plan *plan = &build->plan;
	owned(strings_clear) struct strings devices = { 0 };
	char script[256];
	struct error why;
	const struct install_plan install = {
		.base = build->base,
		.folder = plan->folder,
		.script = has_script(plan, script, sizeof(script)) ? script
								   : NULL,
		.target = plan->target,
		.owner = plan->owner ? plan->owner : "",
		.devices = &devices,
	};

	if (plan->devices &&
	    plan->devices(plan->devices_arg, &devices, &why) < 0)
		log_warning("image=%s is installed without devices: %s",
			    plan->target, why.text);
	build->installing = install_begin(build->services, &install,
					  on_progress, ended, build, err);
	return build->installing ? 0 : -1;
}

static void install(void *arg, const struct error *err)
{
	struct folder_build *build = arg;
	struct error why;

	build->building = NULL;
	if (err) {
		ended(build, err);
	} else if (start_install(build, &why) < 0) {
		error_prefix(&why, "build of %.100s", build->plan.target);
		ended(build, &why);
	}
}

static int start_build(struct folder_build *build, struct error *err)
{
	const struct folder_plan *plan = &build->plan;
	owned(strings_clear) struct strings labels = { 0 };
	const struct build_plan first = {
		.folder = plan->folder,
		.name = plan->name,
		.target = plan->installs ? build->base : plan->target,
		.hash = plan->hash,
		.bytes = plan->bytes,
		.labels = &labels,
		.logins = plan->logins,
		.logins_count = plan->logins_count,
	};

	if (strings_printf(&labels, err, CONTEXT_LABEL "=%s", plan->hash) < 0)
		return -1;
	build->building =
		build_begin(build->services, &first, on_progress,
			    plan->installs ? install : ended, build, err);
	return build->building ? 0 : -1;
}

struct folder_build *folder_build_begin(const struct pull_services *services,
					const struct folder_plan *plan,
					pull_progress_fn *progress,
					build_done_fn *done, void *arg,
					struct error *err)
{
	owned(folder_build_cancel) struct folder_build *build =
		calloc(1, sizeof(*build));

	if (!build) {
		error_nomem(err, "image");
		return NULL;
	}
	build->services = services;
	build->plan = *plan;
	build->progress = progress;
	build->done = done;
	build->arg = arg;
	snprintf(build->base, sizeof(build->base), INSTALL_BASE ":%08" PRIx32,
		 randombytes_random());
	return start_build(build, err) < 0 ? NULL : take(build);
}

void folder_build_cancel(struct folder_build *build)
{
	if (!build)
		return;
	build_cancel(build->building);
	install_cancel(build->installing);
	free(build);
}
