/* admission.c - which messages a server accepts from a peer.
 */
#include "protocol/wire/admission.h"

#include "protocol/base/clock.h"
#include "protocol/wire/zap.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define TOO_MANY "too many messages per second"

/* Frames. */

/* What is too large for its role is not decoded. */
static void admission_check_size(struct wire_peer *peer, size_t size)
{
	size_t max = budget_text_max(peer->role, peer->greeted);
	char why[120];

	if (size <= max)
		return;
	snprintf(why, sizeof(why),
		 "a %s of %zu bytes; a key of role %s may send %zu",
		 peer->greeted ? "message" : "hello", size,
		 role_name(peer->role), max);
	wire_server_drop(peer, EPROTO, why);
}

bool admission_frames(struct wire_peer *peer, struct frames *frames)
{
	const char *public = zmq_msg_gets(&frames->text, ZAP_KEY);

	if (peer->role == ROLE_NONE)
		wire_server_refuse(peer, EACCES, KEY_GONE);
	/* A new connection may choose the id of a closed one. */
	else if (!public || strcmp(public, peer->public) != 0)
		wire_server_refuse(peer, EACCES,
				   "another key uses its session");
	else if (!peer->budget)
		wire_server_refuse(peer, EUSERS,
				   "its key has too many connections");
	else if (!budget_message(peer->budget, clock_mono_ms()))
		wire_server_drop(peer, EPROTO, TOO_MANY);
	else
		admission_check_size(peer, zmq_msg_size(&frames->text));
	return !peer->ended;
}

bool admission_next(struct wire_peer *peer)
{
	if (!budget_message(peer->budget, clock_mono_ms()))
		wire_server_drop(peer, EPROTO, TOO_MANY);
	return !peer->ended;
}

/* The version in a hello that this version cannot read, or 0. */
static uint32_t foreign_version(struct frames *frames)
{
	cJSON *object = codec_parse(zmq_msg_data(&frames->text),
				    zmq_msg_size(&frames->text), NULL);
	const cJSON *type = cJSON_GetObjectItemCaseSensitive(object, "type");
	const cJSON *version =
		cJSON_GetObjectItemCaseSensitive(object, "version");
	uint32_t found = 0;

	if (cJSON_IsString(type) && !strcmp(type->valuestring, "hello") &&
	    cJSON_IsNumber(version) && version->valuedouble > 0 &&
	    version->valuedouble < UINT32_MAX)
		found = (uint32_t)version->valuedouble;
	cJSON_Delete(object);
	return found == PROTOCOL_VERSION ? 0 : found;
}

/* The key is not banned: it did nothing wrong, and gets this answer each time.
 */
static void refuse_version(struct wire_peer *peer, uint32_t version)
{
	char why[160];

	snprintf(why, sizeof(why),
		 "protocol version %u; expected %d: install the same release "
		 "on both sides",
		 version, PROTOCOL_VERSION);
	wire_server_refuse(peer, EPROTONOSUPPORT, why);
}

void admission_broken(struct wire_peer *peer, struct frames *frames,
		      const struct error *err)
{
	uint32_t version = foreign_version(frames);

	if (version)
		refuse_version(peer, version);
	else
		wire_server_drop(peer, EPROTO, err->text);
}

/* Messages. */

static void refuse_role(struct wire_peer *peer, enum message_type type,
			const void *body)
{
	const struct message_kind *kind = &message_kinds[type];
	const struct schema *schema = kind->schema;
	char why[200];

	if (kind->does)
		snprintf(why, sizeof(why),
			 "a key of role %s may not %s; regatta user roles "
			 "shows which roles may",
			 role_name(peer->role), kind->does);
	else
		snprintf(why, sizeof(why), "a key of role %s may not send '%s'",
			 role_name(peer->role), kind->name);
	/* Every request of a person begins with its number. */
	if (peer->role != ROLE_AGENT &&
	    !strcmp(schema->fields[0].name, "request")) {
		sessions_refuse_request(peer, *(const uint64_t *)body, EPERM,
					why);
		sessions_report(peer->sessions, true, peer->name, why);
	} else {
		wire_server_drop(peer, EPERM, why);
	}
}

/* Has it used up its processor time? Then the request is refused. */
static bool refuse_busy(struct wire_peer *peer, enum message_type type,
			const void *body)
{
	const struct schema *schema = message_kinds[type].schema;
	struct error err;

	if (!schema->count || strcmp(schema->fields[0].name, "request") != 0 ||
	    wire_peer_check_time(peer, &err) == 0)
		return false;
	sessions_refuse_request(peer, *(const uint64_t *)body, err.code,
				err.text);
	return true;
}

static bool greet(struct wire_peer *peer, const struct message_hello *hello)
{
	if (hello->version != PROTOCOL_VERSION) {
		refuse_version(peer, hello->version);
		return false;
	}
	return sessions_begin(peer);
}

bool admission_message(struct wire_peer *peer, const struct frames *frames,
		       enum message_type type, const void *body)
{
	if (!peer->greeted && type != MESSAGE_HELLO) {
		wire_server_refuse(peer, ENOTCONN,
				   "no session; send hello first");
		return false;
	}
	if (!(message_kinds[type].senders & peer->role)) {
		refuse_role(peer, type, body);
		return false;
	}
	if (frames->has_payload != message_kinds[type].payload) {
		wire_server_drop(
			peer, EPROTO,
			frames->has_payload
				? "the message has an unexpected payload"
				: "the payload of the message is missing");
		return false;
	}
	if (refuse_busy(peer, type, body))
		return false;
	return type != MESSAGE_HELLO || greet(peer, body);
}
