/* logins.h - who the user is to registries, taken along with a sweep, sealed.
 *
 * From the user's Docker settings (--registry-auth: a config.json with its
 * credential helpers) come the credentials for the registries of the sweep's
 * images; for one that builds images those for all registries that the settings
 * name, as only the engine knows where the base images come from. They are
 * sealed for the controller (protocol/registry/login.h).
 */
#ifndef CONTROLLER_CLI_LOGINS_H
#define CONTROLLER_CLI_LOGINS_H

#include "controller/cli/cli.h"
#include "controller/sweep/sweep.h"

/* What --registry-auth means without a file. */
#define REGISTRY_AUTH_DOCKER "~/.docker/config.json"

/* The list, for logins_free(); empty without --registry-auth. What is missing
 * for a registry is told. sweep NULL: it could not be read here, EINVAL.
 * ENOENT: there are none for any of its registries.
 */
int logins_collect(struct cli *cli, struct client *client, struct sweep *sweep,
		   struct registry_login **logins, size_t *count,
		   struct error *err);

/* The same for a sweep that the controller has. */
int logins_collect_again(struct cli *cli, struct client *client, uint64_t sweep,
			 struct registry_login **logins, size_t *count,
			 struct error *err);

/* The same for images by their names and, where builds is set, for others that
 * are built.
 */
int logins_collect_images(struct cli *cli, struct client *client,
			  const struct strings *images, bool builds,
			  struct registry_login **logins, size_t *count,
			  struct error *err);

/* The file that --registry-auth, or nothing, means. EINVAL: no home. */
int logins_file(const struct cli *cli, char path[PATH_MAX], struct error *err);

#endif
