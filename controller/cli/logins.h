/* logins.h - collects and seals the user's registry logins for a sweep.
 *
 * The credentials come from the user's Docker settings (--registry-auth: a
 * config.json with its credential helpers), for the registries of the sweep's
 * images. If the sweep builds images, all registries of the settings are
 * included, because only the engine knows the registries of base images. The
 * logins are sealed for the controller (protocol/registry/login.h).
 */
#pragma once

#include "controller/cli/cli.h"
#include "controller/sweep/sweep.h"

/* Sealed logins and secrets, to send with a request. */
struct logins {
	struct registry_login *items;
	size_t count;
};
void logins_clear(struct logins *logins);
OWNED_VALUE(struct logins, logins_clear)

/* Collect the logins of a sweep; none without
 * --registry-auth. Prints the registries without a login. EINVAL: sweep is
 * NULL, because it could not be checked here. ENOENT: no login for any of its
 * registries.
 */
int logins_collect(struct cli *cli, struct client *client, struct sweep *sweep,
		   struct logins *logins, struct error *err);

/* The same for a sweep that the controller has. */
int logins_collect_again(struct cli *cli, struct client *client, uint64_t sweep,
			 struct logins *logins, struct error *err);

/* The same for images by name; with `builds` for images that are built, too. */
int logins_collect_images(struct cli *cli, struct client *client,
			  const struct strings *images, bool builds,
			  struct logins *logins, struct error *err);

/* The file of --registry-auth, or its default. EINVAL: HOME is not set. */
int logins_file(const struct cli *cli, char path[PATH_MAX], struct error *err);
