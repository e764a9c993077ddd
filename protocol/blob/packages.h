/* packages.h - the list of a job's Python packages, a stream of its task with
 * node rank 0.
 *
 * Lines of "NAME VERSION", sorted by bytes. It is written inside the container:
 * anything may stand there.
 */
#pragma once

#include <stddef.h>

#define PACKAGES_STREAM "node-0.python-packages"
#define PACKAGES_PATH "python-packages" /* in the index of streams */
#define PACKAGES_MAX 4000
#define PACKAGES_LINE_MAX 200
#define PACKAGES_BYTES_MAX ((size_t)64 << 10)
