/* pattern.c - matches paths against patterns, name by name.
 */
#include "protocol/blob/pattern.h"

#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

int pattern_check(const char *pattern, struct error *err)
{
	const char *star = pattern;
	int stars = 0;

	if (!*pattern || strlen(pattern) > PATTERN_MAX)
		return error_set(err, EINVAL,
				 "\"%.60s\": %zu bytes; expected 1 to %d",
				 pattern, strlen(pattern), PATTERN_MAX);
	while ((star = strstr(star, "**"))) {
		stars++;
		star += 2;
	}
	if (stars > PATTERN_STARS_MAX)
		return error_set(err, EINVAL,
				 "\"%.60s\": %d times **; expected at most %d",
				 pattern, stars, PATTERN_STARS_MAX);
	return 0;
}

bool pattern_match(const char *pattern, const char *path, int flags)
{
	size_t one = strcspn(pattern, "/"), other = strcspn(path, "/");
	char piece[PATTERN_MAX + 1], name[NAME_MAX + 1];

	if (one == 2 && !strncmp(pattern, "**", 2)) {
		if (!pattern[2])
			return true;
		for (;; path += other + 1) {
			if (pattern_match(pattern + 3, path, flags))
				return true;
			other = strcspn(path, "/");
			if (!path[other])
				return false;
		}
	}
	if (one >= sizeof(piece) || other >= sizeof(name))
		return false;
	memcpy(piece, pattern, one);
	piece[one] = 0;
	memcpy(name, path, other);
	name[other] = 0;
	if (fnmatch(piece, name, flags))
		return false;
	if (!pattern[one] || !path[other])
		return !pattern[one] && !path[other];
	return pattern_match(pattern + one + 1, path + other + 1, flags);
}

bool pattern_split(const char *path, char *root, size_t size, const char **rest)
{
	const char *wild = strpbrk(path, "*?[\\");
	size_t length;

	while (wild && wild > path && *wild != '/')
		wild--;
	if (!wild || *wild != '/')
		return false;
	for (length = (size_t)(wild - path); length && path[length - 1] == '/';
	     length--)
		;
	if (length >= size)
		return false;
	snprintf(root, size, "%.*s", (int)length, path);
	*rest = wild + strspn(wild, "/");
	return true;
}
