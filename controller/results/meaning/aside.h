/* aside.h - tells the lines of an evaluation from those of the training by what
 * stands above them.
 */
#pragma once

#include "controller/results/meaning/line.h"

struct aside {
	bool headed; /* what follows stands below the title of an evaluation */
	bool begun;  /* behind "Eval begin..." */
	double step_total; /* of the training's last step; 0: unknown */
	bool step_done;    /* that one has reached it, */
	double done_epoch; /* in this epoch, */
	double done_loss;  /* with this loss, */
	bool passed;       /* and an evaluation came behind it */
};

/* A line without numbers: "Eval metrics: {", "***** Eval results *****", "Eval
 * begin..."?
 */
void aside_take_title(struct aside *aside, struct notation *notation,
		      const char *text, size_t size);

/* Is it a part of what is below such a title: a dict, or indented lines? */
bool aside_is_below(struct aside *aside, const char *text, size_t size);

/* The line may be one of an evaluation behind the last step. */
void aside_note(struct aside *aside, const struct line_reading *line);

/* Is it the last step once more, with another loss, behind an evaluation? Then
 * it is that of the next epoch.
 */
bool aside_begins_again(const struct aside *aside,
			const struct line_reading *line);

/* Does it belong to an evaluation that began above, or that follows the last
 * step of an epoch? Its steps have another total than those of the training.
 * epoch: the one that a line of its own has named.
 */
bool aside_has(struct aside *aside, const struct line_reading *line,
	       const struct line_pick *epoch);
