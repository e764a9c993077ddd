/* token.h - making a token: what `node token` and `user add` share.
 */
#ifndef CONTROLLER_CLI_COMMANDS_TOKEN_H
#define CONTROLLER_CLI_COMMANDS_TOKEN_H

#include "controller/cli/command.h"

struct token_options {
	const char *expires;
	const char *address;
	const char *from; /* network; NULL: any */
	uint64_t uses;    /* 0, OPTION_NONE: 1 */
};

/* The rules of a command whose struct has such options as `token`. */
/* clang-format off */
#define OPTIONS_TOKEN(in) \
	{ OPTION(in, "expires", 0, OPTION_TEXT, token.expires, "TIME"), \
	  .help = "how long the token is valid: 30m, 8h, 2d (1h)" }, \
	{ OPTION(in, "address", 0, OPTION_TEXT, token.address, "ENDPOINT"), \
	  .help = "address at which the controller is reached when joining (the " \
		  "one used here)" }
/* clang-format on */

/* Make a token of this role, for `name` (NULL: anybody), by *options, and print
 * it; `words` is the command that it is for. Returns an exit code.
 */
int token_print(struct cli *cli, const struct token_options *options,
		const char *role, const char *name, bool renew,
		const char *words, struct error *err);

/* A time as a person writes it: 90s, 15m, 2h, 1d. */
int token_seconds(const char *text, uint32_t *seconds, struct error *err);

#endif
