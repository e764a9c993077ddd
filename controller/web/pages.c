/* pages.c - the list of sweeps, and which page a path is.
 */
#include "controller/store/store.h"
#include "controller/web/board.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SWEEPS_SHOWN 200
#define WHOLE_ROWS 100 /* of a page that is rendered at once, in a slice */

typedef unsigned long long ull;

/* Sweeps. */

void web_counts(struct web_page *page, const struct sweep_info *sweep)
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
	web_counts(page, sweep);
	web_html(page, "</td><td>");
	web_time(page, sweep->submitted_ms);
	web_html(page, "</td><td>");
	web_text(page, sweep->client);
	web_html(page, "</td>");
	web_part_end(page, "tr");
}

/* The list, a slice at a time; the newest ones first. */
struct sweeps_view {
	uint64_t left; /* ids up to this one are not written yet */
	uint64_t end;  /* ids up to this one are left out */
	bool any;
};

static int sweeps_slice(struct web_page *page, struct sweeps_view *view,
			struct error *err)
{
	uint64_t slice = view->left - view->end;
	struct message_query query = { .limit = page->slice };
	struct api_request request = web_request(page, &query);
	struct reply_sweeps reply = { 0 };
	int rc;

	if (slice > page->slice)
		slice = page->slice;
	query.after = view->left - slice;
	rc = api_sweeps(&request, &reply, err);
	for (size_t i = reply.sweeps_count; i-- > 0;)
		if (reply.sweeps[i].id <= view->left) {
			put_sweep(page, &reply.sweeps[i]);
			view->any = true;
		}
	view->left = query.after;
	codec_clear(&reply_sweeps_schema, &reply);
	return rc;
}

static int sweeps_next(struct web_page *page, void *arg, struct error *err)
{
	struct sweeps_view *view = arg;

	if (view->left > view->end)
		return sweeps_slice(page, view, err) < 0 ? -1 : 1;
	web_html(page, "</table></div>\n");
	if (!view->any)
		web_html(page,
			 "<p class=\"mute\">No sweep has been submitted yet.");
	return 0;
}

static int sweeps_page(struct web_page *page, uint64_t none, uint64_t after,
		       uint64_t unused, struct error *err)
{
	struct sweeps_view *view = calloc(1, sizeof(*view));
	struct message_query query = { .id = 0 };
	struct api_request request = web_request(page, &query);
	struct reply_sweep last = { 0 };

	page->rest = (struct web_rest){ sweeps_next, free, view };
	if (!view)
		return error_nomem(err, "sweeps");
	if (api_sweep(&request, &last, NULL) == 0)
		view->left = last.sweep.id;
	codec_clear(&reply_sweep_schema, &last);
	if (view->left > SWEEPS_SHOWN)
		view->end = view->left - SWEEPS_SHOWN;
	snprintf(page->title, sizeof(page->title), "Sweeps");
	web_html(page,
		 "<div class=\"wide\"><table><tr><th class=\"n\">Sweep</th>"
		 "<th>Name</th><th>State</th><th>Jobs</th>"
		 "<th>Submitted (UTC)</th><th>By</th></tr>\n");
	return 1;
}

static int sweep_page(struct web_page *page, uint64_t id, uint64_t after,
		      uint64_t unused, struct error *err)
{
	return web_sweep_begin(page, id, after, err);
}

static int nodes_page(struct web_page *page, uint64_t none, uint64_t after,
		      uint64_t unused, struct error *err)
{
	return web_nodes_begin(page, after, err);
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

int web_page_begin(struct web_page *page, const char *path, struct error *err)
{
	const char *word = path + (*path == '/'), *at;
	size_t length = strcspn(word, "/");
	uint64_t id, after, byte = 0;

	at = word + length;
	if (!take_number(&at, &id) || !take_number(&at, &after))
		return error_set(err, ENOENT, "page not found");
	for (size_t i = 0; i < sizeof(pages) / sizeof(*pages); i++)
		if (strlen(pages[i].word) == length &&
		    !strncmp(pages[i].word, word, length) &&
		    (!pages[i].has_byte || take_number(&at, &byte)) && !*at)
			return pages[i].render(page, id, after, byte, err);
	return error_set(err, ENOENT, "page not found");
}

int web_page_next(struct web_page *page, struct error *err)
{
	return page->rest.next(page, page->rest.state, err);
}

int web_page_render(struct web_page *page, const char *path, struct error *err)
{
	int rc;

	page->slice = WHOLE_ROWS;
	rc = web_page_begin(page, path, err);
	while (rc > 0)
		rc = web_page_next(page, err);
	return rc;
}
