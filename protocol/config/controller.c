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
	  .help = "settings, as in regatta-config(5)",
	  .initial = installed_controller_yaml,
	  .places = OPTION_NOT_IN_FILE },
	/* REGATTA_CONTROLLER_KEY is the public key that regatta(1) reads. */
	{ OPTION("key", OPTION_PATH, key, "FILE"),
	  .help = "its own key: regatta key new FILE --name controller --role "
		  "controller",
	  .places = OPTION_NOT_IN_ENVIRONMENT },
	{ OPTION("keys", OPTION_PATH, keys, "FILE"),
	  .help = "who may connect, a line a key: regatta key show FILE" },
	{ OPTION("listen", OPTION_TEXT, listen, "ENDPOINT"),
	  .help = "tcp://ADDRESS:PORT", .initial = "tcp://127.0.0.1:7117" },
	{ OPTION("state", OPTION_PATH, state, "DIR"),
	  .help = "database and logs",
	  .initial = "/var/lib/regatta-controller" },
	{ OPTION("images", OPTION_PATH, images, "DIR"),
	  .help = "models, frameworks and vendors",
	  .initial = installed_images },
	{ OPTION("node-lost", OPTION_NUMBER, node_lost, "SECONDS"), .min = 1,
	  .max = 86400, .initial = "120",
	  .help = "tasks of a node that is out of reach are lost after" },
	{ OPTION("logs", OPTION_SIZE, logs, "SIZE"), .max = OPTION_SIZE_MAX,
	  .initial = "0",
	  .help = "output of all jobs; when there is more, that of old ones "
		  "goes; 0: any" },
	{ OPTION("disk-free", OPTION_SIZE, disk_free, "SIZE"),
	  .max = OPTION_SIZE_MAX, .initial = "2G",
	  .help = "when less of the disk is free, output of old jobs goes; "
		  "0: never" },
	{ OPTION("audit-rows", OPTION_NUMBER, audit_rows, "N"),
	  .max = 1000000000, .initial = "100000",
	  .help = "orders that are remembered; 0: all" },
	{ OPTION("audit-days", OPTION_NUMBER, audit_days, "DAYS"),
	  .max = 36500, .initial = "90",
	  .help = "and how long they are in any case" },
	{ OPTION("sweep-days", OPTION_NUMBER, sweep_days, "DAYS"),
	  .max = 36500, .initial = "0",
	  .help = "a sweep is forgotten so long after it was over, with its "
		  "results; 0: never" },
	{ OPTION("endpoint-file", OPTION_PATH, endpoint_file, "FILE"),
	  .help = "write where it listens" },
	{ OPTION("web", OPTION_TEXT, web, "ADDRESS:PORT"),
	  .help = "serve pages and /metrics there; by default nowhere" },
	{ OPTION("web-certificate", OPTION_PATH, web_certificate, "FILE"),
	  .help = "serve over TLS with this certificate (PEM); without it "
		  "only on 127.0.0.0/8 and ::1" },
	{ OPTION("web-key", OPTION_PATH, web_key, "FILE"),
	  .help = "the key of that certificate (PEM)" },
	{ OPTION("lifeline", OPTION_NUMBER, common.lifeline, "FD"), .min = 3,
	  .max = 1023, .help = "at the end of this file cancel all jobs, then "
			       "end",
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

const struct config_program controller_program = {
	.name = "regatta-controller",
	.variables = "REGATTA_CONTROLLER_",
	.file = installed_controller_yaml,
	.usage = "[--key FILE --keys FILE] [OPTION...]\n"
		 "       regatta-controller backup|restore FILE [OPTION...]",
	.about = "Keeps sweeps, jobs and results, and hands tasks to the "
		 "agents. backup writes\nits state folder to FILE, while it "
		 "runs "
		 "or not; restore makes one of it.",
	.closing = "Every option may also stand in the file, and but for --key "
		   "in the environment:\nnode_lost: 60, "
		   "REGATTA_CONTROLLER_NODE_LOST=60. Stopping the controller "
		   "leaves jobs\nrunning; the next one goes on with them. See "
		   "regatta-controller(8).",
	.rules = rules,
	.size = sizeof(struct controller_settings),
};
