/* options.h - the words of a command line to checked values, by tables.
 *
 * A command lists its options in a table of rules (protocol/config/option.h),
 * from which they are read and from which its help is printed.
 */
#ifndef CONTROLLER_CLI_OPTIONS_H
#define CONTROLLER_CLI_OPTIONS_H

#include "protocol/config/option.h"

#define OPTION_NONE UINT64_MAX /* a number that was not given */

/* The values of the options that several commands have. Texts are borrowed from
 * argv or from the table; NULL: not given.
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

/* Whether the command line gave it. */
bool options_given(const struct option_rule *rule,
		   const struct options *options);

/* Read argv[0..argc) by the tables. The values go to *options, which the rules
 * know (struct options, or one that begins with it) and the caller has zeroed;
 * numbers that are not given become OPTION_NONE. All other words, in order, go
 * to args[], which has room for argc; *count is their number. EINVAL says what
 * is wrong and what is expected. --help and --version end the reading.
 */
int options_parse(int argc, char **argv, const struct option_tables *tables,
		  struct options *options, char **args, size_t *count,
		  struct error *err);

#endif
