/* descriptions.h - adds descriptions of the local images folder to a sweep.
 */
#ifndef CONTROLLER_CLI_DESCRIPTIONS_H
#define CONTROLLER_CLI_DESCRIPTIONS_H

#include "controller/cli/cli.h"
#include "controller/cli/input.h"

/* Add the frameworks, models and vendors that the sweep uses to its text, if
 * the controller does not have the same ones. They come from the catalog that
 * checked the sweep, and are named on stderr. Without a catalog nothing is
 * added.
 */
int descriptions_add(struct input *input, struct cli *cli,
		     struct client *client, struct error *err);

#endif
