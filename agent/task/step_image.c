/* step_image.c - brings a task's image to the node, and checks that it is the
 * sweep's.
 */
#include "agent/task/task_internal.h"
#include "protocol/registry/reference.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int keep_image(struct task *task, const struct image *image)
{
	const cJSON *lists[] = { image->entrypoint, image->command };
	const cJSON *item;

	free(task->image_id);
	task->image_id = strdup(image->id);
	free(task->image_user);
	task->image_user = strdup(image->user ? image->user : "");
	free(task->image_workdir);
	task->image_workdir = strdup(image->workdir ? image->workdir : "");
	strings_clear(&task->image_argv);
	for (size_t i = 0; i < 2; i++) {
		cJSON_ArrayForEach(item, lists[i])
			if (cJSON_IsString(item) &&
			    strings_add(&task->image_argv, item->valuestring,
					NULL) < 0)
				return -1;
	}
	return task->image_id && task->image_user && task->image_workdir ? 0
									 : -1;
}

/* Report the digest of the image as soon as it is known: other nodes wait for
 * it.
 */
static void tell_pin(struct task *task, const char *pin)
{
	char *copy;

	if (task->image_pin && !strcmp(task->image_pin, pin))
		return;
	copy = strdup(pin);
	if (!copy)
		return; /* it is reported with the next state */
	free(task->image_pin);
	task->image_pin = copy;
	if (!task->spec.pin)
		task->services->changed(task->services->arg, task);
}

/* The pin of the sweep, if the image is that by any of its names; earlier
 * versions pinned ids.
 */
const char *task_image_pin(const struct task_spec *spec,
			   const struct image *image)
{
	struct reference asked, found;
	const char *pin = spec->pin;

	if (pin && (!strcmp(pin, image->id) || !strcmp(pin, image->content)))
		return pin;
	if (spec->container.build)
		return image->reference;
	/* The engine may know it only by the name of another registry. */
	return image->digest &&
			       reference_parse(spec->container.image, &asked,
					       NULL) == 0 &&
			       reference_parse(image->digest, &found, NULL) ==
				       0 &&
			       !strcmp(asked.name, found.name)
		       ? image->digest
		       : image->content;
}

/* The pin comes from another node, so it is not trusted. A digest of the same
 * repository can be pulled, because the registry proves it. A content could be
 * any image of this node, so it is only compared with the image of the name.
 */
static bool is_of_repository(const char *pin, const char *name)
{
	struct reference a, b;

	return reference_parse(pin, &a, NULL) == 0 &&
	       reference_parse(name, &b, NULL) == 0 && a.name[0] &&
	       a.digest[0] && !strcmp(a.name, b.name);
}

/* If the policy allows the name but not the pin, the node resolves the name
 * itself.
 */
static const char *task_choose_image(const struct task *task)
{
	const char *name = task->spec.container.image;
	const char *pin = task->spec.pin;
	const struct policy *policy =
		node_policy_rules(task->services->node_policy);

	return pin && is_of_repository(pin, name) &&
			       policy_image_check_pin(policy, name, pin)
		       ? pin
		       : name;
}

static int check_pin(const struct task *task, const char *found,
		     struct error *err)
{
	const char *pin = task->spec.pin;

	if (!pin || !strcmp(pin, found))
		return 0;
	return error_set(err, ESTALE,
			 "on %.40s the image %.60s is %.90s, but this sweep "
			 "uses "
			 "%.90s",
			 task->services->node, task->spec.container.image,
			 found, pin);
}

/* Do not show the body of an HTTP answer: a name may lead to any service that
 * this node can reach.
 */
static void drop_body(struct error *err)
{
	static const char mark[] = "response body";
	char *at = strstr(err->text, mark);

	if (at)
		at[sizeof(mark) - 1] = 0;
}

/* Only images that no registry has are pinned by content. */
static bool is_content(const char *pin)
{
	struct reference parts;

	return pin && reference_parse(pin, &parts, NULL) == 0 && !parts.name[0];
}

static void image_failed(struct task *task, const struct error *given)
{
	const char *pin = task->spec.pin;
	struct error why = *given;
	const struct error *err = &why;

	drop_body(&why);
	if (err->code == EPERM) {
		step_fail(task, FAILURE_POLICY, err);
		return;
	}
	if (err->code != ENOENT || !is_content(pin)) {
		/* The name is right, which the text says first. */
		if (pin)
			error_prefix(&why, "this sweep has it");
		step_fail(task, FAILURE_IMAGE, err);
		return;
	}
	error_set(&why, ENOENT,
		  "image %.80s is %.20s in this sweep, is in no registry and "
		  "not on this node; regatta image load copies it",
		  task->spec.container.image, pin);
	step_fail(task, FAILURE_PREFLIGHT, &why);
}

static void image_done(void *arg, const struct error *err,
		       const struct image *image)
{
	struct task *task = arg;
	struct error wrong;
	const char *pin;

	task->image = NULL;
	/* After a time-out of the registry, the pull was already tried again.
	 */
	if (err && engine_away(err) && err->code != ETIMEDOUT &&
	    task->retries < STEP_RETRIES_MAX) {
		step_retry(task);
		return;
	}
	if (err) {
		image_failed(task, err);
		return;
	}
	pin = task_image_pin(&task->spec, image);
	if (check_pin(task, pin, &wrong) < 0) {
		step_fail(task, FAILURE_PREFLIGHT, &wrong);
	} else if (keep_image(task, image) < 0) {
		error_nomem(&wrong, "image");
		step_fail(task, FAILURE_IMAGE, &wrong);
	} else {
		tell_pin(task, pin);
		task_event(task, EVENT_IMAGE);
	}
}

/* The output of a build is a stream of the task. */
static void task_keep_build_output(struct task *task, const char *text)
{
	char name[BUILD_STREAM_SIZE];
	size_t size = strlen(text);
	struct error err;

	build_stream(task->id.rank, name);
	if (task->build_fd < 0)
		task->build_fd = spool_append_stream(task->services->spool,
						     &task->id, name, &err);
	/* Lost output does not fail the task. */
	if (task->build_fd >= 0 &&
	    write(task->build_fd, text, size) == (ssize_t)size)
		log_sender_wake(task->services->sender);
}

static void task_take_news(void *arg, const struct image_news *news)
{
	struct task *task = arg;

	if (news->output) {
		task_keep_build_output(task, news->output);
		return;
	}
	if (news->digest)
		tell_pin(task, news->digest);
	task->services->progress(task->services->arg, task, &news->progress);
}

size_t task_needs(const struct task *task,
		  struct image_need needs[TASK_NEEDS_MAX])
{
	const struct container_spec *container = &task->spec.container;
	char *const names[] = { container->image, task->spec.pin,
				task->image_pin, task->image_id };
	size_t count = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!names[i])
			continue;
		needs[count++] = (struct image_need){
			.reference = names[i],
			/* Once the image is there, its id says enough. */
			.build = task->image_id ? NULL : container->build,
		};
	}
	return count;
}

void step_image(struct task *task)
{
	const struct image_wanted what = {
		.reference = task_choose_image(task),
		.build = task->spec.container.build,
		.local = is_content(task->spec.pin),
		.logins = task->spec.logins,
		.logins_count = task->spec.logins_count,
	};
	struct error err;

	task->image = image_ensure(task->services->images, &what,
				   task_take_news, image_done, task, &err);
	if (!task->image)
		step_fail(task, FAILURE_IMAGE, &err);
}
