/* images.h - image list, pull, build, remove, gc: the images of the nodes.
 */
#ifndef CONTROLLER_CLI_COMMANDS_IMAGES_H
#define CONTROLLER_CLI_COMMANDS_IMAGES_H

#include "controller/cli/command.h"

command_fn images_list, images_pull, images_build, images_remove, images_gc;

#endif
