/* why.c - the sentence that says why something failed. */
#include "images/cpu/why.h"

#include <errno.h>
#include <stdarg.h>

int start_error_set(struct why *why, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(why->text, sizeof(why->text), fmt, args);
	va_end(args);
	return -1;
}

int start_error_errno(struct why *why, const char *fmt, ...)
{
	const char *words = strerror(errno);
	size_t used;
	va_list args;

	va_start(args, fmt);
	vsnprintf(why->text, sizeof(why->text), fmt, args);
	va_end(args);
	used = strlen(why->text);
	snprintf(why->text + used, sizeof(why->text) - used, ": %s", words);
	return -1;
}
