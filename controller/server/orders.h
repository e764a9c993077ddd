/* orders.h - what people order: sweeps submitted, cancelled, tried again.
 *
 * Each returns the body of the reply (protocol/message/message.h), which the
 * caller deletes, or NULL with *err set: then nothing is changed, whichever job
 * it was that failed. `by` names who orders it, for the log and the sweep's
 * record.
 */
#ifndef CONTROLLER_SERVER_ORDERS_H
#define CONTROLLER_SERVER_ORDERS_H

#include "controller/jobs/cluster.h"

#define ORDER_JOBS_MAX 100000       /* in one sweep */
#define ORDER_BYTES_MAX (160 << 20) /* of the specs of one sweep */

cJSON *order_submit(struct cluster *cluster, const char *by,
		    const struct message_submit *message, const void *payload,
		    size_t size, struct error *err);
cJSON *order_cancel(struct cluster *cluster, const char *by,
		    const struct message_cancel *message, struct error *err);
cJSON *order_retry(struct cluster *cluster, const char *by,
		   const struct message_retry *message, struct error *err);

#endif
