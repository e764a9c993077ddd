/* ignore.c - which paths of a folder are left out, by patterns.
 */
#include "protocol/content/ignore.h"

#include "protocol/content/pattern.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

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
	if (!patterns || pattern_check(pattern.text, err) < 0) {
		free(pattern.text);
		ignore->patterns = patterns ? patterns : ignore->patterns;
		return patterns ? error_prefix(err, "ignore")
				: error_nomem(err, "ignore");
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

bool ignore_match(const struct ignore *ignore, const char *path, bool folder)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	for (size_t i = ignore->count; i-- > 0;) {
		const struct pattern *pattern = &ignore->patterns[i];

		if (pattern->folder && !folder)
			continue;
		if (pattern->rooted ? pattern_match(pattern->text, path, 0)
				    : !fnmatch(pattern->text, name, 0))
			return !pattern->back;
	}
	return false;
}
