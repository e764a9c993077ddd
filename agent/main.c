/* main.c - regatta-agent: options to configuration, then the loop.
 */
#include "agent/agent.h"
#include "agent/devices/cpulist.h"
#include "protocol/file.h"
#include "protocol/lifeline.h"
#include "protocol/log.h"
#include "protocol/loop.h"
#include "protocol/program.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
	"usage: regatta-agent --controller ENDPOINT --controller-key KEY "
	"--key FILE [OPTION...]\n"
	"\n"
	"Runs the tasks of this node in containers and streams their output.\n"
	"\n"
	"  --controller ENDPOINT    where the controller listens: "
	"tcp://HOST:7117\n"
	"  --controller-key KEY     its public key (40 characters), or a file "
	"with it\n"
	"  --key FILE               this node's key: regatta key new FILE "
	"--name N --role agent\n"
	"  --state DIR              where spools lie "
	"(/var/lib/regatta-agent)\n"
	"  --engine HOST            Docker engine "
	"(unix:///var/run/docker.sock)\n"
	"  --engine-tls DIR         ca.pem, cert.pem, key.pem for a tcp:// "
	"engine\n"
	"  --images DIR             images that are built here, by name\n"
	"  --init FILE              regatta-init\n"
	"  --address ADDRESS        where other nodes reach this one "
	"(127.0.0.1)\n"
	"  --vendor NAME            of its accelerators (auto: what is found, "
	"else cpu)\n"
	"  --devices N              how many, where none can be found\n"
	"  --device-root DIR, --sysfs-root DIR, --proc-root DIR\n"
	"                           what stands for /dev, /sys and /proc: a "
	"pretended\n"
	"                           machine, for tests\n"
	"  --file-root DIR          what stands for /: mounts that profiles "
	"name\n"
	"  --tools DIR              where vendors' tools are looked for before "
	"PATH\n"
	"  --cluster NAME           label of its containers (regatta)\n"
	"  --stall SECONDS          an image pull without progress fails after "
	"(120)\n"
	"  --clock-limit SECONDS    no task runs here with a clock that is "
	"further\n"
	"                           from the controller's (60)\n"
	"  --housekeeping-cpus LIST vendors' tools run there: 0-3,8 "
	"(anywhere)\n"
	"  --ipmi                   sample the machine's power with ipmitool\n"
	"  --lifeline FD            end when this file ends\n"
	"  --verbose                log more\n"
	"  --version, --help\n"
	"\n"
	"Stopping the agent leaves its containers running; the next one goes "
	"on\n"
	"with them. See regatta-agent(8).\n";

struct options {
	struct agent_config config;
	struct roots roots;
	char folders[5][PATH_MAX]; /* of the roots */
	const char *key;
	char server_public[KEY_TEXT_SIZE];
	char state[PATH_MAX];
	int lifeline;
};

enum { OPTION_FIRST = 256, VERBOSE, VERSION, HELP, IPMI };

/* A number from 1 to max, or -1. */
static long number(const char *text, long max)
{
	char *end;
	long value = strtol(text, &end, 10);

	return *text && !*end && value >= 1 && value <= max ? value : -1;
}

/* Options whose value is a plain string of the configuration. */
static const char **text_option(struct options *options, const char *name)
{
	struct agent_config *config = &options->config;
	/* clang-format off */
	const struct {
		const char *name;
		const char **to;
	} texts[] = {
		{ "controller", &config->controller },
		{ "controller-key", &config->server_public },
		{ "state", &config->state },
		{ "engine", &config->engine },
		{ "engine-tls", &config->tls },
		{ "images", &config->images },
		{ "init", &config->init_program },
		{ "address", &config->address },
		{ "vendor", &config->vendor },
		{ "cluster", &config->cluster },
		{ "device-root", &options->roots.dev },
		{ "sysfs-root", &options->roots.sys },
		{ "proc-root", &options->roots.proc },
		{ "file-root", &options->roots.files },
		{ "tools", &options->roots.bin },
		{ "housekeeping-cpus", &config->housekeeping },
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (!strcmp(texts[i].name, name))
			return texts[i].to;
	return NULL;
}

static int number_option(struct options *options, const char *name,
			 const char *value, struct error *err)
{
	bool devices = !strcmp(name, "devices");
	bool lifeline = !strcmp(name, "lifeline");
	bool clock = !strcmp(name, "clock-limit");
	long max = devices ? 64 : lifeline ? 1023 : 86400;
	long n = number(value, max);

	if (n < 0)
		return error_set(err, EINVAL,
				 "--%s: found '%s', allowed is 1 to %ld", name,
				 value, max);
	if (devices)
		options->config.devices = (uint32_t)n;
	else if (lifeline)
		options->lifeline = (int)n;
	else if (clock)
		options->config.clock_limit_ms = (uint32_t)n * 1000;
	else
		options->config.stall_ms = (uint32_t)n * 1000;
	return 0;
}

static int read_options(int argc, char **argv, struct options *options,
			struct error *err)
{
	/* clang-format off */
	static const struct option names[] = {
		{ "controller", 1, NULL, 0 }, { "controller-key", 1, NULL, 0 },
		{ "key", 1, NULL, 0 },        { "state", 1, NULL, 0 },
		{ "engine", 1, NULL, 0 },     { "engine-tls", 1, NULL, 0 },
		{ "images", 1, NULL, 0 },     { "init", 1, NULL, 0 },
		{ "address", 1, NULL, 0 },    { "vendor", 1, NULL, 0 },
		{ "devices", 1, NULL, 0 },    { "cluster", 1, NULL, 0 },
		{ "stall", 1, NULL, 0 },      { "lifeline", 1, NULL, 0 },
		{ "device-root", 1, NULL, 0 }, { "sysfs-root", 1, NULL, 0 },
		{ "proc-root", 1, NULL, 0 }, { "file-root", 1, NULL, 0 },  { "tools", 1, NULL, 0 },
		{ "housekeeping-cpus", 1, NULL, 0 },
		{ "clock-limit", 1, NULL, 0 },
		{ "ipmi", 0, NULL, IPMI },    { "verbose", 0, NULL, VERBOSE },
		{ "version", 0, NULL, VERSION }, { "help", 0, NULL, HELP },
		{ NULL, 0, NULL, 0 },
	};
	/* clang-format on */
	int option, which = 0;

	while ((option = getopt_long(argc, argv, "", names, &which)) != -1) {
		const char **text;

		switch (option) {
		case VERBOSE:
			log_set_level(LOG_DEBUG);
			continue;
		case IPMI:
			options->config.ipmi = true;
			continue;
		case VERSION:
			puts("regatta-agent " REGATTA_VERSION);
			exit(EXIT_GOOD);
		case HELP:
			fputs(usage, stdout);
			exit(EXIT_GOOD);
		case 0:
			break;
		default:
			return error_set(err, EINVAL,
					 "see regatta-agent --help");
		}
		text = text_option(options, names[which].name);
		if (text)
			*text = optarg;
		else if (!strcmp(names[which].name, "key"))
			options->key = optarg;
		else if (number_option(options, names[which].name, optarg,
				       err) < 0)
			return -1;
	}
	if (optind < argc)
		return error_set(err, EINVAL,
				 "found '%s', allowed are options; see "
				 "regatta-agent --help",
				 argv[optind]);
	return 0;
}

/* Without links and relative parts: nodes are compared with them. */
static int check_roots(struct options *options, struct error *err)
{
	const char **roots[] = { &options->roots.dev, &options->roots.sys,
				 &options->roots.proc, &options->roots.files,
				 &options->roots.bin };

	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
		if (!*roots[i])
			continue;
		if (!realpath(*roots[i], options->folders[i]))
			return error_errno(err, "%s", *roots[i]);
		*roots[i] = options->folders[i];
	}
	options->config.roots = &options->roots;
	return 0;
}

static int check_options(struct options *options, struct error *err)
{
	struct agent_config *config = &options->config;

	if (!config->controller || !config->server_public || !options->key)
		return error_set(err, EINVAL,
				 "--controller, --controller-key and --key are "
				 "needed; see regatta-agent --help");
	if (key_load(&config->key, options->key, err) < 0 ||
	    key_public(config->server_public, options->server_public, err) < 0)
		return -1;
	if (config->key.role != ROLE_AGENT)
		return error_set(err, EINVAL,
				 "%s: a key of role %s, an agent needs one of "
				 "role agent",
				 options->key, role_name(config->key.role));
	config->server_public = options->server_public;
	if (config->housekeeping &&
	    cpu_list_parse(config->housekeeping, &config->housekeeping_set,
			   err) < 0)
		return error_prefix(err, "--housekeeping-cpus");
	if (file_make_folders(config->state, 0755, err) < 0)
		return -1;
	if (!realpath(config->state, options->state))
		return error_errno(err, "%s", config->state);
	config->state = options->state;
	if (access(config->init_program, X_OK) < 0)
		return error_errno(err, "--init %s", config->init_program);
	return check_roots(options, err);
}

static void end_loop(void *arg)
{
	sd_event_exit(arg, EXIT_GOOD);
}

static int run(struct options *options, struct error *err)
{
	sd_event *loop = program_begin(err);
	struct agent *agent;
	int code;

	if (!loop)
		return -1;
	agent = agent_new(loop, &options->config, err);
	if (!agent) {
		sd_event_unref(loop);
		return -1;
	}
	if (options->lifeline &&
	    lifeline_watch(loop, options->lifeline, end_loop, loop, err) < 0) {
		agent_free(agent);
		sd_event_unref(loop);
		return -1;
	}
	program_ready(loop);
	code = sd_event_loop(loop);
	log_info("agent ends; its containers run on");
	agent_free(agent);
	sd_event_unref(loop);
	return code < 0 ? error_set(err, -code, "event loop") : code;
}

int main(int argc, char **argv)
{
	struct options
		options = { .roots = real_roots,
			    .config = {
				    .state = "/var/lib/regatta-agent",
				    .engine = "unix:///var/run/docker.sock",
				    .images = REGATTA_DATA "/images",
				    .init_program = REGATTA_LIB "/regatta-init",
				    .address = "127.0.0.1",
				    .vendor = "auto",
				    .cluster = "regatta",
			    } };
	struct error err = { 0 };
	int code = -1;

	if (sodium_init() < 0)
		error_set(&err, EIO, "libsodium cannot be started");
	else if (read_options(argc, argv, &options, &err) == 0 &&
		 check_options(&options, &err) == 0)
		code = run(&options, &err);
	if (code < 0) {
		fprintf(stderr, "regatta-agent: %s\n", err.text);
		return program_exit_code(&err);
	}
	return code;
}
