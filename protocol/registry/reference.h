/* reference.h - splits an image reference, name[:tag][@digest], into its parts.
 *
 * Pure. name: components of [a-z0-9] with '.', '_', '__' or '-'s between
 * them, separated by '/'; the first may be a registry, HOST[:PORT], which has a
 * '.' or ':' or is localhost. tag:
 * [A-Za-z0-9_][A-Za-z0-9_.-]*, at most 128 bytes. digest: sha256:<64 hex>. At
 * most REFERENCE_MAX bytes in all. An image id, sha256:<64 hex>, is a
 * reference too, without name and tag.
 *
 * Source: the OCI distribution specification, "Pulling manifests", and
 * github.com/distribution/reference for the registry in front.
 */
#pragma once

#include "protocol/base/error.h"

#include <stdbool.h>

#define REFERENCE_MAX 512

struct reference {
	char name[REFERENCE_MAX + 1]; /* "" : an image id */
	char tag[129];                /* "" : none */
	char digest[72];              /* "" : none */
};

/* EINVAL: the text says what is not valid and what is expected. */
int reference_parse(const char *text, struct reference *reference,
		    struct error *err);

#define REFERENCE_HOST_MAX REFERENCE_MAX
#define REFERENCE_PATH_MAX (REFERENCE_MAX + 16)

/* The registry, HOST[:PORT], and the repository path of a name: "docker.io" and
 * "library/ubuntu" for ubuntu. host: REFERENCE_HOST_MAX + 1 bytes, path:
 * REFERENCE_PATH_MAX + 1.
 */
void reference_place(const struct reference *reference, char *host, char *path);

/* What engines list an image by: name@digest, name:tag ("latest" without a
 * tag), or an id.
 */
#define REFERENCE_LISTED_SIZE (REFERENCE_MAX + 132)
void reference_listed(const struct reference *reference,
		      char listed[REFERENCE_LISTED_SIZE]);

/* Is the digest of name@digest that id? An engine with containerd's image store
 * calls an image by its digest, and lists that digest for each of its names,
 * also where no registry ever had the image. Other engines call it by its
 * config, which no manifest equals.
 */
bool reference_digest_is(const char *reference, const char *id);

/* Is this a valid registry, HOST[:PORT]? */
bool reference_host_valid(const char *text);
