/* web_page.c - writes one HTML page, made of parts that can be updated. */
#include "controller/web/web_page.h"

#include "protocol/base/list.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

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
	writer_init(&page->out, &page->text, html_text);
	page->out.missing = "";
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
	va_list args;

	va_start(args, fmt);
	writer_vprintf(&page->out, fmt, &args);
	va_end(args);
}

void web_text_lines(struct web_page *page, const char *text)
{
	page->out.escape = html_lines;
	writer_text(&page->out, text);
	page->out.escape = html_text;
}

void web_stillness(struct web_page *page, const struct progress_info *progress)
{
	char words[80];

	stillness_words(progress, words, sizeof(words));
	if (*words)
		web_html(page, ", <span class=\"bad\">%s</span>", words);
}

void web_part(struct web_page *page, const char *tag, const char *more,
	      const char *id, ...)
{
	struct web_part *part =
		LIST_ADD(page->list, page->count, &page->out.failure);
	va_list args;

	if (!part)
		return;
	va_start(args, id);
	vsnprintf(part->id, sizeof(part->id), id, args);
	va_end(args);
	part->start = part->end = page->text.size;
	web_html(page, "<%s id=\"%s\"", tag, part->id);
	writer_raw(&page->out, more);
	web_html(page, ">");
}

/* FNV-1a. Nobody gains from two parts with the same hash. */
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
	if (page->out.failure.code)
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

static void put_main(const struct web_page *page, struct writer *to)
{
	writer_printf(to, "<main id=\"main\">\n<h1>%s</h1>\n", page->title);
	writer_raw(to, page->text.data);
	writer_raw(to, "</main>\n");
}

int web_page_main(const struct web_page *page, struct buffer *out,
		  struct error *err)
{
	struct writer to;

	writer_init(&to, out, html_text);
	put_main(page, &to);
	return writer_end(&to, err);
}

int web_page_document(const struct web_page *page, const char *path,
		      struct buffer *out, struct error *err)
{
	struct writer to;
	char shown[64];

	if (page->out.failure.code)
		return error_set(err, page->out.failure.code, "page: %s",
				 page->out.failure.text);
	snprintf(shown, sizeof(shown), "shape=%016" PRIx64 "&state=%016" PRIx64,
		 web_page_shape(page), web_page_state(page));
	writer_init(&to, out, html_text);
	writer_raw(&to, "<!doctype html>\n<html lang=\"en\"><head>"
			"<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
			"content=\"width=device-width\">\n"
			"<link rel=\"stylesheet\" href=\"/style.css\">\n");
	if (path)
		writer_raw(&to, "<noscript><meta http-equiv=\"refresh\" "
				"content=\"10\"></noscript>\n"
				"<script src=\"/script.js\" defer></script>\n");
	writer_printf(&to, "<title>%s</title></head>\n<body", page->title);
	if (path)
		writer_printf(&to, " data-live=\"/live?page=%s&amp;%s\"", path,
			      shown);
	writer_raw(&to, ">\n<nav><a href=\"/\">Sweeps</a> <a "
			"href=\"/nodes\">Nodes</a> "
			"<span id=\"state\"></span></nav>\n");
	put_main(page, &to);
	writer_raw(&to, "</body></html>\n");
	return writer_end(&to, err);
}
