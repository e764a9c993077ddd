/* settings.h - finds the controller, the user's key and the installed parts.
 *
 * A setting comes from the first of these that has it: the option, the
 * environment, the configuration file, the default. The configuration file is
 * $REGATTA_CONFIG, else regatta/config.yaml in $XDG_CONFIG_HOME or ~/.config,
 * else the operator.yaml of this machine's services, if the user may read it.
 *
 *	controller: tcp://HOST:7117
 *	controller_key: "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"
 *	key: /home/me/.config/regatta/key
 *
 * controller_key is a public key or a file with one. Relative paths in the file
 * are relative to its folder.
 */
#pragma once

#include "protocol/base/buffer.h"
#include "protocol/config/option.h"
#include "protocol/wire/key.h"

#include <errno.h>
#include <limits.h>

/* The options that several commands share. */

#define OPTION_NONE UINT64_MAX /* a number that was not given */

/* The default file of --registry-auth. */
#define REGISTRY_AUTH_DOCKER "~/.docker/config.json"

/* Texts are borrowed from argv or from the table; NULL: not given. */
struct options {
	bool help;
	bool version;
	const char *controller;
	const char *controller_key;
	const char *key;
	const char *format;
	const char *state;
	const char *images;
	const char *registry_auth;
	const char *tree;
	bool keep_going;
	struct option_list set;
};

/* Environment variables, read by main(). NULL: not set. */
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
	const char *folder;         /* the folder of this program */
};

struct connection {
	char endpoint[256];
	char server_public[KEY_TEXT_SIZE]; /* the controller's public key */
	char keys_file[PATH_MAX + 16];     /* server_keys.h; "": none */
	struct key key;
};

/* No controller is set at all; an errno value. */
#define SETTINGS_NO_CONTROLLER EDESTADDRREQ

/* Find controller and key. EINVAL, ENOENT, EPERM: the text says what is missing
 * or wrong, and what to do.
 */
int settings_connection(const struct environment *environment,
			const struct options *options,
			struct connection *connection, struct error *err);

/* The same without the user's key, which stays unchanged. */
int settings_controller(const struct environment *environment,
			const struct options *options,
			struct connection *connection, struct error *err);

/* Replace the controller's public key by the newest one in the file of known
 * keys.
 */
int settings_newest_key(struct connection *connection, struct error *err);

/* The configuration file and its folder; they need not exist. EINVAL: HOME is
 * not set.
 */
int settings_file(const struct environment *environment, char path[PATH_MAX],
		  char folder[PATH_MAX], struct error *err);

/* The folder of models, frameworks and vendors, and of images to build. ENOENT:
 * there is none.
 */
int settings_images(const struct environment *environment,
		    const struct options *options, char path[PATH_MAX],
		    struct error *err);

/* Find a program of Regatta by name: beside this program, in ../sbin, in $PATH
 * and in the sbin folders beside its bin folders; regatta-init in
 * ../lib/regatta. ENOENT.
 */
int settings_program(const struct environment *environment, const char *name,
		     char path[PATH_MAX], struct error *err);

/* Read a file ("-": standard input) of at most out->limit bytes. EINVAL: the
 * text says why it cannot be read.
 */
int read_input(const char *name, struct buffer *out, struct error *err);
