/* message.h - every message between agent, controller and command line.
 *
 * On the wire a message is a frame of CBOR (RFC 8949), the object {"type":
 * "log-ack", ...} with its type first, and for the kinds that say so a second
 * frame of raw bytes. Two kinds are JSON, so that peers of all versions
 * understand them: hello, which says the version, and refused.
 * message_kinds[] says for each type its name, its fields and who may send it;
 * everything that handles messages walks that table.
 *
 * Every message may arrive twice; handlers are idempotent. A task is named by
 * job, attempt and rank throughout.
 */
#pragma once

#include "protocol/message/codec.h"
#include "protocol/message/device_info.h"
#include "protocol/message/image_info.h"
#include "protocol/message/query.h"
#include "protocol/message/rank_end.h"
#include "protocol/message/role.h"
#include "protocol/message/spec.h"

#define PROTOCOL_VERSION 3
#define MESSAGE_TEXT_MAX 1048576    /* bytes of the first frame */
#define MESSAGE_REPLY_MAX 4194304   /* of one that only a controller sends */
#define MESSAGE_PAYLOAD_MAX 1048576 /* bytes of the raw frame */

enum message_type {
	MESSAGE_NONE,
	/* both directions */
	MESSAGE_HEARTBEAT,
	MESSAGE_REFUSED,
	/* agent or client to controller, first in every session */
	MESSAGE_HELLO,
	/* agent to controller */
	MESSAGE_REPORT,
	MESSAGE_TASK,
	MESSAGE_PROGRESS,
	MESSAGE_LOG,
	MESSAGE_DISCARDED,
	MESSAGE_INVENTORY,
	MESSAGE_BLOB_WANT,
	MESSAGE_IMAGE_STATE,
	MESSAGE_IMAGE_ROOM,
	/* agent to agent, controller to agent and back */
	MESSAGE_BLOB_READ,
	MESSAGE_BLOB_PIECE,
	MESSAGE_COMMAND,
	MESSAGE_COMMAND_ANSWER,
	/* controller to agent */
	MESSAGE_WELCOME, /* to clients too */
	MESSAGE_PREPARE,
	MESSAGE_START,
	MESSAGE_STOP,
	MESSAGE_DISCARD,
	MESSAGE_OBSERVE,
	MESSAGE_LOG_ACK,
	MESSAGE_RESYNC,
	MESSAGE_BLOB_FROM,
	MESSAGE_BLOB_GRANT,
	MESSAGE_IMAGE_DO,
	/* client to controller */
	MESSAGE_SUBMIT,
	MESSAGE_PLAN,
	MESSAGE_CANCEL,
	MESSAGE_RETRY,
	MESSAGE_STACKS,
	MESSAGE_QUERY,
	MESSAGE_LOG_READ,
	MESSAGE_BLOB_PUT,
	MESSAGE_BLOB_GET,
	MESSAGE_IMAGE_OPERATION,
	MESSAGE_IMAGE_LIST,
	MESSAGE_TOKEN,
	MESSAGE_ADMIT,
	MESSAGE_REVOKE,
	MESSAGE_DRAIN,
	MESSAGE_LABEL,
	MESSAGE_NOTE,
	MESSAGE_BACKUP,
	MESSAGE_GC,
	MESSAGE_SIGN,
	MESSAGE_ROTATE_CONTROLLER,
	/* person or agent to controller */
	MESSAGE_ROTATE,
	/* holder of a token to controller */
	MESSAGE_ENROL,
	/* controller to client */
	MESSAGE_REPLY,
	MESSAGE_TYPES
};

struct message_heartbeat {
	uint64_t time_ms;      /* sender's wall clock */
	char *next_key;        /* of the controller: its public key to come */
	uint32_t heartbeat_ms; /* of the controller: as in welcome, from now on
				*/
};

/* A request, or with request 0 the whole session, is refused; text says why. */
struct message_refused {
	uint64_t request;
	int64_t code; /* errno value */
	char *text;
};

struct message_hello {
	uint32_t version; /* PROTOCOL_VERSION */
	char *software;   /* "regatta-agent 0.1.0" */
	bool visits;      /* a command that uses an agent's key, not the agent
			     itself */
	/* An agent also says: */
	char *instance; /* random, new at each start of the agent */
	char *cluster;  /* labels of its containers */
	char *address;  /* where other nodes reach this one: MASTER_ADDR */
	char *vendor;
	uint32_t devices;
	char *peers;   /* endpoint at which other agents fetch blobs */
	char *machine; /* identifier of the machine (machine_id()); NULL: it has
			  none */
	cJSON *facts;  /* host facts, an object */
	struct device_info *inventory; /* empty: only their number is known */
	size_t inventory_count;
};

/* The node's devices, its policy as a file, and whether its engine answers,
 * when something about them changed since hello.
 */
struct message_inventory {
	struct device_info *inventory;
	size_t inventory_count;
	cJSON *facts; /* as in hello */
	char *engine; /* why the engine is away; NULL: it answers */
};

/* Contents: files by the SHA-256 of their bytes (protocol/blob/blob_store.h).
 * An agent that wants one asks the controller for a source: a node that has it
 * or is receiving it. It reads the blob from there in pieces, in their
 * order, and asks again when that source fails.
 */

/* The agent has `length` bytes of it so far. With all of them it may serve
 * others.
 */
struct message_blob_want {
	char *hash;
	uint64_t length;
	char *source; /* the node it reads from ("": the controller): only a
			 report; NULL: name a source */
	char *failed; /* the source named last, which failed; NULL: none */
	bool none;    /* that source does not have the blob */
	bool awaited; /* the blob may still be uploaded: answer once it is
			 there */
};

/* The source: the agent `name`, or NULL: the controller itself. The blob has
 * `bytes` bytes. With a text there is no source; it says why.
 */
struct message_blob_from {
	char *hash;
	uint64_t bytes;
	char *name;
	char *endpoint;
	char *public;
	int64_t code;
	char *text;
};

/* Let the agent of this key read the blob. public NULL: no longer any. */
struct message_blob_grant {
	char *name;
	char *public;
	char *hash;
};

/* Send me these bytes as one piece, once they are there. */
struct message_blob_read {
	char *hash;
	uint64_t offset;
	uint32_t size; /* 1 .. MESSAGE_PAYLOAD_MAX */
};

/* Payload: the bytes. With a text there are none; it says why. */
struct message_blob_piece {
	char *hash;
	uint64_t offset;
	int64_t code;
	char *text;
};

struct message_welcome {
	uint32_t version;
	uint32_t heartbeat_ms; /* send a message at least this often */
	uint64_t credit_bytes; /* log bytes that may be under way unacked */
	uint64_t time_ms;      /* controller's wall clock */
	char *next_key;        /* as in heartbeat */
};

struct stream_size {
	char *name;
	uint64_t size;
};

/* A path of the container that the sweep asked for, as a tar file. */
struct collected_file {
	char *path;
	char *content;  /* its hash; NULL: there is none */
	uint64_t bytes; /* of the tar file */
	char *text;     /* why there is none */
};
extern const struct schema collected_file_schema;

/* The state of one task, as its agent reports it. */
struct task_status {
	uint64_t job;
	uint32_t attempt;
	uint32_t rank;
	char *state;    /* task_state_name() */
	char *failure;  /* failure_name(), when it failed */
	char *text;     /* why, one sentence */
	int64_t code;   /* errno value behind the failure, 0: none */
	uint32_t port;  /* ready: a TCP port that was free for the rendezvous */
	char *image_id; /* sha256:... of the image it was created from */
	char *image_pin;     /* what the image's name resolves to on this node:
				name@sha256:..., an id, or the name:tag of a built
				one */
	char *image_look;    /* answer to task_spec.look: the same; "": there is
				none */
	int64_t exit_code;   /* ended: of the command */
	uint64_t started_ms; /* wall clock of the node, 0: never */
	uint64_t ended_ms;
	uint64_t memory_peak_bytes;
	struct strings ulimits; /* ended: that the command had,
				   "nofile=SOFT:HARD" */
	struct rank_end *ends;  /* ended: of its processes */
	size_t ends_count;
	struct stream_size *streams; /* from running on; ended: final */
	size_t streams_count;
	bool collecting; /* ended, but files are still being collected */
	struct collected_file *files; /* when that is done */
	size_t files_count;
	cJSON *facts; /* of the host when the task was checked: those of hello's
			 that change, and "warnings", sentences */
};
extern const struct schema task_status_schema;

/* All tasks that the agent has; it has no other task of this cluster. */
struct message_report {
	struct task_status *tasks;
	size_t tasks_count;
	uint64_t until_ms; /* wall clock of the node, when it begins to leave;
			      0: never */
	bool leaving;      /* it takes no new task, and ends once it has none */
};

struct message_task {
	struct task_status task;
};

/* The image of a task that is being prepared. */
struct message_progress {
	uint64_t job;
	uint32_t attempt;
	uint32_t rank;
	struct image_progress image;
};

/* Payload: the bytes of the stream from offset on. */
struct message_log {
	uint64_t job;
	uint32_t attempt;
	uint32_t rank;
	char *stream;
	uint64_t offset;
	uint32_t turn; /* counts how often the agent started the stream again;
			  acks repeat it, so that late ones are recognized */
};

/* The controller's file has length bytes; continue there. refused: the bytes
 * were not stored. Send everything from length on again, after retry_ms.
 */
struct message_log_ack {
	uint64_t job;
	uint32_t attempt;
	uint32_t rank;
	char *stream;
	uint64_t length;
	uint32_t turn;
	bool refused;
	uint32_t retry_ms;
};

struct message_prepare {
	struct task_spec task;
};

struct message_start {
	uint64_t job;
	uint32_t attempt;
	uint32_t rank;
	char *master_addr;
	uint32_t master_port;
	uint64_t time_ms; /* of the gang's start, wall clock of the controller
			   */
	struct strings addresses; /* of all nodes, by rank; only for a container
				     that wants them */
};

struct message_stop {
	uint64_t job;
	uint32_t attempt;
	uint32_t rank;
	char *reason; /* failure_name() of the reason */
	bool done;    /* no failure: the job's work is done */
};

/* A command that one task of a job runs in another one (container_spec.ssh). It
 * is sent again until it is answered. Payload: the request, as in
 * agent/init/init.h. The controller forwards it to the agent of the other task.
 */
#define COMMAND_ID_SIZE 33
struct message_command {
	uint64_t job;
	uint32_t attempt;
	uint32_t rank; /* node rank of the task that asks */
	char *id;      /* of the request there: 1 to 32 of 0-9, a-f */
	char *host;    /* address or name of a node of the job, or localhost */
	uint32_t to;   /* set by the controller: node rank of that node */
};
bool command_id_valid(const char *id);

/* How it ended. Payload: the answer, as in agent/init/init.h. With a text it
 * was not run; the text says why.
 */
struct message_command_answer {
	uint64_t job;
	uint32_t attempt;
	uint32_t rank; /* as in the command */
	char *id;
	char *text;
};

/* MESSAGE_DISCARD: remove container and spool; everything is collected.
 * MESSAGE_DISCARDED: they are removed.
 */
struct message_discard {
	uint64_t job;
	uint32_t attempt;
	uint32_t rank;
};

/* Observe the task's processes, and append the result to its stream of evidence
 * (protocol/message/evidence.h) as this round. Of the rounds that are requested
 * while one is under way, only the last one is carried out.
 */
struct message_observe {
	uint64_t job;
	uint32_t attempt;
	uint32_t rank;
	uint64_t round; /* not 0 */
	bool stops;     /* tools may pause the processes meanwhile */
};

struct message_resync {
	bool unused; /* a message without fields */
};

/* A folder that is uploaded with a sweep. */
struct submit_workspace {
	char *path;    /* as in the sweep file */
	char *content; /* hash of its tar file, uploaded before */
};

/* Payload: the text of the sweep file. */
struct message_submit {
	uint64_t request;
	char *file;  /* its name, for error messages */
	char *token; /* random, chosen by the client: a submit that is sent
			twice is carried out once and answered twice */
	bool resume; /* take over what completed in sweeps of this name */
	struct submit_workspace *workspaces;
	size_t workspaces_count;
	struct registry_login *logins; /* sealed for the controller */
	size_t logins_count;
};

/* What would become of a sweep? Payload: the text of its file. Nothing is
 * stored. E2BIG: more jobs than a submit takes.
 */
struct message_plan {
	uint64_t request;
	char *file;    /* its name, for error messages */
	uint32_t rows; /* the first cells, that are described; the controller
			  may describe fewer */
	bool images;   /* list the images with their nodes, too */
	struct submit_workspace *workspaces; /* need not be uploaded */
	size_t workspaces_count;
};

struct message_cancel {
	uint64_t request;
	char *kind; /* "sweep" or "job" */
	uint64_t id;
	bool force; /* also one of another operator */
};

/* Observe all ranks of a running job. The result goes into its streams of
 * evidence (protocol/message/evidence.h). ENOENT: it does not run.
 */
struct message_stacks {
	uint64_t request;
	uint64_t job;
};

/* Failed and cancelled jobs of the sweep are queued again as new attempts.
 */
struct message_retry {
	uint64_t request;
	uint64_t sweep;
	struct registry_login *logins; /* as in submit */
	size_t logins_count;
	bool force; /* as in cancel */
};

/* A new token. A token is a key pair; the controller gets the public half only.
 * Who connects with the token's key has the role joiner and can only enrol.
 */
struct message_token {
	uint64_t request;
	char *public;
	char *role;    /* that the enrolled key gets: agent, operator, viewer */
	char *name;    /* that it gets; NULL: it chooses one, only agents may */
	bool renew;    /* the present key of that name is revoked then */
	uint32_t uses; /* 0: 1 */
	uint32_t for_s; /* valid for so long; 0: an hour */
	char *from;     /* network that it may be used from; NULL: any */
};

/* Accept a key that its owner made. */
struct message_admit {
	uint64_t request;
	char *name;
	char *role;
	char *public;
};

/* Refuse its keys from now on, and close its open sessions. A node is removed
 * with its key, and its tasks are ended. EPERM: it runs tasks, and force is not
 * set.
 */
struct message_revoke {
	uint64_t request;
	char *kind; /* "node", "user" or "token" */
	char *name;
	bool force; /* its tasks may be lost */
};

/* The node gets no new task from from_ms (0: now) until until_ms (0: for good).
 * undrain ends that.
 */
struct message_drain {
	uint64_t request;
	char *node;
	bool undrain;
	uint64_t from_ms;
	uint64_t until_ms;
	char *reason;
};

/* Labels of a node: texts are set, nulls removed. */
struct message_label {
	uint64_t request;
	char *node;
	cJSON *labels; /* an object */
};

/* Say why a queued job does not start: it is shown instead of what the
 * controller knows. The job's start, or "", ends that. For who brings nodes.
 */
#define NOTE_TEXT_MAX 240
struct message_note {
	uint64_t request;
	uint64_t job;
	char *text;
};

/* Make a backup with this id (32 characters, chosen by the client), or continue
 * to read it. Payload of the reply: the bytes from offset on. An offset at its
 * end removes the backup.
 */
struct message_backup {
	uint64_t request;
	char *id;
	uint64_t offset;
};

/* Remove the output and the collected files of final jobs with ids above
 * `after` that ended at least older_ms ago; with `sweep`, instead, that sweep
 * with all that is known of it.
 */
struct message_gc {
	uint64_t request;
	uint64_t after;
	uint64_t older_ms;
	uint64_t sweep;
	bool force;   /* of another operator */
	bool goes_on; /* continues an earlier message */
	bool dry_run; /* only tell what would be removed */
};

/* Sign the manifest of the files of a sweep. */
struct message_sign {
	uint64_t request;
	uint64_t sweep;
	char *manifest; /* its SHA-256 */
};

/* Enrol this key. The same again is answered as before. */
struct message_enrol {
	uint64_t request;
	bool agent; /* it is an agent's */
	char *name; /* proposed, where the token does not set one */
	char *public;
	char *machine; /* as in hello */
};

/* Replace the sender's key by this one. Both are valid for keep_s. The same
 * message again, with either key, is answered as before.
 */
struct message_rotate {
	uint64_t request;
	char *public;
	uint32_t keep_s; /* 0: a day */
	uint32_t for_s;  /* how long the new one is valid; 0: without end */
};

/* Make a new key for the controller, valid in keep_s. EBUSY: an earlier
 * rotation is not finished.
 */
struct message_rotate_controller {
	uint64_t request;
	uint32_t keep_s; /* 0: a week */
};

/* With wait_ms the reply waits until something has changed after `since`, which
 * is the "since" of an earlier reply. Reply: query_replies[what].
 */
struct message_query {
	uint64_t request;
	uint32_t what; /* enum query_kind, which defines the other fields */
	uint64_t id;
	char *name;
	uint64_t after;
	uint32_t limit; /* rows; 0: as many as fit in one reply, at most 1,000
			 */
	uint64_t since;
	uint32_t wait_ms;
	struct strings keys; /* of cells, for "history": at most 1,000 */
};

/* Payload of the reply: the bytes. wait_ms: while there are none, the reply
 * waits until there are or the job has ended.
 */
struct message_log_read {
	uint64_t request;
	uint64_t job;
	uint32_t attempt; /* 0: the last */
	char *stream;     /* NULL: only list the streams */
	uint64_t offset;
	uint64_t tail_lines; /* with offset 0: begin so many lines before the
				end */
	uint32_t wait_ms;
	bool timestamps;
};

/* An image that must stay, because jobs that are not final need it. */
struct image_need {
	char *reference; /* as in the sweep, or what it resolves to there */
	char *build;     /* the folder that it is built from, or NULL */
	uint64_t sweep;
	uint64_t jobs; /* of the sweep, that are not final */
};

/* What an image operation shall do. */
enum image_kind {
	IMAGE_ENSURE = 1, /* pull the image, or build it */
	IMAGE_LOAD,
	IMAGE_SAVE,
	IMAGE_LIST,
	IMAGE_REMOVE,
	IMAGE_PRUNE, /* remove those that no job needs */
	IMAGE_KINDS,
};
extern const char *const image_kind_names[IMAGE_KINDS + 1];

struct image_spec {
	char *id; /* 64 hex digits; to load: the hash of the bundle, which was
		     uploaded before */
	uint32_t kind;
	char *image; /* to ensure, to save, to remove; to build: the name to
			give; to load: for people */
	char *build; /* to ensure: the folder, below the images folder; NULL:
			pull */
	struct strings ids; /* to remove: ids of the image on other nodes; such
			       an image is removed where it has no tag */
	struct registry_login *logins; /* to ensure: sealed for who gets it */
	size_t logins_count;
	uint32_t keep; /* prune: so many of the newest of each repository stay;
			*/
	uint64_t floor_bytes;   /* until so many bytes are free on disk; */
	uint32_t floor_percent; /* or this share; neither: all may go */
	bool dry_run;           /* prune: only list what would go */
	bool replace; /* load: take over names that other images have */
};
extern const struct schema image_spec_schema;

/* Carry out an image operation. May come twice; what is done already is not
 * done again.
 */
struct message_image_do {
	struct image_spec spec;
	struct image_need
		*needs; /* to list, remove and prune: what must stay */
	size_t needs_count;
};

/* The state of an image operation; text explains a failure. */
struct message_image_state {
	char *operation; /* its id */
	struct image_progress progress;
	char *content; /* of a saved image that is ready, of total_bytes */
	char *output;  /* of a build: what it printed since the last message */
	struct image_info *images; /* list: all; remove, gc: the removed ones */
	size_t images_count;
	uint64_t left_out; /* images that did not fit into the message */
	bool by_itself;    /* the node's own settings started it, not a person
			    */
	int64_t code;
	char *text;
};

/* The node's disk has too little free space for images. The controller answers
 * with the images that must stay: MESSAGE_IMAGE_DO of this id, prune.
 */
struct message_image_room {
	char *operation; /* 64 random hex digits */
};

/* Carry out an image operation on nodes. The reply lists the nodes. The query
 * "image" with its id gives the progress. The same id again is the same
 * operation: nodes that work on it continue, others start again, and skip what
 * is done.
 */
struct message_image_operation {
	uint64_t request;
	struct image_spec spec; /* any kind but list */
	struct strings nodes;   /* empty: all connected ones; to save, one that
				   has it; to build a vendor's, its nodes */
};

/* The same for "list", which changes nothing: viewers may send it. */
struct message_image_list {
	uint64_t request;
	char *operation;
	struct strings nodes;
};

/* Payload: bytes of a blob that has `bytes` bytes in all, from offset on.
 * Without a payload it only asks how much is there. Bytes that do not continue
 * what is there are ignored.
 */
struct message_blob_put {
	uint64_t request;
	char *hash;
	uint64_t bytes;
	uint64_t offset;
};

/* Payload of the reply: its bytes from offset on, as many as fit in one reply.
 */
struct message_blob_get {
	uint64_t request;
	char *hash;
	uint64_t offset;
	uint64_t job; /* that it is a file of; 0: no job's, for operators */
};

/* Payload where the request says so. */
struct message_reply {
	uint64_t request;
	struct packed body; /* message_reply_schema() of what was asked */
};

struct message_kind {
	const char *name; /* in "type" */
	const struct schema *schema;
	unsigned int senders; /* roles */
	bool payload;
	bool audited; /* kept in the audit log with its outcome; of a series of
			 requests only the first one */
	const char *does; /* of people's requests: a line for the manual */
	const struct schema *reply; /* of a request; a query: query_replies */
};
extern const struct message_kind message_kinds[MESSAGE_TYPES];

/* The reply of a request (protocol/message/reply_*.h); NULL: no request. */
const struct schema *message_reply_schema(enum message_type type,
					  const void *body);

/* Is it JSON on the wire? */
bool message_is_text(enum message_type type);

/* Append the message in its wire form. body: the struct of the type. */
int message_encode(enum message_type type, const void *body, struct buffer *out,
		   struct error *err);

/* Decode a message; EPROTO names the fault. On success *body is the type's
 * struct on the heap, for message_free(). On failure *type and *body are
 * unchanged.
 */
int message_decode(const char *data, size_t size, enum message_type *type,
		   void **body, struct error *err);

/* Decode the first of several messages in a row; *data and *size become the
 * rest. A message that is JSON is always alone.
 */
int message_next(const char **data, size_t *size, enum message_type *type,
		 void **body, struct error *err);
void message_free(enum message_type type, void *body);
