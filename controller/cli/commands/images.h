/* images.h - image list, pull, build, remove, gc: the images of the nodes.
 */
#ifndef CONTROLLER_CLI_COMMANDS_IMAGES_H
#define CONTROLLER_CLI_COMMANDS_IMAGES_H

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

command_fn images_list, images_pull, images_build, images_remove, images_gc;

#endif
