/* admin.h - what people order about nodes and keys.
 *
 * Each fills the body of the reply (protocol/message/message.h), or sets *err;
 * then nothing is changed. `by` names who orders it.
 */
#ifndef CONTROLLER_SERVER_ADMIN_H
#define CONTROLLER_SERVER_ADMIN_H

#include "controller/jobs/cluster.h"

int admin_revoke(struct cluster *cluster, const char *by,
		 const struct message_revoke *message, cJSON *body,
		 struct error *err);
int admin_drain(struct cluster *cluster, const struct message_drain *message,
		cJSON *body, struct error *err);
int admin_label(struct cluster *cluster, const struct message_label *message,
		cJSON *body, struct error *err);

#endif
