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
	  .help = "settings file, see regatta-config(5)",
	  .initial = installed_agent_yaml,
	  .places = OPTION_NOT_IN_FILE },
	{ OPTION("controller", OPTION_TEXT, controller, "ENDPOINT"),
	  .help = "address of the controller: tcp://HOST:7117, or a file "
		  "that contains it" },
	{ OPTION("controller-key", OPTION_KEY, controller_key, "KEY"),
	  .help = "public key of the controller (40 characters), or a file "
		  "with it" },
	{ OPTION("key", OPTION_PATH, key, "FILE"),
	  .help = "key of this node: regatta key new FILE --name N --role "
		  "agent" },
	{ OPTION("state", OPTION_PATH, state, "DIR"),
	  .help = "state folder", .initial = AGENT_STATE },
	{ OPTION("policy", OPTION_PATH, policy, "FILE"), .words = policies,
	  .help = "policy of this node, see regatta-policy(5); any: no "
		  "restrictions",
	  .initial = installed_policy_yaml },
	{ OPTION("engine", OPTION_TEXT, engine, "HOST"),
	  .help = "container engine; DOCKER_HOST overrides the default; own: "
		  "the user's own Docker or Podman, started if necessary; "
		  "pod:/DIR: the pod of Kubernetes that the agent runs in",
	  .initial = OWN_ENGINE_DOCKER,
	  .variable = "DOCKER_HOST" },
	{ OPTION("engine-tls", OPTION_PATH, engine_tls, "DIR"),
	  .help = "ca.pem, cert.pem, key.pem for a tcp:// engine" },
	{ OPTION("images", OPTION_PATH, images, "DIR"),
	  .help = "folder of vendor profiles and of images to build",
	  .initial = installed_images },
	{ OPTION("image-floor", OPTION_FLOOR, image_floor, "SIZE"),
	  .help = "remove unused images that Regatta brought when less of the "
		  "engine's disk is free: 50GiB, 20%; by default never" },
	{ OPTION("image-keep", OPTION_NUMBER, image_keep, "N"), .max = 1000000,
	  .initial = "1",
	  .help = "number of newest images to keep of each repository" },
	{ OPTION("registry-auth", OPTION_PATH, registry_auth, "FILE"),
	  .help = "registry credentials in the format of docker login, mode "
		  "0600",
	  .initial = installed_registry_json },
	{ OPTION("init", OPTION_PATH, init, "FILE"),
	  .help = "regatta-init", .initial = installed_init },
	{ OPTION("address", OPTION_TEXT, address, "ADDRESS"),
	  .help = "address at which other nodes reach this one", .initial = AGENT_ADDRESS },
	{ OPTION("peer-port", OPTION_NUMBER, peer_port, "PORT"), .min = 1,
	  .max = 65535,
	  .help = "port at which other agents fetch data; by default any free "
		  "port" },
	{ OPTION("vendor", OPTION_TEXT, vendor, "NAME"),
	  .help = "vendor of the accelerators; auto: detect it, otherwise cpu",
	  .initial = "auto" },
	{ OPTION("devices", OPTION_NUMBER, devices, "N"), .min = 1, .max = 64,
	  .help = "number of devices, if they cannot be detected" },
	{ OPTION("only-devices", OPTION_TEXT, only_devices, "LIST"),
	  .help = "offer only these devices, by number: 0,2-3; by default all" },
	{ OPTION("device-root", OPTION_PATH, device_root, "DIR"),
	  .help = "folder to use as /dev, to simulate a machine in tests" },
	{ OPTION("sysfs-root", OPTION_PATH, sysfs_root, "DIR"),
	  .help = "folder to use as /sys" },
	{ OPTION("proc-root", OPTION_PATH, proc_root, "DIR"),
	  .help = "folder to use as /proc" },
	{ OPTION("file-root", OPTION_PATH, file_root, "DIR"),
	  .help = "folder to use as / for mounts of profiles" },
	{ OPTION("tools", OPTION_PATH, tools, "DIR"),
	  .help = "folder to search for vendors' tools before PATH" },
	{ OPTION("cluster", OPTION_TEXT, cluster, "NAME"),
	  .help = "label of the containers", .initial = AGENT_CLUSTER },
	{ OPTION("stall", OPTION_NUMBER, stall, "SECONDS"), .min = 1,
	  .max = 86400, .initial = "120",
	  .help = "retry an image pull that makes no progress for this time" },
	{ OPTION("refused-limit", OPTION_NUMBER, refused_limit, "SECONDS"),
	  .max = 8640000, .initial = "3600",
	  .help = "end tasks if the controller refuses this node's key for "
		  "this time; 0: never" },
	{ OPTION("clock-limit", OPTION_NUMBER, clock_limit, "SECONDS"),
	  .min = 1, .max = 86400, .initial = "60",
	  .help = "refuse tasks if the clock differs from the controller's by "
		  "more than this" },
	{ OPTION("housekeeping-cpus", OPTION_TEXT, housekeeping_cpus, "LIST"),
	  .help = "processors for the agent and vendors' tools: 0-3,8; by "
		  "default all" },
	{ OPTION("metrics", OPTION_TEXT, metrics, "ADDRESS:PORT"),
	  .help = "serve metrics for Prometheus over plain HTTP; by default "
		  "off" },
	{ OPTION("metrics-name", OPTION_TEXT, metrics_name, "NAME"),
	  .help = "another name that requests for metrics may use; .DOMAIN: "
		  "the host name in that domain" },
	{ OPTION("ipmi", OPTION_FLAG, ipmi, NULL),
	  .help = "also sample the power of the machine with ipmitool" },
	{ OPTION("for-allocation", OPTION_FLAG, for_allocation, NULL),
	  .help = "inside of a Slurm step: offer its resources, and leave when "
		  "the allocation ends" },
	{ OPTION("parent-fd", OPTION_NUMBER, common.parent_fd, "FD"), .min = 3,
	  .max = 1023, .help = "exit when this file descriptor is closed",
	  .places = OPTION_LINE_ONLY },
	CONFIG_COMMON_RULES(agent_settings),
};
/* clang-format on */

const struct config_program agent_program = {
	.name = "regatta-agent",
	.variables = "REGATTA_AGENT_",
	.file = installed_agent_yaml,
	.usage = "[--controller ENDPOINT --controller-key KEY --key FILE] "
		 "[OPTION...]\n       regatta-agent join TOKEN [OPTION...]",
	.about = "Runs the tasks of this node in containers and sends their "
		 "output to the\ncontroller. join makes this machine a node: "
		 "regatta-agent join --help.",
	.closing = "Every option can also be set in the file or in the "
		   "environment: stall: 60,\nREGATTA_AGENT_STALL=60. "
		   "Containers keep running when the agent stops, and "
		   "the\nnext agent continues with them. See regatta-agent(8).",
	.rules = rules,
	.size = sizeof(struct agent_settings),
};
