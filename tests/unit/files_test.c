/* files_test.c - which entries of a collected path's tar file are unpacked?
 */
#include "controller/cli/commands/fetch.h"

#include "tests/tap.h"

static void chosen(const char *collected, const char *wanted, const char *want,
		   const char *name)
{
	char only[64] = "?";

	if (!files_choose(collected, wanted, only, sizeof(only)))
		snprintf(only, sizeof(only), "none");
	is(only, want, "%s", name);
}

int main(void)
{
	tap_begin(10);
	chosen("/out/1", NULL, "1",
	       "of a whole path only what lies below its last name");
	chosen("/out/1/", "/", "1", "however it is spelled");
	chosen("/out/1", "/out", "1", "also when it is part of what is wanted");
	chosen("/out/1", "/out/1", "1", "or just that");
	chosen("/out/1", "/out/1/a/b/", "1/a/b", "of one below it only that");
	chosen("/out/1", "/out/12", "none", "not of a path that looks alike");
	chosen("/out/12", "/out/1", "none", "the other way round neither");
	chosen("/", NULL, "", "the root has no name: all of it");
	chosen("/out/.", NULL, "", "nor has a folder's own");
	chosen("/out/a/*.log", NULL, "a", "of a pattern all that was kept");
	chosen("/out/a/*.log", "/out/a/*.log", "a", "asked for as it is, too");
	chosen("/out/a/*.log", "/out/a/1.log", "a/1.log",
	       "or one of its files");
	chosen("/out/a/*.log", "/out/b/1.log", "none", "but not others");
	return tap_done();
}
