/* traceback.h - which lines belong to a traceback, and what ends one.
 *
 * Python's and IPython's, Paddle's and TensorFlow's; also behind the head that
 * a logger writes before each line.
 */
#pragma once

#include "controller/causes/cause_line.h"
#include "protocol/base/buffer.h"

struct traceback {
	struct buffer head; /* before each of its lines; empty: none */
	uint64_t aside; /* the line that calls the next traceback harmless; 0 */
	uint64_t begun; /* the line that announced the last one; 0: none */
	uint64_t frame; /* the last line with a frame; 0: none */
	uint64_t raised; /* the last line with an exception; 0: none */
};

void traceback_init(struct traceback *traceback);
void traceback_clear(struct traceback *traceback);

/* Another job begins. */
void traceback_forget(struct traceback *traceback);

/* Remove the logger's head from the line. ENOMEM: -1. */
int traceback_cut_head(struct traceback *traceback, struct cause_line *line);

/* Is the line near enough to a frame to be its exception? */
bool traceback_reaches(const struct traceback *traceback,
		       const struct cause_line *line);

/* Is the line a part of a traceback? */
bool traceback_takes(struct traceback *traceback,
		     const struct cause_line *line);

/* Is it the first line behind the frames, and no exception was there? */
bool traceback_lacks_type(const struct traceback *traceback,
			  const struct cause_line *line);

/* Python prints what it cannot raise: a destructor's exception, or that of a
 * message for the log. Is the line of such a traceback, which ends nothing?
 * inside: it is a part of it; ends: it may be its exception.
 */
bool traceback_sets_aside(struct traceback *traceback,
			  const struct cause_line *line, bool inside,
			  bool ends);
