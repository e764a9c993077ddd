/* web_page.h - writes one HTML page, made of parts that can be updated.
 *
 * A part is one element with an id. While a page is open, the server renders it
 * again after changes and sends the parts that differ (live.h).
 */
#pragma once

#include "controller/api/api.h"
#include "controller/jobs/jobs.h"
#include "controller/report/writer.h"
#include "controller/view/render.h"
#include "controller/view/views.h"
#include "protocol/base/buffer.h"
#include "protocol/message/reply_jobs.h"

typedef unsigned long long ull; /* for %llu */

struct web_part {
	char id[24];
	size_t start, end; /* offsets in `text` */
	uint64_t hash;     /* of these bytes */
};

/* The data of pages; borrowed. */
struct web_sources {
	struct api api;
	struct jobs_parts parts;
};

struct web_page;

/* The part of a large page that is not yet rendered. */
struct web_rest {
	/* Render the next slice. 1: there is more. */
	int (*next)(struct web_page *page, void *state, struct error *err);
	void (*free)(void *state);
	void *state; /* owned; NULL: the page is complete */
};

struct web_page {
	const struct web_sources *sources;
	struct web_rest rest;
	uint32_t slice; /* rows per web_page_next() */
	char title[120];
	struct buffer text; /* of <main> */
	struct writer out;  /* to `text` */
	struct web_part *list;
	size_t count;
};

void web_page_init(struct web_page *page, const struct web_sources *sources);
void web_page_clear(struct web_page *page);
OWNED_VALUE(struct web_page, web_page_clear)

/* Append HTML, as writer_printf(): each %s is escaped; NULL: nothing. */
void web_html(struct web_page *page, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Append a text for <pre>, escaped; line ends and tabs stay. */
void web_text_lines(struct web_page *page, const char *text);
/* ", 4m12s ago, suspected hang" for a job without recent progress. */
void web_stillness(struct web_page *page, const struct progress_info *progress);

/* Begin a part: write `<tag id="...">`. more: further attributes (not escaped),
 * or "".
 */
void web_part(struct web_page *page, const char *tag, const char *more,
	      const char *id, ...) __attribute__((format(printf, 4, 5)));
/* End the part: write `</tag>`. */
void web_part_end(struct web_page *page, const char *tag);

/* A request with the rights of a viewer, for the data of the page. */
struct api_request web_request(const struct web_page *page,
			       const void *message);

/* A hash of the parts' ids in their order. If it differs, the parts differ. */
uint64_t web_page_shape(const struct web_page *page);
/* A hash of the bytes of all parts. */
uint64_t web_page_state(const struct web_page *page);

/* Append the element <main id="main">. */
int web_page_main(const struct web_page *page, struct buffer *out,
		  struct error *err);

/* Append the whole document. path: of the page, begins with '/'; NULL: it does
 * not change while it is open.
 */
int web_page_document(const struct web_page *page, const char *path,
		      struct buffer *out, struct error *err);

/* Render the page at this path. ENOENT: no such page. */
int web_page_render(struct web_page *page, const char *path, struct error *err);
/* The same in slices of some 30 us. 1: call web_page_next() for more. */
int web_page_begin(struct web_page *page, const char *path, struct error *err);
int web_page_next(struct web_page *page, struct error *err);

/* A kind of page. numbers: those of its path, or 0. Returns as
 * web_page_begin().
 */
#define WEB_NUMBERS 3
typedef int web_page_fn(struct web_page *page,
			const uint64_t numbers[WEB_NUMBERS], struct error *err);
web_page_fn web_sweep_page; /* of sweep [0]: the jobs after [1] */
web_page_fn web_job_page;   /* of job [0] */
web_page_fn web_log_page;   /* of job [0], rank [1]: the line at byte [2] */
web_page_fn web_nodes_page; /* the nodes after the first [1] */
web_page_fn web_node_page;  /* of node [0], from 1 */

#define WEB_LOG_BEFORE 4096 /* bytes shown before a marked line */

/* The first line that begins in the bytes, unless they are the first of the
 * output.
 */
size_t web_log_first(const struct buffer *bytes, uint64_t offset);

/* Write the lines of these bytes from offset `from` on; control characters are
 * replaced in the buffer. The line that begins at `meant` is marked; 0: none.
 */
void web_log_lines(struct web_page *page, struct buffer *bytes, size_t from,
		   size_t meant);
/* Say that there is no output of the rank; final: and never will be. */
void web_no_output(struct web_page *page, uint64_t rank, bool final);

/* The parts of a job's page that show which rank failed first, how the ranks
 * ended, and their last stacks.
 */
void web_job_failure(struct web_page *page, const struct job_info *job);

/* Is it known in the output of which rank the reason stands? */
bool web_reason_rank(const struct reason_info *reason, unsigned *rank);

extern const char web_style[], web_script[];
