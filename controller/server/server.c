/* server.c - what people may ask and order, and the answers.
 */
#include "controller/server/server.h"
#include "controller/access/access.h"
#include "controller/blobs/blob_service.h"
#include "controller/blobs/image_rollout.h"
#include "controller/jobs/logins.h"
#include "controller/logs/retention.h"
#include "controller/server/admin.h"
#include "controller/server/backups.h"
#include "controller/server/describe.h"
#include "controller/server/logread.h"
#include "controller/server/orders.h"
#include "controller/server/questions.h"
#include "protocol/base/file.h"
#include "protocol/base/log.h"
#include "protocol/wire/wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define GOES_ON 1 /* of a handler: with what is in the audit log already */
#define AUDIT_TEXT_MAX 4096 /* of a request; a longer one is left out */

/* A request that waits for news. */
struct parked {
	struct wire_peer *peer;
	enum message_type type;
	union {
		struct message_query query;
		struct message_log_read log_read;
	} body; /* strings are owned */
	int64_t until_ms;
	uint64_t progress_seq;
	TAILQ_ENTRY(parked) next;
};

/* Answers. */

static void refuse(struct wire_peer *peer, uint64_t request,
		   const struct error *why)
{
	struct message_refused message = { request, why->code,
					   (char *)why->text };
	struct error err;

	if (wire_server_send(peer, MESSAGE_REFUSED, &message, NULL, 0, &err) <
	    0)
		log_error("peer=%s: %s", wire_peer_name(peer), err.text);
}

static void reply(struct wire_peer *peer, uint64_t request, cJSON *body,
		  const void *payload, size_t size)
{
	struct message_reply message = { request, body };
	struct error err;

	/* An answer that does not fit a message must not leave the asker
	 * waiting. */
	if (wire_server_send(peer, MESSAGE_REPLY, &message, payload, size,
			     &err) < 0)
		refuse(peer, request, &err);
	cJSON_Delete(body);
}

static int answer_query(struct cluster *cluster, struct wire_peer *peer,
			const struct message_query *query, struct error *err)
{
	cJSON *body = question_answer(cluster, query, err);

	if (!body)
		return -1;
	reply(peer, query->request, body, NULL, 0);
	return 0;
}

static int answer_log_read(struct cluster *cluster, struct wire_peer *peer,
			   const struct message_log_read *read, bool last,
			   bool *waits, struct error *err)
{
	owned(buffer_clear) struct buffer bytes;
	cJSON *body;

	buffer_init(&bytes, LOGREAD_BYTES);
	body = logread(cluster, read, &bytes, err);
	if (!body)
		return -1;
	*waits = !last && !bytes.size && read->stream &&
		 !cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(body, "final"));
	if (*waits) {
		cJSON_Delete(body);
		return 0;
	}
	reply(peer, read->request, body, bytes.data, bytes.size);
	return 0;
}

/* Waiting. */

static size_t parked_by(const struct cluster *cluster,
			const struct wire_peer *peer)
{
	const struct parked *parked;
	size_t count = 0;

	TAILQ_FOREACH(parked, &cluster->parked, next)
	{
		count += parked->peer == peer;
	}
	return count;
}

/* The body's strings move into the parked request. */
static int park(struct cluster *cluster, struct wire_peer *peer,
		enum message_type type, void *body, uint32_t wait_ms,
		struct error *err)
{
	size_t size = message_kinds[type].schema->size;
	struct parked *parked;

	if (parked_by(cluster, peer) >= PARKED_MAX)
		return error_set(err, EBUSY, "more than %d requests that wait",
				 PARKED_MAX);
	parked = calloc(1, sizeof(*parked));
	if (!parked)
		return error_nomem(err, "request");
	if (wait_ms > SERVER_WAIT_MS)
		wait_ms = SERVER_WAIT_MS;
	parked->peer = peer;
	parked->type = type;
	parked->until_ms = clock_mono_ms() + wait_ms;
	parked->progress_seq = cluster->progress_seq;
	memcpy(&parked->body, body, size);
	memset(body, 0, size);
	TAILQ_INSERT_TAIL(&cluster->parked, parked, next);
	return 0;
}

static void unpark(struct cluster *cluster, struct parked *parked)
{
	TAILQ_REMOVE(&cluster->parked, parked, next);
	codec_clear(message_kinds[parked->type].schema, &parked->body);
	free(parked);
}

static bool query_has_news(const struct cluster *cluster,
			   const struct message_query *query,
			   uint64_t progress_seq)
{
	return store_seen_event(cluster->store) > query->since ||
	       cluster->progress_seq > progress_seq;
}

/* Did this turn bring what it may wait for, or is its time up? */
static bool is_due(const struct news *news, const struct parked *parked,
		   int64_t now)
{
	if (now >= parked->until_ms)
		return true;
	return parked->type == MESSAGE_LOG_READ
		       ? news_of_job(news, parked->body.log_read.job)
		       : news->events || news->tick;
}

/* Answer it if there is news, or the time is up. */
static void try_parked(struct cluster *cluster, struct parked *parked,
		       int64_t now)
{
	bool last = now >= parked->until_ms, waits = false;
	struct error err = { 0 };
	uint64_t request = parked->body.query.request;
	int rc = 0;

	if (parked->type == MESSAGE_LOG_READ) {
		rc = answer_log_read(cluster, parked->peer,
				     &parked->body.log_read, last, &waits,
				     &err);
	} else {
		waits = !last && !query_has_news(cluster, &parked->body.query,
						 parked->progress_seq);
		if (!waits)
			rc = answer_query(cluster, parked->peer,
					  &parked->body.query, &err);
	}
	if (waits)
		return;
	if (rc < 0)
		refuse(parked->peer, request, &err);
	unpark(cluster, parked);
}

void server_wake(struct cluster *cluster)
{
	int64_t now = clock_mono_ms();
	struct parked *parked, *next;

	for (parked = TAILQ_FIRST(&cluster->parked); parked; parked = next) {
		next = TAILQ_NEXT(parked, next);
		if (is_due(&cluster->news, parked, now))
			try_parked(cluster, parked, now);
	}
	news_clear(&cluster->news);
}

void server_forget(struct cluster *cluster, const struct wire_peer *peer)
{
	struct parked *parked, *next;

	for (parked = TAILQ_FIRST(&cluster->parked); parked; parked = next) {
		next = TAILQ_NEXT(parked, next);
		if (!peer || parked->peer == peer)
			unpark(cluster, parked);
	}
}

static int query(struct cluster *cluster, struct wire_peer *peer, void *arg,
		 const void *payload, size_t size, struct error *err)
{
	struct message_query *message = arg;

	if (!question_known(message->what, err))
		return -1;
	/* A cursor from another life of the store has nothing to wait for. */
	if (message->since > store_seen_event(cluster->store))
		message->since = 0;
	if (message->wait_ms &&
	    !query_has_news(cluster, message, cluster->progress_seq))
		return park(cluster, peer, MESSAGE_QUERY, message,
			    message->wait_ms, err);
	return answer_query(cluster, peer, message, err);
}

static int log_read(struct cluster *cluster, struct wire_peer *peer, void *arg,
		    const void *payload, size_t size, struct error *err)
{
	struct message_log_read *message = arg;
	bool waits = false;

	if (answer_log_read(cluster, peer, message, !message->wait_ms, &waits,
			    err) < 0)
		return -1;
	if (waits)
		return park(cluster, peer, MESSAGE_LOG_READ, message,
			    message->wait_ms, err);
	return 0;
}

/* A reply's body, or nothing: then it is refused. */
static int answer_order(struct wire_peer *peer, uint64_t request, cJSON *body)
{
	if (!body)
		return -1;
	reply(peer, request, body, NULL, 0);
	return 0;
}

static int submit(struct cluster *cluster, struct wire_peer *peer, void *arg,
		  const void *payload, size_t size, struct error *err)
{
	const struct message_submit *message = arg;

	if (logins_accept(cluster, message->logins, message->logins_count,
			  wire_peer_public(peer), err) < 0)
		return -1;
	return answer_order(peer, message->request,
			    order_submit(cluster, wire_peer_name(peer), message,
					 payload, size, err));
}

static int cancel(struct cluster *cluster, struct wire_peer *peer, void *arg,
		  const void *payload, size_t size, struct error *err)
{
	const struct message_cancel *message = arg;

	return answer_order(peer, message->request,
			    order_cancel(cluster, wire_peer_name(peer), message,
					 err));
}

static int retry(struct cluster *cluster, struct wire_peer *peer, void *arg,
		 const void *payload, size_t size, struct error *err)
{
	const struct message_retry *message = arg;

	if (logins_accept(cluster, message->logins, message->logins_count,
			  wire_peer_public(peer), err) < 0)
		return -1;
	return answer_order(peer, message->request,
			    order_retry(cluster, wire_peer_name(peer), message,
					err));
}

/* Replies whose body is filled by fn's work: rc below 0 says it was not. */
static int answer_admin(struct wire_peer *peer, uint64_t request, cJSON *body,
			int rc)
{
	if (rc < 0) {
		cJSON_Delete(body);
		return -1;
	}
	reply(peer, request, body, NULL, 0);
	return 0;
}

static int token(struct cluster *cluster, struct wire_peer *peer, void *arg,
		 const void *payload, size_t size, struct error *err)
{
	const struct message_token *message = arg;
	cJSON *body = answer_new(cluster);

	return answer_admin(peer, message->request, body,
			    access_token(cluster->access, wire_peer_name(peer),
					 message, body, err));
}

static int admit(struct cluster *cluster, struct wire_peer *peer, void *arg,
		 const void *payload, size_t size, struct error *err)
{
	const struct message_admit *message = arg;
	cJSON *body = answer_new(cluster);

	return answer_admin(peer, message->request, body,
			    access_admit(cluster->access, wire_peer_name(peer),
					 message, body, err));
}

static int revoke_key(struct cluster *cluster, struct wire_peer *peer,
		      void *arg, const void *payload, size_t size,
		      struct error *err)
{
	const struct message_revoke *message = arg;
	cJSON *body = answer_new(cluster);

	return answer_admin(peer, message->request, body,
			    admin_revoke(cluster, wire_peer_name(peer), message,
					 body, err));
}

static int drain(struct cluster *cluster, struct wire_peer *peer, void *arg,
		 const void *payload, size_t size, struct error *err)
{
	const struct message_drain *message = arg;
	cJSON *body = answer_new(cluster);

	return answer_admin(peer, message->request, body,
			    admin_drain(cluster, message, body, err));
}

static int label(struct cluster *cluster, struct wire_peer *peer, void *arg,
		 const void *payload, size_t size, struct error *err)
{
	const struct message_label *message = arg;
	cJSON *body = answer_new(cluster);

	return answer_admin(peer, message->request, body,
			    admin_label(cluster, message, body, err));
}

static int enrol(struct cluster *cluster, struct wire_peer *peer, void *arg,
		 const void *payload, size_t size, struct error *err)
{
	const struct message_enrol *message = arg;
	cJSON *body = answer_new(cluster);
	int rc = access_enrol(cluster->access, wire_peer_public(peer), message,
			      body, err);

	/* A key that was replaced is good no longer. */
	wire_server_recheck(cluster->wire);
	return answer_admin(peer, message->request, body, rc);
}

/* What is sealed is to be forgotten some day; the audit log never is. */
static void leave_out_sealed(cJSON *object)
{
	cJSON *login;

	cJSON_ArrayForEach(login,
			   cJSON_GetObjectItemCaseSensitive(object, "logins"))
	{
		cJSON_DeleteItemFromObjectCaseSensitive(login, "sealed");
	}
}

/* In the queue that is committed with the act. */
static void audit(struct cluster *cluster, const struct wire_peer *peer,
		  enum message_type type, const void *body, const char *refusal)
{
	cJSON *object = codec_object(message_kinds[type].schema, body, NULL);
	char *text = NULL;
	struct audit_row row = {
		.time_ms = clock_wall_ms(),
		.who = wire_peer_name(peer),
		.role = role_name(wire_peer_role(peer)),
		.address = wire_peer_address(peer),
		.act = message_kinds[type].name,
		.refusal = refusal,
	};
	struct error err;

	cJSON_DeleteItemFromObjectCaseSensitive(object, "request");
	leave_out_sealed(object);
	text = cJSON_PrintUnformatted(object);
	row.request = text && strlen(text) <= AUDIT_TEXT_MAX ? text : "{}";
	if (store_put_audit(cluster->store, &row, &err) < 0)
		log_error("audit: %s", err.text);
	log_info("%s by=%s from=%s%s%s", row.act, row.who, row.address,
		 refusal ? ": refused: " : "", refusal ? refusal : "");
	cJSON_free(text);
	cJSON_Delete(object);
}

static int backup(struct cluster *cluster, struct wire_peer *peer, void *arg,
		  const void *payload, size_t size, struct error *err)
{
	const struct message_backup *message = arg;
	owned(buffer_clear) struct buffer bytes;
	cJSON *body = answer_new(cluster);
	bool begun = false;

	buffer_init(&bytes, BACKUP_PIECE + 1);
	if (backups_answer(cluster->backups, message, body, &bytes, &begun,
			   err) < 0) {
		cJSON_Delete(body);
		return -1;
	}
	reply(peer, message->request, body, bytes.data, bytes.size);
	return begun ? 0 : GOES_ON;
}

static int gc(struct cluster *cluster, struct wire_peer *peer, void *arg,
	      const void *payload, size_t size, struct error *err)
{
	const struct message_gc *message = arg;
	cJSON *body = answer_new(cluster);

	if (answer_admin(peer, message->request, body,
			 retention_order(cluster, message, body, err)) < 0)
		return -1;
	return message->goes_on ? GOES_ON : 0;
}

static int content_put(struct cluster *cluster, struct wire_peer *peer,
		       void *arg, const void *payload, size_t size,
		       struct error *err)
{
	const struct message_content_put *message = arg;

	if (answer_order(peer, message->request,
			 blob_service_put(cluster, peer, message, payload, size,
					  err)) < 0)
		return -1;
	return size && !message->offset ? 0 : GOES_ON;
}

static int image_order(struct cluster *cluster, struct wire_peer *peer,
		       void *arg, const void *payload, size_t size,
		       struct error *err)
{
	const struct message_image_order *message = arg;

	if (logins_accept(cluster, message->logins, message->logins_count,
			  wire_peer_public(peer), err) < 0)
		return -1;
	return answer_order(peer, message->request,
			    image_rollout_order(cluster, wire_peer_name(peer),
						message, err));
}

static int image_list(struct cluster *cluster, struct wire_peer *peer,
		      void *arg, const void *payload, size_t size,
		      struct error *err)
{
	const struct message_image_list *message = arg;
	const struct message_image_order order = {
		.what = (char *)"list",
		.order = message->order,
		.nodes = message->nodes,
	};

	return answer_order(peer, message->request,
			    image_rollout_order(cluster, wire_peer_name(peer),
						&order, err));
}

static int content_get(struct cluster *cluster, struct wire_peer *peer,
		       void *arg, const void *payload, size_t size,
		       struct error *err)
{
	const struct message_content_get *message = arg;
	owned(buffer_clear) struct buffer bytes;
	cJSON *body;

	buffer_init(&bytes, BLOB_SERVICE_PIECE);
	body = blob_service_get(cluster, message, &bytes, err);
	if (!body)
		return -1;
	reply(peer, message->request, body, bytes.data, bytes.size);
	return 0;
}

void server_request(struct cluster *cluster, struct wire_peer *peer,
		    enum message_type type, void *body, const void *payload,
		    size_t size)
{
	/* clang-format off */
	static int (*const handlers[MESSAGE_TYPES])(
		struct cluster *, struct wire_peer *, void *, const void *,
		size_t, struct error *) = {
		[MESSAGE_SUBMIT] = submit,
		[MESSAGE_CANCEL] = cancel,
		[MESSAGE_RETRY] = retry,
		[MESSAGE_QUERY] = query,
		[MESSAGE_LOG_READ] = log_read,
		[MESSAGE_TOKEN] = token,
		[MESSAGE_ADMIT] = admit,
		[MESSAGE_REVOKE] = revoke_key,
		[MESSAGE_DRAIN] = drain,
		[MESSAGE_LABEL] = label,
		[MESSAGE_BACKUP] = backup,
		[MESSAGE_GC] = gc,
		[MESSAGE_ENROL] = enrol,
		[MESSAGE_CONTENT_PUT] = content_put,
		[MESSAGE_CONTENT_GET] = content_get,
		[MESSAGE_IMAGE_ORDER] = image_order,
		[MESSAGE_IMAGE_LIST] = image_list,
	};
	/* clang-format on */
	struct error err = { 0 };
	uint64_t request;
	int rc;

	if (!handlers[type])
		return;
	/* Every request of a person begins with its number. */
	request = *(const uint64_t *)body;
	rc = handlers[type](cluster, peer, body, payload, size, &err);
	if (message_kinds[type].audited && rc != GOES_ON)
		audit(cluster, peer, type, body, rc < 0 ? err.text : NULL);
	if (rc < 0)
		refuse(peer, request, &err);
}
