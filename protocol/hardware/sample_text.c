/* sample_text.c - the lines of a tool's output, and what expressions match in
 * them.
 */
#include "protocol/base/clock.h"
#include "protocol/hardware/sample_internal.h"

#include <errno.h>
#include <string.h>

struct sample_text text_trim(struct sample_text text, const char *characters)
{
	while (text.size && strchr(characters, *text.data)) {
		text.data++;
		text.size--;
	}
	while (text.size && strchr(characters, text.data[text.size - 1]))
		text.size--;
	return text;
}

bool line_next(const char *text, size_t size, size_t *at, struct line *line)
{
	struct sample_text whole = { text + *at, 0 };
	const char *end;

	if (*at >= size)
		return false;
	end = memchr(whole.data, '\n', size - *at);
	whole.size = end ? (size_t)(end - whole.data) : size - *at;
	*at += whole.size + 1;
	line->text = text_trim(whole, " \t");
	line->indent = (size_t)(line->text.data - whole.data);
	return true;
}

void run_limit_time(struct run *run)
{
	run->deadline_us = clock_cpu_us() + (int64_t)SAMPLE_TIME_MS * 1000;
}

int run_match(struct run *run, struct expression *expression,
	      struct sample_text text, enum expression_place place,
	      struct error *err)
{
	if (!(++run->calls % 64) && clock_cpu_us() > run->deadline_us)
		return error_set(err, ETIMEDOUT,
				 "reading it takes more than %d ms",
				 SAMPLE_TIME_MS);
	return expression_match(expression, text.data, text.size, place, err);
}

int run_match_any(struct run *run, const struct expressions *expressions,
		  struct sample_text text, enum expression_place place,
		  size_t *index, struct error *err)
{
	for (size_t i = 0; i < expressions->count; i++) {
		int rc = run_match(run, expressions->list[i], text, place, err);

		*index = i;
		if (rc)
			return rc;
	}
	return 0;
}
