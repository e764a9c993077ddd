/* main.c - regatta: the environment, then the command.
 */
#include "controller/cli/dispatch.h"
#include "protocol/base/program.h"
#include "protocol/config/installed.h"

#include <sodium.h>
#include <string.h>

int main(int argc, char **argv)
{
	/* A terminal that cannot move its cursor. */
	const char *term = getenv("TERM");
	bool dumb = term && !strcmp(term, "dumb");
	struct environment environment = {
		.controller = getenv("REGATTA_CONTROLLER"),
		.controller_key = getenv("REGATTA_CONTROLLER_KEY"),
		.key = getenv("REGATTA_KEY"),
		.config = getenv("REGATTA_CONFIG"),
		.images = getenv("REGATTA_IMAGES"),
		.config_home = getenv("XDG_CONFIG_HOME"),
		.home = getenv("HOME"),
		.path = getenv("PATH"),
		.docker_host = getenv("DOCKER_HOST"),
		.docker_tls = getenv("DOCKER_TLS_VERIFY"),
		.docker_certs = getenv("DOCKER_CERT_PATH"),
		.docker_config = getenv("DOCKER_CONFIG"),
		.no_color = dumb ? term : getenv("NO_COLOR"),
		.folder = installed_programs,
	};
	struct cli cli = {
		.out = stdout,
		.err = stderr,
		.out_terminal = isatty(STDOUT_FILENO),
		.err_terminal = isatty(STDERR_FILENO) && !dumb,
		.environment = &environment,
	};

	if (sodium_init() < 0) {
		fputs("regatta: libsodium cannot be started\n", stderr);
		return EXIT_WORK_FAILED;
	}
	return cli_run(&cli, argc, argv);
}
