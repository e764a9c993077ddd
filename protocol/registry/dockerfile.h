/* dockerfile.h - which images a Dockerfile is built from. Pure.
 *
 * Those behind FROM and behind COPY --from=, but no stage of the same file and
 * not scratch, each once, in their order. ARGs in front of the first FROM are
 * put in with their defaults: we give a build no others.
 *
 * Source: docs.docker.com/reference/dockerfile, "Format", "Parser directives",
 * "Environment replacement", "FROM", "ARG", "COPY --from".
 */
#ifndef PROTOCOL_REGISTRY_DOCKERFILE_H
#define PROTOCOL_REGISTRY_DOCKERFILE_H

#include "protocol/base/error.h"
#include "protocol/message/codec.h"

#include <stddef.h>

#define DOCKERFILE_BYTES_MAX (1 << 20)
#define DOCKERFILE_NAMES_MAX 64 /* of stages, ARGs and images each */

/* Add their references to *bases. One whose name cannot be told here (it holds
 * what no default is known of, or is no reference) is left out: the engine will
 * have its say. E2BIG: too large, or of too many parts.
 */
int dockerfile_bases(const char *text, size_t size, struct strings *bases,
		     struct error *err);

/* The same of the file in a folder. */
int dockerfile_read(const char *folder, struct strings *bases,
		    struct error *err);

#endif
