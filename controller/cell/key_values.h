/* key_values.h - the values of a cell's keys, into the members of the cell.
 *
 * keys.h says which key goes where, and within which limits. Left out are keys
 * with placeholders (container.h) and names of the catalog (cell.h).
 */
#ifndef CONTROLLER_CELL_KEY_VALUES_H
#define CONTROLLER_CELL_KEY_VALUES_H

#include "controller/cell/cell_data.h"
#include "protocol/yaml/value.h"

/* values: by path, as in cell.h. An error names the place in the file. */
int key_values_read(const struct value *const *values, struct cell *cell,
		    struct error *err);

#endif
