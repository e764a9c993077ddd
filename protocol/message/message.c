/* message.c - every message between agent, controller and command line.
 */
#include "protocol/message/message.h"
#include "protocol/message/codec_internal.h"
#include "protocol/message/reply_access.h"
#include "protocol/message/reply_images.h"
#include "protocol/message/reply_jobs.h"
#include "protocol/message/reply_logs.h"
#include "protocol/message/reply_nodes.h"
#include "protocol/message/reply_sweeps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
#define TASK_NAME(t) FIELD(t, job), FIELD(t, attempt), FIELD(t, rank)

static const struct schema stream_size_schema = SCHEMA(stream_size,
	FIELD(stream_size, name),
	FIELD(stream_size, size));

const struct schema collected_file_schema = SCHEMA(collected_file,
	FIELD(collected_file, path),
	FIELD_OPTIONAL(collected_file, content),
	FIELD_OPTIONAL(collected_file, bytes),
	FIELD_OPTIONAL(collected_file, text));

static const struct schema rank_end_schema = SCHEMA(rank_end,
	FIELD(rank_end, rank),
	FIELD(rank_end, exit_code),
	FIELD_OPTIONAL(rank_end, signal),
	FIELD(rank_end, ended_ms));

const struct schema task_status_schema = SCHEMA(task_status,
	TASK_NAME(task_status),
	FIELD(task_status, state),
	FIELD_OPTIONAL(task_status, failure),
	FIELD_OPTIONAL(task_status, text),
	FIELD_OPTIONAL(task_status, code),
	FIELD_OPTIONAL(task_status, port),
	FIELD_OPTIONAL(task_status, image_id),
	FIELD_OPTIONAL(task_status, image_pin),
	FIELD_OPTIONAL(task_status, image_look),
	FIELD_OPTIONAL(task_status, exit_code),
	FIELD_OPTIONAL(task_status, started_ms),
	FIELD_OPTIONAL(task_status, ended_ms),
	FIELD_OPTIONAL(task_status, memory_peak_bytes),
	FIELD_OPTIONAL(task_status, ulimits),
	FIELD_MANY(task_status, ends, rank_end_schema),
	FIELD_MANY(task_status, streams, stream_size_schema),
	FIELD_OPTIONAL(task_status, collecting),
	FIELD_MANY(task_status, files, collected_file_schema),
	FIELD_OPTIONAL(task_status, facts));


static const struct schema image_need_schema = SCHEMA(image_need,
	FIELD(image_need, reference),
	FIELD_OPTIONAL(image_need, build),
	FIELD_OPTIONAL(image_need, sweep),
	FIELD_OPTIONAL(image_need, jobs));

const char *const image_kind_names[IMAGE_KINDS + 1] = {
	[0] = "",
	[IMAGE_ENSURE] = "ensure",
	[IMAGE_LOAD] = "load",
	[IMAGE_SAVE] = "save",
	[IMAGE_LIST] = "list",
	[IMAGE_REMOVE] = "remove",
	[IMAGE_PRUNE] = "prune",
};

const struct schema image_spec_schema = SCHEMA(image_spec,
	FIELD(image_spec, id),
	FIELD_NAMED(image_spec, kind, image_kind_names),
	FIELD_OPTIONAL(image_spec, image),
	FIELD_OPTIONAL(image_spec, build),
	FIELD_OPTIONAL(image_spec, ids),
	FIELD_MANY(image_spec, logins, registry_login_schema),
	FIELD_OPTIONAL(image_spec, keep),
	FIELD_OPTIONAL(image_spec, floor_bytes),
	FIELD_OPTIONAL(image_spec, floor_percent),
	FIELD_OPTIONAL(image_spec, dry_run),
	FIELD_OPTIONAL(image_spec, replace));

static const struct schema submit_workspace_schema = SCHEMA(submit_workspace,
	FIELD(submit_workspace, path),
	FIELD(submit_workspace, content));

/* MESSAGE(name, fields): the schema of struct message_name. */
#define MESSAGE(n, ...)                                                        \
	static const struct schema n##_schema = SCHEMA(message_##n, __VA_ARGS__);
#define F(n, m) FIELD(message_##n, m)
#define O(n, m) FIELD_OPTIONAL(message_##n, m)
#define T(n) TASK_NAME(message_##n)

MESSAGE(heartbeat, F(heartbeat, time_ms), O(heartbeat, next_key),
	O(heartbeat, heartbeat_ms))
MESSAGE(refused, F(refused, request), F(refused, code), F(refused, text))
MESSAGE(hello, F(hello, version), F(hello, software), O(hello, visits),
	O(hello, instance),
	O(hello, cluster), O(hello, address), O(hello, vendor),
	O(hello, devices), O(hello, peers), O(hello, machine),
	O(hello, facts),
	FIELD_MANY(message_hello, inventory, device_info_schema))
MESSAGE(inventory, FIELD_MANY(message_inventory, inventory, device_info_schema),
	O(inventory, facts), O(inventory, engine))
MESSAGE(welcome, F(welcome, version), F(welcome, heartbeat_ms),
	F(welcome, credit_bytes), F(welcome, time_ms), O(welcome, next_key))
MESSAGE(report, FIELD_MANY(message_report, tasks, task_status_schema),
	O(report, until_ms), O(report, leaving))
MESSAGE(task, FIELD_EMBED(message_task, task, task_status_schema))
MESSAGE(progress, T(progress),
	IMAGE_PROGRESS_FIELDS(message_progress, image., false),
	IMAGE_PROGRESS_MOVING(message_progress, image.))
MESSAGE(log, T(log), F(log, stream), F(log, offset), F(log, turn))
MESSAGE(log_ack, T(log_ack), F(log_ack, stream), F(log_ack, length),
	F(log_ack, turn), O(log_ack, refused), O(log_ack, retry_ms))
MESSAGE(prepare, FIELD_EMBED(message_prepare, task, task_spec_schema))
MESSAGE(start, T(start), F(start, master_addr), F(start, master_port),
	O(start, time_ms), O(start, addresses))
MESSAGE(stop, T(stop), F(stop, reason), O(stop, done))
MESSAGE(command, T(command), F(command, id), F(command, host), O(command, to))
MESSAGE(command_answer, T(command_answer), F(command_answer, id),
	O(command_answer, text))
MESSAGE(discard, T(discard))
MESSAGE(observe, T(observe), F(observe, round), O(observe, stops))
MESSAGE(resync, O(resync, unused))
MESSAGE(submit, F(submit, request), F(submit, file), F(submit, token),
	O(submit, resume),
	FIELD_MANY(message_submit, workspaces, submit_workspace_schema),
	FIELD_MANY(message_submit, logins, registry_login_schema))
MESSAGE(plan, F(plan, request), F(plan, file), F(plan, rows), O(plan, images),
	FIELD_MANY(message_plan, workspaces, submit_workspace_schema))
MESSAGE(cancel, F(cancel, request), F(cancel, kind), F(cancel, id),
	O(cancel, force))
MESSAGE(stacks, F(stacks, request), F(stacks, job))
MESSAGE(retry, F(retry, request), F(retry, sweep),
	FIELD_MANY(message_retry, logins, registry_login_schema),
	O(retry, force))
MESSAGE(query, F(query, request),
	FIELD_NAMED(message_query, what, query_names), O(query, id),
	O(query, name), O(query, after), O(query, limit), O(query, since),
	O(query, wait_ms), O(query, keys))
MESSAGE(log_read, F(log_read, request), F(log_read, job),
	O(log_read, attempt), O(log_read, stream), O(log_read, offset),
	O(log_read, tail_lines), O(log_read, wait_ms), O(log_read, timestamps))
MESSAGE(blob_want, F(blob_want, hash), F(blob_want, length),
	O(blob_want, source), O(blob_want, failed),
	O(blob_want, none), O(blob_want, awaited))
MESSAGE(blob_from, F(blob_from, hash), O(blob_from, bytes),
	O(blob_from, name), O(blob_from, endpoint),
	O(blob_from, public), O(blob_from, code), O(blob_from, text))
MESSAGE(blob_grant, F(blob_grant, name), O(blob_grant, public),
	O(blob_grant, hash))
MESSAGE(blob_read, F(blob_read, hash), F(blob_read, offset),
	F(blob_read, size))
MESSAGE(blob_piece, F(blob_piece, hash), F(blob_piece, offset),
	O(blob_piece, code), O(blob_piece, text))
MESSAGE(image_do, FIELD_EMBED(message_image_do, spec, image_spec_schema),
	FIELD_MANY(message_image_do, needs, image_need_schema))
MESSAGE(image_state, F(image_state, operation),
	IMAGE_PROGRESS_FIELDS(message_image_state, progress., false),
	O(image_state, content), O(image_state, output),
	FIELD_MANY(message_image_state, images, image_info_schema),
	O(image_state, left_out), O(image_state, by_itself),
	O(image_state, code), O(image_state, text))
MESSAGE(image_room, F(image_room, operation))
MESSAGE(image_operation, F(image_operation, request),
	FIELD_EMBED(message_image_operation, spec, image_spec_schema),
	O(image_operation, nodes))
MESSAGE(image_list, F(image_list, request), F(image_list, operation),
	O(image_list, nodes))
MESSAGE(blob_put, F(blob_put, request), F(blob_put, hash),
	F(blob_put, bytes), F(blob_put, offset))
MESSAGE(blob_get, F(blob_get, request), F(blob_get, hash),
	F(blob_get, offset), F(blob_get, job))
MESSAGE(token, F(token, request), F(token, public), F(token, role),
	O(token, name), O(token, renew), O(token, uses), O(token, for_s),
	O(token, from))
MESSAGE(admit, F(admit, request), F(admit, name), F(admit, role),
	F(admit, public))
MESSAGE(revoke, F(revoke, request), F(revoke, kind), F(revoke, name),
	O(revoke, force))
MESSAGE(drain, F(drain, request), F(drain, node), O(drain, undrain),
	O(drain, from_ms), O(drain, until_ms), O(drain, reason))
MESSAGE(label, F(label, request), F(label, node), F(label, labels))
MESSAGE(note, F(note, request), F(note, job), F(note, text))
MESSAGE(backup, F(backup, request), F(backup, id), O(backup, offset))
MESSAGE(gc, F(gc, request), O(gc, after), F(gc, older_ms),
	O(gc, sweep), O(gc, force), O(gc, goes_on), O(gc, dry_run))
MESSAGE(sign, F(sign, request), F(sign, sweep), F(sign, manifest))
MESSAGE(rotate, F(rotate, request), F(rotate, public), O(rotate, keep_s),
	O(rotate, for_s))
MESSAGE(rotate_controller, F(rotate_controller, request),
	O(rotate_controller, keep_s))
MESSAGE(enrol, F(enrol, request), O(enrol, agent), O(enrol, name),
	F(enrol, public), O(enrol, machine))
MESSAGE(reply, F(reply, request), F(reply, body))

#define ANY (ROLE_AGENT | PERSON | ROLE_JOINER | ROLE_CONTROLLER)
#define PERSON (ROLE_OPERATOR | ROLE_VIEWER)

const struct message_kind message_kinds[MESSAGE_TYPES] = {
	[MESSAGE_HEARTBEAT] = { "heartbeat", &heartbeat_schema, ANY, false },
	[MESSAGE_REFUSED] = { "refused", &refused_schema, ROLE_CONTROLLER, false },
	[MESSAGE_HELLO] = { "hello", &hello_schema,
		ROLE_AGENT | PERSON | ROLE_JOINER, false },
	[MESSAGE_REPORT] = { "report", &report_schema, ROLE_AGENT, false },
	[MESSAGE_TASK] = { "task", &task_schema, ROLE_AGENT, false },
	[MESSAGE_PROGRESS] = { "progress", &progress_schema, ROLE_AGENT, false },
	[MESSAGE_LOG] = { "log", &log_schema, ROLE_AGENT, true },
	[MESSAGE_DISCARDED] = { "discarded", &discard_schema, ROLE_AGENT, false },
	[MESSAGE_INVENTORY] = { "inventory", &inventory_schema, ROLE_AGENT, false },
	[MESSAGE_BLOB_WANT] = { "blob-want", &blob_want_schema,
		ROLE_AGENT, false },
	[MESSAGE_IMAGE_STATE] = { "image-state", &image_state_schema, ROLE_AGENT,
		false },
	[MESSAGE_IMAGE_ROOM] = { "image-room", &image_room_schema, ROLE_AGENT,
		false },
	[MESSAGE_BLOB_READ] = { "blob-read", &blob_read_schema,
		ROLE_AGENT | ROLE_CONTROLLER, false },
	[MESSAGE_BLOB_PIECE] = { "blob-piece", &blob_piece_schema,
		ROLE_AGENT | ROLE_CONTROLLER, true },
	[MESSAGE_COMMAND] = { "command", &command_schema,
		ROLE_AGENT | ROLE_CONTROLLER, true },
	[MESSAGE_COMMAND_ANSWER] = { "command-answer", &command_answer_schema,
		ROLE_AGENT | ROLE_CONTROLLER, true },
	[MESSAGE_WELCOME] = { "welcome", &welcome_schema, ROLE_CONTROLLER, false },
	[MESSAGE_PREPARE] = { "prepare", &prepare_schema, ROLE_CONTROLLER, false },
	[MESSAGE_START] = { "start", &start_schema, ROLE_CONTROLLER, false },
	[MESSAGE_STOP] = { "stop", &stop_schema, ROLE_CONTROLLER, false },
	[MESSAGE_OBSERVE] = { "observe", &observe_schema, ROLE_CONTROLLER, false },
	[MESSAGE_DISCARD] = { "discard", &discard_schema, ROLE_CONTROLLER, false },
	[MESSAGE_LOG_ACK] = { "log-ack", &log_ack_schema, ROLE_CONTROLLER, false },
	[MESSAGE_RESYNC] = { "resync", &resync_schema, ROLE_CONTROLLER, false },
	[MESSAGE_BLOB_FROM] = { "blob-from", &blob_from_schema,
		ROLE_CONTROLLER, false },
	[MESSAGE_BLOB_GRANT] = { "blob-grant", &blob_grant_schema,
		ROLE_CONTROLLER, false },
	[MESSAGE_IMAGE_DO] = { "image-do", &image_do_schema, ROLE_CONTROLLER,
		false },
	[MESSAGE_SUBMIT] = { "submit", &submit_schema, ROLE_OPERATOR, true, true,
		"submit sweeps",
		&reply_submit_schema },
	[MESSAGE_PLAN] = { "plan", &plan_schema, PERSON, true, false,
		"plan sweeps",
		&reply_plan_schema },
	[MESSAGE_CANCEL] = { "cancel", &cancel_schema, ROLE_OPERATOR, false, true,
		"cancel sweeps and jobs",
		&reply_cancel_schema },
	[MESSAGE_RETRY] = { "retry", &retry_schema, ROLE_OPERATOR, false, true,
		"run failed jobs again",
		&reply_retry_schema },
	[MESSAGE_STACKS] = { "stacks", &stacks_schema, ROLE_OPERATOR, false,
		true, "inspect the processes of running jobs",
		&reply_stacks_schema },
	[MESSAGE_QUERY] = { "query", &query_schema, PERSON, false, false,
		"read sweeps, jobs, nodes and results" },
	[MESSAGE_LOG_READ] = { "log-read", &log_read_schema, PERSON, false, false,
		"read output of jobs",
		&reply_log_read_schema },
	[MESSAGE_BLOB_PUT] = { "blob-put", &blob_put_schema,
		ROLE_OPERATOR, true, true, "send workspaces and images",
		&reply_blob_put_schema },
	[MESSAGE_BLOB_GET] = { "blob-get", &blob_get_schema, PERSON,
		false, false, "fetch files of jobs",
		&reply_blob_get_schema },
	[MESSAGE_IMAGE_OPERATION] = { "image-operation", &image_operation_schema,
		ROLE_OPERATOR, false, true,
		"build, load, save, remove images",
		&reply_image_operation_schema },
	[MESSAGE_IMAGE_LIST] = { "image-list", &image_list_schema, PERSON,
		false, false, "list images of nodes",
		&reply_image_operation_schema },
	[MESSAGE_TOKEN] = { "token", &token_schema, ROLE_OPERATOR, false, true,
		"create join tokens",
		&reply_token_schema },
	[MESSAGE_ADMIT] = { "admit", &admit_schema, ROLE_OPERATOR, false, true,
		"accept keys",
		&reply_admit_schema },
	[MESSAGE_REVOKE] = { "revoke", &revoke_schema, ROLE_OPERATOR, false, true,
		"remove nodes, users and tokens",
		&reply_revoke_schema },
	[MESSAGE_DRAIN] = { "drain", &drain_schema, ROLE_OPERATOR, false, true,
		"drain and resume nodes",
		&reply_drain_schema },
	[MESSAGE_LABEL] = { "label", &label_schema, ROLE_OPERATOR, false, true,
		"label nodes",
		&reply_label_schema },
	[MESSAGE_NOTE] = { "note", &note_schema, ROLE_OPERATOR, false, true,
		"say why queued jobs wait",
		&reply_note_schema },
	[MESSAGE_BACKUP] = { "backup", &backup_schema, ROLE_OPERATOR, false, true,
		"make backups",
		&reply_backup_schema },
	[MESSAGE_GC] = { "gc", &gc_schema, ROLE_OPERATOR, false, true,
		"remove output of old jobs",
		&reply_gc_schema },
	[MESSAGE_SIGN] = { "sign", &sign_schema, ROLE_OPERATOR, false, true,
		"sign the files of a sweep",
		&reply_sign_schema },
	[MESSAGE_ROTATE_CONTROLLER] = { "rotate-controller",
		&rotate_controller_schema, ROLE_OPERATOR, false, true,
		"rotate the controller's key",
		&reply_rotate_controller_schema },
	[MESSAGE_ROTATE] = { "rotate", &rotate_schema, ROLE_AGENT | PERSON,
		false, true, "rotate one's own key", &reply_rotate_schema },
	[MESSAGE_ENROL] = { "enrol", &enrol_schema, ROLE_JOINER, false, true,
		"enrol one key with a join token",
		&reply_admit_schema },
	[MESSAGE_REPLY] = { "reply", &reply_schema, ROLE_CONTROLLER, true },
};
/* clang-format on */

bool command_id_valid(const char *id)
{
	return text_is_of(id, COMMAND_ID_SIZE - 1, ASCII_DIGITS "abcdef");
}

const struct schema *message_reply_schema(enum message_type type,
					  const void *body)
{
	const struct message_query *query = body;

	if (type == MESSAGE_QUERY && query->what < QUERY_KINDS)
		return query_replies[query->what];
	return message_kinds[type].reply;
}

bool message_is_text(enum message_type type)
{
	return type == MESSAGE_HELLO || type == MESSAGE_REFUSED;
}

int message_encode(enum message_type type, const void *body, struct buffer *out,
		   struct error *err)
{
	const struct message_kind *kind = &message_kinds[type];
	struct json_text_sink text;
	struct cbor_bytes_sink bytes;
	struct token_sink *sink = message_is_text(type)
					  ? json_text_sink(&text, out, err)
					  : cbor_bytes_sink(&bytes, out, err);
	size_t size = out->size;

	if (codec_write(kind->schema, body, kind->name, sink) == 0)
		return 0;
	codec_undo(out, size);
	return error_prefix(err, "%s", kind->name);
}

static enum message_type type_named(const struct token *name)
{
	for (int i = 1; i < MESSAGE_TYPES; i++)
		if (token_is(name, message_kinds[i].name))
			return (enum message_type)i;
	return MESSAGE_NONE;
}

static int no_type(const struct token *name, struct error *err)
{
	bool text = name->kind == TOKEN_TEXT;

	return error_set(err, EPROTO, "type: '%.*s' is not a message",
			 !text             ? 7
			 : name->size < 40 ? (int)name->size
					   : 40,
			 text ? name->text : "nothing");
}

static int too_long(const char *name, size_t size, size_t max,
		    struct error *err)
{
	return error_set(err, EPROTO, "%s of %zu bytes; expected at most %zu",
			 name, size, max);
}

/* The members behind the type. */
static int read_body(enum message_type type, struct token_source *source,
		     size_t members, void **body)
{
	const struct message_kind *kind = &message_kinds[type];
	void *space = malloc(kind->schema->size);

	if (!space)
		return error_nomem(source->err, kind->name);
	if (codec_read_members(kind->schema, source, members, space) < 0) {
		free(space);
		return error_prefix(source->err, "%s", kind->name);
	}
	*body = space;
	return 0;
}

static int read_message(struct token_source *source, enum message_type *type,
			void **body)
{
	struct token token, name = { .kind = TOKEN_NONE };

	if (source->next(source, &token) < 0)
		return error_prefix(source->err, "message");
	if (token.kind != TOKEN_OBJECT)
		return no_type(&name, source->err);
	if (token.size && source->next(source, &name) < 0)
		return error_prefix(source->err, "message");
	if (!token_is(&name, "type"))
		return no_type(&(struct token){ 0 }, source->err);
	if (source->next(source, &name) < 0)
		return error_prefix(source->err, "message");
	*type = type_named(&name);
	if (!*type)
		return no_type(&name, source->err);
	if (message_is_text(*type) != source->json)
		return error_set(source->err, EPROTO,
				 "%s: %s is not valid here; expected %s",
				 message_kinds[*type].name,
				 source->json ? "JSON" : "CBOR",
				 source->json ? "CBOR" : "JSON");
	return read_body(*type, source, token.size - 1, body);
}

/* Texts come alone: all of it is one message. */
static int message_read_text(const char *data, size_t size,
			     enum message_type *type, void **body,
			     struct error *err)
{
	cJSON *object = codec_parse(data, size, err);
	struct json_tree_source tree;
	int rc;

	if (!object)
		return error_prefix(err, "message");
	rc = read_message(json_tree_source(&tree, object, err), type, body);
	cJSON_Delete(object);
	return rc;
}

int message_next(const char **data, size_t *size, enum message_type *type,
		 void **body, struct error *err)
{
	enum message_type found = MESSAGE_NONE;
	struct cbor_bytes_source bytes;
	size_t used = *size;
	void *space = NULL;

	if (*size > MESSAGE_REPLY_MAX)
		return too_long("message", *size, MESSAGE_REPLY_MAX, err);
	if (*size && **data == '{') {
		if (message_read_text(*data, *size, &found, &space, err) < 0)
			return -1;
	} else {
		if (read_message(cbor_bytes_source(&bytes, *data, *size, err),
				 &found, &space) < 0)
			return -1;
		used = bytes.at;
	}
	if (used > MESSAGE_TEXT_MAX &&
	    message_kinds[found].senders != ROLE_CONTROLLER) {
		message_free(found, space);
		return too_long(message_kinds[found].name, used,
				MESSAGE_TEXT_MAX, err);
	}
	*data += used;
	*size -= used;
	*type = found;
	*body = space;
	return 0;
}

int message_decode(const char *data, size_t size, enum message_type *type,
		   void **body, struct error *err)
{
	enum message_type found = MESSAGE_NONE;
	size_t left = size;
	void *space = NULL;

	if (message_next(&data, &left, &found, &space, err) < 0)
		return -1;
	if (left) {
		message_free(found, space);
		return error_set(err, EPROTO,
				 "message: unexpected bytes after it, at byte "
				 "%zu",
				 size - left);
	}
	*type = found;
	*body = space;
	return 0;
}

void message_free(enum message_type type, void *body)
{
	if (!body)
		return;
	codec_clear(message_kinds[type].schema, body);
	free(body);
}
