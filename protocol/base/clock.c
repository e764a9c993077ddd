/* clock.c - the time in milliseconds.
 */
#include "protocol/base/clock.h"

#include <time.h>

#define CLOCK_TRIES 8

static int64_t clock_ms(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t clock_wall_ms(void)
{
	return clock_ms(CLOCK_REALTIME);
}

int64_t clock_mono_ms(void)
{
	return clock_ms(CLOCK_MONOTONIC);
}

int64_t clock_ahead_ms(void)
{
	int64_t best_ms = INT64_MAX, ahead_ms = 0;

	for (int i = 0; i < CLOCK_TRIES && best_ms > 1; i++) {
		int64_t before_ms = clock_mono_ms();
		int64_t wall_ms = clock_wall_ms();
		int64_t took_ms = clock_mono_ms() - before_ms;

		if (took_ms >= best_ms)
			continue;
		best_ms = took_ms;
		ahead_ms = wall_ms - before_ms - took_ms / 2;
	}
	return ahead_ms;
}

int64_t clock_cpu_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}
