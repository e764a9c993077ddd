/* advice_test.c - what is advised fits what is known of the failure.
 */
#include "controller/report/advice.h"

#include "tests/tap.h"

#include <string.h>

static void advises(enum failure failure, const char *text, const char *what)
{
	const char *advice = failure_advice(failure, text, LANGUAGE_EN);

	ok(advice && strstr(advice, what), "%.60s: %s", text ? text : "no text",
	   advice ? advice : "");
}

int main(void)
{
	tap_begin(16);
	advises(FAILURE_IMAGE, NULL, "check the name");
	advises(FAILURE_IMAGE, "n1: image x:1: engine: manifest unknown",
		"check the name");
	advises(FAILURE_IMAGE, "lookup registry-1.docker.io: no such host",
		"does not reach the registry");
	advises(FAILURE_IMAGE, "the pull makes no progress; no byte",
		"does not reach the registry");
	advises(FAILURE_IMAGE, "engine: unauthorized: authentication required",
		"credentials");
	advises(FAILURE_IMAGE, "engine: x509: certificate signed by unknown",
		"trusts the registry");
	advises(FAILURE_IMAGE, "toomanyrequests: slow down", "wait");
	advises(FAILURE_IMAGE, "give this user 65536 ids in /etc/subuid",
		"what the text says");
	advises(FAILURE_PREFLIGHT,
		"on n2 the image x is sha256:1, but this sweep uses sha256:2",
		"load one image on all nodes");
	advises(FAILURE_PREFLIGHT,
		"image x is sha256:1 on n1, but sha256:2 on n2: the nodes of a "
		"sweep must have the same one",
		"load one image on all nodes");
	advises(FAILURE_IMAGE, "this sweep has it: image x: manifest unknown",
		"load one image on all nodes");
	advises(FAILURE_IMAGE, "this sweep has it: image x: no such host",
		"does not reach the registry");
	advises(FAILURE_PREFLIGHT, "image x is in no registry and not on this",
		"load one image on all nodes");
	advises(FAILURE_EXIT, "RuntimeError: received 0 items of ancdata",
		"ulimits: {nofile: 1048576}");
	advises(FAILURE_EXIT, "OSError: [Errno 24] Too many open files",
		"ulimits: {nofile: 1048576}");
	advises(FAILURE_EXIT,
		"mkdir: cannot create directory '/root/.cache': Permission "
		"denied",
		"policy needs the line `capabilities: [DAC_OVERRIDE]`");
	return tap_done();
}
