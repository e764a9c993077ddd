/* least_policy.c - computes the least permissive policy that allows given jobs.
 */
#include "controller/cli/commands/least_policy.h"

#include "protocol/base/list.h"
#include "protocol/message/json_get.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* A list of the policy, and what a word more in it means for the node. */
static const struct opening {
	enum policy_list list;
	const char *opens;
} openings[] = {
	{ POLICY_NETWORK, "containers use this network" },
	{ POLICY_IPC, "with host, containers share /dev/shm and other shared "
		      "memory with processes of the host" },
	{ POLICY_CAPABILITIES,
	  "root in a container has these rights, see capabilities(7)" },
	{ POLICY_SECURITY,
	  "containers run without the protection that these options disable, "
	  "such as the filter of system calls" },
	{ POLICY_DEVICES, "containers use these device nodes in addition to "
			  "those of the profile" },
	{ POLICY_GROUPS,
	  "containers can read and write what these groups of the host can" },
	{ POLICY_RUNTIMES, "containers are run by this program" },
};
#define OPENINGS (sizeof(openings) / sizeof(openings[0]))

static bool least_has_word(const struct strings *list, const char *word)
{
	return strings_has(list, word) || strings_has(list, "*");
}

static int least_add_word(struct least_policy *least, enum policy_list list,
			  const char *word, struct error *err)
{
	struct strings *words = &least->policy->lists[list];

	if (!word || !*word || least_has_word(words, word))
		return 0;
	least->longer[list] = true;
	return strings_add(words, word, err);
}

static int add_words(struct least_policy *least, enum policy_list list,
		     const struct strings *words, struct error *err)
{
	for (size_t i = 0; i < words->count; i++)
		if (least_add_word(least, list, words->items[i], err) < 0)
			return -1;
	return 0;
}

static bool is_below(const char *path, const char *folder)
{
	size_t length = strlen(folder);

	while (length && folder[length - 1] == '/')
		length--;
	return !strncmp(path, folder, length) &&
	       (!path[length] || path[length] == '/');
}

static void drop_mount(struct policy *policy, size_t at)
{
	free(policy->mounts[at].host);
	policy->mounts[at] = policy->mounts[--policy->mounts_count];
}

/* No mount stands below another one that allows as much. */
static int least_add_mount(struct policy *policy, const char *host, bool write,
			   struct error *err)
{
	struct policy_mount *mount;

	for (size_t i = 0; i < policy->mounts_count; i++)
		if (is_below(host, policy->mounts[i].host) &&
		    policy->mounts[i].write >= write)
			return 0;
	for (size_t i = policy->mounts_count; i-- > 0;)
		if (is_below(policy->mounts[i].host, host) &&
		    policy->mounts[i].write <= write)
			drop_mount(policy, i);
	mount = LIST_ADD(policy->mounts, policy->mounts_count, err);
	if (!mount)
		return -1;
	mount->write = write;
	return string_set(&mount->host, host, err);
}

/* Device nodes are /dev/x[:/dev/y[:rwm]]. */
static int least_add_devices(struct least_policy *least,
			     const struct strings *nodes, struct error *err)
{
	char path[PATH_MAX];

	for (size_t i = 0; i < nodes->count; i++) {
		snprintf(path, sizeof(path), "%.*s",
			 (int)strcspn(nodes->items[i], ":"), nodes->items[i]);
		if (least_add_word(least, POLICY_DEVICES, path, err) < 0)
			return -1;
	}
	return 0;
}

/* "name=soft[:hard]" */
static int least_add_ulimit(struct least_policy *least, const char *text,
			    struct error *err)
{
	struct policy *policy = least->policy;
	size_t length = strcspn(text, "=");
	const char *hard = strrchr(text, ':');
	int64_t max = strtoll(hard ? hard + 1 : text + length + 1, NULL, 10);
	struct policy_ulimit *added;

	for (size_t i = 0; i < policy->ulimits_count; i++) {
		struct policy_ulimit *ulimit = &policy->ulimits[i];

		if (strlen(ulimit->name) != length ||
		    strncmp(ulimit->name, text, length) != 0)
			continue;
		if (ulimit->max != POLICY_UNLIMITED &&
		    (max == POLICY_UNLIMITED || max > ulimit->max))
			ulimit->max = max;
		return 0;
	}
	added = LIST_ADD(policy->ulimits, policy->ulimits_count, err);
	if (!added)
		return -1;
	*added = (struct policy_ulimit){ strndup(text, length), max };
	least->more_ulimits = true;
	return added->name ? 0 : error_nomem(err, "policy");
}

int least_policy_add(struct least_policy *least,
		     const struct container_spec *job, struct error *err)
{
	for (size_t i = 0; i < job->mounts_count; i++)
		if (least_add_mount(least->policy, job->mounts[i].host,
				    !job->mounts[i].read_only, err) < 0)
			return -1;
	/* The scripts of a build read and change its folder. */
	if (job->build && *job->build == '/') {
		least->policy->build_folders = true;
		if (least_add_mount(least->policy, job->build, true, err) < 0)
			return -1;
	}
	for (size_t i = 0; i < job->needs.count; i++)
		if (least_add_mount(least->policy, job->needs.items[i], false,
				    err) < 0)
			return -1;
	for (size_t i = 0; i < job->ulimits.count; i++)
		if (least_add_ulimit(least, job->ulimits.items[i], err) < 0)
			return -1;
	if (least_add_word(least, POLICY_NETWORK, job->network, err) < 0 ||
	    least_add_word(least, POLICY_IPC, job->ipc, err) < 0 ||
	    least_add_word(least, POLICY_RUNTIMES, job->runtime, err) < 0 ||
	    add_words(least, POLICY_CAPABILITIES, &job->capabilities, err) <
		    0 ||
	    add_words(least, POLICY_SECURITY, &job->security, err) < 0 ||
	    add_words(least, POLICY_GROUPS, &job->groups, err) < 0)
		return -1;
	return least_add_devices(least, &job->device_nodes, err);
}

static cJSON *mounts_json(const struct policy *policy)
{
	cJSON *mounts = cJSON_CreateArray();

	for (size_t i = 0; i < policy->mounts_count; i++) {
		cJSON *mount = cJSON_CreateObject();

		cJSON_AddStringToObject(mount, "host", policy->mounts[i].host);
		if (policy->mounts[i].write)
			cJSON_AddBoolToObject(mount, "write", true);
		cJSON_AddItemToArray(mounts, mount);
	}
	return mounts;
}

static cJSON *ulimits_json(const struct policy *policy)
{
	cJSON *ulimits = cJSON_CreateObject();

	for (size_t i = 0; i < policy->ulimits_count; i++)
		if (policy->ulimits[i].max == POLICY_UNLIMITED)
			cJSON_AddStringToObject(ulimits,
						policy->ulimits[i].name,
						"unlimited");
		else
			cJSON_AddNumberToObject(ulimits,
						policy->ulimits[i].name,
						(double)policy->ulimits[i].max);
	return ulimits;
}

/* A key of the policy file; YAML accepts JSON. */
static void least_print_key(FILE *out, const cJSON *key)
{
	const char *opens = "containers can raise these limits to these values";
	char *text = cJSON_PrintUnformatted(key);

	if (!strcmp(key->string, "build"))
		opens = "RUN lines of Dockerfiles in writable folders run as "
			"root with the engine's default capabilities";
	for (size_t i = 0; i < OPENINGS; i++)
		if (!strcmp(policy_list_name(openings[i].list), key->string))
			opens = openings[i].opens;
	fprintf(out, "# %s\n%s: %s\n", opens, key->string, text ? text : "[]");
	cJSON_free(text);
}

static void print_mounts(FILE *out, const cJSON *mounts)
{
	const cJSON *mount;

	fputs("mounts:\n", out);
	cJSON_ArrayForEach(mount, mounts) {
		char *host = cJSON_PrintUnformatted(json_get(mount, "host"));
		bool write = json_get(mount, "write");

		fprintf(out,
			"  # containers can %s everything below\n  - {host: "
			"%s%s}\n",
			write ? "read, change and remove" : "read",
			host ? host : "", write ? ", write: true" : "");
		cJSON_free(host);
	}
}

bool least_policy_print(const struct least_policy *least, FILE *out)
{
	owned(cJSON_Delete) cJSON *object = least_policy_json(least);
	const cJSON *key;

	cJSON_ArrayForEach(key, object) {
		if (!strcmp(key->string, "mounts"))
			print_mounts(out, key);
		else
			least_print_key(out, key);
	}
	return object && object->child;
}

cJSON *least_policy_json(const struct least_policy *least)
{
	const struct policy *policy = least->policy;
	cJSON *object = cJSON_CreateObject();

	if (policy->mounts_count)
		cJSON_AddItemToObject(object, "mounts", mounts_json(policy));
	if (policy->build_folders)
		cJSON_AddBoolToObject(object, "build", true);
	for (size_t i = 0; i < OPENINGS; i++) {
		enum policy_list list = openings[i].list;
		const struct strings *words = &policy->lists[list];

		if (least->longer[list])
			cJSON_AddItemToObject(
				object, policy_list_name(list),
				cJSON_CreateStringArray((const char *const *)
								words->items,
							(int)words->count));
	}
	if (least->more_ulimits)
		cJSON_AddItemToObject(object, "ulimits", ulimits_json(policy));
	return object;
}

int least_policy_init(struct least_policy *least, struct error *err)
{
	*least = (struct least_policy){ .policy = policy_default(err) };
	return least->policy ? 0 : -1;
}

void least_policy_clear(struct least_policy *least)
{
	policy_free(least->policy);
}
