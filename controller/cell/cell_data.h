/* cell_data.h - a cell as it is read from a sweep.
 *
 * Plain data. keys.h says which key fills which member; cell.h fills them.
 */
#pragma once

#include "controller/cell/parallel_layout.h"
#include "protocol/message/spec.h"

#define CELL_REASON_BYTES 480
#define CELL_WORDS_BYTES 300 /* the label of a cell, with its NUL */

struct chip;
struct model;

struct cell {
	struct job_spec spec; /* cleared by cell_clear() */
	uint32_t repeats;
	struct parallel_layout shape;
	const struct model *model; /* NULL: not in the catalog */
	const struct chip *chip;   /* NULL: not set */
	char *optimizer;           /* NULL: not set */
	char *preflight;           /* NULL: not set */
	bool check_memory;
	char reason[CELL_REASON_BYTES]; /* why it is impossible, or "" */
};

void cell_clear(struct cell *cell);
OWNED_VALUE(struct cell, cell_clear)
