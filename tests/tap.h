/* tap.h - the Test Anything Protocol for our unit tests: ok, is, done.
 *
 * One program per module; prove(1) runs them. A watchdog ends a test that
 * hangs, and tap_done() fails one that leaks file descriptors.
 */
#pragma once

#include <dirent.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int tap_count, tap_failed, tap_fds;

static int tap_open_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n;
}

/* Call first. seconds: the watchdog; a busy machine has three times as long. */
static inline void tap_begin(unsigned int seconds)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	alarm(3 * seconds);
	tap_fds = tap_open_fds();
}

__attribute__((format(printf, 2, 3))) static inline bool
ok(bool good, const char *fmt, ...)
{
	va_list args;

	printf("%sok %d - ", good ? "" : "not ", ++tap_count);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	printf("\n");
	tap_failed += !good;
	return good;
}

/* Strings are equal; NULL equals only NULL. */
__attribute__((format(printf, 3, 4))) static inline bool
is(const char *got, const char *want, const char *fmt, ...)
{
	bool good = got && want ? !strcmp(got, want) : got == want;
	va_list args;

	printf("%sok %d - ", good ? "" : "not ", ++tap_count);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	printf("\n");
	if (!good)
		printf("#  got: %s\n# want: %s\n", got ? got : "(NULL)",
		       want ? want : "(NULL)");
	tap_failed += !good;
	return good;
}

/* Integers are equal. */
__attribute__((format(printf, 3, 4))) static inline bool
is_int(long long got, long long want, const char *fmt, ...)
{
	va_list args;

	printf("%sok %d - ", got == want ? "" : "not ", ++tap_count);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	printf("\n");
	if (got != want)
		printf("#  got: %lld\n# want: %lld\n", got, want);
	tap_failed += got != want;
	return got == want;
}

/* Call last: return tap_done(); */
static inline int tap_done(void)
{
	int fds = tap_open_fds();

	ok(fds == tap_fds, "no file descriptor is leaked (%d, then %d)",
	   tap_fds, fds);
	printf("1..%d\n", tap_count);
	return tap_failed ? 1 : 0;
}
