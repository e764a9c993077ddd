/* pieces.h - a file of any size that a person names, piece by piece.
 */
#ifndef CONTROLLER_CLI_PIECES_H
#define CONTROLLER_CLI_PIECES_H

#include "protocol/base/error.h"

#include <stddef.h>

typedef int pieces_fn(const void *piece, size_t size, void *arg,
		      struct error *err);

/* Call fn for each piece of the file, "-" is standard input; -1 from it ends
 * the reading. EINVAL: the file cannot be read.
 */
int pieces_read(const char *name, pieces_fn *fn, void *arg, struct error *err);

#endif
