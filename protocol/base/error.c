/* error.c - the error type of every call that can fail: a code and a
 * sentence.
 */
#include "protocol/base/error.h"
#include "protocol/base/printable.h"
#include "protocol/base/utf8.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Make the text one printable line, and show that a long one was cut. */
static void error_tidy(struct error *err, int length)
{
	if (length >= (int)sizeof(err->text)) {
		size_t end = utf8_cut(err->text, sizeof(err->text) - 4);

		memcpy(err->text + end, "...", 4);
	}
	printable(err->text, strlen(err->text));
}

int error_vset(struct error *err, int code, const char *fmt, va_list args)
{
	if (!err)
		return -1;
	err->code = code ? code : EIO;
	error_tidy(err, vsnprintf(err->text, sizeof(err->text), fmt, args));
	return -1;
}

int error_set(struct error *err, int code, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	error_vset(err, code, fmt, args);
	va_end(args);
	return -1;
}

int error_prefix(struct error *err, const char *fmt, ...)
{
	struct error place;
	char old[sizeof(err->text)];
	va_list args;

	if (!err)
		return -1;
	memcpy(old, err->text, sizeof(old));
	va_start(args, fmt);
	error_vset(&place, err->code, fmt, args);
	va_end(args);
	return error_set(err, err->code, "%s: %s", place.text, old);
}

int error_nomem(struct error *err, const char *what)
{
	return error_set(err, ENOMEM, "%s: out of memory", what);
}

void *error_calloc(size_t size, const char *what, struct error *err)
{
	void *object = calloc(1, size);

	if (!object)
		error_nomem(err, what);
	return object;
}

int error_errno(struct error *err, const char *fmt, ...)
{
	int code = errno;
	struct error place;
	va_list args;

	if (!err)
		return -1;
	va_start(args, fmt);
	error_vset(&place, code, fmt, args);
	va_end(args);
	return error_set(err, code, "%s: %s", place.text, strerror(code));
}
