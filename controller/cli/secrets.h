/* secrets.h - the secrets of a sweep: read where the sweep is submitted, sealed
 * for the controller, and sent along with its logins.
 */
#ifndef CONTROLLER_CLI_SECRETS_H
#define CONTROLLER_CLI_SECRETS_H

#include "controller/cli/cli.h"
#include "controller/sweep/sweep.h"

#define SECRET_BYTES_MAX 8192 /* of one value */

/* Add the secrets of the sweep to the list, for logins_free(), which has *count
 * logins. The line end behind a value of a file or of standard input is left
 * off. The user is warned of variables in `env` that look like secrets. sweep
 * NULL: nothing is known of it, and nothing is added. ENOENT, EINVAL: a value
 * is missing, empty, too long or holds a NUL.
 */
int secrets_collect(struct cli *cli, struct client *client, struct sweep *sweep,
		    struct registry_login **logins, size_t *count,
		    struct error *err);

/* The same for a sweep that the controller has. A value that cannot be read any
 * more is left out: the controller may still have it.
 */
int secrets_collect_again(struct cli *cli, struct client *client, uint64_t id,
			  struct registry_login **logins, size_t *count,
			  struct error *err);

#endif
