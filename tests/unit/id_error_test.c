/* id_error_test.c - an image with users that an engine without root has not.
 */
#include "agent/images/id_error.h"

#include "tests/tap.h"

#include <errno.h>
#include <string.h>

static void is_told(const char *words, bool told, const char *name)
{
	struct error err = { 0 };

	error_set(&err, EIO, "%s", words);
	id_error_explain(&err);
	if (told)
		ok(err.code == EPERM && strstr(err.text, "/etc/subuid"), "%s",
		   name);
	else
		ok(err.code == EIO && !strcmp(err.text, words), "%s", name);
}

int main(void)
{
	tap_begin(10);
	is_told("engine: writing blob: adding layer with blob "
		"\"sha256:3f4a\": Error processing tar file(exit status 1): "
		"potentially insufficient UIDs or GIDs available in user "
		"namespace (requested 0:42 for /etc/shadow): Check /etc/subuid",
		true, "Podman's words");
	is_told("failed to register layer: ApplyLayer exit status 1 stdout:  "
		"stderr: lchown /etc/shadow: invalid argument",
		true, "Docker's words");
	is_told("failed to register layer: lchown /etc/shadow: read-only file "
		"system",
		false, "another failure of the same call");
	is_told("invalid argument", false, "other words");
	return tap_done();
}
