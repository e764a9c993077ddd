/* log_bench.c - a container that prints as fast as it can, to a file on disk.
 *
 *	log_bench --build DIR --folder DIR --engine unix://SOCKET
 *		--image REFERENCE
 *
 * The same command everywhere: touch a file, print, touch another file; the
 * files' times say when the program began and ended to print. A way's speed is
 * taken from the first of them until the last byte is in the file where a user
 * would look for it. How much a way slows the program is told against the same
 * program on the host writing to a file.
 */
#include "protocol/base/file.h"
#include "protocol/base/program.h"
#include "tests/bench/bare_engine.h"
#include "tests/bench/measure.h"
#include "tests/bench/person.h"
#include "tests/bench/process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NODES_S 30
#define SWEEP_S 120
#define BYTES_S 60 /* until all bytes are there, at most */
#define LOOK_US 1000

struct options {
	struct engine_options with;
	uint64_t bytes;
	char marks[PATH_MAX / 4]; /* folder of begin and end */
	char file[PATH_MAX / 4];  /* where a way puts the bytes */
};

struct figures {
	double program_s; /* between the two marks */
	double arrived_s; /* from the first mark to the last byte */
	double machine_s; /* CPU time of everything on the machine */
	uint64_t arrived; /* bytes; less than wanted: they never came */
};

static bool mark_time(const struct options *options, const char *name,
		      double *time_s)
{
	char path[PATH_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", options->marks, name);
	if (stat(path, &st) < 0)
		return false;
	*time_s = (double)st.st_mtim.tv_sec + (double)st.st_mtim.tv_nsec / 1e9;
	return true;
}

static void clear_marks(const struct options *options)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/begin", options->marks);
	unlink(path);
	snprintf(path, sizeof(path), "%s/end", options->marks);
	unlink(path);
	unlink(options->file);
}

/* When the file has all bytes; the time it is given begins at the first mark.
 */
static int wait_bytes(const struct options *options, const char *file,
		      struct figures *figures, struct error *err)
{
	double until = clock_wall_s() + SWEEP_S, begin = 0, now, end = 0;
	struct stat st = { 0 };

	do {
		usleep(LOOK_US);
		now = clock_wall_s();
		if (!begin && mark_time(options, "begin", &begin))
			until = begin + BYTES_S;
		if (stat(file, &st) == 0)
			figures->arrived = (uint64_t)st.st_size;
	} while (figures->arrived < options->bytes && now < until);
	if (!begin)
		return error_set(err, ETIMEDOUT, "the program did not begin");
	figures->arrived_s = now - begin;
	while (!mark_time(options, "end", &end) && clock_wall_s() < until)
		usleep(LOOK_US);
	figures->program_s = end > begin ? end - begin : 0;
	return 0;
}

/* The ways. */

static int run_host(const struct options *options, const char *to,
		    struct figures *figures, struct error *err)
{
	char tool[PATH_MAX], begin[PATH_MAX], end[PATH_MAX], bytes[24];
	/* clang-format off */
	const char *const argv[] = {
		tool, "touch", begin, ",", "print", bytes, ",", "touch", end,
		NULL,
	};
	/* clang-format on */
	pid_t pid;

	snprintf(tool, sizeof(tool), "%s/lab/tool", options->with.build);
	snprintf(begin, sizeof(begin), "%s/begin", options->marks);
	snprintf(end, sizeof(end), "%s/end", options->marks);
	snprintf(bytes, sizeof(bytes), "%" PRIu64, options->bytes);
	pid = process_start(argv, to, NULL, err);
	if (pid < 0 || process_wait(pid, err) < 0)
		return -1;
	if (to)
		return wait_bytes(options, to, figures, err);
	figures->arrived = options->bytes;
	if (!mark_time(options, "begin", &figures->program_s) ||
	    !mark_time(options, "end", &figures->arrived_s))
		return error_set(err, EIO, "the program left no marks");
	figures->arrived_s -= figures->program_s;
	figures->program_s = figures->arrived_s;
	return 0;
}

static int host_null(const struct options *options, struct figures *figures,
		     struct error *err)
{
	return run_host(options, NULL, figures, err);
}

static int host_file(const struct options *options, struct figures *figures,
		     struct error *err)
{
	return run_host(options, options->file, figures, err);
}

static int docker(const struct options *options, const char *verb,
		  const char *name, const char *output, struct error *err)
{
	const char *const argv[] = { "docker", "-H", options->with.engine,
				     verb,     "-f", name,
				     NULL };
	pid_t pid = process_start(argv, output, NULL, err);

	return pid < 0 ? -1 : process_wait(pid, err);
}

/* Runs the container of this name; `flag` is -d or -i (attached). */
static pid_t docker_run(const struct options *options, const char *flag,
			const char *name, const char *output, struct error *err)
{
	char volume[PATH_MAX], bytes[24];
	/* clang-format off */
	const char *const argv[] = {
		"docker", "-H", options->with.engine, "run", flag, "--name", name,
		"--network", "host", "-v", volume, options->with.image, "/tool",
		"touch", "/marks/begin", ",", "print", bytes, ",", "touch",
		"/marks/end", NULL,
	};
	/* clang-format on */

	snprintf(volume, sizeof(volume), "%s:/marks", options->marks);
	snprintf(bytes, sizeof(bytes), "%" PRIu64, options->bytes);
	return process_start(argv, output, NULL, err);
}

static int docker_attached(const struct options *options,
			   struct figures *figures, struct error *err)
{
	pid_t pid =
		docker_run(options, "-i", "bench-attached", options->file, err);
	int rc =
		pid < 0 ? -1 : wait_bytes(options, options->file, figures, err);

	process_end(pid);
	docker(options, "rm", "bench-attached", NULL, NULL);
	return rc;
}

static int docker_logs(const struct options *options, struct figures *figures,
		       struct error *err)
{
	const char *const argv[] = { "docker", "-H", options->with.engine,
				     "logs",   "-f", "bench-logs",
				     NULL };
	pid_t pid = docker_run(options, "-d", "bench-logs", NULL, err);
	int rc = pid < 0 ? -1 : process_wait(pid, err);

	if (rc == 0) {
		pid = process_start(argv, options->file, NULL, err);
		rc = pid < 0 ? -1
			     : wait_bytes(options, options->file, figures, err);
		process_end(pid);
	}
	docker(options, "rm", "bench-logs", NULL, NULL);
	return rc;
}

static int regatta_sweep(struct site *site, struct person *person,
			 const struct options *options, struct figures *figures,
			 struct error *err)
{
	struct submitted submitted;
	char text[PATH_MAX + 400], file[PATH_MAX], name[128];

	snprintf(text, sizeof(text),
		 "sweep: bench-log\nimage: %s\nretries: 0\n"
		 "mounts: [{host: \"%s\", container: /marks}]\n"
		 "command: [/tool, touch, /marks/begin, \",\", print, "
		 "\"%" PRIu64 "\", \",\", touch, /marks/end]\n",
		 options->with.image, options->marks, options->bytes);
	if (person_submit(person, text, &submitted, err) < 0)
		return -1;
	snprintf(name, sizeof(name), "controller/logs/%" PRIu64 "/1/rank-0.log",
		 submitted.sweep); /* of one job each */
	site_path(site, name, file);
	if (wait_bytes(options, file, figures, err) < 0)
		return -1;
	return person_wait(person, &submitted, SWEEP_S, err);
}

/* socket: controller and agent meet at a unix socket, as in regatta run. */
static int regatta_at(const struct options *options, bool socket,
		      struct figures *figures, struct error *err)
{
	owned(site_free) struct site *site = NULL;
	owned(person_free) struct person *person = NULL;
	char folder[PATH_MAX / 2];
	double busy = machine_busy_s();
	int rc;

	snprintf(folder, sizeof(folder), "%s/log", options->with.folder);
	site = site_new(folder, options->with.build, 1, err);
	if (site && socket)
		snprintf(site->endpoint, sizeof(site->endpoint),
			 "ipc://%.200s/socket", folder);
	if (!site || site_start_controller(site, err) < 0 ||
	    site_start_agents(site, options->with.engine, err) < 0 ||
	    !(person = person_new(site, err)) ||
	    person_wait_nodes(person, 1, NODES_S, err) < 0)
		return -1;
	figures->machine_s = busy - machine_busy_s(); /* not the set-up */
	rc = regatta_sweep(site, person, options, figures, err);
	file_remove_tree(AT_FDCWD, folder, NULL);
	return rc;
}

static int regatta(const struct options *options, struct figures *figures,
		   struct error *err)
{
	return regatta_at(options, false, figures, err);
}

static int regatta_socket(const struct options *options,
			  struct figures *figures, struct error *err)
{
	return regatta_at(options, true, figures, err);
}

/* Reporting. */

static void report(const struct options *options, const char *way,
		   const struct figures *figures, double base_s)
{
	double rate = (double)figures->arrived / 1e6 / figures->arrived_s;
	bool whole = figures->arrived == options->bytes;
	cJSON *line = result_new("log", way);

	cJSON_AddNumberToObject(line, "bytes", (double)options->bytes);
	cJSON_AddNumberToObject(line, "arrived_bytes",
				(double)figures->arrived);
	cJSON_AddNumberToObject(line, "mb_per_s", rate);
	cJSON_AddNumberToObject(line, "program_s", figures->program_s);
	cJSON_AddNumberToObject(line, "program_ratio",
				figures->program_s / base_s);
	cJSON_AddNumberToObject(line, "machine_cpu_s", figures->machine_s);
	result_put(line);
	printf("%-22s %8.1f %10.2f %10.2f %10.2f%s\n", way, rate,
	       figures->program_s, figures->program_s / base_s,
	       figures->machine_s, whole ? "" : "  not all bytes came");
	fflush(stdout);
}

static int measure(struct options *options, struct error *err)
{
	/* clang-format off */
	static const struct {
		const char *way;
		int (*run)(const struct options *, struct figures *,
			   struct error *);
	} ways[] = {
		{ "host > file", host_file }, /* 1.0 */
		{ "host > /dev/null", host_null },
		{ "regatta", regatta },
		{ "regatta, a socket", regatta_socket },
		{ "docker run (attached)", docker_attached },
		{ "docker logs -f", docker_logs },
	};
	/* clang-format on */
	struct figures warm = { 0 };
	double base_s = 0;

	/* The first run finds neither program nor free pages at hand. */
	clear_marks(options);
	if (host_file(options, &warm, err) < 0)
		return error_prefix(err, "host > file");
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct figures figures = { 0 };
		double busy = machine_busy_s();

		clear_marks(options);
		if (ways[i].run(options, &figures, err) < 0)
			return error_prefix(err, "%s", ways[i].way);
		figures.machine_s += machine_busy_s() - busy;
		if (!base_s)
			base_s = figures.program_s;
		report(options, ways[i].way, &figures, base_s);
		clear_marks(options);
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct options options = { .bytes = is_quick() ? 20000000 : 300000000 };
	struct error err = { 0 };

	engine_options_read(&options.with, argc, argv);
	if (sodium_init() < 0)
		return EXIT_WORK_FAILED;
	snprintf(options.marks, sizeof(options.marks), "%s/marks",
		 options.with.folder);
	snprintf(options.file, sizeof(options.file), "%s/output",
		 options.with.folder);
	if (file_make_folders(options.marks, 0700, &err) < 0)
		fail(&err);
	printf("%-22s %8s %10s %10s %10s\n", "way", "MB/s", "program s",
	       "slowed", "CPU s");
	fflush(stdout);
	if (measure(&options, &err) < 0)
		fail(&err);
	return EXIT_GOOD;
}
