/* traceback.c - which lines belong to a traceback, and what ends one. */
#include "controller/causes/traceback.h"

#include <string.h>

#define TRACEBACK_REACH 8 /* lines between a frame and its exception */
#define RAISED_REACH 4    /* lines that an exception may have */
#define HEAD_MAX 160      /* bytes before "Traceback" in its line */

void traceback_init(struct traceback *traceback)
{
	*traceback = (struct traceback){ 0 };
	buffer_init(&traceback->head, HEAD_MAX);
}

void traceback_clear(struct traceback *traceback)
{
	buffer_clear(&traceback->head);
}

void traceback_forget(struct traceback *traceback)
{
	traceback->aside = traceback->begun = traceback->frame =
		traceback->raised = 0;
}

#define HEADER "Traceback (most recent call last)"

/* Where the line has these words; NULL: it has not. */
static const char *line_find(const struct cause_line *line, const char *words)
{
	return cause_line_has(line, words)
		       ? memmem(line->text, line->size, words, strlen(words))
		       : NULL;
}

/* "ERROR [core] ", "rank 3 | ": a level, or a number and a mark. */
static bool head_is_logged(const char *head, size_t size)
{
	bool number = false;

	for (size_t i = 0; i < size; i++)
		number |= byte_digit(head[i]);
	return memmem(head, size, "ERROR", 5) ||
	       memmem(head, size, "CRITICAL", 8) ||
	       (number && size > 1 && strchr("|:>])-", head[size - 2]));
}

int traceback_cut_head(struct traceback *traceback, struct cause_line *line)
{
	const char *at = line_find(line, HEADER);
	size_t size = at ? (size_t)(at - line->text) : 0;
	const char *head;

	if (size && size <= HEAD_MAX && !cause_line_indented(line) &&
	    at[-1] == ' ' && head_is_logged(line->text, size)) {
		traceback->head.size = 0;
		if (buffer_append(&traceback->head, line->text, size, NULL) < 0)
			return -1;
	}
	head = traceback->head.data;
	size = traceback->head.size;
	if (!size || line->size <= size)
		return 0;
	for (size_t i = 0; i < size; i++)
		if (head[i] != line->text[i] &&
		    (!byte_digit(head[i]) || !byte_digit(line->text[i])))
			return 0;
	line->text += size;
	line->size -= size;
	line_pairs_read(&line->pairs, line->text, line->size);
	return 0;
}

bool traceback_reaches(const struct traceback *traceback,
		       const struct cause_line *line)
{
	return traceback->frame &&
	       line->number - traceback->frame <= TRACEBACK_REACH;
}

/* Has it these words, and no message in front of them? */
static bool line_starts_with(const struct cause_line *line, const char *words)
{
	const char *at =
		cause_line_has(line, words)
			? memmem(line->text, line->size, words, strlen(words))
			: NULL;

	return at && !memmem(line->text, (size_t)(at - line->text), ": ", 2);
}

/* Is it a frame that is not indented? "~/run.py in main(argv)", "Cell In[3],
 * line 4" and "----> 4 main()" of IPython; or the end of one that a narrow
 * console has broken, "train.py", line 20, in main".
 */
static bool line_is_frame(const struct cause_line *line)
{
	return line_starts_with(line, ".py in ") ||
	       line_starts_with(line, "> in ") ||
	       line_starts_with(line, "\", line ") ||
	       line_starts_with(line, "Cell In[") ||
	       (*line->text == '-' && line_starts_with(line, "-> ")) ||
	       (line->size > 5 && !memcmp(line->text, "File ", 5) &&
		cause_line_has(line, ", in "));
}

/* It ends the line; in an exception that quotes one, its frames follow. */
static bool line_begins_traceback(const struct cause_line *line)
{
	const char *at = line_find(line, HEADER);
	size_t before = at ? (size_t)(at - line->text) : 0;

	return at && (!before || line->size - before <= sizeof(HEADER));
}

bool traceback_takes(struct traceback *traceback, const struct cause_line *line)
{
	if (line_begins_traceback(line) ||
	    cause_line_has(line, "Error Message Summary:") ||
	    cause_line_has(line, "Detected at node") ||
	    (traceback_reaches(traceback, line) &&
	     cause_line_has(line, "Node: '"))) {
		traceback->begun = traceback->frame = line->number;
		return true;
	}
	if (!cause_line_indented(line) && traceback_reaches(traceback, line) &&
	    traceback->frame > traceback->raised && line_is_frame(line)) {
		traceback->frame = line->number;
		return true;
	}
	if (!cause_line_indented(line))
		return false;
	if (cause_line_has(line, "  File \"") ||
	    (traceback->frame > traceback->raised &&
	     line->number - traceback->frame <= TRACEBACK_REACH))
		traceback->frame = line->number;
	return true;
}

bool traceback_lacks_type(const struct traceback *traceback,
			  const struct cause_line *line)
{
	return traceback->frame && line->number == traceback->frame + 1 &&
	       !(traceback->raised &&
		 line->number - traceback->raised <= RAISED_REACH) &&
	       line->size >= 8;
}

bool traceback_sets_aside(struct traceback *traceback,
			  const struct cause_line *line, bool inside, bool ends)
{
	if (cause_line_has(line, "Exception ignored in") ||
	    cause_line_has(line, "--- Logging error ---")) {
		traceback->aside = line->number;
		return true;
	}
	if (!traceback->aside || inside)
		return traceback->aside;
	/* Its last line, or what follows no traceback. */
	ends = ends && traceback->frame > traceback->aside;
	traceback->aside = 0;
	return ends;
}
