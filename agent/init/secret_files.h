/* secret_files.h - the secrets of the command that it gets as files. */
#ifndef AGENT_INIT_SECRET_FILES_H
#define AGENT_INIT_SECRET_FILES_H

#include "agent/init/start.h"

/* Write each secret of the start file into the folder, mode 0400, ours. -1: why
 * says which cannot be written, and never its value.
 */
int secret_files_write(const struct start *start, const char *folder,
		       struct start_error *why);

#endif
