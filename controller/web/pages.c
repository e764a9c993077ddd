/* pages.c - sweeps, one sweep as a board, and which page a path is.
 */
#include "controller/store/store.h"
#include "controller/web/board.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SWEEPS_SHOWN 200

typedef unsigned long long ull;

/* Sweeps. */

static void put_counts(struct web_page *page, const struct sweep_info *sweep)
{
	const char *before = "";

	for (int state = JOB_QUEUED; state < JOB_STATES; state++) {
		if (!sweep->counts.of[state])
			continue;
		web_html(page, "%s%llu %s", before,
			 (ull)sweep->counts.of[state], job_state_name(state));
		before = ", ";
	}
}

static void put_sweep(struct web_page *page, const struct sweep_info *sweep)
{
	web_part(page, "tr", "", "s%llu", (ull)sweep->id);
	web_html(page, "<td class=\"n\">%llu</td><td><a href=\"/sweep/%llu\">",
		 (ull)sweep->id, (ull)sweep->id);
	web_text(page, sweep->name);
	web_html(page, "</a></td><td>%s</td><td>",
		 sweep->final ? "ended" : "active");
	put_counts(page, sweep);
	web_html(page, "</td><td>");
	web_time(page, sweep->submitted_ms);
	web_html(page, "</td><td>");
	web_text(page, sweep->client);
	web_html(page, "</td>");
	web_part_end(page, "tr");
}

/* The newest ones first. */
static int sweeps_page(struct web_page *page, uint64_t none, uint64_t after,
		       uint64_t unused, struct error *err)
{
	struct message_query query = { .id = 0 };
	struct reply_sweep last = { 0 };
	struct reply_sweeps reply = { 0 };
	struct api_request request = web_request(page, &query);
	uint64_t newest = 0;
	int rc;

	if (api_sweep(&request, &last, NULL) == 0)
		newest = last.sweep.id;
	codec_clear(&reply_sweep_schema, &last);
	snprintf(page->title, sizeof(page->title), "Sweeps");
	query.after = newest > SWEEPS_SHOWN ? newest - SWEEPS_SHOWN : 0;
	rc = api_sweeps(&request, &reply, err);
	web_html(page, "<div class=\"wide\"><table><tr><th>Sweep</th>"
		       "<th>Name</th><th>State</th><th>Jobs</th>"
		       "<th>Submitted (UTC)</th><th>By</th></tr>\n");
	for (size_t i = reply.sweeps_count; i-- > 0;)
		put_sweep(page, &reply.sweeps[i]);
	web_html(page, "</table></div>\n");
	if (!reply.sweeps_count)
		web_html(page, "<p class=\"mute\">No sweep was submitted yet.");
	codec_clear(&reply_sweeps_schema, &reply);
	return rc;
}

/* A sweep. */

static void put_step(struct web_page *page,
		     const struct progress_info *progress)
{
	if (progress->phase) {
		web_text(page, progress->phase);
	} else if (progress->steps) {
		web_html(page,
			 "<progress max=\"%llu\" value=\"%llu\"></progress> "
			 "%llu of %llu",
			 (ull)progress->steps, (ull)progress->step,
			 (ull)progress->step, (ull)progress->steps);
	} else if (progress->step) {
		web_html(page, "step %llu", (ull)progress->step);
	}
	web_stillness(page, progress);
}

/* rate: of each device, NAN: unknown. */
static void put_progress(struct web_page *page, const struct job_info *job,
			 double rate)
{
	const struct progress_info *progress = job->progress;

	web_html(page, "<td>");
	if (progress)
		put_step(page, progress);
	web_html(page, "</td><td class=\"n\">");
	if (progress && !isnan(progress->loss))
		web_html(page, "%.4f", progress->loss);
	web_html(page, "</td><td class=\"n\">");
	if (!isnan(rate))
		web_html(page, "%.0f", rate * job->devices);
	web_html(page, "</td>");
}

static void put_names(struct web_page *page, const struct strings *names)
{
	for (size_t i = 0; i < names->count && i < 4; i++) {
		web_html(page, i ? ", " : "");
		web_text(page, names->items[i]);
	}
	if (names->count > 4)
		web_html(page, ", ... (%zu)", names->count);
}

static void put_job(struct web_page *page, const struct job_info *job,
		    double rate)
{
	web_part(page, "tr", "", "j%llu", (ull)job->job);
	web_html(page,
		 "<td class=\"n\"><a href=\"/job/%llu\">%llu</a></td><td>",
		 (ull)job->job, (ull)job->job);
	web_text(page, job->cell);
	if (job->repeat)
		web_html(page, " <span class=\"mute\">#%u</span>",
			 job->repeat + 1);
	web_html(page, "</td><td class=\"%s\">%s</td><td>", job->state,
		 job->state);
	put_names(page, &job->allocation);
	web_html(page, "</td>");
	put_progress(page, job, rate);
	web_html(page, "<td>");
	web_text(page, job->text ? job->text : job->waits);
	web_html(page, "</td>");
	web_part_end(page, "tr");
}

/* Of the results the rate of each job, into a list as long as that of the jobs.
 */
struct rates {
	const struct reply_jobs *jobs;
	double *of;
	size_t at;
};

static int take_rate(uint64_t job, double rate, void *arg)
{
	struct rates *rates = arg;

	while (rates->at < rates->jobs->jobs_count &&
	       rates->jobs->jobs[rates->at].job < job)
		rates->at++;
	if (rates->at < rates->jobs->jobs_count &&
	    rates->jobs->jobs[rates->at].job == job)
		rates->of[rates->at] = rate;
	return 0;
}

/* What runs has the rate of its last step. */
static double running_rate(const struct job_info *job)
{
	return job->progress && job->devices
		       ? job->progress->tokens_per_second / job->devices
		       : (double)NAN;
}

/* Of each device, of all jobs. */
static int find_rates(struct web_page *page, const struct reply_jobs *reply,
		      const struct message_query *query, double *of,
		      struct error *err)
{
	struct rates rates = { reply, of, 0 };

	for (size_t i = 0; i < reply->jobs_count; i++)
		of[i] = running_rate(&reply->jobs[i]);
	return store_result_numbers(page->sources->api.store, query->id,
				    query->after, (uint32_t)reply->jobs_count,
				    "$.result.tokens_per_second_per_device",
				    take_rate, &rates, err);
}

static void put_jobs(struct web_page *page, const struct reply_jobs *reply,
		     const double *rates)
{
	web_html(page, "<div class=\"wide\"><table><tr><th>Job</th>"
		       "<th>Cell</th><th>State</th><th>Nodes</th><th>Step</th>"
		       "<th>Loss</th><th>token/s</th><th>Why</th></tr>\n");
	for (size_t i = 0; i < reply->jobs_count; i++)
		put_job(page, &reply->jobs[i], rates[i]);
	web_html(page, "</table></div>\n");
}

static int put_board(struct web_page *page, const struct reply_jobs *reply,
		     const struct message_query *query, struct error *err)
{
	owned_free double *rates =
		calloc(reply->jobs_count + 1, sizeof(*rates));

	if (!rates)
		return error_nomem(err, "board");
	if (find_rates(page, reply, query, rates, err) < 0)
		return -1;
	board_put(page, reply, rates);
	put_jobs(page, reply, rates);
	return 0;
}

static void put_sweep_head(struct web_page *page,
			   const struct sweep_info *sweep)
{
	snprintf(page->title, sizeof(page->title), "Sweep %llu, %.90s",
		 (ull)sweep->id, sweep->name);
	web_part(page, "p", "", "counts");
	put_counts(page, sweep);
	web_html(page, ". Submitted ");
	web_time(page, sweep->submitted_ms);
	web_html(page, " UTC by ");
	web_text(page, sweep->client);
	web_html(page, ". <a href=\"/sweep/%llu/report\">Report</a>",
		 (ull)sweep->id);
	web_part_end(page, "p");
}

static int sweep_page(struct web_page *page, uint64_t id, uint64_t after,
		      uint64_t unused, struct error *err)
{
	struct message_query query = { .id = id, .after = after };
	struct api_request request = web_request(page, &query);
	struct reply_sweep sweep = { 0 };
	struct reply_jobs reply = { 0 };
	int rc = id ? api_sweep(&request, &sweep, err)
		    : error_set(err, ENOENT, "no sweep 0");

	if (rc == 0) {
		put_sweep_head(page, &sweep.sweep);
		rc = api_jobs(&request, &reply, err);
	}
	if (rc == 0)
		rc = put_board(page, &reply, &query, err);
	if (rc == 0 && reply.more)
		web_html(page, "<p><a href=\"/sweep/%llu/%llu\">More jobs</a>",
			 (ull)id, (ull)reply.jobs[reply.jobs_count - 1].job);
	codec_clear(&reply_sweep_schema, &sweep);
	codec_clear(&reply_jobs_schema, &reply);
	return rc;
}

static int nodes_page(struct web_page *page, uint64_t none, uint64_t after,
		      uint64_t unused, struct error *err)
{
	return web_nodes_render(page, after, err);
}

static int node_page(struct web_page *page, uint64_t number, uint64_t after,
		     uint64_t unused, struct error *err)
{
	return web_node_render(page, number, err);
}

static int job_page(struct web_page *page, uint64_t id, uint64_t after,
		    uint64_t unused, struct error *err)
{
	return web_job_render(page, id, err);
}

/* "/WORD", "/WORD/ID", "/WORD/ID/AFTER", "/log/JOB/RANK/BYTE". */
static const struct {
	const char *word;
	int (*render)(struct web_page *page, uint64_t id, uint64_t after,
		      uint64_t byte, struct error *err);
	bool has_byte;
} pages[] = {
	{ "", sweeps_page, false },     { "sweep", sweep_page, false },
	{ "job", job_page, false },     { "log", web_log_render, true },
	{ "nodes", nodes_page, false }, { "node", node_page, false },
};

/* "/123": moves *at behind it; without one, 0. */
static bool take_number(const char **at, uint64_t *number)
{
	char *end;

	*number = 0;
	if (!**at)
		return true;
	if ((*at)[0] != '/' || (*at)[1] < '0' || (*at)[1] > '9')
		return false;
	errno = 0;
	*number = strtoull(*at + 1, &end, 10);
	*at = end;
	return errno == 0 && *number <= INT64_MAX;
}

int web_page_render(struct web_page *page, const char *path, struct error *err)
{
	const char *word = path + (*path == '/'), *at;
	size_t length = strcspn(word, "/");
	uint64_t id, after, byte = 0;

	at = word + length;
	if (!take_number(&at, &id) || !take_number(&at, &after))
		return error_set(err, ENOENT, "no such page");
	for (size_t i = 0; i < sizeof(pages) / sizeof(*pages); i++)
		if (strlen(pages[i].word) == length &&
		    !strncmp(pages[i].word, word, length) &&
		    (!pages[i].has_byte || take_number(&at, &byte)) && !*at)
			return pages[i].render(page, id, after, byte, err);
	return error_set(err, ENOENT, "no such page");
}
