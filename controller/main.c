/* main.c - regatta-controller: options to configuration, then the loop.
 */
#include "controller/controller.h"
#include "protocol/file.h"
#include "protocol/lifeline.h"
#include "protocol/log.h"
#include "protocol/program.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <sodium.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
	"usage: regatta-controller --key FILE --keys FILE [OPTION...]\n"
	"\n"
	"Keeps sweeps, jobs and results, and hands tasks to the agents.\n"
	"\n"
	"  --key FILE             its own key: regatta key new FILE --name "
	"controller\n"
	"                         --role controller\n"
	"  --keys FILE            who may connect, a line a key: regatta key "
	"show FILE\n"
	"  --listen ENDPOINT      tcp://ADDRESS:PORT (tcp://127.0.0.1:7117)\n"
	"  --state DIR            database and logs "
	"(/var/lib/regatta-controller)\n"
	"  --images DIR           models, frameworks and vendors\n"
	"  --node-lost SECONDS    tasks of a node that is out of reach are "
	"lost "
	"after (120)\n"
	"  --endpoint-file FILE   write where it listens\n"
	"  --lifeline FD          at the end of this file cancel all jobs, "
	"then "
	"end\n"
	"  --verbose              log more\n"
	"  --version, --help\n"
	"\n"
	"Stopping the controller leaves jobs running; the next one goes on "
	"with\n"
	"them. See regatta-controller(8).\n";

struct options {
	struct controller_config config;
	const char *key;
	const char *endpoint_file;
	int lifeline;
};

enum {
	KEY = 256,
	KEYS,
	LISTEN,
	STATE,
	IMAGES,
	NODE_LOST,
	ENDPOINT_FILE,
	LIFELINE,
	VERBOSE,
	VERSION,
	HELP
};

static int number(const char *name, const char *text, long min, long max,
		  long *value, struct error *err)
{
	char *end;
	long got = strtol(text, &end, 10);

	if (!*text || *end || got < min || got > max)
		return error_set(err, EINVAL,
				 "--%s: found '%s', allowed is %ld to %ld",
				 name, text, min, max);
	*value = got;
	return 0;
}

static int read_option(int option, struct options *options, struct error *err)
{
	long value = 0;

	switch (option) {
	case KEY:
		options->key = optarg;
		return 0;
	case KEYS:
		options->config.keys = optarg;
		return 0;
	case LISTEN:
		options->config.listen = optarg;
		return 0;
	case STATE:
		options->config.state = optarg;
		return 0;
	case IMAGES:
		options->config.images = optarg;
		return 0;
	case ENDPOINT_FILE:
		options->endpoint_file = optarg;
		return 0;
	case NODE_LOST:
		if (number("node-lost", optarg, 1, 86400, &value, err) < 0)
			return -1;
		options->config.node_lost_ms = (uint64_t)value * 1000;
		return 0;
	case LIFELINE:
		if (number("lifeline", optarg, 3, 1023, &value, err) < 0)
			return -1;
		options->lifeline = (int)value;
		return 0;
	case VERBOSE:
		log_set_level(LOG_DEBUG);
		return 0;
	case VERSION:
		puts("regatta-controller " REGATTA_VERSION);
		exit(EXIT_GOOD);
	case HELP:
		fputs(usage, stdout);
		exit(EXIT_GOOD);
	default:
		return error_set(err, EINVAL, "see regatta-controller --help");
	}
}

static int read_options(int argc, char **argv, struct options *options,
			struct error *err)
{
	/* clang-format off */
	static const struct option names[] = {
		{ "key", 1, NULL, KEY },
		{ "keys", 1, NULL, KEYS },
		{ "listen", 1, NULL, LISTEN },
		{ "state", 1, NULL, STATE },
		{ "images", 1, NULL, IMAGES },
		{ "node-lost", 1, NULL, NODE_LOST },
		{ "endpoint-file", 1, NULL, ENDPOINT_FILE },
		{ "lifeline", 1, NULL, LIFELINE },
		{ "verbose", 0, NULL, VERBOSE },
		{ "version", 0, NULL, VERSION },
		{ "help", 0, NULL, HELP },
		{ NULL, 0, NULL, 0 },
	};
	/* clang-format on */
	int option;

	while ((option = getopt_long(argc, argv, "", names, NULL)) != -1)
		if (read_option(option, options, err) < 0)
			return -1;
	if (optind < argc)
		return error_set(err, EINVAL,
				 "found '%s', allowed are options; see "
				 "regatta-controller --help",
				 argv[optind]);
	if (!options->key || !options->config.keys)
		return error_set(err, EINVAL,
				 "--key and --keys are needed; see "
				 "regatta-controller --help");
	if (key_load(&options->config.key, options->key, err) < 0)
		return -1;
	if (options->config.key.role != ROLE_CONTROLLER)
		return error_set(err, EINVAL,
				 "%s: a key of role %s, needed is one of role "
				 "controller",
				 options->key,
				 role_name(options->config.key.role));
	return 0;
}

static void drain(void *arg)
{
	controller_drain(arg);
}

static int write_endpoint(const struct options *options,
			  const struct controller *controller,
			  struct error *err)
{
	const char *endpoint = controller_endpoint(controller);

	if (!options->endpoint_file)
		return 0;
	return file_write(AT_FDCWD, options->endpoint_file, endpoint,
			  strlen(endpoint), 0644, 0, err);
}

static int serve(const struct options *options, sd_event *loop,
		 struct error *err)
{
	owned(controller_free) struct controller *controller =
		controller_new(loop, &options->config, err);
	int code;

	if (!controller || write_endpoint(options, controller, err) < 0 ||
	    (options->lifeline && lifeline_watch(loop, options->lifeline, drain,
						 controller, err) < 0))
		return -1;
	log_info("listening at %s", controller_endpoint(controller));
	program_ready(loop);
	code = sd_event_loop(loop);
	return code < 0 ? error_set(err, -code, "event loop") : code;
}

int main(int argc, char **argv)
{
	struct options
		options = { .config = {
				    .state = "/var/lib/regatta-controller",
				    .listen = "tcp://127.0.0.1:7117",
				    .images = REGATTA_DATA "/images",
				    .node_lost_ms = 120000,
			    } };
	struct error err = { 0 };
	sd_event *loop = NULL;
	int code = -1;

	/* One thread, and nobody asks how much memory SQLite holds: without
	 * locks and counters it takes a tenth less time for a job. */
	sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	if (sodium_init() < 0)
		error_set(&err, EIO, "libsodium cannot be started");
	else if (read_options(argc, argv, &options, &err) == 0 &&
		 (loop = program_begin(&err)))
		code = serve(&options, loop, &err);
	sd_event_unref(loop);
	if (code < 0) {
		fprintf(stderr, "regatta-controller: %s\n", err.text);
		return program_exit_code(&err);
	}
	return code;
}
