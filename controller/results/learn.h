/* learn.h - makes log rules from values that a person sees in a log.
 *
 * A rule is made from the line that has most of the values. The text between
 * them becomes literal; other numbers of the line become wildcards.
 */
#pragma once

#include "protocol/base/buffer.h"
#include "protocol/base/error.h"

#include <stddef.h>

#define LEARN_VALUES_MAX 16

/* Write the section `log:` of a framework description that reads these values,
 * each "name=text", where text is a number as written in the log. EINVAL: a
 * value is not valid, or is in no line; E2BIG: more than LEARN_VALUES_MAX;
 * ENOMEM.
 */
int learn_rules(const char *log, size_t size, const char *const *values,
		size_t count, struct buffer *yaml, struct error *err);
