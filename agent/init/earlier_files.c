/* earlier_files.c - the content of files before the command began.
 */
#include "agent/init/earlier_files.h"

#include "protocol/base/list.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define TAIL 4096 /* bytes that are hashed, at the end */

struct earlier {
	dev_t device;
	ino_t inode;
	uint64_t size;
	struct timespec written;
	uint64_t hash; /* of the last bytes */
};

struct earlier_files {
	struct earlier *items;
	size_t count;
	bool incomplete; /* memory ran out */
};

struct earlier_files *earlier_files_new(void)
{
	return calloc(1, sizeof(struct earlier_files));
}

void earlier_files_free(struct earlier_files *files)
{
	if (!files)
		return;
	free(files->items);
	free(files);
}

/* FNV-1a of the bytes before `size`; false: they cannot be read. */
static bool hash_tail(int fd, uint64_t size, uint64_t *hash)
{
	unsigned char bytes[TAIL];
	size_t length = size < TAIL ? (size_t)size : TAIL;

	if (pread(fd, bytes, length, (off_t)(size - length)) != (ssize_t)length)
		return false;
	*hash = 0xcbf29ce484222325;
	for (size_t i = 0; i < length; i++)
		*hash = (*hash ^ bytes[i]) * 0x100000001b3;
	return true;
}

static void earlier_keep(struct earlier_files *files,
			 const struct earlier *item)
{
	struct earlier *kept = LIST_ADD(files->items, files->count, NULL);

	if (kept)
		*kept = *item;
	else
		files->incomplete = true;
}

void earlier_files_add(struct earlier_files *files, const char *path)
{
	struct earlier item = { 0 };
	struct stat stat_;
	int fd;

	/* Only what is a regular file is opened: opening a device may do
	 * something.
	 */
	if (stat(path, &stat_) < 0 || !S_ISREG(stat_.st_mode) || !stat_.st_size)
		return;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return;
	if (fstat(fd, &stat_) == 0 && S_ISREG(stat_.st_mode) &&
	    hash_tail(fd, (uint64_t)stat_.st_size, &item.hash)) {
		item.device = stat_.st_dev;
		item.inode = stat_.st_ino;
		item.size = (uint64_t)stat_.st_size;
		item.written = stat_.st_mtim;
		earlier_keep(files, &item);
	}
	close(fd);
}

static int earlier_compare(const void *a, const void *b)
{
	const struct earlier *x = a, *y = b;

	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	return (x->inode > y->inode) - (x->inode < y->inode);
}

bool earlier_files_sort(struct earlier_files *files)
{
	if (files->count)
		qsort(files->items, files->count, sizeof(*files->items),
		      earlier_compare);
	return !files->incomplete;
}

static const struct earlier *earlier_find(const struct earlier_files *files,
					  const struct stat *stat)
{
	const struct earlier key = { .device = stat->st_dev,
				     .inode = stat->st_ino };

	return files->count ? bsearch(&key, files->items, files->count,
				      sizeof(key), earlier_compare)
			    : NULL;
}

bool earlier_files_unchanged(const struct earlier_files *files,
			     const struct stat *stat)
{
	const struct earlier *item = earlier_find(files, stat);

	return item && item->size == (uint64_t)stat->st_size &&
	       item->written.tv_sec == stat->st_mtim.tv_sec &&
	       item->written.tv_nsec == stat->st_mtim.tv_nsec;
}

uint64_t earlier_files_size(const struct earlier_files *files, int fd,
			    const struct stat *stat)
{
	const struct earlier *item = earlier_find(files, stat);
	uint64_t hash;

	if (!item || item->size > (uint64_t)stat->st_size ||
	    !hash_tail(fd, item->size, &hash) || hash != item->hash)
		return 0;
	return item->size;
}
