/* options.h - the words of a command line to checked values, by tables.
 *
 * A command lists its options in a table of rules (protocol/option.h), from
 * which they are read and from which its help is printed.
 */
#ifndef CONTROLLER_CLI_OPTIONS_H
#define CONTROLLER_CLI_OPTIONS_H

#include "protocol/floor.h"
#include "protocol/option.h"

#define OPTION_NONE UINT64_MAX /* a number that was not given */

/* The values of all commands' options. Texts are borrowed from argv or from
 * the table; NULL: not given.
 */
struct options {
	bool help;
	bool version;
	bool wait;
	bool follow;
	bool timestamps;
	bool keep;
	bool list;
	bool all;
	bool force;
	bool take_over; /* submit --resume */
	bool keep_going;
	const char *tree;
	const char *controller;
	const char *controller_key;
	const char *key;
	const char *format;
	const char *style;
	const char *language;
	const char *state;
	const char *resume;
	const char *engine;
	const char *engine_tls;
	const char *images;
	const char *registry_auth;
	const char *device_root;
	const char *sysfs_root;
	const char *proc_root;
	const char *name;
	const char *role;
	const char *stream;
	const char *output;
	const char *nodes;
	const char *framework;
	const char *from;
	const char *context;
	const char *model;
	const char *chip;
	const char *precision;
	const char *tokens_per_second;
	const char *stage;
	const char *formula;
	const char *parameters;
	const char *result;
	const char *log;
	const char *tag;
	struct floor floor;
	bool dry_run;
	bool recompute;
	bool watch;
	const char *expires;
	const char *older;
	const char *keep_bytes;
	const char *reason;
	const char *until;
	const char *public;
	const char *address;
	uint64_t sequence;
	uint64_t sweep;
	uint64_t rank;
	uint64_t tail;
	uint64_t attempt;
	uint64_t devices;
	uint64_t from_step;
	uint64_t uses;
	uint64_t keep_images;
	struct option_list set;
};

/* Everything "not given". */
void options_init(struct options *options);

/* The tables of a command, with --help and --version. */
struct option_tables options_all(const struct option_rule *rules,
				 const struct option_rule *more);

/* Read argv[0..argc). The options go to *options, by the rules of up to two
 * tables (more may be NULL), and all other words, in order, to args[], which
 * has room for argc; *count is their number. EINVAL says what was found and
 * what is allowed. --help and --version are always known, and end the reading.
 */
int options_parse(int argc, char **argv, const struct option_rule *rules,
		  const struct option_rule *more, struct options *options,
		  char **args, size_t *count, struct error *err);

#endif
