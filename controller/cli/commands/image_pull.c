/* image_pull.c - image pull: pulls the images of a sweep on the nodes before it
 * starts.
 */
#include "controller/cli/commands/images.h"

#include "controller/cli/input.h"
#include "controller/cli/logins.h"
#include "protocol/base/list.h"
#include "protocol/base/program.h"
#include "protocol/message/reply_images.h"
#include "protocol/message/reply_nodes.h"
#include "protocol/registry/login.h"
#include "protocol/registry/reference.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* An image to pull, or to build. */
struct wanted {
	char *image;
	char *build; /* the folder, or NULL */
	bool named;  /* on the command line: for all nodes of the options */
	struct strings nodes; /* otherwise these, that could run its cells */
};

struct pull {
	struct cli *cli;
	struct image_view view;
	struct rows nodes; /* node_info */
	struct wanted *wanted;
	size_t count;
	struct logins logins;
	cJSON *images; /* the results, for JSON */
};

static void pull_clear(struct pull *pull)
{
	for (size_t i = 0; i < pull->count; i++) {
		free(pull->wanted[i].image);
		free(pull->wanted[i].build);
		strings_clear(&pull->wanted[i].nodes);
	}
	free(pull->wanted);
	logins_clear(&pull->logins);
	rows_clear(&pull->nodes);
	cJSON_Delete(pull->images);
	image_view_clear(&pull->view);
}
OWNED_VALUE(struct pull, pull_clear)

/* The images. */

static bool wanted_equals(const struct wanted *wanted, const char *image,
			  const char *build)
{
	return !strcmp(wanted->image, image) && !wanted->build == !build &&
	       (!build || !strcmp(wanted->build, build));
}

static struct wanted *want(struct pull *pull, const char *image,
			   const char *build, struct error *err)
{
	struct wanted *wanted;

	/* Neighbouring cells mostly have the same image: search backwards. */
	for (size_t i = pull->count; i-- > 0;)
		if (wanted_equals(&pull->wanted[i], image, build))
			return &pull->wanted[i];
	wanted = LIST_ADD(pull->wanted, pull->count, err);
	return !wanted || string_set(&wanted->image, image, err) < 0 ||
			       string_set(&wanted->build, build, err) < 0
		       ? NULL
		       : wanted;
}

/* An image of a sweep: for the nodes that could run it, and that --nodes names.
 */
static int want_planned(struct pull *pull, const struct plan_image *image,
			struct error *err)
{
	const struct strings *named = &pull->view.named;
	struct wanted *wanted = want(pull, image->image, image->build, err);

	for (size_t i = 0; wanted && i < image->nodes.count; i++) {
		const char *node = image->nodes.items[i];

		if ((!named->count || strings_has(named, node)) &&
		    !strings_has(&wanted->nodes, node) &&
		    strings_add(&wanted->nodes, node, err) < 0)
			return -1;
	}
	return wanted ? 0 : -1;
}

static int want_sweep(struct pull *pull, const char *name, struct error *err)
{
	owned(input_clear) struct input input = { 0 };
	owned(answer_clear) struct answer answer = { 0 };
	struct message_plan message = { .file = (char *)name, .images = true };
	const struct reply_plan *reply;

	if (input_init(&input, pull->cli, name, false, err) < 0 ||
	    input_check_jobs(&input, pull->cli, err) < 0 ||
	    input_add_descriptions(&input, pull->cli, pull->view.client, err) <
		    0 ||
	    client_call_with(pull->view.client, MESSAGE_PLAN, &message,
			     input.text.data, input.text.size, 0, &answer,
			     err) < 0)
		return -1;
	reply = answer.reply;
	for (size_t i = 0; i < reply->images_count; i++)
		if (want_planned(pull, &reply->images[i], err) < 0)
			return -1;
	return 0;
}

static int want_image(struct pull *pull, const char *name, struct error *err)
{
	struct reference parts;
	struct wanted *wanted;

	if (reference_parse(name, &parts, err) < 0)
		return -1;
	wanted = want(pull, name, NULL, err);
	if (wanted)
		wanted->named = true;
	return wanted ? 0 : -1;
}

/* Is it a sweep file, or an image? A file that exists is a sweep. */
static bool is_sweep(const char *name)
{
	const char *dot = strrchr(name, '.');
	struct stat st;

	return !strcmp(name, "-") ||
	       (dot && (!strcmp(dot, ".yaml") || !strcmp(dot, ".yml"))) ||
	       (stat(name, &st) == 0 && S_ISREG(st.st_mode));
}

/* The nodes. */

static const char *pull_node(const struct pull *pull, size_t at)
{
	const struct node_info *node = rows_at(&pull->nodes, at);

	return node->name;
}

static int check_named(const struct pull *pull, struct error *err)
{
	const struct strings *named = &pull->view.named;

	for (size_t i = 0; i < named->count; i++) {
		bool found = false;

		for (size_t k = 0; k < pull->nodes.count; k++)
			found |= !strcmp(pull_node(pull, k), named->items[i]);
		if (!found)
			return error_set(err, ENOENT,
					 "--nodes: no node %.64s; regatta "
					 "nodes lists all",
					 named->items[i]);
	}
	return 0;
}

/* Pulling. */

/* Send the login for the image's registry; for a build all, because only the
 * engine knows the registries of its base images.
 */
static void give_logins(struct pull *pull, const struct wanted *wanted,
			struct image_spec *spec)
{
	char host[REFERENCE_HOST_MAX + 1], path[REFERENCE_PATH_MAX + 1];
	const struct registry_login *login;
	struct reference parts;

	spec->logins = pull->logins.items;
	spec->logins_count = pull->logins.count;
	if (wanted->build)
		return;
	reference_parse(wanted->image, &parts, NULL);
	reference_place(&parts, host, path);
	login = logins_find(pull->logins.items, pull->logins.count, host);
	spec->logins = (struct registry_login *)login;
	spec->logins_count = login ? 1 : 0;
}

/* Returns how many nodes lack it; -1: an error. */
static int pull_wanted(struct pull *pull, const struct wanted *wanted,
		       struct error *err)
{
	owned(answer_clear) struct answer answer = { 0 };
	struct image_view *view = &pull->view;
	char id[BLOB_HASH_SIZE], stage[300];
	struct image_spec spec = {
		.kind = IMAGE_ENSURE,
		.id = id,
		.image = wanted->image,
		.build = wanted->build,
	};
	cJSON *image;

	if (!wanted->named && !wanted->nodes.count) {
		image_view_say(view, "%s: no reachable node could run it",
			       wanted->image);
		return 1;
	}
	view->only = wanted->named ? NULL : &wanted->nodes;
	/* The same command again shows the same pull. */
	image_operation_named(id, wanted->image,
			      wanted->build ? wanted->build : "(pull)");
	give_logins(pull, wanted, &spec);
	snprintf(stage, sizeof(stage), "%s %.250s",
		 wanted->build ? "building" : "pulling", wanted->image);
	image_view_stage(view, stage);
	if (view->cli->err_terminal)
		image_view_say(view, "%s", stage);
	if (image_view_run(view, &spec, &answer, err) < 0)
		return -1;
	image = codec_object(&image_operation_info_schema,
			     image_answer(&answer), err);
	if (!cJSON_AddItemToArray(pull->images, image))
		return -1;
	return (int)image_view_tell(view, image_answer(&answer), true);
}

static int collect_logins(struct pull *pull, struct error *err)
{
	owned(strings_clear) struct strings images = { 0 };
	bool builds = false;

	for (size_t i = 0; i < pull->count; i++) {
		builds |= pull->wanted[i].build != NULL;
		if (!pull->wanted[i].build &&
		    strings_add(&images, pull->wanted[i].image, err) < 0)
			return -1;
	}
	return logins_collect_images(pull->cli, pull->view.client, &images,
				     builds, &pull->logins, err);
}

static int find_wanted(struct pull *pull, struct error *err)
{
	struct cli *cli = pull->cli;

	for (size_t i = 1; i < cli->arg_count; i++) {
		int rc = is_sweep(cli->args[i])
				 ? want_sweep(pull, cli->args[i], err)
				 : want_image(pull, cli->args[i], err);

		if (rc < 0)
			return -1;
	}
	return 0;
}

int images_pull(struct cli *cli, struct error *err)
{
	owned(pull_clear) struct pull pull = {
		.cli = cli,
		.images = cJSON_CreateArray(),
	};
	const struct image_options *given = cli->given;
	int lacking = 0;

	if (image_view_init(&pull.view, cli, given->nodes, err) < 0 ||
	    image_view_connect(&pull.view, err) < 0 ||
	    client_rows(pull.view.client, QUERY_NODES, 0, NULL, &pull.nodes,
			err) < 0 ||
	    check_named(&pull, err) < 0 || find_wanted(&pull, err) < 0 ||
	    collect_logins(&pull, err) < 0)
		return -1;
	for (size_t i = 0; i < pull.count; i++) {
		int rc = pull_wanted(&pull, &pull.wanted[i], err);

		if (rc < 0)
			return -1;
		lacking += rc;
	}
	if (cli_format(cli, "json") &&
	    cli_print_list(cli, "images", take(pull.images), err) < 0)
		return -1;
	return lacking ? EXIT_WORK_FAILED : EXIT_GOOD;
}
