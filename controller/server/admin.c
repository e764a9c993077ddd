/* admin.c - what people order about nodes and keys.
 */
#include "controller/server/admin.h"
#include "controller/access/access.h"
#include "controller/blobs/blob_service.h"
#include "controller/jobs/gang.h"
#include "controller/jobs/job.h"
#include "controller/nodes/node.h"
#include "controller/server/describe.h"
#include "protocol/wire/wire.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define REASON_MAX 200
#define JOBS_TEXT 80 /* bytes of the jobs that are named */

/* Nobody loses work by accident. */
static int check_idle(const struct cluster *cluster, const char *name,
		      struct error *err)
{
	const struct node *node = node_find(cluster, name);
	const struct task *task;
	char jobs[JOBS_TEXT] = "";
	size_t used = 0;

	if (!node || TAILQ_EMPTY(&node->tasks))
		return 0;
	TAILQ_FOREACH(task, &node->tasks, by_node)
	{
		if (used >= sizeof(jobs) - 24) {
			snprintf(jobs + used, sizeof(jobs) - used, " ...");
			break;
		}
		used += (size_t)snprintf(jobs + used, sizeof(jobs) - used,
					 "%s %" PRIu64, used ? "," : "",
					 task->job->id);
	}
	return error_set(err, EPERM,
			 "%s has tasks of job%s: 'regatta node drain %s' and "
			 "wait, or --force: then they end, and begin again "
			 "elsewhere",
			 name, jobs, name);
}

/* Its tasks can only begin again elsewhere: it is not waited for. Its session
 * ends when it was told to remove them.
 */
static int remove_node(struct cluster *cluster, const char *name, cJSON *body,
		       struct error *err)
{
	struct node *node = node_find(cluster, name);
	char why[KEY_NAME_SIZE + 20];

	if (!node)
		return 0;
	snprintf(why, sizeof(why), "%s was removed", node->name);
	if (node_remove(cluster, node, err) < 0)
		return -1;
	cJSON_AddBoolToObject(body, "reached", node->peer != NULL);
	gang_node_lost(cluster, node, why);
	cluster->recheck = true;
	return 0;
}

int admin_revoke(struct cluster *cluster, const char *by,
		 const struct message_revoke *message, cJSON *body,
		 struct error *err)
{
	bool is_node = !strcmp(message->kind, "node");

	if (!strcmp(message->name, by))
		return error_set(err, EPERM,
				 "%s is you: another operator has to do that",
				 by);
	if ((is_node && !message->force &&
	     check_idle(cluster, message->name, err) < 0) ||
	    access_revoke(cluster->access, by, message, body, err) < 0)
		return -1;
	blob_service_revoked(cluster, message->name);
	if (is_node)
		return remove_node(cluster, message->name, body, err);
	wire_server_recheck(cluster->wire);
	return 0;
}

static struct node *known_node(struct cluster *cluster, const char *name,
			       struct error *err)
{
	struct node *node = node_find(cluster, name);

	if (node && !node->removed)
		return node;
	error_set(err, ENOENT, "node '%.64s': not there", name);
	return NULL;
}

int admin_drain(struct cluster *cluster, const struct message_drain *message,
		cJSON *body, struct error *err)
{
	struct node *node = known_node(cluster, message->node, err);
	int rc;

	if (!node)
		return -1;
	if (message->reason && strlen(message->reason) > REASON_MAX)
		return error_set(err, EINVAL, "reason: longer than %d bytes",
				 REASON_MAX);
	if (message->from_ms > INT64_MAX || message->until_ms > INT64_MAX)
		return error_set(err, EINVAL, "from, until: out of range");
	rc = message->undrain
		     ? node_undrain(cluster, node, err)
		     : node_drain(cluster, node, (int64_t)message->from_ms,
				  (int64_t)message->until_ms, message->reason,
				  err);
	if (rc < 0)
		return -1;
	cJSON_AddItemToObject(body, "node", describe_node(cluster, node));
	return 0;
}

int admin_label(struct cluster *cluster, const struct message_label *message,
		cJSON *body, struct error *err)
{
	struct node *node = known_node(cluster, message->node, err);

	if (!node)
		return -1;
	if (!cJSON_IsObject(message->labels))
		return error_set(err, EINVAL, "labels: allowed is a map");
	if (node_label(cluster, node, message->labels, err) < 0)
		return -1;
	cJSON_AddItemToObject(body, "labels",
			      cJSON_Duplicate(node->labels, true));
	return 0;
}
