/* writer.c - writes HTML, Markdown or CSV, and escapes all texts.
 */
#include "controller/report/writer.h"

#include "protocol/base/utf8.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

size_t writer_character(const char *text, const char *kept, const char **shown)
{
	uint32_t code = 0;
	size_t size = utf8_character(text, 4, &code);

	*shown = text;
	if ((code < 0x20 || code == 0x7f) && size && !strchr(kept, (int)code))
		*shown = " ";
	else if (!size || utf8_turns(code) || code == 0xfffe || code == 0xffff)
		*shown = "\ufffd";
	return size ? size : 1;
}

static int escape_html(struct buffer *out, const char *text, const char *kept,
		       struct error *err)
{
	static const char *const entities[128] = {
		['&'] = "&amp;",  ['<'] = "&lt;",   ['>'] = "&gt;",
		['"'] = "&quot;", ['\''] = "&#39;",
	};

	while (*text) {
		unsigned char c = (unsigned char)*text;
		size_t plain = 0, size;
		const char *put;

		while (c >= 0x20 && c < 0x7f && !entities[c])
			c = (unsigned char)text[++plain];
		if (plain) {
			if (buffer_append(out, text, plain, err) < 0)
				return -1;
			text += plain;
			continue;
		}
		size = writer_character(text, kept, &put);
		if (c < 128 && entities[c])
			put = entities[c];
		if (buffer_append(out, put, put == text ? size : strlen(put),
				  err) < 0)
			return -1;
		text += size;
	}
	return 0;
}

int html_text(struct buffer *out, const char *text, struct error *err)
{
	return escape_html(out, text, "", err);
}

int html_lines(struct buffer *out, const char *text, struct error *err)
{
	return escape_html(out, text, "\n\t", err);
}

/* Does this byte have to be escaped to stand for itself? An underscore inside
 * a word does not, and names are full of them.
 */
static bool is_markup(const char *text, size_t i)
{
	if (text[i] == '_')
		return i == 0 || !isalnum((unsigned char)text[i - 1]) ||
		       !isalnum((unsigned char)text[i + 1]);
	return strchr("\\`*[]<>|~&#", text[i]) != NULL;
}

int markdown_text(struct buffer *out, const char *text, struct error *err)
{
	for (size_t i = 0, size; text[i]; i += size) {
		const char *put;

		size = writer_character(text + i, "", &put);
		if (is_markup(text, i) && buffer_append(out, "\\", 1, err) < 0)
			return -1;
		if (buffer_append(out, put,
				  put == text + i ? size : strlen(put),
				  err) < 0)
			return -1;
	}
	return 0;
}

void writer_init(struct writer *to, struct buffer *out, escape_fn *escape)
{
	*to = (struct writer){
		.out = out, .begun = out->size, .escape = escape, .missing = "-"
	};
}

void writer_bytes(struct writer *to, const char *text, size_t size)
{
	if (!to->failure.code)
		buffer_append(to->out, text, size, &to->failure);
}

void writer_raw(struct writer *to, const char *text)
{
	writer_bytes(to, text, strlen(text));
}

void writer_text(struct writer *to, const char *text)
{
	if (!to->failure.code)
		to->escape(to->out, text ? text : to->missing, &to->failure);
}

void writer_code(struct writer *to, const char *text)
{
	size_t length = strlen(text);
	owned_free char *copy = strdup(text);
	bool code = false;

	if (!copy)
		error_nomem(&to->failure, "page");
	for (char *at = copy; at && at <= copy + length; code = !code) {
		char *end = at + strcspn(at, "`");

		*end = 0;
		writer_printf(to, code ? "<code>%s</code>" : "%s", at);
		at = end + 1;
	}
}

/* A number in the form of a conversion, "%.1f". */
static void writer_put_number(struct writer *to, const char *form,
			      va_list *args)
{
	char last = form[strlen(form) - 1], number[400];
	int precision = strchr(form, '*') ? va_arg(*args, int) : 0;

	if (last == 'd') {
		int whole = va_arg(*args, int);

		snprintf(number, sizeof(number), form, whole);
	} else if (strstr(form, "ll")) {
		unsigned long long count = va_arg(*args, unsigned long long);

		snprintf(number, sizeof(number), form, count);
	} else if (strchr(form, 'z')) {
		size_t count = va_arg(*args, size_t);

		snprintf(number, sizeof(number), form, count);
	} else if (last == 'u') {
		unsigned int count = va_arg(*args, unsigned int);

		snprintf(number, sizeof(number), form, count);
	} else {
		double value = va_arg(*args, double);

		if (strchr(form, '*'))
			snprintf(number, sizeof(number), form, precision,
				 value);
		else
			snprintf(number, sizeof(number), form, value);
	}
	writer_raw(to, number);
}

void writer_vprintf(struct writer *to, const char *fmt, va_list *args)
{
	while (*fmt && !to->failure.code) {
		size_t size = strcspn(fmt, "%");
		char form[16];

		writer_bytes(to, fmt, size);
		fmt += size;
		if (!*fmt)
			break;
		size = 1 + strcspn(fmt + 1, "%sdufg") + 1;
		if (fmt[1] == '%') {
			writer_bytes(to, "%", 1);
		} else if (fmt[1] == 's') {
			writer_text(to, va_arg(*args, const char *));
		} else {
			snprintf(form, sizeof(form), "%.*s", (int)size, fmt);
			writer_put_number(to, form, args);
		}
		fmt += size;
	}
}

void writer_printf(struct writer *to, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	writer_vprintf(to, fmt, &args);
	va_end(args);
}

void writer_cut(struct writer *to, size_t size)
{
	to->out->size = size;
	to->out->data[size] = 0;
}

int writer_end(struct writer *to, struct error *err)
{
	if (!to->failure.code)
		return 0;
	writer_cut(to, to->begun);
	if (err)
		*err = to->failure;
	return -1;
}
