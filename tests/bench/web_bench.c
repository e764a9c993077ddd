/* web_bench.c - the pages of a controller with 300 nodes and a sweep of 1,000
 * jobs.
 *
 *	web_bench --build DIR --folder DIR --fast-folder DIR
 *
 * How long pages take; then, while jobs are submitted one after the other at a
 * steady pace, what one open page and a hundred cost the controller, and how
 * long it takes from submit to the engine's start call, with and without them.
 * Rounds alternate, so that what else the machine does meets all alike.
 */
#include "protocol/base/file.h"
#include "protocol/base/program.h"
#include "tests/bench/crowd.h"
#include "tests/bench/measure.h"
#include "tests/bench/process.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PACE_NS 20000000 /* from one submit to the next */
#define SAMPLES_MAX 4000
#define LOADS 30 /* of each page */
#define SWEEP_S 120

static const size_t crowds[] = { 0, 1, 100 }; /* pages that are open */
#define CROWDS (sizeof(crowds) / sizeof(crowds[0]))

/* What is open: most look at the large sweep. */
static const char *const pages[] = { "/sweep/1", "/sweep/1", "/", "/nodes",
				     "/job/1" };
#define PAGES (sizeof(pages) / sizeof(pages[0]))

struct web {
	struct crowd crowd;
	struct person *person;
	char url[100], jar[PATH_MAX], list[PATH_MAX], times[PATH_MAX];
	uint64_t jobs; /* submitted so far */
	double page_ms[PAGES], page_cpu_ms[PAGES];
	double ms[CROWDS][SAMPLES_MAX];
	size_t samples[CROWDS];
	double cpu_s[CROWDS], wall_s[CROWDS];
};

static int curl(const char *const *more, const char *output, struct error *err)
{
	const char *argv[16] = { "curl", "-sSf", "--max-time", "60" };
	size_t count = 4;
	pid_t pid;

	while (*more)
		argv[count++] = *more++;
	pid = process_start(argv, output, NULL, err);
	return pid < 0 ? -1 : process_wait(pid, err);
}

/* Let in: the cookie is in the jar. */
static int log_in(struct web *web, struct error *err)
{
	cJSON *answer = person_ask(web->person, QUERY_WEB, 0, 0, err);
	const char *address = cJSON_GetStringValue(
		cJSON_GetObjectItemCaseSensitive(answer, "address"));
	const char *const argv[] = { "-c", web->jar, address, NULL };
	const char *end = address ? strstr(address, "/login") : NULL;
	int rc = end ? curl(argv, NULL, err)
		     : error_set(err, EPROTO, "no address of the pages");

	if (rc == 0)
		snprintf(web->url, sizeof(web->url), "%.*s",
			 (int)(end - address), address);
	cJSON_Delete(answer);
	return rc;
}

/* A list of addresses for curl. */
static int list_urls(const struct web *web, const char *before,
		     const char *const *paths, size_t paths_count, size_t count,
		     struct error *err)
{
	FILE *file = fopen(web->list, "we");

	if (!file)
		return error_errno(err, "%s", web->list);
	for (size_t i = 0; i < count; i++)
		fprintf(file, "url = \"%s%s%s\"\noutput = /dev/null\n",
			web->url, before, paths[i % paths_count]);
	return fclose(file) ? error_errno(err, "%s", web->list) : 0;
}

/* Half of its loads are quicker than page_ms. */
static int load_page(struct web *web, size_t page, struct error *err)
{
	const char *const argv[] = { "-b", web->jar,           "-K", web->list,
				     "-w", "%{time_total}\\n", NULL };
	pid_t controller = web->crowd.site->controller;
	double ms[LOADS], cpu = process_cpu_s(controller);
	size_t count = 0;
	FILE *file;

	if (list_urls(web, "", &pages[page], 1, LOADS, err) < 0 ||
	    curl(argv, web->times, err) < 0)
		return -1;
	file = fopen(web->times, "re");
	while (file && count < LOADS && fscanf(file, "%lf", &ms[count]) == 1)
		ms[count++] *= 1e3;
	if (file)
		fclose(file);
	web->page_ms[page] = quantile(ms, count, 0.5);
	web->page_cpu_ms[page] =
		(process_cpu_s(controller) - cpu) * 1e3 / LOADS;
	return count ? 0 : error_set(err, EIO, "%s: not loaded", pages[page]);
}

static int submit_one(struct web *web, size_t crowd, struct error *err)
{
	static const char text[] = "sweep: one\nimage: bench/none:1\n"
				   "network: none\n"
				   "command: [/tool, exit, \"0\"]\n";
	struct submitted submitted;

	if (person_submit(web->person, text, &submitted, err) < 0 ||
	    person_wait(web->person, &submitted, SWEEP_S, err) < 0)
		return -1;
	/* Job ids count from 1. */
	web->ms[crowd][web->samples[crowd]++] =
		(double)(web->crowd.standin->started_ns[++web->jobs] -
			 submitted.begun_ns) /
		1e6;
	return 0;
}

static void pause_until(int64_t ns)
{
	int64_t left = ns - clock_ns();

	if (left > 0)
		usleep((useconds_t)(left / 1000));
}

/* So many submits while so many pages are open. */
static int round_of(struct web *web, size_t crowd, size_t submits,
		    struct error *err)
{
	const char *const argv[] = { "curl",
				     "-sNZ",
				     "--parallel-immediate",
				     "--parallel-max",
				     "100",
				     "-b",
				     web->jar,
				     "-K",
				     web->list,
				     NULL };
	pid_t controller = web->crowd.site->controller, pid = 0;
	double cpu, wall;
	int64_t next;
	int rc = 0;

	if (crowds[crowd] && (list_urls(web, "/live?shape=0&page=", pages,
					PAGES, crowds[crowd], err) < 0 ||
			      (pid = process_start(argv, NULL, NULL, err)) < 0))
		return -1;
	sleep(1); /* they connect */
	cpu = process_cpu_s(controller);
	wall = clock_s();
	next = clock_ns();
	for (size_t i = 0; rc == 0 && i < submits; i++) {
		rc = submit_one(web, crowd, err);
		pause_until(next += PACE_NS);
	}
	web->cpu_s[crowd] += process_cpu_s(controller) - cpu;
	web->wall_s[crowd] += clock_s() - wall;
	process_end(pid);
	return rc;
}

static int measure(struct web *web, struct error *err)
{
	static const char sweep[] =
		"sweep: bench\nimage: bench/none:1\nnetwork: none\n"
		"command: [/tool, exit, \"0\", \"${i}\", \"${k}\"]\n"
		"repeat: %d\nmatrix:\n  i: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]\n"
		"  k: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]\n";
	size_t rounds = is_quick() ? 1 : 32, submits = is_quick() ? 50 : 100;
	struct submitted submitted;
	char text[400];
	int rc = 0;

	snprintf(text, sizeof(text), sweep, is_quick() ? 1 : 10);
	if (crowd_join(&web->crowd, web->person, err) < 0 ||
	    person_submit(web->person, text, &submitted, err) < 0 ||
	    person_wait(web->person, &submitted, SWEEP_S, err) < 0 ||
	    log_in(web, err) < 0)
		return -1;
	web->jobs = submitted.jobs;
	for (size_t i = 1; rc == 0 && i < PAGES; i++)
		rc = load_page(web, i, err);
	for (size_t i = 0; rc == 0 && i < rounds * CROWDS; i++)
		rc = round_of(web, i % CROWDS, submits, err);
	return rc;
}

static void report(struct web *web)
{
	double idle = web->cpu_s[0] / web->wall_s[0], p99 = 0;

	printf("%-10s %9s %9s\n", "page", "median ms", "cpu ms");
	for (size_t i = 1; i < PAGES; i++) {
		cJSON *line = result_new("web", pages[i]);

		printf("%-10s %9.1f %9.1f\n", pages[i], web->page_ms[i],
		       web->page_cpu_ms[i]);
		cJSON_AddNumberToObject(line, "page_ms", web->page_ms[i]);
		cJSON_AddNumberToObject(line, "cpu_ms", web->page_cpu_ms[i]);
		result_put(line);
	}
	printf("%10s %9s %9s %9s %9s\n", "open pages", "cores", "more",
	       "p50 ms", "p99 ms");
	for (size_t i = 0; i < CROWDS; i++) {
		cJSON *line = result_new("web", "open");
		double more = web->cpu_s[i] / web->wall_s[i] - idle;
		double p50 = quantile(web->ms[i], web->samples[i], 0.5);
		double high = quantile(web->ms[i], web->samples[i], 0.99);

		p99 = i ? p99 : high;
		printf("%10zu %8.2f%% %8.2f%% %9.2f %9.2f\n", crowds[i],
		       (idle + more) * 100, more * 100, p50, high);
		cJSON_AddNumberToObject(line, "pages", (double)crowds[i]);
		cJSON_AddNumberToObject(line, "cores_percent", more * 100);
		cJSON_AddNumberToObject(line, "submit_to_start_p99_ms", high);
		cJSON_AddNumberToObject(line, "p99_ratio", high / p99);
		result_put(line);
	}
}

int main(int argc, char **argv)
{
	/* clang-format off */
	static const struct option names[] = {
		{ "build", 1, NULL, 'b' }, { "folder", 1, NULL, 'f' },
		{ "fast-folder", 1, NULL, 'm' }, { NULL, 0, NULL, 0 },
	};
	/* clang-format on */
	struct crowd_place place = { "build", "/tmp", "/dev/shm",
				     "127.0.0.1:0" };
	struct web *web = calloc(1, sizeof(*web));
	struct error err = { 0 };
	int option, rc;

	while ((option = getopt_long(argc, argv, "", names, NULL)) != -1) {
		if (option == 'b')
			place.build = optarg;
		else if (option == 'f')
			place.folder = optarg;
		else if (option == 'm')
			place.fast = optarg;
		else
			return EXIT_WRONG_REQUEST;
	}
	signal(SIGPIPE, SIG_IGN);
	if (!web || sodium_init() < 0)
		return EXIT_WORK_FAILED;
	rc = crowd_open(&web->crowd, &place, is_quick() ? 50 : 300, 0, &err);
	if (rc == 0) {
		site_path(web->crowd.site, "jar", web->jar);
		site_path(web->crowd.site, "urls", web->list);
		site_path(web->crowd.site, "times", web->times);
		web->person = person_new(web->crowd.site, &err);
		rc = web->person ? measure(web, &err) : -1;
	}
	person_free(web->person);
	crowd_close(&web->crowd);
	if (rc == 0)
		report(web);
	free(web);
	if (rc < 0)
		fail(&err);
	return EXIT_GOOD;
}
