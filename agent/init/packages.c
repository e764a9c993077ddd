/* packages.c - lists the Python packages of the image.
 */
#include "agent/init/packages.h"
#include "agent/init/glob.h"
#include "protocol/base/buffer.h"
#include "protocol/base/file.h"
#include "protocol/blob/packages.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BELOW "lib/python3*/*-packages/*-info"

struct packages {
	char *lines[PACKAGES_MAX];
	size_t count;
};

/* glob_fn: ".../site-packages/torch-2.1.0.dist-info" is "torch 2.1.0". */
static void package_add(void *arg, const char *path)
{
	struct packages *packages = arg;
	const char *name = strrchr(path, '/') + 1;
	const char *end = strrchr(name, '.');
	const char *dash = strchr(name, '-');
	char line[PACKAGES_LINE_MAX];

	if (!end || !dash || dash > end || packages->count == PACKAGES_MAX ||
	    snprintf(line, sizeof(line), "%.*s %.*s\n", (int)(dash - name),
		     name, (int)(end - dash - 1),
		     dash + 1) >= (int)sizeof(line))
		return;
	for (const char *at = line; at[1]; at++)
		if (!isprint((unsigned char)*at))
			return;
	packages->lines[packages->count] = strdup(line);
	packages->count += packages->lines[packages->count] != NULL;
}

/* Beside each folder of PATH: /usr/local/bin, /usr/local/lib/python3.11. */
static void packages_find(struct packages *packages, const char *path)
{
	size_t entries = GLOB_ENTRIES_MAX;
	char pattern[PATH_MAX];

	for (size_t length; *path; path += length + (path[length] == ':')) {
		length = strcspn(path, ":");
		if (*path == '/' &&
		    snprintf(pattern, sizeof(pattern), "%.*s/../" BELOW,
			     (int)length, path) < (int)sizeof(pattern))
			glob_walk(pattern, &entries, package_add, packages);
	}
	glob_walk("/opt/*/" BELOW, &entries, package_add, packages);
}

static int lines_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void packages_write(struct index_writer *index, const char *path)
{
	struct packages packages = { .count = 0 };
	owned(buffer_clear) struct buffer text =
		BUFFER_INIT(PACKAGES_BYTES_MAX);
	const char *last = "";
	int fd;

	packages_find(&packages, path);
	qsort(packages.lines, packages.count, sizeof(packages.lines[0]),
	      lines_compare);
	for (size_t i = 0; i < packages.count; i++) {
		if (strcmp(last, packages.lines[i]) != 0)
			buffer_text(&text, packages.lines[i], NULL);
		last = packages.lines[i];
	}
	if (text.size &&
	    (fd = index_writer_follow(index, PACKAGES_STREAM, PACKAGES_PATH, 1,
				      NULL)) >= 0) {
		file_write_all(fd, PACKAGES_PATH, text.data, text.size, NULL);
		close(fd);
	}
	for (size_t i = 0; i < packages.count; i++)
		free(packages.lines[i]);
}
