/* container.h - reads the keys of a cell's container.
 */
#pragma once

#include "controller/cell/cells.h"

/* Fill cell->spec.container from a completed cell, whose single keys, model and
 * shape are already read: image, command, env, mounts, workdir, ulimits,
 * capabilities, groups, security. cell_text.h describes the placeholders.
 */
int container_read(struct cells *cells, const struct value *const *values,
		   struct cell *cell, struct error *err);
