/* registry.c - asks a registry what an image is made of.
 */
#include "agent/registry/registry.h"

#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#define HOPS_MAX 2 /* an index, and an image of it */

struct registry_query {
	struct repository *repository;
	struct repository_call *call;
	char wanted[130]; /* tag or digest */
	char machine[16];
	uint32_t timeout_ms;
	unsigned int hops;
	struct registry_image image;
	registry_done_fn *done;
	void *arg;
};

static int ask_manifest(struct registry_query *query, struct error *err);

/* The last thing: the query is gone afterwards. */
static void finish(struct registry_query *query, const struct error *err)
{
	query->done(query->arg, err, err ? NULL : &query->image);
	registry_cancel(query);
}

/* Debian's names of machines, to those of images. */
static void find_machine(char *to, size_t size)
{
	static const char *const names[][2] = {
		{ "x86_64", "amd64" },
		{ "aarch64", "arm64" },
		{ "loongarch64", "loong64" },
	};
	struct utsname host;

	uname(&host);
	snprintf(to, size, "%.15s", host.machine);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(host.machine, names[i][0]))
			snprintf(to, size, "%s", names[i][1]);
}

/* Answers. */

static void digest_of(const struct http_answer *answer, char *digest)
{
	unsigned char hash[crypto_hash_sha256_BYTES];

	crypto_hash_sha256(hash, (const unsigned char *)answer->body,
			   answer->size);
	snprintf(digest, 8, "sha256:");
	sodium_bin2hex(digest + 7, 65, hash, sizeof(hash));
}

static void take_manifest(struct registry_query *query,
			  const struct http_answer *answer)
{
	const char *host = repository_host(query->repository);
	char digest[72], variant[72] = "";
	struct error err;

	digest_of(answer, digest);
	if (strchr(query->wanted, ':') && strcmp(query->wanted, digest) != 0) {
		error_set(&err, EPROTO, "registry %s: asked for %s, got %s",
			  host, query->wanted, digest);
		finish(query, &err);
		return;
	}
	if (!query->image.digest[0])
		memcpy(query->image.digest, digest, sizeof(digest));
	if (registry_parse(answer->body, answer->size, query->machine,
			   &query->image, variant, &err) < 0) {
		error_prefix(&err, "registry %s", host);
		finish(query, &err);
		return;
	}
	if (!variant[0]) {
		finish(query, NULL);
		return;
	}
	snprintf(query->wanted, sizeof(query->wanted), "%s", variant);
	if (ask_manifest(query, &err) < 0)
		finish(query, &err);
}

static void manifest_done(void *arg, const struct error *failure,
			  const struct http_answer *answer)
{
	struct registry_query *query = arg;
	int status = answer ? answer->status : 0;
	struct error err;

	query->call = NULL;
	if (failure) {
		finish(query, failure);
		return;
	}
	if (status == 200) {
		take_manifest(query, answer);
		return;
	}
	repository_refused(query->repository, status, &err);
	finish(query, &err);
}

static int ask_manifest(struct registry_query *query, struct error *err)
{
	owned_free char *path = NULL;
	struct repository_request request = {
		.header = REGISTRY_ACCEPT,
		.timeout_ms = query->timeout_ms,
		.done = manifest_done,
		.arg = query,
	};

	if (query->hops++ == HOPS_MAX)
		return error_set(err, EPROTO,
				 "registry %s: an index that leads to indexes",
				 repository_host(query->repository));
	if (asprintf(&path, "manifests/%s", query->wanted) < 0) {
		path = NULL;
		return error_nomem(err, "registry");
	}
	request.path = path;
	query->call = repository_ask(query->repository, &request, err);
	return query->call ? 0 : -1;
}

struct registry_query *registry_ask(struct repository *repository,
				    const struct reference *reference,
				    uint32_t timeout_ms, registry_done_fn *done,
				    void *arg, struct error *err)
{
	owned(registry_cancel) struct registry_query *query =
		calloc(1, sizeof(*query));

	if (!query) {
		error_nomem(err, "registry");
		return NULL;
	}
	query->repository = repository;
	query->timeout_ms = timeout_ms;
	query->done = done;
	query->arg = arg;
	snprintf(query->wanted, sizeof(query->wanted), "%s",
		 reference->digest[0] ? reference->digest
		 : reference->tag[0]  ? reference->tag
				      : "latest");
	find_machine(query->machine, sizeof(query->machine));
	return ask_manifest(query, err) < 0 ? NULL : take(query);
}

void registry_cancel(struct registry_query *query)
{
	if (!query)
		return;
	repository_cancel(query->call);
	free(query);
}
