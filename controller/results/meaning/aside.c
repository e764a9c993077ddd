/* aside.c - tells the lines of an evaluation from those of the training.
 */
#include "controller/results/meaning/aside.h"

#include <math.h>
#include <string.h>

void aside_take_title(struct aside *aside, struct notation *notation,
		      const char *text, size_t size)
{
	struct quantity quantity;

	aside->headed = false;
	if (!size || size > NOTATION_GAP_MAX || !strchr(":{*.", text[size - 1]))
		return;
	quantity = notation_quantity(notation, text, size);
	if (!quantity.other && !quantity.section)
		return;
	aside->begun = true;
	aside->headed = text[size - 1] != '.';
}

bool aside_is_below(struct aside *aside, const char *text, size_t size)
{
	bool below =
		aside->headed && size && *text && strchr(" \t{}\"'", *text);

	aside->headed = below && !memchr(text, '}', size);
	return below;
}

static const struct line_pick *step_of(const struct line_reading *line)
{
	return &line->picks[line->picks[LINE_STEP].has ? LINE_STEP
						       : LINE_BATCH];
}

void aside_note(struct aside *aside, const struct line_reading *line)
{
	size_t count = line->unnamed_count;

	aside->passed |=
		aside->step_done &&
		(line->other || line->evaluates ||
		 (line->bar && count &&
		  line->unnamed[count - 1].total != aside->step_total));
}

bool aside_begins_again(const struct aside *aside,
			const struct line_reading *line)
{
	const struct line_pick *own = step_of(line);

	return aside->passed && own->has && own->number == own->total &&
	       own->total == aside->step_total && line->picks[LINE_LOSS].has &&
	       line->picks[LINE_LOSS].number != aside->done_loss;
}

bool aside_has(struct aside *aside, const struct line_reading *line,
	       const struct line_pick *epoch)
{
	const struct line_pick *own = step_of(line);
	bool done;

	if (!own->has || !isfinite(own->total))
		return false;
	if (line->picks[LINE_EPOCH].has)
		epoch = &line->picks[LINE_EPOCH];
	done = aside->step_done && epoch->has &&
	       epoch->number == aside->done_epoch;
	if ((aside->begun || done) && aside->step_total > 0 &&
	    own->total != aside->step_total)
		return true;
	aside->begun = false;
	aside->step_total = own->total;
	aside->step_done = own->number == own->total;
	aside->done_epoch = epoch->has ? epoch->number : NAN;
	aside->done_loss = line->picks[LINE_LOSS].number;
	aside->passed = false;
	return false;
}
