/* bundle.c - feeds any bytes to what reads a file of `regatta bundle`. */
#include "controller/cli/commands/bundle_file.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	owned(bundle_clear) struct bundle bundle = { 0 };
	struct error err = { 0 };
	char logs[PATH_MAX];

	snprintf(logs, sizeof(logs), "%s/logs", fuzz_folder());
	must(mkdir(logs, 0700) == 0);
	if (bundle_read(fuzz_file("bundle", data, size), logs, &bundle, &err) <
	    0)
		must_say(&err);
	must(file_remove_tree(AT_FDCWD, logs, NULL) == 0);
	return 0;
}
