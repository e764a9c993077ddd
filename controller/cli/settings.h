/* settings.h - where the controller is, who we are, where our parts lie.
 *
 * Each setting comes from the first that has it: the option, the environment,
 * the configuration file ($REGATTA_CONFIG, else regatta/config.yaml in
 * $XDG_CONFIG_HOME or ~/.config, else operator.yaml among the settings of this
 * machine's services, for who may read it), the default.
 *
 *	controller: tcp://HOST:7117
 *	controller_key: "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"
 *	key: /home/me/.config/regatta/key
 *
 * controller_key is a public key or a file that holds one. A path in the file
 * that is not absolute begins at the file's folder.
 */
#ifndef CONTROLLER_CLI_SETTINGS_H
#define CONTROLLER_CLI_SETTINGS_H

#include "controller/cli/options.h"
#include "protocol/base/buffer.h"
#include "protocol/wire/key.h"

#include <limits.h>

/* What main() found outside the command line. NULL: not set. */
struct environment {
	const char *controller;     /* REGATTA_CONTROLLER */
	const char *controller_key; /* REGATTA_CONTROLLER_KEY */
	const char *key;            /* REGATTA_KEY */
	const char *config;         /* REGATTA_CONFIG */
	const char *images;         /* REGATTA_IMAGES */
	const char *config_home;    /* XDG_CONFIG_HOME */
	const char *home;           /* HOME */
	const char *path;           /* PATH */
	const char *docker_host;    /* DOCKER_HOST */
	const char *docker_tls;     /* DOCKER_TLS_VERIFY */
	const char *docker_certs;   /* DOCKER_CERT_PATH */
	const char *docker_config;  /* DOCKER_CONFIG */
	const char *no_color;       /* NO_COLOR */
	const char *folder;         /* of our own program */
};

struct connection {
	char endpoint[256];
	char server_public[KEY_TEXT_SIZE]; /* as the settings name it */
	char keys_file[PATH_MAX + 16];     /* server_keys.h; "": none is kept */
	struct key key;
};

/* EINVAL, ENOENT, EPERM say what is missing or wrong, and what to do. */
int settings_connection(const struct environment *environment,
			const struct options *options,
			struct connection *connection, struct error *err);

/* The same without a key of ours, which is left as it is. */
int settings_controller(const struct environment *environment,
			const struct options *options,
			struct connection *connection, struct error *err);

/* The configuration file and its folder, there or not. EINVAL: no home. */
int settings_file(const struct environment *environment, char path[PATH_MAX],
		  char folder[PATH_MAX], struct error *err);

/* The folder of models, frameworks and vendors, which also holds the images
 * that are built here. ENOENT: there is none.
 */
int settings_images(const struct environment *environment,
		    const struct options *options, char path[PATH_MAX],
		    struct error *err);

/* One of our own programs, by name: beside this one, in ../sbin, in $PATH
 * and the sbin folders beside its bin folders; regatta-init in ../lib/regatta.
 * ENOENT.
 */
int settings_program(const struct environment *environment, const char *name,
		     char path[PATH_MAX], struct error *err);

/* Read what a person named (a file; "-" is standard input) with at most
 * out->limit bytes. EINVAL with the reason.
 */
int read_input(const char *name, struct buffer *out, struct error *err);

#endif
