/* delegated.c - which resources a user's own engine can limit.
 */
#include "agent/docker/delegated.h"
#include "protocol/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TEXT_MAX 65536
#define CGROUPS "/sys/fs/cgroup"
#define CONTROLLERS "cgroup.controllers"

/* With version 2 only, the file is one line: "0::/user.slice/...". */
static int our_cgroup(const char *root, char path[PATH_MAX], struct error *err)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(TEXT_MAX);
	int size;

	snprintf(path, PATH_MAX, "%s/proc/self/cgroup", root);
	if (file_read(AT_FDCWD, path, &text, err) < 0)
		return -1;
	if (strncmp(text.data, "0::", 3) != 0)
		return error_set(err, EPROTO, "%s: no cgroup of version 2",
				 path);
	size = (int)strcspn(text.data + 3, "\n");
	if (snprintf(path, PATH_MAX, "%s" CGROUPS "%.*s/" CONTROLLERS, root,
		     size, text.data + 3) >= PATH_MAX)
		return error_set(err, ENAMETOOLONG, "cgroup: too long");
	return 0;
}

int delegated_controllers(const char *root, struct strings *controllers,
			  struct error *err)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(TEXT_MAX);
	char path[PATH_MAX], *word, *rest = NULL;

	snprintf(path, sizeof(path), "%s" CGROUPS "/" CONTROLLERS, root);
	if (access(path, F_OK) < 0)
		return 0;
	if (our_cgroup(root, path, err) < 0 ||
	    file_read(AT_FDCWD, path, &text, err) < 0)
		return -1;
	word = text.size ? strtok_r(text.data, " \n", &rest) : NULL;
	for (; word; word = strtok_r(NULL, " \n", &rest))
		if (strings_add(controllers, word, err) < 0)
			return -1;
	return 0;
}
