/* log_page.c - the page of a rank's output around one line. */
#include "controller/web/web_page.h"
#include "protocol/base/printable.h"
#include "protocol/base/strings.h"
#include "protocol/message/reply_logs.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define PAGE_BYTES 65536

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
		web_html(page, marked ? "<mark id=\"at\">%s</mark>\n" : "%s\n",
			 at);
	}
}

static void put_links(struct web_page *page, uint64_t job, uint64_t rank,
		      uint64_t first, uint64_t behind, uint64_t length)
{
	uint64_t previous =
		first > PAGE_BYTES ? first - PAGE_BYTES + WEB_LOG_BEFORE : 0;

	web_html(page,
		 "<p><a href=\"/job/%llu\">Job %llu</a>, rank %llu, bytes %llu "
		 "to %llu of %llu.",
		 (ull)job, (ull)job, (ull)rank, (ull)first, (ull)behind,
		 (ull)length);
	if (first)
		web_html(page, " <a href=\"/log/%llu/%llu/%llu\">Previous</a>",
			 (ull)job, (ull)rank, (ull)previous);
	if (behind < length)
		web_html(page, " <a href=\"/log/%llu/%llu/%llu\">Next</a>",
			 (ull)job, (ull)rank, (ull)behind);
	web_html(page, "</p>\n");
}

size_t web_log_first(const struct buffer *bytes, uint64_t offset)
{
	const char *end =
		offset ? memchr(bytes->data, '\n', bytes->size) : NULL;

	return end ? (size_t)(end - bytes->data) + 1 : 0;
}

void web_no_output(struct web_page *page, uint64_t rank, bool final)
{
	web_html(page,
		 "<span class=\"mute\">Rank %llu has printed nothing%s.</span>",
		 (ull)rank, final ? "" : " so far");
}

int web_log_page(struct web_page *page, const uint64_t numbers[WEB_NUMBERS],
		 struct error *err)
{
	uint64_t job = numbers[0], rank = numbers[1], offset = numbers[2];
	char stream[32];
	uint64_t begin = offset > WEB_LOG_BEFORE ? offset - WEB_LOG_BEFORE : 0;
	struct message_log_read read = { .job = job,
					 .stream = stream,
					 .offset = begin };
	owned(buffer_clear) struct buffer bytes =
		BUFFER_INIT(MESSAGE_PAYLOAD_MAX);
	struct api_request request = web_request(page, &read);
	struct reply_log_read reply = { 0 };
	size_t from;
	int rc;

	request.bytes = &bytes;
	snprintf(stream, sizeof(stream), "rank-%" PRIu64, rank);
	snprintf(page->title, sizeof(page->title), "Job %" PRIu64 ", output",
		 job);
	rc = api_log_read(&request, &reply, err);
	if (rc == 0 && reply.final && reply.streams.count &&
	    !strings_has(&reply.streams, stream))
		rc = error_set(err, ENOENT,
			       "job %" PRIu64 " has no output of rank %" PRIu64,
			       job, rank);
	if (rc == 0) {
		if (bytes.size > PAGE_BYTES)
			bytes.size = PAGE_BYTES;
		from = web_log_first(&bytes, begin);
		web_part(page, "div", "", "output");
		put_links(page, job, rank, begin + from, begin + bytes.size,
			  reply.length);
		web_html(page, "<pre class=\"log\">");
		web_log_lines(page, &bytes, from, (size_t)(offset - begin));
		web_html(page, "</pre>");
		if (!reply.length)
			web_no_output(page, rank, reply.final);
		web_part_end(page, "div");
	}
	codec_clear(&reply_log_read_schema, &reply);
	return rc;
}
