/* sysfs.h - reads files of /proc and /sys, or of folders in their place, as
 * text.
 *
 * A path is a root ("/sys", "/tmp/lab/sys") and a path below it, made by fmt. A
 * file that cannot be read counts as missing.
 */
#pragma once

#include "protocol/base/buffer.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

/* Read the whole file without its last newlines. The buffer is emptied first.
 * False: it cannot be read, or is longer than the buffer's limit.
 */
bool sysfs_text(struct buffer *text, const char *root, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The file's first word as a number, as far as it is one. */
bool sysfs_number(double *number, const char *root, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

bool sysfs_there(const char *root, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The value of the first line "key<separator>value" of this key, without the
 * blanks and quotes around it, as a heap string. NULL: none.
 */
char *sysfs_line(const char *text, const char *key, char separator);

/* Add a text to an object, unless it is NULL or "". Bytes that are not
 * printable (printable.h) become '?'; firmware writes any bytes.
 */
void sysfs_add(cJSON *to, const char *name, const char *text);

/* Call fn for each name in the folder, in no order, at most `max` of them;
 * names that begin with a dot are left out. fn returns false to end.
 */
typedef bool sysfs_fn(void *arg, const char *name);
void sysfs_each(const char *root, const char *folder, int max, sysfs_fn *fn,
		void *arg);
