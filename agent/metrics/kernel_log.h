/* kernel_log.h - what the kernel logs from now on.
 *
 * Source: Linux Documentation/ABI/testing/dev-kmsg: a record is
 * "level,number,time,flags;text", and lines that begin with a blank belong to
 * the record before. Without the right to read it there is none.
 */
#pragma once

#include "protocol/hardware/expression.h"

struct kernel_log;

/* dev: the folder in place of /dev. NULL: ENOMEM, or it cannot be read. */
struct kernel_log *kernel_log_new(const char *dev);
void kernel_log_free(struct kernel_log *log);
OWNED_POINTER(struct kernel_log, kernel_log_free)

/* Call told() with the text of each new record that matches from its start, at
 * most KERNEL_LOG_RECORDS records at a time. Elsewhere a text may have what a
 * program chose, such as the name of its file.
 */
#define KERNEL_LOG_RECORDS 64
typedef void kernel_log_fn(void *arg, const char *text);
void kernel_log_read(struct kernel_log *log, struct expression *match,
		     kernel_log_fn *told, void *arg);
