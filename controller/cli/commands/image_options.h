/* image_options.h - the options of the command image.
 */
#ifndef CONTROLLER_CLI_COMMANDS_IMAGE_OPTIONS_H
#define CONTROLLER_CLI_COMMANDS_IMAGE_OPTIONS_H

#include "controller/cli/command.h"
#include "protocol/config/free_space.h"

struct image_options {
	struct options common;
	const char *nodes;
	const char *tag;
	uint64_t keep_images;
	struct free_space floor;
	bool dry_run;
	bool replace;
};

static inline const struct image_options *image_given(const struct cli *cli)
{
	return (const struct image_options *)cli->options;
}

#endif
