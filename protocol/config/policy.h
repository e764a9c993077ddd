/* policy.h - what a node allows, as its policy file says: regatta-policy(5).
 *
 * The policy file of the node decides what runs there, even against the
 * controller. All keys are optional. A key that is given replaces its whole
 * default:
 *
 *	users: ["*"]		# names of the keys that submitted a job
 *	images: ["*"]		# REGISTRY/NAME[:TAG | @DIGEST], or image ids
 *	pinned: false		# only images by digest
 *	insecure_registries: [loopback]	# HOST[:PORT] reached without TLS
 *	build: true		# images built from files of this node; by
 *				# default from its images folder only
 *	load: true		# images from files; false where images is given
 *	remove: false		# images that Regatta did not pull or build, too
 *	save: false		# such images, even if no job used them
 *	checked: false		# only containers that can be compared wholly
 *				# with the policy before their command begins
 *	profile: true		# what the vendor's profile adds to a container
 *	user: ["*"]		# the users that a container may run as
 *	mounts: []		# {host: /data, write: false, suid: false};
 *				# includes everything below
 *	devices: []		# device nodes beside those of the profile
 *	network: [host, none, bridge]
 *	ipc: [private, shareable, none]
 *	capabilities: []
 *	security: [no-new-privileges]
 *	groups: ["*"]
 *	runtimes: []
 *	ulimits: {core: unlimited, memlock: unlimited, nofile: unlimited,
 *		  stack: unlimited}
 *	limits: {memory, cpus, shm, log, disk, disk_free}	# none
 *	limits: {pids: 32768, files: 4000000}	# or unlimited
 *
 * Entries of users, user, images, insecure_registries, devices, security,
 * groups and runtimes are patterns of fnmatch(3), where '*' matches any
 * characters. "loopback" is the machine itself.
 */
#pragma once

#include "protocol/base/error.h"
#include "protocol/base/owned.h"
#include "protocol/message/codec.h"
#include "protocol/message/spec.h"

#include <stdbool.h>
#include <stdint.h>

/* What a plan asks regatta-agent, which knows what policies
 * refuse: `regatta-agent check-policy` reads a question as JSON from its
 * standard input, and prints the answer.
 */

#define POLICY_QUESTION_WORD "check-policy" /* the agent's first argument */
#define POLICY_QUESTION_BYTES (64 << 20)
#define POLICY_QUESTION_JOBS 500

struct policy_question {
	struct strings policies; /* texts of policy files */
	struct container_spec *jobs;
	size_t jobs_count;
};

struct policy_refusal {
	uint32_t job;    /* its place in the question */
	uint32_t policy; /* likewise */
	char *text;      /* why it refuses the job */
};

struct policy_answer {
	struct policy_refusal *refusals;
	size_t refusals_count;
};

extern const struct schema policy_question_schema, policy_answer_schema;

void policy_question_clear(struct policy_question *question);
OWNED_VALUE(struct policy_question, policy_question_clear)
void policy_answer_clear(struct policy_answer *answer);
OWNED_VALUE(struct policy_answer, policy_answer_clear)

#define POLICY_FILE_MAX 262144 /* bytes */
#define POLICY_ENTRIES_MAX 256 /* of any list */
#define POLICY_LOOPBACK "loopback"
#define POLICY_UNLIMITED (-1)
#define POLICY_PIDS 32768 /* default: processes and threads */
#define POLICY_FILES 4000000

enum policy_list {
	POLICY_USERS,
	POLICY_USER,
	POLICY_IMAGES,
	POLICY_DEVICES,
	POLICY_NETWORK,
	POLICY_IPC,
	POLICY_CAPABILITIES,
	POLICY_SECURITY,
	POLICY_GROUPS,
	POLICY_RUNTIMES,
	POLICY_INSECURE,
	POLICY_LISTS
};

struct policy_mount {
	char *host; /* absolute */
	bool write;
	bool suid; /* setuid programs and device nodes work there */
};

struct policy_ulimit {
	char *name;
	int64_t max; /* POLICY_UNLIMITED, or the largest hard limit */
};

/* Limits of one container; 0: no limit. */
struct policy_limits {
	uint64_t memory_bytes;
	double cpus;
	uint64_t shm_bytes;
	uint64_t log_bytes;
	uint64_t disk_bytes;      /* what it writes over its image */
	uint64_t disk_free_bytes; /* must stay free on the disk of the spools */
	uint64_t pids;            /* processes and threads */
	uint64_t files; /* that it makes on the node, beside its output */
};

struct policy {
	char *file; /* for errors */
	bool any;   /* everything is allowed */
	bool pinned;
	bool build;         /* images of the images folder */
	bool build_folders; /* and in folders that mounts allow as writable */
	bool load;
	bool remove;
	bool save;
	bool checked;
	bool profile;
	struct strings lists[POLICY_LISTS];
	struct policy_mount *mounts;
	size_t mounts_count;
	struct policy_ulimit *ulimits;
	size_t ulimits_count;
	struct policy_limits limits;
};

/* The key of a list in the file. */
const char *policy_list_name(enum policy_list list);

/* Parse the text of a policy file, or read the file. Errors name file, line and
 * key. The caller frees the result.
 */
struct policy *policy_parse(const char *text, size_t size, const char *file,
			    struct error *err);
struct policy *policy_read(const char *path, struct error *err);

/* The policy of an empty file, and one that allows all that the engine allows.
 * ENOMEM.
 */
struct policy *policy_default(struct error *err);
struct policy *policy_any(struct error *err);

void policy_free(struct policy *policy);
OWNED_POINTER(struct policy, policy_free)
