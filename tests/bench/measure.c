/* measure.c - clocks, quantiles, what a process uses, and where results go.
 */
#include "tests/bench/measure.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static int64_t clock_of(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t clock_ns(void)
{
	return clock_of(CLOCK_MONOTONIC);
}

double clock_s(void)
{
	return (double)clock_ns() / 1e9;
}

double clock_wall_s(void)
{
	return (double)clock_of(CLOCK_REALTIME) / 1e9;
}

static double used_s(int who)
{
	struct rusage usage;

	getrusage(who, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

double clock_cpu_s(void)
{
	return used_s(RUSAGE_SELF) + used_s(RUSAGE_CHILDREN);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

double measure_quantile(double *values, size_t count, double q)
{
	size_t at = (size_t)(q * (double)count);

	if (!count)
		return 0;
	qsort(values, count, sizeof(*values), compare);
	return values[at < count ? at : count - 1];
}

/* The start of a file in /proc, as text. */
static bool read_start(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, text, size - 1);

	if (fd >= 0)
		close(fd);
	text[got > 0 ? got : 0] = 0;
	return got > 0;
}

static double status_kib(pid_t pid, const char *name)
{
	char path[64], text[4096];
	const char *line;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (!read_start(path, text, sizeof(text)))
		return 0;
	line = strstr(text, name);
	return line ? strtod(line + strlen(name), NULL) : 0;
}

double process_rss_kib(pid_t pid)
{
	return status_kib(pid, "VmRSS:");
}

double process_own_kib(pid_t pid)
{
	return status_kib(pid, "RssAnon:");
}

double process_cpu_s(pid_t pid)
{
	clockid_t clock;

	return clock_getcpuclockid(pid, &clock) == 0
		       ? (double)clock_of(clock) / 1e9
		       : 0;
}

double machine_busy_s(void)
{
	unsigned long long user, nice, kernel;
	char text[256];

	if (!read_start("/proc/stat", text, sizeof(text)) ||
	    sscanf(text, "cpu %llu %llu %llu", &user, &nice, &kernel) != 3)
		return 0;
	return (double)(user + nice + kernel) / (double)sysconf(_SC_CLK_TCK);
}

cJSON *result_new(const char *benchmark, const char *way)
{
	cJSON *object = cJSON_CreateObject();

	cJSON_AddStringToObject(object, "benchmark", benchmark);
	cJSON_AddStringToObject(object, "way", way);
	return object;
}

void result_put(cJSON *object)
{
	const char *path = getenv("REGATTA_BENCH_RESULTS");
	char *text = cJSON_PrintUnformatted(object);
	FILE *file = path && text ? fopen(path, "ae") : NULL;

	if (file) {
		fprintf(file, "%s\n", text);
		fclose(file);
	}
	cJSON_free(text);
	cJSON_Delete(object);
}

bool is_quick(void)
{
	const char *quick = getenv("QUICK");

	return quick && *quick && strcmp(quick, "0") != 0;
}

void fail(const struct error *err)
{
	fflush(stdout);
	fprintf(stderr, "bench: %s\n", err->text);
	exit(1);
}
