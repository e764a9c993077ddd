/* install_folder.h - the folder that the container of an installation gets: a
 * copy of the build context.
 *
 * Whoever may write in a user's folder may replace it while its image is being
 * built. So the context is read once more, with the rights of its owner
 * (build_context.h), and must have the hash it had; the copy below
 * <state>/install/ is what the engine mounts.
 */
#pragma once

#include "protocol/base/error.h"
#include "protocol/base/owned.h"

#include <systemd/sd-event.h>

/* Borrowed until install_folder_free(). */
struct install_folder_plan {
	sd_event *loop;
	const char *state;  /* the agent's folder */
	const char *folder; /* of the build context */
	const char *hash;   /* of the build context */
};

struct install_folder;

/* Called once, from the loop. err NULL: the copy is there. */
typedef void install_folder_fn(void *arg, const struct error *err);

struct install_folder *
install_folder_new(const struct install_folder_plan *plan,
		   install_folder_fn *done, void *arg, struct error *err);
/* Removes the copy. */
void install_folder_free(struct install_folder *copy);
OWNED_POINTER(struct install_folder, install_folder_free)

const char *install_folder_path(const struct install_folder *copy);

/* Remove what an earlier instance of the agent left. */
void install_folder_forget(const char *state);
