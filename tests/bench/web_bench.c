/* web_bench.c - the pages of a controller with 300 nodes and a sweep of 1,000
 * jobs.
 *
 *	web_bench --build DIR --folder DIR --fast-folder DIR
 *
 * REGATTA_WEB_ROUNDS names a file where the rounds are kept: those of earlier
 * runs count, too.
 *
 * How long pages take; then, while jobs are submitted one after the other at a
 * steady pace, what one open page and a hundred cost the controller, and how
 * long it takes from submit to the engine's start call, with and without them.
 *
 * Short rounds with none, one and a hundred open take turns, so that what else
 * the machine does meets all alike. Each ratio is of the samples of all rounds
 * and comes with the range in which nine of ten draws of the same rounds lie:
 * where it has 1 inside, no difference was seen. So does what pages cost, with
 * the median of the rounds. Browsers are elsewhere (readers.h): each has loaded
 * its page, and is sent what changes in it from then on.
 */
#include "protocol/base/file.h"
#include "protocol/base/program.h"
#include "tests/bench/crowd.h"
#include "tests/bench/measure.h"
#include "tests/bench/process.h"
#include "tests/bench/readers.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PACE_NS 5000000  /* from one submit to the next */
#define SETTLE_US 200000 /* pages of a round that come or go */
#define ROUNDS 20        /* of a run: three minutes */
#define ROUNDS_MAX 120   /* of all that are kept */
#define SUBMITS_MAX 500  /* of a round */
#define DRAWS 400
#define PAGE_MAX (4 << 20)
#define STREAM_BYTES 120 /* of an address */
#define LOADS 30         /* of each page */
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
	char url[100], cookie[100], streams[PAGES][STREAM_BYTES];
	char jar[PATH_MAX], list[PATH_MAX], times[PATH_MAX];
	uint64_t jobs; /* submitted so far */
	double page_ms[PAGES], page_cpu_ms[PAGES];
	size_t rounds;  /* of each crowd, earlier ones first */
	size_t submits; /* of each round */
	double ms[CROWDS][ROUNDS_MAX][SUBMITS_MAX];
	double cpu_s[CROWDS][ROUNDS_MAX], wall_s[CROWDS][ROUNDS_MAX];
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

/* The jar's last line ends in the cookie's name and value. */
static int find_cookie(struct web *web, struct error *err)
{
	owned(buffer_clear) struct buffer jar = BUFFER_INIT(4096);
	const char *name;

	if (file_read(AT_FDCWD, web->jar, &jar, err) < 0)
		return -1;
	name = jar.size ? strstr(jar.data, "regatta\t") : NULL;
	if (!name)
		return error_set(err, EPROTO, "no cookie of the pages");
	name += strlen("regatta\t");
	snprintf(web->cookie, sizeof(web->cookie), "regatta=%.*s",
		 (int)strcspn(name, "\n"), name);
	return 0;
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
	return rc < 0 ? -1 : find_cookie(web, err);
}

/* A list for curl: one address, again and again. */
static int list_loads(const struct web *web, const char *path,
		      struct error *err)
{
	FILE *file = fopen(web->list, "we");

	if (!file)
		return error_errno(err, "%s", web->list);
	for (size_t i = 0; i < LOADS; i++)
		fprintf(file, "url = \"%s%s\"\noutput = /dev/null\n", web->url,
			path);
	return fclose(file) ? error_errno(err, "%s", web->list) : 0;
}

/* Where the page, loaded now, hears of changes: data-live="...", in which & is
 * &amp;.
 */
static int find_stream(struct web *web, size_t page, struct error *err)
{
	static const char mark[] = "data-live=\"";
	owned(buffer_clear) struct buffer text = BUFFER_INIT(PAGE_MAX);
	char url[200], *to = web->streams[page];
	const char *const argv[] = { "-b", web->jar, url, NULL };
	const char *at;

	snprintf(url, sizeof(url), "%s%s", web->url, pages[page]);
	if (curl(argv, web->list, err) < 0 ||
	    file_read(AT_FDCWD, web->list, &text, err) < 0)
		return -1;
	at = text.size ? strstr(text.data, mark) : NULL;
	if (!at)
		return error_set(err, EPROTO, "%s: no stream", pages[page]);
	for (at += strlen(mark);
	     *at && *at != '"' && to + 1 < web->streams[page] + STREAM_BYTES;
	     at++) {
		*to++ = *at;
		if (!strncmp(at, "&amp;", 5))
			at += 4;
	}
	*to = 0;
	return 0;
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

	if (list_loads(web, pages[page], err) < 0 ||
	    curl(argv, web->times, err) < 0)
		return -1;
	file = fopen(web->times, "re");
	while (file && count < LOADS && fscanf(file, "%lf", &ms[count]) == 1)
		ms[count++] *= 1e3;
	if (file)
		fclose(file);
	web->page_ms[page] = measure_quantile(ms, count, 0.5);
	web->page_cpu_ms[page] =
		(process_cpu_s(controller) - cpu) * 1e3 / LOADS;
	return count ? 0 : error_set(err, EIO, "%s: not loaded", pages[page]);
}

static int submit_one(struct web *web, double *ms, struct error *err)
{
	static const char text[] = "sweep: one\nimage: bench/none:1\n"
				   "network: none\n"
				   "command: [/tool, exit, \"0\"]\n";
	struct submitted submitted;

	if (person_submit(web->person, text, &submitted, err) < 0 ||
	    person_wait(web->person, &submitted, SWEEP_S, err) < 0)
		return -1;
	/* Job ids count from 1. */
	*ms = (double)(web->crowd.standin->started_ns[++web->jobs] -
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

static pid_t open_pages(struct web *web, size_t count, struct error *err)
{
	const char *streams[PAGES];

	for (size_t i = 0; i < PAGES; i++) {
		streams[i] = web->streams[i];
		if (find_stream(web, i, err) < 0)
			return -1;
	}
	return readers_start(web->url, web->cookie, streams, PAGES, count, err);
}

/* So many submits while so many pages are open. */
static int run_round(struct web *web, size_t crowd, size_t round,
		     struct error *err)
{
	pid_t controller = web->crowd.site->controller, pid = 0;
	double cpu, wall;
	int64_t next;
	int rc = 0;

	if (crowds[crowd] && (pid = open_pages(web, crowds[crowd], err)) < 0)
		return -1;
	usleep(SETTLE_US);
	cpu = process_cpu_s(controller);
	wall = clock_s();
	next = clock_ns();
	for (size_t i = 0; rc == 0 && i < web->submits; i++) {
		rc = submit_one(web, &web->ms[crowd][round][i], err);
		pause_until(next += PACE_NS);
	}
	web->cpu_s[crowd][round] = process_cpu_s(controller) - cpu;
	web->wall_s[crowd][round] = clock_s() - wall;
	process_end(pid);
	return rc;
}

static int measure(struct web *web, size_t more, struct error *err)
{
	static const char sweep[] =
		"sweep: bench\nimage: bench/none:1\nnetwork: none\n"
		"command: [/tool, exit, \"0\", \"${i}\", \"${k}\"]\n"
		"repeat: %d\nmatrix:\n  i: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]\n"
		"  k: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]\n";
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
	sleep(1); /* a second has so many answers (HTTP_RATE) */
	/* Another one is first each time. */
	for (size_t i = 0; rc == 0 && i < more * CROWDS; i++)
		rc = run_round(web, (i + i / CROWDS) % CROWDS,
			       web->rounds + i / CROWDS, err);
	if (rc == 0)
		web->rounds += more;
	return rc;
}

/* Rounds that are kept: a line for each crowd of each, its figures and all its
 * samples.
 */
static bool read_line(struct web *web, FILE *file, size_t crowd)
{
	size_t round = web->rounds;

	if (fscanf(file, "%lf %lf", &web->cpu_s[crowd][round],
		   &web->wall_s[crowd][round]) != 2)
		return false;
	for (size_t i = 0; i < web->submits; i++)
		if (fscanf(file, "%lf", &web->ms[crowd][round][i]) != 1)
			return false;
	return true;
}

static void read_rounds(struct web *web, const char *path)
{
	FILE *file = path ? fopen(path, "re") : NULL;
	bool good = file;

	while (good && web->rounds + ROUNDS < ROUNDS_MAX) {
		for (size_t crowd = 0; good && crowd < CROWDS; crowd++)
			good = read_line(web, file, crowd);
		web->rounds += good;
	}
	if (file)
		fclose(file);
}

static int keep_rounds(const struct web *web, const char *path, size_t from,
		       struct error *err)
{
	FILE *file = fopen(path, "ae");

	if (!file)
		return error_errno(err, "%s", path);
	for (size_t round = from; round < web->rounds; round++)
		for (size_t crowd = 0; crowd < CROWDS; crowd++) {
			fprintf(file, "%.6f %.6f", web->cpu_s[crowd][round],
				web->wall_s[crowd][round]);
			for (size_t i = 0; i < web->submits; i++)
				fprintf(file, " %.6f",
					web->ms[crowd][round][i]);
			fputc('\n', file);
		}
	return fclose(file) ? error_errno(err, "%s", path) : 0;
}

/* Of the samples of these rounds. */
static double quantile_of(const struct web *web, size_t crowd,
			  const size_t *rounds, double q)
{
	size_t bytes = web->submits * sizeof(double);
	static double all[ROUNDS_MAX * SUBMITS_MAX];

	for (size_t i = 0; i < web->rounds; i++)
		memcpy(all + i * web->submits, web->ms[crowd][rounds[i]],
		       bytes);
	return measure_quantile(all, web->rounds * web->submits, q);
}

/* Of a core, more than with no page open; the median of these rounds. */
static double more_cores(const struct web *web, size_t crowd,
			 const size_t *rounds)
{
	double more[ROUNDS_MAX];

	for (size_t i = 0; i < web->rounds; i++)
		more[i] = (web->cpu_s[crowd][rounds[i]] -
			   web->cpu_s[0][rounds[i]]) /
			  web->wall_s[crowd][rounds[i]];
	return measure_quantile(more, web->rounds, 0.5);
}

struct range {
	double low, high;
};

static struct range range_of(double draws[DRAWS])
{
	return (struct range){ measure_quantile(draws, DRAWS, 0.05),
			       measure_quantile(draws, DRAWS, 0.95) };
}

/* A bootstrap over pairs of rounds. */
static void find_ranges(const struct web *web, size_t crowd,
			struct range *ratio, struct range *more)
{
	double ratios[DRAWS], cores[DRAWS];
	size_t rounds[ROUNDS_MAX];

	for (size_t draw = 0; draw < DRAWS; draw++) {
		for (size_t i = 0; i < web->rounds; i++)
			rounds[i] = randombytes_uniform((uint32_t)web->rounds);
		ratios[draw] = quantile_of(web, crowd, rounds, 0.99) /
			       quantile_of(web, 0, rounds, 0.99);
		cores[draw] = more_cores(web, crowd, rounds);
	}
	*ratio = range_of(ratios);
	*more = range_of(cores);
}

static void report_pages(const struct web *web)
{
	printf("%-10s %9s %9s\n", "page", "median ms", "cpu ms");
	for (size_t i = 1; i < PAGES; i++) {
		cJSON *line = result_new("web", pages[i]);

		printf("%-10s %9.1f %9.1f\n", pages[i], web->page_ms[i],
		       web->page_cpu_ms[i]);
		cJSON_AddNumberToObject(line, "page_ms", web->page_ms[i]);
		cJSON_AddNumberToObject(line, "cpu_ms", web->page_cpu_ms[i]);
		result_put(line);
	}
}

static void report_crowd(const struct web *web, size_t crowd)
{
	cJSON *line = result_new("web", "open");
	struct range ratio, more;
	size_t all[ROUNDS_MAX];
	double cores, p50, p99, times;

	for (size_t i = 0; i < web->rounds; i++)
		all[i] = i;
	cores = more_cores(web, crowd, all);
	p50 = quantile_of(web, crowd, all, 0.5);
	p99 = quantile_of(web, crowd, all, 0.99);
	times = p99 / quantile_of(web, 0, all, 0.99);
	find_ranges(web, crowd, &ratio, &more);
	printf("%10zu %6.2f%% (%.2f to %.2f) %9.2f %9.2f %7.2f (%.2f to "
	       "%.2f)\n",
	       crowds[crowd], cores * 100, more.low * 100, more.high * 100, p50,
	       p99, times, ratio.low, ratio.high);
	cJSON_AddNumberToObject(line, "pages", (double)crowds[crowd]);
	cJSON_AddNumberToObject(line, "cores_percent", cores * 100);
	cJSON_AddNumberToObject(line, "cores_percent_low", more.low * 100);
	cJSON_AddNumberToObject(line, "cores_percent_high", more.high * 100);
	cJSON_AddNumberToObject(line, "submit_to_start_p99_ms", p99);
	cJSON_AddNumberToObject(line, "p99_ratio", times);
	cJSON_AddNumberToObject(line, "p99_ratio_low", ratio.low);
	cJSON_AddNumberToObject(line, "p99_ratio_high", ratio.high);
	result_put(line);
}

static void report(const struct web *web)
{
	report_pages(web);
	printf("%zu starts each, by a stand-in engine\n",
	       web->rounds * web->submits);
	printf("%10s %23s %9s %9s %7s\n", "open pages", "more of a core",
	       "p50 ms", "p99 ms", "ratio");
	for (size_t i = 0; i < CROWDS; i++)
		report_crowd(web, i);
}

int main(int argc, char **argv)
{
	struct crowd_place place = { .web = "127.0.0.1:0" };
	struct web *web = calloc(1, sizeof(*web));
	const char *kept = getenv("REGATTA_WEB_ROUNDS");
	struct error err = { 0 };
	size_t earlier = 0;
	int rc;

	crowd_options(argc, argv, &place, NULL);
	signal(SIGPIPE, SIG_IGN);
	if (web) {
		web->submits = is_quick() ? 20 : SUBMITS_MAX;
		read_rounds(web, is_quick() ? NULL : kept);
		earlier = web->rounds;
	}
	if (!web || sodium_init() < 0)
		return EXIT_WORK_FAILED;
	rc = crowd_open(&web->crowd, &place, is_quick() ? 50 : 300, 0, &err);
	if (rc == 0) {
		site_path(web->crowd.site, "jar", web->jar);
		site_path(web->crowd.site, "urls", web->list);
		site_path(web->crowd.site, "times", web->times);
		web->person = person_new(web->crowd.site, &err);
		rc = web->person ? measure(web, is_quick() ? 1 : ROUNDS, &err)
				 : -1;
	}
	if (rc == 0 && kept && !is_quick())
		rc = keep_rounds(web, kept, earlier, &err);
	person_free(web->person);
	crowd_close(&web->crowd);
	if (rc == 0)
		report(web);
	free(web);
	if (rc < 0)
		fail(&err);
	return EXIT_GOOD;
}
