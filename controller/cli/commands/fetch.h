/* fetch.h - downloads the collected files of a job.
 */
#pragma once

#include "controller/cli/cli.h"

struct files_wanted {
	uint64_t job;
	const char *path;   /* only this file or folder; NULL: all */
	uint64_t rank;      /* only of this node rank; OPTION_NONE: of all */
	const char *folder; /* the target; created for the first file. With
			       several ranks each gets a folder rank-N in it */
};

/* *files: the number of collected paths; *refused: the number of entries that
 * were unsafe and were skipped with a message.
 */
int files_fetch(struct cli *cli, struct client *client,
		const struct files_wanted *wanted, size_t *files,
		size_t *refused, struct error *err);

/* Set `only` to the path of the wanted files (NULL: all) inside the tar file of
 * a collected path. The entries of that tar file begin with the last name of
 * the collected path; other entries must be ignored. "": the collected path has
 * no last name, take all. False: the tar file cannot hold the wanted files.
 */
bool files_choose(const char *collected, const char *wanted, char *only,
		  size_t size);

/* An unnamed file on the disk of the folder: its descriptor. */
int fetch_temporary(const char *folder, struct error *err);
