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
#ifndef CONTROLLER_CLI_COMMAND_H
#define CONTROLLER_CLI_COMMAND_H

#include "controller/cli/cli.h"

#define COMMAND_ARGS_MAX 4096 /* words on a command line */
#define COMMANDS_MAX 64

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
	const char *args; /* arguments in the usage */
	size_t min_args;
	size_t max_args;
	bool connects; /* also has the connection's options */
	const struct option_rule *rules;
	size_t options_size; /* of the struct that the rules fill; 0: struct
				options */
	const char *summary;
	const char *help; /* or NULL */
	const char *example;
	command_fn *fn;
	const struct subcommand
		*subcommands; /* instead of args and fn; at most 16. If min_args
				 is 0, no word means the first */
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

/* In the order of the help. */
extern const struct command command_run;
extern const struct command command_plan;
extern const struct command command_submit;
extern const struct command command_sweeps;
extern const struct command command_watch;
extern const struct command command_web;
extern const struct command command_jobs;
extern const struct command command_nodes;
extern const struct command command_show;
extern const struct command command_logs;
extern const struct command command_image;
extern const struct command command_files;
extern const struct command command_fetch;
extern const struct command command_cancel;
extern const struct command command_retry;
extern const struct command command_report;
extern const struct command command_compare;
extern const struct command command_trend;
extern const struct command command_slurm;
extern const struct command command_extract;
extern const struct command command_diagnose;
extern const struct command command_stacks;
extern const struct command command_sample;
extern const struct command command_verify;
extern const struct command command_mfu;
extern const struct command command_vendors;
extern const struct command command_check;
extern const struct command command_policy;
extern const struct command command_completion;
extern const struct command command_export;
extern const struct command command_import;
extern const struct command command_key;
extern const struct command command_node;
extern const struct command command_user;
extern const struct command command_join;
extern const struct command command_backup;
extern const struct command command_gc;
extern const struct command command_audit;

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

#endif
