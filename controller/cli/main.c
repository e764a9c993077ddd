/* main.c - regatta: the environment, then the command.
 */
#include "controller/cli/dispatch.h"
#include "protocol/base/program.h"

#include <sodium.h>
#include <string.h>

/* The folder of this very program, or "". */
static void own_folder(char folder[PATH_MAX])
{
	ssize_t length = readlink("/proc/self/exe", folder, PATH_MAX - 1);
	char *slash;

	folder[length > 0 ? length : 0] = 0;
	slash = strrchr(folder, '/');
	if (slash)
		*slash = 0;
}

int main(int argc, char **argv)
{
	char folder[PATH_MAX];
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
		.no_color = getenv("NO_COLOR"),
		.folder = folder,
	};
	struct cli cli = {
		.out = stdout,
		.err = stderr,
		.out_terminal = isatty(STDOUT_FILENO),
		.err_terminal = isatty(STDERR_FILENO),
		.environment = &environment,
	};

	own_folder(folder);
	if (sodium_init() < 0) {
		fputs("regatta: libsodium cannot be started\n", stderr);
		return EXIT_WORK_FAILED;
	}
	return cli_run(&cli, argc, argv);
}
