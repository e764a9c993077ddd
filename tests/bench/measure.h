/* measure.h - clocks, quantiles, what a process uses, and where results go.
 */
#pragma once

#include "protocol/base/error.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Nanoseconds of the monotonic clock, the same in all processes; seconds of
 * the same, and of the wall clock (for the times of files). Then seconds of
 * processor time that this process and the children that it waited for used:
 * the time of work on one core that others wait for, too.
 */
int64_t clock_ns(void);
double clock_s(void);
double clock_wall_s(void);
double clock_cpu_s(void);

/* Sorts values; q is 0 .. 1. 0 for none. */
double measure_quantile(double *values, size_t count, double q);

/* Resident memory in KiB, the part of it that no other process can share (no
 * pages of programs and libraries), and user + system time in seconds; 0: gone.
 */
double process_rss_kib(pid_t pid);
double process_own_kib(pid_t pid);
double process_cpu_s(pid_t pid);

/* Busy time of all cores since the machine started, in seconds. */
double machine_busy_s(void);

/* Each program writes a table for people to stdout, and its results as lines
 * of JSON to the file that $REGATTA_BENCH_RESULTS names (appended; nothing
 * without it). The object is deleted.
 */
void result_put(cJSON *object);
cJSON *result_new(const char *benchmark, const char *way);

/* $QUICK is set and not 0: a short run is wanted. */
bool is_quick(void);

/* Print the error and end the program with code 1. */
__attribute__((noreturn)) void fail(const struct error *err);
