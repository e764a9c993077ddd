/* history_bench.c - what a job costs a controller with many jobs in its store.
 *
 *	history_bench --build DIR --folder DIR --fast-folder DIR [--agents N]
 *
 * Agents and controller are those of cluster_bench. A sweep of 1,000 jobs runs,
 * and then one that is measured. Before the next measurement the controller is
 * ended, and the rows of those 1,000 jobs are copied, each copy with ids of its
 * own, until the store has as many finished jobs as wanted.
 */
#include "protocol/base/program.h"
#include "tests/bench/crowd.h"
#include "tests/bench/measure.h"
#include "tests/bench/process.h"

#include <errno.h>
#include <signal.h>
#include <sodium.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define BLOCK 1000      /* jobs of one sweep */
#define QUICK_BLOCK 100 /* with QUICK=1 */
#define MEASURED 3000   /* jobs; with QUICK=1 those of one sweep */
#define STEP 20         /* copies in one transaction */
#define NODES_S 60
#define SWEEP_S 300

static unsigned int block(void)
{
	return is_quick() ? QUICK_BLOCK : BLOCK;
}

static unsigned int measured(void)
{
	return is_quick() ? block() : MEASURED;
}

static int run_sweep(struct person *person, unsigned int jobs,
		     struct error *err)
{
	struct submitted submitted;
	char text[400];
	int at = snprintf(text, sizeof(text),
			  "sweep: bench\nimage: bench/none:1\nnetwork: none\n"
			  "command: [/tool, exit, \"0\", \"${i}\"]\n"
			  "repeat: %u\nmatrix:\n  i: [0",
			  block());

	for (unsigned int i = 1; i < jobs / block(); i++)
		at += snprintf(text + at, sizeof(text) - (size_t)at, ", %u", i);
	snprintf(text + at, sizeof(text) - (size_t)at, "]\n");
	return person_submit(person, text, &submitted, err) < 0
		       ? -1
		       : person_wait(person, &submitted, SWEEP_S, err);
}

/* Copies of the rows of sweep 1 and its jobs, 1 to block(), behind all others.
 * ?1: how many. Their keys differ, as those of other cells do.
 */
/* clang-format off */
#define EACH "WITH RECURSIVE copy(n) AS (SELECT 0 UNION ALL" \
	" SELECT n + 1 FROM copy WHERE n + 1 < ?1) "
#define JOB "jobs_max + n * 1000 + "
#define FROM(table) " FROM copy CROSS JOIN most CROSS JOIN " table

static const char *const copying[] = {
	"CREATE TEMP TABLE most AS SELECT"
	" (SELECT max(id) FROM sweeps) AS sweeps_max,"
	" (SELECT max(id) FROM jobs) AS jobs_max,"
	" (SELECT max(seq) FROM events) AS events_max,"
	" (SELECT max(seq) FROM events WHERE job <= 1000) AS block_max",
	EACH "INSERT INTO sweeps SELECT sweeps_max + 1 + n, name, text,"
	" client, submitted_ms, NULL" FROM("sweeps WHERE id = 1"),
	EACH "INSERT INTO shared SELECT sweeps_max + 1 + n, digits,"
	" shared.text" FROM("shared WHERE sweep = 1"),
	EACH "INSERT INTO counts SELECT sweeps_max + 1 + copy.n, state, counts.n"
	" FROM copy CROSS JOIN most CROSS JOIN counts WHERE sweep = 1",
	EACH "INSERT INTO jobs SELECT " JOB "id, sweeps_max + 1 + n,"
	" cell_index, printf('%016x', random()) || substr(key, 17), repeat,"
	" priority, spec, origin, cell, vendor, nodes, devices"
	FROM("jobs WHERE id <= 1000"),
	EACH "INSERT INTO states SELECT " JOB "job, sweeps_max + 1 + n, state,"
	" attempt, failure, text, queued_ms, started_ms, ended_ms, allocation,"
	" first_attempt, step, loss, rate, rate_unit,"
	" suspect" FROM("states WHERE job <= 1000"),
	EACH "INSERT INTO results SELECT " JOB "job, attempt, json, shared,"
	" shared_at" FROM("results WHERE job <= 1000"),
	EACH "INSERT INTO events SELECT events_max + n * block_max + seq,"
	" " JOB "job, attempt, time_ms, kind, data"
	FROM("events WHERE job <= 1000"),
	"INSERT INTO runs SELECT substr(key, 1, 16), id FROM jobs, most"
	" WHERE id > jobs_max",
	"DROP TABLE most",
};
/* clang-format on */

static int copy_once(sqlite3 *database, sqlite3_int64 copies)
{
	int rc = SQLITE_OK;

	for (size_t i = 0; i < sizeof(copying) / sizeof(copying[0]); i++) {
		sqlite3_stmt *statement = NULL;

		if (sqlite3_prepare_v2(database, copying[i], -1, &statement,
				       NULL) != SQLITE_OK)
			return -1;
		if (sqlite3_bind_parameter_count(statement))
			sqlite3_bind_int64(statement, 1, copies);
		sqlite3_step(statement);
		rc = sqlite3_finalize(statement);
		if (rc != SQLITE_OK)
			return -1;
	}
	return 0;
}

static int copy_jobs(sqlite3 *database, sqlite3_int64 copies)
{
	/* Nothing of it must outlive the machine. */
	if (sqlite3_exec(database, "PRAGMA synchronous = OFF", NULL, NULL,
			 NULL) != SQLITE_OK)
		return -1;
	for (; copies > 0; copies -= STEP)
		if (sqlite3_exec(database, "BEGIN", NULL, NULL, NULL) !=
			    SQLITE_OK ||
		    copy_once(database, copies < STEP ? copies : STEP) < 0 ||
		    sqlite3_exec(database, "COMMIT", NULL, NULL, NULL) !=
			    SQLITE_OK)
			return -1;
	return 0;
}

static int fill(const struct site *site, sqlite3_int64 copies,
		struct error *err)
{
	char path[PATH_MAX];
	sqlite3 *database = NULL;
	int rc = -1;

	site_path(site, "controller/regatta.db", path);
	if (sqlite3_open(path, &database) == SQLITE_OK)
		rc = copy_jobs(database, copies);
	if (rc < 0)
		error_set(err, EIO, "%s: %s", path, sqlite3_errmsg(database));
	sqlite3_close(database);
	return rc;
}

static void report(const struct site *site, unsigned long finished,
		   double cpu_us, double once_us)
{
	double jobs = (double)(finished + block() + measured()); /* by now */
	cJSON *line = result_new("history", "regatta");
	char path[PATH_MAX];
	struct stat st = { 0 };

	site_path(site, "controller/regatta.db", path);
	stat(path, &st);
	cJSON_AddNumberToObject(line, "finished", (double)finished);
	cJSON_AddNumberToObject(line, "controller_us_per_job", cpu_us);
	cJSON_AddNumberToObject(line, "of_the_first", cpu_us / once_us);
	cJSON_AddNumberToObject(line, "store_bytes", (double)st.st_size);
	cJSON_AddNumberToObject(line, "bytes_per_job",
				(double)st.st_size / jobs);
	result_put(line);
	printf("%9lu %9.0f %9.2f %11.0f %9.0f\n", finished, cpu_us,
	       cpu_us / once_us, (double)st.st_size / 1048576,
	       (double)st.st_size / jobs);
	fflush(stdout);
}

/* The controller ends in order, so that its journal is in the database. */
static int come_back(struct site *site, sqlite3_int64 copies, struct error *err)
{
	process_end(site->controller);
	site->controller = 0;
	return fill(site, copies, err) < 0 ? -1
					   : site_start_controller(site, err);
}

/* The first jobs read pages into memory. */
static int measure(struct crowd *crowd, unsigned long finished, bool join,
		   double *once_us, struct error *err)
{
	struct site *site = crowd->site;
	owned(person_free) struct person *person = person_new(site, err);
	double cpu, cpu_us;

	if (!person ||
	    (join ? crowd_join(crowd, person, err)
		  : person_wait_nodes(person, site->agents_count, NODES_S,
				      err)) < 0 ||
	    run_sweep(person, block(), err) < 0)
		return -1;
	cpu = process_cpu_s(site->controller);
	if (run_sweep(person, measured(), err) < 0)
		return -1;
	cpu_us = (process_cpu_s(site->controller) - cpu) * 1e6 / measured();
	if (join)
		*once_us = cpu_us;
	report(site, finished, cpu_us, *once_us);
	return 0;
}

static int measure_all(struct crowd *crowd, struct error *err)
{
	static const unsigned long sizes[] = { 1000, 100000, 1000000 };
	size_t count = is_quick() ? 2 : 3;
	unsigned long finished = 0;
	double once_us = 0;

	for (size_t i = 0; i < count; i++) {
		unsigned long want = is_quick() ? sizes[i] / 20 : sizes[i];

		if (i && come_back(crowd->site,
				   (sqlite3_int64)(want - finished) / block(),
				   err) < 0)
			return -1;
		if (measure(crowd, i ? want : block(), !i, &once_us, err) < 0)
			return -1;
		finished = (i ? want : 0) + block() + measured();
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct crowd_place place = { .build = "build",
				     .folder = "/tmp",
				     .fast = "/dev/shm" };
	struct crowd crowd = { .site = NULL };
	struct error err = { 0 };
	size_t agents = 100;
	int rc;

	crowd_options(argc, argv, &place, &agents);
	signal(SIGPIPE, SIG_IGN);
	if (sodium_init() < 0)
		return EXIT_WORK_FAILED;
	printf("%9s %9s %9s %11s %9s\n", "finished", "us/job", "of first",
	       "store MiB", "B each");
	rc = crowd_open(&crowd, &place, agents, 0, &err);
	if (rc == 0)
		rc = measure_all(&crowd, &err);
	crowd_close(&crowd);
	if (rc < 0)
		fail(&err);
	return EXIT_GOOD;
}
