/* recordings.h - what others recorded: logs and tools' output beside the
 * project, where somebody has them.
 *
 * They are not part of the project: REGATTA_SAMPLES names the folder that holds
 * them, else it is ../shared. A test reads them in addition to its fixtures of
 * tests/samples/.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The folder of that name, ending in '/'. False, and said so: there is none. */
static inline bool recordings_folder(const char *name, char *path, size_t size)
{
	const char *root = getenv("REGATTA_SAMPLES");

	snprintf(path, size, "%s/%s/", root && *root ? root : "../shared",
		 name);
	if (access(path, R_OK | X_OK) == 0)
		return true;
	printf("# no recordings in %s (REGATTA_SAMPLES): skipped\n", path);
	return false;
}
