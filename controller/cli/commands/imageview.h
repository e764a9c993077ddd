/* imageview.h - an image order, and what people see while nodes do it.
 *
 * On a terminal a line at the foot says how far all nodes are; what nodes print
 * scrolls above it, with the node's name in front.
 */
#ifndef CONTROLLER_CLI_COMMANDS_IMAGEVIEW_H
#define CONTROLLER_CLI_COMMANDS_IMAGEVIEW_H

#include "controller/cli/cli.h"
#include "controller/cli/display.h"
#include "protocol/blob/blob_store.h"
#include "protocol/message/reply_images.h"

struct image_view {
	struct cli *cli;
	struct display *display; /* NULL: no terminal */
	int64_t drawn_ms, began_ms;
	uint64_t began_at;
	const char *what; /* of the stage */
	/* What is seen of the order while nodes are at it, instead of a line of
	 * bytes; NULL: that line.
	 */
	void (*draw)(struct image_view *view,
		     const struct image_order_info *image);
	bool interrupted;
	bool lost; /* the controller was, meanwhile */
	struct client *client;
	struct interrupts interrupts;
	sd_event_source *timer;
	struct image_line {
		char *node;
		struct buffer text; /* of a line that did not end yet */
	} * lines;
	size_t lines_count;
	struct strings named;       /* by --nodes; none: all */
	const struct strings *only; /* nodes to order it for, borrowed; NULL:
				       those named */
	struct strings nodes; /* whose order it is, others' are not shown */
};

int image_view_init(struct image_view *view, struct cli *cli,
		    struct error *err);
void image_view_clear(struct image_view *view);
OWNED_VALUE(struct image_view, image_view_clear)

void image_view_stage(struct image_view *view, const char *what);
void image_view_say(struct image_view *view, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* "[###.......] sending 35%, 20s left, 1.2 GiB of 3.4 GiB, 110 MiB/s". A
 * blob_transfer_progress_fn and an image_file_progress_fn; arg: the view.
 */
void image_view_draw(void *arg, uint64_t bytes, uint64_t total);

/* Connect, patiently, unless that is done. From now on Ctrl-C ends waiting. */
int image_view_connect(struct image_view *view, struct error *err);

/* A name for an order: random, or the same for the same two texts. */
void image_order_name(char name[CONTENT_HASH_SIZE]);
void image_order_named(char name[CONTENT_HASH_SIZE], const char *a,
		       const char *b);

/* Send the order (or, what "list", the request) for view->only, or the nodes
 * named.
 */
int image_view_send(struct image_view *view,
		    struct message_image_order *message, struct error *err);

/* Wait until all nodes of the order are done, or those that are not are out of
 * reach. answer: what the query "image" said last. EINTR: it goes on there. A
 * controller that is started anew does not know what was done by then: an order
 * to load, build or pull is given again, as nodes then say at once that they
 * have it.
 */
int image_view_watch(struct image_view *view,
		     struct message_image_order *message, struct answer *answer,
		     struct error *err);

/* Both. */
int image_view_order(struct image_view *view,
		     struct message_image_order *message, struct answer *answer,
		     struct error *err);

/* What such an answer tells of the order. */
struct image_order_info *image_answer(const struct answer *answer);

bool image_node_ready(const struct image_node *node);
/* "ready" or "failed". */
bool image_node_final(const struct image_node *node);
const char *image_node_text(const struct image_node *node); /* or "" */

/* How many nodes are not ready. What those say is told in words, `away` of
 * those that are out of reach; with `made`, so is what the others have now.
 */
size_t image_view_tell(struct image_view *view,
		       const struct image_order_info *image, bool made,
		       const char *away);

/* The order's end: as JSON where that is asked for. Returns the exit code. */
int image_view_end(struct image_view *view,
		   const struct image_order_info *image, int code,
		   struct error *err);

#endif
