/* docker_line.h - a line of a file of Docker's driver json-file.
 *
 *	{"log":"step 1\n","stream":"stdout","time":"2026-01-02T03:04:05.6Z"}
 */
#ifndef CONTROLLER_PREFIXES_DOCKER_LINE_H
#define CONTROLLER_PREFIXES_DOCKER_LINE_H

#include <stdbool.h>
#include <stddef.h>

/* Can this be the beginning of such a line? */
bool docker_line_begins(const char *text, size_t size);

/* Write the output that the line holds to `to`, which has room for size bytes:
 * how many. False: it is no such line.
 */
bool docker_line_read(const char *line, size_t size, char *to, size_t *length);

#endif
