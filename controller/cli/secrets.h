/* secrets.h - reads the secrets of a sweep and seals them for the controller.
 */
#pragma once

#include "controller/cli/logins.h"

#define SECRET_BYTES_MAX 8192 /* of one value */

/* Append the secrets of the sweep to the logins.
 * A newline at the end of a file or of standard input is removed. Warns of
 * variables in `env` that look like secrets. sweep NULL: nothing is added.
 * ENOENT, EINVAL: a value is missing, empty, too long or contains NUL.
 */
int secrets_collect(struct cli *cli, struct client *client, struct sweep *sweep,
		    struct logins *logins, struct error *err);

/* The same for a sweep that the controller has. Values that cannot be read now
 * are skipped, because the controller may still have them.
 */
int secrets_collect_again(struct cli *cli, struct client *client, uint64_t id,
			  struct logins *logins, struct error *err);
