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
#ifndef PROTOCOL_MESSAGE_MESSAGE_H
#define PROTOCOL_MESSAGE_MESSAGE_H

#include "protocol/message/codec.h"
#include "protocol/message/device_info.h"
#include "protocol/message/image_info.h"
#include "protocol/message/moving_layer.h"
#include "protocol/message/query.h"
#include "protocol/message/role.h"
#include "protocol/message/spec.h"

#define PROTOCOL_VERSION 2
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
	MESSAGE_CONTENT_WANT,
	MESSAGE_IMAGE_STATE,
	MESSAGE_IMAGE_ROOM,
	/* agent to agent, controller to agent and back */
	MESSAGE_CONTENT_READ,
	MESSAGE_CONTENT_PIECE,
	MESSAGE_COMMAND,
	MESSAGE_COMMAND_ANSWER,
	/* controller to agent */
	MESSAGE_WELCOME, /* to clients too */
	MESSAGE_PREPARE,
	MESSAGE_START,
	MESSAGE_STOP,
	MESSAGE_DISCARD,
	MESSAGE_LOOK,
	MESSAGE_LOG_ACK,
	MESSAGE_RESYNC,
	MESSAGE_CONTENT_FROM,
	MESSAGE_CONTENT_GRANT,
	MESSAGE_IMAGE_DO,
	/* client to controller */
	MESSAGE_SUBMIT,
	MESSAGE_CANCEL,
	MESSAGE_RETRY,
	MESSAGE_STACKS,
	MESSAGE_QUERY,
	MESSAGE_LOG_READ,
	MESSAGE_CONTENT_PUT,
	MESSAGE_CONTENT_GET,
	MESSAGE_IMAGE_ORDER,
	MESSAGE_IMAGE_LIST,
	MESSAGE_TOKEN,
	MESSAGE_ADMIT,
	MESSAGE_REVOKE,
	MESSAGE_DRAIN,
	MESSAGE_LABEL,
	MESSAGE_BACKUP,
	MESSAGE_GC,
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
	uint64_t time_ms; /* sender's wall clock */
	char *next_key;   /* of the controller: its public key to come */
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
	bool visits; /* with an agent's key, but not its agent: it has something
			to ask */
	/* An agent also says: */
	char *instance; /* random, new at each start of the agent */
	char *cluster;  /* labels of its containers */
	char *address;  /* where other nodes reach this one: MASTER_ADDR */
	char *vendor;
	uint32_t devices;
	char *peers;   /* where other agents get contents of it: an endpoint */
	char *machine; /* which machine it runs on: stays the same when it
			  starts again; NULL: not told */
	cJSON *facts;  /* host facts, an object */
	struct device_info *inventory; /* none: its devices are only counted */
	size_t inventory_count;
};

/* The node's devices, and its policy as a file, when something about them
 * changed since hello.
 */
struct message_inventory {
	struct device_info *inventory;
	size_t inventory_count;
	char *policy; /* as the fact of that name; NULL: none is told */
};

/* Contents: files by the SHA-256 of their bytes (protocol/blob/blob_store.h).
 * Who wants one is told who has it, or is getting it; reads it from there in
 * pieces, in their order; and asks again when that one does not do.
 */

/* The agent has `length` bytes of it so far (all: it may give it to others). */
struct message_content_want {
	char *hash;
	uint64_t length;
	char *source; /* it reads from there, "" the controller: this is only
			 news; NULL: tell me whom to ask */
	char *failed; /* whom it was told to ask last, in vain; NULL: none */
	bool none;    /* that one said that it has none of it */
	bool awaited; /* a person may be putting it there: when there is none
			 yet, tell me as soon as there is */
};

/* The answer: of `bytes` bytes, to be had from the agent `name`, or (NULL) from
 * the controller itself. With a text: it is not to be had, and why.
 */
struct message_content_from {
	char *hash;
	uint64_t bytes;
	char *name;
	char *endpoint;
	char *public;
	int64_t code;
	char *text;
};

/* Let the agent of this key read contents; without a key: no longer. */
struct message_content_grant {
	char *name;
	char *public;
};

/* Send me these bytes as one piece, once they are there. */
struct message_content_read {
	char *hash;
	uint64_t offset;
	uint32_t size; /* 1 .. MESSAGE_PAYLOAD_MAX */
};

/* Payload: the bytes; or a text: why there are none. */
struct message_content_piece {
	char *hash;
	uint64_t offset;
	int64_t code;
	char *text;
};

struct message_welcome {
	uint32_t version;
	uint32_t heartbeat_ms; /* say something at least this often */
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

/* How the process of a rank ended that regatta-init started. */
struct rank_end {
	uint32_t rank; /* global */
	uint32_t exit_code;
	uint32_t signal;   /* that ended it; 0: none */
	uint64_t ended_ms; /* wall clock of the node */
};
extern const struct schema rank_end_schema;

/* What an agent says of one task. */
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
	char *image_pin; /* what the name of its image means here: name@sha256:
			    ..., an id, or name:tag of one that is built */
	int64_t exit_code;   /* ended: of the command */
	uint64_t started_ms; /* wall clock of the node, 0: never */
	uint64_t ended_ms;
	uint64_t memory_peak_bytes;
	struct rank_end *ends; /* ended: of its processes */
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

/* All the tasks that the agent has: nothing else of this cluster is there. */
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

/* Image transfer of a task that is being prepared. */
struct message_progress {
	uint64_t job;
	uint32_t attempt;
	uint32_t rank;
	char *phase; /* image_phase_name() */
	uint64_t done_bytes;
	uint64_t total_bytes; /* 0: not known */
	bool partial;         /* total_bytes lacks layers still to come */
	uint64_t extracted_bytes;
	uint64_t rate;   /* bytes a second of the phase, 0: not known */
	uint32_t layers; /* done; in a build: steps */
	uint32_t layers_total;
	uint32_t tries; /* 1 .. */
	struct moving_layer *moving;
	size_t moving_count;
};

/* Payload: the bytes of the stream from offset on. */
struct message_log {
	uint64_t job;
	uint32_t attempt;
	uint32_t rank;
	char *stream;
	uint64_t offset;
	uint32_t turn; /* counts how often the agent started over; acks carry
			  it, so that late ones can be told */
};

/* The controller's file has length bytes; go on there. refused: the bytes were
 * not taken, all from length on must be sent again, not before retry_ms.
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

/* A command that a task hands to another one of its job (container_spec.ssh);
 * sent again until it is answered. Payload: the request, as agent/init/init.h
 * says. The controller passes it on to the agent of the task that it is for.
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

/* How it ended. Payload: the answer, as agent/init/init.h says; or a text: why
 * it was not run.
 */
struct message_command_answer {
	uint64_t job;
	uint32_t attempt;
	uint32_t rank; /* as in the command */
	char *id;
	char *text;
};

/* discard: remove container and spool, all is collected. discarded: gone. */
struct message_discard {
	uint64_t job;
	uint32_t attempt;
	uint32_t rank;
};

/* Look at the task's processes, and append what is seen to its stream of
 * evidence (protocol/message/evidence.h), as this round. While one is under way
 * only the last of those asked for follows it.
 */
struct message_look {
	uint64_t job;
	uint32_t attempt;
	uint32_t rank;
	uint64_t round; /* not 0 */
	bool stops;     /* tools may halt the processes for it */
};

struct message_resync {
	bool unused; /* a message without fields */
};

/* A folder that a sweep takes with it. */
struct submit_workspace {
	char *path;    /* as the file says it */
	char *content; /* what it holds, put before */
};

/* Payload: the text of the sweep file. */
struct message_submit {
	uint64_t request;
	char *file;  /* its name, for error messages */
	char *token; /* random, chosen by the client: the same submit sent
			again is answered, not done, again */
	bool resume; /* take over what completed in sweeps of this name */
	struct submit_workspace *workspaces;
	size_t workspaces_count;
	struct registry_login *logins; /* sealed for the controller */
	size_t logins_count;
};

struct message_cancel {
	uint64_t request;
	char *kind; /* "sweep" or "job" */
	uint64_t id;
	bool force; /* also one of another operator */
};

/* Look at all ranks of a running job. What is seen comes into its streams of
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

/* A new token. Whoever made it keeps the secret half of its key; here only the
 * public one is known. Its holder connects with that key, as a joiner, and can
 * do nothing but enrol.
 */
struct message_token {
	uint64_t request;
	char *public;
	char *role; /* what it makes of who enrols: agent, operator, viewer */
	char *name; /* whom; NULL: it names itself, only an agent may */
	bool renew; /* name is there: its present key is revoked then */
	uint32_t uses;  /* 0: 1 */
	uint32_t for_s; /* how long it holds; 0: an hour */
	char *from;     /* network that it may be used from; NULL: any */
};

/* Let a key in that its owner made. */
struct message_admit {
	uint64_t request;
	char *name;
	char *role;
	char *public;
};

/* Its keys are refused from now on, also in sessions that are open; a node is
 * removed with its key, and told to end what it runs. EPERM: it runs tasks, and
 * there is no force.
 */
struct message_revoke {
	uint64_t request;
	char *kind; /* "node", "user" or "token" */
	char *name;
	bool force; /* its tasks may be lost */
};

/* From from_ms on (0: now) until until_ms (0: for good), or no longer
 * (undrain), the node gets no new task.
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

/* Make a backup of that id (32 characters, chosen by the client), or go on with
 * it. Payload of the reply: the bytes from offset on. When offset is the end,
 * the backup is forgotten.
 */
struct message_backup {
	uint64_t request;
	char *id;
	uint64_t offset;
};

/* Remove the output and the collected files of jobs behind `after` that are
 * over, and ended older_ms ago.
 */
struct message_gc {
	uint64_t request;
	uint64_t after;
	uint64_t older_ms;
	bool goes_on; /* the order was begun by another message */
};

/* Enrol this key. The same again is answered as before. */
struct message_enrol {
	uint64_t request;
	bool agent; /* what it is going to be */
	char *name; /* that it would like, where the token leaves it open */
	char *public;
	char *machine; /* as in hello */
};

/* Whoever asks gets this key in place of the one that it connected with; both
 * are good for keep_s. The same again is answered as before, with either key.
 */
struct message_rotate {
	uint64_t request;
	char *public;
	uint32_t keep_s; /* 0: a day */
	uint32_t for_s;  /* how long the new one holds; 0: without end */
};

/* The controller makes itself another key, which counts in keep_s. EBUSY: one
 * is under way.
 */
struct message_rotate_controller {
	uint64_t request;
	uint32_t keep_s; /* 0: a week */
};

/* With wait_ms the answer waits until something changed after `since` (the
 * "since" of an earlier answer). Reply: query_replies[what].
 */
struct message_query {
	uint64_t request;
	uint32_t what; /* enum query_kind, which says what the rest means */
	uint64_t id;
	char *name;
	uint64_t after;
	uint32_t limit; /* rows, 0: as many as one answer takes (1,000 at
			   most) */
	uint64_t since;
	uint32_t wait_ms;
	struct strings keys; /* of cells, for "history": at most 1,000 */
};

/* The bytes are the reply's payload. wait_ms: an answer without bytes waits
 * until there are some or the job has ended.
 */
struct message_log_read {
	uint64_t request;
	uint64_t job;
	uint32_t attempt; /* 0: the last */
	char *stream;     /* NULL: only the names of the streams */
	uint64_t offset;
	uint64_t tail_lines; /* with offset 0: begin that many lines from the
				end */
	uint32_t wait_ms;
	bool timestamps;
};

/* An image that must stay, for jobs need it that are not over. */
struct image_need {
	char *reference; /* as the sweep has it, or what that means there */
	char *build;     /* the folder that it is built from, or NULL */
	uint64_t sweep;
	uint64_t jobs; /* of the sweep, that are left */
};

/* Do something with images (image_acts[]). May come twice; what is done already
 * is not done again.
 */
struct message_image_do {
	char *order; /* names it in answers; to load: the recipe's hash */
	char *what;
	char *image;        /* to save, to remove; to build: the name to give */
	char *build;        /* to build: the folder, below the images folder */
	struct strings ids; /* to remove: what image is called elsewhere; goes
			       where it has no name but a digest */
	struct registry_login *logins; /* to build: sealed for this node */
	size_t logins_count;
	struct image_need *needs; /* to remove and gc: what must stay */
	size_t needs_count;
	uint32_t keep;          /* gc: the newest of each repository */
	uint64_t floor_bytes;   /* gc: until so much is free on the disk; */
	uint32_t floor_percent; /* or so much of it; neither: all may go */
	bool dry_run;           /* gc: only tell what would go */
	bool replace; /* load: names that others' images have go over to these
		       */
};

/* How far an order is: phase is "fetching", "loading", "saving", "building",
 * "looking", "removing", or in the end "ready" or "failed" (then why).
 */
struct message_image_state {
	char *order;
	char *phase;
	uint64_t done_bytes; /* removed: freed */
	uint64_t total_bytes;
	bool partial; /* pull: as in message_progress, as are the others */
	uint64_t rate;
	uint32_t layers;
	uint32_t layers_total;
	uint32_t tries;
	char *content; /* of a saved image that is ready, of total_bytes */
	char *output;  /* of a build: what it printed since it was told last */
	struct image_info *images; /* list, remove, gc: those it is about */
	size_t images_count;
	uint64_t left_out; /* images beyond those that fit a message */
	bool by_itself;    /* nobody ordered it: the node's own settings did */
	int64_t code;
	char *text;
};

/* The node's disk is short of room for images: tell me what must stay. The
 * answer is MESSAGE_IMAGE_DO of this order, gc.
 */
struct message_image_room {
	char *order; /* 64 random hex digits */
};

/* Do something with images on nodes. The reply says on which; how far it is,
 * the query "image" tells, by the order's name, of these and of all
 * others that were ordered the same and are not done. Asked again it begins
 * again, and what is done already is not done again.
 */
struct message_image_order {
	uint64_t request;
	char *what;  /* image_acts[], but "list" */
	char *order; /* load: the recipe, put before; else: 64 hex digits */
	char *image; /* as in message_image_do; load: its name */
	char *build;
	struct registry_login *logins; /* sealed for the controller */
	size_t logins_count;
	struct strings ids;
	uint32_t keep;
	uint64_t floor_bytes;
	uint32_t floor_percent;
	bool dry_run;
	bool replace;
	struct strings nodes; /* none: all in reach, but to save: one that has
				 it, and to build a vendor's: its nodes */
};

/* The same, for what only looks: "list". */
struct message_image_list {
	uint64_t request;
	char *order;
	struct strings nodes;
};

/* Payload: bytes of a content of `bytes` bytes in all, from offset on, or none:
 * a question. Bytes that do not continue it are left out.
 */
struct message_content_put {
	uint64_t request;
	char *hash;
	uint64_t bytes;
	uint64_t offset;
};

/* Payload of the reply: its bytes from offset on, as many as one answer takes.
 */
struct message_content_get {
	uint64_t request;
	char *hash;
	uint64_t offset;
};

/* Payload where the request says so. */
struct message_reply {
	uint64_t request;
	cJSON *body; /* message_reply_schema() of what was asked */
};

struct message_kind {
	const char *name; /* in "type" */
	const struct schema *schema;
	unsigned int senders; /* roles */
	bool payload;
	bool audited; /* kept in the audit log, with what came of it; of what
			 takes many requests the first one */
	const char *does; /* of what people ask: what it is, for the manual */
	const struct schema *reply; /* of a request; of a query query_replies */
};
extern const struct message_kind message_kinds[MESSAGE_TYPES];

/* What answers a request (protocol/message/reply_*.h); NULL: it is none. */
const struct schema *message_reply_schema(enum message_type type,
					  const void *body);

/* Is it JSON on the wire? */
bool message_is_text(enum message_type type);

/* Append it, as it is on the wire. body: the struct of the type. */
int message_encode(enum message_type type, const void *body, struct buffer *out,
		   struct error *err);

/* Read one; EPROTO says what is wrong. On success *body is the type's struct on
 * the heap, to be given to message_free(); on failure *type and *body are
 * untouched.
 */
int message_decode(const char *data, size_t size, enum message_type *type,
		   void **body, struct error *err);

/* The same of the first of several that follow each other; *data and *size are
 * what is left then. JSON comes alone.
 */
int message_next(const char **data, size_t *size, enum message_type *type,
		 void **body, struct error *err);
void message_free(enum message_type type, void *body);

#endif
