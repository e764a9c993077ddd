/* key_values.h - copies the values of a cell's keys into the members of the
 * cell.
 *
 * keys.h has the members and limits. Keys with placeholders are read by
 * container.h, names of the catalog by cell.h.
 */
#pragma once

#include "controller/cell/cell_data.h"
#include "protocol/yaml/value.h"

/* values: by path, as in cell.h. An error names the place in the file. */
int key_values_read(const struct value *const *values, struct cell *cell,
		    struct error *err);
