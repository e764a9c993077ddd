/* policy_refusal.c - how the checks of a policy match and refuse.
 */
#include "protocol/config/policy_refusal.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>

bool policy_matches(const struct strings *patterns, const char *text)
{
	for (size_t i = 0; i < patterns->count; i++)
		if (fnmatch(patterns->items[i], text, 0) == 0)
			return true;
	return false;
}

/* "a, b", cut to fit; "nothing" for an empty list. Returns text. */
static const char *in_words(const struct strings *list,
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
			     in_words(&policy->lists[list], text), err);
}
