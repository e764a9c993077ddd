/* marks.c - searches a text for any of many short marks.
 */
#include "controller/results/rules/marks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static unsigned pair_at(const char *at)
{
	return (unsigned)(unsigned char)at[0] << 8 | (unsigned char)at[1];
}

struct marks *marks_new(const struct strings *list, struct error *err)
{
	struct marks *marks = calloc(1, sizeof(*marks));

	if (!marks)
		return error_null(error_nomem(err, "log rules"));
	marks->list = list;
	for (size_t i = 0; i < list->count; i++) {
		size_t size = strlen(list->items[i]);
		uint8_t *first = &marks->pairs[pair_at(list->items[i])];

		if (size < 3 || size > UINT8_MAX || i == MARKS_MAX) {
			free(marks);
			return error_null(error_set(
				err, EINVAL,
				"the mark \"%.40s\" is not valid here; "
				"expected up to %d marks of 3 to %d bytes",
				list->items[i], MARKS_MAX, UINT8_MAX));
		}
		marks->next[i + 1] = *first;
		marks->sizes[i + 1] = (uint8_t)size;
		*first = (uint8_t)(i + 1);
	}
	return marks;
}

static bool mark_begins(const struct marks *marks, unsigned mark,
			const char *at, const char *end)
{
	for (; mark; mark = marks->next[mark])
		if ((size_t)(end - at) >= marks->sizes[mark] &&
		    !memcmp(at, marks->list->items[mark - 1],
			    marks->sizes[mark]))
			return true;
	return false;
}

const char *marks_next(const struct marks *marks, const char *at,
		       const char *end)
{
	for (; at + 2 < end; at++) {
		unsigned mark = marks->pairs[pair_at(at)];

		if (mark && mark_begins(marks, mark, at, end))
			return at;
	}
	return end;
}
