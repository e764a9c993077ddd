/* own_container.c - the container that the agent itself runs in: does its
 * engine see the agent's folders?
 */
#include "agent/own_container.h"

#include "protocol/base/strings.h"
#include "protocol/message/json_get.h"

#include <string.h>

#define FOLDER "containers/"

bool own_container_id(const char *mountinfo, char id[OWN_CONTAINER_ID_SIZE])
{
	const size_t digits = OWN_CONTAINER_ID_SIZE - 1;
	const char *at = mountinfo;

	while ((at = strstr(at, FOLDER))) {
		at += strlen(FOLDER);
		if (strspn(at, ASCII_DIGITS "abcdef") != digits ||
		    at[digits] != '/')
			continue;
		memcpy(id, at, digits);
		id[digits] = 0;
		return true;
	}
	return false;
}

/* Is it below the folder, or the folder itself? */
static bool path_lies_in(const char *path, const char *folder, size_t length)
{
	return !strncmp(path, folder, length) &&
	       (!path[length] || path[length] == '/');
}

bool own_container_shares(const cJSON *inspected, const char *path)
{
	const cJSON *mount;
	size_t longest = 0;
	bool same = false;

	cJSON_ArrayForEach(mount, json_get(inspected, "Mounts")) {
		const char *inside = json_get_text(mount, "Destination");
		const char *outside = json_get_text(mount, "Source");
		size_t length = inside ? strlen(inside) : 0;

		if (!inside || !outside || length < longest ||
		    !path_lies_in(path, inside, length))
			continue;
		longest = length;
		same = !strcmp(inside, outside);
	}
	return same;
}
