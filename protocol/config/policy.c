/* policy.c - what a node allows, as its policy file says: regatta-policy(5).
 */
#include "protocol/config/policy.h"
#include "protocol/base/list.h"
#include "protocol/message/spec.h"
#include "protocol/yaml/document.h"
#include "protocol/yaml/value.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
const struct schema policy_question_schema = SCHEMA(policy_question,
	FIELD(policy_question, policies),
	FIELD_ROWS(policy_question, jobs, container_spec_schema));

static const struct schema policy_refusal_schema = SCHEMA(policy_refusal,
	FIELD(policy_refusal, job),
	FIELD(policy_refusal, policy),
	FIELD(policy_refusal, text));

const struct schema policy_answer_schema = SCHEMA(policy_answer,
	FIELD_ROWS(policy_answer, refusals, policy_refusal_schema));
/* clang-format on */

void policy_question_clear(struct policy_question *question)
{
	codec_clear(&policy_question_schema, question);
}

void policy_answer_clear(struct policy_answer *answer)
{
	codec_clear(&policy_answer_schema, answer);
}

#define POLICY_WORD_MAX 512
#define SIZE_MAX_BYTES (UINT64_C(512) << 40)
#define FILES_MIN 100
#define FILES_MAX (UINT64_C(1) << 40)
#define PIDS_MIN 16
#define PIDS_MAX 4194304              /* of any Linux: proc(5), pid_max */
#define ULIMIT_MAX (INT64_C(1) << 49) /* as in a create request */

/* clang-format off */
static const struct {
	const char *key;
	const char *const *words; /* the words allowed; NULL: patterns */
	const char *initial[4];
} lists[POLICY_LISTS] = {
	[POLICY_USERS] = { "users", NULL, { "*" } },
	[POLICY_USER] = { "user", NULL, { "*" } },
	[POLICY_IMAGES] = { "images", NULL, { "*" } },
	[POLICY_DEVICES] = { "devices", NULL, { NULL } },
	[POLICY_NETWORK] = { "network", container_networks,
			     { "host", "none", "bridge" } },
	[POLICY_IPC] = { "ipc", container_ipcs, { "private", "shareable", "none" } },
	[POLICY_CAPABILITIES] = { "capabilities", container_capabilities,
				  { NULL } },
	[POLICY_SECURITY] = { "security", NULL, { "no-new-privileges" } },
	[POLICY_GROUPS] = { "groups", NULL, { "*" } },
	[POLICY_RUNTIMES] = { "runtimes", NULL, { NULL } },
	[POLICY_INSECURE] = { "insecure_registries", NULL,
			      { POLICY_LOOPBACK } },
};
static const char *const initial_ulimits[] = {
	"core", "memlock", "nofile", "stack"
};
static const char *const keys[] = {
	"users", "user", "images", "pinned", "insecure_registries", "build",
	"load", "remove", "save", "checked", "profile", "mounts", "devices", "network", "ipc",
	"capabilities", "security", "groups", "runtimes", "ulimits", "limits",
	NULL
};
static const char *const mount_keys[] = { "host", "write", "suid", NULL };
static const char *const limit_keys[] = {
	"memory", "cpus", "shm", "log", "disk", "disk_free", "pids", "files", NULL
};
/* clang-format on */

const char *policy_list_name(enum policy_list list)
{
	return lists[list].key;
}

static void mounts_clear(struct policy *policy)
{
	for (size_t i = 0; i < policy->mounts_count; i++)
		free(policy->mounts[i].host);
	free(policy->mounts);
	policy->mounts = NULL;
	policy->mounts_count = 0;
}

static void ulimits_clear(struct policy *policy)
{
	for (size_t i = 0; i < policy->ulimits_count; i++)
		free(policy->ulimits[i].name);
	free(policy->ulimits);
	policy->ulimits = NULL;
	policy->ulimits_count = 0;
}

void policy_free(struct policy *policy)
{
	if (!policy)
		return;
	for (size_t i = 0; i < POLICY_LISTS; i++)
		strings_clear(&policy->lists[i]);
	mounts_clear(policy);
	ulimits_clear(policy);
	free(policy->file);
	free(policy);
}

/* Defaults. */

static int policy_add_ulimit(struct policy *policy, const char *name,
			     int64_t max, struct error *err)
{
	struct policy_ulimit *ulimit =
		LIST_ADD(policy->ulimits, policy->ulimits_count, err);

	if (!ulimit)
		return -1;
	ulimit->max = max;
	return string_set(&ulimit->name, name, err);
}

static struct policy *policy_named(const char *file, struct error *err)
{
	owned(policy_free) struct policy *policy = calloc(1, sizeof(*policy));

	if (!policy || !(policy->file = strdup(file)))
		return error_null(error_nomem(err, "policy"));
	policy->build = true;
	policy->load = true;
	policy->profile = true;
	policy->limits.pids = POLICY_PIDS;
	policy->limits.files = POLICY_FILES;
	for (size_t i = 0; i < POLICY_LISTS; i++)
		for (size_t j = 0; lists[i].initial[j]; j++)
			if (strings_add(&policy->lists[i], lists[i].initial[j],
					err) < 0)
				return NULL;
	for (size_t i = 0; i < sizeof(initial_ulimits) / sizeof(char *); i++)
		if (policy_add_ulimit(policy, initial_ulimits[i],
				      POLICY_UNLIMITED, err) < 0)
			return NULL;
	return take(policy);
}

struct policy *policy_default(struct error *err)
{
	return policy_named("the default policy", err);
}

struct policy *policy_any(struct error *err)
{
	struct policy *policy = policy_named("no policy", err);

	if (!policy)
		return NULL;
	policy->any = true;
	policy->limits.files = 0;
	return policy;
}

/* Reading. */

static int expect_list(const struct value *value, struct error *err)
{
	if (value_expect(value, VALUE_LIST, err) < 0)
		return -1;
	if (value_count(value) > POLICY_ENTRIES_MAX)
		return value_error(value, err,
				   "%zu entries; expected at most %d",
				   value_count(value), POLICY_ENTRIES_MAX);
	return 0;
}

static int policy_read_list(const struct value *value, enum policy_list which,
			    struct strings *out, struct error *err)
{
	owned(strings_clear) struct strings list = { 0 };
	size_t index;

	if (expect_list(value, err) < 0)
		return -1;
	for (size_t i = 0; i < value_count(value); i++) {
		const struct value *item = value_at(value, i);
		const char *word;

		if (value_string(item, POLICY_WORD_MAX, &word, err) < 0 ||
		    (lists[which].words &&
		     value_enum(item, lists[which].words, &index, err) < 0) ||
		    strings_add(&list, word, err) < 0)
			return -1;
	}
	strings_clear(out);
	*out = list;
	list = (struct strings){ 0 };
	return 0;
}

static int read_mount(const struct value *value, struct policy_mount *mount,
		      struct error *err)
{
	const struct value *host, *write, *suid;
	const char *path;

	if (value_expect(value, VALUE_MAP, err) < 0 ||
	    value_check_keys(value, mount_keys, err) < 0)
		return -1;
	host = value_get(value, "host");
	write = value_get(value, "write");
	suid = value_get(value, "suid");
	if (!host)
		return value_error(value, err, "host is missing");
	if (value_string(host, PATH_MAX - 1, &path, err) < 0 ||
	    (write && value_bool(write, &mount->write, err) < 0) ||
	    (suid && value_bool(suid, &mount->suid, err) < 0))
		return -1;
	if (mount->suid && !mount->write)
		return value_error(suid, err,
				   "true is valid only with write: true");
	if (path[0] != '/')
		return value_error(host, err,
				   "\"%.80s\" is not valid here; expected an "
				   "absolute path",
				   path);
	mount->host = strdup(path);
	return mount->host ? 0 : error_nomem(err, "policy");
}

static int policy_read_mounts(const struct value *value, struct policy *policy,
			      struct error *err)
{
	if (expect_list(value, err) < 0)
		return -1;
	mounts_clear(policy);
	policy->mounts =
		calloc(value_count(value) + 1, sizeof(*policy->mounts));
	if (!policy->mounts)
		return error_nomem(err, "policy");
	for (size_t i = 0; i < value_count(value); i++) {
		if (read_mount(value_at(value, i), &policy->mounts[i], err) < 0)
			return -1;
		policy->mounts_count++;
	}
	return 0;
}

static int policy_read_ulimits(const struct value *value, struct policy *policy,
			       struct error *err)
{
	if (value_expect(value, VALUE_MAP, err) < 0 ||
	    value_check_keys(value, container_ulimits, err) < 0)
		return -1;
	ulimits_clear(policy);
	for (size_t i = 0; i < value_count(value); i++) {
		const struct value *item = value_at(value, i);
		int64_t max = POLICY_UNLIMITED;

		if (strcmp(value_text(item), "unlimited") != 0 &&
		    value_i64(item, 0, ULIMIT_MAX, &max, NULL) < 0)
			return value_error(item, err,
					   "\"%.40s\" is not valid here; "
					   "expected a number up to 2^49, or "
					   "unlimited",
					   value_text(item));
		if (policy_add_ulimit(policy, value_key(value, i), max, err) <
		    0)
			return -1;
	}
	return 0;
}

/* A number up to max, or "unlimited". NULL: not given. */
static int read_most(const struct value *value, uint64_t min, uint64_t max,
		     uint64_t *most, struct error *err)
{
	if (value && value_kind(value) == VALUE_SCALAR &&
	    !strcmp(value_text(value), "unlimited")) {
		*most = 0;
		return 0;
	}
	return value ? value_u64(value, min, max, most, err) : 0;
}

static int policy_read_limits(const struct value *value,
			      struct policy_limits *limits, struct error *err)
{
	const struct {
		const char *key;
		uint64_t *to;
		uint64_t min;
	} sizes[] = {
		{ "memory", &limits->memory_bytes, UINT64_C(6) << 20 },
		{ "shm", &limits->shm_bytes, 1 },
		{ "log", &limits->log_bytes, 1 },
		{ "disk", &limits->disk_bytes, UINT64_C(1) << 20 },
		{ "disk_free", &limits->disk_free_bytes, 0 },
	};
	const struct value *item;

	if (value_expect(value, VALUE_MAP, err) < 0 ||
	    value_check_keys(value, limit_keys, err) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		item = value_get(value, sizes[i].key);
		if (item && value_size_bytes(item, sizes[i].min, SIZE_MAX_BYTES,
					     sizes[i].to, err) < 0)
			return -1;
	}
	if (read_most(value_get(value, "pids"), PIDS_MIN, PIDS_MAX,
		      &limits->pids, err) < 0 ||
	    read_most(value_get(value, "files"), FILES_MIN, FILES_MAX,
		      &limits->files, err) < 0)
		return -1;
	item = value_get(value, "cpus");
	return item ? value_double(item, 0.01, 65536, &limits->cpus, err) : 0;
}

static int read_flags(const struct value *root, struct policy *policy,
		      struct error *err)
{
	const struct {
		const char *key;
		bool *to;
	} flags[] = {
		{ "pinned", &policy->pinned },
		{ "build", &policy->build_folders },
		{ "load", &policy->load },
		{ "remove", &policy->remove },
		{ "save", &policy->save },
		{ "checked", &policy->checked },
		{ "profile", &policy->profile },
	};

	/* An image file can hold any image under an allowed name. */
	if (value_get(root, "images"))
		policy->load = false;
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		const struct value *value = value_get(root, flags[i].key);

		if (value && value_bool(value, flags[i].to, err) < 0)
			return -1;
	}
	if (value_get(root, "build"))
		policy->build = policy->build_folders;
	return 0;
}

static int read_policy(const struct value *root, struct policy *policy,
		       struct error *err)
{
	const struct value *mounts = value_get(root, "mounts");
	const struct value *most = value_get(root, "ulimits");
	const struct value *limits = value_get(root, "limits");

	if (value_kind(root) == VALUE_NULL)
		return 0;
	if (value_expect(root, VALUE_MAP, err) < 0 ||
	    value_check_keys(root, keys, err) < 0 ||
	    read_flags(root, policy, err) < 0)
		return -1;
	for (enum policy_list i = 0; i < POLICY_LISTS; i++) {
		const struct value *list = value_get(root, lists[i].key);

		if (list &&
		    policy_read_list(list, i, &policy->lists[i], err) < 0)
			return -1;
	}
	if ((mounts && policy_read_mounts(mounts, policy, err) < 0) ||
	    (most && policy_read_ulimits(most, policy, err) < 0))
		return -1;
	return limits ? policy_read_limits(limits, &policy->limits, err) : 0;
}

static const struct document_limits limits = { .bytes = POLICY_FILE_MAX };

static struct policy *from_document(const struct document *document,
				    struct error *err)
{
	owned(policy_free) struct policy *policy =
		policy_named(document_file(document), err);

	if (!policy || read_policy(document_root(document), policy, err) < 0)
		return NULL;
	return take(policy);
}

struct policy *policy_parse(const char *text, size_t size, const char *file,
			    struct error *err)
{
	owned(document_free) struct document *document =
		document_parse(text, size, file, &limits, err);

	return document ? from_document(document, err) : NULL;
}

struct policy *policy_read(const char *path, struct error *err)
{
	owned(document_free) struct document *document =
		document_read(path, &limits, err);

	return document ? from_document(document, err) : NULL;
}
