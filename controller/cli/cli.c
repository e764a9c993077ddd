/* cli.c - the command line: one table of commands, their help, their errors.
 */
#include "controller/cli/cli.h"
#include "controller/cli/command.h"
#include "controller/cli/help.h"
#include "controller/cli/logins.h"
#include "controller/cli/render.h"
#include "controller/report/phrases.h"
#include "controller/results/formula.h"
#include "protocol/program.h"
#include "protocol/value.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>

#define ARGS_MAX 4096 /* words on a command line */

/* clang-format off */
#define OPTION(n, l, k, m, v) \
	.name = n, .letter = l, .kind = k, \
	.offset = offsetof(struct options, m), .value = v
#define FORMAT(list, which) \
	{ OPTION("format", 0, OPTION_WORD, format, "WORD"), .words = list, \
	  .help = which }
#define IMAGES \
	{ OPTION("images", 0, OPTION_TEXT, images, "DIR"), \
	  .help = "models, frameworks and vendors (REGATTA_IMAGES)" }

#define REGISTRY_AUTH(which) \
	{ OPTION("registry-auth", 0, OPTION_TEXT, registry_auth, "FILE"), \
	  .bare = REGISTRY_AUTH_DOCKER, .help = which }

#define SET \
	{ OPTION("set", 's', OPTION_LIST, set, "KEY=VALUE"), \
	  .help = "of the sweep file, once for each key: image=a:1" }
#define CASES \
	{ OPTION("keep-going", 0, OPTION_FLAG, keep_going, NULL), \
	  .help = "leave out cases of flagperf: that are wrong, run the " \
		  "others" }, \
	{ OPTION("tree", 0, OPTION_TEXT, tree, "DIR"), \
	  .help = "a FlagPerf checkout here, to look for what the cases need" }

static const char *const plain_formats[] = { "text", "json", NULL };
static const char *const report_formats[] = { "markdown", "csv", "json",
					      "html", NULL };
static const char *const report_styles[] = { "table", "reference", NULL };
static const char *const json_format[] = { "json", NULL };
static const char *const parameter_kinds[] = { "nominal", "exact", NULL };
static const char *const json_formats[] = { "json", NULL };
static const char *const person_roles[] = { "operator", "viewer", NULL };
static const char *const roles[] = { "agent", "operator", "viewer",
				     "controller", NULL };

static const struct option_rule connection_rules[] = {
	{ OPTION("controller", 0, OPTION_TEXT, controller, "ENDPOINT"),
	  .help = "tcp://HOST:7117 (REGATTA_CONTROLLER)" },
	{ OPTION("controller-key", 0, OPTION_TEXT, controller_key, "KEY"),
	  .help = "its public key or a file with it "
		  "(REGATTA_CONTROLLER_KEY)" },
	{ OPTION("key", 0, OPTION_TEXT, key, "FILE"),
	  .help = "your key (REGATTA_KEY, ~/.config/regatta/key)" },
	{ 0 },
};
static const struct option_rule format_rules[] = {
	FORMAT(plain_formats, "text or json"),
	{ 0 },
};
static const struct option_rule run_rules[] = {
	{ OPTION("state", 0, OPTION_TEXT, state, "DIR"),
	  .help = "new folder for everything "
		  "(./regatta-run-SWEEP-DATE-TIME)" },
	{ OPTION("resume", 0, OPTION_TEXT, resume, "DIR"),
	  .help = "go on in the folder of an earlier run" },
	{ OPTION("engine", 0, OPTION_TEXT, engine, "HOST"),
	  .help = "Docker engine (DOCKER_HOST, unix:///var/run/docker.sock)" },
	{ OPTION("engine-tls", 0, OPTION_TEXT, engine_tls, "DIR"),
	  .help = "ca.pem, cert.pem, key.pem for a tcp:// engine "
		  "(DOCKER_CERT_PATH)" },
	{ OPTION("devices", 0, OPTION_NUMBER, devices, "N"), .min = 1,
	  .max = 1024, .help = "devices of this machine (as many as the sweep "
			       "asks for)" },
	{ OPTION("keep", 0, OPTION_FLAG, keep, NULL),
	  .help = "leave controller and agent running at the end, for "
		  "regatta logs and the like" },
	REGISTRY_AUTH("who you are to registries (~/.docker/config.json)"),
	SET,
	CASES,
	IMAGES,
	FORMAT(report_formats, "of the result table: markdown, csv, json or html"),
	{ 0 },
};
static const struct option_rule plan_rules[] = {
	SET,
	CASES,
	IMAGES,
	FORMAT(plain_formats, "text or json"),
	{ 0 },
};
static const struct option_rule retry_rules[] = {
	REGISTRY_AUTH("send along anew who you are to the registries of its "
		      "images (~/.docker/config.json)"),
	IMAGES,
	FORMAT(plain_formats, "text or json"),
	{ 0 },
};
static const struct option_rule submit_rules[] = {
	{ OPTION("wait", 'w', OPTION_FLAG, wait, NULL),
	  .help = "show the progress until all is done, then the results" },
	{ OPTION("resume", 0, OPTION_FLAG, take_over, NULL),
	  .help = "take over what completed in earlier sweeps of this name, "
		  "run the rest" },
	REGISTRY_AUTH("send along, sealed, who you are to the registries of "
		      "its images (~/.docker/config.json)"),
	SET,
	CASES,
	IMAGES,
	FORMAT(plain_formats, "text or json"),
	{ 0 },
};
#define TOKEN \
	{ OPTION("expires", 0, OPTION_TEXT, expires, "TIME"), \
	  .help = "how long a token holds: 30m, 8h, 2d (1h)" }, \
	{ OPTION("address", 0, OPTION_TEXT, address, "ENDPOINT"), \
	  .help = "where whoever joins reaches the controller (as this " \
		  "command line does)" }

static const struct option_rule node_rules[] = {
	{ OPTION("uses", 0, OPTION_NUMBER, uses, "N"), .min = 1, .max = 16384,
	  .help = "how many nodes may join with a token (1)" },
	{ OPTION("name", 0, OPTION_TEXT, name, "NAME"),
	  .help = "of the node that joins with a token (it says itself)" },
	TOKEN,
	{ OPTION("force", 0, OPTION_FLAG, force, NULL),
	  .help = "remove a node that has tasks: they are lost" },
	{ OPTION("reason", 0, OPTION_TEXT, reason, "TEXT"),
	  .help = "why a node is drained, for who looks at nodes" },
	{ OPTION("from", 0, OPTION_TEXT, from, "TIME"),
	  .help = "maintenance begins: '2030-01-31 22:00', or in: 2h" },
	{ OPTION("until", 0, OPTION_TEXT, until, "TIME"),
	  .help = "and ends" },
	FORMAT(plain_formats, "text or json"),
	{ 0 },
};
static const struct option_rule user_rules[] = {
	{ OPTION("role", 0, OPTION_WORD, role, "ROLE"), .words = person_roles,
	  .help = "operator or viewer (needed to add)" },
	{ OPTION("public", 0, OPTION_KEY, public, "KEY"),
	  .help = "the user's public key or a file with it, in place of a "
		  "token" },
	TOKEN,
	FORMAT(plain_formats, "text or json"),
	{ 0 },
};
static const struct option_rule audit_rules[] = {
	{ OPTION("tail", 'n', OPTION_NUMBER, tail, "N"), .max = 1000000000,
	  .help = "only the last N orders" },
	FORMAT(plain_formats, "text or json"),
	{ 0 },
};
static const struct option_rule nodes_rules[] = {
	{ OPTION("watch", 'w', OPTION_FLAG, watch, NULL),
	  .help = "show them again whenever something changes" },
	FORMAT(plain_formats, "text or json"),
	{ 0 },
};
static const struct option_rule gc_rules[] = {
	{ OPTION("older", 0, OPTION_TEXT, older, "TIME"),
	  .help = "only of jobs that ended so long ago (30d)" },
	{ OPTION("keep", 0, OPTION_TEXT, keep_bytes, "SIZE"),
	  .help = "of the beginning and of the end of each output (1M)" },
	FORMAT(plain_formats, "text or json"),
	{ 0 },
};
static const struct option_rule backup_rules[] = {
	{ 0 },
};
static const struct option_rule join_rules[] = {
	FORMAT(plain_formats, "text or json"),
	{ 0 },
};
static const struct option_rule jobs_rules[] = {
	{ OPTION("sweep", 0, OPTION_NUMBER, sweep, "ID"), .min = 1,
	  .max = UINT64_MAX - 1, .help = "all jobs of that sweep" },
	{ OPTION("all", 0, OPTION_FLAG, all, NULL),
	  .help = "all jobs of all sweeps" },
	FORMAT(plain_formats, "text or json"),
	{ 0 },
};
static const struct option_rule logs_rules[] = {
	{ OPTION("follow", 'f', OPTION_FLAG, follow, NULL),
	  .help = "go on until the job ends; exit 0 when it completed, else "
		  "1" },
	{ OPTION("rank", 0, OPTION_NUMBER, rank, "N"), .max = 1048575,
	  .help = "only the output of that rank, byte for byte" },
	{ OPTION("stream", 0, OPTION_TEXT, stream, "NAME"),
	  .help = "a followed file: its stream, path or a pattern of paths; "
		  "build: what building the image printed" },
	{ OPTION("list", 0, OPTION_FLAG, list, NULL),
	  .help = "only list the streams: what there is to read" },
	{ OPTION("tail", 'n', OPTION_NUMBER, tail, "N"), .max = 1000000000,
	  .help = "only the last N lines (of each rank)" },
	{ OPTION("timestamps", 't', OPTION_FLAG, timestamps, NULL),
	  .help = "begin each line with the time it came" },
	{ OPTION("attempt", 0, OPTION_NUMBER, attempt, "N"), .min = 1,
	  .max = UINT32_MAX, .help = "an earlier attempt of the job" },
	{ 0 },
};
static const struct option_rule image_rules[] = {
	{ OPTION("nodes", 0, OPTION_TEXT, nodes, "NAME,..."),
	  .help = "only these; by default all that are in reach; to build: that "
		  "have the vendor's devices" },
	{ OPTION("tag", 0, OPTION_TEXT, tag, "NAME"),
	  .help = "what an image that is built is called (the folder, and a "
		  "hash of what is in it)" },
	REGISTRY_AUTH("build: send along, sealed, who you are to the "
		      "registries of the images that it is made from "
		      "(~/.docker/config.json)"),
	IMAGES,
	{ OPTION("keep", 0, OPTION_NUMBER, keep_images, "N"), .max = 1000000,
	  .help = "gc: the newest N of each repository stay (1)" },
	{ OPTION("floor", 0, OPTION_FLOOR, floor, "SIZE"),
	  .help = "gc: only until so much of the engine's disk is free: 50GiB, "
		  "20%" },
	{ OPTION("dry-run", 0, OPTION_FLAG, dry_run, NULL),
	  .help = "gc: only show what would go" },
	FORMAT(plain_formats, "text or json"),
	{ 0 },
};
static const struct option_rule fetch_rules[] = {
	{ OPTION("output", 'o', OPTION_TEXT, output, "DIR"),
	  .help = "where they come to be (.)" },
	{ OPTION("rank", 0, OPTION_NUMBER, rank, "N"), .max = 1048575,
	  .help = "only those of the node with that rank" },
	{ 0 },
};
static const struct option_rule report_rules[] = {
	FORMAT(report_formats, "markdown, csv, json, or html with curves"),
	{ OPTION("style", 0, OPTION_WORD, style, "WORD"),
	  .words = report_styles,
	  .help = "table, or reference: the page of published results" },
	{ OPTION("language", 0, OPTION_WORD, language, "WORD"),
	  .words = language_names,
	  .help = "of a reference page: en or zh" },
	{ OPTION("recompute", 0, OPTION_FLAG, recompute, NULL),
	  .help = "from the stored logs, by today's rules; tells what "
		  "differs" },
	IMAGES,
	{ 0 },
};
static const struct option_rule compare_rules[] = {
	{ OPTION("from-step", 0, OPTION_NUMBER, from_step, "N"),
	  .max = UINT32_MAX,
	  .help = "compare the losses from this step on (21)" },
	FORMAT(plain_formats, "text or json"),
	{ 0 },
};
static const struct option_rule extract_rules[] = {
	{ OPTION("framework", 0, OPTION_TEXT, framework, "NAME"),
	  .help = "whose log it is (needed)" },
	{ OPTION("context", 0, OPTION_TEXT, context, "FILE"),
	  .help = "what the log does not say: seq_length, global_batch, ..." },
	IMAGES,
	FORMAT(plain_formats, "text or json"),
	{ 0 },
};
static const struct option_rule sample_rules[] = {
	{ OPTION("from", 0, OPTION_TEXT, from, "FILE"),
	  .help = "what the tool printed; - is standard input (the tool of "
		  "this machine is run)" },
	IMAGES,
	FORMAT(json_formats, "json"),
	{ 0 },
};
static const struct option_rule verify_rules[] = {
	{ OPTION("result", 0, OPTION_TEXT, result, "FILE"),
	  .help = "what regatta report --format json printed, or a row of it" },
	{ OPTION("log", 0, OPTION_TEXT, log, "FILE"),
	  .help = "its log, or - for standard input; needs no controller" },
	{ OPTION("framework", 0, OPTION_TEXT, framework, "NAME"),
	  .help = "whose log it is (as the result says)" },
	IMAGES,
	FORMAT(plain_formats, "text or json"),
	{ 0 },
};
static const struct option_rule mfu_rules[] = {
	{ OPTION("model", 0, OPTION_TEXT, model, "NAME"),
	  .help = "of models.yaml (needed)" },
	{ OPTION("chip", 0, OPTION_TEXT, chip, "NAME"),
	  .help = "of a vendor's profile (needed)" },
	{ OPTION("precision", 0, OPTION_TEXT, precision, "WORD"),
	  .help = "bf16, fp16, tf32, fp8 ... (needed)" },
	{ OPTION("tokens-per-second", 0, OPTION_TEXT, tokens_per_second, "X"),
	  .help = "of one device: token/p/s (needed)" },
	{ OPTION("stage", 0, OPTION_TEXT, stage, "WORD"),
	  .help = "what is learnt (the model's first stage, or pretrain)" },
	{ OPTION("formula", 0, OPTION_WORD, formula, "WORD"),
	  .words = formula_names,
	  .help = "6n (default), or palm: with the attention" },
	{ OPTION("sequence", 0, OPTION_NUMBER, sequence, "N"), .min = 1,
	  .max = 1 << 30, .help = "tokens a sample, for palm (the model's)" },
	{ OPTION("parameters", 0, OPTION_WORD, parameters, "WORD"),
	  .words = parameter_kinds,
	  .help = "nominal, as tables have them (default), or exact" },
	{ OPTION("recompute", 0, OPTION_FLAG, recompute, NULL),
	  .help = "also the HFU of full recomputation" },
	IMAGES,
	FORMAT(json_format, "json"),
	{ 0 },
};
static const struct option_rule vendors_rules[] = {
	{ OPTION("device-root", 0, OPTION_TEXT, device_root, "DIR"),
	  .help = "what stands for /dev (probe)" },
	{ OPTION("sysfs-root", 0, OPTION_TEXT, sysfs_root, "DIR"),
	  .help = "what stands for /sys (probe)" },
	{ OPTION("proc-root", 0, OPTION_TEXT, proc_root, "DIR"),
	  .help = "what stands for /proc (probe)" },
	IMAGES,
	FORMAT(plain_formats, "text or json"),
	{ 0 },
};
static const struct option_rule export_rules[] = {
	IMAGES,
	{ 0 },
};
static const struct option_rule import_rules[] = {
	{ OPTION("keep-going", 0, OPTION_FLAG, keep_going, NULL),
	  .help = "leave out cases that cannot run" },
	IMAGES,
	{ 0 },
};
static const struct option_rule no_rules[] = { { 0 } };
static const struct option_rule key_rules[] = {
	{ OPTION("name", 0, OPTION_TEXT, name, "NAME"),
	  .help = "who holds the key (new)" },
	{ OPTION("role", 0, OPTION_WORD, role, "ROLE"), .words = roles,
	  .help = "agent, operator, viewer or controller (new)" },
	FORMAT(plain_formats, "text or json"),
	{ 0 },
};

static const struct command commands[] = {
	{ "run", "SWEEP | --resume DIR", 0, 1, false, run_rules,
	  "run a sweep on this machine, nothing set up",
	  "Starts a controller and an agent of its own on the local Docker "
	  "engine, runs the sweep, prints the result table and stops both. "
	  "Everything is kept in one folder: logs, results, and what "
	  "--resume needs to run only what is missing. Ctrl-C cancels the "
	  "sweep, removes its containers and ends; a second one does not wait "
	  "for that.",
	  "regatta run first.yaml", command_run },
	{ "plan", "SWEEP", 1, 1, true, plan_rules,
	  "show the cells of a sweep: kept, dropped, and why",
	  "Reads and checks the file; SWEEP may be - for standard input. When "
	  "a controller is named and in reach, it also says which nodes would "
	  "run what, in which waves, and how long, from what such cells took "
	  "before.",
	  "regatta plan first.yaml", command_plan },
	{ "submit", "SWEEP", 1, 1, true, submit_rules,
	  "hand a sweep to the controller",
	  "Prints the sweep's number. With --wait, Ctrl-C leaves the sweep "
	  "running. Exit 0 when all jobs completed, 1 when not. With "
	  "--resume, cells that completed unchanged in a sweep of the same "
	  "name are not run again: their jobs stand in the new sweep's "
	  "report, marked with where they ran.",
	  "regatta submit first.yaml --wait", command_submit },
	{ "sweeps", "", 0, 0, true, format_rules,
	  "list the sweeps", "All that the controller knows, the newest last.",
	  "regatta sweeps", command_sweeps },
	{ "jobs", "", 0, 0, true, jobs_rules,
	  "list jobs: of the last sweep, another one, or all",
	  "One line a job: what it is, its state, where it runs, and how far "
	  "it is, why it failed, or what nodes it waits for.",
	  "regatta jobs --sweep 3", command_jobs },
	{ "nodes", "", 0, 0, true, nodes_rules, "list the nodes",
	  "One line a node: its state, its devices and what runs on it.",
	  "regatta nodes", command_nodes },
	{ "show", "KIND ID", 2, 2, true, format_rules,
	  "show all that is known of a sweep, job or node",
	  "KIND is sweep, job or node; a node's ID is its name.",
	  "regatta show job 17", command_show },
	{ "logs", "JOB", 1, 1, true, logs_rules, "print what a job printed",
	  "The output of one rank is printed byte for byte. When there are "
	  "several ranks, each line begins with [rank-N].",
	  "regatta logs 17 -f --tail 20", command_logs },
	{ "image", "list | build VENDOR/FRAMEWORK | remove IMAGE | gc | load "
	  "FILE | save IMAGE FILE", 1, 3, true, image_rules,
	  "list, build, remove the nodes' images; carry them in files",
	  "list shows the nodes' images, and who needs them. build makes that "
	  "of images/vendors/VENDOR/FRAMEWORK, as a job would. remove removes "
	  "one that no job needs; gc those that Regatta brought and nobody "
	  "needs any more. FILE is what docker save writes, or an OCI layout, "
	  "as .tar, .tar.zst or .tar.gz. Its layers are sent once and passed on "
	  "from node to node; what a node has already is skipped. Run again, it "
	  "goes on where it was. Exit 1: not all nodes did it.",
	  "regatta image load torch.tar.zst --nodes n1,n2", command_image },
	{ "files", "JOB", 1, 1, true, format_rules,
	  "list the files that were collected of a job",
	  "They are those that collect: in the sweep names, from each node.",
	  "regatta files 17", command_files },
	{ "fetch", "JOB [PATH]", 1, 2, true, fetch_rules,
	  "get collected files of a job",
	  "Without a path: all of them. Those of several nodes come into "
	  "folders rank-N. What would lead out of the folder is left out, "
	  "and told; then the exit code is 1.",
	  "regatta fetch 17 /out/checkpoint -o results", command_fetch },
	{ "cancel", "[sweep | job] ID...", 1, ARGS_MAX, true, format_rules,
	  "end a sweep or a job",
	  "A bare number is a sweep. What has ended stays as it is.",
	  "regatta cancel job 17", command_cancel },
	{ "retry", "SWEEP", 1, 1, true, retry_rules,
	  "run the failed and cancelled jobs of a sweep again",
	  "Completed jobs keep their results.", "regatta retry 3",
	  command_retry },
	{ "report", "SWEEP", 1, 1, true, report_rules,
	  "print the result table of a sweep",
	  "Jobs that have not ended are shown with their state.",
	  "regatta report 3 --format csv > results.csv", command_report },
	{ "compare", "SWEEP SWEEP", 2, 2, true, compare_rules,
	  "set two sweeps side by side, cell by cell",
	  "Cells are matched by their words. Says of each whether the rates "
	  "differ by more than their spread, and how far the losses lie "
	  "apart.",
	  "regatta compare 3 7", command_compare },
	{ "extract", "[FILE | -]", 0, 1, false, extract_rules,
	  "read the metrics out of a training log",
	  "Applies the log rules of a framework to a file or standard input and "
	  "prints all that it says as JSON; needs no controller.",
	  "regatta extract --framework megatron --context cell.json train.log", command_extract },
	{ "sample", "VENDOR", 1, 1, false, sample_rules,
	  "read a monitor tool: temperature, power, memory, use",
	  "Runs the vendor's tool, or reads what it printed, and prints a "
	  "JSON array with an object per device. What the tool does not say "
	  "is null; bus_id is spelled as it spells it. Needs no controller.",
	  "regatta sample nvidia --from nvidia-smi.txt", command_sample },
	{ "verify", "JOB... | --result FILE --log FILE [JOB]", 0, ARGS_MAX,
	  true, verify_rules,
	  "compute results again from their logs and compare",
	  "The controller's logs are read again, by the rules and figures of "
	  "this machine. Exit 0 when all comes out as it is stored, 1 when a "
	  "field differs.",
	  "regatta verify 17 18", command_verify },
	{ "mfu", "", 0, 0, false, mfu_rules,
	  "hold a rate against the peak of a chip",
	  "Prints JSON: the model FLOPs utilisation in percent, what it was "
	  "computed from, and the sources. What is not known is null, with "
	  "the reason in \"text\". Needs no controller.",
	  "regatta mfu --model llama2_7b --chip A800 --precision bf16 \\\n"
	  "      --tokens-per-second 3564", command_mfu },
	{ "vendors", "[list | check FILE... | probe]", 0, ARGS_MAX, false,
	  vendors_rules, "list, check or look for vendors' hardware",
	  "list shows the vendors and their chips. check reads profiles and "
	  "says what is wrong with one, by file and line. probe shows the "
	  "devices of this machine, and for each other vendor what was looked "
	  "for and not found. Needs no controller.",
	  "regatta vendors probe", command_vendors },
	{ "check", "config | controller | agent | policy FILE...", 2, ARGS_MAX,
	  false, no_rules, "check settings and policies, starting nothing",
	  "config knows by a file's name whether it holds the settings of a "
	  "controller, of an agent, or a policy. Exit 0 when all are good, "
	  "2 when not. Needs no controller.",
	  "regatta check config /etc/regatta/agent.yaml", command_check },
	{ "completion", "bash | zsh | fish", 1, 1, false, no_rules,
	  "print what a shell needs to complete command lines",
	  "Packages install it where the shell looks for it. Needs no "
	  "controller.",
	  "eval \"$(regatta completion bash)\"", command_completion },
	{ "export", "flagperf SWEEP [DIR]", 2, 3, true, export_rules,
	  "write the logs of a sweep as FlagPerf leaves them",
	  "Makes DIR/run<time>/<case>/round<N>/<host>_noderank<i>/ with the "
	  "output of each process, the files that were followed, and what "
	  "was sampled, under FlagPerf's own names. Prints the folder.",
	  "regatta export flagperf 3 results", command_export },
	{ "import", "flagperf TREE [DIR]", 2, 3, false, import_rules,
	  "make sweeps of a FlagPerf checkout's configuration",
	  "Reads test_conf.py, cluster_conf.py and each host.yaml, running "
	  "nothing of them, and writes a sweep for each suite that has "
	  "cases, and a list of the nodes. Says what it could not carry "
	  "over, and what to type instead of run.py. Needs no controller.",
	  "regatta import flagperf /home/FlagPerf", command_import },
	{ "key", "new FILE --name NAME --role ROLE | show FILE", 1, 2, false,
	  key_rules, "make or show a key",
	  "new makes a key file that only you can read; both print the line "
	  "that the controller's list of keys needs.",
	  "regatta key new n1.key --name n1 --role agent >> authorized",
	  command_key },
	{ "node",
	  "token | tokens | revoke TOKEN | rekey NODE | remove NODE | drain "
	  "NODE | undrain NODE | maintain NODE | label NODE KEY=VALUE...",
	  1, 66, true, node_rules, "let nodes join, drain, label, remove them",
	  "token prints a line with which a machine joins: sudo regatta-agent "
	  "join TOKEN. rekey prints one with which a node gets a new key; its "
	  "old one is refused from then on. remove refuses a node's key at "
	  "once; its tasks begin again elsewhere. A drained node gets no new "
	  "tasks; those that it has go on. maintain drains it for a time to "
	  "come. label sets texts that sweeps choose nodes by; KEY- removes.",
	  "regatta node token --uses 8 --expires 2h", command_node },
	{ "user", "add NAME --role ROLE | list | remove NAME | roles", 1, 2,
	  true, user_rules, "let people in, and keep them out",
	  "add prints a line with which the user joins: regatta join TOKEN. "
	  "remove refuses the user's key at once, also in sessions that are "
	  "open. roles shows what each role may do.",
	  "regatta user add ann --role operator", command_user },
	{ "join", "TOKEN", 1, 1, false, join_rules,
	  "make yourself a key, with the token you were given",
	  "Makes a key in ~/.config/regatta, has it enrolled, and writes down "
	  "there where the controller is. Machines join with regatta-agent "
	  "join.",
	  "regatta join tcp://10.0.0.1:7117,Zk3...,q9A...", command_join },
	{ "backup", "FILE", 1, 1, true, backup_rules,
	  "write all that the controller knows to a file",
	  "Sweeps, jobs, results, logs, contents and who may connect, as of "
	  "one moment, while everything runs on. Not the keys of the "
	  "controller. regatta-controller restore makes a controller's "
	  "folder of it.",
	  "regatta backup monday.tar.gz", command_backup },
	{ "gc", "", 0, 0, true, gc_rules, "shorten the output of old jobs",
	  "Of what each rank of a job printed, the beginning and the end stay, "
	  "and a line between them that says how much is missing. Results "
	  "stay as they are.",
	  "regatta gc --older 90d --keep 256K", command_gc },
	{ "audit", "", 0, 0, true, audit_rules, "list who ordered what, and when",
	  "Every order that changes something, what came of it, and from where "
	  "it came.",
	  "regatta audit --tail 20", command_audit },
};
/* clang-format on */

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

const struct command *command_at(size_t index)
{
	return index < COMMANDS ? &commands[index] : NULL;
}

struct option_tables command_options(const struct command *command)
{
	return options_all(command->rules,
			   command->connects ? connection_rules : NULL);
}

static const struct command *command_named(const char *name, struct error *err)
{
	const char *names[COMMANDS + 1];
	const char *near;

	for (size_t i = 0; i < COMMANDS; i++) {
		names[i] = commands[i].name;
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	}
	names[COMMANDS] = NULL;
	near = word_nearest(name, names);
	error_set(err, EINVAL,
		  "no command '%.60s'%s%s%s; regatta --help lists all", name,
		  near ? "; did you mean '" : "", near ? near : "",
		  near ? "'?" : "");
	return NULL;
}

static int run_command(struct cli *cli, const struct command *command, int argc,
		       char **argv, struct error *err)
{
	if (options_parse(argc, argv, command->rules,
			  command->connects ? connection_rules : NULL,
			  &cli->options, cli->args, &cli->arg_count, err) < 0)
		return error_prefix(err, "%s", command->name);
	if (cli->options.help) {
		help_command(cli->out, command);
		return EXIT_GOOD;
	}
	if (cli->options.version) {
		fputs("regatta " REGATTA_VERSION "\n", cli->out);
		return EXIT_GOOD;
	}
	if (cli->arg_count > command->max_args)
		return error_set(err, EINVAL,
				 "%s: found '%.60s', allowed is: regatta "
				 "%s%s%s",
				 command->name, cli->args[command->max_args],
				 command->name, *command->args ? " " : "",
				 command->args);
	if (cli->arg_count < command->min_args)
		return error_set(err, EINVAL,
				 "%s: something is missing; allowed is: "
				 "regatta %s %s",
				 command->name, command->name, command->args);
	return command->fn(cli, err);
}

static int dispatch(struct cli *cli, int argc, char **argv, struct error *err)
{
	const struct command *command;

	if (argc < 2) {
		help_all(cli->err);
		return EXIT_WRONG_REQUEST;
	}
	if (argc > ARGS_MAX)
		return error_set(err, EINVAL, "%d words, allowed are %d", argc,
				 ARGS_MAX);
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") ||
	    (!strcmp(argv[1], "help") && argc == 2)) {
		help_all(cli->out);
		return EXIT_GOOD;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		fputs("regatta " REGATTA_VERSION "\n", cli->out);
		return EXIT_GOOD;
	}
	if (argv[1][0] == '-')
		return error_set(err, EINVAL,
				 "found '%.60s', allowed is a command first; "
				 "regatta --help lists all",
				 argv[1]);
	if (!strcmp(argv[1], "help")) {
		command = command_named(argv[2], err);
		if (!command)
			return -1;
		help_command(cli->out, command);
		return EXIT_GOOD;
	}
	command = command_named(argv[1], err);
	if (!command)
		return -1;
	cli->command = command->name;
	return run_command(cli, command, argc - 2, argv + 2, err);
}

static int exit_code(struct error *err)
{
	if (err->code == EINTR)
		return EXIT_INTERRUPTED;
	/* A file that may not be read; a controller out of reach is ENOTCONN.
	 */
	if (err->code == EACCES)
		err->code = EPERM;
	return (int)program_exit_code(err);
}

int cli_run(struct cli *cli, int argc, char **argv)
{
	owned_free char **args = calloc((size_t)argc + 1, sizeof(*args));
	struct error err = { 0 };
	int code = -1;

	options_init(&cli->options);
	cli->command = "";
	cli->args = args;
	cli->arg_count = 0;
	if (!args)
		error_nomem(&err, "command line");
	else
		code = dispatch(cli, argc, argv, &err);
	if (fflush(cli->out) != 0 && code >= 0)
		code = error_errno(&err, "cannot write the output");
	if (code < 0) {
		cli_say(cli, "regatta: %s", err.text);
		code = exit_code(&err);
	}
	cli->args = NULL;
	return code;
}

struct client *cli_connect(struct cli *cli, struct error *err)
{
	struct connection connection;
	struct client *client;
	sd_event *loop = NULL;
	int rc;

	if (settings_connection(cli->environment, &cli->options, &connection,
				err) < 0)
		return NULL;
	rc = sd_event_new(&loop);
	if (rc < 0) {
		error_set(err, -rc, "event loop: cannot be made");
		return NULL;
	}
	client = client_new(loop, &connection, err);
	sd_event_unref(loop);
	return client;
}

bool cli_format(const struct cli *cli, const char *word)
{
	return cli->options.format && !strcmp(cli->options.format, word);
}

int cli_print_json(struct cli *cli, const cJSON *json, struct error *err)
{
	char *text = cJSON_PrintUnformatted(json);

	if (!text)
		return error_nomem(err, "output");
	fprintf(cli->out, "%s\n", text);
	cJSON_free(text);
	return 0;
}

void cli_say(struct cli *cli, const char *fmt, ...)
{
	char text[1000], clean[2000];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	fprintf(cli->err, "%s\n", escape(text, clean, sizeof(clean)));
	fflush(cli->err);
}

static bool may_colour(const struct cli *cli)
{
	const char *no_color = cli->environment->no_color;

	return !no_color || !*no_color;
}

bool cli_out_colour(const struct cli *cli)
{
	return cli->out_terminal && may_colour(cli);
}

bool cli_err_colour(const struct cli *cli)
{
	return cli->err_terminal && may_colour(cli);
}

int cli_id(const char *text, const char *what, uint64_t *id, struct error *err)
{
	char *end = NULL;
	unsigned long long number = 0;

	errno = 0;
	if (text[0] >= '0' && text[0] <= '9')
		number = strtoull(text, &end, 10);
	if (!end || *end || errno || !number)
		return error_set(err, EINVAL,
				 "%s: found '%.60s', allowed is its number, "
				 "from 1 on",
				 what, text);
	*id = number;
	return 0;
}

int interrupts_init(struct interrupts *interrupts, sd_event *loop,
		    sd_event_signal_handler_t fn, void *arg, struct error *err)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	sigset_t set;
	int rc = 0;

	memset(interrupts, 0, sizeof(*interrupts));
	sigemptyset(&set);
	for (size_t i = 0; i < 3; i++)
		sigaddset(&set, signals[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	for (size_t i = 0; i < 3 && rc >= 0; i++)
		rc = sd_event_add_signal(loop, &interrupts->sources[i],
					 signals[i], fn, arg);
	if (rc < 0) {
		interrupts_clear(interrupts);
		return error_set(err, -rc, "event loop: cannot watch signals");
	}
	return 0;
}

void interrupts_clear(struct interrupts *interrupts)
{
	sigset_t set;

	if (!interrupts->sources[0])
		return;
	for (size_t i = 0; i < 3; i++)
		interrupts->sources[i] =
			sd_event_source_disable_unref(interrupts->sources[i]);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}
