/* effects.h - the world as the daemon gives it to jobs and nodes.
 *
 * Time and turns come from the event loop, commands go through the wire, rows
 * into the store's queue, output into the log store.
 */
#ifndef CONTROLLER_EFFECTS_H
#define CONTROLLER_EFFECTS_H

struct cluster;

/* Needs cluster->loop, store, logs, and content as far as they are used. */
void effects_connect(struct cluster *cluster);
/* Before the loop is given up. */
void effects_disconnect(struct cluster *cluster);

#endif
