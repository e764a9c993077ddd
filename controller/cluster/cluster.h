/* cluster.h - where the modules of a controller find each other.
 *
 * The state in memory is what follows from the events so far. A change is made
 * here and put into the store's queue in the same step; the messages that act
 * on it wait in the wire's queue. At the end of every turn of the loop the
 * store commits, and only then the wire sends (controller.c): what was told to
 * anybody is never forgotten.
 */
#ifndef CONTROLLER_CLUSTER_CLUSTER_H
#define CONTROLLER_CLUSTER_CLUSTER_H

#include "controller/cluster/effects.h"
#include "controller/cluster/news.h"
#include "controller/cluster/retention_limits.h"

#include <stdbool.h>
#include <sys/queue.h>

struct access;
struct artifact_fetches;
struct backups;
struct blob_service;
struct catalog;
struct counters;
struct failure_patterns;
struct gang;
struct image_rollouts;
struct job;
struct job_life;
struct key;
struct keyring;
struct log_ingest;
struct log_store;
struct logins;
struct node;
struct nodes;
struct parked;
struct queue;
struct retention;
struct sd_event;
struct sd_event_source;
struct store;
struct trial;
struct wire_peer;
struct wire_server;

struct cluster {
	const struct job_life *life; /* job_life.h */
	const struct job_effects *effects;
	void *world; /* their argument */
	struct sd_event *loop;
	const struct key *key; /* the controller's own */
	struct store *store;
	struct log_store *logs;
	struct blob_service *blobs;
	struct image_rollouts *carries;
	struct artifact_fetches
		*fetches; /* controller/blobs/artifact_fetch.h */
	struct catalog *catalog;
	struct failure_patterns *failures; /* NULL: no reasons are read */
	struct wire_server *wire;
	struct keyring *keyring;
	struct access *access;
	struct backups *backups;
	uint64_t node_lost_ms;
	struct keep keep;
	struct retention *retention; /* controller/retention/retention.h */
	struct nodes *nodes;         /* controller/nodes/node.h */
	void *jobs;                  /* tsearch(3) tree by id */
	size_t jobs_count;
	TAILQ_HEAD(, gang) gangs; /* of the jobs that are not queued */
	struct queue *queue;
	bool schedule_due;
	TAILQ_HEAD(, job) due;    /* queued, but they go after others */
	int64_t next_deadline_ms; /* of a gang; monotonic; 0: none */
	struct sd_event_source *settler, *deadline; /* of effects.c */
	void *needs;         /* tsearch(3) tree (image_references.h) */
	void *pins;          /* tsearch(3) tree (image_digest.h) */
	size_t pins_waiting; /* tasks that wait for one */
	struct logins *logins;
	void *trials; /* tsearch(3) tree (adaptive_repeats.h) */
	TAILQ_HEAD(, trial) ended;
	bool draining;             /* nothing new is begun */
	struct log_ingest *ingest; /* controller/logs/log_ingest.h */
	struct sd_event_source *reader;
	TAILQ_HEAD(, parked) parked;
	size_t parked_count;
	uint64_t progress_seq; /* counts changes that are no events */
	bool recheck;       /* keys, once this turn's messages have gone out */
	struct counters *counters; /* controller/web/counters.h */
	struct news news;   /* that a parked request may wait for */
	int64_t refused_ms; /* monotonic; last refused peer in the audit */
	bool disk_full;     /* of the store; said so in the log already */
};

static inline int64_t cluster_wall_ms(const struct cluster *cluster)
{
	return cluster->effects->wall_ms(cluster->world);
}

static inline int64_t cluster_mono_ms(const struct cluster *cluster)
{
	return cluster->effects->mono_ms(cluster->world);
}

#endif
