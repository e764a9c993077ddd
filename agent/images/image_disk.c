/* image_disk.c - where an engine keeps its images: with which store, and on
 * which disk.
 */
#include "agent/images/image_disk.h"

#include "agent/docker/engine_network.h"
#include "protocol/message/json_get.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define DATABASE "/io.containerd.metadata.v1.bolt/meta.db"

/* With containerd's store, Driver is a snapshotter, and DriverStatus says so.
 */
bool image_disk_is_containerd(const cJSON *info)
{
	const cJSON *pair;

	cJSON_ArrayForEach(pair, json_get(info, "DriverStatus")) {
		const char *value =
			cJSON_GetStringValue(cJSON_GetArrayItem(pair, 1));

		if (value && !strncmp(value, "io.containerd.", 14))
			return true;
	}
	return false;
}

/* The folder of the containerd that listens there. */
static char *containerd_folder(const char *address)
{
	char path[64], file[PATH_MAX];
	struct dirent *entry;
	char *found = NULL;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/fd",
		 (int)engine_listener(address));
	folder = opendir(path);
	while (folder && !found && (entry = readdir(folder))) {
		ssize_t size = readlinkat(dirfd(folder), entry->d_name, file,
					  sizeof(file));
		ssize_t root = size - (ssize_t)strlen(DATABASE);

		if (root > 0 &&
		    !strncmp(file + root, DATABASE, (size_t)(size - root)))
			found = strndup(file, (size_t)root);
	}
	if (folder)
		closedir(folder);
	return found;
}

char *image_disk_folder(const cJSON *info)
{
	const char *root = json_get_text(info, "DockerRootDir");
	const char *address =
		json_get_text(json_get(info, "Containerd"), "Address");

	if (image_disk_is_containerd(info))
		return address ? containerd_folder(address) : NULL;
	return root ? strdup(root) : NULL;
}
