/* validation.h - measures nodes with a set, and judges them by their peers.
 */
#pragma once

#include "controller/cli/cli.h"
#include "controller/validation/acceptance.h"
#include "protocol/message/reply_nodes.h"

#include <limits.h>

#define VALIDATION_AGAIN_S 60 /* between two measurements */

struct validation {
	struct cli *cli;
	struct client *client; /* borrowed */
	uint32_t again_s;
	char file[PATH_MAX];    /* of the set */
	int64_t measured_s;     /* when the last sweep ended */
	struct strings names;   /* of the nodes */
	struct strings vendors; /* of them, each once */
	cJSON *chips;           /* by node, where all of its are one; NULL */
	cJSON *devices; /* the vendor of each node with accelerators; NULL */
	struct site_node *site; /* all nodes, by names and vendors */
	size_t site_count;
	struct pairs pairs;
	struct acceptance acceptance;
};
void validation_clear(struct validation *of);
OWNED_VALUE(struct validation, validation_clear)

/* Add a node; one that takes no job now is a note only. */
int validation_take(struct validation *of, const struct node_info *node,
		    struct error *err);

/* Add all nodes that are named, "n1,n2"; NULL: all that there are; of a set
 * that names a vendor, those of this vendor. EINVAL: none takes a job.
 */
int validation_choose(struct validation *of, const char *set, const char *names,
		      struct error *err);

/* Run a set on the nodes: quick, pairs, soak, full, or the file of one.
 * tournament: all pairs. quick also runs the set devices on the nodes that have
 * its image already; of the others a note says that they have not.
 */
int validation_run(struct validation *of, const char *set, bool tournament,
		   struct error *err);

/* Good nodes are accepted now, the others rejected: labels with the time. */
int validation_label(struct validation *of, struct error *err);
