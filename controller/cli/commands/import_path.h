/* import_path.h - the files that an import reads of a FlagPerf tree.
 *
 * A tree is what somebody else wrote: a name in it may be a link to any file of
 * this machine, or a FIFO that never ends.
 */
#ifndef CONTROLLER_CLI_COMMANDS_IMPORT_PATH_H
#define CONTROLLER_CLI_COMMANDS_IMPORT_PATH_H

#include "protocol/base/error.h"

#include <limits.h>

/* root: of the tree, without links. ENOENT: it has no file of that name.
 * EINVAL: that is no regular file, or lies outside the tree.
 */
int import_path(const char *root, const char *name, char path[PATH_MAX],
		struct error *err);

#endif
