/* fetch.h - the collected files of a job, brought here.
 */
#ifndef CONTROLLER_CLI_COMMANDS_FETCH_H
#define CONTROLLER_CLI_COMMANDS_FETCH_H

#include "controller/cli/cli.h"

struct files_wanted {
	uint64_t job;
	const char *path;   /* that, or what is below it; NULL: all */
	uint64_t rank;      /* of this node alone; OPTION_NONE: of all */
	const char *folder; /* made where it is missing, once there is a file;
			       several ranks get one each, rank-N */
};

/* *files is how many collected paths there were; *refused, what was left out
 * of them, and told.
 */
int files_fetch(struct cli *cli, struct client *client,
		const struct files_wanted *wanted, size_t *files,
		size_t *refused, struct error *err);

/* What `only` names in the tar file of a collected path: the engine begins that
 * with the path's last name, and what a node sent beside it is not what was
 * asked for. Empty: the path has no name, all of it. false: what is wanted
 * (NULL: all) is not in there.
 */
bool files_choose(const char *collected, const char *wanted, char *only,
		  size_t size);

#endif
