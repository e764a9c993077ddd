/* plan_pin.h - plan --pin: a sweep whose image is a digest.
 */
#ifndef CONTROLLER_CLI_COMMANDS_PLAN_PIN_H
#define CONTROLLER_CLI_COMMANDS_PLAN_PIN_H

#include "controller/cli/input.h"

/* Print the sweep with what its image's name means on the nodes. ENOENT: no
 * node has it, or it is of no registry; EINVAL: nodes differ, or cells have
 * several images. Returns an exit code. The options begin with those of the
 * command image.
 */
int plan_pin(struct cli *cli, struct input *input, struct error *err);

#endif
