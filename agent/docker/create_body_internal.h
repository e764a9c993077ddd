/* create_body_internal.h - the checks of a container spec
 * (create_body_check.c), used by create_body.c.
 *
 * Checks fail with EINVAL. The text says the field, what was found and what is
 * allowed.
 */
#pragma once

#include "agent/docker/create_body.h"

#define CONTAINER_BYTES_MAX                                                    \
	(UINT64_C(512)                                                         \
	 << 40) /* cJSON prints numbers up to this one without an exponent */
#define CONTAINER_NO_NEW_PRIVILEGES "no-new-privileges"

/* Whether word[0..size) is one of the table's words. */
bool container_word(const char *const *table, const char *word, size_t size);

int container_too_many(const char *field, size_t count, size_t allowed,
		       struct error *err);

/* The path is absolute and has no ".." and no control characters. */
int container_path_check(const char *field, const char *path,
			 struct error *err);

/* A number or a name. With group: also USER:GROUP. */
int container_user_check(const char *field, const char *user, bool group,
			 struct error *err);

int container_security_check(const char *option, struct error *err);

/* The name of a runtime or of a driver; ids and capabilities of devices. */
int container_name_check(const char *field, const char *name,
			 struct error *err);
int container_names_check(const char *field, const struct strings *names,
			  struct error *err);

/* Where the code tree is in the container. */
const char *container_workspace(const struct container_spec *spec);

/* Check all fields except the lists that create_body.c checks as it writes
 * them.
 */
int container_spec_check(const struct container_spec *spec, struct error *err);
int container_place_check(const struct container_place *place,
			  struct error *err);
