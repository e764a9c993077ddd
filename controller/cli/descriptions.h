/* descriptions.h - files of the images folder that go with a sweep.
 */
#ifndef CONTROLLER_CLI_DESCRIPTIONS_H
#define CONTROLLER_CLI_DESCRIPTIONS_H

#include "controller/cli/cli.h"
#include "controller/cli/input.h"

/* Make what the sweep names and the controller lacks, or has otherwise, part
 * of the sweep's text: frameworks, models and vendors of the catalog that it
 * was checked by. They are named on stderr. Without a catalog: nothing.
 */
int descriptions_add(struct input *input, struct cli *cli,
		     struct client *client, struct error *err);

#endif
