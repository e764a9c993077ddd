/* cell_data.h - what a cell comes to.
 *
 * Plain data: keys.h says which key goes to which member, cell.h reads them.
 */
#ifndef CONTROLLER_SWEEP_CELL_DATA_H
#define CONTROLLER_SWEEP_CELL_DATA_H

#include "controller/sweep/parallel_layout.h"
#include "protocol/message/spec.h"

#define CELL_REASON_BYTES 480

struct chip;
struct model;

struct cell {
	struct job_spec spec; /* cleared by cell_clear() */
	uint32_t repeats;
	struct parallel_layout shape;
	const struct model *model; /* NULL: not in the catalog */
	const struct chip *chip;   /* NULL: not said */
	char *optimizer;           /* NULL: not said */
	bool check_memory;
	char reason[CELL_REASON_BYTES]; /* why it is impossible, or "" */
};

#endif
