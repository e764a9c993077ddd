/* registry.h - asks a registry what an image is made of.
 *
 * The manifest of an image, or of its variant for this machine: so that the
 * layers' sizes are known before the first byte. Only asked, never trusted: a
 * manifest must be of the size and form that the specification allows, and what
 * was asked for by digest must have it.
 *
 * Source: OCI distribution specification 1.1, "Pulling manifests"; OCI image
 * specification 1.1, "Image Manifest", "Image Index".
 */
#ifndef AGENT_REGISTRY_REGISTRY_H
#define AGENT_REGISTRY_REGISTRY_H

#include "agent/registry/repository.h"

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

/* All kinds of manifests that can be read. */
#define REGISTRY_ACCEPT                                                        \
	"Accept: application/vnd.oci.image.index.v1+json, "                    \
	"application/vnd.oci.image.manifest.v1+json, "                         \
	"application/vnd.docker.distribution.manifest.list.v2+json, "          \
	"application/vnd.docker.distribution.manifest.v2+json"

/* Runs from the loop, once. Exactly one of err and image is NULL. ENOENT: no
 * such image; EACCES: not for us; EBUSY: too many requests; others as in
 * http.h.
 */
typedef void registry_done_fn(void *arg, const struct error *err,
			      const struct registry_image *image);

struct registry_query;

/* repository: borrowed. timeout_ms: as in repository.h, of each of two. */
struct registry_query *registry_ask(struct repository *repository,
				    const struct reference *reference,
				    uint32_t timeout_ms, registry_done_fn *done,
				    void *arg, struct error *err);
/* done() does not run. NULL is fine. */
void registry_cancel(struct registry_query *query);
OWNED_POINTER(struct registry_query, registry_cancel)

/* Is it sha256:<64 hex>? Pure. */
bool registry_is_digest(const char *text);

/* A manifest of one image (its layers go to *image, whose digest stays as it
 * is) or an index: then the digest of the variant for the machine
 * ("amd64", "arm64") is written to variant (72 bytes), which is "" otherwise.
 * Pure.
 */
int registry_parse(const char *text, size_t size, const char *machine,
		   struct registry_image *image, char *variant,
		   struct error *err);

#endif
