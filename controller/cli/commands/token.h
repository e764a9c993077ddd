/* token.h - making a token: what `node token` and `user add` share.
 */
#ifndef CONTROLLER_CLI_COMMANDS_TOKEN_H
#define CONTROLLER_CLI_COMMANDS_TOKEN_H

#include "controller/cli/cli.h"

/* Make a token of this role, for `name` (NULL: anybody), by the options, and
 * print it; `words` is the command that it is for. Returns an exit code.
 */
int token_print(struct cli *cli, const char *role, const char *name, bool renew,
		const char *words, struct error *err);

/* A time as a person writes it: 90s, 15m, 2h, 1d. */
int token_seconds(const char *text, uint32_t *seconds, struct error *err);

#endif
