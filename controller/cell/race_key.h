/* race_key.h - reads `race` of a cell.
 */
#pragma once

#include "controller/cell/cell_data.h"
#include "protocol/yaml/value.h"

/* Fill spec.race of the cell, whose other keys were read: its repeats become
 * those of the winner. race NULL: not given; rung: `batch.micro: fit` stands
 * for it, which is a race of its own where there is no `race`. A cell that
 * follows others does not race: it runs for the winner. EINVAL.
 */
int race_key_read(const struct value *race, bool rung, struct cell *cell,
		  struct error *err);

/* Without an estimate of its memory, the place of a cell among the heats: what
 * needs more memory (race_rules.h) comes later.
 */
double race_key_order(const struct cell *cell);
