/* distribution_tree.h - decides which node gets a content from which other
 * node.
 *
 * Pure. The controller gives a content to one node, which passes on what it
 * has to the next one while the rest is still coming, and so on: however many
 * nodes want it, the controller sends it once, no node sends it more often
 * than it receives it (one that has all of it may give to two), and all are
 * ready soon after the first. Whoever fails delays only itself: those behind it
 * are put behind another.
 */
#ifndef CONTROLLER_BLOBS_DISTRIBUTION_TREE_H
#define CONTROLLER_BLOBS_DISTRIBUTION_TREE_H

#include "protocol/base/error.h"
#include "protocol/base/owned.h"

#include <stdbool.h>
#include <stdint.h>

#define DISTRIBUTION_TREE_CONTENTS_MAX                                         \
	2048 /* those unused longest are forgotten */
#define DISTRIBUTION_TREE_FAILED_MAX                                           \
	3 /* nodes in vain; then the controller itself gives                   \
	   */

struct distribution_tree;
struct distribution_tree *distribution_tree_new(struct error *err);
void distribution_tree_free(struct distribution_tree *distribution);
OWNED_POINTER(struct distribution_tree, distribution_tree_free)

/* The node has `length` of the content's bytes, and wants no advice. */
int distribution_tree_has(struct distribution_tree *distribution,
			  const char *hash, uint64_t bytes, const char *node,
			  uint64_t length, struct error *err);

/* Whom the node, which has `length` bytes, is to ask: *source is a node's name
 * (borrowed until the next call), or NULL: the controller. failed: whom it
 * asked in vain, or NULL.
 */
int distribution_tree_source(struct distribution_tree *distribution,
			     const char *hash, uint64_t bytes, const char *node,
			     uint64_t length, const char *failed,
			     const char **source, struct error *err);

/* The node is out of reach, or cannot give. */
void distribution_tree_gone(struct distribution_tree *distribution,
			    const char *node);

#endif
