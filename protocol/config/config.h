/* config.h - a daemon's settings: command line, environment, file, defaults.
 *
 * One table of rules (protocol/config/option.h) describes the settings. Each
 * comes from the first of these that has it:
 *
 *	command line	--node-lost 60
 *	environment	REGATTA_CONTROLLER_NODE_LOST=60, if not empty
 *	file		node_lost: 60
 *	environment	a variable of other programs, DOCKER_HOST, if its rule
 *			names one
 *
 * The file is a YAML map. A relative path in it starts at the file's folder.
 * The file is the one of --config, else the program's default, which need not
 * exist.
 */
#ifndef PROTOCOL_CONFIG_CONFIG_H
#define PROTOCOL_CONFIG_CONFIG_H

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

/* Their rules, at the end of the table; `settings` is the daemon's struct. */
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
	const char *variables; /* in front of the names: "REGATTA_AGENT_" */
	const char *file;      /* read when it is there */
	const char *usage;     /* behind the name */
	const char *about;     /* help, before the options, and after them */
	const char *closing;
	const struct option_rule *rules;
	size_t size; /* of the struct of settings */
};

/* Owns the texts that settings point to, but for those of argv and of the
 * environment.
 */
struct config;

/* Fill *settings, of program->size bytes. variables is what environ(7) is. When
 * the command line asks for help or version, no more is read. EINVAL and
 * others name the option, the variable, or file, line and key. *config is to be
 * freed when the settings are no longer used.
 */
int config_read(const struct config_program *program, int argc, char **argv,
		char *const *variables, void *settings, struct config **config,
		struct error *err);

/* The same from defaults and this file alone, which must be there. */
int config_read_file(const struct config_program *program, const char *path,
		     void *settings, struct config **config, struct error *err);
void config_free(struct config *config);
OWNED_POINTER(struct config, config_free)

/* The keys whose values differ, but for `verbose`, joined by commas and cut to
 * fit; false: none.
 */
#define CONFIG_NAMES_BYTES 120
bool config_changes(const struct config_program *program, const void *before,
		    const void *after, char names[CONFIG_NAMES_BYTES]);

/* What --help prints. */
void config_help(const struct config_program *program, FILE *out);

#endif
