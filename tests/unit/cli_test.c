/* cli_test.c - words of a command line, and the commands without controller.
 */
#include "controller/cli/run/folder.h"
#include "controller/cli/run/setup.h"
#include "protocol/base/file.h"
#include "tests/tap.h"
#include "tests/unit/cli_bed.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

/* Command lines that are wrong, and what the person is told. */
static const struct {
	const char *words[8];
	const char *told;
} wrong[] = {
	{ { "jbos" }, "no command 'jbos'; did you mean 'jobs'?" },
	{ { "-x" }, "'-x' is not valid here; expected a command first" },
	{ { "help", "xxxxxxxx" }, "no command 'xxxxxxxx'; regatta --help" },
	{ { "jobs", "--swep", "3" },
	  "jobs: unknown option '--swep'; did you mean '--sweep'?" },
	{ { "jobs", "-z" }, "jobs: unknown option '-z'; --help lists them" },
	{ { "init", "docker", "run", "--frobnicate" },
	  "init: unknown option '--frobnicate'; --help lists them" },
	{ { "logs", "--attempt" }, "logs: --attempt: missing N after it" },
	{ { "logs", "--attempt", "0" },
	  "logs: --attempt: '0' is not valid here; expected 1 to " },
	{ { "logs", "--attempt=3x" },
	  "--attempt: '3x' is not valid here; expected 1 to " },
	{ { "logs", "--attempt", "-1" },
	  "--attempt: '-1' is not valid here; expected 1" },
	{ { "logs", "--attempt", "99999999999999999999" },
	  "--attempt: '99999999999999999999'" },
	{ { "plan", "/nowhere" },
	  "/nowhere: No such file or directory; expected a sweep file, or -" },
	{ { "jobs", "--format", "xml" },
	  "jobs: --format: 'xml' is not valid here; expected text, json" },
	{ { "jobs", "--format=" },
	  "--format: '' is not valid here; expected text, json" },
	{ { "jobs", "3", "4" },
	  "jobs: '4' is not valid here; expected regatta jobs [SWEEP|DIR]" },
	{ { "jobs", "3", "--all" },
	  "jobs: --all, --sweep and SWEEP exclude each other" },
	{ { "logs", "--follow=yes", "3" }, "logs: --follow takes no value" },
	{ { "logs", "--controller=", "3" },
	  "--controller: missing value (expected ENDPOINT" },
	{ { "logs" }, "or --state DIR of a regatta run, which needs none" },
	{ { "cancel", "--all", "3" },
	  "cancel: --all and ID exclude each other" },
	{ { "logs", "three" },
	  "job: 'three' is not valid here; expected the number of a job" },
	{ { "logs", "0" }, "job: '0'" },
	{ { "logs", "--", "-3" }, "job: '-3'" },
	{ { "cancel", "job" },
	  "cancel: missing argument ID (expected the number of a job)" },
	{ { "cancel", "3", "node", "n1" }, "sweep: 'node'" },
	{ { "retry", "x" }, "sweep: 'x'" },
	{ { "report", "1", "--format", "text" },
	  "--format: 'text' is not valid here; expected markdown, csv, json" },
	{ { "show", "pod", "1" },
	  "show: 'pod' is not valid here; expected sweep, job, " },
	{ { "show", "job", "n1" }, "job: 'n1'" },
	{ { "key", "make", "x" },
	  "key: 'make' is not valid here; expected new, show" },
	{ { "key", "new" },
	  "key new: missing argument FILE (expected regatta key new FILE" },
	{ { "key", "new", "x" },
	  "missing option (expected --name NAME and --role ROLE" },
	{ { "key", "new", "x", "--name", "me", "--role", "king" },
	  "--role: 'king' is not valid here; expected agent, operator, "
	  "viewer" },
	{ { "key", "new", "x", "--name", "../me", "--role", "agent" },
	  "name: '../me' is not valid here; expected" },
	{ { "sample", "nix" },
	  "vendor: 'nix' is not valid here; expected amd" },
	{ { "sample", "cpu", "--from", "/dev/null" }, "cpu has no monitor" },
	{ { "sample", "amd", "--from", "/nix" }, "/nix: No such file" },
	{ { "sample", "amd", "--from", "/dev/null" }, "no line contains text" },
	{ { "extract", "--framework", "nix" },
	  "--framework: unknown framework \"nix\"" },
	{ { "mfu", "--model", "llama2_7b", "--chip=A" },
	  "mfu: missing option (expected --precision)" },
	{ { "mfu", "--model=x", "--chip=x", "--precision=x",
	    "--tokens-per-second=-1" },
	  "--tokens-per-second: '-1' is not valid here; expected a number "
	  "above 0" },
	{ { "mfu", "--model=x", "--chip=x", "--precision=x",
	    "--tokens-per-second=0x10" },
	  "--tokens-per-second: '0x10' is not valid here; expected" },
	{ { "mfu", "--model=lama2_7b", "--chip=x", "--precision=x",
	    "--tokens-per-second=9" },
	  "--model: unknown model \"lama2_7b\"; did you mean \"llama2_7b\"" },
	{ { "mfu", "--model=llama2_7b", "--chip=qqqqqqqq", "--precision=x",
	    "--tokens-per-second=9" },
	  "--chip: unknown chip \"qqqqqqqq\"; expected " },
	{ { "gc", "--older", "5" },
	  "--older: '5' is not valid here; expected a time with its unit "
	  "(500ms, 90s, 15m, 2h, 1d) from 0ms to 36600d" },
	{ { "node", "drain" },
	  "node drain: missing argument NODE (expected regatta node drain "
	  "NODE)" },
	{ { "image", "remove", "i", "--dry-run" },
	  "image remove: --dry-run is not valid here; it is for image gc" },
	{ { "image", "save", "i", "f", "--keep", "3" },
	  "image save: --keep is not valid here; it is for image gc" },
	{ { "image", "gc", "--tag", "t" },
	  "image gc: --tag is not valid here; it is for image build" },
	{ { "image", "load", "i", "--set", "image=x" },
	  "image load: --set is not valid here; it is for image pull" },
	{ { "image", "gc", "--registry-auth" },
	  "image gc: --registry-auth is not valid here; it is for image "
	  "pull, image build" },
	{ { "image", "pull" },
	  "image pull: missing argument (expected regatta image pull SWEEP" },
	{ { "image", "remove", "i", "--nodes", "," },
	  "--nodes: ',' is not valid here; expected names of nodes separated "
	  "by "
	  "commas" },
	{ { "image", "load", "-" },
	  "standard input is not valid here; expected a file, because it is "
	  "read twice: docker save -o FILE IMAGE" },
	{ { "run", "--slurm", "--only-devices", "0", "s.yaml" },
	  "run: --only-devices is not valid with --slurm" },
	{ { "k8s", "--plan", "--resume", "x" },
	  "k8s: --plan is not valid with --resume (expected a sweep)" },
	{ { "verify", "x" }, "job: 'x'" },
	{ { "verify", "--log", "x" },
	  "missing --result FILE or --log FILE (expected both)" },
	{ { "verify", "--log", "x", "--result", "y", "1", "2" },
	  "2 jobs; expected one with --log" },
	{ { "verify", "--log", "x", "--result", "/dev/null" }, "/dev/null: " },
	{ { "verify", "--mlperf", "/nowhere" }, "/nowhere: " },
	{ { "mfu", "--formula", "7n" },
	  "--formula: '7n' is not valid here; expected 6n, palm" },
	{ { "plan", "--set", "image", "LICENSE" },
	  "--set: 'image' is not valid here; expected KEY=VALUE with a key of "
	  "the sweep file" },
	{ { "plan", "--set", "a..b=1", "LICENSE" }, "--set: 'a..b=1'" },
	{ { "plan", "--set", "image=[a", "LICENSE" }, "--set image:" },
	{ { "plan", "/nowhere/s.yaml" }, "/nowhere/s.yaml" },
	{ { "plan", "/dev/null", "--images", "/nowhere" },
	  "--images /nowhere: No such file" },
	{ { "run" }, "run: missing argument SWEEP" },
	{ { "run", "s", "--resume", "d" },
	  "--resume DIR excludes a sweep file, --set and --state" },
	{ { "run", "--resume", "d", "-s", "steps=5" },
	  "--resume DIR excludes a sweep file, --set and --state" },
	{ { "slurm", "--resume", "d", "--set", "steps=5" },
	  "--resume DIR excludes --set and --state" },
	{ { "run", "--resume", "/nowhere" }, "/nowhere: No such file" },
	{ { "run", "--resume", "/" },
	  "/: no regatta run in this folder; regatta run SWEEP --state" },
	{ { "jobs" },
	  "no controller is set: use 'regatta join TOKEN', --controller" },
	{ { "jobs", "--controller", "localhost:7117" },
	  "controller: 'localhost:7117' is not valid here; expected "
	  "tcp://HOST:PORT" },
	{ { "jobs", "--controller", "tcp://h:1", "--key", "/nowhere/k" },
	  "no key at /nowhere/k: make one with 'regatta join TOKEN'" },
	{ { "jobs", "--controller", "tcp://h:1", "--controller-key", "short" },
	  "controller's key: " },
};

static void test_wrong(struct bed *bed)
{
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		const char *const *w = wrong[i].words;
		int code = bed_run(bed, w[0], w[1], w[2], w[3], w[4], w[5],
				   w[6], NULL);

		ok(code == 2 && bed_said(bed, wrong[i].told) && !bed->out[0] &&
			   !strncmp(bed->err, "regatta: ", 9) &&
			   strchr(bed->err, '\n')[1] == 0,
		   "exit 2 and one sentence: %s", wrong[i].told);
	}
	bed_run(bed, "audit", "--tail", "x", "--format=json", NULL);
	ok(bed_printed(bed, "{\"error\":{\"text\":\"audit: --tail: ") &&
		   bed_printed(bed, "\",\"exit\":2}}\n") &&
		   bed_said(bed, "regatta: audit: --tail: "),
	   "with --format json the error is JSON, too");
	bed_run(bed, "jobs", "--nix", "--format", "json", NULL);
	ok(bed_printed(bed, "\"text\":\"jobs: unknown option '--nix'"),
	   "even if the options could not be read");
	is_int(bed_run(bed, NULL), 2, "no command at all is wrong too");
	ok(bed_said(bed, "usage: regatta COMMAND"), "and teaches");
	bed_run(bed, "jobs\033[2J", NULL);
	ok(!strchr(bed->err, '\033'), "what was typed is escaped");
}

static void test_help(struct bed *bed)
{
	static const char *const names[] = {
		"run",    "plan", "submit", "sweeps", "jobs",   "nodes",
		"show",   "logs", "cancel", "retry",  "report", "extract",
		"sample", "mfu",  "key",    "verify"
	};

	is_int(bed_run(bed, "--help", NULL), 0, "help is good");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char usage[40], example[40], line[40];

		snprintf(line, sizeof(line), "\n  %s ", names[i]);
		bed_run(bed, "--help", NULL);
		ok(bed_printed(bed, line), "the help lists %s", names[i]);
		snprintf(usage, sizeof(usage), "usage: regatta %s", names[i]);
		snprintf(example, sizeof(example), "example:\n  regatta %s",
			 names[i]);
		ok(bed_run(bed, names[i], "--help", NULL) == 0 &&
			   bed_printed(bed, usage) &&
			   bed_printed(bed, example) && !bed->err[0],
		   "%s has a help with an example", names[i]);
	}
	bed_run(bed, "help", "jobs", NULL);
	ok(bed_printed(bed, "--controller-key KEY"),
	   "commands that connect say how");
	bed_run(bed, "extract", "-h", NULL);
	ok(!strstr(bed->out, "--controller"), "others do not");
	bed_run(bed, "--version", NULL);
	is(bed->out, "regatta " REGATTA_VERSION "\n", "the version");
}

static void test_keys(struct bed *bed)
{
	const char *file = bed_file(bed, "new.key");
	owned_free char *line = NULL;
	struct stat st = { 0 };

	is_int(bed_run(bed, "key", "new", file, "--name", "n1", "--role",
		       "agent", NULL),
	       0, "key new makes a key");
	ok(stat(file, &st) == 0 && (st.st_mode & 07777) == 0600,
	   "that only its owner can read");
	ok(!strncmp(bed->out, "\"n1\": {role: agent, public: \"", 28) &&
		   bed_said(bed, "the controller's list of keys"),
	   "and prints its line");
	ok(!strstr(bed->out, "secret"), "without the secret");
	line = strdup(bed->out);
	bed_run(bed, "key", "show", file, NULL);
	is(bed->out, line, "key show prints it again");
	is_int(bed_run(bed, "key", "new", file, "--name", "n1", "--role",
		       "agent", NULL),
	       2, "a key is never overwritten");
	bed_run(bed, "key", "show", file, "--format", "json", NULL);
	ok(bed_printed(bed, "{\"name\":\"n1\",\"role\":\"agent\",\"public\":"),
	   "as JSON");
	chmod(file, 0644);
	ok(bed_run(bed, "key", "show", file, NULL) == 2 &&
		   bed_said(bed, "others may read it"),
	   "a key that others may read is refused");
	is_int(bed_run(bed, "key", "show", "/nowhere/k", NULL), 2,
	       "one that is not there is a wrong request");
}

#define SWEEP                                                                  \
	"sweep: demo\nframework: cpu\nmodel: gpt-nano\ntimeout: 1m\n"          \
	"matrix:\n  nodes: [1, 2]\n  devices: [1, 3]\n"                        \
	"  layout:\n    - parallel: {tp: 1}\n    - parallel: {tp: 3}\n"

static void test_check(struct bed *bed)
{
	const char *agent = bed_file(bed, "agent.yaml");

	bed_write(bed, "agent.yaml", "stall: 3\n", 0644);
	bed_write(bed, "policy.yaml", "mounts: [{host: data}]\n", 0644);
	is_int(bed_run(bed, "check", "config", agent, NULL), 0,
	       "good settings are good");
	ok(bed_printed(bed, "agent.yaml: good (settings of regatta-agent)"),
	   "and named for what they are");
	ok(bed_run(bed, "check", "controller", agent, NULL) == 2 &&
		   bed_said(bed, "agent.yaml:1: stall: unknown key"),
	   "those of another program are not");
	ok(bed_run(bed, "check", "config", agent, bed_file(bed, "policy.yaml"),
		   NULL) == 2 &&
		   bed_said(bed, "policy.yaml:1: mounts[0].host: ") &&
		   bed_printed(bed, "good"),
	   "one of several that is bad is told, with its line");
	ok(bed_run(bed, "check", "config", "/x/y.yaml", NULL) == 2 &&
		   bed_said(bed, "regatta check controller, agent or policy"),
	   "a name that tells nothing: it says what to do");
	ok(bed_run(bed, "check", "sweep", agent, NULL) == 2 &&
		   bed_said(bed, "expected config, controller"),
	   "another kind is refused");
}

static void test_plan(struct bed *bed)
{
	const char *file = bed_file(bed, "s.yaml");

	bed_write(bed, "s.yaml", SWEEP, 0644);
	is_int(bed_run(bed, "plan", file, NULL), 0, "plan needs no controller");
	ok(bed_printed(bed, "\nDROPPED CELL") &&
		   bed_printed(bed, "demo: 8 cells, "),
	   "it shows kept cells, dropped cells and the sums");
	bed_run(bed, "plan", file, "--format", "json", NULL);
	ok(bed_printed(bed, "\"totals\":{\"cells\":8,") &&
		   bed_printed(bed, "\"reason\":\""),
	   "as JSON too");
	bed_run(bed, "plan", file, "--set", "image=other:2", "-s",
		"matrix.devices=[1]", "--format", "json", NULL);
	ok(bed_printed(bed, "\"image\":\"other:2\"") &&
		   bed_printed(bed, "\"cells\":4,"),
	   "what is set on the command line is laid over the file");
	ok(bed_run(bed, "plan", file, "--set", "devices=1", NULL) == 2 &&
		   bed_said(bed, "--set devices: the matrix has a list of this "
				 "key, which takes precedence; expected --set "
				 "'matrix.devices=[...]'"),
	   "but not where the matrix would win over it");
	is_int(bed_run(bed, "plan", file, "--set", "matrix.devices=", "--set",
		       "devices=1", NULL),
	       0, "unless the list is taken away");
	bed_run(bed, "plan", file, "--set", "workspace=./nowhere", NULL);
	ok(bed_said(bed, "no workspace ") &&
		   bed_said(bed, "nowhere; the plan ignores it") &&
		   bed_printed(bed, "demo: 8 cells, "),
	   "a sweep may be planned where its code is not");
	ok(bed_run(bed, "plan", file, "--set", "image=other:2", "--set",
		   "batch.micro=none", NULL) == 2 &&
		   bed_said(bed, "--set batch.micro=none: batch.micro: "
				 "\"none\" is not valid here"),
	   "an error of an option is that of the option");
	bed_write(bed, "bad.yaml", "sweep: demo\nframwork: cpu\n", 0644);
	ok(bed_run(bed, "plan", bed_file(bed, "bad.yaml"), NULL) == 2 &&
		   bed_said(bed, "bad.yaml:2: framwork: "),
	   "a broken file is told with file and line");
	ok(bed_run(bed, "submit", bed_file(bed, "bad.yaml"), NULL) == 2 &&
		   bed_said(bed, "bad.yaml:2: framwork: "),
	   "also by submit, before it looks for a controller");
}

static void test_extract(struct bed *bed)
{
	char log[2000] = "";

	for (int i = 1; i <= 20; i++)
		snprintf(log + strlen(log), sizeof(log) - strlen(log),
			 "step %d/20 | loss %d.5 | iteration 100.0 ms | 640.0 "
			 "tokens/s | memory 12.0 MiB\n",
			 i, 30 - i);
	bed_write(bed, "train.log", log, 0644);
	is_int(bed_run(bed, "extract", "--framework", "cpu",
		       bed_file(bed, "train.log"), "--format", "text", NULL),
	       0, "extract reads a log");
	ok(bed_printed(bed, "STEP  LOSS  STEP TIME MS  TOKEN/S") &&
		   bed_printed(bed, "step time 100.0 ms") &&
		   bed_printed(bed, "loss 29.5 to 10.5"),
	   "and prints its steps and the steady state");
	is_int(bed_run(bed, "extract", "--learn", bed_file(bed, "train.log"),
		       "--value", "step=3", "--value", "loss=27.5", NULL),
	       0, "extract --learn proposes rules");
	ok(bed_printed(bed, "framework: mine\nlog:\n  rules:\n") &&
		   bed_printed(bed, "# reads 20 steps") &&
		   bed_printed(bed, "#   step 2, loss 28.5\n"),
	   "and shows what they read");
	is_int(bed_run(bed, "extract", "--learn", bed_file(bed, "train.log"),
		       NULL),
	       0, "without values it takes those that have a meaning");
	ok(bed_printed(bed, "#   step 2, loss 28.5"), "and reads the log");
	bed_write(bed, "none.log", "nothing of the kind\n", 0644);
	is_int(bed_run(bed, "extract", "/dev/null", NULL), 1,
	       "an empty log has no figures");
	ok(bed_said(bed, "the log is empty"), "and is called empty");
	is_int(bed_run(bed, "extract", "--learn", bed_file(bed, "none.log"),
		       NULL),
	       2, "a log without such values needs them");
	is_int(bed_run(bed, "extract", bed_file(bed, "train.log"), "--value",
		       "step=3", NULL),
	       2, "and values need --learn");
	bed_write(bed, "cell.json",
		  "{\"global_batch\": 4, \"seq_length\": 16, "
		  "\"world_size\": 2, \"warmup_steps\": 2}",
		  0644);
	bed_run(bed, "extract", "--framework", "cpu", "--context",
		bed_file(bed, "cell.json"), bed_file(bed, "train.log"), NULL);
	ok(bed_printed(bed, "{\"format\":\"cpu\",\"steps\":20,\"records\":["
			    "{\"step\":1,\"steps\":20,\"loss\":29.5,"
			    "\"iteration_ms\":100,") &&
		   bed_printed(bed,
			       "\"warmup_steps\":2,\"warmup\":\"given\",") &&
		   bed_printed(bed, "\"tokens_per_second_per_device\":320,"),
	   "as JSON, with the result that the cell's figures give");
	bed_write(bed, "cell.json", "{\"global_batch\": -4}", 0644);
	ok(bed_run(bed, "extract", "--framework", "cpu", "--context",
		   bed_file(bed, "cell.json"), bed_file(bed, "train.log"),
		   NULL) == 2 &&
		   bed_said(bed, "cell.json:1: global_batch: "),
	   "a figure out of range is told with file and line");
	bed_write(bed, "cell.json", "{\"tp\": 8, \"seq_lenght\": 4}", 0644);
	ok(bed_run(bed, "extract", "--framework", "cpu", "--context",
		   bed_file(bed, "cell.json"), bed_file(bed, "train.log"),
		   NULL) == 2 &&
		   bed_said(bed, "cell.json:1: seq_lenght: unknown key; did "
				 "you mean \"seq_length\"?"),
	   "a figure that is misspelt, too; other keys are left alone");
	bed_write(bed, "empty.log", "nothing here\n", 0644);
	is_int(bed_run(bed, "extract", "--framework", "cpu",
		       bed_file(bed, "empty.log"), NULL),
	       1, "a log without metrics is failed work");
	ok(bed_said(bed, "no line of the log matches"), "and says so");
}

static void test_hostile_json(struct bed *bed)
{
	bed_write(bed, "hostile.log",
		  "RuntimeError: no oar \xc2\x9b[J \xe2\x80\xae \x7f\n", 0644);
	bed_run(bed, "diagnose", bed_file(bed, "hostile.log"), "--format",
		"json", NULL);
	ok(bed_printed(bed, "no oar \\u009b[J \\u202e \\u007f\""),
	   "JSON shows a terminal no controls of a log");
}

static void test_sample(struct bed *bed)
{
	bed_write(bed, "smi.csv",
		  "index, temperature.gpu, memory.used [MiB], power.draw [W]\n"
		  "0, 41, 1309 MiB, [N/A]\n",
		  0644);
	is_int(bed_run(bed, "sample", "nvidia", "--from",
		       bed_file(bed, "smi.csv"), NULL),
	       0, "sample reads what a monitor tool printed");
	ok(bed_printed(bed, "[{\"device\":\"0\",\"bus_id\":null,\"name\":null,"
			    "\"temp_c\":41,\"power_w\":null,"
			    "\"power_cap_w\":null,\"mem_used_mib\":1309,"
			    "\"mem_total_mib\":null,\"util_pct\":null,"
			    "\"mem_used_pct\":null,\"clock_mhz\":null,"
			    "\"clock_max_mhz\":null,"
			    "\"throttle_thermal_pct\":null,"
			    "\"throttle_power_pct\":null,"
			    "\"throttle_other_pct\":null,"
			    "\"ecc_corrected\":null,\"ecc_uncorrected\":null,"
			    "\"remap_pending\":null,\"pcie_gen\":null,"
			    "\"pcie_width\":null,\"link_errors\":null,"
			    "\"driver\":null}]\n"),
	   "and prints every key, null where it says nothing");
	bed_write(bed, "smi.txt", "No devices were found\n", 0644);
	is_int(bed_run(bed, "sample", "nvidia", "--from",
		       bed_file(bed, "smi.txt"), NULL),
	       2, "what no layout fits is a wrong request");
	ok(bed_said(bed, "\"No devices were found\" at its start matches none "
			 "of the "),
	   "and is quoted");
}

/* A folder of images with one chip. */
static void make_images(struct bed *bed)
{
	owned(buffer_clear) struct buffer models = BUFFER_INIT(1 << 20);

	file_read(AT_FDCWD, "images/models.yaml", &models, NULL);
	file_make_folders(bed_file(bed, "vendors/acme"), 0755, NULL);
	bed_write(bed, "models.yaml", models.data, 0644);
	bed_write(bed, "vendors/acme/profile.yaml",
		  "vendor: acme\nchips:\n  - {name: A1, source: a paper,\n"
		  "     tflops: {bf16: 312, tf32: 156}}\n"
		  "  - {name: A2, source: a page}\n",
		  0644);
}

static void test_mfu(struct bed *bed)
{
	make_images(bed);
	is_int(bed_run(bed, "mfu", "--images", bed->folder, "--model",
		       "llama2-7B", "--chip", "a1", "--precision", "bf16",
		       "--tokens-per-second", "3120", "--recompute", NULL),
	       0, "mfu holds a rate against a chip");
	/* 42e9 * 3120 / 312e12 = 0.42; 56e9 recomputed: 0.56 */
	ok(bed_printed(bed, "{\"mfu_percent\":42,\"hfu_percent\":56,"
			    "\"flops_per_token\":42000000000,"
			    "\"peak_tflops\":312,\"formula\":\"6n\","),
	   "and prints percent, FLOPs, peak and formula");
	ok(bed_printed(bed, "\"parameters\":7000000000,"
			    "\"parameters_are\":\"nominal\"") &&
		   bed_printed(bed, "\"sources\":{\"model\":\"https://") &&
		   bed_printed(bed, "\"chip\":\"a paper\"") &&
		   bed_printed(bed, "\"text\":null,\"flags\":[]"),
	   "the parameters, and all sources");
	bed_run(bed, "mfu", "--images", bed->folder, "--model", "llama2_7b",
		"--chip", "A1", "--precision", "bf16", "--tokens-per-second",
		"3120", "--formula", "palm", "--sequence", "1024", NULL);
	/* 42e9 + 12 * 32 * 4096 * 1024 */
	ok(bed_printed(bed, "\"flops_per_token\":43610612736,") &&
		   bed_printed(bed, "\"formula\":\"palm\""),
	   "palm counts the attention at the sequence that was given");
	bed_run(bed, "mfu", "--images", bed->folder, "--model", "llama2_7b",
		"--chip", "A1", "--precision", "bf16", "--tokens-per-second",
		"1", "--parameters", "exact", "--stage", "lora-4n", NULL);
	ok(bed_printed(bed, "\"flops_per_token\":26953662464,"),
	   "exact parameters and another stage can be asked for");
	is_int(bed_run(bed, "mfu", "--images", bed->folder, "--model",
		       "llama2_7b", "--chip", "A1", "--precision", "fp8",
		       "--tokens-per-second", "1", NULL),
	       0, "an unknown peak is no mistake");
	ok(bed_printed(bed, "{\"mfu_percent\":null,") &&
		   bed_printed(bed, "\"peak_tflops\":\"unknown\",") &&
		   bed_printed(bed, "\"text\":\"the peak of A1 at fp8 is "
				    "unknown; known are bf16, tf32\""),
	   "but null, and told in words");
	bed_run(bed, "mfu", "--images", bed->folder, "--model", "llama2_7b",
		"--chip", "A2", "--precision", "bf16", "--tokens-per-second",
		"1", NULL);
	ok(bed_printed(bed, "the peak of A2 is unknown, because no value with "
			    "a source exists"),
	   "a chip without any figure, too");
	bed_run(bed, "mfu", "--images", bed->folder, "--model", "llama2_7b",
		"--chip", "A1", "--precision", "bf16", "--tokens-per-second",
		"9360", NULL);
	ok(bed_printed(bed, "\"flags\":[\"an MFU of 126.0 % is "
			    "impossible\"]"),
	   "more than the chip can do is flagged");
	ok(bed_run(bed, "mfu", "--images", bed->folder, "--model", "llama2_7b",
		   "--chip", "A1", "--precision", "bf16", "--tokens-per-second",
		   "1", "--stage", "lorra", NULL) == 2 &&
		   bed_said(bed, "did you mean 'lora'?"),
	   "an unknown stage is refused");
}

/* Settings: option, then environment, then file. */

static int endpoint_of(const struct bed *bed, const struct options *options,
		       struct connection *connection, struct error *err)
{
	return settings_connection(&bed->environment, options, connection, err);
}

static void test_settings(struct bed *bed)
{
	struct environment before = bed->environment;
	struct connection connection = { 0 };
	struct options options = { 0 };
	struct error err;
	char text[500];

	mkdir(bed_file(bed, ".config"), 0755);
	mkdir(bed_file(bed, ".config/regatta"), 0755);
	snprintf(text, sizeof(text),
		 "controller: tcp://file:1\ncontroller_key: %s\n",
		 bed->server_key);
	bed_write(bed, ".config/regatta/config.yaml", text, 0644);
	bed->environment.controller_key = NULL;
	bed->environment.key = NULL;
	ok(endpoint_of(bed, &options, &connection, &err) < 0 &&
		   strstr(err.text, "/.config/regatta/key: make one"),
	   "the key is looked for beside the file");
	rename(bed->key, bed_file(bed, ".config/regatta/key"));
	ok(endpoint_of(bed, &options, &connection, &err) == 0 &&
		   !strcmp(connection.endpoint, "tcp://file:1") &&
		   !strcmp(connection.key.name, "me"),
	   "the configuration file has all that is needed");
	bed->environment.controller = "tcp://environment:1";
	endpoint_of(bed, &options, &connection, &err);
	is(connection.endpoint, "tcp://environment:1",
	   "the environment wins over the file");
	options.controller = "tcp://option:1";
	endpoint_of(bed, &options, &connection, &err);
	is(connection.endpoint, "tcp://option:1",
	   "the option wins over the environment");
	bed_write(bed, ".config/regatta/config.yaml", "contoller: x\n", 0644);
	ok(endpoint_of(bed, &options, &connection, &err) < 0 &&
		   strstr(err.text, "config.yaml:1: contoller"),
	   "a broken file is told with its line");
	bed->environment.config = "/nowhere/config.yaml";
	ok(endpoint_of(bed, &options, &connection, &err) < 0 &&
		   strstr(err.text, "/nowhere/config.yaml"),
	   "a file that was named must be there");
	rename(bed_file(bed, ".config/regatta/key"), bed->key);
	file_remove_tree(AT_FDCWD, bed_file(bed, ".config"), NULL);
	bed->environment = before;
	bed_run(bed, "jobs", "--controller", "tcp://h:1", "--key",
		bed->server_key, NULL);
	ok(bed_said(bed, "the role controller is not valid here"),
	   "the key of a daemon is not a person's");
}

/* run */

static int listen_at(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(fd, 5) < 0)
		printf("# %s: %s\n", path, strerror(errno));
	return fd;
}

static void test_probe(struct bed *bed)
{
	struct error err;
	char host[300];
	owned_fd int fd = listen_at(bed_file(bed, "engine.sock"));

	snprintf(host, sizeof(host), "unix://%s", bed_file(bed, "engine.sock"));
	ok(probe_engine(host, &err) == 0, "an engine that listens is there");
	ok(probe_is_silent(host), "one that says nothing is silent");
	ok(!probe_is_silent("unix:///nowhere.sock"),
	   "one that is not there is not");
	ok(probe_engine("unix:///nowhere.sock", &err) < 0 &&
		   err.code == ECONNREFUSED &&
		   strstr(err.text,
			  "the socket does not exist; start Docker") &&
		   strstr(err.text, "or install it (apt install docker.io;") &&
		   strstr(err.text, "--engine or DOCKER_HOST"),
	   "no socket: it says what to do");
	ok(probe_engine("tcp://127.0.0.1:1", &err) < 0 &&
		   err.code == ECONNREFUSED &&
		   strstr(err.text, "no engine listens there; set another"),
	   "nobody listens: it says so");
	ok(probe_engine("tcp://127.0.0.1", &err) < 0 && err.code == EINVAL,
	   "an address without port is refused");
	ok(probe_engine("ssh://host", &err) < 0 && err.code == EINVAL,
	   "so is another way to reach it");
}

static void test_folder(struct bed *bed)
{
	owned(folder_clear) struct folder first = { 0 };
	owned(folder_clear) struct folder second = { 0 };
	owned(buffer_clear) struct buffer text = BUFFER_INIT(100);
	owned(buffer_clear) struct buffer back = BUFFER_INIT(100);
	char path[PATH_MAX], cluster[64];
	struct stat st = { 0 };
	struct error err;
	const char *name = bed_file(bed, "a/run");

	buffer_text(&text, "sweep: x\n", NULL);
	ok(folder_make(&first, name, "x", &text, &err) == 0,
	   "a folder is made with those above it");
	ok(stat(folder_file(&first, "keys", path), &st) == 0 &&
		   (st.st_mode & 07777) == 0700,
	   "its keys are for its owner alone");
	ok(!strncmp(first.cluster, "run-", 4) && strlen(first.cluster) == 36,
	   "its label is random");
	snprintf(cluster, sizeof(cluster), "%s", first.cluster);
	ok(folder_make(&second, name, "x", &text, &err) < 0 &&
		   strstr(err.text, "another regatta run uses this folder"),
	   "two runs in one folder are refused");
	folder_clear(&second);
	folder_clear(&first);
	ok(folder_make(&second, name, "x", &text, &err) < 0 &&
		   err.code == EEXIST && strstr(err.text, "--resume"),
	   "so is a new one where one was");
	folder_clear(&second);
	ok(folder_resume(&second, NULL, name, &back, &err) == 0 &&
		   !strcmp(back.data, "sweep: x\n") &&
		   !strcmp(second.cluster, cluster) &&
		   !strcmp(second.controller.public, first.controller.public),
	   "resuming finds sweep, label and keys again");
}

/* Programs that only do as if. */
static void make_programs(const struct bed *bed, const char *controller)
{
	mkdir(bed_file(bed, "bin"), 0755);
	bed_write(bed, "bin/regatta-controller", controller, 0755);
	bed_write(bed, "bin/regatta-agent", "#!/bin/sh\nexec sleep 60\n", 0755);
	bed_write(bed, "bin/regatta-init", "#!/bin/sh\n", 0755);
}

/* An ordinary user's PATH has no sbin, where the daemons are. */
static void test_sbin(struct bed *bed)
{
	struct environment environment = { .folder = "/nowhere" };
	char path[PATH_MAX], folders[PATH_MAX];
	struct error err;

	mkdir(bed_file(bed, "u"), 0755);
	mkdir(bed_file(bed, "u/bin"), 0755);
	mkdir(bed_file(bed, "u/sbin"), 0755);
	bed_write(bed, "u/sbin/regatta-agent", "", 0755);
	snprintf(folders, sizeof(folders), "/nowhere:%s",
		 bed_file(bed, "u/bin"));
	environment.path = folders;
	ok(settings_program(&environment, "regatta-agent", path, &err) == 0 &&
		   strstr(path, "/u/sbin/regatta-agent"),
	   "the sbin folder beside a bin folder of PATH is looked in");
	ok(settings_program(&environment, "regatta-nix", path, &err) < 0,
	   "what is not there is not found");
}

static void test_run(struct bed *bed)
{
	char engine[300], state[300], folder[300];
	owned_fd int fd = listen_at(bed_file(bed, "engine2.sock"));

	snprintf(engine, sizeof(engine), "unix://%s",
		 bed_file(bed, "engine2.sock"));
	snprintf(state, sizeof(state), "%s", bed_file(bed, "state"));
	snprintf(folder, sizeof(folder), "%s", bed_file(bed, "bin"));
	bed->environment.folder = folder;
	bed_write(bed, "one.yaml", "sweep: one\nimage: i\ncommand: [a]\n",
		  0644);
	bed_write(bed, "two.yaml",
		  "sweep: two\nimage: i\ncommand: [a]\nnodes: 2\n", 0644);
	make_programs(bed, "#!/bin/sh\necho last words >&2\nexit 2\n");
	ok(bed_run(bed, "run", bed_file(bed, "two.yaml"), NULL) == 2 &&
		   bed_said(bed, "nodes: the sweep needs 2; expected 1"),
	   "a sweep for two nodes is refused before anything is made");
	ok(bed_run(bed, "run", bed_file(bed, "one.yaml"), "--engine",
		   "unix:///nowhere.sock", "--state", state, NULL) == 3 &&
		   access(state, F_OK) < 0,
	   "so is one without an engine: exit 3");
	bed->environment.docker_host = "tcp://127.0.0.1:1";
	ok(bed_run(bed, "run", bed_file(bed, "one.yaml"), NULL) == 3 &&
		   bed_said(bed, "tcp://127.0.0.1:1"),
	   "DOCKER_HOST says where the engine is");
	is_int(bed_run(bed, "run", bed_file(bed, "one.yaml"), "--engine",
		       engine, "--state", state, NULL),
	       1, "a controller that refuses its options is a failure");
	ok(bed_said(bed, "regatta-controller: last words\n") &&
		   bed_said(bed, "regatta-controller ended with code 2; its "
				 "log: "),
	   "which is told in its own words");
	make_programs(bed, "#!/bin/sh\necho started >&2\nkill -KILL $$\n");
	is_int(bed_run(bed, "run", "--resume", state, "--engine", engine, NULL),
	       1, "one that dies is started again, but not for ever");
	ok(bed_said(bed, "was killed by signal 9"), "and the signal is told");
	unlink(bed_file(bed, "bin/regatta-agent"));
	bed->environment.path = "/nowhere:/nowhere2";
	ok(bed_run(bed, "run", bed_file(bed, "one.yaml"), "--engine", engine,
		   NULL) == 2 &&
		   bed_said(bed, "program regatta-agent not found beside"),
	   "a part that is not installed is named");
	test_sbin(bed);
	bed->environment.path = NULL;
	bed->environment.docker_host = NULL;
}

int main(void)
{
	struct bed bed;

	tap_begin(60);
	bed_init(&bed);
	test_wrong(&bed);
	test_help(&bed);
	test_keys(&bed);
	test_check(&bed);
	test_plan(&bed);
	test_extract(&bed);
	test_hostile_json(&bed);
	test_sample(&bed);
	test_mfu(&bed);
	test_settings(&bed);
	test_probe(&bed);
	test_folder(&bed);
	test_run(&bed);
	bed_clear(&bed);
	return tap_done();
}
