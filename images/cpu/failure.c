/* failure.c - the sentence that says why something failed. */
#include "images/cpu/failure.h"

#include <errno.h>
#include <stdarg.h>

int failure_set(struct failure *failure, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(failure->text, sizeof(failure->text), fmt, args);
	va_end(args);
	return -1;
}

int failure_errno(struct failure *failure, const char *fmt, ...)
{
	const char *words = strerror(errno);
	size_t used;
	va_list args;

	va_start(args, fmt);
	vsnprintf(failure->text, sizeof(failure->text), fmt, args);
	va_end(args);
	used = strlen(failure->text);
	snprintf(failure->text + used, sizeof(failure->text) - used, ": %s",
		 words);
	return -1;
}
