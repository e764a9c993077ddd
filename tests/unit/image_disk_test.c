/* image_disk_test.c - where an engine keeps its images, by what it tells, and
 * by what its containerd has open.
 */
#include "agent/images/image_disk.h"

#include "protocol/base/file.h"
#include "protocol/message/codec.h"
#include "tests/tap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#define STORE                                                                  \
	"\"DriverStatus\":[[\"driver-type\",\"io.containerd.snapshotter.v1\"]" \
	"]"

static const char *folder_of(const char *text)
{
	static char folder[200];
	owned(cJSON_Delete) cJSON *info = cJSON_Parse(text);
	owned_free char *found = image_disk_folder(info);

	snprintf(folder, sizeof(folder), "%s", found ? found : "unknown");
	return folder;
}

/* We are the containerd. */
static void containerd(const char *top)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char text[600], path[200], root[100];
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), database;

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/s", top);
	snprintf(root, sizeof(root), "%s/root", top);
	snprintf(path, sizeof(path), "%s/io.containerd.metadata.v1.bolt", root);
	snprintf(text, sizeof(text),
		 "{\"DockerRootDir\":\"/other\",\"Containerd\":{\"Address\":"
		 "\"%s\"}," STORE "}",
		 address.sun_path);
	is(folder_of(text), "unknown", "without its containerd it is unknown");
	if (mkdir(root, 0755) < 0 || mkdir(path, 0755) < 0 ||
	    bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(fd, 5) < 0)
		exit(1);
	is(folder_of(text), "unknown", "so it is while that has no database");
	strncat(path, "/meta.db", sizeof(path) - strlen(path) - 1);
	database = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	is(folder_of(text), root, "the database lies in containerd's folder");
	close(database);
	close(fd);
}

int main(void)
{
	char top[] = "/tmp/disk-test-XXXXXX";

	tap_begin(5);
	if (!mkdtemp(top))
		return 1;
	is(folder_of("{\"DockerRootDir\":\"/var/lib/docker\",\"DriverStatus\":"
		     "[[\"Backing Filesystem\",\"extfs\"],7]}"),
	   "/var/lib/docker", "overlay2 is in the engine's own folder");
	is(folder_of("{\"DockerRootDir\":\"/var/lib/docker\"," STORE "}"),
	   "unknown", "containerd's store is not");
	containerd(top);
	file_remove_tree(AT_FDCWD, top, NULL);
	return tap_done();
}
