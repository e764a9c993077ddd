/* repository.h - one repository of a registry, asked by one user.
 *
 * TLS or not, who we are, tokens, and places elsewhere that the registry sends
 * to for its blobs: all that is settled here, by the protocol that the engine
 * speaks to pull an image. Answers are whatever the registry says, of any
 * status but those that this took.
 *
 * Our name and password go to the registry and to who gives out its tokens, to
 * nobody else. Where the registry sends us elsewhere, HOST[:PORT]/ca.crt of
 * that place counts, or the registry's; the system's authorities always do.
 *
 * Source: OCI distribution specification 1.1, "Pull"; distribution/distribution
 * docs, "Token Authentication".
 */
#ifndef AGENT_REGISTRY_REPOSITORY_H
#define AGENT_REGISTRY_REPOSITORY_H

#include "agent/docker/http.h"
#include "protocol/registry/credential.h"
#include "protocol/registry/reference.h"

/* How a registry is to be reached. Borrowed for the length of the call. */
struct repository_way {
	const struct credential *credential; /* copied; NULL: nobody */
	const char *authorities; /* folder with a folder HOST[:PORT] whose
				    ca.crt counts, as /etc/docker/certs.d */
	bool plain;              /* also without TLS, or with any certificate */
};

struct repository;

/* Only the name of the reference counts. */
struct repository *repository_open(sd_event *loop,
				   const struct reference *reference,
				   const struct repository_way *way,
				   struct error *err);
/* No callback of its calls runs any more. NULL is fine. */
void repository_close(struct repository *repository);
OWNED_POINTER(struct repository, repository_close)

/* "docker.io", "10.0.0.1:5000" */
const char *repository_host(const struct repository *repository);

/* How long it wants us to wait from now on before we ask again, at most
 * HTTP_WAIT_MAX_S: by the Retry-After of a 429 or 503, its own or of a place
 * that it sent us to. 0: it does not say.
 */
uint64_t repository_wait_ms(const struct repository *repository);

/* What an answer of another status than 2xx means: ENOENT, EACCES, EBUSY (too
 * many requests) or EIO. Always -1.
 */
int repository_refused(const struct repository *repository, int status,
		       struct error *err);

struct repository_request {
	const char *path;    /* "manifests/<tag or digest>", "blobs/<digest>" */
	const char *header;  /* one more, "Name: value"; NULL: none */
	http_head_fn *begun; /* as in http.h; arg is that of done() */
	http_data_fn *data;
	uint32_t timeout_ms; /* of each of at most eight requests */
	uint32_t stall_ms;
	http_done_fn *done; /* once, from the loop; errors as in http.h, and
			       EACCES: who gives out tokens gives us none */
	void *arg;
};

struct repository_call;
struct repository_call *repository_ask(struct repository *repository,
				       const struct repository_request *request,
				       struct error *err);
void repository_resume(struct repository_call *call); /* as http_resume() */
void repository_cancel(struct repository_call *call); /* NULL is fine */
OWNED_POINTER(struct repository_call, repository_cancel)

/* A parameter of `Bearer realm="https://x/token",service="s"`; false: it has
 * none. Pure.
 */
bool repository_challenge(const char *header, const char *name, char *to,
			  size_t size);

#endif
