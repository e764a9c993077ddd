/* reference_html.c - writes the page of published results as HTML.
 *
 * MD4C converts the Markdown of reference.c; raw HTML in it would be shown as
 * text.
 */
#include "controller/report/reference.h"

#include "controller/report/html_style.h"

#include <md4c-html.h>
#include <stdio.h>

static void reference_html_put(const MD_CHAR *text, MD_SIZE size, void *arg)
{
	writer_bytes(arg, text, size);
}

int report_reference_html(const struct report_about *about,
			  const struct report_rows *rows,
			  enum language language, struct buffer *out,
			  struct error *err)
{
	owned(buffer_clear) struct buffer text;
	char title[160];
	struct writer to;

	buffer_init(&text, out->limit);
	if (report_reference(about, rows, language, &text, err) < 0)
		return -1;
	snprintf(title, sizeof(title), "%s", about->title ? about->title : "-");
	if (about->sweep)
		snprintf(title, sizeof(title),
			 phrase(language, "Sweep %llu: %s"),
			 (unsigned long long)about->sweep,
			 about->name ? about->name : "-");
	writer_init(&to, out, html_text);
	html_begin(&to, language_names[language], title);
	if (md_html(text.data, (MD_SIZE)text.size, reference_html_put, &to,
		    MD_FLAG_TABLES | MD_FLAG_NOHTML, 0) != 0)
		error_nomem(&to.failure, "report");
	writer_raw(&to, "</body></html>\n");
	return writer_end(&to, err);
}
