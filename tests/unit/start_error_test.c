/* start_error_test.c - an engine's refusal to start, in words that help.
 */
#include "agent/task/start_error.h"

#include "tests/tap.h"

#include <errno.h>

static char *asked[] = { (char *)"nofile=1024:2048", (char *)"memlock=-1" };
static const struct strings ulimits = { .items = asked, .count = 2 };

static void explained(const char *text, const char *want, const char *name)
{
	struct error err;

	error_set(&err, EIO, "%s", text);
	start_error_explain(&ulimits, &err);
	is(err.text, want, "%s", name);
	is_int(err.code, EIO, "with the engine's code");
}

int main(void)
{
	static const char other[] = "no such image: tool:1";
	static const char memlock[] =
		"the engine is not permitted to set the limit memlock=-1; give "
		"it CAP_SYS_RESOURCE, or set a permitted value in the sweep: "
		"ulimits: {memlock: ...} (regatta-sweep(5))";

	tap_begin(10);
	explained("failed to create shim task: OCI runtime create failed: runc "
		  "create failed: unable to start container process: error "
		  "during container init: error setting rlimit type 8: "
		  "operation not permitted: unknown",
		  memlock, "runc's number of a limit is explained");
	explained("crun: setrlimit `RLIMIT_MEMLOCK`: Operation not permitted: "
		  "OCI permission denied",
		  memlock, "so is crun's name");
	explained("error setting rlimit type 3: operation not permitted",
		  "the engine is not permitted to set the limit stack; give it "
		  "CAP_SYS_RESOURCE, or set a permitted value in the sweep: "
		  "ulimits: {stack: ...} (regatta-sweep(5))",
		  "and one that nobody asked for");
	explained(other, other, "another error is left as it is");
	explained("setting rlimit type 77: no", "setting rlimit type 77: no",
		  "so is a limit that is none of ours");
	return tap_done();
}
