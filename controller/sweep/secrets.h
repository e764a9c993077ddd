/* secrets.h - reads the block `secrets:` of a sweep.
 *
 *	secrets:
 *	  WANDB_API_KEY: {from: env}		# or env: OTHER_NAME
 *	  HF_TOKEN: {from: file, file: ~/.hf}
 *	  DB_PASSWORD: {from: stdin, as: file}
 *
 * A sweep file contains the names of secrets, never their values. The command
 * that submits the sweep reads the values (controller/cli/secrets.h) and sends
 * them sealed.
 */
#pragma once

#include "protocol/base/error.h"
#include "protocol/yaml/value.h"

#include <stdbool.h>
#include <stddef.h>

#define SECRETS_MAX 16 /* of one sweep */

enum secret_from { SECRET_ENV, SECRET_FILE, SECRET_STDIN };

struct secret_source {
	const char *name; /* of the container's variable or file */
	enum secret_from from;
	const char *place; /* the submitter's variable or file; NULL: stdin */
	bool as_file;      /* in the container, not a variable */
};

/* Texts belong to the document. */
struct secret_sources {
	struct secret_source items[SECRETS_MAX];
	size_t count;
};

/* Read the block; without it the result is empty. EINVAL: the block is not
 * valid.
 */
int secrets_read(const struct value *root, struct secret_sources *sources,
		 struct error *err);

/* Does the name of this variable look like that of a secret (API_KEY, X_TOKEN)?
 */
bool secret_looks_like(const char *name);
