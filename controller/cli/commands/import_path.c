/* import_path.c - the files that an import reads of a FlagPerf tree.
 */
#include "controller/cli/commands/import_path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int import_path(const char *root, const char *name, char path[PATH_MAX],
		struct error *err)
{
	char real[PATH_MAX];
	size_t size = strlen(root);
	struct stat st;

	if (snprintf(path, PATH_MAX, "%s/%s", root, name) >= PATH_MAX)
		return error_set(err, EINVAL, "%.60s...: the path is too long",
				 path);
	if (!realpath(path, real) || stat(real, &st) < 0)
		return error_errno(err, "%s", path);
	if (strncmp(real, root, size) != 0 || real[size] != '/')
		return error_set(err, EINVAL,
				 "%s is a link to %s, outside the tree; put a "
				 "copy in its place",
				 path, real);
	if (!S_ISREG(st.st_mode))
		return error_set(err, EINVAL, "%s: not a regular file", path);
	return 0;
}
