/* plan_pin.h - plan --pin: replaces the image of a sweep by its digest.
 */
#ifndef CONTROLLER_CLI_COMMANDS_PLAN_PIN_H
#define CONTROLLER_CLI_COMMANDS_PLAN_PIN_H

#include "controller/cli/input.h"

/* Print the sweep with the digest that its image has on the nodes. ENOENT: no
 * node has the image, or it is of no registry; EINVAL: nodes have different
 * digests, or the cells have several images. Returns an exit code.
 */
int plan_pin(struct cli *cli, struct input *input, struct error *err);

#endif
