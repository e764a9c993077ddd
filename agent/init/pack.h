/* pack.h - packs the files that a task collects into tar files.
 *
 * Each path becomes "collect-<I>.tar" in a folder, I counted from 0, in order;
 * "collect-<I>.why" says, in one line, why there is none, or what is remarkable
 * about it. What stood there under these names is removed.
 *
 * A path may be a pattern (protocol/blob/pattern.h), of which a leading dot of
 * a name is matched only by a dot; what is below a folder that matches is
 * packed as well. Entries begin with the last name of the path, or of the
 * folder before the pattern. Only regular files, folders and symbolic links are
 * packed, each file whole, also where it has other names. Files that cannot be
 * read, names that are too long and folders that are deeper than PACK_DEPTH_MAX
 * are left out and counted. A file that becomes shorter meanwhile ends in
 * zeros.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PACK_DEPTH_MAX 120 /* what is unpacked has at most 128 */

struct pack {
	/* Of a layer, an open folder that stands for "/": no link is followed,
	 * and no other file system entered. -1: our own root, where links
	 * before the last name are followed.
	 */
	int layer;
	int out; /* the folder of the results */
	char *const *paths;
	size_t count;
	uint64_t limit; /* bytes of all the tar files */
	int64_t since;  /* seconds since 1970: files that are older are counted
			 */
	/* Is it time to give up? Asked between pieces of a file. */
	bool (*late)(void *arg);
	void *arg;
};

/* Paths that are in the folder already are left alone, if `missing`. */
void pack_all(const struct pack *pack, bool missing);
