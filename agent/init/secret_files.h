/* secret_files.h - the secrets of the command that it gets as files. */
#pragma once

#include "agent/init/start.h"

/* Write each secret of the start file into the folder, with mode 0400. -1: *why
 * names the one that cannot be written, never its value.
 */
int secret_files_write(const struct start *start, const char *folder,
		       struct error *why);
