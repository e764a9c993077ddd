/* rights_check.c - decides as which user a container may run, and whether it
 * may make files that give rights.
 */
#include "agent/policy/rights_check.h"
#include "agent/policy/policy_image.h"
#include "agent/docker/create_body.h"
#include "protocol/message/json_get.h"

#include <limits.h>
#include <string.h>

/* N or N:N */
static bool user_is_number(const char *user)
{
	size_t size = strspn(user, ASCII_DIGITS);

	if (!size)
		return false;
	if (user[size] != ':')
		return !user[size];
	user += size + 1;
	return *user && strspn(user, ASCII_DIGITS) == strlen(user);
}

int rights_check_user(const struct policy *policy, const char *user,
		      struct error *err)
{
	const struct strings *list = &policy->lists[POLICY_USER];
	size_t size = strcspn(user, ":");
	bool root = !size || (size == 4 && !strncmp(user, "root", 4));
	char word[160];

	if (policy->any)
		return 0;
	snprintf(word, sizeof(word), "%s%s", root ? "0" : "",
		 root ? user + size : user);
	if (strings_has(list, "*") || strings_has(list, word) ||
	    (user_is_number(word) && policy_matches(list, word)))
		return 0;
	text_append(word, sizeof(word), "%s", root ? " (root)" : "");
	return policy_refuse_listed(policy, POLICY_USER, word, err);
}

static const char *rights_resolve_path(const struct policy_resolver *resolver,
				       const char *path, char *out)
{
	return resolver && resolver->fn(resolver->arg, path, out) == 0 ? out
								       : path;
}

static bool is_allowed(const struct policy *policy, const char *source,
		       const struct policy_resolver *resolver)
{
	char path[PATH_MAX], folder[PATH_MAX];

	source = rights_resolve_path(resolver, source, path);
	for (size_t i = 0; i < policy->mounts_count; i++) {
		const struct policy_mount *mount = &policy->mounts[i];

		if (mount->write && mount->suid &&
		    policy_path_below(source,
				      rights_resolve_path(resolver, mount->host,
							  folder)))
			return true;
	}
	return false;
}

bool rights_check_suid(const struct policy *policy, const cJSON *request,
		       const struct policy_resolver *resolver)
{
	const cJSON *host = json_get(request, "HostConfig");
	bool found = false;
	const cJSON *mount;

	if (policy->any)
		return true;
	cJSON_ArrayForEach(mount, json_get(host, "Mounts")) {
		if (cJSON_IsTrue(json_get(mount, "ReadOnly")) ||
		    !strcmp(json_get_text_or_empty(mount, "Target"),
			    CONTAINER_OUT))
			continue;
		if (!is_allowed(policy, json_get_text_or_empty(mount, "Source"),
				resolver))
			return false;
		found = true;
	}
	return found;
}
