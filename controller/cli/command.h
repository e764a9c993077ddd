/* command.h - describes commands, and lists all of them.
 *
 * A command is one file in commands/ with its options, help and code, described
 * by a `const struct command`. The dispatcher, the help, the shell completion
 * and the tests of the manual pages read this struct.
 *
 * A command with options of its own has a struct for them, which begins with
 * the shared ones:
 *
 *	struct audit_options {
 *		struct options common;
 *		uint64_t tail;
 *	};
 */
#pragma once

#include "controller/cli/cli.h"

#define COMMAND_ARGS_MAX 4096 /* words on a command line */
#define SUBCOMMANDS_MAX 16

/* Returns an exit code, or -1 with an error. */
typedef int command_fn(struct cli *cli, struct error *err);

/* A part of a command, chosen by its first word: `node drain`. */
struct subcommand {
	const char *word; /* NULL ends the list */
	const char *args; /* its arguments in the usage; or NULL */
	size_t min_args;
	size_t max_args;
	const char *options; /* options that only some subcommands have: "uses
				name"; or NULL */
	const char *summary;
	command_fn *fn;
};

struct command {
	const char *name;
	const char *args; /* arguments in the usage; NULL: none */
	size_t min_args;
	size_t max_args;
	bool connects;                   /* also has the connection's options */
	const struct option_rule *rules; /* NULL: no options of its own */
	size_t options_size; /* of the struct that the rules fill; 0: struct
				options */
	const char *summary;
	const char *help; /* or NULL */
	const char *example;
	command_fn *fn;
	const struct subcommand *subcommands; /* instead of args and fn; at most
						 SUBCOMMANDS_MAX. If min_args is
						 0, no word means the first */
};

/* NULL past the end. */
const struct command *command_at(size_t index);

/* NULL: no such command. */
const struct command *command_find(const char *name);

/* All options of a command: its own, those of the connection (NULL: none),
 * --help and --version.
 */
#define COMMAND_CONNECTION 1
struct option_tables command_options(const struct command *command);

/* All commands, in the order of the help. */
/* clang-format off */
#define COMMANDS(X) \
	X(init) X(run) X(slurm) X(k8s) X(plan) X(submit) X(sweeps) X(watch) X(web) X(jobs) \
	X(nodes) X(show) X(logs) X(image) X(files) X(fetch) X(cancel) \
	X(retry) X(report) X(bundle) X(compare) X(trend) X(extract) X(diagnose) \
	X(stacks) X(sample) X(verify) X(validate) X(mfu) X(vendors) X(check) X(policy) \
	X(completion) X(export) X(import) X(key) X(node) X(user) X(join) \
	X(backup) X(gc) X(remove) X(audit)
/* clang-format on */

#define COMMAND_DECLARE(name) extern const struct command command_##name;
COMMANDS(COMMAND_DECLARE)

/* Macros for the option tables of commands. */

/* clang-format off */
#define OPTION(in, n, l, k, m, v) \
	.name = n, .letter = l, .kind = k, \
	.offset = offsetof(struct in, m), .value = v

#define OPTION_FORMAT(list, which) \
	{ OPTION(options, "format", 0, OPTION_WORD, format, "WORD"), \
	  .words = list, .help = which }

#define OPTION_IMAGES \
	{ OPTION(options, "images", 0, OPTION_TEXT, images, "DIR"), \
	  .help = "folder of models, frameworks and vendors (REGATTA_IMAGES)" }

#define OPTION_REPLACE(in, which) /* cli_check_output() */ \
	{ OPTION(in, "replace", 0, OPTION_FLAG, replace, NULL), .help = which }

#define OPTION_REGISTRY_AUTH(which) \
	{ OPTION(options, "registry-auth", 0, OPTION_TEXT, registry_auth, \
		 "FILE"), \
	  .bare = REGISTRY_AUTH_DOCKER, .help = which }

/* For commands that read a sweep file. */
#define OPTIONS_SWEEP \
	{ OPTION(options, "set", 's', OPTION_LIST, set, "KEY=VALUE"), \
	  .help = "set a key of the sweep file: image=a:1 (repeatable)" }, \
	{ OPTION(options, "keep-going", 0, OPTION_FLAG, keep_going, NULL), \
	  .help = "skip the invalid cases of flagperf:, and run the others" }, \
	{ OPTION(options, "tree", 0, OPTION_TEXT, tree, "DIR"), \
	  .help = "FlagPerf checkout in which to check the cases' files" }
/* clang-format on */

/* Values of --format; the first is the default. */
extern const char *const formats_text[];   /* text, json */
extern const char *const formats_page[];   /* text, json, html */
extern const char *const formats_json[];   /* json */
extern const char *const formats_report[]; /* markdown, csv, json, html */
