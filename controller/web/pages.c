/* pages.c - the page of all sweeps, and the table of all pages. */
#include "controller/web/board.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SWEEPS_SHOWN 200
#define WHOLE_ROWS 100 /* per slice of a page that is rendered at once */

/* Sweeps. */

static void page_put_sweep(struct web_page *page,
			   const struct sweep_info *sweep)
{
	web_part(page, "tr", "", "s%llu", (ull)sweep->id);
	view_page_row(&view_sweeps, sweep, &page->out);
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
			page_put_sweep(page, &reply.sweeps[i]);
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
			 "<p class=\"mute\">No sweep has been submitted yet. "
			 "<code>regatta submit SWEEP</code> submits one; "
			 "regatta-sweep(5) describes the file.");
	return 0;
}

static int sweeps_page(struct web_page *page,
		       const uint64_t numbers[WEB_NUMBERS], struct error *err)
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
	web_html(page, "<div class=\"wide\">");
	view_page_begin(&view_sweeps, &page->out);
	return 1;
}

/* "/WORD[/NUMBER...]" */
static const struct {
	const char *word;
	web_page_fn *begin;
	size_t numbers; /* at most */
} pages[] = {
	{ "", sweeps_page, 2 },         { "sweep", web_sweep_page, 2 },
	{ "job", web_job_page, 2 },     { "log", web_log_page, 3 },
	{ "nodes", web_nodes_page, 2 }, { "node", web_node_page, 2 },
};

#define PAGES (sizeof(pages) / sizeof(*pages))

/* "/123". *at moves behind it, unless the number is too large. */
static bool path_take_number(const char **at, uint64_t *number)
{
	char *end;

	if (**at != '/' || (*at)[1] < '0' || (*at)[1] > '9')
		return false;
	errno = 0;
	*number = strtoull(*at + 1, &end, 10);
	if (errno || *number > INT64_MAX)
		return false;
	*at = end;
	return true;
}

int web_page_begin(struct web_page *page, const char *path, struct error *err)
{
	const char *word = path + (*path == '/');
	size_t length = strcspn(word, "/"), i = 0, count = 0;
	const char *at = word + length;
	uint64_t numbers[WEB_NUMBERS] = { 0 };

	while (i < PAGES && (strlen(pages[i].word) != length ||
			     strncmp(pages[i].word, word, length) != 0))
		i++;
	while (i < PAGES && count < pages[i].numbers &&
	       path_take_number(&at, &numbers[count]))
		count++;
	return i < PAGES && !*at ? pages[i].begin(page, numbers, err)
				 : error_set(err, ENOENT, "page not found");
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
