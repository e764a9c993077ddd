/* python.c - read Python files with the python3 of this machine.
 */
#include "controller/cli/python.h"

#include "protocol/base/local_tool.h"

#include <errno.h>

struct python_files *python_read(const struct strings *paths, struct error *err)
{
	owned(strings_clear) struct strings argv = { 0 };
	owned(buffer_clear) struct buffer text;
	struct error why;

	buffer_init(&text, PYTHON_OUTPUT_MAX);
	if (python_files_command(paths, &argv, err) < 0)
		return NULL;
	if (local_tool_run(&argv, NULL, PYTHON_TIMEOUT_MS, &text, &why) == 0)
		return python_files_decode(text.data, text.size, paths, err);
	if (why.code == ENOENT)
		error_set(err, EPROTO,
			  "%s: python3 is needed to read this file, but is not "
			  "installed; install the package python3",
			  paths->items[0]);
	else
		error_set(err, why.code == EIO ? EPROTO : why.code, "%s: %s",
			  paths->items[0], why.text);
	return NULL;
}
