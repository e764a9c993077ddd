/* policy_image.c - which images the policy of a node allows.
 */
#include "agent/policy/policy_image.h"

#include "protocol/registry/reference.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

bool policy_matches(const struct strings *patterns, const char *text)
{
	for (size_t i = 0; i < patterns->count; i++)
		if (fnmatch(patterns->items[i], text, 0) == 0)
			return true;
	return false;
}

/* "a, b", cut to fit; "nothing" for an empty list. Returns text. */
static const char *policy_describe_list(const struct strings *list,
					char text[POLICY_WORDS_BYTES])
{
	size_t used = 0;

	snprintf(text, POLICY_WORDS_BYTES, "nothing");
	for (size_t i = 0; i < list->count && used < POLICY_WORDS_BYTES; i++)
		used += (size_t)snprintf(text + used, POLICY_WORDS_BYTES - used,
					 "%s%s", i ? ", " : "", list->items[i]);
	return text;
}

int policy_refuse(const struct policy *policy, const char *rule,
		  const char *found, const char *allowed, struct error *err)
{
	return error_set(err, EPERM,
			 "%s: %.80s is not allowed; %.60s allows %s", rule,
			 found, policy->file, allowed);
}

int policy_refuse_listed(const struct policy *policy, enum policy_list list,
			 const char *found, struct error *err)
{
	char text[POLICY_WORDS_BYTES];

	return policy_refuse(policy, policy_list_name(list),
			     *found ? found : "no name",
			     policy_describe_list(&policy->lists[list], text),
			     err);
}

/* Match the full name: docker.io/library/ubuntu for ubuntu. With a digest the
 * tag has no meaning, so no pattern sees it.
 */
static bool image_allowed(const struct policy *policy,
			  const struct reference *reference)
{
	const struct strings *images = &policy->lists[POLICY_IMAGES];
	char host[REFERENCE_HOST_MAX + 1], path[REFERENCE_PATH_MAX + 1];
	char full[sizeof(host) + sizeof(path)], exact[sizeof(full) + 129];

	if (!*reference->name)
		return policy_matches(images, reference->digest);
	reference_place(reference, host, path);
	snprintf(full, sizeof(full), "%s/%s", host, path);
	if (*reference->digest)
		snprintf(exact, sizeof(exact), "%s@%s", full,
			 reference->digest);
	else
		snprintf(exact, sizeof(exact), "%s:%s", full,
			 *reference->tag ? reference->tag : "latest");
	return policy_matches(images, full) || policy_matches(images, exact);
}

int policy_image_check(const struct policy *policy, const char *image,
		       struct error *err)
{
	struct reference reference;

	if (policy->any)
		return 0;
	if (reference_parse(image, &reference, err) < 0)
		return -1;
	if (policy->pinned && !*reference.digest)
		return policy_refuse(policy, "pinned", image,
				     "NAME@sha256:DIGEST", err);
	if (!image_allowed(policy, &reference))
		return policy_refuse_listed(policy, POLICY_IMAGES, image, err);
	return 0;
}

int policy_image_check_load(const struct policy *policy, struct error *err)
{
	return policy->any || policy->load
		       ? 0
		       : policy_refuse(policy, "load", "an image from a file",
				       "images that are pulled or built", err);
}

/* Names and addresses that always mean this machine; others could lead
 * elsewhere.
 */
static bool policy_image_is_loopback(const char *registry)
{
	char host[64];
	struct in_addr address;
	size_t size = strcspn(registry, ":");

	if (size >= sizeof(host))
		return false;
	snprintf(host, sizeof(host), "%.*s", (int)size, registry);
	return !strcmp(host, "localhost") ||
	       (inet_pton(AF_INET, host, &address) == 1 &&
		ntohl(address.s_addr) >> 24 == IN_LOOPBACKNET);
}

int policy_image_check_insecure(const struct policy *policy,
				const char *registry, struct error *err)
{
	const struct strings *list = &policy->lists[POLICY_INSECURE];
	char found[80 + 1];

	if (policy->any || policy_matches(list, registry) ||
	    (policy_image_is_loopback(registry) &&
	     policy_matches(list, POLICY_LOOPBACK)))
		return 0;
	snprintf(found, sizeof(found), "%.50s without TLS", registry);
	return policy_refuse_listed(policy, POLICY_INSECURE, found, err);
}

bool policy_image_may_be_found(const char *image)
{
	struct reference reference;

	return reference_parse(image, &reference, NULL) < 0 || *reference.tag ||
	       *reference.digest;
}

int policy_image_check_build(const struct policy *policy, const char *image,
			     const char *build, struct error *err)
{
	if (policy->any)
		return 0;
	if (!policy->build)
		return policy_refuse(policy, "build", build,
				     "images that are pulled", err);
	if (*build == '/' && !policy->build_folders)
		return policy_refuse(policy, "build", build,
				     "builds in the images folder only", err);
	/* The lines of its Dockerfile run as root. */
	if (*build == '/' && !policy_matches(&policy->lists[POLICY_USER], "0"))
		return policy_refuse_listed(policy, POLICY_USER, "0", err);
	return policy_image_may_be_found(image)
		       ? policy_image_check(policy, image, err)
		       : 0;
}

int policy_image_check_remove(const struct policy *policy, const char *image,
			      bool ours, struct error *err)
{
	return policy->any || policy->remove || ours
		       ? 0
		       : policy_refuse(policy, "remove", image,
				       "images that Regatta brought", err);
}

int policy_image_check_save(const struct policy *policy, const char *image,
			    struct error *err)
{
	return policy->any || policy->save
		       ? 0
		       : policy_refuse(policy, "save", image,
				       "images that Regatta brought or a job "
				       "used",
				       err);
}

bool policy_image_check_pin(const struct policy *policy, const char *name,
			    const char *pin)
{
	struct reference asked, pinned;

	if (policy->any)
		return true;
	return reference_parse(name, &asked, NULL) == 0 &&
	       reference_parse(pin, &pinned, NULL) == 0 && pinned.name[0] &&
	       !strcmp(asked.name, pinned.name) &&
	       image_allowed(policy, &pinned);
}
