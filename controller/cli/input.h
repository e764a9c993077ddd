/* input.h - a sweep file as a command names it: its text, checked here.
 */
#ifndef CONTROLLER_CLI_INPUT_H
#define CONTROLLER_CLI_INPUT_H

#include "controller/cli/cli.h"
#include "controller/sweep/sweep.h"
#include "protocol/message/reply_sweeps.h"

#define INPUT_MAX 1048576 /* bytes of a sweep file */

struct input {
	struct buffer text;
	const char *name; /* borrowed: in errors */
	struct catalog *catalog;
	struct sweep *sweep; /* NULL: there is no catalog to check it by */
	struct registry_login *logins; /* to send along: logins_collect() */
	size_t logins_count;
	bool take_over; /* input_submit(): the jobs that completed in earlier
			   sweeps of this name */
};

/* Read the file ("-": standard input), lay over it what options.set says
 * ("batch.micro=2", each a further document of the text), and check it; so,
 * where a FlagPerf tree (or options.tree, one like it) is on this machine, that
 * it has what the cases need. With options.keep_going, cases that are wrong are
 * left out. Without a catalog on this machine: ENOENT, or unchecked when
 * optional_catalog. Every error is one of the request.
 */
int input_init(struct input *input, struct cli *cli, const char *name,
	       bool optional_catalog, struct error *err);
void input_clear(struct input *input);
OWNED_VALUE(struct input, input_clear)

/* EINVAL when a checked sweep has no jobs; its cells are told in words. */
int input_check_jobs(const struct input *input, struct cli *cli,
		     struct error *err);

/* Hand the sweep to the controller, which answers with a struct reply_submit:
 * the same token again is answered again. Dropped cells, and those that no node
 * could run, are told in words, at most 20 of them.
 */
int input_submit(const struct input *input, struct cli *cli,
		 struct client *client, const char *token,
		 struct answer *answer, struct error *err);

/* 32 random hex digits. */
void token_make(char token[33]);

#endif
