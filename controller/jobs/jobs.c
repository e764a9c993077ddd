/* jobs.c - the core of the controller: nodes and jobs, as their driver sees
 * them.
 */
#include "controller/jobs/jobs.h"

#include "controller/cluster/job_life.h"
#include "controller/images/image_digest.h"
#include "controller/images/logins.h"
#include "controller/jobs/adaptive_repeats.h"
#include "controller/jobs/dependencies.h"
#include "controller/jobs/gang.h"
#include "controller/jobs/job.h"
#include "controller/logs/log_ingest.h"
#include "controller/nodes/node.h"
#include "controller/store/store.h"
#include "protocol/base/log.h"

#include <inttypes.h>
#include <stdio.h>

const struct job_life job_life = {
	.advance = gang_advance,
	.event = job_event,
	.submit = job_submit,
	.exception = gang_exception,
};

int jobs_init(struct cluster *cluster, struct error *err)
{
	cluster->life = &job_life;
	TAILQ_INIT(&cluster->gangs);
	TAILQ_INIT(&cluster->due);
	TAILQ_INIT(&cluster->ended);
	cluster->queue = queue_new(err);
	return cluster->queue ? log_ingest_open(cluster, err) : -1;
}

void jobs_clear(struct cluster *cluster)
{
	job_free_all(cluster);
	image_digest_free_all(cluster);
	adaptive_repeats_free_all(cluster);
	logins_free_all(cluster);
	log_ingest_close(cluster);
	node_free_all(cluster);
	queue_free(cluster->queue);
	cluster->queue = NULL;
}

struct loading {
	struct cluster *cluster;
	struct error *err;
};

static int load_job(const struct job_row *row, void *arg)
{
	struct loading *loading = arg;

	return job_load(loading->cluster, row, loading->err);
}

int jobs_load(struct cluster *cluster, struct error *err)
{
	struct loading loading = { cluster, err };
	const struct gang *gang;

	if (logins_load(cluster, err) < 0 || node_load(cluster, err) < 0 ||
	    store_active_jobs(cluster->store, load_job, &loading, err) < 0)
		return -1;
	TAILQ_FOREACH(gang, &cluster->gangs, by_cluster)
	gang_resume(cluster, gang->job);
	return 0;
}

void jobs_settle(struct cluster *cluster)
{
	adaptive_repeats_settle(cluster);
}

void jobs_decide(struct cluster *cluster)
{
	dependencies_settle(cluster);
	if (cluster->schedule_due)
		gang_schedule(cluster);
}

bool jobs_message(struct cluster *cluster, struct node *node,
		  enum message_type type, void *body, const void *payload,
		  size_t size)
{
	struct error err;

	switch (type) {
	case MESSAGE_REPORT:
		gang_report(cluster, node, body);
		break;
	case MESSAGE_TASK:
		gang_status(cluster, node,
			    &((struct message_task *)body)->task);
		break;
	case MESSAGE_PROGRESS:
		gang_progress(cluster, node, body);
		break;
	case MESSAGE_LOG:
		log_ingest_log(cluster, node, body, payload, size);
		break;
	case MESSAGE_DISCARDED:
		gang_discarded(cluster, node, body);
		break;
	case MESSAGE_INVENTORY:
		if (node_inventory(cluster, node, body, &err) < 0)
			log_error("node=%s: %s", node->name, err.text);
		break;
	default:
		return false;
	}
	return true;
}

void jobs_node_gone(struct cluster *cluster, struct node *node)
{
	node_leave(cluster, node);
	gang_node_gone(cluster, node);
}

static void look_again(struct cluster *cluster)
{
	struct gang *gang, *next;

	for (gang = TAILQ_FIRST(&cluster->gangs); gang; gang = next) {
		next = TAILQ_NEXT(gang, by_cluster);
		gang_advance(cluster, gang->job);
	}
}

static void give_up(struct cluster *cluster, struct node *node)
{
	char why[KEY_NAME_SIZE + 60];

	snprintf(why, sizeof(why), "%s has been out of reach for %" PRIu64 " s",
		 node->name, cluster->node_lost_ms / 1000);
	gang_node_lost(cluster, node, why);
}

void jobs_tick(struct cluster *cluster)
{
	int64_t now = cluster_mono_ms(cluster);

	for (size_t i = 0; i < node_count(cluster); i++) {
		struct node *node = node_at(cluster, i);

		node_settle_drain(cluster, node, cluster_wall_ms(cluster));
		if (!node->peer && !TAILQ_EMPTY(&node->tasks) &&
		    now - node->lost_since_ms > (int64_t)cluster->node_lost_ms)
			give_up(cluster, node);
	}
	look_again(cluster);
}

void jobs_forgive(struct cluster *cluster, int64_t deaf_ms)
{
	for (size_t i = 0; i < node_count(cluster); i++)
		if (!node_at(cluster, i)->peer)
			node_at(cluster, i)->lost_since_ms += deaf_ms;
}

bool jobs_idle(const struct cluster *cluster)
{
	for (size_t i = 0; i < node_count(cluster); i++)
		if (node_at(cluster, i)->discards_count)
			return false;
	return !cluster->jobs_count;
}
