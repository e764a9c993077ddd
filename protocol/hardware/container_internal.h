/* container_internal.h - what a task's spec may ask for: container_check.c, for
 * container.c.
 *
 * Checks fail with EINVAL: the field, what was found and what is allowed.
 */
#ifndef PROTOCOL_HARDWARE_CONTAINER_INTERNAL_H
#define PROTOCOL_HARDWARE_CONTAINER_INTERNAL_H

#include "protocol/hardware/container.h"

#define CONTAINER_BYTES_MAX                                                    \
	(UINT64_C(512) << 40) /* cJSON writes it without exponent */
#define CONTAINER_NO_NEW_PRIVILEGES "no-new-privileges"

/* Whether the first bytes of word are one of the table's. */
bool container_word(const char *const *table, const char *word, size_t size);

int container_too_many(const char *field, size_t count, size_t allowed,
		       struct error *err);

/* Absolute, no "..", nothing that a terminal would take badly. */
int container_path_check(const char *field, const char *path,
			 struct error *err);

/* A number or a name; with group one of a group may stand behind it. */
int container_user_check(const char *field, const char *user, bool group,
			 struct error *err);

int container_security_check(const char *option, struct error *err);

/* What a driver, a device or a capability of one may be called. */
int container_names_check(const char *field, const struct strings *names,
			  struct error *err);

/* All that is no list of container.c's. */
int container_spec_check(const struct container_spec *spec, struct error *err);
int container_place_check(const struct container_place *place,
			  struct error *err);

#endif
