/* writer.h - writes HTML, Markdown or CSV, and escapes all texts.
 *
 *	writer_init(&to, out, html_text);
 *	writer_printf(&to, "<li>job %.0f: %s</li>\n", job, cell);
 *	return writer_end(&to, err);
 *
 * The first failure is kept and told at the end: the calls after it do nothing.
 */
#pragma once

#include "controller/results/language.h"
#include "protocol/base/buffer.h"
#include "protocol/base/error.h"

#include <stdarg.h>

/* Append the text escaped: it cannot add a tag, a line or a column. */
typedef int escape_fn(struct buffer *out, const char *text, struct error *err);

/* What each of them writes for the character at text: a blank for a control
 * character that is not kept, U+FFFD for invalid UTF-8, for what changes the
 * text direction (utf8_turns()) and for U+FFFE and U+FFFF, which XML does not
 * have, else text itself. Returns its bytes there.
 */
size_t writer_character(const char *text, const char *kept, const char **shown);

escape_fn html_text;
/* The same for <pre>: line ends and tabs stay. */
escape_fn html_lines;
escape_fn markdown_text;

struct writer {
	struct buffer *out;
	size_t begun; /* the size of out before */
	escape_fn *escape;
	const char *missing;    /* written for a text that is NULL; "-" */
	enum language language; /* of phrases (translations.h); English */
	struct error failure;   /* code 0: none; a caller may set its own */
};

/* Write behind what is in the buffer. */
void writer_init(struct writer *to, struct buffer *out, escape_fn *escape);

/* Append a text as it is. */
void writer_raw(struct writer *to, const char *text);
void writer_bytes(struct writer *to, const char *text, size_t size);

/* Append a text escaped; NULL: to->missing. */
void writer_text(struct writer *to, const char *text);

/* The same in HTML, where `this` becomes <code>this</code>. */
void writer_code(struct writer *to, const char *text);

/* As printf(3), where fmt is not escaped, and each %s is as by writer_text().
 * Conversions: %s, %d, %u, %llu, %zu, and %f and %g with a precision.
 */
void writer_printf(struct writer *to, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void writer_vprintf(struct writer *to, const char *fmt, va_list *args);

/* Take back what was written after the buffer had this size. */
void writer_cut(struct writer *to, size_t size);

/* 0, or the first failure: E2BIG past the limit of the buffer, or ENOMEM. The
 * buffer is then as it was before.
 */
int writer_end(struct writer *to, struct error *err);
