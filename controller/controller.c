/* controller.c - owns store, wire, timers and jobs, and runs the turn of the
 * loop: what was decided is committed before messages about it are sent.
 */
#include "controller/controller.h"
#include "controller/access/access.h"
#include "controller/access/controller_key.h"
#include "controller/access/key_rotation.h"
#include "controller/api/backups.h"
#include "controller/api/server.h"
#include "controller/blobs/artifact_fetch.h"
#include "controller/blobs/blob_service.h"
#include "controller/catalog/catalog.h"
#include "controller/causes/failure_patterns.h"
#include "controller/effects.h"
#include "controller/gang_relay.h"
#include "controller/images/image_progress.h"
#include "controller/images/operations.h"
#include "controller/images/logins.h"
#include "controller/jobs/jobs.h"
#include "controller/logs/log_ingest.h"
#include "controller/logs/log_journal.h"
#include "controller/logs/log_store.h"
#include "controller/nodes/lemons.h"
#include "controller/nodes/node.h"
#include "controller/retention/retention.h"
#include "controller/web/web.h"
#include "protocol/base/bucket.h"
#include "protocol/base/clock.h"
#include "protocol/base/file.h"
#include "protocol/base/log.h"
#include "protocol/base/loop.h"
#include "protocol/wire/unread.h"
#include "protocol/wire/wire.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-daemon.h>
#include <time.h>

#define TICK_MS 500
#define REFUSED_MAX 10 /* rows of the audit log for refused peers, at once, */
#define REFUSED_RATE (1.0 / 60) /* and in a second */
#define STALL_RETRY_MS 500      /* when the store cannot commit */
#define BUSY_ROWS 8             /* a turn with more writes for several jobs */
#define REST_MS 3
#define WAKE_MS                                                                \
	5 /* of other work, before waiting requests are looked at again */
#define STOPPED_MS 2000 /* between ticks; less is only a busy machine */
#define DRAIN_MS 60000

struct controller {
	sd_event *loop;
	struct controller_key keys; /* of the controller itself */
	struct keyring *keyring;
	struct catalog *catalog;
	struct failure_patterns *failures; /* NULL: no reasons are read */
	struct store *store;
	struct log_store *logs;
	struct log_journal *journal;
	struct world world;
	struct changes changes;
	struct jobs *jobs;
	struct jobs_parts parts; /* of jobs */
	struct blob_service *blobs;
	struct artifact_fetches *fetches;
	struct operations *operations;
	struct retention *retention;
	struct backups *backups;
	struct access *access;
	struct wire_server *wire;
	struct server *server;
	sd_event_source *turn, *tick, *stalled, *wake;
	bool wake_rests; /* waiting requests are not looked at until it runs */
	size_t rows;     /* that this turn wrote */
	bool is_stalled; /* no message is read or sent until a commit works */
	bool disk_full;  /* the store cannot commit; that is in the log */
	bool draining;
	struct bucket refused; /* rows of the audit log for refused peers */
	int64_t ticked_ms;
	int64_t drain_until_ms;
	char status[80];         /* the last that systemd got */
	struct viewers *viewers; /* of the web */
	struct lemons *lemons;
	struct web *web; /* NULL: none */
};

/* The turn. */

/* The turn that follows tries to commit again. */
static int stalled_run(sd_event_source *source, uint64_t usec, void *arg)
{
	struct controller *controller = arg;

	controller->is_stalled = false;
	return 0;
}

static double seconds_since(const struct timespec *then)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - then->tv_sec) +
	       (double)(now.tv_nsec - then->tv_nsec) / 1e9;
}

static bool commit(struct controller *controller)
{
	size_t rows = store_pending(controller->store);
	struct timespec begun;
	struct error err;

	if (controller->is_stalled)
		return false;
	if (!rows)
		return true;
	clock_gettime(CLOCK_MONOTONIC, &begun);
	if (store_commit(controller->store, &err) == 0) {
		histogram_add(&controller->world.counters.commit,
			      seconds_since(&begun));
		controller->rows += rows;
		if (controller->disk_full)
			log_info("the store works again");
		controller->disk_full = false;
		wire_server_pause(controller->wire, false);
		return true;
	}
	if (err.code == EINVAL) {
		/* Our own bug: trying again cannot help. The disk is
		 * consistent, so the next controller continues from it. */
		log_error("%s", err.text);
		sd_event_exit(controller->loop, 1);
		return false;
	}
	if (!controller->disk_full)
		log_error("%s; all work is suspended until this succeeds",
			  err.text);
	controller->disk_full = true;
	controller->is_stalled = true;
	wire_server_pause(controller->wire, true);
	loop_timer(controller->loop, &controller->stalled, STALL_RETRY_MS,
		   stalled_run, controller, NULL);
	return false;
}

/* A commit costs as much as everything else that a job does here. When many
 * nodes send at once, wait a moment, so that one commit serves all of them.
 */
static void controller_rest(struct controller *controller)
{
	if (controller->rows > BUSY_ROWS)
		wire_server_rest(controller->wire, REST_MS);
	controller->rows = 0;
}

/* The turn that follows looks for more. */
static int wake_run(sd_event_source *source, uint64_t usec, void *arg)
{
	struct controller *controller = arg;

	controller->wake_rests = false;
	return 0;
}

/* Requests that wait get half of the time at most. */
static void controller_wake(struct controller *controller)
{
	if (!controller->wake_rests && server_wake(controller->server))
		controller->wake_rests =
			loop_timer(controller->loop, &controller->wake, WAKE_MS,
				   wake_run, controller, NULL) == 0;
}

/* Runs after all other sources of the loop. */
static int controller_turn_run(sd_event_source *source, void *arg)
{
	struct controller *controller = arg;

	if (artifact_fetch_found(controller->fetches))
		jobs_check_files(controller->jobs);
	jobs_settle(controller->jobs);
	/* A commit is expensive: most turns have only one. */
	if ((controller->is_stalled || jobs_reads_rows(controller->jobs)) &&
	    !commit(controller))
		return 0;
	jobs_decide(controller->jobs);
	jobs_settle(controller->jobs);
	if (!commit(controller))
		return 0;
	logins_settle(controller->parts.logins);
	if (changes_any(&controller->changes))
		web_update(controller->web);
	controller_wake(controller);
	wire_server_flush(controller->wire);
	server_sent(controller->server);
	controller_rest(controller);
	return 0;
}

/* The wire. */

static void node_gone(struct controller *controller, struct node *node)
{
	jobs_node_gone(controller->jobs, node);
	blob_service_gone(controller->blobs, node);
	artifact_fetch_gone(controller->fetches, node);
}

static bool check_machine(struct controller *controller, struct wire_peer *peer,
			  const struct message_hello *hello)
{
	const struct node *node =
		node_find(controller->parts.nodes, wire_peer_name(peer));
	struct error err;

	if (access_check_machine(controller->access, wire_peer_public(peer),
				 hello->machine, &err) == 0 &&
	    (!node || node_check_machine(node, wire_peer_public(peer),
					 hello->machine, &err) == 0))
		return true;
	wire_server_refuse(peer, err.code, err.text);
	return false;
}

static bool check_address(struct controller *controller, struct wire_peer *peer)
{
	struct error err;

	if (access_check_address(controller->access, wire_peer_public(peer),
				 wire_peer_address(peer), &err) == 0)
		return true;
	wire_server_drop(peer, err.code, err.text);
	return false;
}

/* The more nodes there are, the fewer heartbeats each of them sends. */
static void set_heartbeat(struct controller *controller)
{
	size_t ms = node_count(controller->parts.nodes) *
		    CONTROLLER_HEARTBEAT_EACH_MS;

	ms = ms > WIRE_HEARTBEAT_MS ? ms : WIRE_HEARTBEAT_MS;
	wire_server_set_heartbeat(controller->wire,
				  ms < WIRE_HEARTBEAT_MAX_MS
					  ? (uint32_t)ms
					  : WIRE_HEARTBEAT_MAX_MS);
}

static void controller_join_node(struct controller *controller,
				 struct wire_peer *peer,
				 struct message_hello *hello)
{
	struct error err;
	struct node *node =
		node_get(controller->parts.nodes, wire_peer_name(peer), &err);
	struct wire_peer *old = node ? node_peer(node) : NULL;

	if (node && node_taken(node, hello) &&
	    wire_peer_alive(node_peer(node))) {
		wire_server_refuse(peer, EBUSY,
				   "another agent uses the same key; each node "
				   "needs its own key");
		return;
	}
	if (old) {
		/* The newest session of an agent counts. */
		wire_peer_set_data(old, NULL);
		node_gone(controller, node);
	}
	if (!node || jobs_node_joins(controller->jobs, node, peer,
				     wire_peer_public(peer), hello, &err) < 0) {
		/* It gets no more messages. */
		if (node && node_peer(node))
			node_leave(controller->parts.nodes, node);
		wire_server_drop(peer, err.code, err.text);
		return;
	}
	wire_peer_set_data(peer, node);
	set_heartbeat(controller);
	log_info("node=%s joined: %s, %u device(s), %s", node_name(node),
		 hello->vendor, hello->devices, hello->software);
}

/* The credits of all nodes together are half of what unread.h holds. */
static uint64_t log_credit(const struct nodes *nodes)
{
	uint64_t share = UNREAD_MAX / 2 / (node_count(nodes) + 1);

	if (share < LOG_INGEST_CREDIT_MIN)
		return LOG_INGEST_CREDIT_MIN;
	return share < LOG_INGEST_CREDIT ? share : LOG_INGEST_CREDIT;
}

static void controller_welcome_peer(struct controller *controller,
				    struct wire_peer *peer,
				    struct message_hello *hello)
{
	struct message_welcome message = {
		.version = PROTOCOL_VERSION,
		.heartbeat_ms = wire_peer_heartbeat_ms(peer),
		.credit_bytes = log_credit(controller->parts.nodes),
		.time_ms = (uint64_t)clock_wall_ms(),
		.next_key = (char *)controller_key_next(&controller->keys),
	};

	if (!check_address(controller, peer))
		return;
	/* Before controller_join_node(), which may drop the peer. */
	wire_server_send(peer, MESSAGE_WELCOME, &message, NULL, 0, NULL);
	if (wire_peer_role(peer) == ROLE_AGENT &&
	    check_machine(controller, peer, hello) && !hello->visits)
		controller_join_node(controller, peer, hello);
}

/* An agent reads the blobs that it needs, and gives them to others, but no
 * other whose hash it knows.
 */
static bool node_needs(const struct controller *controller,
		       const struct node *node, const char *hash)
{
	struct task *task = node_first_task(node);

	for (; task; task = node_next_task(task)) {
		const char *workspace =
			gang_spec(task_gang(task))->container.workspace;

		if (workspace && !strcmp(workspace, hash))
			return true;
	}
	return operations_need(controller->operations, node, hash);
}

static void controller_blob_want(struct controller *controller,
				 struct node *node,
				 const struct message_blob_want *want)
{
	if (node_needs(controller, node, want->hash))
		blob_service_want(controller->blobs, node, want);
	else if (!want->source)
		blob_service_deny_want(node, want);
}

static void controller_blob_read(struct controller *controller,
				 struct node *node,
				 const struct message_blob_read *read)
{
	if (node_needs(controller, node, read->hash))
		blob_service_read(controller->blobs, node, read);
	else
		blob_service_deny_read(node, read);
}

static void from_agent(struct controller *controller, struct node *node,
		       enum message_type type, void *body, const void *payload,
		       size_t size)
{
	struct message_resync resync = { 0 };

	if (jobs_message(controller->jobs, node, type, body, payload, size)) {
		if (type == MESSAGE_REPORT)
			operations_node_reported(controller->operations, node);
		return;
	}
	switch (type) {
	case MESSAGE_BLOB_WANT:
		controller_blob_want(controller, node, body);
		break;
	case MESSAGE_IMAGE_STATE:
		operations_state(controller->operations, node, body);
		break;
	case MESSAGE_IMAGE_ROOM:
		operations_room(controller->operations, node, body);
		break;
	case MESSAGE_BLOB_PIECE:
		artifact_fetch_piece(controller->fetches, node, body, payload,
				     size);
		break;
	case MESSAGE_BLOB_READ:
		controller_blob_read(controller, node, body);
		break;
	case MESSAGE_COMMAND:
		gang_relay_command(controller->parts.table, node, body, payload,
				   size);
		break;
	case MESSAGE_COMMAND_ANSWER:
		gang_relay_answer(controller->parts.table, node, body, payload,
				  size);
		break;
	case MESSAGE_HEARTBEAT:
		/* It lost messages: begin again with a report. */
		if (node_peer(node) && wire_peer_lagged(node_peer(node)))
			wire_server_send(node_peer(node), MESSAGE_RESYNC,
					 &resync, NULL, 0, NULL);
		break;
	default:
		break;
	}
}

static void controller_take_message(void *arg, struct wire_peer *peer,
				    enum message_type type, void *body,
				    const void *payload, size_t size)
{
	struct controller *controller = arg;
	struct node *node = wire_peer_data(peer);

	if (type == MESSAGE_HELLO) {
		controller_welcome_peer(controller, peer, body);
	} else if (wire_peer_role(peer) != ROLE_AGENT ||
		   type == MESSAGE_ROTATE) {
		server_request(controller->server, peer, type, body, payload,
			       size);
	} else if (node) {
		node_heard(controller->parts.nodes, node);
		from_agent(controller, node, type, body, payload, size);
	}
}

static void controller_peer_gone(void *arg, struct wire_peer *peer,
				 const char *why)
{
	struct controller *controller = arg;
	struct node *node = wire_peer_data(peer);

	server_forget(controller->server, peer);
	blob_service_sender_gone(controller->blobs, peer);
	if (!node || node_peer(node) != peer)
		return;
	log_warning("node=%s out of reach: %s", node_name(node), why);
	node_gone(controller, node);
}

/* The audit log gets fewer than the log, so that no peer can push other rows
 * out of it.
 */
static void controller_log_refusal(void *arg, const char *who, const char *why)
{
	struct controller *controller = arg;
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
	if (!bucket_take(&controller->refused, clock_mono_ms()))
		return;
	if (store_put_audit(controller->store, &row, &err) < 0)
		log_error("audit: %s", err.text);
}

/* Every half second. */

/* For systemctl status. */
static void notify_status(struct controller *controller)
{
	char status[sizeof(controller->status)];
	size_t up = 0;

	for (size_t i = 0; i < node_count(controller->parts.nodes); i++)
		up += node_peer(node_at(controller->parts.nodes, i)) != NULL;
	snprintf(status, sizeof(status),
		 "STATUS=%zu of %zu nodes in reach, %zu jobs", up,
		 node_count(controller->parts.nodes),
		 job_count(controller->parts.table));
	if (!strcmp(status, controller->status))
		return;
	memcpy(controller->status, status, sizeof(status));
	sd_notify(0, status);
}

/* While this process was stopped, or waited for its disk, it received no
 * messages: no node or job is late because of that.
 */
static void extend_deadlines(struct controller *controller, int64_t now)
{
	int64_t stopped_ms = now - controller->ticked_ms;

	controller->ticked_ms = now;
	if (stopped_ms < STOPPED_MS)
		return;
	jobs_extend_deadlines(controller->jobs, stopped_ms);
	artifact_fetch_extend_deadlines(controller->fetches, stopped_ms);
}

static int controller_tick_run(sd_event_source *source, uint64_t usec,
			       void *arg)
{
	struct controller *controller = arg;
	int64_t now = clock_mono_ms();

	loop_timer(controller->loop, &controller->tick, TICK_MS,
		   controller_tick_run, controller, NULL);
	if (access_expire(controller->access, clock_wall_ms()))
		server_recheck(controller->server);
	if (controller->disk_full)
		return 0;
	extend_deadlines(controller, now);
	jobs_tick(controller->jobs);
	notify_status(controller);
	blob_service_tick(controller->blobs);
	artifact_fetch_tick(controller->fetches);
	operations_tick(controller->operations);
	if (image_progress_stalled(controller->parts.table, now))
		changes_progress(&controller->changes);
	controller->changes.tick =
		true; /* waiting requests may be out of time */
	if (controller_key_due(&controller->keys, clock_wall_ms()))
		sd_event_exit(controller->loop, CONTROLLER_AGAIN);
	if (controller->draining &&
	    (jobs_idle(controller->jobs) || now > controller->drain_until_ms))
		sd_event_exit(controller->loop, 0);
	return 0;
}

void controller_drain(struct controller *controller)
{
	if (controller->draining)
		return;
	log_info("stopping: all jobs are cancelled");
	controller->draining = true;
	controller->drain_until_ms = clock_mono_ms() + DRAIN_MS;
	jobs_drain(controller->jobs);
}

/* Starting and stopping. */

/* A folder of images may be without failures.yaml. */
static int open_failures(struct controller *controller, const char *images,
			 struct error *err)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/failures.yaml", images);
	if (access(path, F_OK) < 0 && errno == ENOENT)
		return 0;
	controller->failures = failure_patterns_read(path, err);
	return controller->failures ? 0 : -1;
}

/* Everything that jobs need from the disk. */
static int open_disk(struct controller *controller,
		     const struct controller_config *config, struct error *err)
{
	if (file_make_folders(config->state, 0700, err) < 0 ||
	    controller_key_open(&controller->keys, &config->key, config->state,
				clock_wall_ms(), err) < 0)
		return -1;
	controller->catalog = catalog_load(config->images, err);
	if (!controller->catalog ||
	    open_failures(controller, config->images, err) < 0)
		return -1;
	controller->keyring = keyring_new(config->keys, err);
	controller->store =
		controller->keyring ? store_new(config->state, err) : NULL;
	controller->logs =
		controller->store ? log_store_new(config->state, err) : NULL;
	controller->world.logs = controller->logs;
	controller->journal =
		controller->logs
			? log_journal_new(controller->loop, config->state,
					  controller->logs, controller->store,
					  err)
			: NULL;
	controller->world.journal = controller->journal;
	return controller->journal ? 0 : -1;
}

static int open_jobs(struct controller *controller,
		     const struct controller_config *config, struct error *err)
{
	const struct jobs_config with = {
		.effects = &controller->world.effects,
		.store = controller->store,
		.changes = &controller->changes,
		.catalog = controller->catalog,
		.failures = controller->failures,
		.key = &controller->keys.current,
		.former = &controller->keys.former,
		.node_lost_ms = config->node_lost_ms,
		.pods = config->pods,
	};

	controller->jobs = jobs_new(&with, err);
	if (!controller->jobs)
		return -1;
	controller->world.jobs = controller->jobs;
	controller->parts = jobs_parts(controller->jobs);
	return 0;
}

static int controller_open_blobs(struct controller *controller,
				 const char *state, struct error *err)
{
	const struct jobs_parts *parts = &controller->parts;
	const struct blob_service_config blobs = {
		.loop = controller->loop,
		.store = controller->store,
		.nodes = parts->nodes,
	};
	struct operations_config operations = {
		.store = controller->store,
		.changes = &controller->changes,
		.nodes = parts->nodes,
		.images = parts->images,
		.logins = parts->logins,
	};

	controller->blobs = blob_service_new(&blobs, state, err);
	if (!controller->blobs)
		return -1;
	controller->fetches =
		artifact_fetches_new(controller->loop, controller->blobs, err);
	if (!controller->fetches)
		return -1;
	controller->world.blobs = operations.blobs = controller->blobs;
	controller->world.fetches = operations.fetches = controller->fetches;
	controller->operations = operations_new(&operations, err);
	return controller->operations ? 0 : -1;
}

static int open_state(struct controller *controller,
		      const struct controller_config *config, struct error *err)
{
	struct retention_config retention = {
		.loop = controller->loop,
		.keep = config->keep,
	};

	if (open_disk(controller, config, err) < 0 ||
	    open_jobs(controller, config, err) < 0 ||
	    controller_open_blobs(controller, config->state, err) < 0 ||
	    jobs_load(controller->jobs, err) < 0)
		return -1;
	if (controller_jobs(controller))
		log_info("%zu job(s) continue", controller_jobs(controller));
	retention.store = controller->store;
	retention.logs = controller->logs;
	retention.blobs = controller->blobs;
	retention.table = controller->parts.table;
	retention.ingest = controller->parts.ingest;
	controller->retention = retention_new(&retention, config->state, err);
	controller->backups =
		controller->retention
			? backups_new(controller->loop, config->state, err)
			: NULL;
	return controller->backups ? 0 : -1;
}

static struct api api_of(struct controller *controller)
{
	return (struct api){
		.store = controller->store,
		.logs = controller->logs,
		.jobs = controller->jobs,
		.table = controller->parts.table,
		.nodes = controller->parts.nodes,
		.lemons = controller->lemons,
		.logins = controller->parts.logins,
		.blobs = controller->blobs,
		.operations = controller->operations,
		.catalog = controller->catalog,
		.access = controller->access,
		.keys = &controller->keys,
		.backups = controller->backups,
		.retention = controller->retention,
		.wire = controller->wire,
		.changes = &controller->changes,
		.viewers = controller->viewers,
	};
}

static int controller_open_server(struct controller *controller,
				  struct error *err)
{
	struct api api;

	controller->viewers =
		viewers_new(controller->keyring, controller->access, err);
	controller->lemons = lemons_new(err);
	if (!controller->viewers || !controller->lemons)
		return -1;
	api = api_of(controller);
	controller->server = server_new(&api, err);
	return controller->server ? 0 : -1;
}

static int open_wire(struct controller *controller,
		     const struct controller_config *config, struct error *err)
{
	static const struct wire_server_handler handler = {
		.message = controller_take_message,
		.gone = controller_peer_gone,
		.refused = controller_log_refusal,
	};

	controller->access =
		access_new(controller->store, controller->keyring, err);
	if (!controller->access)
		return -1;
	controller->wire =
		wire_server_new(controller->loop, &controller->keys.current,
				controller->keyring, &handler, controller, err);
	if (!controller->wire || controller_open_server(controller, err) < 0)
		return -1;
	set_heartbeat(controller);
	wire_server_set_next_key(controller->wire,
				 controller_key_next(&controller->keys));
	return wire_server_bind(controller->wire, config->listen, err);
}

static int open_web(struct controller *controller,
		    const struct controller_config *config, struct error *err)
{
	struct web_config with = {
		.loop = controller->loop,
		.http = &config->web,
		.sources.parts = controller->parts,
		.counters = &controller->world.counters,
		.viewers = controller->viewers,
		.budgets = wire_server_budgets(controller->wire),
	};

	if (!config->web.address)
		return 0;
	with.sources.api = api_of(controller);
	controller->web = web_new(&with, err);
	return controller->web ? 0 : -1;
}

struct controller *controller_new(sd_event *loop,
				  const struct controller_config *config,
				  struct error *err)
{
	owned(controller_free) struct controller *controller =
		calloc(1, sizeof(*controller));
	int rc;

	if (!controller)
		return error_null(error_nomem(err, "controller"));
	controller->loop = controller->world.loop = sd_event_ref(loop);
	controller->ticked_ms = clock_mono_ms();
	controller->refused =
		bucket_full(REFUSED_MAX, REFUSED_RATE, clock_mono_ms());
	effects_connect(&controller->world);
	if (open_state(controller, config, err) < 0 ||
	    open_wire(controller, config, err) < 0 ||
	    open_web(controller, config, err) < 0 ||
	    loop_timer(loop, &controller->tick, TICK_MS, controller_tick_run,
		       controller, err) < 0)
		return NULL;
	rc = sd_event_add_post(loop, &controller->turn, controller_turn_run,
			       controller);
	if (rc < 0)
		return error_null(
			error_set(err, -rc,
				  "event loop: cannot schedule a turn"));
	return take(controller);
}

size_t controller_jobs(const struct controller *controller)
{
	return job_count(controller->parts.table);
}

void controller_free(struct controller *controller)
{
	if (!controller)
		return;
	web_free(controller->web);
	loop_source_free(&controller->turn);
	loop_source_free(&controller->tick);
	loop_source_free(&controller->stalled);
	loop_source_free(&controller->wake);
	effects_disconnect(&controller->world);
	if (controller->store)
		store_commit(controller->store, NULL);
	if (controller->wire)
		wire_server_flush(controller->wire);
	wire_server_free(controller->wire);
	server_free(controller->server);
	viewers_free(controller->viewers);
	lemons_free(controller->lemons);
	retention_free(controller->retention);
	backups_free(controller->backups);
	access_free(controller->access);
	jobs_free(controller->jobs);
	operations_free(controller->operations);
	artifact_fetches_free(controller->fetches);
	blob_service_free(controller->blobs);
	keyring_free(controller->keyring);
	log_journal_free(controller->journal);
	log_store_free(controller->logs);
	store_free(controller->store);
	failure_patterns_free(controller->failures);
	catalog_free(controller->catalog);
	sd_event_unref(controller->loop);
	controller_key_clear(&controller->keys);
	free(controller);
}

const char *controller_endpoint(const struct controller *controller)
{
	return wire_server_endpoint(controller->wire);
}
