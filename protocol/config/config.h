/* config.h - a daemon's settings: command line, environment, file, defaults.
 *
 * One table of rules (protocol/config/option.h) describes the settings. The
 * value of each comes from the first of these sources that has one:
 *
 *	command line	--node-lost 60
 *	environment	REGATTA_CONTROLLER_NODE_LOST=60, if not empty
 *	file		node_lost: 60
 *	environment	a variable of another program (DOCKER_HOST),
 *			if the rule names one
 *
 * The file is a YAML map. A relative path in it is relative to the file's
 * folder. --config names the file; without it the program's default file is
 * read if it exists.
 */
#pragma once

#include "protocol/base/owned.h"
#include "protocol/config/option.h"

/* Every daemon has these; they are the first member of its settings. */
struct config_common {
	const char *config; /* the file, or NULL */
	uint64_t parent_fd; /* 0: none */
	bool verbose;
	bool version;
	bool help;
};

/* The rules of these common settings. They end the daemon's table. `settings`
 * is the tag of the daemon's struct.
 */
/* clang-format off */
#define CONFIG_COMMON_RULES(settings) \
	{ .name = "verbose", .kind = OPTION_FLAG, \
	  .offset = offsetof(struct settings, common.verbose), \
	  .help = "log more" }, \
	{ .name = "version", .kind = OPTION_LAST, \
	  .offset = offsetof(struct settings, common.version), \
	  .help = "show the version", .places = OPTION_LINE_ONLY }, \
	{ .name = "help", .kind = OPTION_LAST, \
	  .offset = offsetof(struct settings, common.help), \
	  .help = "show this", .places = OPTION_LINE_ONLY }, \
	{ 0 }
/* clang-format on */

struct config_program {
	const char *name;      /* "regatta-agent" */
	const char *variables; /* prefix of environment variables */
	const char *file;      /* the default file; it need not exist */
	const char *usage;     /* the words after the name */
	const char *about;     /* help text before the options */
	const char *closing;   /* help text after the options */
	const struct option_rule *rules;
	size_t size; /* of the daemon's struct of settings */
};

/* Owns the texts that the settings point to, except those from argv and the
 * environment.
 */
struct config;

/* Fill *settings, of program->size bytes. variables: as environ(7). If the
 * command line asks for help or version, nothing else is read. An error (EINVAL
 * or that of reading the file) names the option, the variable, or the file,
 * line and key. Free *config when the settings are no longer used.
 */
int config_read(const struct config_program *program, int argc, char **argv,
		char *const *variables, void *settings, struct config **config,
		struct error *err);

/* The same, but only from the defaults and this file, which must exist. */
int config_read_file(const struct config_program *program, const char *path,
		     void *settings, struct config **config, struct error *err);
void config_free(struct config *config);
OWNED_POINTER(struct config, config_free)

/* The names of the keys whose values differ, except `verbose`, joined by commas
 * and cut to fit. False: no key differs.
 */
#define CONFIG_NAMES_BYTES 120
bool config_changes(const struct config_program *program, const void *before,
		    const void *after, char names[CONFIG_NAMES_BYTES]);

/* What --help prints. */
void config_help(const struct config_program *program, FILE *out);
