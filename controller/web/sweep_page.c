/* sweep_page.c - the page of a sweep: its jobs as a board and as a table.
 *
 * Jobs are read, and their rows are written, a slice at a time.
 */
#include "controller/web/board.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN 1000 /* jobs on one page */

/* A page that is being rendered. */
struct sweep_view {
	struct message_query query;
	struct reply_jobs jobs; /* read so far */
	uint64_t last;          /* of these jobs */
	size_t put;             /* rows that are written */
	struct board *board;
	int (*next)(struct web_page *page, struct sweep_view *view,
		    struct error *err);
};

static void view_free(void *arg)
{
	struct sweep_view *view = arg;

	board_free(view->board);
	codec_clear(&reply_jobs_schema, &view->jobs);
	free(view);
}

static void sweep_page_put_job(struct web_page *page,
			       const struct job_info *job)
{
	web_part(page, "tr", "", "j%llu", (ull)job->job);
	view_page_row(&view_jobs, job, &page->out);
	web_part_end(page, "tr");
}

/* Move the jobs of the slice to the view. */
static void take_slice(struct sweep_view *view, struct reply_jobs *slice)
{
	struct reply_jobs *jobs = &view->jobs;

	for (size_t i = 0; i < slice->jobs_count && jobs->jobs_count < SHOWN;
	     i++) {
		struct job_info *to = &jobs->jobs[jobs->jobs_count];

		*to = slice->jobs[i];
		slice->jobs[i] = (struct job_info){ 0 };
		view->last = to->job;
		board_add(view->board, to);
		jobs->jobs_count++;
	}
	jobs->more = slice->more || jobs->jobs_count == SHOWN;
}

/* A job is freed after its row. */
static int put_rows(struct web_page *page, struct sweep_view *view,
		    struct error *err)
{
	size_t end = view->put + page->slice;

	for (; view->put < view->jobs.jobs_count && view->put < end;
	     view->put++) {
		struct job_info *job = &view->jobs.jobs[view->put];

		sweep_page_put_job(page, job);
		codec_clear(&job_info_schema, job);
	}
	if (view->put < view->jobs.jobs_count)
		return 1;
	web_html(page, "</table></div>\n");
	if (view->jobs.more)
		web_html(page, "<p><a href=\"/sweep/%llu/%llu\">More jobs</a>",
			 (ull)view->query.id, (ull)view->last);
	return 0;
}

static int put_board(struct web_page *page, struct sweep_view *view,
		     struct error *err)
{
	if (board_next(view->board, page))
		return 1;
	web_html(page, "<div class=\"wide\">");
	view_page_begin(&view_jobs, &page->out);
	view->next = put_rows;
	return 1;
}

static int read_jobs(struct web_page *page, struct sweep_view *view,
		     struct error *err)
{
	struct message_query query = { .id = view->query.id,
				       .after = view->last,
				       .limit = page->slice };
	struct api_request request = web_request(page, &query);
	struct reply_jobs slice = { 0 };
	int rc = api_jobs(&request, &slice, err);

	if (rc == 0)
		take_slice(view, &slice);
	if (!slice.more || view->jobs.jobs_count == SHOWN)
		view->next = put_board;
	codec_clear(&reply_jobs_schema, &slice);
	return rc < 0 ? -1 : 1;
}

static int sweep_view_next(struct web_page *page, void *arg, struct error *err)
{
	struct sweep_view *view = arg;

	return view->next(page, view, err);
}

static void put_sweep_head(struct web_page *page,
			   const struct sweep_info *sweep)
{
	char counts[200];

	snprintf(page->title, sizeof(page->title), "Sweep %llu, %.90s",
		 (ull)sweep->id, sweep->name);
	web_part(page, "p", "", "counts");
	sweep_counts(sweep, counts, sizeof(counts));
	web_html(page, "%s. Submitted <time>%s</time>", counts,
		 human_utc(sweep->submitted_ms).text);
	web_html(page, " by %s. <a href=\"/sweep/%llu/report\">Report</a>",
		 sweep->client, (ull)sweep->id);
	if (sweep->paused)
		web_html(page, ". Paused: %s", sweep->paused);
	if (sweep->race)
		web_html(page, ". Race: %s", sweep->race);
	web_part_end(page, "p");
}

/* The rest of the page comes in slices. */
static int view_begin(struct web_page *page, const struct message_query *query,
		      struct error *err)
{
	struct sweep_view *view = calloc(1, sizeof(*view));

	page->rest = (struct web_rest){ sweep_view_next, view_free, view };
	if (!view)
		return error_nomem(err, "board");
	view->query = *query;
	view->last = query->after;
	view->next = read_jobs;
	view->jobs.jobs = calloc(SHOWN, sizeof(*view->jobs.jobs));
	view->board = board_new(SHOWN);
	return view->jobs.jobs && view->board ? 1 : error_nomem(err, "board");
}

int web_sweep_page(struct web_page *page, const uint64_t numbers[WEB_NUMBERS],
		   struct error *err)
{
	uint64_t id = numbers[0];
	struct message_query query = { .id = id, .after = numbers[1] };
	struct api_request request = web_request(page, &query);
	struct reply_sweep sweep = { 0 };
	int rc = id ? api_sweep(&request, &sweep, err)
		    : error_set(err, ENOENT, "no sweep 0");

	if (rc == 0)
		put_sweep_head(page, &sweep.sweep);
	codec_clear(&reply_sweep_schema, &sweep);
	return rc < 0 ? -1 : view_begin(page, &query, err);
}
