/* web_page.h - one page as HTML: a frame, and parts that change.
 *
 * A part is one element with an id. While a page is open, the server renders it
 * again when something has changed, and sends the parts that differ (live.h).
 * The text of every other byte is escaped by web_text(); web_html() is for our
 * own words and numbers alone.
 */
#ifndef CONTROLLER_WEB_WEB_PAGE_H
#define CONTROLLER_WEB_WEB_PAGE_H

#include "controller/api/api.h"
#include "controller/jobs/jobs.h"
#include "protocol/base/buffer.h"
#include "protocol/message/reply_jobs.h"

struct web_part {
	char id[24];
	size_t start, end; /* in the text */
	uint64_t hash;     /* of these bytes */
};

/* What pages are rendered from; borrowed. */
struct web_sources {
	struct api api;
	struct jobs_parts parts;
};

struct web_page;

/* Of a page that takes long: what is not rendered yet. */
struct web_rest {
	/* Render the next slice of it. 1: there is more. */
	int (*next)(struct web_page *page, void *state, struct error *err);
	void (*free)(void *state);
	void *state; /* owned; NULL: the page comes at once */
};

struct web_page {
	const struct web_sources *sources;
	struct web_rest rest;
	uint32_t slice; /* rows that web_page_next() reads or writes */
	char title[120];
	struct buffer text; /* of <main> */
	struct web_part *list;
	size_t count, room;
	bool failed; /* no memory, or no room */
};

void web_page_init(struct web_page *page, const struct web_sources *sources);
void web_page_clear(struct web_page *page);
OWNED_VALUE(struct web_page, web_page_clear)

void web_html(struct web_page *page, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void web_text(struct web_page *page, const char *text); /* NULL: nothing */
/* The same for <pre>: line ends and tabs stay. */
void web_text_lines(struct web_page *page, const char *text);
/* "2026-11-23 08:01:02" in UTC; 0: "-". */
void web_time(struct web_page *page, int64_t wall_ms);

/* "3 queued, 2 running": of the sweep's jobs. */
void web_counts(struct web_page *page, const struct sweep_info *sweep);
/* Of the last step while the job runs, then of its result. The step: 0: none;
 * its loss, and tokens a second per device: NAN: not known.
 */
uint64_t web_step(const struct job_info *job);
double web_loss(const struct job_info *job);
double web_rate(const struct job_info *job);
/* ", 4m12s ago, suspected hang": of a job that has been still for too long. */
void web_stillness(struct web_page *page, const struct progress_info *progress);

/* A part begins: writes `<tag id="...">`, where more of the tag's attributes
 * are our own words, or "".
 */
void web_part(struct web_page *page, const char *tag, const char *more,
	      const char *id, ...) __attribute__((format(printf, 4, 5)));
/* And ends: `</tag>`. */
void web_part_end(struct web_page *page, const char *tag);

/* What the page shows is asked as a viewer would ask; request.api is filled in.
 */
struct api_request web_request(const struct web_page *page,
			       const void *message);

/* Of the ids, in their order: another one means other parts. */
uint64_t web_page_shape(const struct web_page *page);
/* Of the bytes of all parts. */
uint64_t web_page_state(const struct web_page *page);

/* <main id="main">: all but the frame. */
int web_page_main(const struct web_page *page, struct buffer *out,
		  struct error *err);

/* The whole document. path: of the page, with '/' first. */
int web_page_document(const struct web_page *page, const char *path,
		      struct buffer *out, struct error *err);

/* pages.c, sweep_page.c, job_page.c and nodes_page.c: fill the page at this
 * path. ENOENT: there is none.
 */
int web_page_render(struct web_page *page, const char *path, struct error *err);
/* The same in slices of some 200 us. 1: web_page_next() has more. */
int web_page_begin(struct web_page *page, const char *path, struct error *err);
int web_page_next(struct web_page *page, struct error *err);
int web_sweep_begin(struct web_page *page, uint64_t id, uint64_t after,
		    struct error *err);
int web_job_render(struct web_page *page, uint64_t job, struct error *err);
/* log_page.c: what a rank printed, from a bit before the byte on, whose line is
 * marked.
 */
int web_log_render(struct web_page *page, uint64_t job, uint64_t rank,
		   uint64_t offset, struct error *err);
/* The lines of these bytes from a place on; what is no text is made harmless
 * in place. The line that begins at `meant` is marked; 0: none.
 */
void web_log_lines(struct web_page *page, struct buffer *bytes, size_t from,
		   size_t meant);
/* job_failure.c: parts of its page that say who failed first, how its ranks
 * ended, and where they stood when its nodes looked last.
 */
void web_job_failure(struct web_page *page, const struct job_info *job);
/* Behind the first `after` ones; of one, by its number from 1 on. */
int web_nodes_begin(struct web_page *page, uint64_t after, struct error *err);
int web_node_render(struct web_page *page, uint64_t number, struct error *err);

extern const char web_style[], web_script[];

#endif
