/* glob.c - finds the files that match a pattern, in steps that are bounded. */
#include "agent/init/glob.h"

#include <dirent.h>
#include <fnmatch.h>
#include <limits.h>
#include <string.h>

struct walk {
	size_t *entries;
	glob_fn *fn;
	void *arg;
	char path[PATH_MAX]; /* so far, without a slash at its end */
};

static bool descend(struct walk *walk, size_t length, const char *rest);

/* Append a name and continue behind it. */
static bool glob_step(struct walk *walk, size_t length, const char *name,
		      size_t name_length, const char *rest)
{
	if (length + name_length + 2 > sizeof(walk->path))
		return true;
	walk->path[length] = '/';
	memcpy(walk->path + length + 1, name, name_length);
	length += name_length + 1;
	walk->path[length] = 0;
	return descend(walk, length, rest);
}

static bool match_names(struct walk *walk, size_t length, const char *pattern,
			const char *rest)
{
	DIR *dir = opendir(length ? walk->path : "/");
	struct dirent *entry;
	bool all = true;

	while (dir && all && (entry = readdir(dir))) {
		const char *name = entry->d_name;

		if (!strcmp(name, ".") || !strcmp(name, ".."))
			continue;
		all = *walk->entries > 0;
		*walk->entries -= all;
		if (all && !fnmatch(pattern, name, FNM_PERIOD))
			all = glob_step(walk, length, name, strlen(name), rest);
		walk->path[length] = 0;
	}
	if (dir)
		closedir(dir);
	return all;
}

/* rest: "/name/name", or nothing. */
static bool descend(struct walk *walk, size_t length, const char *rest)
{
	char pattern[NAME_MAX + 1];
	size_t size;

	rest += strspn(rest, "/");
	size = strcspn(rest, "/");
	if (!size) {
		walk->fn(walk->arg, walk->path);
		return true;
	}
	if (size > NAME_MAX)
		return true;
	memcpy(pattern, rest, size);
	pattern[size] = 0;
	/* For a plain name the folder need not be read. */
	if (!strpbrk(pattern, "*?[\\"))
		return glob_step(walk, length, pattern, size, rest + size);
	return match_names(walk, length, pattern, rest + size);
}

bool glob_walk(const char *pattern, size_t *entries, glob_fn *fn, void *arg)
{
	struct walk walk = { .entries = entries, .fn = fn, .arg = arg };

	return descend(&walk, 0, pattern);
}
