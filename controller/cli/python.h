/* python.h - read Python files with the python3 of this machine.
 */
#ifndef CONTROLLER_CLI_PYTHON_H
#define CONTROLLER_CLI_PYTHON_H

#include "controller/sweep/flagperf/python_files.h"

/* What the files assign; at most PYTHON_FILES_MAX. NULL with *err: EPROTO:
 * there is no python3 (the text names the package), it failed, or it answered
 * with what cannot be read; ETIMEDOUT and E2BIG: it took too long, or printed
 * too much. A file that cannot be read is no error: see python_file_check().
 */
struct python_files *python_read(const struct strings *paths,
				 struct error *err);

#endif
