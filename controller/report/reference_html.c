/* reference_html.c - the page of published results as HTML.
 *
 * Its Markdown (reference.c) is turned by MD4C; raw HTML in it would be text.
 */
#include "controller/report/reference.h"

#include "controller/report/chart.h"
#include "controller/report/html_style.h"

#include <md4c-html.h>
#include <stdio.h>

struct page {
	struct buffer *out;
	struct error *err;
	int rc;
};

static void put(const MD_CHAR *text, MD_SIZE size, void *arg)
{
	struct page *page = arg;

	if (page->rc == 0)
		page->rc = buffer_append(page->out, text, size, page->err);
}

static int put_body(const struct buffer *text, struct buffer *out,
		    struct error *err)
{
	struct page page = { .out = out, .err = err };

	if (md_html(text->data, (MD_SIZE)text->size, put, &page,
		    MD_FLAG_TABLES | MD_FLAG_NOHTML, 0) != 0)
		return error_nomem(err, "report");
	return page.rc;
}

static int put_page(const struct report_about *about, enum language language,
		    const struct buffer *text, struct buffer *out,
		    struct error *err)
{
	char title[160];

	snprintf(title, sizeof(title), "%s", about->title ? about->title : "-");
	if (about->sweep)
		snprintf(title, sizeof(title), phrase(language, PHRASE_SWEEP),
			 (unsigned long long)about->sweep,
			 about->name ? about->name : "-");
	if (html_begin(language_names[language], title, out, err) < 0 ||
	    put_body(text, out, err) < 0)
		return -1;
	return buffer_text(out, "</body></html>\n", err);
}

int report_reference_html(const struct report_about *about, const cJSON *rows,
			  enum language language, struct buffer *out,
			  struct error *err)
{
	owned(buffer_clear) struct buffer text;
	size_t size = out->size;

	buffer_init(&text, out->limit);
	if (report_reference(rows, language, &text, err) < 0)
		return -1;
	if (put_page(about, language, &text, out, err) == 0)
		return 0;
	out->size = size;
	out->data[size] = 0;
	return -1;
}
