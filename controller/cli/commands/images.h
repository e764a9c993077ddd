/* images.h - the commands image list, pull, build, remove and gc, and what they
 * share: an image operation that is begun, with its progress (imageview.c).
 *
 * On a terminal the last line shows how many nodes are ready, and the progress
 * of the one that has most left. What is said, and the output of nodes with
 * their names in front, are plain lines above it.
 */
#pragma once

#include "controller/cli/cli.h"
#include "controller/cli/command.h"
#include "protocol/blob/blob_store.h"
#include "protocol/config/free_space.h"
#include "protocol/message/reply_images.h"

struct image_options {
	struct options common;
	const char *nodes;
	const char *tag;
	uint64_t keep_images;
	struct free_space floor;
	bool dry_run;
	bool replace;
};

command_fn images_list, images_pull, images_build, images_remove, images_gc;

struct image_view {
	struct cli *cli;
	bool drawn; /* the last line of the terminal shows progress */
	int64_t drawn_ms, began_ms;
	uint64_t began_at;
	const char *what; /* of the stage */
	bool interrupted;
	bool lost; /* the connection was lost meanwhile */
	struct client *client;
	bool lent; /* the client, which had a session; set by the owner */
	struct interrupts interrupts;
	sd_event_source *timer;
	struct strings named;       /* nodes of --nodes; empty: all */
	const struct strings *only; /* its nodes, borrowed; NULL: `named` */
	struct strings nodes; /* nodes of the operation; others are not shown */
	char id[BLOB_HASH_SIZE]; /* that image_view_run() made */
};

/* nodes: names separated by commas; NULL: all nodes. EINVAL: no name. */
int image_view_init(struct image_view *view, struct cli *cli, const char *nodes,
		    struct error *err);
void image_view_clear(struct image_view *view);
OWNED_VALUE(struct image_view, image_view_clear)

void image_view_stage(struct image_view *view, const char *what);
/* Remove the line of progress. */
void image_view_hide(struct image_view *view);
void image_view_say(struct image_view *view, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* "[###.......] sending 35%, 20s left, 1.2 GiB of 3.4 GiB, 110 MiB/s". A
 * blob_transfer_progress_fn and an image_file_progress_fn; arg: the view.
 */
void image_view_draw(void *arg, uint64_t bytes, uint64_t total);

/* Connect with a patient client, if not connected. From now on Ctrl-C ends
 * waiting.
 */
int image_view_connect(struct image_view *view, struct error *err);

/* Make an id from two texts: the same texts name the same operation. */
void image_operation_named(char id[BLOB_HASH_SIZE], const char *a,
			   const char *b);

/* Begin the operation on the nodes of `only` or `named`, or, when it was begun
 * already, again on the same ones.
 */
int image_view_send(struct image_view *view, struct image_spec *spec,
		    struct error *err);

/* Wait until all its nodes are done or failed. answer: the last answer of the
 * query "image". EINTR: stopped waiting; the operation continues on the nodes.
 * A restarted controller knows no operation. Then it is begun again, to ensure
 * or to load; nodes that are done report it at once.
 */
int image_view_watch(struct image_view *view, struct image_spec *spec,
		     struct answer *answer, struct error *err);

/* A new operation: image_view_send(), then image_view_watch(). Without an id it
 * gets a random one.
 */
int image_view_run(struct image_view *view, struct image_spec *spec,
		   struct answer *answer, struct error *err);

/* The operation in such an answer. */
struct image_operation_info *image_answer(const struct answer *answer);

bool image_node_ready(const struct image_node *node);
/* "ready" or "failed". */
const char *image_node_text(const struct image_node *node); /* or "" */

/* Returns how many nodes are not ready, and prints why. With `made` also prints
 * the images that the other nodes have now.
 */
size_t image_view_tell(struct image_view *view,
		       const struct image_operation_info *image, bool made);

/* Print the final state as JSON if --format says so. Returns `code`. */
int image_view_end(struct image_view *view,
		   const struct image_operation_info *image, int code,
		   struct error *err);

/* Is it the image of this name, NAME[:TAG] or NAME@DIGEST? */
bool image_info_is(const struct image_info *image, const char *name);

/* Ask the nodes with these names for their images (NULL: all nodes). The view
 * is empty, but for a client that is lent.
 */
int images_ask(struct image_view *view, struct cli *cli, const char *nodes,
	       struct answer *answer, struct error *err);
