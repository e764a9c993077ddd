/* limits.h - the resource limits of the command, which it has from
 * regatta-init.
 */
#pragma once

#include "protocol/base/buffer.h"

#include <stdint.h>

/* Raise the soft limit of open files to so many, or to the hard limit if that
 * is lower. A limit that is higher stays.
 */
void limits_raise_files(uint64_t files);

/* Append the limits that matter to a training as a list of JSON texts, each as
 * in `ulimits` of a sweep: "nofile=1048576:1048576", -1 for no limit.
 */
int limits_text(struct buffer *text, struct error *err);
