/* learn.h - from values that a person sees in a log to rules that read them.
 *
 * A rule is made of the line that has most of the values: what stands between
 * them stays, other numbers of the line may be any.
 */
#ifndef CONTROLLER_RESULTS_LEARN_H
#define CONTROLLER_RESULTS_LEARN_H

#include "protocol/base/buffer.h"
#include "protocol/base/error.h"

#include <stddef.h>

#define LEARN_VALUES_MAX 16

/* Write the section `log:` of a framework description that reads these values,
 * each "name=text" with the text as it stands in the log, a number. EINVAL: a
 * value is none, or stands in no line; E2BIG: more than LEARN_VALUES_MAX;
 * ENOMEM.
 */
int learn_rules(const char *log, size_t size, const char *const *values,
		size_t count, struct buffer *yaml, struct error *err);

#endif
