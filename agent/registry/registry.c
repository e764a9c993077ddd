/* registry.c - asks a registry what an image is made of.
 */
#include "agent/registry/registry.h"

#include "agent/engine/http.h"

#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define HUB "docker.io"
#define HUB_HOST "registry-1.docker.io"
#define URL_MAX 2048
#define QUERY_MAX 8192
#define REQUESTS_MAX 6
#define ACCEPTED                                                               \
	"Accept: application/vnd.oci.image.index.v1+json, "                    \
	"application/vnd.oci.image.manifest.v1+json, "                         \
	"application/vnd.docker.distribution.manifest.list.v2+json, "          \
	"application/vnd.docker.distribution.manifest.v2+json"

struct registry_query {
	sd_event *loop;
	struct http *http;       /* the registry */
	struct http *token_http; /* who gives out tokens */
	char host[REFERENCE_HOST_MAX + 1];
	char path[REFERENCE_PATH_MAX + 1];
	char wanted[130]; /* tag or digest */
	char ca[1024];    /* "": the system's */
	char machine[16];
	struct credential credential;
	char *authorization; /* the header, once it was asked for */
	bool plain;
	bool tls;
	unsigned int requests;
	uint32_t timeout_ms;
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

static int connect_to(struct registry_query *query, struct error *err)
{
	char base[REFERENCE_HOST_MAX + 16];
	const char *host = strcmp(query->host, HUB) ? query->host : HUB_HOST;

	snprintf(base, sizeof(base), "http%s://%s", query->tls ? "s" : "",
		 host);
	http_free(query->http);
	query->http =
		http_new_web(query->loop, base, *query->ca ? query->ca : NULL,
			     !query->plain, err);
	return query->http ? 0 : -1;
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
	char digest[72], variant[72] = "";
	struct error err;

	digest_of(answer, digest);
	if (strchr(query->wanted, ':') && strcmp(query->wanted, digest) != 0) {
		error_set(&err, EPROTO, "registry %s: asked for %s, got %s",
			  query->host, query->wanted, digest);
		finish(query, &err);
		return;
	}
	if (!query->image.digest[0])
		memcpy(query->image.digest, digest, sizeof(digest));
	if (registry_parse(answer->body, answer->size, query->machine,
			   &query->image, variant, &err) < 0) {
		error_prefix(&err, "registry %s", query->host);
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

static void refuse(struct registry_query *query, int status)
{
	struct error err;

	error_set(&err,
		  status == 404                    ? ENOENT
		  : status == 401 || status == 403 ? EACCES
						   : EIO,
		  "registry %s: HTTP status %d", query->host, status);
	finish(query, &err);
}

/* Tokens. */

static void token_done(void *arg, const struct error *failure,
		       const struct http_answer *answer)
{
	struct registry_query *query = arg;
	struct error err = { 0 };
	const char *token;
	cJSON *tree;

	if (failure || answer->status != 200) {
		if (failure)
			finish(query, failure);
		else
			refuse(query, answer->status);
		return;
	}
	tree = codec_parse(answer->body, answer->size, NULL);
	token = cJSON_GetStringValue(
		cJSON_GetObjectItemCaseSensitive(tree, "token"));
	if (!token)
		token = cJSON_GetStringValue(
			cJSON_GetObjectItemCaseSensitive(tree, "access_token"));
	if (!token || strpbrk(token, "\r\n") ||
	    asprintf(&query->authorization, "Authorization: Bearer %s", token) <
		    0) {
		query->authorization = NULL;
		error_set(&err, EPROTO, "registry %s: no token in the answer",
			  query->host);
	}
	cJSON_Delete(tree);
	if (err.code || ask_manifest(query, &err) < 0)
		finish(query, &err);
}

/* Base "https://host" and path of a URL; false: not one that we go to. */
static bool split_url(const struct registry_query *query, const char *url,
		      char *base, size_t size, const char **path)
{
	size_t scheme = !strncmp(url, "https://", 8)  ? 8
			: !strncmp(url, "http://", 7) ? 7
						      : 0;
	size_t host = scheme ? strcspn(url + scheme, "/?#") : 0;

	if (!host || scheme + host >= size ||
	    strcspn(url, "@ \\") < scheme + host ||
	    (scheme == 7 && !query->plain))
		return false;
	snprintf(base, size, "%.*s", (int)(scheme + host), url);
	*path = url + scheme + host;
	return true;
}

static int ask_token(struct registry_query *query, const char *challenge,
		     struct error *err)
{
	owned(secret_strings_clear) struct strings headers = { 0 };
	owned(buffer_clear) struct buffer full;
	owned(secret_free) char *basic = credential_basic(&query->credential);
	char realm[URL_MAX], service[256], scope[REFERENCE_PATH_MAX + 32];
	char base[REFERENCE_HOST_MAX + 16];
	const char *path;
	struct http_request request = {
		.method = "GET",
		.headers = &headers,
		.timeout_ms = query->timeout_ms,
		.done = token_done,
		.arg = query,
	};

	buffer_init(&full, QUERY_MAX);
	if (!registry_challenge(challenge, "realm", realm, sizeof(realm)) ||
	    !split_url(query, realm, base, sizeof(base), &path))
		return error_set(err, EACCES,
				 "registry %s: it sends us to no place that "
				 "could give us a token",
				 query->host);
	snprintf(scope, sizeof(scope), "repository:%s:pull", query->path);
	if (buffer_printf(&full, err, "%s%s", *path == '/' ? "" : "/", path) <
		    0 ||
	    (registry_challenge(challenge, "service", service,
				sizeof(service)) &&
	     http_query(&full, "service", service, err) < 0) ||
	    http_query(&full, "scope", scope, err) < 0 ||
	    (basic && strings_add(&headers, basic, err) < 0))
		return -1;
	http_free(query->token_http);
	query->token_http =
		http_new_web(query->loop, base, *query->ca ? query->ca : NULL,
			     !query->plain, err);
	if (!query->token_http)
		return -1;
	request.path = full.data;
	return http_send(query->token_http, &request, err) ? 0 : -1;
}

/* 401: who are you? */
static void authorize(struct registry_query *query,
		      const struct http_answer *answer)
{
	char challenge[URL_MAX];
	struct error err = { 0 };
	int rc = -1;

	if (query->authorization ||
	    !http_header(answer, "WWW-Authenticate", challenge,
			 sizeof(challenge))) {
		refuse(query, answer->status);
		return;
	}
	if (!strncasecmp(challenge, "Bearer ", 7)) {
		rc = ask_token(query, challenge, &err);
	} else {
		query->authorization = credential_basic(&query->credential);
		if (!query->authorization) {
			refuse(query, answer->status);
			return;
		}
		rc = ask_manifest(query, &err);
	}
	if (rc < 0)
		finish(query, &err);
}

static void manifest_done(void *arg, const struct error *err,
			  const struct http_answer *answer)
{
	struct registry_query *query = arg;
	struct error other;

	if (err && query->plain && query->tls && !query->requests) {
		query->tls = false;
		if (connect_to(query, &other) < 0 ||
		    ask_manifest(query, &other) < 0)
			finish(query, &other);
	} else if (err) {
		finish(query, err);
	} else {
		query->requests++;
		if (answer->status == 200)
			take_manifest(query, answer);
		else if (answer->status == 401)
			authorize(query, answer);
		else
			refuse(query, answer->status);
	}
}

static int ask_manifest(struct registry_query *query, struct error *err)
{
	owned(secret_strings_clear) struct strings headers = { 0 };
	owned_free char *path = NULL;
	struct http_request request = {
		.method = "GET",
		.headers = &headers,
		.timeout_ms = query->timeout_ms,
		.done = manifest_done,
		.arg = query,
	};

	if (query->requests >= REQUESTS_MAX)
		return error_set(err, EPROTO,
				 "registry %s: it leads in a circle",
				 query->host);
	if (asprintf(&path, "/v2/%s/manifests/%s", query->path, query->wanted) <
	    0) {
		path = NULL;
		return error_nomem(err, "registry");
	}
	if (strings_add(&headers, ACCEPTED, err) < 0 ||
	    (query->authorization &&
	     strings_add(&headers, query->authorization, err) < 0))
		return -1;
	request.path = path;
	return http_send(query->http, &request, err) ? 0 : -1;
}

static int copy_text(char **to, const char *from)
{
	*to = from ? strdup(from) : NULL;
	return from && !*to ? -1 : 0;
}

struct registry_query *registry_ask(sd_event *loop,
				    const struct reference *reference,
				    const struct registry_way *way,
				    registry_done_fn *done, void *arg,
				    struct error *err)
{
	owned(registry_cancel) struct registry_query *query =
		calloc(1, sizeof(*query));
	const struct credential *who = way->credential;

	if (!query ||
	    (who &&
	     (copy_text(&query->credential.username, who->username) < 0 ||
	      copy_text(&query->credential.password, who->password) < 0))) {
		error_nomem(err, "registry");
		return NULL;
	}
	query->loop = sd_event_ref(loop);
	query->done = done;
	query->arg = arg;
	query->plain = way->plain;
	query->timeout_ms = way->timeout_ms;
	query->tls = true;
	reference_place(reference, query->host, query->path);
	snprintf(query->wanted, sizeof(query->wanted), "%s",
		 reference->digest[0] ? reference->digest
		 : reference->tag[0]  ? reference->tag
				      : "latest");
	find_machine(query->machine, sizeof(query->machine));
	snprintf(query->ca, sizeof(query->ca), "%s/%s/ca.crt",
		 way->authorities ? way->authorities : "", query->host);
	if (access(query->ca, R_OK) < 0)
		query->ca[0] = 0;
	if (connect_to(query, err) < 0 || ask_manifest(query, err) < 0)
		return NULL;
	return take(query);
}

void registry_cancel(struct registry_query *query)
{
	if (!query)
		return;
	http_free(query->http);
	http_free(query->token_http);
	sd_event_unref(query->loop);
	credential_clear(&query->credential);
	secret_free(query->authorization);
	free(query);
}
