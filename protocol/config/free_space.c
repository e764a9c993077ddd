/* free_space.c - how much of a disk must stay free: 50GiB, or 20% of it.
 */
#include "protocol/config/free_space.h"

#include "protocol/base/units.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#define BYTES_MAX (UINT64_C(1) << 50)

int free_space_parse(const char *text, struct free_space *floor,
		     struct error *err)
{
	size_t digits = strspn(text, "0123456789");
	struct free_space found = { 0 };

	if (!strchr(text, '%')) {
		if (size_parse(text, 1, BYTES_MAX, &found.bytes, err) < 0)
			return -1;
	} else if (digits < 1 || digits > 2 || strcmp(text + digits, "%") ||
		   !(found.percent = (uint32_t)strtoul(text, NULL, 10))) {
		return error_set(err, EINVAL,
				 "'%.20s' is not valid here; expected 1%% to "
				 "99%%, or bytes as in 50GiB",
				 text);
	}
	*floor = found;
	return 0;
}

uint64_t free_space_on(const struct free_space *floor, uint64_t disk_bytes)
{
	uint64_t share = disk_bytes / 100 * floor->percent;

	return share > floor->bytes ? share : floor->bytes;
}

int free_space_of(const char *folder, uint64_t *free_bytes,
		  uint64_t *disk_bytes, struct error *err)
{
	struct statvfs fs;

	if (statvfs(folder, &fs) < 0)
		return error_errno(err, "%s", folder);
	*free_bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
	*disk_bytes = (uint64_t)fs.f_blocks * fs.f_frsize;
	return 0;
}
