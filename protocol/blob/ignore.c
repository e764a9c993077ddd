/* ignore.c - decides by patterns which paths of a folder are left out.
 */
#include "protocol/blob/ignore.h"

#include "protocol/base/list.h"
#include "protocol/blob/pattern.h"

#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pattern {
	char *text;
	bool back; /* takes in again */
	bool folder;
	bool rooted; /* a path from the top, not a name */
	bool below;  /* and all that lies below */
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

/* Take over the pattern with its text. Text NULL: ENOMEM. */
static int ignore_keep_pattern(struct ignore *ignore, struct pattern pattern,
			       struct error *err)
{
	owned_free char *text = pattern.text;
	struct pattern *added;

	if (!text)
		return error_nomem(err, "ignore");
	if (ignore->count == IGNORE_MAX)
		return error_set(err, E2BIG, "ignore: more than %d patterns",
				 IGNORE_MAX);
	if (pattern_check(text, err) < 0)
		return error_prefix(err, "ignore");
	added = LIST_ADD(ignore->patterns, ignore->count, err);
	if (!added)
		return -1;
	*added = pattern;
	(void)take(text); /* it belongs to the list now */
	return 0;
}

static int ignore_add_pattern(struct ignore *ignore, const char *text,
			      size_t size, struct error *err)
{
	struct pattern pattern = { .back = size && *text == '!' };

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
	return ignore_keep_pattern(ignore, pattern, err);
}

int ignore_add(struct ignore *ignore, const char *pattern, struct error *err)
{
	return ignore_add_pattern(ignore, pattern, strlen(pattern), err);
}

/* Add the clean path: "a/b" for "/a/./b/". "." is ignored. */
static int add_docker(struct ignore *ignore, const char *text, size_t size,
		      struct error *err)
{
	struct pattern pattern = { .back = *text == '!',
				   .rooted = true,
				   .below = true };
	char *to;

	text += pattern.back;
	size -= pattern.back;
	to = pattern.text = calloc(1, size + 1);
	while (to && size) {
		const char *slash = memchr(text, '/', size);
		size_t one = slash ? (size_t)(slash - text) : size;

		if (one && !(one == 1 && *text == '.')) {
			if (to > pattern.text)
				*to++ = '/';
			memcpy(to, text, one);
			to += one;
		}
		text += one + !!slash;
		size -= one + !!slash;
	}
	if (to && to == pattern.text && !pattern.back) {
		free(pattern.text);
		return 0;
	}
	return ignore_keep_pattern(ignore, pattern, err);
}

typedef int add_fn(struct ignore *ignore, const char *text, size_t size,
		   struct error *err);

static int add_lines(struct ignore *ignore, const char *text, add_fn *fn,
		     struct error *err)
{
	while (*text) {
		size_t line = strcspn(text, "\n"), size = line;

		while (size && strchr(" \t\r", text[size - 1]))
			size--;
		if (size && *text != '#' && fn(ignore, text, size, err) < 0)
			return -1;
		text += line + (text[line] == '\n');
	}
	return 0;
}

int ignore_lines(struct ignore *ignore, const char *text, struct error *err)
{
	return add_lines(ignore, text, ignore_add_pattern, err);
}

int ignore_docker_lines(struct ignore *ignore, const char *text,
			struct error *err)
{
	return add_lines(ignore, text, add_docker, err);
}

static bool match_below(const char *pattern, const char *path)
{
	char above[PATH_MAX];
	const char *slash = path;

	while ((slash = strchr(slash, '/'))) {
		if (snprintf(above, sizeof(above), "%.*s", (int)(slash - path),
			     path) >= (int)sizeof(above))
			return false;
		if (pattern_match(pattern, above, 0))
			return true;
		slash++;
	}
	return false;
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
		if (pattern->below && match_below(pattern->text, path))
			return !pattern->back;
	}
	return false;
}

bool ignore_inside(const struct ignore *ignore)
{
	for (size_t i = 0; i < ignore->count; i++) {
		const struct pattern *pattern = &ignore->patterns[i];

		if (pattern->below && pattern->back &&
		    strchr(pattern->text, '/'))
			return true;
	}
	return false;
}
