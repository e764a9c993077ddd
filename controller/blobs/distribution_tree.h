/* distribution_tree.h - decides which node gets a blob from which other
 * node.
 *
 * Pure. The controller sends a blob to one node, which passes on what it has
 * to the next one while the rest is still arriving, and so on. However many
 * nodes want it, the controller sends it once, and no node sends it more often
 * than it receives it (one that has all of it may serve two). A node that fails
 * delays only itself: those behind it get another source.
 */
#pragma once

#include "protocol/base/error.h"
#include "protocol/base/owned.h"

#include <stdbool.h>
#include <stdint.h>

/* Blobs; then the least recently used is forgotten. */
#define DISTRIBUTION_TREE_BLOBS_MAX 2048
/* Failed sources of a node; then the controller serves it. */
#define DISTRIBUTION_TREE_FAILED_MAX 3

struct distribution_tree;
struct distribution_tree *distribution_tree_new(struct error *err);
void distribution_tree_free(struct distribution_tree *distribution);
OWNED_POINTER(struct distribution_tree, distribution_tree_free)

/* The node has `length` of the blob's bytes, and needs no source. */
int distribution_tree_has(struct distribution_tree *distribution,
			  const char *hash, uint64_t bytes, const char *node,
			  uint64_t length, struct error *err);

/* Choose a source for the node, which has `length` bytes: *source is a node's
 * name (borrowed until the next call), or NULL: the controller. failed: its
 * last source, which failed, or NULL.
 */
int distribution_tree_source(struct distribution_tree *distribution,
			     const char *hash, uint64_t bytes, const char *node,
			     uint64_t length, const char *failed,
			     const char **source, struct error *err);

/* The node is not connected, or cannot serve others. */
void distribution_tree_gone(struct distribution_tree *distribution,
			    const char *node);
