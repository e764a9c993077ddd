/* live.c - sends changed parts to the browsers that have a page open. */
#include "controller/web/live.h"
#include "protocol/base/clock.h"
#include "protocol/base/loop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#define PATH_BYTES 64
#define INTERVAL_MS 1000
#define SHARE 200 /* 1/SHARE of the time is for rendering, per browser */
#define SHARES_MAX 2
#define SLICE_US 100     /* of work, before other events are handled */
#define SLICE_REST_MS 5  /* longer than a job's start */
#define PATIENCE_MS 2000 /* after that a page has normal priority */
#define WHOLE_MAX (HTTP_EVENT_BYTES / 2)

/* Sent in place of a page that is too large. */
static const char reload_event[] = "event: reload\ndata:\n\n";

struct topic {
	char path[PATH_BYTES];
	size_t streams;
	char payer[KEY_TEXT_SIZE]; /* the key that opened it last */
	enum role role;            /* of that key */
	bool stale;                /* it must be rendered again */
	uint64_t shape,
		state;    /* hashes of what its browsers show; 0: they differ */
	uint64_t *hashes; /* of the parts; NULL: not known */
	TAILQ_ENTRY(topic) next;
};

struct live {
	sd_event *loop;
	const struct web_sources *sources;
	struct budgets *budgets;
	struct http_server *server;
	sd_event_source *timer;
	bool due; /* the timer runs */
	int64_t not_before_ms;
	struct topic *rendering; /* NULL: none */
	struct web_page page;    /* of it, so far */
	int64_t begun_ms, spent_us;
	size_t count, streams; /* topics, and browsers of all of them */
	TAILQ_HEAD(topics, topic) topics; /* rendered last: at the end */
};

struct live *live_new(sd_event *loop, const struct web_sources *sources,
		      struct budgets *budgets, struct error *err)
{
	struct live *live = calloc(1, sizeof(*live));

	if (!live)
		return error_null(error_nomem(err, "web"));
	live->loop = loop;
	live->sources = sources;
	live->budgets = budgets;
	TAILQ_INIT(&live->topics);
	return live;
}

static void rendering_charge(struct live *live)
{
	const struct topic *topic = live->rendering;
	struct budget *budget = budget_of(live->budgets, topic->payer,
					  topic->role, clock_mono_ms());

	if (budget && budget_timed(budget))
		budget_spend(budget, live->spent_us);
}

static void rendering_end(struct live *live)
{
	if (live->rendering) {
		rendering_charge(live);
		web_page_clear(&live->page);
	}
	live->rendering = NULL;
}

static void topic_free(struct live *live, struct topic *topic)
{
	if (topic == live->rendering)
		rendering_end(live);
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

/* An event that carries an element: its id, and its HTML, line by line. */
static int put_element(struct buffer *out, const char *id, const char *at,
		       size_t size)
{
	const char *end = at + size;

	if (buffer_printf(out, NULL, "event: part\ndata: %s\n", id) < 0)
		return -1;
	while (at < end) {
		const char *line = memchr(at, '\n', (size_t)(end - at));
		size_t length = (size_t)((line ? line : end) - at);

		if (buffer_text(out, "data: ", NULL) < 0 ||
		    buffer_append(out, at, length, NULL) < 0 ||
		    buffer_text(out, "\n", NULL) < 0)
			return -1;
		at += length + 1;
	}
	return buffer_text(out, "\n", NULL);
}

static int put_part(struct buffer *out, const struct web_page *page, size_t i)
{
	const struct web_part *part = &page->list[i];

	return put_element(out, part->id, page->text.data + part->start,
			   part->end - part->start);
}

/* Send the whole page. */
static void put_whole(struct buffer *out, const struct web_page *page)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(WHOLE_MAX);

	if (web_page_main(page, &text, NULL) == 0 &&
	    put_element(out, "main", text.data, text.size) == 0)
		return;
	buffer_consume(out, out->size);
	buffer_text(out, reload_event, NULL);
}

/* Note the shape of the page and, if `shown`, its parts as sent. */
static int remember(struct topic *topic, const struct web_page *page,
		    bool shown)
{
	uint64_t *hashes = calloc(page->count + 1, sizeof(*hashes));

	if (!hashes)
		return -1;
	for (size_t i = 0; shown && i < page->count; i++)
		hashes[i] = page->list[i].hash;
	free(topic->hashes);
	topic->hashes = hashes;
	topic->shape = web_page_shape(page);
	topic->state = shown ? web_page_state(page) : 0;
	return 0;
}

/* Send the parts that differ from those sent last. -1: not all had room. */
static int topic_put_changes(struct topic *topic, const struct web_page *page,
			     struct buffer *out)
{
	int rc = 0;

	for (size_t i = 0; i < page->count; i++) {
		uint64_t hash = page->list[i].hash;
		size_t size = out->size;

		if (hash == topic->hashes[i])
			continue;
		if (put_part(out, page, i) == 0) {
			topic->hashes[i] = hash;
			continue;
		}
		out->size = size;
		out->data[size] = 0;
		rc = -1;
	}
	return rc;
}

/* Send what has changed. Parts without memory or room are sent the next time.
 */
static void topic_compare(struct topic *topic, const struct web_page *page,
			  struct buffer *out)
{
	uint64_t state = web_page_state(page);

	if (web_page_shape(page) != topic->shape) {
		if (remember(topic, page, true) == 0)
			put_whole(out, page);
	} else if (topic->state == state) {
		if (!topic->hashes)
			remember(topic, page, true);
	} else if (topic->hashes || remember(topic, page, false) == 0) {
		bool all = topic_put_changes(topic, page, out) == 0;

		topic->stale |= !all;
		topic->state = all ? state : 0;
	}
}

static void publish(struct live *live)
{
	owned(buffer_clear) struct buffer out = BUFFER_INIT(HTTP_EVENT_BYTES);

	topic_compare(live->rendering, &live->page, &out);
	if (out.size)
		http_server_publish(live->server, live->rendering, out.data,
				    out.size);
}

static struct topic *first_stale(const struct live *live)
{
	struct topic *topic;

	TAILQ_FOREACH(topic, &live->topics, next)
		if (topic->stale)
			return topic;
	return NULL;
}

static int live_next_slice(sd_event_source *source, uint64_t usec, void *arg);

/* Render the next slice after other events, unless the page is late. */
static void live_wait(struct live *live, int64_t ms)
{
	int64_t late_ms = clock_mono_ms() - live->not_before_ms;

	live->due =
		loop_timer(live->loop, &live->timer, ms > 0 ? (uint64_t)ms : 0,
			   live_next_slice, live, NULL) == 0;
	if (live->due)
		sd_event_source_set_priority(live->timer,
					     late_ms > PATIENCE_MS
						     ? SD_EVENT_PRIORITY_NORMAL
						     : SD_EVENT_PRIORITY_IDLE);
}

static void wait_for_turn(struct live *live)
{
	int64_t now_ms = clock_mono_ms();

	if (live->due || !first_stale(live))
		return;
	if (live->not_before_ms < now_ms)
		live->not_before_ms = now_ms;
	live_wait(live, live->not_before_ms - now_ms);
}

/* Begin to render the page that was rendered longest ago. */
static void rendering_begin(struct live *live)
{
	struct topic *topic = first_stale(live);

	live->rendering = topic;
	TAILQ_REMOVE(&live->topics, topic, next);
	TAILQ_INSERT_TAIL(&live->topics, topic, next);
	topic->stale = false;
	live->begun_ms = clock_mono_ms();
	live->spent_us = 0;
	web_page_init(&live->page, live->sources);
}

/* 1: the page is not finished. */
static int render_slice(struct live *live)
{
	int64_t begun_us = clock_cpu_us(), took_us = 0;
	int rc = 1;

	if (!live->rendering) {
		rendering_begin(live);
		rc = web_page_begin(&live->page, live->rendering->path, NULL);
	}
	while (rc > 0 && took_us < SLICE_US) {
		rc = web_page_next(&live->page, NULL);
		took_us = clock_cpu_us() - begun_us;
	}
	live->spent_us += clock_cpu_us() - begun_us;
	return rc;
}

static void rendering_finish(struct live *live, int rc)
{
	size_t shares = live->streams < SHARES_MAX ? live->streams : SHARES_MAX;
	int64_t every_ms = INTERVAL_MS / (int64_t)live->count;
	int64_t rest_ms = live->spent_us * SHARE / (int64_t)shares / 1000;

	if (rc == 0 && !live->page.out.failure.code)
		publish(live);
	rendering_end(live);
	live->not_before_ms =
		live->begun_ms + (rest_ms > every_ms ? rest_ms : every_ms);
	wait_for_turn(live);
}

/* Other events are handled between two slices. */
static int live_next_slice(sd_event_source *source, uint64_t usec, void *arg)
{
	struct live *live = arg;
	int rc;

	live->due = false;
	if (!live->rendering && !first_stale(live))
		return 0;
	rc = render_slice(live);
	if (rc > 0)
		live_wait(live, SLICE_REST_MS);
	else
		rendering_finish(live, rc);
	return 0;
}

void live_update(struct live *live)
{
	struct topic *topic;

	TAILQ_FOREACH(topic, &live->topics, next)
		topic->stale = true;
	if (!live->rendering)
		wait_for_turn(live);
}

static struct topic *topic_find(const struct live *live, const char *path)
{
	struct topic *topic;

	TAILQ_FOREACH(topic, &live->topics, next)
		if (!strcmp(topic->path, path))
			return topic;
	return NULL;
}

static int check_path(const struct live *live, const char *path,
		      struct error *err)
{
	owned(web_page_clear) struct web_page page;

	web_page_init(&page, live->sources);
	if (strlen(path) >= PATH_BYTES)
		return error_set(err, ENOENT, "page not found");
	return web_page_begin(&page, path, err) < 0 ? -1 : 0;
}

static struct topic *topic_new(struct live *live, const char *path,
			       struct error *err)
{
	struct topic *topic;

	if (check_path(live, path, err) < 0)
		return NULL;
	topic = calloc(1, sizeof(*topic));
	if (!topic)
		return error_null(error_nomem(err, "web"));
	snprintf(topic->path, sizeof(topic->path), "%s", path);
	TAILQ_INSERT_TAIL(&live->topics, topic, next);
	live->count++;
	return topic;
}

static void forget_parts(struct topic *topic)
{
	free(topic->hashes);
	topic->hashes = NULL;
	topic->state = 0;
}

/* Add a browser that shows this shape and state. A browser with other parts may
 * be newer than the others, so all get the whole page after it is rendered. At
 * once they would load it again and again until then.
 */
static void topic_join(struct topic *topic, uint64_t shape, uint64_t state)
{
	if (!topic->streams) {
		topic->shape = shape;
		topic->state = state;
	} else if (topic->shape != shape) {
		topic->shape = 0;
	} else if (topic->state != state) {
		forget_parts(topic);
	}
	topic->streams++;
}

int live_open(struct live *live, const struct key *key, const char *path,
	      uint64_t shape, uint64_t state, struct http_reply *reply,
	      struct error *err)
{
	struct topic *topic = topic_find(live, path);

	if (!topic)
		topic = topic_new(live, path, err);
	if (!topic)
		return -1;
	snprintf(topic->payer, sizeof(topic->payer), "%s", key->public);
	topic->role = key->role;
	topic_join(topic, shape, state);
	live->streams++;
	reply->topic = topic;
	reply->type = "text/event-stream";
	live_update(live);
	return 0;
}

void live_gone(struct live *live, void *gone)
{
	struct topic *topic = gone;

	live->streams--;
	if (!--topic->streams)
		topic_free(live, topic);
}
