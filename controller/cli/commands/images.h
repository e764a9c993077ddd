/* images.h - the commands image list, pull, build, remove and gc.
 */
#ifndef CONTROLLER_CLI_COMMANDS_IMAGES_H
#define CONTROLLER_CLI_COMMANDS_IMAGES_H

#include "controller/cli/command.h"
#include "controller/cli/commands/imageview.h"

command_fn images_list, images_pull, images_build, images_remove, images_gc;

/* Ask for the images of the nodes of --nodes, or of all. */
int images_ask(struct image_view *view, struct cli *cli, struct answer *answer,
	       struct error *err);

#endif
