/* controller.c - the settings of regatta-controller: regatta-controller(8).
 */
#include "protocol/config/controller.h"
#include "protocol/config/installed.h"

#define OPTION(n, k, m, v)                                                     \
	.name = n, .kind = k,                                                  \
	.offset = offsetof(struct controller_settings, m), .value = v

/* clang-format off */
static const struct option_rule rules[] = {
	{ OPTION("config", OPTION_PATH, common.config, "FILE"),
	  .help = "settings file, see regatta-config(5)",
	  .initial = installed_controller_yaml,
	  .places = OPTION_NOT_IN_FILE },
	/* REGATTA_CONTROLLER_KEY is the public key that regatta(1) reads. */
	{ OPTION("key", OPTION_PATH, key, "FILE"),
	  .help = "key of the controller: regatta key new FILE --name "
		  "controller --role controller",
	  .places = OPTION_NOT_IN_ENVIRONMENT },
	{ OPTION("keys", OPTION_PATH, keys, "FILE"),
	  .help = "list of keys that may connect, one per line: regatta key "
		  "show FILE" },
	{ OPTION("listen", OPTION_TEXT, listen, "ENDPOINT"),
	  .help = "tcp://ADDRESS:PORT", .initial = "tcp://127.0.0.1:7117" },
	{ OPTION("state", OPTION_PATH, state, "DIR"),
	  .help = "folder of the database and the logs",
	  .initial = "/var/lib/regatta-controller" },
	{ OPTION("images", OPTION_PATH, images, "DIR"),
	  .help = "folder of models, frameworks and vendors",
	  .initial = installed_images },
	{ OPTION("node-lost", OPTION_NUMBER, node_lost, "SECONDS"), .min = 1,
	  .max = 86400, .initial = "120",
	  .help = "tasks of a node are lost if it is not reachable for this "
		  "time" },
	{ OPTION("logs", OPTION_SIZE, logs, "SIZE"), .max = OPTION_SIZE_MAX,
	  .initial = "0",
	  .help = "maximum size of all output; the oldest is removed; 0: no "
		  "limit" },
	{ OPTION("disk-free", OPTION_SIZE, disk_free, "SIZE"),
	  .max = OPTION_SIZE_MAX, .initial = "2G",
	  .help = "disk space to keep free by removing old output; 0: none" },
	{ OPTION("audit-rows", OPTION_NUMBER, audit_rows, "N"),
	  .max = 1000000000, .initial = "100000",
	  .help = "number of rows that the audit log keeps; 0: all" },
	{ OPTION("audit-days", OPTION_NUMBER, audit_days, "DAYS"),
	  .max = 36500, .initial = "90",
	  .help = "minimum time that rows stay in the audit log" },
	{ OPTION("sweep-days", OPTION_NUMBER, sweep_days, "DAYS"),
	  .max = 36500, .initial = "0",
	  .help = "delete a sweep and its results this long after its end; 0: "
		  "never" },
	{ OPTION("endpoint-file", OPTION_PATH, endpoint_file, "FILE"),
	  .help = "write the address to this file when the controller listens" },
	{ OPTION("web", OPTION_TEXT, web, "ADDRESS:PORT"),
	  .help = "serve web pages and /metrics; by default off" },
	{ OPTION("web-certificate", OPTION_PATH, web_certificate, "FILE"),
	  .help = "serve over TLS with this certificate (PEM); without it, "
		  "only on 127.0.0.0/8 and ::1" },
	{ OPTION("web-key", OPTION_PATH, web_key, "FILE"),
	  .help = "the key of that certificate (PEM)" },
	{ OPTION("web-name", OPTION_TEXT, web_name, "NAME"),
	  .help = "another name that requests for /metrics may use; .DOMAIN: "
		  "the host name in that domain" },
	{ OPTION("parent-fd", OPTION_NUMBER, common.parent_fd, "FD"), .min = 3,
	  .max = 1023, .help = "when this file descriptor is closed, cancel "
		  "all jobs and exit",
	  .places = OPTION_LINE_ONLY },
	{ OPTION("keep-jobs", OPTION_FLAG, keep_jobs, NULL),
	  .help = "then exit at once, and keep the jobs for the next "
		  "controller",
	  .places = OPTION_LINE_ONLY },
	{ OPTION("pods", OPTION_FLAG, pods, NULL),
	  .help = "run a job only on nodes that have its number as the label "
		  "job",
	  .places = OPTION_LINE_ONLY },
	CONFIG_COMMON_RULES(controller_settings),
};
/* clang-format on */

const struct config_program controller_program = {
	.name = "regatta-controller",
	.variables = "REGATTA_CONTROLLER_",
	.file = installed_controller_yaml,
	.usage = "[--key FILE --keys FILE] [OPTION...]\n"
		 "       regatta-controller backup|restore FILE [OPTION...]",
	.about =
		"Schedules jobs on the nodes and stores sweeps, logs and "
		"results. backup writes\nthe state folder to FILE, also while "
		"the controller runs; restore creates a\nstate folder from it.",
	.closing = "Every option can also be set in the file and, except "
		   "--key, in the environment:\nnode_lost: 60, "
		   "REGATTA_CONTROLLER_NODE_LOST=60. Jobs keep running when "
		   "the\ncontroller stops, and the next controller continues "
		   "with them. See\nregatta-controller(8).",
	.rules = rules,
	.size = sizeof(struct controller_settings),
};
