/* log_page.c - what a rank printed, a page of it at a time.
 */
#include "controller/web/web_page.h"
#include "protocol/base/printable.h"
#include "protocol/message/reply_logs.h"

#include <inttypes.h>
#include <string.h>

#define PAGE_BYTES 65536
#define BEFORE_BYTES 4096 /* shown before the line that is meant */

void web_log_lines(struct web_page *page, struct buffer *bytes, size_t from,
		   size_t meant)
{
	char *const last = bytes->data + bytes->size;

	for (char *at = bytes->data + from, *end; at < last; at = end + 1) {
		bool marked = meant && (size_t)(at - bytes->data) == meant;

		end = memchr(at, '\n', (size_t)(last - at));
		if (!end)
			end = last;
		printable(at, (size_t)(end - at));
		*end = 0;
		web_html(page, marked ? "<mark id=\"at\">" : "");
		web_text(page, at);
		web_html(page, marked ? "</mark>\n" : "\n");
	}
}

static void put_links(struct web_page *page, uint64_t job, uint64_t rank,
		      uint64_t first, uint64_t behind, uint64_t length)
{
	web_html(page,
		 "<p><a href=\"/job/%" PRIu64 "\">Job %" PRIu64
		 "</a>, rank %" PRIu64 ", bytes %" PRIu64 " to %" PRIu64
		 " of %" PRIu64 ".",
		 job, job, rank, first, behind, length);
	if (first)
		web_html(page,
			 " <a href=\"/log/%" PRIu64 "/%" PRIu64 "/%" PRIu64
			 "\">Previous</a>",
			 job, rank,
			 first > PAGE_BYTES ? first - PAGE_BYTES + BEFORE_BYTES
					    : 0);
	if (behind < length)
		web_html(page,
			 " <a href=\"/log/%" PRIu64 "/%" PRIu64 "/%" PRIu64
			 "\">Next</a>",
			 job, rank, behind);
	web_html(page, "</p>\n");
}

/* The first line that begins in the bytes; of a page that begins with the log,
 * all.
 */
static size_t first_line(const struct buffer *bytes, uint64_t offset)
{
	const char *end =
		offset ? memchr(bytes->data, '\n', bytes->size) : NULL;

	return end ? (size_t)(end - bytes->data) + 1 : 0;
}

int web_log_render(struct web_page *page, uint64_t job, uint64_t rank,
		   uint64_t offset, struct error *err)
{
	char stream[32];
	uint64_t begin = offset > BEFORE_BYTES ? offset - BEFORE_BYTES : 0;
	struct message_log_read read = { .job = job,
					 .stream = stream,
					 .offset = begin };
	owned(buffer_clear) struct buffer bytes;
	struct api_request request = web_request(page, &read);
	struct reply_log_read reply = { 0 };
	size_t from;
	int rc;

	buffer_init(&bytes, MESSAGE_PAYLOAD_MAX);
	request.bytes = &bytes;
	snprintf(stream, sizeof(stream), "rank-%" PRIu64, rank);
	snprintf(page->title, sizeof(page->title), "Job %" PRIu64 ", output",
		 job);
	rc = api_log_read(&request, &reply, err);
	if (rc == 0) {
		if (bytes.size > PAGE_BYTES)
			bytes.size = PAGE_BYTES;
		from = first_line(&bytes, begin);
		web_part(page, "div", "", "output");
		put_links(page, job, rank, begin + from, begin + bytes.size,
			  reply.length);
		web_html(page, "<pre class=\"log\">");
		web_log_lines(page, &bytes, from, (size_t)(offset - begin));
		web_html(page, "</pre>");
		web_part_end(page, "div");
	}
	codec_clear(&reply_log_read_schema, &reply);
	return rc;
}
