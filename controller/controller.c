/* controller.c - owns the cluster: store, wire, timers, and the turn of the
 * loop in which what was decided is committed before it is told.
 */
#include "controller/controller.h"
#include "controller/access/access.h"
#include "controller/api/backups.h"
#include "controller/api/server.h"
#include "controller/blobs/artifact_fetch.h"
#include "controller/blobs/blob_service.h"
#include "controller/catalog/catalog.h"
#include "controller/causes/failure_patterns.h"
#include "controller/cluster/cluster.h"
#include "controller/effects.h"
#include "controller/gang_relay.h"
#include "controller/images/image_progress.h"
#include "controller/images/image_rollout.h"
#include "controller/images/logins.h"
#include "controller/jobs/gang.h"
#include "controller/jobs/job.h"
#include "controller/jobs/jobs.h"
#include "controller/logs/log_ingest.h"
#include "controller/logs/log_store.h"
#include "controller/nodes/node.h"
#include "controller/retention/retention.h"
#include "protocol/base/file.h"
#include "protocol/base/log.h"
#include "protocol/base/loop.h"
#include "protocol/wire/wire.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-daemon.h>

#define TICK_MS 500
#define STALL_RETRY_MS 500 /* when the store cannot commit */
#define DEAF_MS 2000       /* between ticks; less is only a busy machine */
#define DRAIN_MS 60000

struct controller {
	struct cluster cluster;
	struct key key;
	sd_event_source *turn, *tick, *stalled;
	bool is_stalled; /* nothing is heard or said until a commit works */
	int64_t ticked_ms;
	int64_t drain_until_ms;
	char status[80]; /* as systemd was told */
};

/* The turn. */

/* The turn that follows tries to commit again. */
static int stalled_run(sd_event_source *source, uint64_t usec, void *arg)
{
	struct controller *controller = arg;

	controller->is_stalled = false;
	return 0;
}

static bool commit(struct controller *controller)
{
	struct cluster *cluster = &controller->cluster;
	struct error err;

	if (controller->is_stalled)
		return false;
	if (!store_pending(cluster->store, NULL))
		return true;
	if (store_commit(cluster->store, &err) == 0) {
		if (cluster->disk_full)
			log_info("the store works again");
		cluster->disk_full = false;
		wire_server_pause(cluster->wire, false);
		return true;
	}
	if (err.code == EINVAL) {
		/* Our own bug: trying again cannot help. What is on disk is
		 * whole, so the next controller goes on from there. */
		log_error("%s", err.text);
		sd_event_exit(cluster->loop, 1);
		return false;
	}
	if (!cluster->disk_full)
		log_error("%s; nothing goes on until that works", err.text);
	cluster->disk_full = true;
	controller->is_stalled = true;
	wire_server_pause(cluster->wire, true);
	loop_timer(cluster->loop, &controller->stalled, STALL_RETRY_MS,
		   stalled_run, controller, NULL);
	return false;
}

/* After every other source of the loop. */
static int turn_run(sd_event_source *source, void *arg)
{
	struct controller *controller = arg;
	struct cluster *cluster = &controller->cluster;

	jobs_settle(cluster);
	if (!commit(controller))
		return 0;
	jobs_decide(cluster);
	jobs_settle(cluster);
	if (!commit(controller))
		return 0;
	logins_settle(cluster);
	if (news_any(&cluster->news))
		server_wake(cluster);
	wire_server_flush(cluster->wire);
	if (cluster->recheck)
		wire_server_recheck(cluster->wire);
	cluster->recheck = false;
	return 0;
}

/* The wire. */

static void node_gone(struct cluster *cluster, struct node *node)
{
	jobs_node_gone(cluster, node);
	blob_service_gone(cluster, node);
	artifact_fetch_gone(cluster, node);
}

static void join(struct cluster *cluster, struct wire_peer *peer,
		 struct message_hello *hello)
{
	struct error err;
	struct node *node = node_get(cluster, wire_peer_name(peer), &err);
	struct wire_peer *old = node ? node->peer : NULL;

	if (access_check_machine(cluster->access, wire_peer_public(peer),
				 hello->machine, &err) < 0 ||
	    (node && node_check_machine(node, wire_peer_public(peer),
					hello->machine, &err) < 0)) {
		wire_server_refuse(peer, err.code, err.text);
		return;
	}
	if (node && node_taken(node, hello) && wire_peer_alive(node->peer)) {
		wire_server_refuse(peer, EBUSY,
				   "another agent with the same key is here: "
				   "each node needs a key of its own");
		return;
	}
	if (old) {
		/* The newest session of an agent counts. */
		wire_peer_set_data(old, NULL);
		node_gone(cluster, node);
	}
	if (!node || node_join(cluster, node, peer, wire_peer_public(peer),
			       hello, &err) < 0) {
		/* Nobody must speak to it any more. */
		if (node && node->peer)
			node_leave(cluster, node);
		wire_server_drop(peer, err.code, err.text);
		return;
	}
	wire_peer_set_data(peer, node);
	log_info("node=%s joined: %s, %u device(s), %s", node->name,
		 hello->vendor, hello->devices, hello->software);
}

static void welcome(struct cluster *cluster, struct wire_peer *peer,
		    struct message_hello *hello)
{
	struct message_welcome message = {
		.version = PROTOCOL_VERSION,
		.heartbeat_ms = WIRE_HEARTBEAT_MS,
		.credit_bytes = LOG_INGEST_CREDIT,
		.time_ms = (uint64_t)clock_wall_ms(),
	};

	/* Before join(), which may drop the peer. */
	wire_server_send(peer, MESSAGE_WELCOME, &message, NULL, 0, NULL);
	if (wire_peer_role(peer) == ROLE_AGENT)
		join(cluster, peer, hello);
}

static void from_agent(struct cluster *cluster, struct node *node,
		       enum message_type type, void *body, const void *payload,
		       size_t size)
{
	struct message_resync resync = { 0 };

	if (jobs_message(cluster, node, type, body, payload, size)) {
		if (type == MESSAGE_REPORT)
			image_rollout_report(cluster, node);
		return;
	}
	switch (type) {
	case MESSAGE_CONTENT_WANT:
		blob_service_want(cluster, node, body);
		break;
	case MESSAGE_IMAGE_STATE:
		image_rollout_state(cluster, node, body);
		break;
	case MESSAGE_IMAGE_ROOM:
		image_rollout_room(cluster, node, body);
		break;
	case MESSAGE_CONTENT_PIECE:
		artifact_fetch_piece(cluster, node, body, payload, size);
		break;
	case MESSAGE_CONTENT_READ:
		blob_service_read(cluster, node, body);
		break;
	case MESSAGE_COMMAND:
		gang_relay_command(cluster, node, body, payload, size);
		break;
	case MESSAGE_COMMAND_ANSWER:
		gang_relay_answer(cluster, node, body, payload, size);
		break;
	case MESSAGE_HEARTBEAT:
		/* It missed something: begin again with a report. */
		if (node->peer && wire_peer_lagged(node->peer))
			wire_server_send(node->peer, MESSAGE_RESYNC, &resync,
					 NULL, 0, NULL);
		break;
	default:
		break;
	}
}

static void on_message(void *arg, struct wire_peer *peer,
		       enum message_type type, void *body, const void *payload,
		       size_t size)
{
	struct cluster *cluster = arg;
	struct node *node = wire_peer_data(peer);

	if (type == MESSAGE_HELLO) {
		welcome(cluster, peer, body);
	} else if (wire_peer_role(peer) != ROLE_AGENT) {
		server_request(cluster, peer, type, body, payload, size);
	} else if (node) {
		node->seen_ms = clock_wall_ms();
		from_agent(cluster, node, type, body, payload, size);
	}
}

static void on_gone(void *arg, struct wire_peer *peer, const char *why)
{
	struct cluster *cluster = arg;
	struct node *node = wire_peer_data(peer);

	server_forget(cluster, peer);
	blob_service_sender_gone(cluster, peer);
	if (!node || node->peer != peer)
		return;
	log_warning("node=%s out of reach: %s", node->name, why);
	node_gone(cluster, node);
}

/* The log has each line of them, the audit log one a second at most, so that
 * nobody can drive the orders out of it.
 */
static void on_refused(void *arg, const char *who, const char *why)
{
	struct cluster *cluster = arg;
	const struct audit_row row = {
		.time_ms = clock_wall_ms(),
		.who = who,
		.role = "-",
		.address = "-",
		.act = "connect",
		.request = "{}",
		.refusal = why,
	};
	struct error err;

	log_warning("refused %s: %s", who, why);
	if (clock_mono_ms() - cluster->refused_ms < 1000)
		return;
	cluster->refused_ms = clock_mono_ms();
	if (store_put_audit(cluster->store, &row, &err) < 0)
		log_error("audit: %s", err.text);
}

/* Every half second. */

/* What systemctl status shows. */
static void tell_status(struct controller *controller)
{
	const struct cluster *cluster = &controller->cluster;
	char status[sizeof(controller->status)];
	size_t up = 0;

	for (size_t i = 0; i < node_count(cluster); i++)
		up += node_at(cluster, i)->peer != NULL;
	snprintf(status, sizeof(status),
		 "STATUS=%zu of %zu nodes in reach, %zu jobs", up,
		 node_count(cluster), (size_t)cluster->jobs_count);
	if (!strcmp(status, controller->status))
		return;
	memcpy(controller->status, status, sizeof(status));
	sd_notify(0, status);
}

/* While this process was stopped, or waited for its disk, it heard nobody: that
 * time counts against nobody.
 */
static void forgive(struct controller *controller, int64_t now)
{
	struct cluster *cluster = &controller->cluster;
	int64_t deaf_ms = now - controller->ticked_ms;

	controller->ticked_ms = now;
	if (deaf_ms < DEAF_MS)
		return;
	jobs_forgive(cluster, deaf_ms);
	artifact_fetch_forgive(cluster, deaf_ms);
}

static int tick_run(sd_event_source *source, uint64_t usec, void *arg)
{
	struct controller *controller = arg;
	struct cluster *cluster = &controller->cluster;
	int64_t now = clock_mono_ms();

	loop_timer(cluster->loop, &controller->tick, TICK_MS, tick_run,
		   controller, NULL);
	if (controller->is_stalled)
		return 0;
	forgive(controller, now);
	jobs_tick(cluster);
	tell_status(controller);
	blob_service_tick(cluster);
	artifact_fetch_tick(cluster);
	image_rollout_tick(cluster);
	image_progress_tick(cluster);
	cluster->news.tick = true; /* parked requests may be out of time */
	if (cluster->draining &&
	    (jobs_idle(cluster) || now > controller->drain_until_ms))
		sd_event_exit(cluster->loop, 0);
	return 0;
}

static void cancel_one(struct cluster *cluster, struct job *job, void *arg)
{
	gang_exception(cluster, job, FAILURE_CANCELLED, 0,
		       "the controller was told to end");
}

void controller_drain(struct controller *controller)
{
	struct cluster *cluster = &controller->cluster;

	if (cluster->draining)
		return;
	log_info("ending: all jobs are cancelled");
	cluster->draining = true;
	controller->drain_until_ms = clock_mono_ms() + DRAIN_MS;
	job_each(cluster, cancel_one, NULL);
}

/* Making and unmaking. */

/* A folder of images need not say what failures look like. */
static int open_failures(struct cluster *cluster, const char *images,
			 struct error *err)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/failures.yaml", images);
	if (access(path, F_OK) < 0 && errno == ENOENT)
		return 0;
	cluster->failures = failure_patterns_read(path, err);
	return cluster->failures ? 0 : -1;
}

static int open_state(struct cluster *cluster,
		      const struct controller_config *config, struct error *err)
{
	if (file_make_folders(config->state, 0700, err) < 0)
		return -1;
	cluster->catalog = catalog_load(config->images, err);
	if (!cluster->catalog ||
	    open_failures(cluster, config->images, err) < 0)
		return -1;
	cluster->store = store_new(config->state, err);
	if (!cluster->store)
		return -1;
	cluster->logs = log_store_new(config->state, err);
	if (!cluster->logs)
		return -1;
	cluster->backups = backups_new(cluster->loop, config->state, err);
	if (!cluster->backups)
		return -1;
	if (blob_service_open(cluster, config->state, err) < 0 ||
	    artifact_fetch_open(cluster, err) < 0 ||
	    image_rollout_open(cluster, config->state, err) < 0)
		return -1;
	if (jobs_load(cluster, err) < 0)
		return -1;
	if (cluster->jobs_count)
		log_info("%zu job(s) taken up", cluster->jobs_count);
	return retention_open(cluster, config->state, err);
}

static int open_wire(struct cluster *cluster,
		     const struct controller_config *config, struct error *err)
{
	static const struct wire_server_handler handler = {
		.message = on_message,
		.gone = on_gone,
		.refused = on_refused,
	};

	cluster->keyring = keyring_new(config->keys, err);
	if (!cluster->keyring)
		return -1;
	cluster->access = access_new(cluster->store, cluster->keyring, err);
	if (!cluster->access)
		return -1;
	cluster->wire =
		wire_server_new(cluster->loop, &config->key, cluster->keyring,
				&handler, cluster, err);
	if (!cluster->wire)
		return -1;
	return wire_server_bind(cluster->wire, config->listen, err);
}

struct controller *controller_new(sd_event *loop,
				  const struct controller_config *config,
				  struct error *err)
{
	owned(controller_free) struct controller *controller =
		calloc(1, sizeof(*controller));
	struct cluster *cluster;
	int rc;

	if (!controller) {
		error_nomem(err, "controller");
		return NULL;
	}
	cluster = &controller->cluster;
	TAILQ_INIT(&cluster->parked);
	cluster->loop = sd_event_ref(loop);
	controller->key = config->key;
	cluster->key = &controller->key;
	cluster->node_lost_ms = config->node_lost_ms;
	controller->ticked_ms = clock_mono_ms();
	cluster->keep = config->keep;
	effects_connect(cluster);
	if (jobs_init(cluster, err) < 0 ||
	    open_state(cluster, config, err) < 0 ||
	    open_wire(cluster, config, err) < 0 ||
	    loop_timer(loop, &controller->tick, TICK_MS, tick_run, controller,
		       err) < 0)
		return NULL;
	rc = sd_event_add_post(loop, &controller->turn, turn_run, controller);
	if (rc < 0) {
		error_set(err, -rc, "event loop: no turn");
		return NULL;
	}
	return take(controller);
}

size_t controller_jobs(const struct controller *controller)
{
	return controller->cluster.jobs_count;
}

void controller_free(struct controller *controller)
{
	struct cluster *cluster;

	if (!controller)
		return;
	cluster = &controller->cluster;
	loop_source_free(&controller->turn);
	loop_source_free(&controller->tick);
	loop_source_free(&controller->stalled);
	effects_disconnect(cluster);
	if (cluster->store)
		store_commit(cluster->store, NULL);
	server_forget(cluster, NULL);
	if (cluster->wire)
		wire_server_flush(cluster->wire);
	wire_server_free(cluster->wire);
	retention_close(cluster);
	backups_free(cluster->backups);
	access_free(cluster->access);
	keyring_free(cluster->keyring);
	jobs_clear(cluster);
	image_rollout_close(cluster);
	artifact_fetch_close(cluster);
	blob_service_close(cluster);
	log_store_free(cluster->logs);
	store_free(cluster->store);
	failure_patterns_free(cluster->failures);
	catalog_free(cluster->catalog);
	sd_event_unref(cluster->loop);
	explicit_bzero(&controller->key, sizeof(controller->key));
	free(controller);
}

const char *controller_endpoint(const struct controller *controller)
{
	return wire_server_endpoint(controller->cluster.wire);
}
