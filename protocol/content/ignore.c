/* ignore.c - which paths of a folder are left out, by patterns.
 */
#include "protocol/content/ignore.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#define STARS_MAX 4 /* "**" in one pattern: each multiplies the work */

struct pattern {
	char *text;
	bool back; /* takes in again */
	bool folder;
	bool rooted; /* a path from the top, not a name */
};

struct ignore {
	struct pattern *patterns;
	size_t count;
};

struct ignore *ignore_new(struct error *err)
{
	struct ignore *ignore = calloc(1, sizeof(*ignore));

	if (!ignore)
		error_nomem(err, "ignore");
	return ignore;
}

void ignore_free(struct ignore *ignore)
{
	if (!ignore)
		return;
	for (size_t i = 0; i < ignore->count; i++)
		free(ignore->patterns[i].text);
	free(ignore->patterns);
	free(ignore);
}

static int check(const char *text, struct error *err)
{
	const char *star = text;
	int stars = 0;

	if (!*text || strlen(text) > IGNORE_PATTERN_MAX)
		return error_set(err, EINVAL,
				 "ignore \"%.60s\": %zu bytes, allowed are 1 "
				 "to "
				 "%d",
				 text, strlen(text), IGNORE_PATTERN_MAX);
	while ((star = strstr(star, "**"))) {
		stars++;
		star += 2;
	}
	if (stars > STARS_MAX)
		return error_set(err, EINVAL,
				 "ignore \"%.60s\": %d times **, allowed are "
				 "%d",
				 text, stars, STARS_MAX);
	return 0;
}

static int add(struct ignore *ignore, const char *text, size_t size,
	       struct error *err)
{
	struct pattern pattern = { .back = size && *text == '!' };
	struct pattern *patterns;

	if (ignore->count == IGNORE_MAX)
		return error_set(err, E2BIG, "ignore: more than %d patterns",
				 IGNORE_MAX);
	text += pattern.back;
	size -= pattern.back;
	pattern.folder = size && text[size - 1] == '/';
	size -= pattern.folder;
	pattern.rooted = memchr(text, '/', size) != NULL;
	if (size && *text == '/') {
		text++;
		size--;
	}
	pattern.text = strndup(text, size);
	if (!pattern.text)
		return error_nomem(err, "ignore");
	patterns = reallocarray(ignore->patterns, ignore->count + 1,
				sizeof(*patterns));
	if (!patterns || check(pattern.text, err) < 0) {
		free(pattern.text);
		ignore->patterns = patterns ? patterns : ignore->patterns;
		return patterns ? -1 : error_nomem(err, "ignore");
	}
	ignore->patterns = patterns;
	patterns[ignore->count++] = pattern;
	return 0;
}

int ignore_add(struct ignore *ignore, const char *pattern, struct error *err)
{
	return add(ignore, pattern, strlen(pattern), err);
}

int ignore_lines(struct ignore *ignore, const char *text, struct error *err)
{
	while (*text) {
		size_t line = strcspn(text, "\n"), size = line;

		while (size && strchr(" \t\r", text[size - 1]))
			size--;
		if (size && *text != '#' && add(ignore, text, size, err) < 0)
			return -1;
		text += line + (text[line] == '\n');
	}
	return 0;
}

/* Both a name at a time. */
static bool match_path(const char *pattern, const char *path)
{
	size_t one = strcspn(pattern, "/"), other = strcspn(path, "/");
	char piece[IGNORE_PATTERN_MAX + 1], name[256];

	if (one == 2 && !strncmp(pattern, "**", 2)) {
		if (!pattern[2])
			return true;
		for (;; path += other + 1) {
			if (match_path(pattern + 3, path))
				return true;
			other = strcspn(path, "/");
			if (!path[other])
				return false;
		}
	}
	if (other >= sizeof(name))
		return false;
	memcpy(piece, pattern, one);
	piece[one] = 0;
	memcpy(name, path, other);
	name[other] = 0;
	if (fnmatch(piece, name, 0))
		return false;
	if (!pattern[one] || !path[other])
		return !pattern[one] && !path[other];
	return match_path(pattern + one + 1, path + other + 1);
}

bool ignore_match(const struct ignore *ignore, const char *path, bool folder)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	for (size_t i = ignore->count; i-- > 0;) {
		const struct pattern *pattern = &ignore->patterns[i];

		if (pattern->folder && !folder)
			continue;
		if (pattern->rooted ? match_path(pattern->text, path)
				    : !fnmatch(pattern->text, name, 0))
			return !pattern->back;
	}
	return false;
}
