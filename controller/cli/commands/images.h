/* images.h - the commands image list, pull, build, remove and gc.
 */
#ifndef CONTROLLER_CLI_COMMANDS_IMAGES_H
#define CONTROLLER_CLI_COMMANDS_IMAGES_H

#include "controller/cli/command.h"
#include "controller/cli/commands/imageview.h"
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

command_fn images_list, images_pull, images_build, images_remove, images_gc;

/* Ask the nodes with these names for their images (NULL: all nodes). */
int images_ask(struct image_view *view, struct cli *cli, const char *nodes,
	       struct answer *answer, struct error *err);

#endif
