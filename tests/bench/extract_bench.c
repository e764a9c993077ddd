/* extract_bench.c - a log in which no rule finds anything, read by the rules of
 * each framework, beside grep with one of them; and an ordinary log, whose
 * format is to be found, beside grep with the rules of all formats. Then of
 * its end the reason is read, as when its job failed; then all of it is
 * searched for causes, as `regatta diagnose` does, and a text of failures
 * alone. A log of no known format follows, in which each line has a date and a
 * step; its lines are read by meaning.
 *
 *	extract_bench --build DIR --folder DIR
 *
 * Times are of the processor, so others on its core do not count. The lines are
 * of the kind that fills training logs: library messages, warnings, timers,
 * paths; some hold a word of a rule.
 */
#include "controller/catalog/catalog.h"
#include "controller/causes/causes.h"
#include "controller/jobs/job_reason.h"
#include "controller/results/format_choice.h"
#include "protocol/base/file.h"
#include "protocol/base/program.h"
#include "tests/bench/measure.h"
#include "tests/bench/patterns.h"
#include "tests/bench/process.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define PIECE 65536
#define STEP_LINES 50    /* of other output for one of a step */
#define MANY_STEPS 1     /* likewise, for more steps than are kept */
#define ENOUGH_STEPS 100 /* that are read where the format is found */
#define DATED_SHARE 8    /* of the bytes: each line is a step */

/* clang-format off */
static const char *const lines[] = {
	"node-17:811:1204 [%d] NCCL INFO Channel 02/0 : 3[3] -> 2[2] via P2P/CUMEM/read",
	"node-17:811:1204 [%d] NCCL INFO Connected all rings, nvlsHeadRank 0",
	"time (ms) | forward-compute: 144.25 | forward-recv: 236.55 | backward-compute: 397.00 | optimizer: %d.44",
	"/usr/lib/python3.10/site-packages/torch/distributed/launch.py:%d: FutureWarning: the module is deprecated",
	"[2024-02-01 03:12:40,118] [INFO] [comm.py:%d:init_distributed] cdb=None, initializing with the nccl backend",
	" > loading shuffle-idx mapping from /data/openwebtext/meg-gpt2_text_document_shuffle_idx_%d.npy",
	"INFO:root:worker %d prefetched 128 samples in 0.0123 s, queue length 7, dropped 0",
	"saving checkpoint at step %d to /checkpoints/gpt3, this may take some time",
	"rank 3: tensor([[ 0.0213, -1.2031,  0.4409, %d.0512, -0.3321,  0.9982, -2.1120]], device='cuda:3')",
	"W0310 08:10:50.8 140215 gpu_executor.cc:%d] could not open the file of the NUMA node of this device",
	"  (self_attention): ParallelAttention((query_key_value): ColumnParallelLinear(bias=True) #%d)",
	"validation of the data loader took %d ms; the next batch is at hand",
};
/* clang-format on */

struct options {
	const char *build, *folder;
	size_t bytes;
};

/* One step among these lines, as Megatron prints it. */
static int add_step(struct buffer *log, int step)
{
	return buffer_printf(log, NULL,
			     " iteration %8d/ 9000000 | consumed samples: %12d "
			     "| elapsed time per iteration (ms): 512.%d | "
			     "learning rate: 1.5E-04 | global batch size:    "
			     "64 "
			     "| lm loss: 2.%06dE+00 | loss scale: 1.0 | grad "
			     "norm: 0.512 |\n",
			     step, step * 64, step % 10, step % 1000000);
}

/* One step for each `each` other lines; 0: no steps. */
static void make_log(struct buffer *log, size_t bytes, int each)
{
	for (int i = 0; log->size < bytes; i++) {
		const char *line =
			lines[(size_t)i % (sizeof(lines) / sizeof(*lines))];
		char text[256];
		const char *mark = strchr(line, '%');

		snprintf(text, sizeof(text), "%.*s%d%s\n", (int)(mark - line),
			 line, i, mark + 2);
		if (buffer_text(log, text, NULL) < 0 ||
		    (each && i % each == 0 && add_step(log, i / each + 1) < 0))
			return;
	}
}

/* Each line has a date, a step and values, in no known format. */
static void make_dated(struct buffer *log, size_t bytes)
{
	for (int i = 0; log->size < bytes; i++)
		if (buffer_printf(log, NULL,
				  "2026-02-%02d %02d:%02d:%02d,%03d INFO "
				  "train.py:310 - step %d of 9000000, loss "
				  "2.%04d, lr 3.0e-04, grad norm 0.512, "
				  "512.%d ms/step, 64 samples in the queue\n",
				  1 + i / 86400 % 28, i / 3600 % 24,
				  i / 60 % 60, i % 60, i % 1000, i, i % 10000,
				  i % 10) < 0)
			return;
}

/* Seconds to read it; the rules must find nothing. */
static double read_log(const struct catalog *catalog,
		       const struct framework *framework,
		       const struct buffer *log, struct error *err)
{
	owned(extract_rules_free) struct extract_rules *rules = NULL;
	owned(extract_free) struct extract *extract = NULL;
	const struct value *logs[CATALOG_LOGS_MAX];
	size_t count;
	double start;

	if (catalog_logs(catalog, framework, logs, &count, err) < 0)
		return -1;
	rules = extract_rules_new(logs, count, err);
	extract = rules ? extract_new(rules, err) : NULL;
	if (!extract)
		return -1;
	start = clock_cpu_s();
	for (size_t at = 0; at < log->size; at += PIECE)
		if (extract_feed(extract, log->data + at,
				 log->size - at < PIECE ? log->size - at
							: PIECE,
				 err) < 0)
			return -1;
	start = clock_cpu_s() - start;
	extract_records(extract, &count);
	if (count) {
		error_set(err, EINVAL, "%s: %zu steps", framework->name, count);
		return -1;
	}
	return start;
}

/* Seconds to find the format and to read the log in it. */
static double find_format(const struct catalog *catalog,
			  const struct buffer *log, struct error *err)
{
	struct extract_rules *rules[FORMAT_CHOICE_MAX];
	struct format_choice *choice;
	struct format_fit fits[FORMAT_FITS_MAX];
	const struct framework *framework;
	const struct value *logs[CATALOG_LOGS_MAX];
	size_t count = 0, n;
	double start;

	for (size_t i = 0; (framework = catalog_framework_at(catalog, i)); i++)
		if (framework->log && value_get(framework->log, "rules") &&
		    count < FORMAT_CHOICE_MAX &&
		    catalog_logs(catalog, framework, logs, &n, err) == 0)
			rules[count++] = extract_rules_new(logs, n, err);
	start = clock_cpu_s();
	choice = format_choice_new(rules, count, err);
	for (size_t at = 0; at < log->size; at += PIECE)
		if (format_choice_feed(choice, log->data + at,
				       log->size - at < PIECE ? log->size - at
							      : PIECE,
				       err) < 0)
			return -1;
	start = clock_cpu_s() - start;
	if (!format_choice_fits(choice, fits) || fits[0].steps < ENOUGH_STEPS)
		return error_set(err, EINVAL, "the format was not found");
	format_choice_free(choice);
	for (size_t i = 0; i < count; i++)
		extract_rules_free(rules[i]);
	return start;
}

static void tell(const char *way, double bytes, double seconds)
{
	cJSON *result = result_new("extract", way);

	printf("%-22s %6.0f MB/s\n", way, bytes / seconds / 1e6);
	cJSON_AddNumberToObject(result, "mb_per_s", bytes / seconds / 1e6);
	result_put(result);
}

/* A text of nothing but failures. */
static void make_failures(struct buffer *log, size_t bytes)
{
	for (int i = 0; log->size < bytes; i++)
		if (buffer_printf(
			    log, NULL,
			    "[rank%d]: Traceback (most recent call last):\n"
			    "[rank%d]:   File \"/app/train.py\", line %d, in "
			    "train\n"
			    "[rank%d]:     loss = model(batch)\n"
			    "[rank%d]: RuntimeError: CUDA error: step %d met "
			    "an illegal memory access\n",
			    i % 8, i % 8, i % 900, i % 8, i % 8, i) < 0)
			return;
}

/* Seconds to find the causes in a part of a log; less than 0: an error. */
static double search_causes(const char *data, size_t size, struct error *err)
{
	owned(failure_patterns_free) struct failure_patterns *patterns =
		failure_patterns_read("images/failures.yaml", err);
	owned(causes_free) struct causes *causes =
		patterns ? causes_new(patterns, err) : NULL;
	double start = clock_cpu_s();

	if (!causes)
		return -1;
	for (size_t at = 0; at < size; at += PIECE)
		if (causes_feed(causes, data + at,
				size - at < PIECE ? size - at : PIECE, err) < 0)
			return -1;
	if (causes_finish(causes, err) < 0)
		return -1;
	return clock_cpu_s() - start;
}

/* Of a job that failed the end of the log is read once more, for the reason. */
static int read_causes(const struct buffer *log, double extraction_s,
		       struct error *err)
{
	size_t bytes = log->size < REASON_BYTES ? log->size : REASON_BYTES;
	double seconds =
		search_causes(log->data + log->size - bytes, bytes, err);
	cJSON *result;

	if (seconds < 0)
		return -1;
	printf("%-20s %8.3f of extraction (%.0f ms)\n", "the reason",
	       seconds / extraction_s, seconds * 1e3);
	result = result_new("causes", "regatta");
	cJSON_AddNumberToObject(result, "of_extraction",
				seconds / extraction_s);
	result_put(result);
	return 0;
}

static int run_diagnose(const char *way, const struct buffer *log,
			struct error *err)
{
	double seconds = search_causes(log->data, log->size, err);

	if (seconds < 0)
		return -1;
	tell(way, (double)log->size, seconds);
	return 0;
}

/* grep over the log, with the patterns of a file. */
static int run_grep(const char *folder, const char *way,
		    const struct buffer *patterns, const struct buffer *log,
		    struct error *err)
{
	char path[PATH_MAX], rules[PATH_MAX];
	const char *const argv[] = { "env", "LC_ALL=C", "grep", "-aEc",
				     "-f",  rules,      path,   NULL };
	double start;
	pid_t pid;

	snprintf(path, sizeof(path), "%s/log", folder);
	snprintf(rules, sizeof(rules), "%s/rules", folder);
	if (file_write(AT_FDCWD, path, log->data, log->size, 0600, false, err) <
		    0 ||
	    file_write(AT_FDCWD, rules, patterns->data, patterns->size, 0600,
		       false, err) < 0)
		return -1;
	start = clock_cpu_s();
	pid = process_start(argv, NULL, NULL, err);
	if (pid < 0)
		return -1;
	process_wait(pid, NULL); /* 1: nothing was found */
	tell(way, (double)log->size, clock_cpu_s() - start);
	unlink(path);
	unlink(rules);
	return 0;
}

static int run_grep_all(const char *folder, const struct catalog *catalog,
			const struct buffer *log, struct error *err)
{
	owned(buffer_clear) struct buffer patterns = BUFFER_INIT(1 << 20);
	size_t left_out;

	if (patterns_write(catalog, &patterns, &left_out, err) < 0 ||
	    run_grep(folder, "grep, all rules", &patterns, log, err) < 0)
		return -1;
	printf("%-20s %8zu rules that look ahead or behind are left out\n", "",
	       left_out);
	return 0;
}

/* The most memory that a reading of this log takes. */
static double extract_kib(const struct options *options, const char *name,
			  struct error *err)
{
	char path[PATH_MAX], program[PATH_MAX];
	const char *const argv[] = { program,    "extract", path,
				     "--images", "images",  NULL };
	struct rusage usage = { 0 };
	int status = -1;
	pid_t pid;

	snprintf(path, sizeof(path), "%s/%s", options->folder, name);
	snprintf(program, sizeof(program), "%s/regatta", options->build);
	pid = process_start(argv, NULL, NULL, err);
	if (pid < 0)
		return -1;
	wait4(pid, &status, 0, &usage);
	unlink(path);
	return status ? error_set(err, ECHILD, "regatta extract failed")
		      : (double)usage.ru_maxrss;
}

static int write_log(const struct options *options, const char *name,
		     const struct buffer *log, size_t size, struct error *err)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", options->folder, name);
	return file_write(AT_FDCWD, path, log->data, size, 0600, false, err);
}

/* Write a whole log, and its first sixteenth. */
static int write_logs(const struct options *options, struct error *err)
{
	owned(buffer_clear) struct buffer log;

	buffer_init(&log, options->bytes + PIECE);
	make_log(&log, options->bytes, MANY_STEPS);
	return write_log(options, "part", &log, log.size / 16, err) < 0
		       ? -1
		       : write_log(options, "whole", &log, log.size, err);
}

/* Before anything else: the kernel counts for a child what its parent once had,
 * so another process writes the logs.
 */
static int run_memory(const struct options *options, struct error *err)
{
	double less, more;
	cJSON *result;
	int status = -1;
	pid_t pid = fork();

	if (pid == 0)
		_exit(write_logs(options, err) < 0);
	if (pid < 0 || waitpid(pid, &status, 0) < 0 || status)
		return error_set(err, ECHILD, "the logs were not written");
	less = extract_kib(options, "part", err);
	more = less < 0 ? -1 : extract_kib(options, "whole", err);
	if (more < 0)
		return -1;
	printf("%-20s %8.0f KiB, %.0f KiB for a sixteenth of the log\n",
	       "memory", more, less);
	result = result_new("extract-memory", "regatta");
	cJSON_AddNumberToObject(result, "kib", more);
	cJSON_AddNumberToObject(result, "of_a_sixteenth", more / less);
	result_put(result);
	return 0;
}

static void read_options(int argc, char **argv, struct options *options)
{
	/* clang-format off */
	static const struct option names[] = {
		{ "build", 1, NULL, 'b' }, { "folder", 1, NULL, 'f' },
		{ NULL, 0, NULL, 0 },
	};
	/* clang-format on */
	int option;

	while ((option = getopt_long(argc, argv, "", names, NULL)) != -1) {
		if (option == 'f')
			options->folder = optarg;
		else if (option == 'b')
			options->build = optarg;
		else
			exit(EXIT_WRONG_REQUEST);
	}
	if (!options->folder || !options->build) {
		fputs("extract_bench: see the top of extract_bench.c\n",
		      stderr);
		exit(EXIT_WRONG_REQUEST);
	}
	options->bytes = (size_t)(is_quick() ? 8 : 256) << 20;
}

int main(int argc, char **argv)
{
	struct options options = { 0 };
	struct error err = { 0 };
	owned(catalog_free) struct catalog *catalog = NULL;
	owned(buffer_clear) struct buffer log;
	static char megatron[] = "iteration *([0-9]+)/ *([0-9]+) *\\|\n";
	struct buffer rule = { .data = megatron, .size = strlen(megatron) };
	const struct framework *framework;
	double seconds;

	read_options(argc, argv, &options);
	if (run_memory(&options, &err) < 0)
		fail(&err);
	buffer_init(&log, options.bytes + PIECE);
	make_log(&log, options.bytes, STEP_LINES);
	catalog = catalog_load("images", &err);
	if (!catalog)
		fail(&err);
	seconds = find_format(catalog, &log, &err);
	if (seconds < 0)
		fail(&err);
	tell("auto, ordinary log", (double)log.size, seconds);
	if (read_causes(&log, seconds, &err) < 0 ||
	    run_diagnose("diagnose, ordinary log", &log, &err) < 0 ||
	    run_grep_all(options.folder, catalog, &log, &err) < 0)
		fail(&err);
	buffer_consume(&log, log.size);
	make_failures(&log, options.bytes / DATED_SHARE);
	if (run_diagnose("diagnose, failures", &log, &err) < 0)
		fail(&err);
	buffer_consume(&log, log.size);
	make_dated(&log, options.bytes / DATED_SHARE);
	seconds = find_format(catalog, &log, &err);
	if (seconds < 0)
		fail(&err);
	tell("auto, dated steps", (double)log.size, seconds);
	buffer_consume(&log, log.size);
	make_log(&log, options.bytes, 0);
	for (size_t i = 0; (framework = catalog_framework_at(catalog, i));
	     i++) {
		if (!framework->log)
			continue;
		seconds = read_log(catalog, framework, &log, &err);
		if (seconds < 0)
			fail(&err);
		tell(framework->name, (double)log.size, seconds);
	}
	if (run_grep(options.folder, "grep, one rule", &rule, &log, &err) < 0)
		fail(&err);
	return EXIT_GOOD;
}
