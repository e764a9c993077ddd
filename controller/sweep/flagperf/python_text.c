/* python_text.c - the characters of a Python file: blanks, names, numbers,
 * strings, logical lines.
 */
#include "controller/sweep/flagperf/python_text.h"

#include "protocol/utf8.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define EXACT_MAX                                                              \
	9007199254740992.0 /* a double holds each integer up to it             \
			    */

void python_text_init(struct python_text *text, const char *start)
{
	*text = (struct python_text){ .at = start, .line = 1 };
	if (!strncmp(start, "\xef\xbb\xbf", 3))
		text->at += 3;
}

/* The line end here: its bytes; 0: there is none. */
static size_t line_end(const char *at)
{
	if (at[0] == '\r')
		return at[1] == '\n' ? 2 : 1;
	return at[0] == '\n';
}

static void skip_comment(struct python_text *text)
{
	if (*text->at == '#')
		text->at += strcspn(text->at, "\r\n");
}

void python_text_blank(struct python_text *text)
{
	for (;;) {
		size_t end;

		text->at += strspn(text->at, " \t\f");
		if (text->brackets)
			skip_comment(text);
		end = text->brackets ? line_end(text->at) : 0;
		if (!end && *text->at == '\\' && line_end(text->at + 1))
			end = 1 + line_end(text->at + 1);
		if (!end)
			return;
		text->at += end;
		text->line++;
	}
}

bool python_text_ends(const struct python_text *text)
{
	return !*text->at || *text->at == ';' || *text->at == '#' ||
	       line_end(text->at);
}

bool python_text_next(struct python_text *text)
{
	text->brackets = 0;
	if (*text->at == ';') {
		text->at++;
		python_text_blank(text);
		if (!python_text_ends(text))
			return true;
	}
	for (;;) {
		size_t end;

		skip_comment(text);
		end = line_end(text->at);
		if (end) {
			text->at += end;
			text->line++;
			text->indented = strspn(text->at, " \t\f") > 0;
		}
		python_text_blank(text);
		if (!*text->at)
			return false;
		if (*text->at == ';')
			text->at++;
		else if (!python_text_ends(text))
			return true;
	}
}

size_t python_text_name(const struct python_text *text)
{
	const unsigned char *at = (const unsigned char *)text->at;
	size_t size = 0;

	if (!isalpha(at[0]) && at[0] != '_' && at[0] < 0x80)
		return 0;
	while (isalnum(at[size]) || at[size] == '_' || at[size] >= 0x80)
		size++;
	return size;
}

bool python_text_changes(const struct python_text *text, bool first)
{
	struct python_text behind = *text;

	behind.at += python_text_name(text);
	python_text_blank(&behind);
	if (first && *behind.at && strchr("[.:,", *behind.at))
		return true;
	if (*behind.at == '=')
		return behind.at[1] != '=';
	/* += and its like; not <= and >=, which compare. */
	if (strspn(behind.at, "<>") == 1)
		return false;
	behind.at += strspn(behind.at, "+-*/%@&|^<>");
	return *behind.at == '=';
}

size_t python_text_word(const struct python_text *text, size_t most)
{
	size_t size = strcspn(text->at, "\r\n");

	return size <= most ? size : utf8_cut(text->at, most);
}

/* Numbers. */

void python_number_show(struct python_number *number)
{
	if (number->integer && fabs(number->value) <= EXACT_MAX)
		snprintf(number->text, sizeof(number->text), "%.0f",
			 number->value);
	else
		snprintf(number->text, sizeof(number->text), "%.17g",
			 number->value);
}

bool python_text_number(struct python_text *text, struct python_number *number)
{
	static const char *const prefixes[] = { "0x", "0o", "0b" };
	static const int bases[] = { 16, 8, 2 };
	char digits[64];
	size_t size = 0, taken = 0;
	const char *at = text->at;
	char *end = digits;
	int base = 10;

	if (*at == '-')
		digits[size++] = *at++;
	for (size_t i = 0; i < 3; i++)
		if (!strncasecmp(at, prefixes[i], 2))
			base = bases[i];
	at += base == 10 ? 0 : 2;
	for (;; taken++) {
		char c = at[taken];

		if (c == '_')
			continue;
		if (!(isxdigit((unsigned char)c) || c == '.' ||
		      (base == 10 && (c == '+' || c == '-') && taken &&
		       tolower((unsigned char)at[taken - 1]) == 'e')))
			break;
		if (size == sizeof(digits) - 1)
			return false;
		digits[size++] = c;
	}
	digits[size] = 0;
	if (!size)
		return false;
	number->integer = base != 10 || !strpbrk(digits, ".eE");
	if (number->integer && base != 10)
		number->value = (double)strtoll(digits, &end, base);
	else
		number->value = strtod(digits, &end);
	if (*end || end == digits || !isfinite(number->value) ||
	    isalpha((unsigned char)at[taken]) || digits[size - 1] == '-')
		return false;
	python_number_show(number);
	text->at = at + taken;
	return true;
}

/* Strings. */

/* Bytes of the prefix before a quote, or -1: no string is here. */
static int string_prefix(const char *at)
{
	int size = (int)strspn(at, "rRuUbBfF");

	return size <= 2 && (at[size] == '"' || at[size] == '\'') ? size : -1;
}

bool python_text_is_string(const struct python_text *text)
{
	return string_prefix(text->at) >= 0;
}

/* 1: no text has such a character. */
static int append_utf8(struct buffer *out, uint32_t code, struct error *err)
{
	char bytes[4];
	size_t size = code ? utf8_encode(code, bytes) : 0;

	return size ? buffer_append(out, bytes, size, err) : 1;
}

/* The number of at most `most` digits of the base at `at`; *size: how many. */
static uint32_t digits_at(const char *at, int base, size_t most, size_t *size)
{
	uint32_t number = 0;

	for (*size = 0; *size < most; ++*size) {
		unsigned char c = (unsigned char)at[*size];
		int digit = isdigit(c)    ? c - '0'
			    : isxdigit(c) ? tolower(c) - 'a' + 10
					  : 99;

		if (digit >= base)
			break;
		number = number * (uint32_t)base + (uint32_t)digit;
	}
	return number;
}

/* What stands behind a backslash; 1: it is no text. */
static int append_escape(const char **at, struct buffer *out, struct error *err)
{
	static const char letters[] = "abfnrtv\\'\"";
	static const char meant[] = "\a\b\f\n\r\t\v\\'\"";
	char c = **at;
	const char *letter = strchr(letters, c);
	size_t end = line_end(*at), size, want;
	uint32_t code;

	if (end) {
		*at += end;
		return 0;
	}
	if (letter) {
		++*at;
		return buffer_append(out, &meant[letter - letters], 1, err);
	}
	if (c >= '0' && c <= '7') {
		code = digits_at(*at, 8, 3, &size);
		*at += size;
		return append_utf8(out, code, err);
	}
	want = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
	if (!want) /* as in Python, the backslash stays */
		return c == 'N' ? 1 : buffer_append(out, "\\", 1, err);
	code = digits_at(*at + 1, 16, want, &size);
	if (size != want)
		return 1;
	*at += 1 + size;
	return append_utf8(out, code, err);
}

/* The quotes that open the string; behind them it begins. */
static size_t string_quotes(const char *at)
{
	return at[1] == at[0] && at[2] == at[0] ? 3 : 1;
}

/* Go behind the string's end. In raw strings, too, a backslash keeps the
 * character behind it from ending the string.
 */
static bool string_pass(struct python_text *text)
{
	struct python_text to = *text;
	size_t quotes;
	char quote;

	to.at += string_prefix(to.at);
	quote = *to.at;
	quotes = string_quotes(to.at);
	for (to.at += quotes; *to.at; to.at++) {
		size_t end = line_end(to.at);

		if (*to.at == quote &&
		    (quotes == 1 || (to.at[1] == quote && to.at[2] == quote))) {
			to.at += quotes;
			*text = to;
			return true;
		}
		if (end && quotes == 1)
			return false;
		if (*to.at == '\\' && to.at[1])
			end = line_end(++to.at);
		to.line += end > 0;
		to.at += end == 2;
	}
	return false;
}

static int append_string(const char *at, const char *end, bool raw,
			 struct buffer *out, struct error *err)
{
	int rc = 0;

	while (at < end && rc == 0) {
		size_t line = line_end(at);

		if (*at == '\\' && !raw) {
			at++;
			rc = append_escape(&at, out, err);
		} else if (line) {
			at += line;
			rc = buffer_append(out, "\n", 1, err);
		} else {
			rc = buffer_append(out, at++, 1, err);
		}
	}
	return rc;
}

enum python_string python_text_string(struct python_text *text,
				      struct buffer *out, struct error *err)
{
	struct python_text end = *text;
	size_t prefix = (size_t)string_prefix(text->at);
	size_t quotes = string_quotes(text->at + prefix);
	bool raw = false;
	int rc;

	if (!string_pass(&end)) {
		error_set(err, EINVAL, "found a string that nothing closes");
		return PYTHON_STRING_BAD;
	}
	for (size_t i = 0; i < prefix; i++) {
		if (strchr("bBfF", text->at[i]))
			return PYTHON_STRING_OPAQUE;
		raw |= strchr("rR", text->at[i]) != NULL;
	}
	rc = append_string(text->at + prefix + quotes, end.at - quotes, raw,
			   out, err);
	if (rc < 0)
		return PYTHON_STRING_BAD;
	if (rc)
		return PYTHON_STRING_OPAQUE;
	*text = end;
	return PYTHON_STRING_GOOD;
}

int python_text_step(struct python_text *text, struct error *err)
{
	python_text_blank(text);
	if (!*text->at && text->brackets)
		return error_set(err, EINVAL,
				 "found a bracket that nothing closes");
	if (!*text->at || (!text->brackets && python_text_ends(text)))
		return 0;
	if (python_text_is_string(text)) {
		if (string_pass(text))
			return 1;
		return error_set(err, EINVAL,
				 "found a string that nothing closes");
	}
	if (python_text_name(text)) {
		text->at += python_text_name(text);
		return 1;
	}
	if (strchr("([{", *text->at))
		text->brackets++;
	else if (strchr(")]}", *text->at) && text->brackets)
		text->brackets--;
	text->at++;
	return 1;
}
