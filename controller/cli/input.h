/* input.h - reads, checks and submits the sweep file of a command.
 */
#pragma once

#include "controller/cli/logins.h"
#include "controller/sweep/sweep.h"
#include "protocol/message/reply_sweeps.h"

#define INPUT_MAX 1048576 /* bytes of a sweep file */

struct input {
	struct buffer text;
	const char *name; /* for errors; borrowed */
	struct catalog *catalog;
	struct sweep *sweep; /* NULL: no catalog, so it is not checked */
	const struct sweep_site *site; /* borrowed; NULL: not known */
	struct logins logins;          /* to send with it */
	bool take_over; /* input_submit(): reuse completed jobs of earlier
			   sweeps of this name */
};

/* Read the file ("-": standard input), apply options.set ("batch.micro=2"; each
 * becomes a further YAML document of the text), and check the sweep. If its
 * FlagPerf tree (or options.tree, a copy) is on this machine, also check the
 * files that the cases need. With options.keep_going invalid cases are left
 * out. Without a catalog on this machine: ENOENT, or with optional_catalog the
 * sweep is not checked. Every error counts as a usage error.
 */
int input_init(struct input *input, struct cli *cli, const char *name,
	       bool optional_catalog, struct error *err);
/* The same where nodes and their vendors are known, which must outlive it. */
int input_init_at(struct input *input, struct cli *cli, const char *name,
		  bool optional_catalog, const struct sweep_site *site,
		  struct error *err);
void input_clear(struct input *input);
OWNED_VALUE(struct input, input_clear)

/* EINVAL: a checked sweep has no jobs. Prints the dropped cells. */
int input_check_jobs(const struct input *input, struct cli *cli,
		     struct error *err);

/* Add the frameworks, models and vendors that the sweep uses to its text, if
 * the controller does not have the same ones. They come from the catalog that
 * checked the sweep, and are named on stderr. Without a catalog nothing is
 * added.
 */
int input_add_descriptions(struct input *input, struct cli *cli,
			   struct client *client, struct error *err);

/* Submit the sweep. The answer is a struct reply_submit; submitting again with
 * the same token gives the same answer. Prints at most 20 cells that were
 * dropped or that no node can run.
 */
int input_submit(const struct input *input, struct cli *cli,
		 struct client *client, const char *token,
		 struct answer *answer, struct error *err);

/* 32 random hex digits. */
void token_make(char token[33]);
