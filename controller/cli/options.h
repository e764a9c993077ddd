/* options.h - parses the options of commands.
 *
 * A command lists its options in a table of rules (protocol/config/option.h).
 */
#ifndef CONTROLLER_CLI_OPTIONS_H
#define CONTROLLER_CLI_OPTIONS_H

#include "protocol/config/option.h"

#define OPTION_NONE UINT64_MAX /* a number that was not given */

/* The options that several commands share. Texts are borrowed from argv or from
 * the table; NULL: not given.
 */
struct options {
	bool help;
	bool version;
	const char *controller;
	const char *controller_key;
	const char *key;
	const char *format;
	const char *state;
	const char *images;
	const char *registry_auth;
	const char *tree;
	bool keep_going;
	struct option_list set;
};

/* The tables of a command, with --help and --version. */
struct option_tables options_all(const struct option_rule *rules,
				 const struct option_rule *more);

/* Was this option given? */
bool options_given(const struct option_rule *rule,
		   const struct options *options);

/* Parse argv[0..argc) as option_parse() does. *options (struct options, or a
 * struct that begins with it) must be zeroed; numbers that are not given become
 * OPTION_NONE. --help and --version end parsing.
 */
int options_parse(int argc, char **argv, const struct option_tables *tables,
		  struct options *options, char **args, size_t *count,
		  struct error *err);

#endif
