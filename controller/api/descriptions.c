/* descriptions.c - query for the hashes of descriptions. A client asks before
 * it submits a sweep, and sends those that differ.
 */
#include "controller/api/api.h"
#include "controller/catalog/descriptions.h"
#include "protocol/message/reply_sweeps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define KEYS_MAX 256 /* in one request */

/* The hash of the description "frameworks/NAME"; "": there is none. */
static void description_hash(const struct catalog *catalog, const char *key,
			     char hex[65])
{
	const char *slash = strchr(key, '/');

	*hex = 0;
	for (int kind = CATALOG_MODEL; slash && kind <= CATALOG_VENDOR;
	     kind++) {
		const char *word = descriptions_kind((enum catalog_kind)kind);
		owned_free char *text = NULL;

		if (strlen(word) != (size_t)(slash - key) ||
		    memcmp(word, key, strlen(word)) != 0)
			continue;
		text = descriptions_text(catalog, (enum catalog_kind)kind,
					 slash + 1);
		if (text)
			catalog_hash(text, strlen(text), hex);
	}
}

int api_descriptions(struct api_request *request, void *reply,
		     struct error *err)
{
	const struct message_query *query = request->message;
	struct reply_descriptions *to = reply;
	char hex[65];

	if (query->keys.count > KEYS_MAX)
		return error_set(err, E2BIG,
				 "keys: %zu of them; expected at most %d",
				 query->keys.count, KEYS_MAX);
	for (size_t i = 0; i < query->keys.count; i++) {
		description_hash(request->api->catalog, query->keys.items[i],
				 hex);
		if (strings_add(&to->hashes, hex, err) < 0)
			return -1;
	}
	return 0;
}
