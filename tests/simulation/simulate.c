/* simulate.c - runs of a simulated controller with its nodes, by their seeds.
 *
 *	simulate [--trace] [--broken CLASS] [--seconds N] [--random]
 *		[FIRST [LAST]]
 *
 * Speaks TAP. Without arguments: the seeds that `make check` runs. --seconds:
 * on from FIRST for so long. --random: FIRST is any number. --broken: only that
 * one of two nodes fails each task so. --trace: what happens, and what it leads
 * to.
 */
#include "tests/simulation/simulation.h"

#include "controller/catalog/catalog.h"
#include "protocol/base/file.h"
#include "protocol/base/log.h"
#include "tests/tap.h"

#include <fcntl.h>
#include <sys/random.h>
#include <time.h>

#ifdef __SANITIZE_ADDRESS__
#define CHECK_LAST 60
#else
#define CHECK_LAST 200
#endif

/* Each of them found a fault of its own. `make check` runs them as well. */
static const uint64_t past[] = { 208, 566, 2229830417, 2229830986, 2229831675 };

static uint64_t events, kills, commits;
static unsigned int failed;

static double seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static uint64_t any_seed(void)
{
	uint32_t seed;

	return getrandom(&seed, sizeof(seed), 0) == sizeof(seed) ? seed : 1;
}

/* Its only framework reads the lines of world_byte(). */
static struct catalog *make_catalog(void)
{
	static const char *const files[][2] = {
		{ "models.yaml",
		  "models:\n"
		  "  m: {source: s, parameters: 1e6, layers: 2, hidden: 64,\n"
		  "      heads: 4}\n" },
		{ "frameworks/sim.yaml",
		  "framework: " SIM_FRAMEWORK "\n"
		  "log:\n"
		  "  read: first\n"
		  "  rules:\n"
		  "    - match: 'step +(?<step>\\d+) time +(?<t>\\d+) ms'\n"
		  "      fields: {step: step, t: iteration_ms}\n" },
		{ "vendors/alpha/profile.yaml", "vendor: alpha\n" },
	};
	char folder[] = "/tmp/simulation-images.XXXXXX", path[100];
	struct catalog *catalog;
	struct error err = { 0 };

	if (!mkdtemp(folder))
		return NULL;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, files[i][0]);
		*strrchr(path, '/') = 0;
		file_make_folders(path, 0700, NULL);
		snprintf(path, sizeof(path), "%s/%s", folder, files[i][0]);
		file_write(AT_FDCWD, path, files[i][1], strlen(files[i][1]),
			   0600, 0, NULL);
	}
	catalog = catalog_load(folder, &err);
	ok(catalog != NULL, "a framework to read the output: %s", err.text);
	file_remove_tree(AT_FDCWD, folder, NULL);
	return catalog;
}

/* broken: how tasks fail on one of two nodes; none: everything may happen. */
static void run_seed(const struct catalog *catalog, uint64_t seed, bool trace,
		     enum failure broken)
{
	struct world world;
	int rc =
		broken ? world_open_broken(&world, catalog, seed, trace, broken)
		       : world_open(&world, catalog, seed, trace);

	if (rc < 0) {
		ok(false, "seed %lu: no folder for its store",
		   (unsigned long)seed);
		failed++;
		return;
	}
	world_run(&world);
	events += world.events;
	kills += world.kills;
	commits += world.commits;
	if (world.wrong[0]) {
		failed++;
		ok(false, "seed %lu: %s", (unsigned long)seed, world.wrong);
		printf("# %u nodes, %u jobs, event %lu at %.3f s; again with:\n"
		       "# build/tests/simulation/simulate --trace%s%s %lu\n",
		       world.plan.nodes, world.plan.jobs,
		       (unsigned long)world.events,
		       (double)world.now_us / SECOND,
		       broken ? " --broken " : "",
		       broken ? failure_name(broken) : "", (unsigned long)seed);
	}
	world_close(&world);
}

int main(int argc, char **argv)
{
	uint64_t first = 1, last = CHECK_LAST, seed;
	double seconds = 0, begun = seconds_now();
	struct catalog *catalog;
	enum failure broken = FAILURE_NONE;
	bool trace = false;
	int at = 1;

	tap_begin(0);
	catalog = make_catalog();
	log_set_level((enum log_level)0);
	for (; at < argc && !strncmp(argv[at], "--", 2); at++) {
		if (!strcmp(argv[at], "--trace"))
			trace = true;
		else if (!strcmp(argv[at], "--broken") && at + 1 < argc)
			broken = failure_from(argv[++at]);
		else if (!strcmp(argv[at], "--random"))
			first = any_seed();
		else if (!strcmp(argv[at], "--seconds") && at + 1 < argc)
			seconds = strtod(argv[++at], NULL);
	}
	if (at < argc)
		first = last = strtoull(argv[at++], NULL, 10);
	if (at < argc)
		last = strtoull(argv[at], NULL, 10);
	for (seed = first;
	     seconds > 0 ? seconds_now() - begun < seconds : seed <= last;
	     seed++)
		run_seed(catalog, seed, trace, broken);
	for (uint64_t i = 1; argc == 1 && i <= CHECK_LAST; i++) {
		run_seed(catalog, i, false, FAILURE_CREATE);
		run_seed(catalog, i, false, FAILURE_PREFLIGHT);
	}
	for (size_t i = 0; argc == 1 && i < sizeof(past) / sizeof(*past); i++)
		run_seed(catalog, past[i], trace, FAILURE_NONE);
	catalog_free(catalog);
	ok(!failed, "seeds %lu to %lu: nothing is wrong", (unsigned long)first,
	   (unsigned long)seed - 1);
	printf("# %lu events, %.0f a second; %lu commits, %lu deaths of the "
	       "controller\n",
	       (unsigned long)events, (double)events / (seconds_now() - begun),
	       (unsigned long)commits, (unsigned long)kills);
	return tap_done();
}
