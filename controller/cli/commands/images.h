/* images.h - image list, build, remove, gc: the images of the nodes.
 */
#ifndef CONTROLLER_CLI_COMMANDS_IMAGES_H
#define CONTROLLER_CLI_COMMANDS_IMAGES_H

#include "controller/cli/commands/commands.h"

command_fn images_list, images_build, images_remove, images_gc;

#endif
