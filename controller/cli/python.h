/* python.h - reads Python files with the python3 of this machine.
 */
#ifndef CONTROLLER_CLI_PYTHON_H
#define CONTROLLER_CLI_PYTHON_H

#include "controller/sweep/flagperf/python_files.h"

/* Read the assignments of at most PYTHON_FILES_MAX files. NULL with *err:
 * EPROTO: python3 is not installed (the text names the package), failed, or
 * gave an invalid answer; ETIMEDOUT, E2BIG: it took too long or printed too
 * much. An unreadable file is no error: see python_file_check().
 */
struct python_files *python_read(const struct strings *paths,
				 struct error *err);

#endif
