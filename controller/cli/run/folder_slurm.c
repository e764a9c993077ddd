/* folder_slurm.c - lets Slurm allocations share the folder of a run.
 */
#include "controller/cli/run/folder_internal.h"
#include "protocol/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define JOIN_TRIES 300 /* while the leader fills the folder */
#define JOIN_PAUSE_MS 100

int folder_agent_key(const struct folder *folder, const char *node,
		     struct key *key, struct error *err)
{
	char file[KEY_NAME_SIZE + 16];

	if (!name_valid(node) || !strcmp(node, "controller") ||
	    !strcmp(node, "operator") || !strcmp(node, "agent"))
		return error_set(err, EINVAL,
				 "node '%.60s' is not valid here; "
				 "expected a name that a key can have",
				 node);
	snprintf(file, sizeof(file), "keys/%s.key", node);
	return folder_have_key(folder, file, node, ROLE_AGENT, key, err);
}

int folder_add_agents(const struct folder *folder, const struct strings *nodes,
		      struct error *err)
{
	owned_free struct key *agents = calloc(nodes->count, sizeof(*agents));

	if (!agents)
		return error_nomem(err, "keys");
	for (size_t i = 0; i < nodes->count; i++)
		if (folder_agent_key(folder, nodes->items[i], &agents[i], err) <
		    0)
			return -1;
	return folder_authorize(folder, agents, nodes->count, err);
}

static int write_sweep(const struct folder *folder, const struct buffer *text,
		       struct error *err)
{
	char path[PATH_MAX];

	folder_file(folder, "sweep.yaml", path);
	if (access(path, F_OK) == 0)
		return 0;
	return file_write(AT_FDCWD, path, text->data, text->size, 0644, 1, err);
}

int folder_lead(struct folder *folder, struct cli *cli, struct error *err)
{
	int rc = folder_try_lock(folder, err);

	if (rc <= 0)
		return rc;
	return folder_fill(folder, cli, err) < 0 ? -1 : 1;
}

/* Wait until the leader has filled the folder: it writes the sweep last. */
static int await_filled(struct folder *folder, const char *name,
			struct error *err)
{
	const struct timespec pause = { .tv_nsec = JOIN_PAUSE_MS * 1000000L };
	int rc = -1;

	for (int n = 0; rc < 0 && n < JOIN_TRIES; n++) {
		folder_clear(folder);
		rc = folder_find(folder, name, err);
		if (rc < 0)
			nanosleep(&pause, NULL);
	}
	return rc;
}

int folder_join(struct folder *folder, struct cli *cli, const char *name,
		const struct buffer *text, struct error *err)
{
	int rc;

	*folder = (struct folder){ 0 };
	if (file_make_folders(name, 0700, err) < 0 ||
	    folder_set_path(folder, name, err) < 0)
		return -1;
	rc = folder_lead(folder, cli, err);
	if (rc == 0)
		return await_filled(folder, name, err);
	if (rc < 0)
		return -1;
	return write_sweep(folder, text, err) < 0 ? -1 : 1;
}

int folder_outcome(const struct folder *folder)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(20);
	char path[PATH_MAX];

	if (file_read(AT_FDCWD, folder_file(folder, "outcome", path), &text,
		      NULL) < 0 ||
	    !text.size)
		return -1;
	return (int)strtol(text.data, NULL, 10);
}

int folder_set_outcome(const struct folder *folder, int code, struct error *err)
{
	char path[PATH_MAX], text[20];
	int size = snprintf(text, sizeof(text), "%d\n", code);

	return file_write(AT_FDCWD, folder_file(folder, "outcome", path), text,
			  (size_t)size, 0644, 0, err);
}

int folder_begin_again(const char *folder, struct error *err)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/outcome", folder);
	if (unlink(path) < 0 && errno != ENOENT)
		return error_errno(err, "%s", path);
	snprintf(path, sizeof(path), "%s/again", folder);
	return file_write(AT_FDCWD, path, "", 0, 0644, 0, err);
}

bool folder_take_again(const struct folder *folder)
{
	char path[PATH_MAX];

	return unlink(folder_file(folder, "again", path)) == 0;
}
