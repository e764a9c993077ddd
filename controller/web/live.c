/* live.c - pages that are open: what changes in them is sent as it changes.
 */
#include "controller/web/live.h"
#include "protocol/base/file.h"
#include "protocol/base/loop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#define PATH_BYTES 64
#define INTERVAL_MS 1000
#define SHARE 200 /* of the time, for rendering, for each open page */
#define SHARES_MAX 10

static const char whole_event[] = "event: whole\ndata:\n\n";

struct topic {
	char path[PATH_BYTES];
	size_t streams;
	bool stale; /* something has changed since it was rendered */
	uint64_t shape;
	uint64_t *hashes; /* of the parts, as sent last */
	TAILQ_ENTRY(topic) next;
};

struct live {
	sd_event *loop;
	const struct web_sources *sources;
	struct http_server *server;
	sd_event_source *timer;
	bool due; /* the timer runs */
	int64_t not_before_ms;
	size_t count, streams; /* topics, and browsers of all of them */
	TAILQ_HEAD(topics, topic) topics; /* rendered last: at the end */
};

struct live *live_new(sd_event *loop, const struct web_sources *sources,
		      struct error *err)
{
	struct live *live = calloc(1, sizeof(*live));

	if (!live) {
		error_nomem(err, "web");
		return NULL;
	}
	live->loop = loop;
	live->sources = sources;
	TAILQ_INIT(&live->topics);
	return live;
}

static void topic_free(struct live *live, struct topic *topic)
{
	TAILQ_REMOVE(&live->topics, topic, next);
	live->count--;
	free(topic->hashes);
	free(topic);
}

void live_free(struct live *live)
{
	if (!live)
		return;
	loop_source_free(&live->timer);
	while (!TAILQ_EMPTY(&live->topics))
		topic_free(live, TAILQ_FIRST(&live->topics));
	free(live);
}

void live_serve(struct live *live, struct http_server *server)
{
	live->server = server;
}

/* An event that carries a part: its id, and its HTML, line by line. */
static int put_part(struct buffer *out, const struct web_page *page, size_t i)
{
	const struct web_part *part = &page->list[i];
	const char *at = page->text.data + part->start;
	const char *end = page->text.data + part->end;

	if (buffer_printf(out, NULL, "event: part\ndata: %s\n", part->id) < 0)
		return -1;
	while (at < end) {
		const char *line = memchr(at, '\n', (size_t)(end - at));
		size_t size = (size_t)((line ? line : end) - at);

		if (buffer_text(out, "data: ", NULL) < 0 ||
		    buffer_append(out, at, size, NULL) < 0 ||
		    buffer_text(out, "\n", NULL) < 0)
			return -1;
		at += size + 1;
	}
	return buffer_text(out, "\n", NULL);
}

/* Browsers have this page now. */
static int remember(struct topic *topic, const struct web_page *page)
{
	uint64_t *hashes = calloc(page->count + 1, sizeof(*hashes));

	if (!hashes)
		return -1;
	for (size_t i = 0; i < page->count; i++)
		hashes[i] = web_part_hash(page, i);
	free(topic->hashes);
	topic->hashes = hashes;
	topic->shape = web_page_shape(page);
	return 0;
}

/* What differs from what was sent last. It is not sent when memory runs out: it
 * differs the next time, too.
 */
static void compare(struct topic *topic, const struct web_page *page,
		    struct buffer *out)
{
	if (web_page_shape(page) != topic->shape) {
		if (remember(topic, page) == 0)
			buffer_text(out, whole_event, NULL);
		return;
	}
	for (size_t i = 0; i < page->count; i++) {
		uint64_t hash = web_part_hash(page, i);
		size_t size = out->size;

		if (hash == topic->hashes[i])
			continue;
		if (put_part(out, page, i) == 0) {
			topic->hashes[i] = hash;
			continue;
		}
		out->size = size;
		out->data[size] = 0;
	}
}

static void topic_publish(struct live *live, struct topic *topic)
{
	owned(web_page_clear) struct web_page page;
	owned(buffer_clear) struct buffer out;

	web_page_init(&page, live->sources);
	buffer_init(&out, HTTP_STREAM_BYTES);
	if (web_page_render(&page, topic->path, NULL) < 0 || page.failed)
		return;
	compare(topic, &page, &out);
	if (out.size)
		http_server_publish(live->server, topic, out.data, out.size);
}

static struct topic *first_stale(const struct live *live)
{
	struct topic *topic;

	TAILQ_FOREACH(topic, &live->topics, next)
	{
		if (topic->stale)
			return topic;
	}
	return NULL;
}

static void wait_for_turn(struct live *live);

/* One at a time: between two the controller does what else there is. */
static int publish_next(sd_event_source *source, uint64_t usec, void *arg)
{
	struct live *live = arg;
	int64_t begun_ms = clock_mono_ms();
	struct topic *topic = first_stale(live);
	size_t shares = live->streams < SHARES_MAX ? live->streams : SHARES_MAX;
	int64_t rest_ms, every_ms;

	live->due = false;
	if (!topic)
		return 0;
	TAILQ_REMOVE(&live->topics, topic, next);
	TAILQ_INSERT_TAIL(&live->topics, topic, next);
	topic->stale = false;
	topic_publish(live, topic);
	every_ms = INTERVAL_MS / (int64_t)live->count;
	rest_ms = (clock_mono_ms() - begun_ms) * SHARE / (int64_t)shares;
	live->not_before_ms =
		begun_ms + (rest_ms > every_ms ? rest_ms : every_ms);
	wait_for_turn(live);
	return 0;
}

static void wait_for_turn(struct live *live)
{
	int64_t wait_ms = live->not_before_ms - clock_mono_ms();

	if (!live->due && first_stale(live))
		live->due = loop_timer(live->loop, &live->timer,
				       wait_ms > 0 ? (uint64_t)wait_ms : 0,
				       publish_next, live, NULL) == 0;
}

void live_news(struct live *live)
{
	struct topic *topic;

	TAILQ_FOREACH(topic, &live->topics, next)
	{
		topic->stale = true;
	}
	wait_for_turn(live);
}

/* A new one has just been rendered so. */
static struct topic *topic_get(struct live *live, const char *path,
			       const struct web_page *page, struct error *err)
{
	struct topic *topic;

	TAILQ_FOREACH(topic, &live->topics, next)
	{
		if (!strcmp(topic->path, path))
			return topic;
	}
	topic = calloc(1, sizeof(*topic));
	if (!topic || remember(topic, page) < 0) {
		free(topic);
		error_nomem(err, "web");
		return NULL;
	}
	snprintf(topic->path, sizeof(topic->path), "%s", path);
	TAILQ_INSERT_TAIL(&live->topics, topic, next);
	live->count++;
	return topic;
}

int live_open(struct live *live, const char *path, uint64_t shape,
	      struct http_reply *reply, struct error *err)
{
	owned(web_page_clear) struct web_page page;
	struct topic *topic;
	bool same;

	web_page_init(&page, live->sources);
	if (strlen(path) >= PATH_BYTES)
		return error_set(err, ENOENT, "no such page");
	if (web_page_render(&page, path, err) < 0)
		return -1;
	topic = topic_get(live, path, &page, err);
	if (!topic)
		return -1;
	/* What came since the page was loaded; all of it, as nobody knows. */
	same = shape == web_page_shape(&page);
	if (!same)
		buffer_text(&reply->body, whole_event, NULL);
	for (size_t i = 0; same && i < page.count; i++)
		put_part(&reply->body, &page, i);
	topic->streams++;
	live->streams++;
	reply->topic = topic;
	reply->type = "text/event-stream";
	live_news(live);
	return 0;
}

void live_gone(struct live *live, void *gone)
{
	struct topic *topic = gone;

	live->streams--;
	if (!--topic->streams)
		topic_free(live, topic);
}
