/* web_page.c - one page as HTML: a frame, and parts that change.
 */
#include "controller/web/web_page.h"

#include "controller/report/writer.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TEXT_MAX (16 << 20)
#define SLICE_ROWS 8

/* The files as they are, and a NUL. */
__asm__(".pushsection .rodata\n"
	".global web_style, web_script\n"
	"web_style:\n"
	".incbin \"controller/web/style.css\"\n"
	".byte 0\n"
	"web_script:\n"
	".incbin \"controller/web/script.js\"\n"
	".byte 0\n"
	".popsection\n");

void web_page_init(struct web_page *page, const struct web_sources *sources)
{
	*page = (struct web_page){ .sources = sources, .slice = SLICE_ROWS };
	buffer_init(&page->text, TEXT_MAX);
}

void web_page_clear(struct web_page *page)
{
	buffer_clear(&page->text);
	free(page->list);
	page->list = NULL;
	if (page->rest.state)
		page->rest.free(page->rest.state);
	page->rest.state = NULL;
}

void web_html(struct web_page *page, const char *fmt, ...)
{
	char line[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	if (buffer_text(&page->text, line, NULL) < 0)
		page->failed = true;
}

void web_text(struct web_page *page, const char *text)
{
	if (text && html_text(&page->text, text, NULL) < 0)
		page->failed = true;
}

void web_text_lines(struct web_page *page, const char *text)
{
	if (html_lines(&page->text, text, NULL) < 0)
		page->failed = true;
}

void web_time(struct web_page *page, int64_t wall_ms)
{
	time_t seconds = wall_ms / 1000;
	char text[32];
	struct tm tm;

	if (!wall_ms || !gmtime_r(&seconds, &tm) ||
	    !strftime(text, sizeof(text), "%F %T", &tm))
		web_html(page, "-");
	else
		web_html(page, "<time>%s</time>", text);
}

uint64_t web_step(const struct job_info *job)
{
	return job->progress ? job->progress->step : job->step;
}

double web_loss(const struct job_info *job)
{
	return job->progress ? job->progress->loss : job->loss;
}

double web_rate(const struct job_info *job)
{
	if (!job->progress)
		return job->rate;
	return job->devices ? job->progress->tokens_per_second / job->devices
			    : (double)NAN;
}

void web_stillness(struct web_page *page, const struct progress_info *progress)
{
	uint64_t age = progress->step_age;

	if (age >= 60)
		web_html(page,
			 ", <span class=\"bad\">%" PRIu64 "m%02" PRIu64
			 "s ago</span>",
			 age / 60, age % 60);
	else if (age)
		web_html(page, ", <span class=\"bad\">%" PRIu64 "s ago</span>",
			 age);
	if (progress->suspected)
		web_html(page, ", <span class=\"bad\">suspected hang</span>");
}

void web_part(struct web_page *page, const char *tag, const char *more,
	      const char *id, ...)
{
	size_t room = page->room ? 2 * page->room : 64;
	struct web_part *part;
	va_list args;

	if (page->count == page->room) {
		part = realloc(page->list, room * sizeof(*part));
		if (!part) {
			page->failed = true;
			return;
		}
		page->list = part;
		page->room = room;
	}
	part = &page->list[page->count++];
	va_start(args, id);
	vsnprintf(part->id, sizeof(part->id), id, args);
	va_end(args);
	part->start = part->end = page->text.size;
	web_html(page, "<%s id=\"%s\"%s>", tag, part->id, more);
}

/* FNV-1a: parts that differ by accident alone are not worth more. */
static uint64_t hash_bytes(uint64_t hash, const char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		hash = (hash ^ (unsigned char)bytes[i]) *
		       UINT64_C(1099511628211);
	return hash;
}

#define HASH_START UINT64_C(14695981039346656037)

void web_part_end(struct web_page *page, const char *tag)
{
	struct web_part *part;

	web_html(page, "</%s>\n", tag);
	if (page->failed)
		return;
	part = &page->list[page->count - 1];
	part->end = page->text.size;
	part->hash = hash_bytes(HASH_START, page->text.data + part->start,
				part->end - part->start);
}

struct api_request web_request(const struct web_page *page, const void *message)
{
	return (struct api_request){
		.api = &page->sources->api,
		.message = message,
		.by = "web",
	};
}

uint64_t web_page_shape(const struct web_page *page)
{
	uint64_t hash = HASH_START;

	for (size_t i = 0; i < page->count; i++)
		hash = hash_bytes(hash, page->list[i].id,
				  strlen(page->list[i].id) + 1);
	return hash;
}

uint64_t web_page_state(const struct web_page *page)
{
	uint64_t hash = HASH_START;

	for (size_t i = 0; i < page->count; i++)
		hash = hash_bytes(hash, (const char *)&page->list[i].hash,
				  sizeof(page->list[i].hash));
	return hash;
}

int web_page_main(const struct web_page *page, struct buffer *out,
		  struct error *err)
{
	if (buffer_text(out, "<main id=\"main\">\n<h1>", err) < 0 ||
	    html_text(out, page->title, err) < 0 ||
	    buffer_text(out, "</h1>\n", err) < 0 ||
	    buffer_append(out, page->text.data, page->text.size, err) < 0)
		return -1;
	return buffer_text(out, "</main>\n", err);
}

int web_page_document(const struct web_page *page, const char *path,
		      struct buffer *out, struct error *err)
{
	if (page->failed)
		return error_nomem(err, "page");
	if (buffer_text(out,
			"<!doctype html>\n<html lang=\"en\"><head>"
			"<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
			"content=\"width=device-width\">\n"
			"<noscript><meta http-equiv=\"refresh\" "
			"content=\"10\"></noscript>\n"
			"<link rel=\"stylesheet\" href=\"/style.css\">\n"
			"<script src=\"/script.js\" defer></script>\n<title>",
			err) < 0 ||
	    html_text(out, page->title, err) < 0 ||
	    buffer_text(out, "</title></head>\n<body data-live=\"/live?page=",
			err) < 0 ||
	    html_text(out, path, err) < 0)
		return -1;
	if (buffer_printf(out, err,
			  "&amp;shape=%016" PRIx64 "&amp;state=%016" PRIx64
			  "\">\n<nav><a href=\"/\">"
			  "Sweeps</a> <a href=\"/nodes\">Nodes</a> "
			  "<span id=\"state\"></span></nav>\n",
			  web_page_shape(page), web_page_state(page)) < 0 ||
	    web_page_main(page, out, err) < 0)
		return -1;
	return buffer_text(out, "</body></html>\n", err);
}
