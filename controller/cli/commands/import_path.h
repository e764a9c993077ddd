/* import_path.h - checks the paths of files that an import reads from a
 * FlagPerf tree.
 *
 * The tree is not trusted: a name in it may be a link to any file of this
 * machine, or a FIFO.
 */
#ifndef CONTROLLER_CLI_COMMANDS_IMPORT_PATH_H
#define CONTROLLER_CLI_COMMANDS_IMPORT_PATH_H

#include "protocol/base/error.h"

#include <limits.h>

/* Set path to the file `name` of the tree. root: the tree, without links.
 * ENOENT: no such file. EINVAL: it is no regular file, or outside of the tree.
 */
int import_path(const char *root, const char *name, char path[PATH_MAX],
		struct error *err);

#endif
