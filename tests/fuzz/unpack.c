/* unpack.c - feeds any bytes to the unpacking of tar files, of collected files
 * and of code trees: nothing may appear beside the folder, and of collected
 * files no link may lead out of it.
 */
#include "protocol/base/file.h"
#include "protocol/blob/unpack.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool good)
{
	if (!good)
		abort();
}

static void refused(void *arg, const char *path, const char *why)
{
	must(path && why);
}

static int unpack_tree(int tar, int dir, struct error *err)
{
	static const struct unpack_limits limits = { 1 << 20, 200 };
	static const struct unpack_owner owner = { (uid_t)-1, (gid_t)-1, true };
	owned(unpacking_free) struct unpacking *unpacking =
		unpacking_new(tar, dir, &limits, &owner, err);
	int rc = unpacking ? 1 : -1;

	while (rc > 0)
		rc = unpacking_step(unpacking, err);
	return rc;
}

static void check_links(const char *folder, const char *root)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		char path[PATH_MAX + 300], where[PATH_MAX];
		struct stat st;

		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		must(lstat(path, &st) == 0);
		must(S_ISREG(st.st_mode) || S_ISDIR(st.st_mode) ||
		     S_ISLNK(st.st_mode));
		if (S_ISLNK(st.st_mode) && realpath(path, where))
			must(!strncmp(where, root, strlen(root)));
		if (S_ISDIR(st.st_mode) && strlen(path) < PATH_MAX)
			check_links(path, root);
	}
	if (dir)
		closedir(dir);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct unpack_limits limits = { 1 << 20, 200 };
	char top[] = "/dev/shm/unpack-fuzz-XXXXXX", in[64];
	int tar = memfd_create("tar", MFD_CLOEXEC), dir;
	struct error err;
	struct stat st;

	must(tar >= 0 && mkdtemp(top));
	snprintf(in, sizeof(in), "%s/in", top);
	must(mkdir(in, 0700) == 0);
	dir = open(in, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	must(dir >= 0 && write(tar, data, size) == (ssize_t)size &&
	     lseek(tar, 0, SEEK_SET) == 0);
	if (unpack(tar, dir, NULL, &limits, refused, NULL, NULL, &err) < 0)
		must(err.code && err.text[0]);
	check_links(in, in);
	must(lseek(tar, 0, SEEK_SET) == 0);
	if (unpack_tree(tar, dir, &err) < 0)
		must(err.code && err.text[0]);
	must(stat(top, &st) == 0 && st.st_nlink == 3);
	close(dir);
	close(tar);
	file_remove_tree(AT_FDCWD, top, NULL);
	return 0;
}
