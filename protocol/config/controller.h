/* controller.h - the settings of regatta-controller: regatta-controller(8).
 */
#pragma once

#include "protocol/config/config.h"

/* A text is NULL if it was not given and has no default. */
struct controller_settings {
	struct config_common common;
	const char *key;
	const char *keys;
	const char *listen;
	const char *state;
	const char *images;
	const char *endpoint_file;
	bool keep_jobs;
	bool pods;
	const char *web; /* NULL: none */
	const char *web_certificate;
	const char *web_key;
	const char *web_name;
	uint64_t node_lost; /* s */
	uint64_t logs;
	uint64_t disk_free;
	uint64_t audit_rows;
	uint64_t audit_days;
	uint64_t sweep_days;
};

extern const struct config_program controller_program;
