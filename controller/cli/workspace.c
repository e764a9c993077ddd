/* workspace.c - packs the workspaces of a sweep and sends them to the
 * controller.
 */
#include "controller/cli/workspace.h"

#include "controller/view/render.h"
#include "controller/cli/blob_transfer.h"
#include "protocol/base/file.h"
#include "protocol/base/list.h"
#include "protocol/blob/tarball.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#define IGNORE_FILE_MAX 65536

/* A folder that can be packed several times. */
struct tree {
	char folder[PATH_MAX];
	struct ignore *ignore;
	struct tarball *tarball;
	char hash[BLOB_HASH_SIZE];
	uint64_t bytes;
	bool sent; /* the controller lacked some of it */
};

static void tree_clear(struct tree *tree)
{
	tarball_free(tree->tarball);
	ignore_free(tree->ignore);
}
OWNED_VALUE(struct tree, tree_clear)

static int read_ignore_file(struct tree *tree, struct error *err)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(IGNORE_FILE_MAX);
	char path[PATH_MAX + sizeof(WORKSPACE_IGNORE_FILE)];

	snprintf(path, sizeof(path), "%s/" WORKSPACE_IGNORE_FILE, tree->folder);
	if (file_read(AT_FDCWD, path, &text, err) < 0)
		return err->code == ENOENT ? 0 : -1;
	return ignore_lines(tree->ignore, text.data, err) < 0
		       ? error_prefix(err, "%.100s", path)
		       : 0;
}

int workspace_folder(const struct sweep *sweep, size_t index, const char *file,
		     char folder[PATH_MAX], struct error *err)
{
	const char *path = sweep_workspace(sweep, index);
	const char *slash = *path == '/' ? NULL : strrchr(file, '/');
	int before = slash ? (int)(slash - file) + 1 : 0;

	return file_path(folder, err, "%.*s%s", before, file, path) < 0
		       ? error_prefix(err, "workspace")
		       : 0;
}

static int tree_init(struct tree *tree, const struct sweep *sweep, size_t index,
		     const char *file, struct error *err)
{
	struct error why = { 0 };

	if (workspace_folder(sweep, index, file, tree->folder, err) < 0)
		return -1;
	tree->ignore = ignore_new(err);
	if (!tree->ignore ||
	    ignore_add(tree->ignore, WORKSPACE_IGNORE, err) < 0)
		return -1;
	if (read_ignore_file(tree, &why) < 0)
		return error_set(err, EINVAL, "%s", why.text);
	return sweep_workspace_ignore(sweep, index, tree->ignore, err);
}

static int tree_begin(void *arg, struct error *err)
{
	struct tree *tree = arg;

	tarball_free(tree->tarball);
	tree->tarball = tarball_new(tree->folder, tree->ignore, err);
	return tree->tarball ? 0 : -1;
}

static ssize_t tree_read(void *arg, void *buffer, size_t size,
			 struct error *err)
{
	struct tree *tree = arg;

	return tarball_read(tree->tarball, buffer, size, err);
}

static int tree_hash(struct tree *tree, struct error *err)
{
	char piece[65536];
	ssize_t got;

	if (tree_begin(tree, err) < 0)
		return -1;
	do {
		got = tarball_read(tree->tarball, piece, sizeof(piece), err);
	} while (got > 0);
	if (got < 0)
		return -1;
	memcpy(tree->hash, tarball_hash(tree->tarball), sizeof(tree->hash));
	tree->bytes = tarball_size(tree->tarball);
	return 0;
}

static int tree_open(struct tree *tree, struct sweep *sweep, size_t index,
		     const char *file, struct error *err)
{
	if (tree_init(tree, sweep, index, file, err) < 0)
		return -1;
	if (tree_hash(tree, err) < 0)
		return error_prefix(err, "workspace %.80s", tree->folder);
	return sweep_bind(sweep, sweep_workspace(sweep, index), tree->hash,
			  err);
}

static int submit_workspace_add(struct submit_workspace **list, size_t *count,
				const char *path, const char *hash,
				struct error *err)
{
	struct submit_workspace *item = LIST_ADD(*list, *count, err);

	return !item || string_set(&item->path, path, err) < 0
		       ? -1
		       : string_set(&item->content, hash, err);
}

int workspaces_bind(struct sweep *sweep, const char *file, struct cli *cli,
		    struct message_plan *plan, struct error *err)
{
	for (size_t i = 0; i < sweep_workspaces(sweep); i++) {
		owned(tree_clear) struct tree tree = { 0 };
		char folder[PATH_MAX];

		if (workspace_folder(sweep, i, file, folder, err) < 0)
			return -1;
		if (access(folder, F_OK) < 0 && errno == ENOENT)
			cli_say(cli,
				"no workspace %s; the plan ignores it, but "
				"submit needs it",
				folder);
		else if (tree_open(&tree, sweep, i, file, err) < 0 ||
			 submit_workspace_add(&plan->workspaces,
					      &plan->workspaces_count,
					      sweep_workspace(sweep, i),
					      tree.hash, err) < 0)
			return -1;
	}
	return 0;
}

/* blob_transfer_progress_fn: runs only when there is something to send. */
static void tree_sent(void *arg, uint64_t bytes, uint64_t total)
{
	struct tree *tree = arg;

	tree->sent = true;
}

static int tree_send(struct tree *tree, struct cli *cli, struct client *client,
		     struct error *err)
{
	struct blob_transfer transfer = {
		.hash = tree->hash,
		.bytes = tree->bytes,
		.begin = tree_begin,
		.read = tree_read,
		.progress = tree_sent,
		.arg = tree,
	};

	if (blob_transfer_put(client, &transfer, err) < 0)
		return error_prefix(err, "workspace %.80s", tree->folder);
	cli_say(cli, "workspace %s: %s, %.12s, %s", tree->folder,
		human_bytes(tree->bytes).text, tree->hash,
		tree->sent ? "sent" : "already exists");
	return 0;
}

int workspaces_send(struct sweep *sweep, const char *file, struct cli *cli,
		    struct client *client, struct message_submit *submit,
		    struct error *err)
{
	for (size_t i = 0; i < sweep_workspaces(sweep); i++) {
		owned(tree_clear) struct tree tree = { 0 };

		if (tree_open(&tree, sweep, i, file, err) < 0 ||
		    tree_send(&tree, cli, client, err) < 0 ||
		    submit_workspace_add(&submit->workspaces,
					 &submit->workspaces_count,
					 sweep_workspace(sweep, i), tree.hash,
					 err) < 0)
			return -1;
	}
	return 0;
}
