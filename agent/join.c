/* join.c - regatta-agent join: make a key, enrol it, write settings, start.
 */
#include "agent/join.h"
#include "protocol/base/file.h"
#include "protocol/base/local_address.h"
#include "protocol/base/machine.h"
#include "protocol/base/program.h"
#include "protocol/config/installed.h"
#include "protocol/wire/join.h"

#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define UNIT "regatta-agent.service"

struct join_options {
	bool help;
	bool no_start;
	bool exec;
	const char *name;
	const char *address;
	const char *config;
	const char *key;
	const char *token_file;
	uint64_t timeout; /* s */
};

#define OPTION(n, k, m, v)                                                     \
	.name = n, .kind = k, .offset = offsetof(struct join_options, m),      \
	.value = v

/* clang-format off */
static const struct option_rule join_rules[] = {
	{ OPTION("name", OPTION_TEXT, name, "NAME"),
	  .help = "name of the node (default: the host name)" },
	{ OPTION("address", OPTION_TEXT, address, "ADDRESS"),
	  .help = "address at which other nodes reach this one (the local "
		  "address of the connection to the controller)" },
	{ OPTION("config", OPTION_PATH, config, "FILE"),
	  .help = "settings file to write", .initial = installed_agent_yaml },
	{ OPTION("key", OPTION_PATH, key, "FILE"),
	  .help = "key file to write (agent.key in the folder of the settings)" },
	{ OPTION("token-file", OPTION_PATH, token_file, "FILE"),
	  .help = "read the token from this file; -: standard input" },
	{ OPTION("timeout", OPTION_NUMBER, timeout, "SECONDS"), .min = 1,
	  .max = 3600, .help = "time limit for reaching the controller (20)" },
	{ OPTION("exec", OPTION_FLAG, exec, NULL),
	  .help = "become the agent, with the arguments after -- as its "
		  "options; for containers" },
	{ OPTION("no-start", OPTION_FLAG, no_start, NULL),
	  .help = "do not enable and start " UNIT },
	{ OPTION("help", OPTION_LAST, help, NULL), .help = "show this" },
	{ 0 },
};
/* clang-format on */

static void join_print_help(void)
{
	fputs("usage: regatta-agent join TOKEN|- [OPTION...]\n\nMakes this "
	      "machine a node of a cluster: creates and enrols a key and "
	      "starts the\nagent. 'regatta node token' prints a token. With a "
	      "token of 'regatta node\nrekey', the node gets a new "
	      "key.\n\noptions:\n",
	      stdout);
	option_print(stdout, join_rules);
}

/* The host name up to its first dot; '-' replaces what a name cannot have. */
static void host_name(char name[KEY_NAME_SIZE])
{
	char host[HOST_NAME_MAX + 1] = "";

	gethostname(host, sizeof(host) - 1);
	host[strcspn(host, ".")] = 0;
	snprintf(name, KEY_NAME_SIZE, "%.63s", host);
	for (char *c = name; *c; c++)
		if (!name_valid((char[]){ 'a', *c, 0 }))
			*c = '-';
}

static int write_settings(const char *path, const struct join_token *token,
			  const char *key, const char *address,
			  struct error *err)
{
	static const char *const keys[] = { "controller", "controller_key",
					    "key", "address", NULL };
	char text[PATH_MAX + 600];

	snprintf(text, sizeof(text),
		 "controller: \"%s\"\ncontroller_key: \"%s\"\nkey: \"%s\"\n"
		 "address: \"%s\"\n",
		 token->endpoint, token->server_public, key, address);
	return join_settings(path, keys, text,
			     "# Settings of regatta-agent: "
			     "regatta-config(5).\n",
			     err);
}

/* A reload of systemd can take GPUs from containers that run here. */
static int systemctl(const char *verb, struct error *err)
{
	const char *const argv[] = { "systemctl", "--no-reload", verb, UNIT,
				     NULL };
	int status = 0;
	pid_t pid;
	int rc =
		posix_spawnp(&pid, argv[0], NULL, NULL, (char **)argv, environ);

	if (rc)
		return error_set(err, rc, "systemctl: %s", strerror(rc));
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return error_errno(err, "systemctl");
	if (status)
		return error_set(err, EIO, "systemctl %s " UNIT " failed",
				 verb);
	return 0;
}

/* The unit reads the default settings file. Only an installation for the whole
 * system has a unit.
 */
static int join_start_agent(const char *config, struct error *err)
{
	if (config || strcmp(installed_settings, INSTALLED_SYSTEM) != 0 ||
	    access("/run/systemd/system", F_OK) < 0) {
		printf("start it with: regatta-agent%s%s\n",
		       config ? " --config " : "", config ? config : "");
		return EXIT_GOOD;
	}
	if (systemctl("enable", err) < 0 || systemctl("restart", err) < 0)
		return -1;
	printf(UNIT " is running, and starts at boot\n");
	return EXIT_GOOD;
}

static int folder_of(const char *path, char folder[PATH_MAX], struct error *err)
{
	const char *slash = strrchr(path, '/');
	char given[PATH_MAX];

	snprintf(given, sizeof(given), "%.*s", slash ? (int)(slash - path) : 1,
		 slash ? path : ".");
	if (!given[0])
		snprintf(given, sizeof(given), "/");
	if (file_make_folders(given, 0755, err) < 0 && err->code != EACCES)
		return -1;
	if (access(given, W_OK) < 0)
		return error_set(err, EACCES,
				 "%s: you may not write there; run it as root, "
				 "or name another file with --config",
				 given);
	return realpath(given, folder) ? 0 : error_errno(err, "%s", given);
}

static int join_enrol_node(const struct join_options *options, const char *text,
			   struct error *err)
{
	const char *config =
		options->config ? options->config : installed_agent_yaml;
	struct join_token token;
	struct key key;
	char name[KEY_NAME_SIZE], address[LOCAL_ADDRESS_SIZE],
		machine[MACHINE_ID_SIZE];
	char folder[PATH_MAX], path[PATH_MAX + 16];
	uint64_t seconds = options->timeout ? options->timeout : 20;

	if (join_token_fetch(&token, text, options->token_file, err) < 0 ||
	    folder_of(options->key ? options->key : config, folder, err) < 0)
		return -1;
	if (options->key)
		snprintf(path, sizeof(path), "%s/%s", folder,
			 strrchr(options->key, '/')
				 ? strrchr(options->key, '/') + 1
				 : options->key);
	else
		snprintf(path, sizeof(path), "%s/agent.key", folder);
	host_name(name);
	snprintf(address, sizeof(address), "%s",
		 options->address ? options->address : "");
	if ((!address[0] && local_address(token.endpoint, address, err) < 0) ||
	    join_key_prepare(&key, path, options->name ? options->name : name,
			     ROLE_AGENT, err) < 0 ||
	    join_enrol(&token, &key, true, machine_id(machine) ? machine : NULL,
		       (uint32_t)seconds * 1000, err) < 0 ||
	    write_settings(config, &token, path, address, err) < 0 ||
	    join_key_settle(&key, path, err) < 0)
		return -1;
	printf("node %s joined %s; key %s, settings %s\n", key.name,
	       token.endpoint, path, config);
	return options->no_start ? EXIT_GOOD
				 : join_start_agent(options->config, err);
}

/* Become the agent, with the options in args. Does not return on success. */
static int join_exec(const char *config, char **args, size_t count,
		     struct error *err)
{
	owned_free char **argv = calloc(count + 4, sizeof(*argv));

	if (!argv)
		return error_nomem(err, "command line");
	argv[0] = (char *)"regatta-agent";
	argv[1] = (char *)"--config";
	argv[2] = (char *)(config ? config : installed_agent_yaml);
	memcpy(argv + 3, args, count * sizeof(*args));
	fflush(stdout);
	execv("/proc/self/exe", argv);
	return error_errno(err, "/proc/self/exe");
}

int agent_join(int argc, char **argv, struct error *err)
{
	static const struct option_tables tables = { { join_rules } };
	struct join_options options = { 0 };
	owned_free char **args = calloc((size_t)argc + 1, sizeof(*args));
	size_t count = 0;

	if (!args)
		return error_nomem(err, "command line");
	if (option_parse(argc, argv, &tables, &options, args, &count, err) < 0)
		return error_prefix(err, "join");
	if (options.help) {
		join_print_help();
		return EXIT_GOOD;
	}
	options.no_start |= options.exec;
	if (count > 1 && !options.exec)
		return error_set(err, EINVAL,
				 "join: %zu arguments; expected one token",
				 count);
	if (join_enrol_node(&options, count && !options.exec ? args[0] : NULL,
			    err) < 0)
		return error_prefix(err, "join");
	return options.exec ? join_exec(options.config, args, count, err)
			    : EXIT_GOOD;
}
