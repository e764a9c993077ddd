/* agent.c - the settings of regatta-agent: regatta-agent(8).
 */
#include "protocol/config/agent.h"
#include "protocol/config/installed.h"
#include "protocol/config/own_engine.h"

#define OPTION(n, k, m, v)                                                     \
	.name = n, .kind = k, .offset = offsetof(struct agent_settings, m),    \
	.value = v

/* clang-format off */
static const char *const policies[] = { AGENT_POLICY_ANY, NULL };

static const struct option_rule rules[] = {
	{ OPTION("config", OPTION_PATH, common.config, "FILE"),
	  .help = "settings, as in regatta-config(5)",
	  .initial = installed_agent_yaml,
	  .places = OPTION_NOT_IN_FILE },
	{ OPTION("controller", OPTION_TEXT, controller, "ENDPOINT"),
	  .help = "where the controller listens: tcp://HOST:7117" },
	{ OPTION("controller-key", OPTION_KEY, controller_key, "KEY"),
	  .help = "its public key (40 characters), or a file with it" },
	{ OPTION("key", OPTION_PATH, key, "FILE"),
	  .help = "this node's key: regatta key new FILE --name N --role "
		  "agent" },
	{ OPTION("state", OPTION_PATH, state, "DIR"),
	  .help = "where spools lie", .initial = "/var/lib/regatta-agent" },
	{ OPTION("policy", OPTION_PATH, policy, "FILE"), .words = policies,
	  .help = "what this node allows, as in regatta-policy(5); any: all "
		  "that the engine does",
	  .initial = installed_policy_yaml },
	{ OPTION("engine", OPTION_TEXT, engine, "HOST"),
	  .help = "Docker engine; DOCKER_HOST goes before the default; own: "
		  "that of the user, if need be a Podman service",
	  .initial = OWN_ENGINE_DOCKER,
	  .variable = "DOCKER_HOST" },
	{ OPTION("engine-tls", OPTION_PATH, engine_tls, "DIR"),
	  .help = "ca.pem, cert.pem, key.pem for a tcp:// engine" },
	{ OPTION("images", OPTION_PATH, images, "DIR"),
	  .help = "vendors, and the images that are built here, by name",
	  .initial = installed_images },
	{ OPTION("image-floor", OPTION_FLOOR, image_floor, "SIZE"),
	  .help = "remove images that came for jobs, and that none needs, when "
		  "less of the engine's disk is free: 50GiB, 20%; by default "
		  "never" },
	{ OPTION("image-keep", OPTION_NUMBER, image_keep, "N"), .max = 1000000,
	  .initial = "1",
	  .help = "but never the newest N of each repository" },
	{ OPTION("registry-auth", OPTION_PATH, registry_auth, "FILE"),
	  .help = "credentials of registries as docker login writes them, "
		  "mode 0600",
	  .initial = installed_registry_json },
	{ OPTION("init", OPTION_PATH, init, "FILE"),
	  .help = "regatta-init", .initial = installed_init },
	{ OPTION("address", OPTION_TEXT, address, "ADDRESS"),
	  .help = "where other nodes reach this one", .initial = "127.0.0.1" },
	{ OPTION("peer-port", OPTION_NUMBER, peer_port, "PORT"), .min = 1,
	  .max = 65535,
	  .help = "where other agents get contents; by default any" },
	{ OPTION("vendor", OPTION_TEXT, vendor, "NAME"),
	  .help = "of its accelerators; auto: what is found, else cpu",
	  .initial = "auto" },
	{ OPTION("devices", OPTION_NUMBER, devices, "N"), .min = 1, .max = 64,
	  .help = "how many, where none can be found" },
	{ OPTION("only-devices", OPTION_TEXT, only_devices, "LIST"),
	  .help = "offer these alone, by their order: 0,2-3; by default all" },
	{ OPTION("device-root", OPTION_PATH, device_root, "DIR"),
	  .help = "what stands for /dev: a pretended machine, for tests" },
	{ OPTION("sysfs-root", OPTION_PATH, sysfs_root, "DIR"),
	  .help = "what stands for /sys" },
	{ OPTION("proc-root", OPTION_PATH, proc_root, "DIR"),
	  .help = "what stands for /proc" },
	{ OPTION("file-root", OPTION_PATH, file_root, "DIR"),
	  .help = "what stands for /: mounts that profiles name" },
	{ OPTION("tools", OPTION_PATH, tools, "DIR"),
	  .help = "where vendors' tools are looked for before PATH" },
	{ OPTION("cluster", OPTION_TEXT, cluster, "NAME"),
	  .help = "label of its containers", .initial = "regatta" },
	{ OPTION("stall", OPTION_NUMBER, stall, "SECONDS"), .min = 1,
	  .max = 86400, .initial = "120",
	  .help = "an image pull without progress fails after" },
	{ OPTION("refused-limit", OPTION_NUMBER, refused_limit, "SECONDS"),
	  .max = 8640000, .initial = "3600",
	  .help = "tasks end when the controller refuses this node's key for "
		  "so long; 0: never" },
	{ OPTION("clock-limit", OPTION_NUMBER, clock_limit, "SECONDS"),
	  .min = 1, .max = 86400, .initial = "60",
	  .help = "no task runs here with a clock that is further from the "
		  "controller's" },
	{ OPTION("housekeeping-cpus", OPTION_TEXT, housekeeping_cpus, "LIST"),
	  .help = "the agent and vendors' tools run there: 0-3,8; by default "
		  "anywhere" },
	{ OPTION("metrics", OPTION_TEXT, metrics, "ADDRESS:PORT"),
	  .help = "figures of this node for Prometheus, over plain HTTP; by "
		  "default none" },
	{ OPTION("ipmi", OPTION_FLAG, ipmi, NULL),
	  .help = "sample the machine's power with ipmitool" },
	{ OPTION("lifeline", OPTION_NUMBER, common.lifeline, "FD"), .min = 3,
	  .max = 1023, .help = "end when this file ends",
	  .places = OPTION_LINE_ONLY },
	{ OPTION("verbose", OPTION_FLAG, common.verbose, NULL),
	  .help = "log more" },
	{ OPTION("version", OPTION_LAST, common.version, NULL),
	  .help = "show the version", .places = OPTION_LINE_ONLY },
	{ OPTION("help", OPTION_LAST, common.help, NULL),
	  .help = "show this", .places = OPTION_LINE_ONLY },
	{ 0 },
};
/* clang-format on */

const struct config_program agent_program = {
	.name = "regatta-agent",
	.variables = "REGATTA_AGENT_",
	.file = installed_agent_yaml,
	.usage = "[--controller ENDPOINT --controller-key KEY --key FILE] "
		 "[OPTION...]\n       regatta-agent join TOKEN [OPTION...]",
	.about = "Runs the tasks of this node in containers and streams their "
		 "output. join makes\nthis machine a node: regatta-agent join "
		 "--help.",
	.closing = "Every option may also stand in the file or in the "
		   "environment: stall: 60,\nREGATTA_AGENT_STALL=60. Stopping "
		   "the agent leaves its containers running; the\nnext one "
		   "goes on with them. See regatta-agent(8).",
	.rules = rules,
	.size = sizeof(struct agent_settings),
};
