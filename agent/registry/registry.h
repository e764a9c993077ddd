/* registry.h - asks a registry what an image is made of.
 *
 * The manifest of an image, or of its variant for this machine, by the protocol
 * that the engine speaks to pull it: so that the layers' sizes are known before
 * the first byte. Only asked, never trusted: a manifest must be of the size and
 * form that the specification allows, and what was asked for by digest must
 * have it.
 *
 * Source: OCI distribution specification 1.1, "Pulling manifests"; OCI image
 * specification 1.1, "Image Manifest", "Image Index"; distribution/distribution
 * docs, "Token Authentication".
 */
#ifndef AGENT_REGISTRY_REGISTRY_H
#define AGENT_REGISTRY_REGISTRY_H

#include "protocol/registry/reference.h"
#include "protocol/registry/credential.h"

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#define REGISTRY_LAYERS_MAX 512

struct registry_layer {
	char digest[72]; /* sha256:<64 hex> */
	uint64_t bytes;  /* as they are sent */
};

struct registry_image {
	char digest[72]; /* of what the reference names: image or index */
	uint64_t bytes;  /* of all layers */
	size_t count;
	struct registry_layer layers[REGISTRY_LAYERS_MAX];
};

/* How a registry is to be reached. Borrowed for the length of the call. */
struct registry_way {
	const struct credential *credential; /* copied; NULL: nobody */
	const char *authorities; /* folder with a folder HOST[:PORT] whose
				    ca.crt counts, as /etc/docker/certs.d */
	uint32_t timeout_ms;     /* of each of at most six requests */
	bool plain;              /* also without TLS, or with any certificate */
};

/* Runs from the loop, once. Exactly one of err and image is NULL. ENOENT: no
 * such image; EACCES: not for us; others as in http.h.
 */
typedef void registry_done_fn(void *arg, const struct error *err,
			      const struct registry_image *image);

struct registry_query;

struct registry_query *registry_ask(sd_event *loop,
				    const struct reference *reference,
				    const struct registry_way *way,
				    registry_done_fn *done, void *arg,
				    struct error *err);
/* done() does not run. NULL is fine. */
void registry_cancel(struct registry_query *query);
OWNED_POINTER(struct registry_query, registry_cancel)

/* A manifest of one image (its layers go to *image, whose digest stays as it
 * is) or an index: then the digest of the variant for the machine
 * ("amd64", "arm64") is written to variant (72 bytes), which is "" otherwise.
 * Pure.
 */
int registry_parse(const char *text, size_t size, const char *machine,
		   struct registry_image *image, char *variant,
		   struct error *err);

/* A parameter of `Bearer realm="https://x/token",service="s"`; false: it has
 * none. Pure.
 */
bool registry_challenge(const char *header, const char *name, char *to,
			size_t size);

#endif
