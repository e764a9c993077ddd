/* descriptions.c - adds descriptions of the local images folder to a sweep.
 */
#include "controller/cli/descriptions.h"

#include "controller/catalog/descriptions.h"
#include "protocol/message/reply_sweeps.h"

#include <string.h>

#define KEYS_AT_ONCE 256 /* in one request */

/* The kind and the name of a key: "models/NAME". */
static const char *key_name(const char *key, enum catalog_kind *kind)
{
	const char *slash = strchr(key, '/');

	*kind = CATALOG_MODEL;
	while (strncmp(descriptions_kind(*kind), key, (size_t)(slash - key)) !=
	       0)
		++*kind;
	return slash + 1;
}

static int compare(const struct input *input, struct cli *cli, const char *key,
		   const char *hash, cJSON **described, struct error *err)
{
	enum catalog_kind kind;
	const char *name = key_name(key, &kind);
	owned_free char *text = descriptions_text(input->catalog, kind, name);
	char ours[65];

	if (!text)
		return error_nomem(err, key);
	catalog_hash(text, strlen(text), ours);
	if (!strcmp(ours, hash))
		return 0;
	cli_say(cli, "sending %s: the controller has %s", key,
		*hash ? "another" : "none");
	return descriptions_put(described, kind, name, text, err);
}

static int ask(const struct input *input, struct cli *cli,
	       struct client *client, const struct strings *keys, size_t at,
	       cJSON **described, struct error *err)
{
	owned(answer_clear) struct answer answer = { 0 };
	size_t count = keys->count - at;
	struct message_query query = {
		.what = QUERY_DESCRIPTIONS,
		.keys = { keys->items + at,
			  count < KEYS_AT_ONCE ? count : KEYS_AT_ONCE },
	};
	const struct reply_descriptions *reply;

	if (client_query(client, &query, &answer, err) < 0)
		return -1;
	reply = answer.reply;
	for (size_t i = 0; i < query.keys.count; i++)
		if (compare(input, cli, keys->items[at + i],
			    i < reply->hashes.count ? reply->hashes.items[i]
						    : "",
			    described, err) < 0)
			return -1;
	return 0;
}

/* The controller reads them as a key of the sweep. */
static int add_text(struct input *input, const cJSON *described,
		    struct error *err)
{
	char *text = cJSON_PrintUnformatted(described);
	int rc = text ? buffer_printf(&input->text, err,
				      "\n---\ndescriptions: %s\n", text)
		      : error_nomem(err, "sweep");

	cJSON_free(text);
	return rc;
}

int descriptions_add(struct input *input, struct cli *cli,
		     struct client *client, struct error *err)
{
	owned(strings_clear) struct strings keys = { 0 };
	cJSON *described = NULL;
	int rc = 0;

	if (!input->sweep)
		return 0;
	if (sweep_uses(input->sweep, &keys, err) < 0)
		return -1;
	for (size_t at = 0; at < keys.count && rc == 0; at += KEYS_AT_ONCE)
		rc = ask(input, cli, client, &keys, at, &described, err);
	if (rc == 0 && described)
		rc = add_text(input, described, err);
	cJSON_Delete(described);
	return rc;
}
