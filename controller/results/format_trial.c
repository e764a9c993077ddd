/* format_trial.c - finds the format of a stored log from its head and its tail.
 */
#include "controller/results/format_trial.h"

#include <string.h>

bool format_trial_due(uint64_t length, uint64_t tried)
{
	return tried ? length / 2 >= tried : length >= FORMAT_TRIAL_FIRST;
}

static size_t read_part(uint64_t offset, size_t size,
			format_trial_read_fn *read, void *arg, char *text)
{
	size_t done = 0, got;

	while (done < size &&
	       (got = read(arg, offset + done, text + done, size - done)))
		done += got;
	return done;
}

/* The size of the whole lines in the text. */
static size_t whole_lines(const char *text, size_t size)
{
	const char *lf = memrchr(text, '\n', size);

	return lf ? (size_t)(lf - text) + 1 : 0;
}

size_t format_trial_text(uint64_t length, format_trial_read_fn *read, void *arg,
			 char *text)
{
	size_t head, tail;
	const char *lf;

	if (length <= FORMAT_TRIAL_BYTES)
		return read_part(0, (size_t)length, read, arg, text);
	head = read_part(0, FORMAT_TRIAL_PART, read, arg, text);
	head = whole_lines(text, head);
	tail = read_part(length - FORMAT_TRIAL_PART, FORMAT_TRIAL_PART, read,
			 arg, text + head);
	lf = memchr(text + head, '\n', tail);
	if (!lf)
		return head;
	tail -= (size_t)(lf + 1 - (text + head));
	memmove(text + head, lf + 1, tail);
	return head + tail;
}

int format_trial(struct extract_rules *const *rules, size_t count,
		 const char *text, size_t size, struct format_trial *trial,
		 struct error *err)
{
	owned(format_choice_free) struct format_choice *choice =
		format_choice_new(rules, count, err);
	struct format_fit fits[FORMAT_FITS_MAX];
	size_t fitting;

	if (!choice || format_choice_feed(choice, text, size, err) < 0 ||
	    format_choice_finish(choice, err) < 0)
		return -1;
	fitting = format_choice_fits(choice, fits);
	*trial = (struct format_trial){ 0 };
	if (!fitting)
		return 0;
	trial->found = true;
	trial->format = fits[0].format;
	trial->steps = fits[0].steps;
	trial->tied = format_choice_tied(choice, fits, fitting);
	return 0;
}
