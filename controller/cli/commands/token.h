/* token.h - makes a token, for `node token` and `user add`.
 */
#pragma once

#include "controller/cli/command.h"

struct token_options {
	const char *expires;
	const char *address;
	const char *from; /* network; NULL: any */
	uint64_t uses;    /* 0, OPTION_NONE: 1 */
};

/* Option rules for a struct with a member `token` of this type. */
/* clang-format off */
#define OPTIONS_TOKEN(in) \
	{ OPTION(in, "expires", 0, OPTION_TEXT, token.expires, "TIME"), \
	  .help = "how long the token is valid: 30m, 8h, 2d (1h)" }, \
	{ OPTION(in, "address", 0, OPTION_TEXT, token.address, "ENDPOINT"), \
	  .help = "address at which the controller is reached when joining (the " \
		  "one used here)" }
/* clang-format on */

/* Make a token for this role and `name` (NULL: any name), and print it with the
 * command `words` that uses it. Returns an exit code.
 */
int token_print(struct cli *cli, const struct token_options *options,
		const char *role, const char *name, bool renew,
		const char *words, struct error *err);

/* Parse a duration: 90s, 15m, 2h, 1d. */
int token_seconds(const char *text, uint32_t *seconds, struct error *err);
