/* clock.h - the time in milliseconds.
 */
#pragma once

#include <stdint.h>

/* The wall clock since 1970, and the monotonic clock. */
int64_t clock_wall_ms(void);
int64_t clock_mono_ms(void);
/* The wall clock minus the monotonic one at one moment. Two separate readings
 * would differ by the time that the process waits between them.
 */
int64_t clock_ahead_ms(void);
/* Microseconds of processor time that this thread has used. */
int64_t clock_cpu_us(void);
