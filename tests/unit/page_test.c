/* page_test.c - rows of a reply: skipped, limited, and filled in place. */
#include "controller/api/page.h"
#include "protocol/message/reply_jobs.h"
#include "tests/tap.h"

#include <string.h>

/* Offer rows 1 to `offered`; returns how many found a place. */
static size_t offer(struct page *page, uint64_t offered)
{
	size_t placed = 0;

	for (uint64_t seq = 1; seq <= offered; seq++) {
		struct event_info *event = page_row(page);

		if (!event)
			continue;
		event->seq = seq;
		string_set(&event->kind, "submit", NULL);
		placed++;
	}
	return placed;
}

static struct reply_events take_all(struct page *page)
{
	struct reply_events reply = { .more = page->more };

	reply.events = page_take(page, &reply.events_count);
	return reply;
}

static void test_limit(void)
{
	struct page page = page_of(NULL, &event_info_schema, 3, NULL);
	struct reply_events reply;

	ok(offer(&page, 3) == 3 && !page.more, "as many rows as the limit fit");
	ok(offer(&page, 1) == 0 && page.stop == 1 && page.more,
	   "one more does not, and the reply says so");
	ok(page_append(&page) != NULL, "unless it must be there");
	reply = take_all(&page);
	ok(reply.events_count == 4 && reply.events[2].seq == 3 &&
		   !strcmp(reply.events[2].kind, "submit") &&
		   !reply.events[3].kind,
	   "the reply has them as they were filled");
	codec_clear(&reply_events_schema, &reply);
}

static void test_skip(void)
{
	struct page page = page_of(NULL, &event_info_schema, 2, NULL);
	struct reply_events reply;

	page.skip = 2;
	ok(offer(&page, 1) == 0 && page.stop == 0,
	   "a skipped row stops no one");
	ok(offer(&page, 4) == 2 && page.more, "the limit counts those behind");
	reply = take_all(&page);
	ok(reply.events_count == 2 && reply.events[0].seq == 2,
	   "the first one is the one behind those that are skipped");
	codec_clear(&reply_events_schema, &reply);
}

static void test_bytes(void)
{
	struct page page = page_of(NULL, &event_info_schema, 0, NULL);
	static char text[60000];
	struct reply_events reply;
	size_t placed = 0;

	memset(text, 'x', sizeof(text) - 1);
	while (placed < PAGE_ROWS_MAX) {
		struct event_info *event = page_row(&page);

		if (!event)
			break;
		string_set(&event->kind, text, NULL);
		placed++;
	}
	ok(page.more && placed > 1 &&
		   placed <= MESSAGE_REPLY_MAX / sizeof(text),
	   "%zu rows of 60 kB fit a message", placed);
	reply = take_all(&page);
	ok(reply.events_count == placed, "and the reply has them");
	codec_clear(&reply_events_schema, &reply);
}

int main(void)
{
	tap_begin(10);
	test_limit();
	test_skip();
	test_bytes();
	return tap_done();
}
