/* image.c - image: the command, with image load and image save.
 */
#include "controller/cli/command.h"

#include "controller/cli/commands/images.h"
#include "controller/cli/imagefile.h"
#include "controller/view/render.h"
#include "protocol/base/file.h"
#include "protocol/base/program.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#define ARGS_MAX 63 /* images to pull */

/* load */

static void bundle_name(const struct image_bundle *bundle, char *name,
			size_t size)
{
	const struct image_bundle_image *image = &bundle->images[0];

	snprintf(name, size, "%s%s%s", image->tags.count ? "" : "sha256:",
		 image->tags.count ? image->tags.items[0] : image->config,
		 bundle->images_count > 1 ? " and others" : "");
}

/* Say what an interrupted command means; other errors stay. */
static int explain_interrupt(struct error *err, const char *text)
{
	return err->code == EINTR ? error_set(err, EINTR, "%s", text) : -1;
}

static int image_load_file(struct cli *cli, struct error *err)
{
	static const char not_sent[] =
		"interrupted before everything was sent; the same command "
		"continues";
	owned(image_file_free) struct image_file *file = NULL;
	owned(answer_clear) struct answer answer = { 0 };
	owned(image_view_clear) struct image_view view = { 0 };
	const struct image_options *given = cli->given;
	char id[BLOB_HASH_SIZE], name[300];
	struct image_spec spec = { .id = id,
				   .kind = IMAGE_LOAD,
				   .image = name,
				   .replace = given->replace };
	const struct image_operation_info *image;
	size_t lacking;

	if (image_view_init(&view, cli, given->nodes, err) < 0)
		return -1;
	image_view_stage(&view, "reading");
	file = image_file_open(cli->args[1], image_view_draw, &view, err);
	if (!file)
		return -1;
	bundle_name(image_file_bundle(file), name, sizeof(name));
	/* The nodes receive blobs while others are still being sent. */
	image_view_stage(&view, "sending");
	if (image_view_connect(&view, err) < 0 ||
	    image_file_send_bundle(file, view.client, id, err) < 0 ||
	    image_view_send(&view, &spec, err) < 0)
		return explain_interrupt(err, not_sent);
	if (image_file_send(file, view.client, image_view_draw, &view, err) < 0)
		return explain_interrupt(err, not_sent);
	/* After a lost connection, the controller may have ended the operation.
	 */
	if (view.lost && image_view_send(&view, &spec, err) < 0)
		return -1;
	image_view_stage(&view, "waiting for nodes");
	if (image_view_watch(&view, &spec, &answer, err) < 0)
		return -1;
	image = image_answer(&answer);
	lacking = image_view_tell(&view, image, false);
	image_view_say(&view, "%s: on %zu of %zu nodes", name,
		       image->nodes_count - lacking, image->nodes_count);
	return image_view_end(&view, image,
			      lacking ? EXIT_WORK_FAILED : EXIT_GOOD, err);
}

/* save */

static bool ends_with(const char *text, const char *end)
{
	size_t size = strlen(text), length = strlen(end);

	return size > length && !strcmp(text + size - length, end);
}

static int saved_fail(struct archive *out, struct error *err)
{
	return error_set(err, EIO, "%s",
			 out && archive_error_string(out)
				 ? archive_error_string(out)
				 : strerror(errno));
}

/* blob_transfer_write_fn */
static int saved_write(void *to, const void *data, size_t size,
		       struct error *err)
{
	return archive_write_data(to, data, size) == (la_ssize_t)size
		       ? 0
		       : saved_fail(to, err);
}

/* Write to this file, compressed as the ending of the name says. */
static int saved_open(struct archive *out, int fd, const char *name,
		      struct error *err)
{
	struct archive_entry *entry = archive_entry_new();
	int rc = out && entry ? archive_write_set_format_raw(out)
			      : ARCHIVE_FATAL;

	if (rc == ARCHIVE_OK && ends_with(name, ".zst"))
		rc = archive_write_add_filter_zstd(out);
	else if (rc == ARCHIVE_OK && ends_with(name, ".gz"))
		rc = archive_write_add_filter_gzip(out);
	if (rc == ARCHIVE_OK)
		rc = archive_write_open_fd(out, fd);
	archive_entry_set_filetype(entry, AE_IFREG);
	archive_entry_set_pathname(entry, "image");
	if (rc == ARCHIVE_OK)
		rc = archive_write_header(out, entry);
	archive_entry_free(entry);
	return rc == ARCHIVE_OK ? 0 : saved_fail(out, err);
}

/* A save that cannot be loaded is none. */
static int saved_check(struct image_view *view, const char *path,
		       struct error *err)
{
	owned(image_file_free) struct image_file *file = NULL;

	image_view_stage(view, "checking");
	file = image_file_open(path, image_view_draw, view, err);
	if (file || err->code != EINVAL)
		return file ? 0 : -1;
	err->code = EIO;
	return error_prefix(err, "the node's engine sent no image");
}

static int fetch_saved(struct image_view *view, const char *hash,
		       const char *name, struct error *err)
{
	struct archive *out = archive_write_new();
	char path[PATH_MAX];
	owned_fd int fd = -1;
	int rc = file_path(path, err, "%s.part", name);

	if (rc == 0 &&
	    (fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) < 0)
		rc = error_errno(err, "%s", path);
	if (rc == 0)
		rc = saved_open(out, fd, name, err);
	if (rc == 0)
		rc = blob_transfer_get(view->client, 0, hash, saved_write, out,
				       image_view_draw, view, err);
	if (rc == 0 && archive_write_close(out) != ARCHIVE_OK)
		rc = saved_fail(out, err);
	archive_write_free(out);
	if (rc == 0)
		rc = saved_check(view, path, err);
	if (rc == 0 && rename(path, name) < 0)
		rc = error_errno(err, "%s", name);
	if (rc < 0 && fd >= 0)
		unlink(path);
	return rc < 0 && err->code == EIO ? error_prefix(err, "%s", name) : rc;
}

/* Check that the file can be written, before a node packs gigabytes. */
static int check_target(const char *name, bool replace, struct error *err)
{
	char folder[PATH_MAX];
	const char *slash = strrchr(name, '/');

	if (cli_check_output(name, replace, err) < 0 ||
	    file_path(folder, err, "%.*s", slash ? (int)(slash - name) + 1 : 1,
		      slash ? name : ".") < 0)
		return -1;
	return access(folder, W_OK | X_OK) < 0
		       ? error_set(err, EINVAL, "%s: %s", folder,
				   strerror(errno))
		       : 0;
}

static int image_save_file(struct cli *cli, struct error *err)
{
	static const char unsaved[] = "interrupted; nothing was saved";
	owned(answer_clear) struct answer answer = { 0 };
	owned(image_view_clear) struct image_view view = { 0 };
	const struct image_options *given = cli->given;
	struct image_spec spec = { .kind = IMAGE_SAVE, .image = cli->args[1] };
	const struct image_operation_info *image;

	if (check_target(cli->args[2], given->replace, err) < 0 ||
	    image_view_init(&view, cli, given->nodes, err) < 0 ||
	    image_view_connect(&view, err) < 0)
		return -1;
	image_view_stage(&view, "waiting for a node");
	if (image_view_run(&view, &spec, &answer, err) < 0)
		return explain_interrupt(err, unsaved);
	image = image_answer(&answer);
	if (!image->content) {
		for (size_t i = 0; i < image->nodes_count; i++)
			image_view_say(&view, "%s: %s", image->nodes[i].name,
				       image->nodes[i].text
					       ? image->nodes[i].text
					       : image->nodes[i]
							 .progress.phase);
		return error_set(err, EIO, "%s was not saved: no node has it",
				 cli->args[1]);
	}
	image_view_stage(&view, "getting");
	if (fetch_saved(&view, image->content, cli->args[2], err) < 0)
		return explain_interrupt(err, unsaved);
	image_view_say(&view, "%s: %s, to %s", cli->args[1],
		       human_bytes(image->bytes).text, cli->args[2]);
	return EXIT_GOOD;
}

/* clang-format off */
static const struct subcommand subcommands[] = {
	{ "list", NULL, 0, 0, NULL, "list the images of the nodes and their "
		  "use",
	  images_list },
	{ "pull", "SWEEP|IMAGE...", 1, ARGS_MAX,
	  "set keep-going tree registry-auth",
	  "pull an image, or the images of a sweep, on all nodes that could "
		  "run it",
	  images_pull },
	{ "build", "VENDOR/FRAMEWORK", 1, 1, "tag registry-auth",
	  "build images/vendors/VENDOR/FRAMEWORK",
	  images_build },
	{ "remove", "IMAGE", 1, 1, NULL, "remove an image that no job needs",
	  images_remove },
	{ "gc", NULL, 0, 0, "keep floor dry-run",
	  "remove unused images that Regatta brought",
	  images_gc },
	{ "load", "FILE", 1, 1, "replace",
	  "copy the images in a file to the nodes", image_load_file },
	{ "save", "IMAGE FILE", 2, 2, "replace", "write an image of a node to a file",
	  image_save_file },
	{ 0 },
};

static const struct option_rule rules[] = {
	{ OPTION(image_options, "nodes", 0, OPTION_TEXT, nodes, "NAME,..."),
	  .help = "only these nodes (all reachable nodes; to build, those "
		  "with the vendor's devices; for a sweep, those that could "
		  "run it)" },
	{ OPTION(image_options, "tag", 0, OPTION_TEXT, tag, "NAME"),
	  .help = "build: name of the image (its folder and a hash of its "
		  "files)" },
	OPTION_REGISTRY_AUTH("pull, build: registry credentials to send "
		  "encrypted (~/.docker/config.json)"),
	OPTIONS_SWEEP,
	OPTION_IMAGES,
	{ OPTION(image_options, "keep", 0, OPTION_NUMBER, keep_images, "N"),
	  .max = 1000000,
	  .help = "gc: keep the newest N images of each repository (1)" },
	{ OPTION(image_options, "floor", 0, OPTION_FLOOR, floor, "SIZE"),
	  .help = "gc: stop once this much of the engine's disk is free: 50GiB, "
		  "20%" },
	{ OPTION(image_options, "dry-run", 0, OPTION_FLAG, dry_run, NULL),
	  .help = "gc: show what would be removed, without removing it" },
	OPTION_REPLACE(image_options, "load: also move names from images that "
		  "Regatta did not bring; save: replace the file if it exists"),
	OPTION_FORMAT(formats_text, "text or json"),
	{ 0 },
};

const struct command command_image = {
	.name = "image",
	.min_args = 1,
	.connects = true,
	.rules = rules,
	.options_size = sizeof(struct image_options),
	.summary = "manage images of the nodes",
	.help =
		"FILE is an archive of docker save or an OCI layout, as .tar, "
		  ".tar.zst or .tar.gz. Its layers are sent once, and nodes "
		  "pass them on; layers that a node has are skipped. The same "
		  "command continues an interrupted load. The exit status is "
		  "1 if a node failed.",
	.example = "regatta image load torch.tar.zst --nodes n1,n2",
	.subcommands = subcommands,
};
/* clang-format on */
