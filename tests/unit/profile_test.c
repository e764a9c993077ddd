/* profile_test.c - vendors' profiles are read, and refused with file and line.
 */
#include "protocol/hardware/profile.h"

#include "tests/tap.h"

int main(void)
{
	struct error err = { 0 };
	owned(profiles_clear) struct profiles profiles = { 0 };
	int rc;

	tap_begin(20);
	rc = profiles_load("images", &profiles, &err);

	ok(rc == 0, "all load (%s)", err.text);
	return tap_done();
}
