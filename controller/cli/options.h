/* options.h - the options that several commands share.
 */
#ifndef CONTROLLER_CLI_OPTIONS_H
#define CONTROLLER_CLI_OPTIONS_H

#include "protocol/config/option.h"

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

#endif
